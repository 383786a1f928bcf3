#!/usr/bin/env bash
# usage: plan_against_device.sh PROGRAM DEVICE ARGUMENTS...: of every cell of that sweep the device holds what was
# planned, within 3 % or 32 MiB.
program=$1
device=$2
shift 2
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
"$program" bench --device "$device" --warmup 0 --steps 1 --format csv "$@" >"$work/out" 2>"$work/err" ||
    { tail -n 5 "$work/err"; exit 1; }
awk -F, '
    NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
    {
        plan = $column["peak_reserved_mib"]; held = $column["device_peak_mib"]
        off = held > plan ? held - plan : plan - held
        verdict = plan > 0 && held > 0 && (off <= 32 || off <= 0.03 * plan) ? "ok" : "WRONG"
        printf "%-7s %-4s %-6s %-6s ctx %4d recompute %-5s plan %9.1f MiB, device %9.1f MiB, libraries %7.1f MiB  %s\n",
            $column["size"], $column["precision"], $column["attention"], $column["mode"], $column["ctx"],
            $column["recompute"], plan, held, $column["library_mib"], verdict
        rows++; bad += verdict != "ok"
    }
    END { print rows + 0 " cells, " bad + 0 " wrong"; exit bad || !rows }' "$work/out"
