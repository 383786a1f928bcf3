#!/usr/bin/env bash
# usage: browser.sh PROGRAM: the page in headless Chromium, network off (browser.mjs). Skipped where the build has
# no page, or there is no Chromium, no node, or not what package.json names (./test fetches it with npm).
program=$1
here=$(realpath "$(dirname "$0")")
root=$(realpath "$here/../..")
skip() {
    echo "skipped: $1"
    exit 77
}
! "$program" --version | grep -q '(no html)' || skip 'this build has no HTML report'
command -v node >/dev/null || skip 'no node'
for name in chromium chromium-browser google-chrome; do
    browser=$(command -v $name) && break
done
[ -n "$browser" ] || skip 'no Chromium (Debian: chromium)'
packages=$root/build/page-test
[ -d "$packages/node_modules/playwright-core" ] || skip 'no playwright-core: ./test fetches it where there is npm'
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
small=(--d-model 64 --d-ff 128 --num-layers 3 --num-heads 4 --vocab 500 --ctx 32 --batch 2)
{
    "$program" profile "${small[@]}" --warmup 0 --steps 2 --out-dir "$work/profile" &&
        "$program" memory "${small[@]}" --plan-only --out "$work/memory.json" &&
        "$program" warmup "${small[@]}" --warmup 0,1,2 --rounds 2 --steps 3 --out "$work/warmup.json" &&
        "$program" precision "${small[@]}" --warmup 0 --steps 2 --out "$work/precision.json" &&
        "$program" attention --d-head 16,32 --ctx 64,128,256,512 --batch 1 --attention naive,fused,flash --device cpu --warmup 0 --steps 2 --out "$work/attention.json" &&
        { "$program" suite --like rtx5090-nsys --device cpu --threads 1 --timeout 1s --budget 20s --out-dir "$work/like" || [ $? = 4 ]; }
} >/dev/null 2>&1 || exit 1
MADE=$work PROGRAM=$program BROWSER=$browser PACKAGES=$packages WORK=${PAGE_SHOTS:-$work} GOLDEN=$root/tests/golden RESULTS=$root/docs/results \
    node "$here/browser.mjs"
