#include "cli/help.h"
#include "version.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *name, *meaning;
} variables[] = {
    {"NO_COLOR", "when set and not empty: no colours and no progress bar, but a line per cell"},
    {"XDG_CACHE_HOME",
     "where measured limits and tuned algorithms are kept, in roofstep/; ~/.cache by default"},
    {"CUDA_VISIBLE_DEVICES", "the GPUs that CUDA shows"},
    {"ROOFSTEP_CPU_HIDE", "instruction sets to leave unused, as bf16,asimd or all"},
    {"ROOFSTEP_PEERS", "the folder with torch_bench.py of --peer torch"},
    {"PYTHON", "the Python that runs it"},
    {"TMPDIR", "where the start of a loss curve lies while PyTorch follows it; /tmp by default"},
};
enum { VARIABLES = sizeof variables / sizeof *variables };

/* ---- text that roff takes as it is ---- */

/* Dashes stay what they are when copied; a point or a quote that begins a line is no macro. */
static void put_n(Text *out, const char *s, size_t n)
{
    if (n > 0 && (*s == '.' || *s == '\'')) text_puts(out, "\\&");
    for (size_t i = 0; i < n; i++) {
        if (s[i] == '\\')
            text_puts(out, "\\e");
        else if (s[i] == '-')
            text_puts(out, "\\-");
        else
            text_append(out, s + i, 1);
    }
}

static void put(Text *out, const char *s)
{
    put_n(out, s, strlen(s));
}

/* A name in bold and what it means, indented below it. */
static void put_item(Text *out, const char *name, const char *meaning)
{
    text_puts(out, ".TP\n\\fB");
    put(out, name);
    text_puts(out, "\\fR\n");
    put(out, meaning);
    text_puts(out, "\n");
}

/* Lines that are indented are examples or tables and stay as they are; the others are filled. */
static void put_prose(Text *out, const char *line)
{
    bool example = false;
    text_puts(out, ".PP\n");
    while (*line) {
        const size_t n = strcspn(line, "\n");
        const bool indented = n > 0 && *line == ' ';
        if (indented != example) text_puts(out, indented ? ".PP\n.EX\n" : ".EE\n.PP\n");
        example = indented;
        if (n > 0) {
            put_n(out, line, n);
            text_puts(out, "\n");
        } else if (!example) {
            text_puts(out, ".PP\n");
        }
        line += n + (line[n] != 0);
    }
    if (example) text_puts(out, ".EE\n");
}

/* ---- one command ---- */

static void put_option(Text *out, OptionId id, const OptionSet *set)
{
    CLEANUP(text_free) Text value = {0}, meaning = {0};
    option_help_value(&value, id, set);
    option_help_meaning(&meaning, id, set);
    text_puts(out, ".TP\n\\fB\\-\\-");
    put(out, option_table[id].name);
    text_puts(out, "\\fR");
    if (value.n > 0) text_puts(out, " \\fI");
    put(out, text_str(&value));
    if (value.n > 0) text_puts(out, "\\fR");
    if (option_in(set->lists, id)) text_puts(out, "[,...]");
    text_puts(out, "\n");
    put(out, text_str(&meaning));
    text_puts(out, "\n");
}

static void put_command(Text *out, const Command *command)
{
    const OptionSet *set = &command->options;
    text_printf(out, ".SH ROOFSTEP ");
    for (const char *c = command->name; *c; c++) text_printf(out, "%c", *c - 'a' + 'A');
    text_puts(out, "\n.SY roofstep\n");
    put(out, command->name);
    text_puts(out, "\n");
    if (set->args) put(out, set->args);
    text_puts(out, set->args ? "\n" : "");
    text_puts(out, "[options]\n.YS\n");
    put_prose(out, command->summary);
    if (command->help) put_prose(out, command->help);
    for (int id = 0; id < OPTION_COUNT; id++) {
        if (option_takes(set, id) && id != OPTION_HELP) put_option(out, (OptionId)id, set);
    }
}

/* ---- the page ---- */

static void put_begin(Text *out)
{
    text_puts(out,
              ".TH ROOFSTEP 1 \"\" \"roofstep " ROOFSTEP_VERSION "\" \"User Commands\"\n"
              ".SH NAME\n"
              "roofstep \\- where the time and memory of a training step go\n"
              ".SH SYNOPSIS\n"
              ".SY roofstep\n.I COMMAND\n[options]\n.YS\n"
              ".SY roofstep\nhelp\n[\\fICOMMAND\\fR]\n.YS\n"
              ".SY roofstep\n\\-\\-version\n.YS\n"
              ".SH DESCRIPTION\n"
              "Runs a real training step of a Transformer language model on a CPU or an NVIDIA "
              "GPU and says where every millisecond and every megabyte went, and how far each "
              "is from the machine's roof. Start with\n"
              ".B roofstep suite\n"
              "for one page with all of it.\n"
              ".PP\n"
              "An option marked [,...] takes a list (128,256), a range of whole numbers "
              "(64\\-1024*2, 128\\-512+128) or repetition; every combination is one cell of a "
              "sweep, the last option varying fastest. Each cell runs in a process of its own. "
              "Every command has\n"
              ".BR \\-\\-help .\n");
}

void manual_write(Text *out)
{
    char code[8];
    put_begin(out);
    text_puts(out, ".SH COMMANDS\n");
    for (int i = 0; command_list[i]; i++)
        put_item(out, command_list[i]->name, command_list[i]->summary);
    for (int i = 0; command_list[i]; i++) put_command(out, command_list[i]);
    text_puts(out, ".SH EXIT STATUS\n");
#define EXIT_CODE(name, number, meaning)       \
    snprintf(code, sizeof code, "%d", number); \
    put_item(out, code, meaning);
#include "cli/exit_codes.def"
    text_puts(out, ".SH ENVIRONMENT\n");
    for (int i = 0; i < VARIABLES; i++) put_item(out, variables[i].name, variables[i].meaning);
}
