#include "comm/launcher.h"
#include "with_cmocka.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A folder with programs of these names is PATH. */
static char folder[] = "/tmp/roofstep-launcher-XXXXXX";

static void add_program(const char *name)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    const int fd = open(path, O_CREAT | O_WRONLY, 0755);
    assert_true(fd >= 0);
    close(fd);
}

static void remove_program(const char *name)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    unlink(path);
}

static int set_up(void **state)
{
    (void)state;
    unsetenv("SLURM_JOB_ID");
    return mkdtemp(folder) ? setenv("PATH", folder, 1) : -1;
}

static int tear_down(void **state)
{
    (void)state;
    remove_program("mpirun");
    remove_program("srun");
    return rmdir(folder);
}

/* The words with blanks between. */
static void assert_words(const Launch *launch, const char *expected)
{
    Text words = {0};
    assert_int_equal(launcher_words(&words, launch), ST_OK);
    for (size_t i = 0; i + 1 < words.n; i++) {
        if (words.data[i] == '\0') words.data[i] = ' ';
    }
    assert_string_equal(words.data, expected);
    text_free(&words);
}

static void test_no_launcher(void **state)
{
    (void)state;
    Text words = {0};
    assert_int_equal(launcher_words(&words, &(Launch){.ranks = 2}), ST_UNSUPPORTED);
    assert_non_null(strstr(status_message(), "openmpi-bin"));
    text_free(&words);
}

static void test_mpirun(void **state)
{
    (void)state;
    add_program("mpirun");
    assert_words(&(Launch){.ranks = 3}, "mpirun -n 3");
    assert_words(&(Launch){.ranks = 3, .hosts = "/dev/null"}, "mpirun -n 3 -machinefile /dev/null");
    assert_true(launcher_is_local(&(Launch){.ranks = 3}));
    assert_false(launcher_is_local(&(Launch){.ranks = 3, .hosts = "/dev/null"}));
}

static void test_slurm(void **state)
{
    (void)state;
    add_program("srun");
    assert_words(&(Launch){.ranks = 2}, "mpirun -n 2"); /* outside an allocation */
    setenv("SLURM_JOB_ID", "17", 1);
    assert_words(&(Launch){.ranks = 2}, "srun --cpu-bind=none --kill-on-bad-exit=1 -n 2");
    assert_false(launcher_is_local(&(Launch){.ranks = 2}));
    unsetenv("SLURM_JOB_ID");
}

static void test_own_words(void **state)
{
    (void)state;
    Text words = {0};
    assert_words(&(Launch){.ranks = 4, .launcher = "  mpirun --mca btl  tcp,self "},
                 "mpirun --mca btl tcp,self -n 4");
    assert_int_equal(launcher_words(&words, &(Launch){.ranks = 2, .launcher = "nothere -x"}),
                     ST_USAGE);
    assert_non_null(strstr(status_message(), "nothere"));
    assert_int_equal(launcher_words(&words, &(Launch){.ranks = 2, .launcher = " "}), ST_USAGE);
    text_clear(&words);
    assert_int_equal(launcher_words(&words, &(Launch){.ranks = 2, .hosts = "/no/such"}), ST_USAGE);
    assert_non_null(strstr(status_message(), "--hosts /no/such"));
    text_free(&words);
}

static void test_environment(void **state)
{
    (void)state;
    setenv("OMPI_MCA_rmaps_base_oversubscribe", "0", 1); /* the user's word counts */
    launcher_environment(&(Launch){.ranks = 2, .processors = 2});
    assert_null(getenv("OMPI_MCA_mpi_yield_when_idle"));
    assert_string_equal(getenv("OMPI_ALLOW_RUN_AS_ROOT"), "1");
    assert_string_equal(getenv("OMPI_MCA_rmaps_base_oversubscribe"), "0");
    launcher_environment(&(Launch){.ranks = 3, .processors = 2});
    assert_string_equal(getenv("OMPI_MCA_mpi_yield_when_idle"), "1");
}

static void test_rank(void **state)
{
    (void)state;
    assert_int_equal(launcher_rank(), -1);
    setenv("SLURM_PROCID", "5", 1);
    assert_int_equal(launcher_rank(), 5);
    setenv("OMPI_COMM_WORLD_RANK", "3", 1);
    assert_int_equal(launcher_rank(), 3);
    setenv("OMPI_COMM_WORLD_RANK", "x", 1);
    assert_int_equal(launcher_rank(), 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_launcher), cmocka_unit_test(test_mpirun),
        cmocka_unit_test(test_slurm),       cmocka_unit_test(test_own_words),
        cmocka_unit_test(test_environment), cmocka_unit_test(test_rank),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
