#include "cli/help.h"

#include <ctype.h>
#include <string.h>

/* What may follow an option. */
typedef enum Value {
    VALUE_NONE,
    VALUE_WORDS,
    VALUE_FILE,
    VALUE_FOLDER,
    VALUE_WORDS_OR_FILE, /* a model's name, or where its file is */
    VALUE_OTHER
} Value;

/* Appends the words that can be typed, blanks between: "auto cpu cuda" of "auto|cpu|cuda|cuda:N". A word
 * in capitals is a placeholder. */
static void add_words(Text *words, const char *at)
{
    while (*at) {
        const size_t n = strcspn(at, "|");
        if (!isupper((unsigned char)*at) && !memchr(at, ':', n)) {
            if (words->n > 0) text_puts(words, " ");
            text_append(words, at, n);
        }
        at += n + (at[n] != 0);
    }
}

static Value model_names(Text *words)
{
    text_puts(words, "list");
    for (const char *const *name = option_table[OPTION_MODEL].words; *name; name++)
        text_printf(words, " %s", *name);
    return VALUE_WORDS_OR_FILE;
}

static Value value_of(const Command *command, OptionId id, Text *words)
{
    text_clear(words);
    if (option_table[id].kind == OPTION_KIND_MODEL) return model_names(words);
    CLEANUP(text_free) Text value = {0};
    option_help_value(&value, id, &command->options);
    const char *s = text_str(&value);
    const Value kind = !*s                      ? VALUE_NONE
                       : strcmp(s, "FILE") == 0 ? VALUE_FILE
                       : strcmp(s, "DIR") == 0  ? VALUE_FOLDER
                                                : VALUE_WORDS;
    if (kind == VALUE_WORDS) add_words(words, s);
    return kind == VALUE_WORDS && words->n == 0 ? VALUE_OTHER : kind;
}

static void put_names(Text *out)
{
    for (int i = 0; command_list[i]; i++)
        text_printf(out, "%s%s", i ? " " : "", command_list[i]->name);
}

/* ---- bash ---- */

/* Appends `--ctx | --batch) action ;;` for the options with this kind of value; choices have a line each. */
static void bash_kind(Text *out, const Command *command, Value kind, const char *action)
{
    CLEANUP(text_free) Text words = {0};
    int n = 0;
    for (int id = 0; id < OPTION_COUNT; id++) {
        if (!option_takes(&command->options, id)) continue;
        if (value_of(command, (OptionId)id, &words) != kind) continue;
        text_printf(out, "%s--%s", n++ ? " | " : "                ", option_table[id].name);
        if (kind != VALUE_WORDS && kind != VALUE_WORDS_OR_FILE) continue;
        text_printf(out, ") words='%s'%s ;;\n", text_str(&words),
                    kind == VALUE_WORDS_OR_FILE ? " also=-f" : "");
        n = 0;
    }
    if (n > 0) text_printf(out, ") %s ;;\n", action);
}

static void bash_command(Text *out, const Command *command)
{
    text_printf(out, "        %s)\n            case $prev in\n", command->name);
    bash_kind(out, command, VALUE_WORDS, "");
    bash_kind(out, command, VALUE_WORDS_OR_FILE, "");
    bash_kind(out, command, VALUE_FILE, "files=-f");
    bash_kind(out, command, VALUE_FOLDER, "files=-d");
    bash_kind(out, command, VALUE_OTHER, "return");
    text_puts(out, "                *) words='");
    for (int id = 0; id < OPTION_COUNT; id++) {
        if (option_takes(&command->options, id)) text_printf(out, "--%s ", option_table[id].name);
    }
    text_printf(out, "'%s ;;\n            esac\n            ;;\n",
                command->options.args ? "\n                    [[ $cur == -* ]] || files=-f" : "");
}

void completion_bash(Text *out)
{
    text_puts(out, "# roofstep in bash; written by: roofstep help bash\n"
                   "_roofstep() {\n"
                   "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}\n"
                   "    local words='' files='' also='' list=''\n"
                   "    COMPREPLY=()\n"
                   "    # --size=tiny comes as three words\n"
                   "    if [[ $cur == = ]]; then\n"
                   "        cur=''\n"
                   "    elif [[ $prev == = ]]; then\n"
                   "        prev=${COMP_WORDS[COMP_CWORD - 2]}\n"
                   "    fi\n"
                   "    case ${COMP_CWORD}${COMP_WORDS[1]} in\n        1*) words='");
    put_names(out);
    text_puts(out, " help --help --version' ;;\n        2help) words='");
    put_names(out);
    text_puts(
        out,
        " man bash zsh' ;;\n    esac\n    [[ $COMP_CWORD == 1 ]] || case ${COMP_WORDS[1]} in\n");
    for (int i = 0; command_list[i]; i++) bash_command(out, command_list[i]);
    text_puts(
        out,
        "    esac\n"
        "    if [[ -n $files ]]; then\n"
        "        compopt -o filenames 2>/dev/null\n"
        "        mapfile -t COMPREPLY < <(compgen \"$files\" -- \"$cur\")\n"
        "    else\n"
        "        # keep what is before the last comma of a list\n"
        "        [[ $cur != *,* ]] || list=${cur%,*},\n"
        "        mapfile -t COMPREPLY < <(compgen -P \"$list\" -W \"$words\" -- \"${cur##*,}\")\n"
        "        if [[ -n $also ]]; then\n"
        "            mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -P \"$list\" $also -- "
        "\"${cur##*,}\")\n"
        "        fi\n"
        "    fi\n"
        "}\n"
        "complete -F _roofstep roofstep\n");
}

/* ---- zsh ---- */

/* Text inside '...[text]...'. */
static void zsh_text(Text *out, const char *s)
{
    for (; *s; s++) {
        if (*s == '\'')
            text_puts(out, "'\\''");
        else if (strchr("[]:\\", *s))
            text_printf(out, "\\%c", *s);
        else
            text_append(out, s, 1);
    }
}

static void zsh_option(Text *out, const Command *command, OptionId id, Text *words)
{
    const Option *option = &option_table[id];
    const bool list = option_in(command->options.lists, id);
    const Value kind = value_of(command, id, words);
    text_printf(out, " \\\n            '%s--%s%s[", list ? "*" : "", option->name,
                kind == VALUE_NONE ? "" : "=");
    zsh_text(out, option->help);
    text_puts(out, "]");
    if (kind != VALUE_NONE) text_printf(out, ":%s:", option->name);
    if (kind == VALUE_FILE) text_puts(out, "_files");
    if (kind == VALUE_FOLDER) text_puts(out, "_files -/");
    if (kind == VALUE_WORDS_OR_FILE)
        text_printf(out, "_alternative \"names:name:(%s)\" \"files:file:_files\"", text_str(words));
    if (kind == VALUE_OTHER) text_puts(out, " ");
    if (kind == VALUE_WORDS && list) text_printf(out, "_sequence compadd - %s", text_str(words));
    if (kind == VALUE_WORDS && !list) text_printf(out, "(%s)", text_str(words));
    text_puts(out, "'");
}

static void zsh_command(Text *out, const Command *command)
{
    CLEANUP(text_free) Text words = {0};
    text_printf(out, "        %s) _arguments", command->name);
    for (int id = 0; id < OPTION_COUNT; id++) {
        if (option_takes(&command->options, id)) zsh_option(out, command, (OptionId)id, &words);
    }
    if (command->options.args) text_puts(out, " \\\n            '*:file:_files'");
    text_puts(out, " ;;\n");
}

void completion_zsh(Text *out)
{
    text_puts(out, "#compdef roofstep\n# written by: roofstep help zsh\n"
                   "_roofstep() {\n"
                   "    local curcontext=$curcontext state line\n"
                   "    local -a commands\n"
                   "    commands=(\n");
    for (int i = 0; command_list[i]; i++) {
        text_printf(out, "        '%s:", command_list[i]->name);
        zsh_text(out, command_list[i]->summary);
        text_puts(out, "'\n");
    }
    text_puts(
        out,
        "    )\n"
        "    _arguments -C '(- *)--help[commands and options]' '(- *)--version[version, commit, "
        "libraries]' \\\n"
        "        '1: :->command' '*:: :->rest'\n"
        "    case $state in\n"
        "        command) _describe command commands; return ;;\n"
        "        rest) ;;\n"
        "        *) return ;;\n"
        "    esac\n"
        "    case $words[1] in\n"
        "        help) _describe command commands ;;\n");
    for (int i = 0; command_list[i]; i++) zsh_command(out, command_list[i]);
    text_puts(out,
              "    esac\n"
              "}\n"
              "if [[ $funcstack[1] == _roofstep ]]; then _roofstep \"$@\"; else compdef _roofstep "
              "roofstep; fi\n");
}
