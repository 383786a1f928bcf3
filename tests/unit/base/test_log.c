/* stderr and stdout are replaced by files, and in one test stderr by a terminal. */
#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"
#include "with_cmocka.h"

#include <fcntl.h>
#include <pty.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A warning is said once: those of every test are others. */
static int percent;

static void say(void)
{
    log_note("%d cells", 3);
    log_warning("steal time %d %%", ++percent);
}

static char *said_to(int fd, int stream)
{
    static char text[512];
    fflush(stderr);
    fflush(stdout);
    const int saved = dup(stream);
    assert_true(saved >= 0 && dup2(fd, stream) >= 0);
    say();
    fflush(stdout);
    assert_true(dup2(saved, stream) >= 0);
    close(saved);
    memset(text, 0, sizeof text);
    return text;
}

static void lines_go_to_stderr(void **state)
{
    (void)state;
    FILE *file = tmpfile();
    assert_non_null(file);
    char *text = said_to(fileno(file), STDERR_FILENO);
    rewind(file);
    assert_true(fread(text, 1, 511, file) > 0);
    fclose(file);
    assert_string_equal(text, "roofstep: 3 cells\nroofstep: warning: steal time 1 %\n");
}

/* A file's name is printed as it is, but for what a terminal obeys. */
static void a_line_stays_a_line(void **state)
{
    (void)state;
    FILE *file = tmpfile();
    char text[256] = "";
    assert_non_null(file);
    fflush(stderr);
    const int saved = dup(STDERR_FILENO);
    assert_true(saved >= 0 && dup2(fileno(file), STDERR_FILENO) >= 0);
    log_note("%s: é", "a\nb\x1b]0;x\x07\xc2\x9b\x9b\xe2\x80\xae");
    log_line("own\r\x7f");
    assert_true(dup2(saved, STDERR_FILENO) >= 0);
    close(saved);
    rewind(file);
    assert_true(fread(text, 1, sizeof text - 1, file) > 0);
    fclose(file);
    assert_string_equal(text, "roofstep: a b\\x1b]0;x\\x07\\u009b\\x9b\\u202e: é\nown \\x7f\n");
}

static void nothing_goes_to_stdout(void **state)
{
    (void)state;
    FILE *file = tmpfile();
    assert_non_null(file);
    said_to(fileno(file), STDOUT_FILENO);
    fseek(file, 0, SEEK_END);
    assert_int_equal(ftell(file), 0);
    fclose(file);
}

static void repeat(void)
{
    for (int i = 0; i < 3; i++) {
        log_note("a note");
        log_warning("said %s", "often");
    }
}

static void a_warning_is_said_once(void **state)
{
    (void)state;
    static char text[512];
    FILE *file = tmpfile();
    assert_non_null(file);
    const int saved = dup(STDERR_FILENO);
    assert_true(saved >= 0 && dup2(fileno(file), STDERR_FILENO) >= 0);
    repeat();
    assert_true(dup2(saved, STDERR_FILENO) >= 0);
    close(saved);
    rewind(file);
    assert_true(fread(text, 1, 511, file) > 0);
    fclose(file);
    assert_string_equal(text, "roofstep: a note\nroofstep: warning: said often\n"
                              "roofstep: a note\nroofstep: a note\n");
    assert_true(log_is_repeated("roofstep: warning: said often"));
    assert_false(log_is_repeated("roofstep: warning: said by a child"));
    assert_true(log_is_repeated("roofstep: warning: said by a child"));
    assert_false(log_is_repeated("roofstep: a note"));
    assert_false(log_is_repeated("said often"));
}

/* Both lines: a terminal may hand them over one by one. */
static void read_lines(int terminal, char *text)
{
    size_t n = 0;
    while (n == 0 || strchr(text, '\n') == strrchr(text, '\n')) {
        const ssize_t got = read(terminal, text + n, 511 - n);
        assert_true(got > 0);
        n += (size_t)got;
        text[n] = 0;
    }
}

static void colour_needs_a_terminal(void **state)
{
    (void)state;
    int parent, terminal;
    if (openpty(&parent, &terminal, NULL, NULL, NULL) != 0) skip();
    setenv("TERM", "xterm", 1);
    unsetenv("NO_COLOR");
    char *text = said_to(terminal, STDERR_FILENO);
    read_lines(parent, text);
    assert_non_null(strstr(text, "\033["));
    setenv("NO_COLOR", "", 1); /* as if it were not set */
    text = said_to(terminal, STDERR_FILENO);
    read_lines(parent, text);
    assert_non_null(strstr(text, "\033["));
    setenv("NO_COLOR", "1", 1);
    text = said_to(terminal, STDERR_FILENO);
    read_lines(parent, text);
    assert_null(strstr(text, "\033["));
    close(parent);
    close(terminal);
}

static void clocks_run_forward(void **state)
{
    (void)state;
    const double before = clock_seconds();
    const ClockText now = clock_utc();
    static const char shape[] = "dddd-dd-ddTdd:dd:ddZ";
    assert_int_equal(strlen(now.s), strlen(shape));
    for (size_t i = 0; i < strlen(shape); i++)
        assert_true(shape[i] == 'd' ? now.s[i] >= '0' && now.s[i] <= '9' : now.s[i] == shape[i]);
    assert_true(strcmp(now.s, "2024") > 0);
    usleep(2000);
    const double passed = clock_seconds() - before;
    assert_true(passed >= 0.002);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_go_to_stderr),      cmocka_unit_test(a_line_stays_a_line),
        cmocka_unit_test(nothing_goes_to_stdout),  cmocka_unit_test(a_warning_is_said_once),
        cmocka_unit_test(colour_needs_a_terminal), cmocka_unit_test(clocks_run_forward),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
