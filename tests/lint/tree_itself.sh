#!/usr/bin/env bash
# usage: tree_itself.sh SOURCE_DIR: tools/check-tree.sh fails on each thing that it is there for, and on nothing else.
source=$1
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
failed=0
mkdir -p "$work"/{tools,src/report/page,tests,docs,peers,cmake,build/src}
cp "$source/tools/check-tree.sh" "$work/tools"
printf 'oddword\tthe usual word\n' >"$work/tools/vocabulary.tsv"
touch "$work/src/report/page/page.html" "$work/docs/a.md" "$work/README.md"
echo 'int a(void);' >"$work/src/a.c"
echo 'int b(void);' >"$work/src/b.c"

# expect STATUS what it is about
expect() {
    "$work/tools/check-tree.sh" "$work/build" >"$work/out" 2>&1
    local status=$?
    [ $status = "$1" ] && return
    echo "$2: exit status $status instead of $1"
    cat "$work/out"
    failed=1
}

expect 0 'a tree in order'
printf '%111s\n' x >"$work/src/wide.c"
expect 1 'a line of 111 columns'
printf '%110s\n' x >"$work/src/wide.c"
expect 0 'a line of 110 columns'
yes ';' | head -n 401 >"$work/src/long.c"
expect 1 'a file of 401 lines'
rm "$work/src/long.c"
echo '/* an oddword */' >"$work/src/words.c"
expect 1 'a word of the vocabulary'
rm "$work/src/words.c"
mkdir "$work/src/room"
for i in $(seq 31); do touch "$work/src/room/$i.c"; done
expect 1 'a folder of 31 sources'
rm -r "$work/src/room"
echo 'int b(void); int a(void) { return b(); }' | ${CC:-cc} -x c -c -o "$work/build/src/a.c.o" - &&
    echo 'int a(void); int b(void) { return a(); }' | ${CC:-cc} -x c -c -o "$work/build/src/b.c.o" - || exit 1
expect 1 'two sources that need each other'
exit $failed
