#!/usr/bin/env bash
# profile --from a folder of CSVs that nsys stats wrote: the tables of a profile, whatever the order of columns, the units and what nsys
# says before the header; one line and exit 2 for what cannot be read.
# shellcheck disable=SC1091,SC2154 # profile.sh sets `here` and `program`
. "$(dirname "$(realpath "$0")")/profile.sh"

sum='Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns)'
fixtures() { # FOLDER PREFIX
    mkdir -p "$1"
    cat >"$1/$2cuda_gpu_kern_sum.csv" <<CSV
Time (%),Total Time (ns),Instances,$sum,Name
50.1,99385786,32,3105805.8,3041179.0,2987340,3777790,216832.4,flash_attention_prefill_f16
40.0,80000000,4,20000000.0,20000000.0,20000000,20000000,0.0,"void cutlass::Kernel2<cutlass_80_simt_sgemm_256x128_8x4_tn_align1>(T1::Params)"
9.9,20000000,4,5000000.0,5000000.0,5000000,5000000,0.0,"void cutlass::Kernel2<cutlass_80_simt_sgemm_128x128_8x4_nn_align1>(T1::Params)"
CSV
    cat >"$1/$2cuda_gpu_mem_time_sum.csv" <<CSV
Time (%),Total Time (ns),Count,$sum,Operation
90.0,900000,3,300000.0,300000.0,300000,300000,0.0,[CUDA memcpy HtoD]
10.0,100000,2,50000.0,50000.0,50000,50000,0.0,[CUDA memset]
CSV
    cat >"$1/$2cuda_gpu_mem_size_sum.csv" <<CSV
Total (MB),Count,Avg (MB),Med (MB),Min (MB),Max (MB),StdDev (MB),Operation
25.166,3,8.389,8.389,8.389,8.389,0.000,[CUDA memcpy Host-to-Device]
CSV
    cat >"$1/$2cuda_api_sum.csv" <<CSV
Generating SQLite file report1.sqlite from report1.nsys-rep
Processing [report1.sqlite] with [/opt/nvidia/nsight-systems/reports/cuda_api_sum.py]...

Num Calls,Name,Unheard Of,Total Time (us)
40,cudaLaunchKernel,x,"1,234.5"
CSV
    cat >"$1/$2nvtx_sum.csv" <<CSV
Time (%),Total Time (ns),Instances,$sum,Style,Range
65.9,2782360479,1,2782360479.0,2782360479.0,2782360479,2782360479,0.0,PushPop,:decode
CSV
    cat >"$1/$2nvtx_gpu_proj_sum.csv" <<CSV
Range,Style,Total Proj Time (ns),Total Range Time (ns),Range Instances,Proj Avg (ns),Proj Med (ns),Proj Min (ns),Proj Max (ns),Proj StdDev (ns),Total GPU Ops,Avg GPU Ops,Avg Range Lvl,Avg Num Child
:train_step_15,PushPop,14778326825,14782426230,6,2463054470.8,2463653087.0,2460319109,2463917150,1386922.4,20798,3466.3,0.0,8.0
CSV
}

shown() { # FILE
    for line in '^\| flash_attention_prefill_f16 +\| +32 \| +99\.39 \| +49\.6 \| +3106 \| +3041 \| +2987 \| +3778 \| +216\.8 ' \
        '^\| Kernel2.<cutlass_80_simt_sgemm_256x128_8x4_tn_align1' '^\| Kernel2.<cutlass_80_simt_sgemm_128x128_8x4_nn_align1' \
        '^\| \[CUDA memcpy Host-to-Device\] +\| +3 \| +0\.9000 \| +90\.0 .*\| +25\.17 \| +8\.389 ' '^\| \[CUDA memset\] +\| +2 \| +0\.1000 \| +10\.0 ' \
        '^\| cudaLaunchKernel +\| +40 \| +1\.23[45] \| +100\.0 \| +30\.86 \| +- \| +- ' '^- .*cuda_api_sum\.csv has no column Avg, Med, Min, Max, StdDev' \
        '^\| decode +\| +1 \| +2782 ' '^\| train_step_15 +\| +6 \| +14778 .*\| +20798 '; do
        expect "$1" "$line"
    done
}

# --- with a prefix, without one, in every format
fixtures with report1_
fixtures without ''
for folder in with without; do
    "$program" profile --from $folder >$folder.out 2>$folder.err || fail "--from $folder"
    shown $folder.out
    [ ! -s $folder.err ] || fail "--from $folder says something"
done
expect with.out '^\| files +\| 6 of report1 '
expect without.out '^\| files +\| 6 of no prefix '
for format in latex typst; do "$program" profile --from with --format $format >$format.out 2>$format.err || fail "$format"; done
"$program" profile --from with --format json >json.out 2>json.err || fail "json"
python3 - <<'JSON' || fail "json content"
import json
(one,) = json.load(open('json.out'))['nsys']
assert one['prefix'] == 'report1' and len(one['files']) == 6, one
names = {k['name']: k for k in one['profile']['kernel_names']}
assert names['flash_attention_prefill_f16']['time']['total'] == 99385786
assert names['[CUDA memset]']['kind'] == 'memset' and names['[CUDA memset]']['short'] == '[CUDA memset]'
assert one['profile']['calls'][0]['time']['med'] is None
JSON

# --- two runs in one folder, each in its own tables
fixtures both report1_
fixtures both report2_
"$program" profile --from both >both.out 2>both.err || fail "two prefixes"
[ "$(grep -c '^| flash_attention' both.out)" = 2 ] || fail "two prefixes, one of them shown"

# --- what our own --out-dir wrote: its record first, and without it the CSVs, to the same sums
profile --steps 3 --out-dir ours >ours.out 2>ours.err || fail "a profile"
"$program" profile --from ours >again.out 2>again.err || fail "--from ours"
cmp -s ours.out again.out || fail "--from ours shows something else"
cp -r ours csvs && rm csvs/profile.json
"$program" profile --from csvs --format json >csvs.json 2>csvs.err || fail "--from our CSVs"
"$program" profile --from csvs >csvs.out 2>csvs.err || fail "tables of our CSVs"
expect csvs.out '^\| FORWARD +\| +3 \|'
python3 - <<'JSON' || fail "the CSVs hold something else"
import json
ours = json.load(open('ours/profile.json'))['results'][0]['profile']
(csvs,) = json.load(open('csvs.json'))['nsys']
for list in 'kernel_names', 'calls':
    a, b = ({k['name']: (k['time']['n'], round(k['time']['total']), round(k['time']['max'])) for k in p[list]} for p in (ours, csvs['profile']))
    assert a == b, (a, b)
JSON

# --- what cannot be read: one line that names the file, and exit 2
bad() { # FOLDER WORDS
    "$program" profile --from "$1" >bad.out 2>bad.err
    code=$?
    expect_code 2 "--from $1"
    [ "$(wc -l <bad.err)" = 1 ] && [ ! -s bad.out ] || fail "--from $1: more than one line"
    expect bad.err "$2"
}
spoil() { # FOLDER, CSV from stdin
    mkdir -p "$1"
    cat >"$1/report1_cuda_gpu_kern_sum.csv"
}
bad nowhere '^roofstep profile: --from nowhere: No such file or directory$'
bad with/report1_nvtx_sum.csv 'Not a directory'
mkdir empty
bad empty 'neither profile.json nor a CSV of nsys stats'
: | spoil nothing
bad nothing 'nothing/report1_cuda_gpu_kern_sum.csv: no header: the file is empty'
printf 'Time (%%),Name\n1,k\n' | spoil columns
bad columns 'columns/report1_cuda_gpu_kern_sum.csv: line 1: not the header of cuda_gpu_kern_sum: no column Instances, Total Time$'
head -c 120 with/report1_cuda_gpu_kern_sum.csv | spoil short
bad short 'short/report1_cuda_gpu_kern_sum.csv: line 2: [0-9] fields where the header has 9: the file is cut short'
sed 's/99385786/lots/' with/report1_cuda_gpu_kern_sum.csv | spoil words
bad words "line 2: the field 'Total Time' is no number"
head -c 4096 "$program" | spoil binary
bad binary 'binary/report1_cuda_gpu_kern_sum.csv: '
truncate -s 600M hole && mkdir big && mv hole big/report1_cuda_gpu_kern_sum.csv
bad big 'big/report1_cuda_gpu_kern_sum.csv'
mkdir -p folder/report1_cuda_gpu_kern_sum.csv
bad folder 'folder/report1_cuda_gpu_kern_sum.csv'
echo '{' >with/profile.json # a record comes first, whatever else is there
bad with 'with/profile.json'
exit 0
