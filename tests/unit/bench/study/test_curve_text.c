/* Text for training: every window once in each round, in another order; files, folders, packed ones. */
#include "bench/study/curve_text.h"
#include "op_harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BYTES = 1003, WIDTH = 10, WINDOWS = 100 }; /* two bytes are left over */

static char folder[] = "/tmp/curve-text-XXXXXX";

static void write_file(const char *name, const char *bytes, size_t n)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, n, file), n);
    fclose(file);
}

static void read_text(CurveText *text, const char *name)
{
    char path[128];
    snprintf(path, sizeof path, "%s%s%s", folder, *name ? "/" : "", name);
    ASSERT_OK(curve_text_read(text, path));
}

/* Byte i says which window it is in. */
static int make_files(void **state)
{
    char bytes[BYTES];
    (void)state;
    if (!mkdtemp(folder)) return -1;
    for (int i = 0; i < BYTES; i++) bytes[i] = (char)(unsigned char)(100 + i / WIDTH);
    write_file("text", bytes, BYTES);
    write_file("short", "0123456789", WIDTH);
    return 0;
}

static int remove_files(void **state)
{
    char command[64];
    (void)state;
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

static void count_windows(const int32_t *tokens, int64_t rows, int counts[WINDOWS])
{
    for (int64_t r = 0; r < rows; r++) {
        const int window = tokens[r * WIDTH] - 100;
        assert_in_range(window, 0, WINDOWS - 1);
        for (int i = 0; i < WIDTH; i++) assert_int_equal(tokens[r * WIDTH + i], 100 + window);
        counts[window]++;
    }
}

/* In batches of 7, which no round is a multiple of. */
static void test_every_window_once_a_round(void **state)
{
    (void)state;
    enum { ROWS = 7 };
    int32_t tokens[ROWS * WIDTH], targets[ROWS * WIDTH];
    int counts[WINDOWS] = {0};
    CurveText text;
    read_text(&text, "text");
    assert_int_equal(curve_text_windows(&text, WIDTH), WINDOWS);
    for (int64_t first = 0; first < 3 * WINDOWS; first += ROWS) {
        const int64_t rows = 3 * WINDOWS - first < ROWS ? 3 * WINDOWS - first : ROWS;
        ASSERT_OK(curve_text_batch(&text, WIDTH, 1, first, rows, tokens, targets));
        count_windows(tokens, rows, counts);
        for (int64_t i = 0; i < rows * WIDTH; i++) {
            const int32_t next = (i + 1) % WIDTH ? tokens[i + 1] : tokens[i] + 1;
            assert_int_equal(targets[i], next);
        }
        for (int w = 0; w < WINDOWS; w++)
            assert_in_range(counts[w], first / WINDOWS, (first + rows - 1) / WINDOWS + 1);
    }
    for (int w = 0; w < WINDOWS; w++) assert_int_equal(counts[w], 3);
    curve_text_free(&text);
}

/* Whoever reads them in which order. */
static void test_batches_follow_from_their_number(void **state)
{
    (void)state;
    int32_t a[WIDTH], b[WIDTH], targets[WIDTH];
    int same = 0;
    CurveText text, other;
    read_text(&text, "text");
    read_text(&other, "text");
    for (int64_t i = 3 * WINDOWS; i-- > 0;) {
        ASSERT_OK(curve_text_batch(&text, WIDTH, 5, i, 1, a, targets));
        ASSERT_OK(curve_text_batch(&other, WIDTH, 5, 3 * WINDOWS - 1 - i, 1, b, targets));
        ASSERT_OK(curve_text_batch(&other, WIDTH, 5, i, 1, b, targets));
        assert_memory_equal(a, b, sizeof a);
        ASSERT_OK(curve_text_batch(&other, WIDTH, 6, i, 1, b, targets));
        same += memcmp(a, b, sizeof a) == 0;
    }
    assert_in_range(same, 0, 20); /* 3 by chance */
    curve_text_free(&text);
    curve_text_free(&other);
}

static void test_folder(void **state)
{
    (void)state;
    char path[128];
    CurveText all, one;
    read_text(&one, "text");
    read_text(&all, "");
    assert_int_equal(all.bytes.n, BYTES + WIDTH); /* short, then text */
    assert_memory_equal(text_str(&all.bytes), "0123456789", WIDTH);
    assert_string_not_equal(all.hash, one.hash);
    assert_string_equal(one.source, "text");
    snprintf(path, sizeof path, "%s/nothing", folder);
    curve_text_free(&all);
    assert_int_equal(curve_text_read(&all, path), ST_USAGE);
    assert_non_null(strstr(status_message(), "no such file"));
    curve_text_free(&one);
}

static void test_too_short(void **state)
{
    (void)state;
    int32_t tokens[WIDTH], targets[WIDTH];
    CurveText text;
    read_text(&text, "short");
    assert_int_equal(curve_text_windows(&text, WIDTH), 0); /* nothing follows its last token */
    assert_int_equal(curve_text_windows(&text, WIDTH - 1), 1);
    assert_int_equal(curve_text_batch(&text, WIDTH, 0, 0, 1, tokens, targets), ST_USAGE);
    ASSERT_OK(curve_text_batch(&text, WIDTH - 1, 0, 0, 1, tokens, targets));
    assert_int_equal(targets[WIDTH - 2], '9');
    curve_text_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_window_once_a_round),
        cmocka_unit_test(test_batches_follow_from_their_number),
        cmocka_unit_test(test_folder),
        cmocka_unit_test(test_too_short),
    };
    return cmocka_run_group_tests(tests, make_files, remove_files);
}
