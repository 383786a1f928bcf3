#!/usr/bin/env bash
# What the scripts share, beside what tests/bench/bench.sh has.
# shellcheck disable=SC1091,SC2154 # bench.sh sets `program`
here=$(dirname "$(realpath "$0")")
. "$here/../bench/bench.sh"

profile() {
    "$program" profile --d-model 16 --d-ff 24 --num-layers 2 --num-heads 2 --vocab 19 --ctx 8 --batch 2 \
        --threads 1 --warmup 1 --device cpu "$@"
}
