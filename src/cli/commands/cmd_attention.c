/* roofstep attention: attention without a model around it. */
#include "cli/commands/bench_sweep.h"
#include "report/records/report.h"

#define ATTENTION_LISTS OPTIONS_ATTENTION, OPTION_WARMUP, OPTION_STEPS

const Command cmd_attention = {
    .name = "attention",
    .summary = "attention alone: head width x sequence length x implementation",
    .help = "Runs softmax(q k^T / sqrt(d)) v and its gradients on random q, k, v and output\n"
            "gradient. Prints for every cell the time of forward and backward, the memory before\n"
            "backward (q, k, v, the output and what is saved), the peak, TFLOP/s and % of limit.\n"
            "Each cell runs in its own process.\n"
            "  naive  scores in memory, one primitive at a time  fused  scores in memory once\n"
            "  flash  no buffer of size ctx x ctx                cudnn  the library (GPU)\n"
            "\n"
            "  roofstep attention --d-head 64 --ctx 256-4096*2 --attention naive,fused,flash\n"
            "  roofstep attention --d-head 16,64,256 --precision fp32,tf32 --baseline fp32\n"
            "  roofstep attention --ctx 4096,16384 --attention naive,flash --timeout 30s\n"
            "  roofstep attention --attention flash --peer torch  (and PyTorch's time)\n"
            "  roofstep attention --heads 32 --kv-heads 8 --window 4096 --ctx 8192 --batch 1\n",
    .options = {.taken = OPTION_LIST(ATTENTION_LISTS, BENCH_SWEEP_OPTIONS, OPTION_PEER,
                                     OPTION_PEER_VARIANT, OPTION_PEER_ROUNDS),
                .lists = OPTION_LIST(ATTENTION_LISTS),
                .modes = MODE_TRAIN, /* those before it */
                .formats = report_formats,
                .defaults = config_attention_defaults},
    .run = bench_sweep_run,
};
