#include "model/file_tensor.h"

#include "base/array.h"
#include "config/family_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    unsigned families;
    const char *prefix;
} prefixes[] = {
#define FILE_PREFIX(families, prefix) {families, prefix},
#include "model/parameter_names.def"
};

static const struct {
    unsigned families;
    const char *end;
} buffers[] = {
#define FILE_BUFFER(families, end) {families, end},
#include "model/parameter_names.def"
};

/* A line of the table. */
typedef struct Line {
    unsigned families;
    const char *name;
    FileForm form;
    const char *parts[FILE_TENSOR_PARTS]; /* NULL after the last */
} Line;

static const Line lines[] = {
#define FILE_TENSOR(families, name, form, ...) {families, name, FILE_FORM_##form, {__VA_ARGS__}},
#include "model/parameter_names.def"
};
enum { N_LINES = sizeof lines / sizeof *lines };

static const char layer_mark[] = ".N.", expert_mark[] = ".E.";

static bool is_of_layer(const Line *line)
{
    return strstr(line->name, layer_mark) != NULL;
}

static bool is_of_expert(const Line *line)
{
    return strstr(line->name, expert_mark) != NULL;
}

static const char *prefix_of(unsigned families)
{
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        if (prefixes[i].families & families) return prefixes[i].prefix;
    }
    return "";
}

/* The tensors while they are being found: one for each line and layer, parts PLAN_NONE until they are. */
typedef struct Search {
    const Model *model;
    unsigned families;
    int layers;
    FileTensor *found; /* [line][layer] */
} Search;

static Status no_name(const char *parameter)
{
    return FAIL(ST_UNSUPPORTED, "the parameter %s has no name in files of this architecture",
                parameter);
}

/* ---- names ---- */

/* The line's name, its marks replaced by numbers. */
static void name_tensor(FileTensor *t, const Line *line, int layer, int64_t expert)
{
    const char *prefix = prefix_of(line->families);
    const size_t n = strlen(prefix);
    size_t length = 0;
    for (const char *c = line->name; *c && length < sizeof t->name - 1;) {
        const bool number = strncmp(c, layer_mark, 3) == 0 || strncmp(c, expert_mark, 3) == 0;
        const size_t room = sizeof t->name - length;
        if (number)
            length += (size_t)snprintf(t->name + length, room, ".%lld",
                                       c[1] == 'N' ? (long long)layer : (long long)expert);
        else
            t->name[length++] = *c;
        c += number ? 2 : 1;
    }
    t->name[length < sizeof t->name ? length : sizeof t->name - 1] = 0;
    t->bare = strncmp(t->name, prefix, n) == 0 ? t->name + n : t->name;
}

/* Reads a number of at most nine digits; false where there is none. */
static bool read_number(const char **text, int64_t *number)
{
    const size_t digits = strspn(*text, "0123456789");
    if (digits == 0 || digits > 9) return false;
    *number = strtol(*text, NULL, 10);
    *text += digits;
    return true;
}

/* Is `name` one of a line's, and of which layer and expert? */
static bool is_named(const char *line, const char *name, FileName *is)
{
    is->layer = is->expert = -1;
    while (*line && *name) {
        const bool layer = strncmp(line, layer_mark, 3) == 0;
        const bool number = layer || strncmp(line, expert_mark, 3) == 0;
        if (*line++ != *name++) return false;
        if (!number) continue;
        if (!read_number(&name, layer ? &is->layer : &is->expert)) return false;
        line++;
    }
    return *line == *name;
}

static bool is_buffer(unsigned families, const char *name)
{
    const size_t n = strlen(name);
    for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++) {
        const size_t end = strlen(buffers[i].end);
        if (!(buffers[i].families & families) || n < end) continue;
        const char *at = name + n - end;
        if (strcmp(at, buffers[i].end) == 0 && (at == name || at[-1] == '.')) return true;
    }
    return false;
}

FileName file_tensor_identify(Architecture architecture, const char *name)
{
    const unsigned families = architecture_table[architecture].families;
    const char *prefix = prefix_of(families);
    FileName is;
    if (is_buffer(families, name)) return (FileName){FILE_NAME_BUFFER, -1, -1};
    for (int i = 0; i < N_LINES; i++) {
        if (!(lines[i].families & families)) continue;
        const bool has_prefix = strncmp(lines[i].name, prefix, strlen(prefix)) == 0;
        if (!is_named(lines[i].name, name, &is) &&
            !(has_prefix && is_named(lines[i].name + strlen(prefix), name, &is)))
            continue;
        is.kind = strcmp(lines[i].parts[0], "lm_head") == 0 ? FILE_NAME_HEAD : FILE_NAME_PARAMETER;
        return is;
    }
    return (FileName){FILE_NAME_UNKNOWN, -1, -1};
}

/* "layers.3.ln1" is "ln1" of layer 3; other names are of layer 0. */
static const char *split_name(const char *name, int *layer)
{
    static const char head[] = "layers.";
    char *end;
    *layer = 0;
    if (strncmp(name, head, strlen(head)) != 0) return name;
    *layer = (int)strtol(name + strlen(head), &end, 10);
    return *end == '.' ? end + 1 : name;
}

/* The place of a parameter among the tensors of the table. */
static int *find_place(const Search *s, const char *name)
{
    int layer;
    const char *tail = split_name(name, &layer);
    if (layer < 0 || layer >= s->layers) return NULL;
    for (int i = 0; i < N_LINES; i++) {
        if (!(lines[i].families & s->families) || is_of_layer(&lines[i]) != (tail != name))
            continue;
        for (int p = 0; p < FILE_TENSOR_PARTS && lines[i].parts[p]; p++) {
            if (strcmp(lines[i].parts[p], tail) == 0)
                return &s->found[i * s->layers + layer].part[p];
        }
    }
    return NULL;
}

/* ---- shapes ---- */

static void set_shape(FileTensor *t, const Model *model)
{
    int64_t rows = 0;
    const Tensor *shape = NULL;
    for (int p = 0; p < t->n_parts; p++) {
        shape = &model->plan.tensors[model->params[t->part[p]].tensor];
        t->cols = shape->n_dims == 1 ? 1 : plan_width(shape);
        t->rows[p] = plan_elements(shape) / t->cols;
        rows += t->rows[p];
    }
    t->n_dims = shape->n_dims;
    t->dim[0] = t->form == FILE_FORM_TRANSPOSED ? t->cols : rows;
    t->dim[1] = t->form == FILE_FORM_TRANSPOSED ? rows : t->cols;
    t->head_rows = t->rows[0] / model->config.model.num_heads;
}

int64_t file_tensor_elements(const FileTensor *tensor)
{
    return tensor->dim[0] * tensor->dim[1];
}

FileRow file_tensor_row(const FileTensor *tensor, int part, int64_t row)
{
    const int64_t D = tensor->head_rows;
    int64_t at = row, all = 0;
    for (int p = 0; p < tensor->n_parts; p++) {
        if (p < part) at += tensor->rows[p];
        all += tensor->rows[p];
    }
    if (tensor->form == FILE_FORM_HEADS) at = (row / D * tensor->n_parts + part) * D + row % D;
    if (tensor->form == FILE_FORM_TRANSPOSED) return (FileRow){at, all};
    return (FileRow){at * tensor->cols, 1};
}

/* ---- the list ---- */

/* The parameter's rows, shared evenly among experts. */
static Status take_experts(FileTensors *out, const Search *s, int line, int layer)
{
    FileTensor t = s->found[line * s->layers + layer];
    const int64_t experts = s->model->config.model.num_experts;
    t.rows[0] /= experts;
    t.dim[0] = t.rows[0];
    for (int64_t e = 0; e < experts; e++) {
        t.first_row = e * t.rows[0];
        out->tensors[out->n] = t;
        name_tensor(&out->tensors[out->n++], &lines[line], layer, e);
    }
    return ST_OK;
}

/* The tensor joins the list if the plan has its parameters: all of them, or none. */
static Status take(FileTensors *out, const Search *s, int line, int layer)
{
    FileTensor *t = &s->found[line * s->layers + layer];
    while (t->n_parts < FILE_TENSOR_PARTS && lines[line].parts[t->n_parts]) t->n_parts++;
    int known = 0;
    for (int p = 0; p < t->n_parts; p++) known += t->part[p] != PLAN_NONE;
    if (known == 0) return ST_OK;
    if (known < t->n_parts) return no_name(lines[line].parts[0]);
    t->form = lines[line].form;
    set_shape(t, s->model);
    if (is_of_expert(&lines[line])) return take_experts(out, s, line, layer);
    out->tensors[out->n] = *t;
    name_tensor(&out->tensors[out->n++], &lines[line], layer, -1);
    return ST_OK;
}

/* Layer after layer, each with all its lines. */
static Status take_layers(FileTensors *out, const Search *s, int first, int end)
{
    for (int layer = 0; layer < s->layers; layer++) {
        for (int i = first; i < end; i++) TRY(take(out, s, i, layer));
    }
    return ST_OK;
}

static Status take_all(FileTensors *out, const Search *s)
{
    for (int i = 0; i < N_LINES; i++) {
        int end = i + 1;
        if (!(lines[i].families & s->families)) continue;
        if (!is_of_layer(&lines[i])) {
            TRY(take(out, s, i, 0));
            continue;
        }
        while (end < N_LINES && is_of_layer(&lines[end])) end++;
        TRY(take_layers(out, s, i, end));
        i = end - 1;
    }
    return ST_OK;
}

static Status search(FileTensors *out, Search *s)
{
    const size_t places = (size_t)N_LINES * (size_t)s->layers;
    CLEANUP(array_free) FileTensor *found = calloc(places, sizeof *found);
    if (!found) return NO_MEMORY("for the names of parameters");
    s->found = found;
    for (size_t i = 0; i < places; i++) {
        for (int p = 0; p < FILE_TENSOR_PARTS; p++) found[i].part[p] = PLAN_NONE;
    }
    for (int i = 0; i < s->model->n_params; i++) {
        int *place = find_place(s, s->model->params[i].name);
        if (!place) return no_name(s->model->params[i].name);
        *place = i;
    }
    return take_all(out, s);
}

/* The project's own model: each parameter under its own name. */
static void take_own(FileTensors *out, const Model *model)
{
    for (int i = 0; i < model->n_params; i++) {
        FileTensor *t = &out->tensors[out->n++];
        *t = (FileTensor){.form = FILE_FORM_ROWS, .n_parts = 1, .part = {i}};
        snprintf(t->name, sizeof t->name, "%s", model->params[i].name);
        t->bare = t->name;
        set_shape(t, model);
    }
}

Status file_tensor_list(FileTensors *out, const Model *model)
{
    const ModelSpec *spec = &model->config.model;
    Search s = {.model = model,
                .families = architecture_table[spec->architecture].families,
                .layers = (int)spec->num_layers};
    const size_t of_each = (size_t)(spec->num_experts > 0 ? spec->num_experts : 1);
    *out = (FileTensors){.tensors =
                             calloc((size_t)model->n_params * of_each + 1, sizeof *out->tensors)};
    if (!out->tensors) return NO_MEMORY("for the names of parameters");
    if (s.families == FAMILY_OWN) {
        take_own(out, model);
        return ST_OK;
    }
    const Status status = search(out, &s);
    if (status != ST_OK) file_tensor_free(out);
    return status;
}

void file_tensor_free(FileTensors *list)
{
    free(list->tensors);
    *list = (FileTensors){0};
}
