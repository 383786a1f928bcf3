#include "cli/suite/suite_files.h"

#include "base/array.h"
#include "base/json_text.h"
#include "cli/output.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Not the page itself, what is only of use to the suite, nor names that nobody here has given. */
static bool is_shown(const char *name)
{
    static const char *const own[] = {"index.html", "suite.json"};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
        if (strcmp(name, own[i]) == 0) return false;
    }
    return name[strspn(name,
                       "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-")] == 0;
}

static bool is_kind(const char *path, mode_t kind)
{
    struct stat about;
    return lstat(path, &about) == 0 && (about.st_mode & S_IFMT) == kind;
}

static int not_hidden(const struct dirent *entry)
{
    return entry->d_name[0] != '.' && is_shown(entry->d_name);
}

/* The files in folder/part, "" for the folder itself; of that also what is in its folders. */
static Status add_files(json_t *list, const char *folder, const char *part)
{
    char where[PATH_MAX], path[PATH_MAX], shown[PATH_MAX];
    struct dirent **entries = NULL;
    Status status = output_path(folder, part, where);
    const int n = status == ST_OK ? scandir(where, &entries, not_hidden, alphasort) : 0;
    for (int i = 0; i < n; i++) {
        const char *name = entries[i]->d_name;
        snprintf(shown, sizeof shown, "%.*s%s%s", (int)strlen(part), part, *part ? "/" : "", name);
        if (status == ST_OK) status = output_path(folder, shown, path);
        if (status == ST_OK && is_kind(path, S_IFREG) &&
            json_array_append_new(list, json_text_string(shown)))
            status = NO_MEMORY("for the names of files");
        if (status == ST_OK && !*part && is_kind(path, S_IFDIR) && strcmp(name, "cache") != 0)
            status = add_files(list, folder, name);
        free(entries[i]);
    }
    free(entries);
    return status;
}

Status suite_files_list(json_t **out, const char *folder)
{
    CLEANUP(json_text_free) json_t *list = json_array();
    if (!list) return NO_MEMORY("for the names of files");
    TRY(add_files(list, folder, ""));
    *out = json_incref(list);
    return ST_OK;
}
