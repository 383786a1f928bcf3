#!/usr/bin/env bash
# What tests of ./roofstep share, after cli.sh: a copy of the tree, and a C compiler that takes no time. It makes nothing of our sources
# but looks whether they are where they are said to be, and links a program that prints its words.
# shellcheck disable=SC2154 # cli.sh sets what is used here
export HOME=$work/home TMPDIR=$work/tmp ROOFSTEP_NO_INSTALL=1 ROOFSTEP_CUDA=0
unset CC CFLAGS CPATH CMAKE_C_COMPILER_LAUNCHER CMAKE_GENERATOR MAKEFLAGS
mkdir -p home tmp bin
cat >bin/quickcc <<'EOF'
#!/usr/bin/env bash
out='' source='' dep=''
for word; do
    case $before in -o) out=$word ;; -MF) dep=$word ;; esac
    case $word in */src/*.c) source=$word ;; esac
    before=$word
done
case $PWD:$out in
*CMakeScratch* | *CompilerIdC*) ;;
*:CMakeFiles/roofstep*.o)
    echo "$*" >>"$QUICKCC_LOG"
    [ -e "$source" ] || [[ $* = */generated/* ]] || { echo "error: no $source" >&2; exit 1; }
    printf '%s: %s\n' "$out" "${source//#/\\#}" >"$dep"
    : >"$out"
    exit
    ;;
*:*roofstep_mpi.so)
    : >"$out"
    exit
    ;;
*:roofstep)
    printf '#!/bin/sh\necho "program: $*"\necho "peers: $ROOFSTEP_PEERS"\n' >roofstep
    chmod +x roofstep
    exit
    ;;
esac
exec "$QUICKCC_REAL" "$@"
EOF
printf '#!/bin/sh\necho launched >>"$QUICKCC_LOG"\nexec "$@"\n' >bin/launcher
chmod +x bin/*
QUICKCC_REAL=$(command -v cc)
export QUICKCC_LOG=$work/compiled QUICKCC_REAL
export PATH=$work/bin:$PATH

# copy_tree FOLDER: what ./roofstep builds from, with as few of the sources as CMake is content with
copy_tree() {
    mkdir -p -- "$1/tests"
    touch -- "$1/tests/CMakeLists.txt"
    (
        cd "$tests/.." || exit
        cp -r roofstep tools models efficiency cmake CMakeLists.txt CMakePresets.json CHANGELOG.md "$work/$1"
        cp --parents -r src/report/page src/*/*_none.c src/*/*/*_none.c src/ops/gemm_cpu/blas_cpu_*.c src/comm/mpi_engine.c src/base/text.c src/cli/main.c src/cli/help.c "$work/$1"
    )
}

# starts FOLDER WORDS...: ./roofstep of that tree; what the program says is in out
starts() {
    local folder=$1
    shift
    : >compiled
    "$folder/roofstep" "$@" >out 2>err
}
