#include "model/file_tensor.h"

#include "base/array.h"
#include "config/architecture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const prefixes[] = {
#define FILE_PREFIX(family, prefix) [FAMILY_##family] = prefix,
#include "model/parameter_names.def"
};

static const struct {
    Family family;
    const char *end;
} buffers[] = {
#define FILE_BUFFER(family, end) {FAMILY_##family, end},
#include "model/parameter_names.def"
};

/* A line of the table. */
typedef struct Line {
    Family family;
    const char *name;
    FileForm form;
    const char *parts[FILE_TENSOR_PARTS]; /* NULL after the last */
} Line;

static const Line lines[] = {
#define FILE_TENSOR(family, name, form, ...) \
    {FAMILY_##family, name, FILE_FORM_##form, {__VA_ARGS__}},
#include "model/parameter_names.def"
};
enum { N_LINES = sizeof lines / sizeof *lines };

static const char layer_mark[] = ".N.";

static bool is_of_layer(const Line *line)
{
    return strstr(line->name, layer_mark) != NULL;
}

/* The tensors while they are being found: one for each line and layer, parts PLAN_NONE until they are. */
typedef struct Search {
    const Model *model;
    Family family;
    int layers;
    FileTensor *found; /* [line][layer] */
} Search;

static Status no_name(const char *parameter)
{
    return FAIL(ST_UNSUPPORTED, "the parameter %s has no name in files of this architecture",
                parameter);
}

/* ---- names ---- */

static void name_tensor(FileTensor *t, const Line *line, int layer)
{
    const char *mark = strstr(line->name, layer_mark);
    const char *prefix = prefixes[line->family];
    if (mark) {
        snprintf(t->name, sizeof t->name, "%.*s.%d.%s", (int)(mark - line->name), line->name, layer,
                 mark + strlen(layer_mark));
    } else {
        snprintf(t->name, sizeof t->name, "%s", line->name);
    }
    const size_t n = strlen(prefix);
    t->bare = strncmp(t->name, prefix, n) == 0 ? t->name + n : t->name;
}

/* Is `name` one of a line's, and of which layer? */
static bool is_named(const char *line, const char *name, int64_t *layer)
{
    const char *mark = strstr(line, layer_mark);
    *layer = -1;
    if (!mark) return strcmp(line, name) == 0;
    const size_t head = (size_t)(mark + 1 - line);
    if (strncmp(line, name, head) != 0) return false;
    const size_t digits = strspn(name + head, "0123456789");
    if (digits == 0 || digits > 9) return false;
    *layer = strtol(name + head, NULL, 10);
    return strcmp(name + head + digits, mark + strlen(layer_mark) - 1) == 0;
}

static bool is_buffer(Family family, const char *name)
{
    const size_t n = strlen(name);
    for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++) {
        const size_t end = strlen(buffers[i].end);
        if (buffers[i].family != family || n < end) continue;
        const char *at = name + n - end;
        if (strcmp(at, buffers[i].end) == 0 && (at == name || at[-1] == '.')) return true;
    }
    return false;
}

FileName file_tensor_identify(Architecture architecture, const char *name)
{
    const Family family = architecture_table[architecture].family;
    FileName is = {.layer = -1};
    if (is_buffer(family, name)) return (FileName){FILE_NAME_BUFFER, -1};
    for (int i = 0; i < N_LINES; i++) {
        const size_t prefix = strlen(prefixes[lines[i].family]);
        if (lines[i].family != family) continue;
        const bool has_prefix = strncmp(lines[i].name, prefixes[family], prefix) == 0;
        if (!is_named(lines[i].name, name, &is.layer) &&
            !(has_prefix && is_named(lines[i].name + prefix, name, &is.layer)))
            continue;
        is.kind = strcmp(lines[i].parts[0], "lm_head") == 0 ? FILE_NAME_HEAD : FILE_NAME_PARAMETER;
        return is;
    }
    return (FileName){FILE_NAME_UNKNOWN, -1};
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
        if (lines[i].family != s->family || is_of_layer(&lines[i]) != (tail != name)) continue;
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
    out->tensors[out->n] = *t;
    name_tensor(&out->tensors[out->n++], &lines[line], layer);
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
        if (lines[i].family != s->family) continue;
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
                .family = architecture_table[spec->architecture].family,
                .layers = (int)spec->num_layers};
    *out = (FileTensors){.tensors = calloc((size_t)model->n_params + 1, sizeof *out->tensors)};
    if (!out->tensors) return NO_MEMORY("for the names of parameters");
    if (s.family == FAMILY_OWN) {
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
