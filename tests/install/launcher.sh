#!/usr/bin/env bash
# usage: launcher.sh PROGRAM: ./roofstep builds in folders of any name, with any CC that CMake takes, and beside other users.
# shellcheck disable=SC1091,SC2154 # cli.sh and tree.sh set what is used here
. "$(dirname "$(realpath "$0")")/../cli/cli.sh"
. "$tests/install/tree.sh"
[ -n "$QUICKCC_REAL" ] || { echo 'skipped: no cc'; exit 77; }

# builds WHAT FOLDER: once, and then no more
builds() {
    starts "$2" plan 'two words' || { fail "$1: it is not built"; return; }
    has 'program: plan two words'
    [ "$(grep -c '/src/' compiled)" -gt 5 ] || fail "$1: nothing was compiled"
    starts "$2" --version && [ ! -s compiled ] || fail "$1: it is built again"
}

# ---- names of folders ----

# All at once, and each part of a name by itself where that differs.
copy_tree 'plain'
CC=quickcc builds 'a plain folder' plain
odd=("x[2024]" 'x#1' "-a b'c\"d;e\$f=g\\h|i<j>k*l?m(n)o&p^q{r}s\`t:u%v!wé" $'line\nbreak')
before=plain
for name in "${odd[@]}"; do
    mv -- "./$before" "./$name" # which CMake does not like either: what it kept names other folders
    rm -- "./$name/build/release.stamp"
    CC=quickcc builds "$name" "./$name"
    before=$name
done
# The link through which it was built is no part of the program.
rm -r cache
starts "./$before" x && has "peers: $work/$before/peers"
# Where no link can be made it says so.
touch nowhere && rm "./$before/build/release.stamp"
XDG_CACHE_HOME=$work/nowhere TMPDIR=$work/nowhere starts "./$before" x && fail 'built without a link'
grep -q "^roofstep: CMake cannot build in a folder of such a name.*rename $work" err || fail 'it does not say what to do about the name'
mv -- "./$before" tree

# ---- CC ----

rm -r tree/build
CC='launcher quickcc' builds 'a launcher and a compiler' tree
rm -r tree/build
CC='quickcc  -pipe -DTWO' starts tree x || fail 'a compiler and its options'
grep -q -- '-pipe -DTWO.*/src/' compiled || fail 'its options are not used'
rm -r tree/build
cp bin/quickcc 'bin/quick cc' && CC="$work/bin/quick cc" builds 'a compiler with a blank in its name' tree
rm -r tree/build
CC='no-such-cc -pipe' starts tree x && fail 'a compiler that is none'
[ "$(wc -l <err)" = 1 ] && grep -q "^roofstep: CC is 'no-such-cc -pipe'.*not found" err || fail 'it does not name the compiler that is none'

# ---- ./test ----

cp "$tests/../test" tree
# refuses WHAT WORDS...: in one line that begins with WHAT, before anything is built
refuses() {
    local what=$1
    shift
    : >compiled
    tree/test "$@" >out 2>err && fail "./test $*: taken"
    [ ! -s compiled ] && [ "$(wc -l <err)" = 1 ] && grep -q "^roofstep: $what" err || fail "./test $*: not refused in one line with '$what'"
}
CC=quickcc FAULTS_KILLS=many refuses "FAULTS_KILLS is 'many'" --faults
CC=quickcc FAULTS_SECONDS=1m refuses "FAULTS_SECONDS is '1m'" --faults
CC=quickcc refuses '--faults goes with no other option' --faults --quick
rm tree/test

# ---- other users ----

export CC=quickcc
chmod 755 . home
as_nobody() { setpriv --reuid 65534 --regid 65534 --clear-groups -- env HOME="$work/elsewhere" "$@"; }
if [ "$(id -u)" != 0 ] || ! as_nobody true 2>err; then
    echo 'not root: nothing is tried as another user'
    verdict
    exit
fi
nobody_starts() {
    : >compiled
    as_nobody ./tree/roofstep "$@" >out 2>err
}
chmod 666 compiled
chmod -R go=rX tree bin

# Nothing is built yet.
rm -r tree/build
nobody_starts x && fail 'another user builds in a folder of ours'
[ "$(wc -l <err)" = 1 ] && grep -q "^roofstep: $work/tree cannot be written.*cp -r" err || fail 'it does not say that the folder is of another user'

# Built, and of a commit, which git does not tell other users by itself.
(cd tree && git init -q && git add -A && git -c user.name=a -c user.email=a@b commit -qm one) >out 2>&1 || fail 'git'
starts tree x || fail 'built by root'
nobody_starts x || fail "what another user built does not run"
has 'program: x'
[ ! -s err ] || fail 'another user is told something'
grep -q 'ROOFSTEP_COMMIT "unknown"' tree/build/release/generated/version.h && fail 'the commit is not known'

# Sources that are newer: it runs as it is, and says what to do.
touch tree/src/cli/main.c
nobody_starts x && has 'program: x'
[ "$(wc -l <err)" = 1 ] && grep -q "^roofstep: the program is not built again.*of user $(id -un),.*remove $work/tree/build" err ||
    fail 'it does not say why it is not built again'
# A folder of their own in which root built: the same of the files in it.
chown -R 65534:65534 tree && chown 0 tree/build/release/CMakeCache.txt
nobody_starts x && has 'program: x'
grep -q "$work/tree/build/release/CMakeCache.txt, of user $(id -un)," err || fail 'the file that cannot be written is not named'
rm tree/build/release/roofstep
nobody_starts x && fail 'built over files of another user'
[ "$(wc -l <err)" = 1 ] || fail 'not one line'
# And root in a folder of another user, whose commit git does not tell root either.
chown -R 65534:65534 tree
starts tree x && starts tree x && [ ! -s compiled ] || fail 'root builds again and again'
grep -q 'ROOFSTEP_COMMIT "unknown"' tree/build/release/generated/version.h && fail 'the commit is not known to root'

verdict
