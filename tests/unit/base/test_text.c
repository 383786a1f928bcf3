#include "base/escape.h"
#include "base/text.h"
#include "with_cmocka.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64];

static int make_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/test_text.XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static const char *in_folder(const char *name)
{
    static char path[sizeof folder + 256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static int remove_folder(void **state)
{
    (void)state;
    DIR *dir = opendir(folder);
    if (!dir) return -1;
    for (struct dirent *e = readdir(dir); e; e = readdir(dir)) {
        if (e->d_name[0] != '.') (void)remove(in_folder(e->d_name));
    }
    closedir(dir);
    return rmdir(folder);
}

static int files_in_folder(void)
{
    int n = 0;
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    for (struct dirent *e = readdir(dir); e; e = readdir(dir)) n += e->d_name[0] != '.';
    closedir(dir);
    return n;
}

static void grows(void **state)
{
    (void)state;
    Text text = {0};
    assert_string_equal(text_str(&text), "");
    for (int i = 0; i < 1000; i++) text_printf(&text, "%d,", i);
    text_puts(&text, "end");
    text_fill(&text, '.', 3);
    assert_int_equal(text.n, 3890 + 6);
    assert_int_equal(strlen(text_str(&text)), text.n);
    assert_string_equal(text_str(&text) + 3886, "999,end...");
    text_clear(&text);
    assert_string_equal(text_str(&text), "");
    text_append(&text, "a\0b", 3);
    assert_int_equal(text.n, 3);
    assert_int_equal(text_status(&text), ST_OK);
    text_free(&text);
    assert_string_equal(text_str(&text), "");
}

static void failure_sticks(void **state)
{
    (void)state;
    Text text = {0};
    text_puts(&text, "abc");
    text_fill(&text, 'x', SIZE_MAX / 2);
    text_puts(&text, "def");
    assert_int_equal(text_status(&text), ST_NO_MEMORY);
    assert_true(status_ran_out_of_memory()); /* the process remembers, for those that do not ask */
    assert_string_equal(text_str(&text), "abc");
    text_free(&text);
}

static void quotes_for_the_shell(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {
        {"--ctx", "--ctx"},
        {"128,256", "128,256"},
        {"64-1024*2", "'64-1024*2'"},
        {"", "''"},
        {"a b", "'a b'"},
        {"it's", "'it'\\''s'"},
        {"$HOME", "'$HOME'"},
        {"a=b/c.d", "a=b/c.d"},
        {"é 中", "'é 中'"},
        {"a\x1b[0m\n'b'\\\xff\xe2\x80\xaeé",
         "$'a\\033[0m\\012\\047b\\047\\134\\377\\342\\200\\256é'"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        Text text = {0};
        escape_shell(&text, pairs[i][0]);
        assert_string_equal(text_str(&text), pairs[i][1]);
        text_free(&text);
    }
}

static void width_counts_characters(void **state)
{
    (void)state;
    assert_int_equal(text_width("12.3 ± 0.4"), 10);
    assert_int_equal(text_width(""), 0);
}

static void holds(const char *path, const char *want)
{
    Text text = {0};
    assert_int_equal(text_read_file(&text, path, 1 << 20), ST_OK);
    assert_string_equal(text_str(&text), want);
    text_free(&text);
}

static void writes_whole_files(void **state)
{
    (void)state;
    const char *path = in_folder("a");
    assert_int_equal(text_write_file(path, "one", 3), ST_OK);
    holds(path, "one");
    assert_int_equal(chmod(path, 0640), 0);
    assert_int_equal(text_write_file(path, "two two", 7), ST_OK);
    holds(path, "two two");
    assert_int_equal(text_write_file(path, NULL, 0), ST_OK);
    holds(path, "");
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0640);
    assert_int_equal(files_in_folder(), 1);
}

static void new_files_follow_the_umask(void **state)
{
    (void)state;
    struct stat st;
    const mode_t old = umask(027);
    const Status status = text_write_file(in_folder("masked"), "x", 1);
    umask(old);
    assert_int_equal(status, ST_OK);
    assert_int_equal(stat(in_folder("masked"), &st), 0);
    assert_int_equal(st.st_mode & 0777, 0640);
    assert_int_equal(unlink(in_folder("masked")), 0);
}

static void links_stay_links(void **state)
{
    (void)state;
    struct stat st;
    assert_int_equal(text_write_file(in_folder("target"), "old", 3), ST_OK);
    assert_int_equal(symlink("target", in_folder("link")), 0);
    assert_int_equal(text_write_file(in_folder("link"), "new", 3), ST_OK);
    assert_int_equal(lstat(in_folder("link"), &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    holds(in_folder("target"), "new");
    (void)unlink(in_folder("link"));
    (void)unlink(in_folder("target"));
}

/* A device is written into, never replaced by a file. */
static void devices_stay_devices(void **state)
{
    (void)state;
    struct stat st;
    assert_int_equal(text_write_file("/dev/null", "x", 1), ST_OK);
    assert_int_equal(stat("/dev/null", &st), 0);
    assert_true(S_ISCHR(st.st_mode));
    if (access("/dev/full", W_OK) != 0) return;
    assert_int_equal(text_write_file("/dev/full", "x", 1), ST_IO);
    assert_non_null(strstr(status_message(), "/dev/full"));
    assert_non_null(strstr(status_message(), "No space left"));
}

static void failing_leaves_no_trace(void **state)
{
    (void)state;
    const int before = files_in_folder();
    assert_int_equal(text_write_file(folder, "x", 1), ST_IO);
    assert_non_null(strstr(status_message(), "is a directory"));
    assert_int_equal(text_write_file(in_folder("no/such/place"), "x", 1), ST_IO);
    assert_non_null(strstr(status_message(), "No such file"));
    assert_int_equal(text_write_file("", "x", 1), ST_IO);
    assert_int_equal(files_in_folder(), before);
}

static void refuses_what_it_cannot_read(void **state)
{
    (void)state;
    Text text = {0};
    assert_int_equal(text_read_file(&text, in_folder("missing"), 10), ST_IO);
    assert_int_equal(text_read_file(&text, folder, 10), ST_IO);
    assert_non_null(strstr(status_message(), "directory"));
    assert_int_equal(text_write_file(in_folder("eleven"), "01234567890", 11), ST_OK);
    assert_int_equal(text_read_file(&text, in_folder("eleven"), 10), ST_IO);
    assert_non_null(strstr(status_message(), "more than 10 bytes"));
    text_free(&text);
}

static void ends_with(void **state)
{
    (void)state;
    assert_true(text_ends_with("step.json.gz", ".gz"));
    assert_true(text_ends_with(".gz", ".gz"));
    assert_false(text_ends_with("gz", ".gz"));
    assert_false(text_ends_with("step.gz.json", ".gz"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ends_with),
        cmocka_unit_test(grows),
        cmocka_unit_test(failure_sticks),
        cmocka_unit_test(quotes_for_the_shell),
        cmocka_unit_test(width_counts_characters),
        cmocka_unit_test(writes_whole_files),
        cmocka_unit_test(new_files_follow_the_umask),
        cmocka_unit_test(links_stay_links),
        cmocka_unit_test(devices_stay_devices),
        cmocka_unit_test(failing_leaves_no_trace),
        cmocka_unit_test(refuses_what_it_cannot_read),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
