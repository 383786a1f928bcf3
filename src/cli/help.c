#include "cli/help.h"

#include "backend/backend.h"
#include "backend/gpu_libraries.h"
#include "base/terminal.h"
#include "ops/gemm_cpu/blas_cpu.h"
#include "ops/gemm_cpu/microkernel_cpu.h"
#include "prof/activity_cupti.h"
#include "prof/ranges_nvtx.h"
#include "report/page/page.h"
#include "report/records/report.h"
#include "version.h"

#include <jansson.h>
#include <string.h>
#include <unistd.h>

/* What is installed beside the program. */
static const struct {
    const char *name;
    void (*write)(Text *out);
} files[] = {{"man", manual_write}, {"bash", completion_bash}, {"zsh", completion_zsh}};

bool help_file(Text *out, const char *name)
{
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        if (strcmp(name, files[i].name) != 0) continue;
        files[i].write(out);
        return true;
    }
    return false;
}

/* Of the terminal that stdout is, between 80 and 100; elsewhere 100. */
static size_t columns_of_stdout(void)
{
    enum { LEAST = 80, MOST = 100 };
    const int columns = terminal_columns(STDOUT_FILENO);
    if (columns == 0 || columns > MOST) return MOST;
    return columns < LEAST ? LEAST : (size_t)columns;
}

static bool is_prose(const char *line)
{
    return *line && *line != ' ' && *line != '\n';
}

/* Lines that begin with a space stay as they are, up to 80 columns wide. Those between are a paragraph. */
static void put_paragraphs(Text *out, const char *lines, size_t columns)
{
    while (*lines) {
        CLEANUP(text_free) Text part = {0};
        size_t n = strcspn(lines, "\n");
        while (is_prose(lines) && lines[n] && is_prose(lines + n + 1))
            n += 1 + strcspn(lines + n + 1, "\n");
        text_append(&part, lines, n);
        if (is_prose(lines))
            text_wrap(out, text_str(&part), 0, 0, columns);
        else
            text_puts(out, text_str(&part));
        text_puts(out, "\n");
        out->failed |= part.failed;
        lines += n + (lines[n] == '\n');
    }
}

void help_program(Text *out)
{
    enum { SUMMARY = 13 };
    const size_t columns = columns_of_stdout();
    put_paragraphs(
        out,
        "usage: roofstep COMMAND [options]\n\n"
        "Runs a real training step of a Transformer language model and says where every "
        "millisecond and every megabyte went, and how far each is from the machine's roof.\n\n",
        columns);
    for (int i = 0; command_list[i]; i++) {
        text_printf(out, "  %-10s ", command_list[i]->name);
        text_wrap(out, command_list[i]->summary, SUMMARY, SUMMARY, columns);
        text_puts(out, "\n");
    }
    text_puts(out, "\n"
                   "  roofstep COMMAND --help      the command's options\n"
                   "  roofstep --version           version, commit, compiler, libraries\n"
                   "  roofstep help man|bash|zsh   the manual page; completion for a shell\n\n"
                   "Start with: roofstep suite\n\n"
                   "Exit codes\n");
#define EXIT_CODE(name, number, meaning) text_printf(out, "  %3d  %s\n", number, meaning);
#include "cli/exit_codes.def"
}

void help_command(Text *out, const Command *command)
{
    const size_t columns = columns_of_stdout();
    const char *args = command->options.args;
    text_printf(out, "usage: roofstep %s%s%s [options]\n\n", command->name, args ? " " : "",
                args ? args : "");
    text_wrap(out, command->summary, 0, 0, columns);
    text_puts(out, "\n");
    if (command->help) text_puts(out, "\n");
    if (command->help) put_paragraphs(out, command->help, columns);
    option_help(out, &command->options, columns);
}

/* What of it can be used here: instruction sets, and NVIDIA's libraries in a build that takes them. */
static void put_features(Text *out)
{
    GpuLibraries gpu;
    gpu_libraries_read(&gpu);
    text_printf(out, "gemm      %s\n", microkernel_names().s);
    if (!*gpu.cuda) return;
    text_printf(out, "gpu       CUDA %s, cuBLASLt %s, cuDNN %s", gpu.cuda, gpu.cublaslt,
                *gpu.cudnn ? gpu.cudnn : "none");
    text_printf(out, ", CUPTI %s", activity_cupti_check() == ST_OK ? "yes" : "none");
    text_printf(out, ", NVTX %s\n", ranges_nvtx_check() == ST_OK ? "yes" : "none");
}

void help_version(Text *out)
{
    text_printf(out, "roofstep %s\ncommit    %s\ncompiler  %s, %s\nbackends ", ROOFSTEP_VERSION,
                ROOFSTEP_COMMIT, ROOFSTEP_COMPILER, ROOFSTEP_FLAGS);
    for (int id = 0; id < BACKEND_COUNT; id++) {
        const BackendApi *api = backend_api((BackendId)id);
        if (!api->absent) text_printf(out, " %s", api->name);
    }
    text_printf(out, "\nreports   %s%s\n", report_formats, page_is_built() ? "html" : "(no html)");
    text_printf(out, "libraries %s, jansson %s\n", blas_cpu_name(), JANSSON_VERSION);
    put_features(out);
}
