#include "report/page/table_files.h"

#include "base/array.h"
#include "base/folder.h"
#include "report/format/table_write.h"

static void put(Text *out, const char *text)
{
    if (text) text_puts(out, text);
}

static Status write_file(const char *folder, const char *name, const TableFormat *format,
                         const Text *text)
{
    CLEANUP(text_free) Text path = {0};
    text_printf(&path, "%s/%s.%s", folder, name, format->ending);
    TRY(text_status(&path));
    TRY(text_status(text));
    return text_write_file(text_str(&path), text_str(text), text->n);
}

static Status write_own(const char *folder, const char *name, const TableFormat *format,
                        const char *tables)
{
    CLEANUP(text_free) Text text = {0};
    put(&text, format->part_begin);
    text_puts(&text, tables);
    put(&text, format->part_end);
    return write_file(folder, name, format, &text);
}

/* One part to the document with all of them, and to a file of its own, with the same labels. */
static Status write_part(const char *folder, const TableFormat *format, const PagePart *parts,
                         int i, Text *all)
{
    CLEANUP(text_free) Text name = {0}, title = {0};
    page_parts_name(&name, parts, i);
    page_parts_title(&title, &parts[i]);
    put(all, format->title_begin);
    format->put_text(all, text_str(&title));
    put(all, format->title_end);
    const size_t start = all->n;
    TRY(parts[i].write(all, format->name, &parts[i]));
    TRY(text_status(all));
    TRY(write_own(folder, text_str(&name), format, text_str(all) + start));
    put(all, format->after_tables);
    text_puts(all, "\n");
    return ST_OK;
}

static Status write_format(const char *folder, const TableFormat *format, const PagePart *parts,
                           int n)
{
    CLEANUP(text_free) Text all = {0};
    put(&all, format->document_begin);
    for (int i = 0; i < n; i++) TRY(write_part(folder, format, parts, i, &all));
    put(&all, format->document_end);
    return write_file(folder, "tables", format, &all);
}

Status table_files_write(const char *folder, const PageInput *input)
{
    CLEANUP(array_free) PagePart *parts = NULL;
    int n_parts = 0;
    TRY(folder_make(folder));
    TRY(page_parts_list(input, &parts, &n_parts));
    for (int f = 0; table_write_formats[f]; f++) {
        if (table_write_formats[f]->ending)
            TRY(write_format(folder, table_write_formats[f], parts, n_parts));
    }
    return ST_OK;
}
