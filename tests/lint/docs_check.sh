#!/bin/sh
# The documents are what their files say, and refresh-docs.sh --check notices a result file, a table, a document or a line
# of the list that is changed alone.
# usage: docs_check.sh SOURCE_DIR PROGRAM
source=$1
export ROOFSTEP="$2"
command -v python3 >/dev/null || { echo "docs_check: skipped: no python3"; exit 77; }
"$source/tools/refresh-docs.sh" --check || exit 1

work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT || exit 1
(cd "$source" && cp -r README.md docs tools "$work") || exit 1
change() { # FILE SED-SCRIPT
    sed -i "$2" "$work/$1" || exit 1
    if cmp -s "$source/$1" "$work/$1"; then echo "docs_check: '$2' changes nothing in $1"; exit 1; fi
}
change docs/results/h200-small-torch.json 's/"median_ms":4\.66/"median_ms":4.56/'
change docs/results/xeon16-threads.md 's/339/338/'
change docs/results/commands.tsv '/^v1-sizes.md/d'
change docs/guide.md '/verdict/s/verdict/Verdict/'
change README.md 's/| 1\.55 |/| 1.65 |/'
if "$work/tools/refresh-docs.sh" --check >"$work/out"; then echo "docs_check: no change was noticed"; exit 1; fi
for line in 'h200-steps.md is not what its result files' 'xeon16-threads.md is not what its result files' \
    'v1-sizes.md is in no line' 'guide.md is not what its files' 'README.md is not what its files'; do
    grep -qF "$line" "$work/out" || { echo "docs_check: not said: '$line'"; cat "$work/out"; exit 1; }
done

# gpu-claims.sh runs the commands of a part, into its own folder.
ROOFSTEP=/bin/echo "$source/tools/gpu-claims.sh" "$work/claims" launches >"$work/out" || { cat "$work/out"; exit 1; }
grep -qF -- "--exec eager,fused,graph --warmup 5 --steps 20 --device cuda --out $work/claims/h200-small-128.json" "$work/out" ||
    { echo "docs_check: gpu-claims.sh ran something else:"; cat "$work/out"; exit 1; }
echo "docs_check: ok"
