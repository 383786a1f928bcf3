#!/usr/bin/env bash
# usage: bench_cells.sh ROOFSTEP: every precision and execution style as cells of a sweep, each in a process
# of its own on the GPU. What the chip lacks is unsupported with a reason; all others end with one loss.
program=$1
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
export XDG_CACHE_HOME=$work
"$program" bench --device cuda --d-model 64 --d-ff 96 --num-layers 2 --num-heads 4 --vocab 101 --ctx 16 --batch 2 \
    --precision fp32,tf32,bf16,fp16,fp8 --exec eager,fused,graph --warmup 1 --steps 2 --format csv --out "$work/cells.csv" \
    >"$work/log" 2>&1 || { cat "$work/log"; echo 'FAILED: bench'; exit 1; }
# Fields in quotes hold commas, and nothing that is looked at.
sed 's/"[^"]*"/quoted/g' "$work/cells.csv" | awk -F, '
    NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
    { status = $column["status"]; loss = $column["loss"]; rows++ }
    status != "ok" && status != "unsupported" { print "FAILED: " $0; bad = 1 }
    status == "ok" && !first { first = loss }
    status == "ok" && !(loss > 0.98 * first && loss < 1.02 * first) { print "FAILED: loss " loss ", of others " first; bad = 1 }
    END { print rows " cells, loss " first; exit bad || rows != 15 || !first }' || exit 1

# Which linear layers fp8 makes faster is measured; what is found is in the result.
"$program" bench --device cuda --size small --num-layers 4 --ctx 512 --precision fp8 --fp8-layers auto,w13+w2 --exec graph --warmup 1 --steps 2 \
    --format csv --out "$work/fp8.csv" >"$work/log" 2>&1 || { grep -q 'needs a GPU of compute capability' "$work/log" && exit 0; cat "$work/log"; echo 'FAILED: fp8 auto'; exit 1; }
sed 's/"[^"]*"/quoted/g' "$work/fp8.csv" | awk -F, '
    NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
    { status = $column["status"]; layers = $column["fp8_layers"]; print "fp8 in " layers ": " status }
    status != "ok" || layers == "auto" || layers == "" { bad = 1 }
    END { exit bad || NR != 3 }' || { echo 'FAILED: fp8 auto'; exit 1; }
# The plan that is shown beside measures too: after the cells have run.
"$program" memory --device cuda --size small --num-layers 2 --ctx 128,256 --precision fp8 --fp8-layers auto >"$work/memory" 2>"$work/log" ||
    { cat "$work/log"; echo 'FAILED: memory in fp8 auto'; exit 1; }
