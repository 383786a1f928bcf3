/* Snapshots of many steps stay small; what they hold is checked by memory/check_snapshot.py. */
#include "base/text.h"
#include "model_variants.h"
#include "op_harness.h"
#include "prof/memory_profile.h"
#include "report/memory/memory_snapshot.h"

#include <sys/stat.h>
#include <unistd.h>

typedef struct Fixture {
    Model model;
    Binding binding;
    MemoryProfile profile;
    char path[64];
} Fixture;

static void open_fixture(Fixture *f, const char *ending)
{
    Config c;
    config_defaults(&c);
    ASSERT_OK(model_spec_preset(&c.model, "medium"));
    variants_build(&f->model, &c);
    ASSERT_OK(binding_make(&f->binding, &f->model.plan, BACKEND_cpu, 2, NULL));
    ASSERT_OK(memory_profile_make(&f->profile, &f->model, &f->binding));
    snprintf(f->path, sizeof f->path, "/tmp/roofstep-snapshot-%d%s", (int)getpid(), ending);
}

static void close_fixture(Fixture *f)
{
    unlink(f->path);
    memory_profile_free(&f->profile);
    binding_free(&f->binding);
    model_free(&f->model);
}

static int64_t written(const Fixture *f, int steps)
{
    const MemorySnapshot snapshot = {.profile = &f->profile, .steps = steps};
    struct stat info;
    ASSERT_OK(memory_snapshot_write(&snapshot, f->path));
    assert_int_equal(stat(f->path, &info), 0);
    return info.st_size;
}

/* Events of one step: each block that is not persistent is born and dies, in three of them. */
static int events_per_step(const Fixture *f)
{
    int n = 0;
    for (int i = 0; i < f->profile.blocks.n; i++)
        n += f->profile.blocks.blocks[i].persistent ? 0 : 3;
    return n;
}

static void test_size(void **state)
{
    (void)state;
    Fixture f;
    open_fixture(&f, ".pickle");
    const int steps = 600000 / events_per_step(&f) + 1;
    const int64_t bytes = written(&f, steps);
    if (bytes >= 30000000) fail_msg("600,000 events take %lld bytes", (long long)bytes);
    assert_true(bytes > 600000 * 20); /* or they are not there */
    close_fixture(&f);
}

/* The ending decides, and the same plan gives the same bytes. */
static void test_formats(void **state)
{
    (void)state;
    static const char *const endings[] = {".pickle", ".json"}, *const starts[] = {
                                                                   "\x80\x02(",
                                                                   "{\"allocator_settings\""};
    for (int i = 0; i < 2; i++) {
        Fixture f;
        Text one = {0}, two = {0};
        open_fixture(&f, endings[i]);
        written(&f, 2);
        ASSERT_OK(text_read_file(&one, f.path, 1 << 26));
        written(&f, 2);
        ASSERT_OK(text_read_file(&two, f.path, 1 << 26));
        assert_memory_equal(one.data, starts[i], strlen(starts[i]));
        assert_int_equal(one.n, two.n);
        assert_memory_equal(one.data, two.data, one.n);
        text_free(&one);
        text_free(&two);
        close_fixture(&f);
    }
}

static void test_no_such_folder(void **state)
{
    (void)state;
    Fixture f;
    open_fixture(&f, ".pickle");
    const MemorySnapshot snapshot = {.profile = &f.profile, .steps = 1};
    assert_int_equal(memory_snapshot_write(&snapshot, "/nowhere/at/all.pickle"), ST_IO);
    close_fixture(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_size),
        cmocka_unit_test(test_formats),
        cmocka_unit_test(test_no_such_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
