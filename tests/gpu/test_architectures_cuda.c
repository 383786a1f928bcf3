/* The whole step of every architecture on a GPU: one test for each small model, precision and style. */
#include "gpu/step_checks_cuda.h"
#include "small_architectures.h"

enum {
    PRECISIONS = sizeof bounds / sizeof *bounds,
    STYLES = sizeof styles / sizeof *styles,
    CASES = SMALL_ARCHITECTURES * PRECISIONS * STYLES
};

typedef struct Case {
    int model;
    size_t bound, style;
    char name[80];
} Case;

static void test_case(void **state)
{
    const Case *c = *state;
    const Config config = small_architecture(c->model);
    check(config, c->bound, c->style, small_architectures_roundings(&config));
}

/* CUDA graphs hold what the fused plan has: one attention in graphs is enough here. Experts run on a CPU
 * alone so far. */
static bool wanted(const Config *c, size_t bound, size_t style)
{
    return c->model.num_experts == 0 && can_run(c, bound, style) &&
           (styles[style].exec != EXEC_GRAPH || styles[style].attention == ATTENTION_FLASH);
}

int main(void)
{
    static Case cases[CASES];
    static struct CMUnitTest tests[CASES];
    size_t n = 0;
    for (int i = 0; i < CASES; i++) {
        Case c = {i / (PRECISIONS * STYLES), (size_t)(i / STYLES % PRECISIONS),
                  (size_t)(i % STYLES), ""};
        const Config config = small_architecture(c.model);
        if (!wanted(&config, c.bound, c.style)) continue;
        snprintf(c.name, sizeof c.name, "%s %d %s %s %s", small_architectures[c.model].name,
                 c.model, config_precisions[bounds[c.bound].precision],
                 config_execs[styles[c.style].exec], config_attentions[styles[c.style].attention]);
        cases[n] = c;
        tests[n] = (struct CMUnitTest)cmocka_unit_test_prestate(test_case, &cases[n]);
        tests[n].name = cases[n].name;
        n++;
    }
    return _cmocka_run_group_tests("architectures", tests, n, NULL, NULL);
}
