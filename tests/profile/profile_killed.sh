#!/usr/bin/env bash
# kill -9 at several moments, of the program (its cell dies with it) and of the cell: whatever has its name is whole.
# shellcheck disable=SC1091,SC2154 # profile.sh sets `here` and `program`
. "$(dirname "$(realpath "$0")")/profile.sh"

moments=5
# Most of the time goes into files: 80 steps of a model of which a step takes a fraction of a millisecond.
asked=(profile --d-model 16 --d-ff 24 --num-layers 2 --num-heads 2 --vocab 19 --ctx 8 --batch 2 --threads 1 --warmup 0
    --steps 80 --trace-steps 80 --source --device cpu)

began=$(date +%s%N)
"$program" "${asked[@]}" --out-dir whole >whole.out 2>whole.err || fail "a profile that nobody kills"
lasts=$(($(date +%s%N) - began))
files=$(find whole -type f | wc -l)

whole() { # FOLDER: what a reader would take for a file of ours
    mapfile -t there < <(find "$1" -type f ! -name '*.tmp*' ! -name '*.lock' 2>find.err)
    [ ${#there[@]} = 0 ] || "$program" validate "${there[@]}" >validate.out 2>validate.err || fail "$1 has a file that is not whole"
}

unfinished=0
for who in program cell; do
    for i in $(seq $moments); do
        folder=$who-$i
        "$program" "${asked[@]}" --out-dir "$folder" >"$folder.out" 2>"$folder.err" &
        pid=$!
        sleep "$(awk -v ns=$lasts -v i="$i" -v of=$((moments + 1)) 'BEGIN { print ns * 1e-9 * i / of }')"
        victim=$pid
        [ $who = program ] || victim=$(pgrep -P $pid | head -n 1)
        [ -n "$victim" ] && kill -9 "$victim" 2>kill.err # it may have ended by now
        wait $pid 2>wait.err
        [ ! -e "$folder" ] || whole "$folder"
        [ "$(find "$folder" -type f ! -name '*.tmp*' ! -name '*.lock' 2>find.err | wc -l)" = "$files" ] || unfinished=$((unfinished + 1))
    done
done
# or nothing was tried
[ $unfinished -gt 0 ] || fail "no run was killed before it had written its files"

# --- the row of a cell that was killed among its steps is there, and says so
"$program" profile --size tiny --ctx 16 --threads 1 --steps 100000 --out-dir killed >killed.out 2>killed.err &
pid=$!
cell_of $pid
sleep 0.3
kill -9 "$cell"
wait $pid
[ -s killed/profile.json ] || fail "no record of the killed cell"
whole killed
exit 0
