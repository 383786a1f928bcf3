#!/usr/bin/env bash
# What the documents claim of a GPU, shown again: every command and what it printed.
#   tools/gpu-claims.sh                   the parts there are
#   tools/gpu-claims.sh FOLDER PART...    runs these; results and logs go to FOLDER
# Wants a CUDA build with its tests (cmake --preset cuda && cmake --build --preset cuda), a GPU that does nothing
# else, and PyTorch for what is compared with it. Seconds in brackets are those of an H200.
set -u
cd "$(dirname -- "$0")/.." || exit 1
roofstep=${ROOFSTEP:-build/cuda/roofstep}
tests=build/cuda/tests
python=${PYTHON:-python3}

# shown COMMAND...: the command, its output, how it ended and how long it took
shown() {
    local began=$SECONDS code
    printf '\n$ %s\n' "$*"
    "$@" </dev/null 2>>"$folder/log"
    code=$?
    echo "-- exit $code, $((SECONDS - began)) s"
    case $code in 0 | 4) ;; *) failed="$failed $part" ;; esac # 4: a cell ran out of memory or time
}
first() { # N COMMAND...: the first N lines and how it ended
    local n=$1
    shift
    shown "$@" >"$folder/out"
    sed -n "1,${n}p;\$p" "$folder/out"
}
beside() { # NAME OPTIONS...: bench beside PyTorch
    local name=$1
    shift
    shown "$roofstep" bench --device cuda --warmup 5 --steps 20 --peer torch --peer-rounds 1 --out-json "$folder/$name.json" "$@"
}
graphs=(--exec graph --peer-variant graphs)
medium=(--size medium --ctx 512 --precision bf16)

part_tests() { # [600] every GPU test, sanitizers included
    shown ctest --test-dir build/cuda -L gpu -j 6 --output-on-failure
}
part_exports() { # [150] the step of small against PyTorch, in every precision and execution style
    local precision style files=()
    for precision in fp32 tf32 bf16 fp16; do
        for style in eager fused graph; do
            files+=("$folder/$precision-$style.safetensors")
            "$roofstep" export --device cuda --size small --ctx 512 --steps 3 --precision $precision --exec $style \
                --out "${files[-1]}" 2>>"$folder/log" || failed="$failed exports"
        done
    done
    shown "$python" tools/verify_torch.py --device cuda --brief "${files[@]}"
    rm -f "${files[@]}"
}
part_limits() { # [30] cuBLASLt, a copy kernel and cudaMemcpy beside `limits`
    shown $tests/gpu/limits_check_cuda
}
part_steps() { # [500] beside PyTorch; 200 where it has compiled each size before
    beside small --size small --ctx 512 --precision bf16 "${graphs[@]}"
    beside medium "${medium[@]}" "${graphs[@]}"
    beside large --size large --ctx 512 --precision bf16 "${graphs[@]}"
    beside 2.7b --size 2.7B --ctx 512 --precision bf16 "${graphs[@]}"
    beside small-fp32 --size small --ctx 128 --precision fp32 "${graphs[@]}"
    beside small-eager --size small --ctx 128 --precision bf16 --exec eager --peer-variant eager
}
part_xl() { # [230] PyTorch with graphs and without
    beside xl --size xl --ctx 512 --precision bf16 --exec graph --peer-variant best,graphs
}
part_wide() { # [130] fp32 and tf32 with `flash`
    beside medium-tf32 --size medium --ctx 512 --precision tf32 --attention flash "${graphs[@]}"
    beside medium-fp32 --size medium --ctx 512 --precision fp32 --attention flash "${graphs[@]}"
}
part_launches() { # [6] what launching one primitive at a time costs
    shown "$roofstep" bench --device cuda --size small --ctx 128 --precision fp32 --exec eager,fused,graph --warmup 5 --steps 20
}
part_large_models() { # [45] what trains, and what does not fit
    shown "$roofstep" bench --device cuda --size 2.7B --precision fp32 --ctx 512 --exec graph --warmup 1 --steps 3
    shown "$roofstep" bench --device cuda --size 10B --precision bf16 --ctx 512 --exec graph --warmup 1 --steps 3
}

attention() { # IMPLEMENTATION PRECISION VARIANT OPTIONS...: alone, beside PyTorch
    local impl=$1 precision=$2 variant=$3
    shift 3
    shown "$roofstep" attention --device cuda --attention "$impl" --precision "$precision" --peer torch --peer-variant "$variant" \
        --peer-rounds 1 --out-json "$folder/attention-$impl-$precision-$variant.json" "$@"
}
part_attention_shapes() { # [100] every implementation but cuDNN's against float64, all widths and lengths
    shown bash -c "printf '%s\n' fp32 tf32 bf16 fp16 | xargs -P 4 -n 1 $tests/test_attention_shapes cuda all"
}
part_attention() { # [150] long sequences
    attention cudnn bf16 cudnn --heads 16 --d-head 64,128 --ctx 4096,16384 --warmup 3 --steps 10
    attention flash bf16 flash --heads 16 --d-head 64,128 --ctx 16384 --warmup 3 --steps 10
    attention flash fp32,tf32 efficient --heads 16 --d-head 64 --ctx 16384 --warmup 2 --steps 5
    attention fused fp32 compile --d-head 64 --ctx 1024,4096,16384 --warmup 3 --steps 10
}
part_attention_short() { # [200] where launches take the time
    attention naive,fused,flash fp32 eager --d-head 16,64 --ctx 64,256,1024
    attention cudnn bf16 eager --d-head 16,64 --ctx 64,256,1024
}
part_attention_grid() { # [290] the write-ups' grid
    shown "$roofstep" attention --device cuda --d-head 16,32,64,128,256,512 --ctx 64,128,256,1024,4096,8192,16384 --batch 8 --heads 1 \
        --attention naive,fused,flash,cudnn --precision fp32,tf32 --warmup 10 --steps 100 --sample-time 0.5s --out "$folder/grid.json"
}
part_attention_models() { # [60] every size with every implementation
    shown "$roofstep" bench --device cuda --size small,medium,large,xl,2.7B --ctx 128 --batch 1 --precision bf16 \
        --attention naive,fused,flash,cudnn --warmup 1 --steps 3
}

part_profile() { # [65] small and medium, every style; the files are checked; what fusing brings
    local cell=0 size precision style
    shown bash -c "'$roofstep' profile --device cuda --size small --ctx 512 --precision bf16 --against eager --warmup 2 --steps 5 |
        sed -n '/^| a step /,/^$/p'"
    for size in small medium; do
        for precision in fp32 bf16; do
            for style in eager fused graph; do
                cell=$((cell + 1))
                first 14 "$roofstep" profile --device cuda --size $size --ctx 512 --precision $precision --exec $style --warmup 2 \
                    --steps 5 --out-dir "$folder/profile$cell"
                shown "$roofstep" validate "$folder/profile$cell"/*
                shown "$python" tests/profile/check_profile.py "$folder/profile$cell/profile.json" gpu
            done
        done
    done
    rm -rf "$folder"/profile*
}
part_observers() { # [75] bench with the observers compiled in and unused, and without them, in turn
    local without i
    without=$(realpath "$folder")/without
    mkdir -p "$without" && cp -r CHANGELOG.md CMakeLists.txt CMakePresets.json cmake src tests tools docs peers "$without"
    sed -i 's/o < s->n_observers/o < 0/; s/o = s->n_observers; o-- > 0;/o = 0; o-- > 0;/' "$without/src/exec/session.c"
    diff -u src/exec/session.c "$without/src/exec/session.c"
    shown bash -c "cd '$without' && cmake --preset cuda >/dev/null && cmake --build --preset cuda --target roofstep >/dev/null"
    for i in 1 2 3; do
        shown "$roofstep" bench --device cuda "${medium[@]}" --exec fused,graph --warmup 5 --steps 40 --out "$folder/with$i.json"
        shown "$without/build/cuda/roofstep" bench --device cuda "${medium[@]}" --exec fused,graph --warmup 5 --steps 40 --out "$folder/without$i.json"
        shown "$roofstep" compare "$folder/with$i.json" "$folder/without$i.json"
    done
    rm -rf "$without"
}

part_memory() { # [60] plan and device; recomputation
    shown "$roofstep" memory --device cuda --size medium --ctx 128,256,512 --precision fp32,bf16
    shown "$roofstep" memory --device cuda --size xl --mode fwd --ctx 128,256,512 --precision fp32,bf16
    shown "$roofstep" bench --device cuda --size medium --ctx 1024 --precision bf16 --exec graph --recompute none,block --warmup 5 --steps 20
}
part_memory_torch() { # [350] peaks beside PyTorch's
    local ctx
    shown "$roofstep" bench --device cuda --peer torch --peer-rounds 1 --size medium --ctx 128,256,512 --precision bf16 --exec eager \
        --peer-variant eager --warmup 2 --steps 3 --out-json "$folder/memory-eager.json"
    for ctx in 128 256 512; do
        shown "$roofstep" bench --device cuda --peer torch --peer-rounds 1 --size medium --ctx $ctx --precision bf16 --exec fused \
            --peer-variant best --warmup 2 --steps 3 --out-json "$folder/memory-$ctx.json"
    done
}
part_studies() { # [45] warm-up and precision
    shown "$roofstep" warmup --device cuda --size small --ctx 512 --precision bf16 --exec graph --warmup 0,1,5
    shown "$roofstep" warmup --device cuda --size medium --ctx 512 --precision bf16 --exec graph --warmup 0,1,5
    shown "$roofstep" precision --device cuda --d-model 64 --d-ff 192 --num-layers 2 --num-heads 4 --vocab 101 --ctx 32 --batch 2 --warmup 1 --steps 3
}
part_suite() { # [360] everything in one go
    shown "$roofstep" suite --device cuda --out-dir "$folder/suite"
}
part_like() { # [400] the write-ups' tables
    local name
    for name in rtx5090 p100-t4 8gb rtx5090-nsys; do
        shown "$roofstep" suite --device cuda --like $name --out-dir "$folder/like-$name"
    done
}
part_cpu() { # [180] the host's processor: scaling, one thread alone and beside 15 others of its kind, and what threads wait for
    local one=(bench --device cpu --size small --ctx 128 --threads 1 --warmup 0)
    shown bash -c "for i in {1..15}; do '$roofstep' ${one[*]} --steps 4 >/dev/null 2>&1 & done; '$roofstep' ${one[*]} --steps 2; wait"
    shown "$roofstep" bench --device cpu --size small --ctx 128 --precision fp32,bf16 --threads 1,2,4,8,16 --warmup 1 --steps 5 --out-json "$folder/scaling.json"
    first 80 "$roofstep" profile --device cpu --size small --ctx 128 --precision fp32 --threads 16 --warmup 1 --steps 5
    first 80 "$roofstep" profile --device cpu --size small --ctx 128 --precision bf16 --threads 16 --warmup 1 --steps 5
}
part_cpu_torch() { # [400] the host's processor beside PyTorch, which compiles for minutes
    local size precision
    for size in small medium; do
        for precision in fp32 bf16; do
            shown "$roofstep" bench --device cpu --size $size --ctx 128 --precision $precision --warmup 2 --steps 5 --peer torch \
                --peer-variant eager,best --peer-rounds 1 --out-json "$folder/cpu-$size-$precision.json"
        done
    done
}

parts() { sed -n 's/^part_\([a-z_]*\)() { # \(\[[0-9]*\]\) \(.*\)/  \1\t\2 \3/p' "$0" | expand -t 22; }
folder=${1:-}
if [ $# -lt 2 ]; then
    sed -n '2,6s/^# \{0,1\}//p' "$0"
    parts
    exit 2
fi
shift
mkdir -p "$folder" || exit 1
failed=
for part in "$@"; do
    declare -F "part_$part" >/dev/null || { echo "gpu-claims: no part '$part'; there are:"; parts; exit 2; }
done
for part in "$@"; do
    printf '\n== %s\n' "$part"
    "part_$part"
done
[ -z "$failed" ] || { echo "failed:$failed (see $folder/log)"; exit 1; }
