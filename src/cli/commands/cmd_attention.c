/* roofstep attention: attention without a model around it. */
#include "cli/commands/bench_sweep.h"
#include "report/records/report.h"

#define ATTENTION_LISTS OPTIONS_ATTENTION, OPTION_WARMUP, OPTION_STEPS

const Command cmd_attention = {
    .name = "attention",
    .summary = "attention alone: head width x sequence length x implementation",
    .help =
        "Runs softmax(q k^T / sqrt(d)) v and its gradients, q, k, v and the gradient of the "
        "result\n"
        "drawn at random, and prints for every cell of the sweep the time of forward and "
        "backward,\n"
        "the memory before backward (q, k, v, the result and what is saved), the peak, TFLOP/s "
        "and\n"
        "the share of this machine's limit. Each cell runs in a process of its own.\n"
        "  naive  scores in memory, softmax one primitive at a time    fused  scores in memory "
        "once\n"
        "  flash  nothing of size ctx x ctx                            cudnn  the library (GPU)\n\n"
        "  roofstep attention --d-head 64 --ctx 256-4096*2 --attention naive,fused,flash\n"
        "  roofstep attention --d-head 16,64,256 --ctx 1024,4096 --precision fp32,tf32 --baseline "
        "fp32\n"
        "  roofstep attention --ctx 4096,16384 --attention naive,flash --timeout 30s --out "
        "attn.json\n"
        "  roofstep attention --ctx 4096 --attention flash --peer torch   (PyTorch beside it, and "
        "the ratio)\n",
    .options = {.taken = OPTION_LIST(ATTENTION_LISTS, BENCH_SWEEP_OPTIONS, OPTION_PEER,
                                     OPTION_PEER_VARIANT, OPTION_PEER_ROUNDS),
                .lists = OPTION_LIST(ATTENTION_LISTS),
                .modes = MODE_TRAIN, /* those before it */
                .formats = report_formats,
                .defaults = config_attention_defaults},
    .run = bench_sweep_run,
};
