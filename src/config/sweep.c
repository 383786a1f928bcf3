#include "config/sweep.h"

#include "base/array.h"
#include "base/human.h"
#include "config/model_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* The command line while it is being read. */
typedef struct Reader {
    const OptionSet *set;
    int argc, next;
    int last; /* the option that was read last, if it may have several values; -1: none */
    char **argv;
    Settings *settings;
    Axis axes[OPTION_COUNT]; /* empty where an option was not given */
} Reader;

static const Settings settings_defaults = {.peer_rounds = 3,
                                           .rounds = 3,
                                           .count = 1000,
                                           .value = 0.01,
                                           .top = 10,
                                           .trace_steps = 3,
                                           .budget = 180,
                                           .fail_above = INFINITY,
                                           .dashes = -1};

/* ---- from words to axes and settings ---- */

static Status set_text(Reader *r, OptionId id, const char *value)
{
    const Option *option = &option_table[id];
    if (r->settings->given[id]) return FAIL(ST_USAGE, "--%s is given twice", option->name);
    if (id == OPTION_FORMAT) {
        const Status status = option_value_read_format(r->set, value, r->settings->format);
        if (status != ST_OK) status_context("--%s", option->name);
        return status;
    }
    memcpy((char *)r->settings + option->offset, &value, sizeof value);
    return ST_OK;
}

static Status set_flag(Reader *r, OptionId id, const char *value)
{
    const bool on = true;
    if (value) return FAIL(ST_USAGE, "--%s takes no value", option_table[id].name);
    memcpy((char *)r->settings + option_table[id].offset, &on, sizeof on);
    return ST_OK;
}

static Status add_values(Reader *r, OptionId id, const char *value)
{
    /* Models of one computation are one cell: here the values are counted, not the cells. */
    if (id == OPTION_MODEL && !option_in(r->set->lists, id) &&
        (r->settings->model || strchr(value, ',')))
        return FAIL(ST_USAGE, "--model takes one value here, not several");
    if (id == OPTION_MODEL) r->settings->model = value;
    if (id == OPTION_MODEL && strcmp(value, "list") == 0) {
        r->settings->list_models = true;
        return ST_OK;
    }
    TRY(axis_read(&r->axes[id], id, value));
    if (r->axes[id].n > 1 && !option_in(r->set->lists, id))
        return FAIL(ST_USAGE, "--%s takes one value here, not several", option_table[id].name);
    return ST_OK;
}

/* `value` is NULL when there was no "=": then it is the next word. */
static Status read_option(Reader *r, OptionId id, const char *value)
{
    const Option *option = &option_table[id];
    Status status;
    if (option->kind == OPTION_KIND_FLAG) {
        status = set_flag(r, id, value);
    } else {
        if (!value && r->next < r->argc && strncmp(r->argv[r->next], "--", 2) != 0)
            value = r->argv[r->next++];
        if (!value || !*value) return option_needs_value(r->set, id);
        const bool text = option->kind == OPTION_KIND_TEXT || option->kind == OPTION_KIND_FORMAT;
        status = text ? set_text(r, id, value) : add_values(r, id, value);
    }
    r->settings->given[id] = true;
    r->last = option_in(r->set->lists, id) ? (int)id : -1;
    return status;
}

/* The option of this command that takes `word` as a value, NULL when none has such a word. */
static const Option *option_of_word(const OptionSet *set, const char *word)
{
    for (int id = 0; id < OPTION_COUNT; id++) {
        const char *const *words = option_takes(set, id) ? option_table[id].words : NULL;
        for (; words && *words; words++) {
            if (strcasecmp(word, *words) == 0) return &option_table[id];
        }
    }
    return NULL;
}

static Status refuse_argument(const Reader *r, const char *word)
{
    const Option *option = option_of_word(r->set, word);
    if (r->last >= 0)
        return FAIL(ST_USAGE,
                    "%s was not expected; several values of --%s have commas between them",
                    human_quote(word).s, option_table[r->last].name);
    if (option)
        return FAIL(ST_USAGE, "%s was not expected: did you mean --%s %s?", human_quote(word).s,
                    option->name, word);
    return FAIL(ST_USAGE, "%s was not expected; options start with --", human_quote(word).s);
}

static Status read_argument(Reader *r, const char *word)
{
    Settings *settings = r->settings;
    if (!r->set->args) return refuse_argument(r, word);
    if (settings->n_args == SETTINGS_MAX_ARGS)
        return FAIL(ST_USAGE, "more than %d arguments", SETTINGS_MAX_ARGS);
    settings->args[settings->n_args++] = word;
    return ST_OK;
}

/* "--name" or "--name=value". */
static Status read_dashed(Reader *r, const char *word)
{
    char name[64];
    OptionId id;
    if (strcmp(word, "-o") == 0) word = "--out"; /* as compilers have it */
    const char *start = word + strspn(word, "-");
    const size_t n = strcspn(start, "=");
    if (n >= sizeof name)
        return FAIL(ST_USAGE, "unknown option %s; see --help", human_plain(word).s);
    memcpy(name, start, n);
    name[n] = 0;
    if (start - word != 2)
        return FAIL(ST_USAGE, "unknown option %s; options start with two dashes, see --help",
                    human_plain(word).s);
    TRY(option_find(r->set, name, &id));
    return read_option(r, id, start[n] ? start + n + 1 : NULL);
}

static Status read_words(Reader *r)
{
    bool options = true;
    while (r->next < r->argc && !r->settings->help) {
        const char *word = r->argv[r->next++];
        if (options && strcmp(word, "--") == 0) {
            options = false;
            r->settings->dashes = r->settings->n_args;
        } else if (options && strcmp(word, "-h") == 0)
            r->settings->help = true;
        else if (options && word[0] == '-' && word[1])
            TRY(read_dashed(r, word));
        else
            TRY(read_argument(r, word));
    }
    return ST_OK;
}

/* ---- from axes to cells ---- */

/* The numbers that are no cell's. */
static Status set_numbers(Reader *r)
{
    const Axis *axis = &r->axes[OPTION_MEMORY_LIMIT];
    Settings *settings = r->settings;
    if (axis->n > SETTINGS_MAX_LIMITS)
        return FAIL(ST_USAGE, "--memory-limit: at most %d sizes", SETTINGS_MAX_LIMITS);
    for (int i = 0; i < axis->n; i++) settings->memory_limits[i] = axis->values[i].number;
    settings->n_memory_limits = axis->n;
    for (int id = CELL_FIELD_COUNT; id < OPTION_COUNT; id++) {
        if (r->axes[id].n > 0) option_value_store((OptionId)id, r->axes[id].values, settings);
    }
    if (settings->full) settings->budget = INFINITY;
    return ST_OK;
}

static Status count_cells(const Reader *r, int *n)
{
    double cells = 1;
    for (int id = 0; id < OPTION_COUNT; id++) {
        if (option_is_axis(id) && r->axes[id].n > 0) cells *= r->axes[id].n;
    }
    if (cells > SWEEP_MAX_CELLS)
        return FAIL(ST_USAGE, "these lists make %.0f cells, more than %s; sweep fewer values",
                    cells, human_count(SWEEP_MAX_CELLS).s);
    *n = (int)cells;
    return ST_OK;
}

static bool is_dimension(int id)
{
    return id == OPTION_VOCAB || option_in(OPTION_LIST(OPTIONS_CUSTOM), id);
}

/* A preset whose vocabulary is another is still that preset. */
static void note_change(Config *cell, int id)
{
    if (id == OPTION_D_FF) cell->model.ff_multiple = 0;
    if (model_spec_is_file(&cell->model))
        cell->model.changed |= 1u << id;
    else if (id != OPTION_VOCAB)
        strcpy(cell->model.size, "custom");
}

/* Cell `index` of the product: a number whose digits, the last axis lowest, pick the values. */
static Status make_cell(const Reader *r, int index, Config *cell)
{
    int digits[CELL_FIELD_COUNT] = {0};
    for (int id = CELL_FIELD_COUNT - 1; id >= 0; id--) {
        if (!option_is_axis(id) || r->axes[id].n == 0) continue;
        digits[id] = index % r->axes[id].n;
        index /= r->axes[id].n;
    }
    option_defaults(r->set, cell);
    cell->memory_limit = r->settings->memory_limits[0];
    for (int id = 0; id < CELL_FIELD_COUNT; id++) {
        if (!option_is_axis(id) || r->axes[id].n == 0) continue;
        const OptionValue *value = &r->axes[id].values[digits[id]];
        if (id == OPTION_SIZE)
            TRY(model_spec_preset(&cell->model, value->word));
        else
            option_value_store((OptionId)id, value, cell);
        if (is_dimension(id)) note_change(cell, id);
    }
    const Status status = model_spec_complete(&cell->model);
    if (status != ST_OK) status_context("--model %s", human_plain(cell->model.name).s);
    TRY(status);
    if (cell->ranks <= 1) { /* nothing is shared */
        cell->parallel = PARALLEL_DDP;
        cell->comm_precision = COMM_PRECISION_AUTO;
    }
    if (cell->ranks <= 1 || cell->parallel != PARALLEL_DDP) cell->bucket = 0;
    if (cell->precision != PRECISION_FP8 && r->axes[OPTION_PRECISION].n > 0) { /* it has none */
        cell->fp8_recipe = FP8_RECIPE_CURRENT;
        cell->fp8_layers = CONFIG_LINEARS_ALL;
    }
    const int64_t positions = cell->model.positions;
    if (r->axes[OPTION_CTX].n == 0 && positions > 0 && positions < cell->ctx) cell->ctx = positions;
    return config_check(cell);
}

/* Models of files go by their hash, as keys of results do, not by their name. */
static int compare(const Config *a, const Config *b)
{
    const bool files = model_spec_is_file(&a->model) && model_spec_is_file(&b->model);
    int order = 0;
    for (int id = 0; id < CELL_FIELD_COUNT && order == 0; id++) {
        if (id != OPTION_SIZE || !files) order = option_value_compare_cells((OptionId)id, a, b);
    }
    return order;
}

/* Equal cells in the order they were made. */
static int compare_for_sort(const void *a, const void *b)
{
    const Config *x = *(const Config *const *)a, *y = *(const Config *const *)b;
    const int order = compare(x, y);
    return order != 0 ? order : (x > y) - (x < y);
}

/* Cells of one model are equal where they differ in what one rank does not have. */
static void note_same(Sweep *sweep, const Config *kept, const Config *left_out)
{
    if (model_spec_is_file(&kept->model) && strcmp(kept->model.name, left_out->model.name) != 0)
        axis_note_same(&sweep->same, &kept->model, &left_out->model);
}

/* Different presets with the same overrides may come out equal: the first of them stays. */
static Status drop_equal(Sweep *sweep)
{
    const int n = sweep->n;
    CLEANUP(array_free) Config **sorted = malloc((size_t)n * sizeof *sorted);
    CLEANUP(array_free) bool *drop = calloc((size_t)n, sizeof *drop);
    if (!sorted || !drop) return NO_MEMORY("for %d cells", n);
    for (int i = 0; i < n; i++) sorted[i] = &sweep->configs[i];
    qsort(sorted, (size_t)n, sizeof *sorted, compare_for_sort);
    for (int i = 1; i < n; i++) {
        if (compare(sorted[i - 1], sorted[i]) != 0) continue;
        drop[sorted[i] - sweep->configs] = true;
        note_same(sweep, sorted[i - 1], sorted[i]);
    }
    sweep->n = 0;
    for (int i = 0; i < n; i++) {
        if (!drop[i]) sweep->configs[sweep->n++] = sweep->configs[i];
    }
    return ST_OK;
}

void sweep_find_varying(Sweep *sweep)
{
    for (int id = 0; id < CELL_FIELD_COUNT; id++) {
        for (int i = 1; i < sweep->n && !sweep->varies[id]; i++)
            sweep->varies[id] =
                option_value_compare_cells((OptionId)id, sweep->configs, &sweep->configs[i]) != 0;
    }
}

static bool shares_its_name(const Axis *models, int i)
{
    for (int j = 0; j < models->n; j++) {
        if (strcmp(models->values[i].model->name, models->values[j].model->name) == 0 &&
            strcmp(models->values[i].word, models->values[j].word) != 0)
            return true;
    }
    return false;
}

/* Two folders of the same name are told apart by their hashes. */
static Status tell_models_apart(const Axis *models)
{
    CLEANUP(array_free) bool *shared = calloc((size_t)models->n + 1, sizeof *shared);
    if (!shared) return NO_MEMORY("for %d models", models->n);
    for (int i = 0; i < models->n; i++) shared[i] = shares_its_name(models, i);
    for (int i = 0; i < models->n; i++) {
        if (shared[i]) model_file_add_hash(models->values[i].model);
    }
    return ST_OK;
}

static Status make_cells(const Reader *r, Sweep *sweep)
{
    int n = 0;
    sweep->same = r->axes[OPTION_MODEL].same;
    TRY(count_cells(r, &n));
    sweep->configs = malloc((size_t)n * sizeof *sweep->configs);
    if (!sweep->configs) return NO_MEMORY("for %d cells", n);
    for (; sweep->n < n; sweep->n++) TRY(make_cell(r, sweep->n, &sweep->configs[sweep->n]));
    TRY(drop_equal(sweep));
    sweep_find_varying(sweep);
    return ST_OK;
}

static Status parse(Reader *r, Sweep *sweep)
{
    TRY(option_value_read_format(r->set, NULL, r->settings->format));
    TRY(read_words(r));
    if (r->settings->help || r->settings->list_models) return ST_OK;
    if (r->settings->given[OPTION_SIZE] && r->settings->given[OPTION_MODEL])
        return FAIL(ST_USAGE, "--size and --model both say which model: give one of them");
    TRY(set_numbers(r));
    TRY(tell_models_apart(&r->axes[OPTION_MODEL]));
    return make_cells(r, sweep);
}

Status sweep_parse(const OptionSet *set, int argc, char **argv, Settings *settings, Sweep *sweep)
{
    Reader reader = {.set = set, .argc = argc, .argv = argv, .last = -1, .settings = settings};
    *settings = settings_defaults;
    *sweep = (Sweep){0};
    const Status status = parse(&reader, sweep);
    for (int id = 0; id < OPTION_COUNT; id++) axis_free(&reader.axes[id]);
    if (status != ST_OK) sweep_free(sweep);
    return status;
}

void sweep_free(Sweep *sweep)
{
    free(sweep->configs);
    *sweep = (Sweep){0};
}
