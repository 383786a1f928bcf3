#include "report/profile/nsys_folder.h"

#include "base/array.h"
#include "base/json_text.h"
#include "report/profile/nsys_profile.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

typedef struct File {
    char *name;
    size_t prefix; /* bytes of the name before the report's */
    NsysInput input;
} File;

typedef struct Files {
    File *list;
    size_t n;
} Files;

/* nsys gives no other names; messages are one line, and JSON is UTF-8. */
static bool is_plain(const char *name)
{
    CLEANUP(json_text_free) json_t *text = json_string(name);
    bool plain = text != NULL;
    for (; plain && *name; name++) plain = !iscntrl((unsigned char)*name);
    return plain;
}

static Status add_file(Files *files, const char *name)
{
    File file = {0};
    file.input = nsys_table_input(name, &file.prefix);
    if (file.input == NSYS_INPUT_COUNT || !is_plain(name)) return ST_OK;
    TRY(array_grow(&files->list, files->n, 1, sizeof *files->list));
    if (!(file.name = strdup(name))) return NO_MEMORY("for a name");
    files->list[files->n++] = file;
    return ST_OK;
}

static void free_files(Files *files)
{
    for (size_t i = 0; i < files->n; i++) free(files->list[i].name);
    free(files->list);
}

/* By prefix; those of one prefix as nsys_inputs.def has them. */
static int in_order(const void *a, const void *b)
{
    const File *x = a, *y = b;
    const size_t n = x->prefix < y->prefix ? x->prefix : y->prefix;
    const int order = strncmp(x->name, y->name, n);
    if (order) return order;
    if (x->prefix != y->prefix) return x->prefix < y->prefix ? -1 : 1;
    return (int)x->input - (int)y->input;
}

static Status list_files(Files *files, const char *folder)
{
    const struct dirent *entry;
    Status status = ST_OK;
    DIR *dir = opendir(folder);
    if (!dir) return FAIL(ST_USAGE, "--from %s: %s", folder, strerror(errno));
    while (status == ST_OK && (entry = readdir(dir))) status = add_file(files, entry->d_name);
    closedir(dir);
    TRY(status);
    if (files->n == 0)
        return FAIL(ST_USAGE,
                    "--from %s: neither profile.json nor a CSV of nsys stats, as "
                    "report1_cuda_gpu_kern_sum.csv",
                    folder);
    qsort(files->list, files->n, sizeof *files->list, in_order);
    return ST_OK;
}

static bool same_prefix(const File *a, const File *b)
{
    return a->prefix == b->prefix && strncmp(a->name, b->name, a->prefix) == 0;
}

static Status read_file(NsysProfile *profile, const char *folder, const File *file)
{
    static const size_t most = (size_t)1 << 29; /* keeps a wrong file from eating the memory */
    CLEANUP(text_free) Text path = {0}, text = {0};
    text_printf(&path, "%s/%s", folder, file->name);
    TRY(text_status(&path));
    Status status = text_read_file(&text, text_str(&path), most);
    TRY(status == ST_IO ? ST_USAGE : status); /* bad input, as every file that cannot be read */
    status = nsys_profile_add(profile, file->input, file->name, text_str(&text), text.n);
    if (status != ST_OK) status_context("%s", text_str(&path));
    return status;
}

/* Those of one prefix, which are `n` from `files` on. */
static Status read_profile(json_t *out, const char *folder, const File *files, size_t n)
{
    CLEANUP(nsys_profile_close) NsysProfile *profile = NULL;
    TRY(nsys_profile_open(&profile));
    for (size_t i = 0; i < n; i++) TRY(read_file(profile, folder, &files[i]));
    return nsys_profile_finish(profile, out, files->name, files->prefix);
}

Status nsys_folder_read(json_t **out, const char *folder)
{
    CLEANUP(free_files) Files files = {0};
    CLEANUP(json_text_free) json_t *list = json_array();
    if (!list) return NO_MEMORY("for profiles");
    TRY(list_files(&files, folder));
    for (size_t i = 0, n; i < files.n; i += n) {
        for (n = 1; i + n < files.n && same_prefix(&files.list[i], &files.list[i + n]);) n++;
        TRY(read_profile(list, folder, &files.list[i], n));
    }
    *out = json_incref(list);
    return ST_OK;
}
