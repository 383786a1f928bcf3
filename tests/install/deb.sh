#!/usr/bin/env bash
# usage: deb.sh PROGRAM: the .deb holds the program and what it needs, and says which packages it depends on.
# shellcheck disable=SC1091,SC2154 # cli.sh sets what is used here
. "$(dirname "$(realpath "$0")")/../cli/cli.sh"
skip() {
    echo "skipped: $1"
    exit 77
}
for tool in cpack dpkg-deb dpkg-shlibdeps; do command -v $tool >/dev/null || skip "no $tool"; done
[ "$(dpkg --print-architecture)" != '' ] || skip 'not Debian'
(cd "$(dirname "$program")" && cpack -B "$work") >out 2>err || fail cpack
deb=$(echo "$work"/roofstep_*.deb)
dpkg-deb -x "$deb" "$work/root" || fail 'it cannot be unpacked'
depends=$(dpkg-deb -f "$deb" Depends)
case $depends in *mpi*) fail "it depends on MPI, which only several ranks need: $depends" ;; esac
for library in libc6 libjansson4 zlib1g; do
    grep -q "$library" <<<"$depends" || fail "no dependency on $library: $depends"
done
grep -qE 'libblis|libopenblas' <<<"$depends" || fail "no dependency on a BLAS: $depends"
"$work/root/usr/bin/roofstep" plan --size tiny >/dev/null || fail 'the program in it does not run'
for file in man/man1/roofstep.1.gz bash-completion/completions/roofstep zsh/vendor-completions/_roofstep doc/roofstep/copyright \
    roofstep/peers/curve_file.py roofstep/peers/hf_model.py roofstep/peers/torch_bench.py roofstep/peers/torch_blas.py roofstep/peers/torch_curve.py roofstep/peers/torch_result.py roofstep/peers/torch_step.py; do
    [ -s "$work/root/usr/share/$file" ] || fail "no $file in it"
done

verdict
