#!/usr/bin/env bash
# usage: graph_peak.sh: PyTorch's peak counts what CUDA graphs hold: that of variant graphs is not below that of the same
# step without them. Needs a GPU and PyTorch 2; by hand: PYTHON=... bash tests/torch/graph_peak.sh
twin=$(dirname "$(realpath "$0")")/../../peers/torch_bench.py
for python in "${PYTHON:-python3}" /usr/bin/python3 ''; do
    [ -z "$python" ] && { echo 'skipped: no PyTorch 2 that finds a GPU'; exit 77; }
    "$python" -c 'import sys, torch; sys.exit(not (torch.cuda.is_available() and torch.__version__ >= "2"))' 2>/dev/null && break
done
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
# With one warm-up the graphs are recorded during the samples, with three before them.
for warmup in 1 3; do
    for variant in best graphs; do
        "$python" -Wignore "$twin" --device cuda --size small --ctx 512 --precision bf16 --warmup $warmup --steps 3 --variant $variant \
            >"$work/$warmup-$variant.json" || exit 1
    done
done
"$python" - "$work" <<'PYTHON'
import json, sys
bad = 0
for warmup in 1, 3:
    best, graphs = (json.load(open(f"{sys.argv[1]}/{warmup}-{variant}.json")) for variant in ("best", "graphs"))
    for row in best, graphs:
        assert row["status"] == "ok", row
    with_graphs, without = graphs["peak_alloc_mib"], best["peak_alloc_mib"]
    print(f"{warmup} warm-ups: peak {with_graphs:.0f} MiB with graphs, {without:.0f} without; reserved {graphs['peak_reserved_mib']:.0f} and {best['peak_reserved_mib']:.0f}")
    bad += not 0.9 * without <= with_graphs <= graphs["peak_reserved_mib"]
sys.exit(bad > 0)
PYTHON
