#include "cli/help.h"

#include "backend/backend.h"
#include "backend/gpu_libraries.h"
#include "ops/gemm_cpu/blas_cpu.h"
#include "ops/gemm_cpu/microkernel_cpu.h"
#include "prof/activity_cupti.h"
#include "prof/ranges_nvtx.h"
#include "report/page/page.h"
#include "report/records/report.h"
#include "version.h"

#include <jansson.h>
#include <string.h>

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

void help_program(Text *out)
{
    text_puts(
        out,
        "usage: roofstep COMMAND [options]\n\n"
        "Runs a real training step of a Transformer language model and says where every\n"
        "millisecond and every megabyte went, and how far each is from the machine's roof.\n\n");
    for (int i = 0; command_list[i]; i++)
        text_printf(out, "  %-10s %s\n", command_list[i]->name, command_list[i]->summary);
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
    const char *args = command->options.args;
    text_printf(out, "usage: roofstep %s%s%s [options]\n\n%s\n", command->name, args ? " " : "",
                args ? args : "", command->summary);
    if (command->help) text_printf(out, "\n%s", command->help);
    option_help(out, &command->options);
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
