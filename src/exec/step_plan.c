#include "exec/step_plan.h"

#include "model/transform_fp8_fuse.h"

/* Heads of every width and precision fit the shared memory of sm_90 to sm_103 (227 KiB a block); on
 * others flash may have to decline, and there it is for those who ask for it. */
static bool holds_flash(int capability)
{
    return capability >= 90 && capability < 110;
}

/* Best first, ended by ATTENTION_COUNT. */
static const Attention *candidates(const Config *config, BackendId backend, int capability)
{
    static const Attention eager[] = {ATTENTION_NAIVE, ATTENTION_COUNT};
    static const Attention cpu[] = {ATTENTION_FLASH, ATTENTION_COUNT};
    static const Attention roomy[] = {ATTENTION_CUDNN, ATTENTION_FLASH, ATTENTION_FUSED,
                                      ATTENTION_COUNT};
    static const Attention other[] = {ATTENTION_CUDNN, ATTENTION_FUSED, ATTENTION_COUNT};
    static const Attention old[] = {ATTENTION_FUSED, ATTENTION_COUNT};
    if (config->exec == EXEC_EAGER) return eager;
    if (backend == BACKEND_cpu) return cpu;
    if (capability == 0 || holds_flash(capability)) return roomy;
    return capability >= STEP_PLAN_CUDNN_CAPABILITY ? other : old;
}

/* Flash and cuDNN are implementations of one op: what was asked for is taken, or says why not. */
static Status check_attention(const Plan *plan, BackendId backend, const char *name)
{
    OpImpl impl;
    for (int i = 0; i < plan->n_nodes; i++) {
        const Node *node = &plan->nodes[i];
        if (node->op != OP_attention && node->op != OP_attention_grad) continue;
        TRY(op_choose(plan, node, backend, name, &impl));
    }
    return ST_OK;
}

/* Implementations of matmul on a CPU; a GPU has none of these names. */
static const char *const matmuls[BLAS_COUNT] = {
    [BLAS_AUTO] = "auto", [BLAS_OWN] = "own", [BLAS_SYSTEM] = "blas"};

/* Eager frameworks quantize by themselves. */
static bool fuses_fp8(const Config *config, BackendId backend)
{
    return backend != BACKEND_cpu && config->exec != EXEC_EAGER && !config->fp8_apart;
}

static Status make(Model *model, Binding *binding, const Config *config, Mode mode,
                   BackendId backend, int threads)
{
    const char *name = config_attentions[config->attention];
    const char *const prefer[] = {name, matmuls[config->blas], NULL};
    TRY(model_build(model, config, mode, DT_F32));
    Status status = fuses_fp8(config, backend) ? transform_fp8_fuse(&model->plan) : ST_OK;
    if (status == ST_OK) status = check_attention(&model->plan, backend, name);
    if (status == ST_OK) {
        status = binding_make(binding, &model->plan, backend, threads, prefer);
    }
    if (status != ST_OK) model_free(model);
    return status;
}

Status step_plan_make(Model *model, Binding *binding, const Config *config, Mode mode,
                      BackendId backend, int capability, int threads)
{
    if (config->attention != ATTENTION_AUTO) {
        return make(model, binding, config, mode, backend, threads);
    }
    Config choice = *config;
    Status status = ST_UNSUPPORTED;
    for (const Attention *a = candidates(config, backend, capability); *a != ATTENTION_COUNT; a++) {
        choice.attention = *a;
        status = make(model, binding, &choice, mode, backend, threads);
        if (status != ST_UNSUPPORTED) break;
    }
    return status;
}
