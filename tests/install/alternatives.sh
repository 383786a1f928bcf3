#!/usr/bin/env bash
# usage: alternatives.sh PROGRAM: a BLAS that is installed for roofstep is not given to other programs. apt-get is a stand-in that
# registers one as Debian's BLIS does; update-alternatives is the system's, in folders of its own.
# shellcheck disable=SC1091,SC2154 # cli.sh and build.sh set what is used here
. "$(dirname "$(realpath "$0")")/../cli/cli.sh"
real=$(command -v update-alternatives) || { echo 'skipped: not Debian'; exit 77; }
export root=$work ADMIN=$work/admin ALT=$work/alt LIB=$work/lib
mkdir -p bin admin alt lib
cat >bin/update-alternatives <<EOF
#!/bin/sh
exec "$real" --admindir "\$ADMIN" --altdir "\$ALT" --log /dev/null "\$@"
EOF
cat >bin/apt-get <<'EOF'
#!/bin/sh
[ "$1" = install ] || exit 0
blas() { # NAME PRIORITY
    mkdir -p "$LIB/$1"
    touch "$LIB/$1/libblas.so.3" "$LIB/$1/libblas.so" "$LIB/$1/cblas.h" "$LIB/$1/libblis.so.4"
    update-alternatives --install "$LIB/libblas.so.3" libblas.so.3-x "$LIB/$1/libblas.so.3" "$2"
    update-alternatives --install "$LIB/libblas.so" libblas.so-x "$LIB/$1/libblas.so" "$2" --slave "$LIB/cblas.h" cblas.h-x "$LIB/$1/cblas.h"
}
case $* in
*libreference*) blas reference 10 ;;
*libfast*) blas fast 100 ;;
*libblis*) blas blis 80 && update-alternatives --install "$LIB/libblis.so.4" libblis.so.4-x "$LIB/blis/libblis.so.4" 80 ;;
esac
case $* in *broken*) echo 'E: broken' >&2; exit 100 ;; esac
EOF
printf '#!/bin/sh\nexec "$@"\n' >bin/sudo
chmod +x bin/*
PATH=$work/bin:$PATH
. "$tests/../tools/build.sh"

# is FILE LIBRARY: what the shared name stands for
is() { [ "$(readlink -f "lib/$1")" = "$work/lib/$2/$1" ] || fail "$3: $1 is $(readlink -f "lib/$1"), not that of $2"; }
status() { update-alternatives --query libblas.so.3-x | sed -n 's/^Status: //p'; }
anew() {
    rm -rf admin alt lib
    mkdir admin alt lib
}

apt-get install libreference >/dev/null
apt_install libblis-dev 2>err
for file in libblas.so.3 libblas.so cblas.h; do is $file reference 'beside the reference library'; done
[ "$(status)" = auto ] || fail "its status is $(status)"
is libblis.so.4 blis 'its own name'
# As if it were not there: what is installed later takes over, and where all others go it is one.
apt-get install libfast >/dev/null
is libblas.so.3 fast 'a faster one that came later'
for one in fast reference; do
    update-alternatives --remove libblas.so.3-x "$work/lib/$one/libblas.so.3"
    update-alternatives --remove libblas.so-x "$work/lib/$one/libblas.so"
done >/dev/null
for file in libblas.so.3 libblas.so cblas.h; do is $file blis 'alone'; done

anew
apt_install libblis-dev 2>err
is libblas.so.3 blis 'the only one'
apt-get install libreference >/dev/null
for file in libblas.so.3 libblas.so cblas.h; do is $file reference 'another that came later'; done

# What the owner of the machine chose by hand stays chosen, and so it does where apt-get fails half-way.
anew
apt-get install libreference libfast >/dev/null
apt-get install libfast >/dev/null
update-alternatives --set libblas.so.3-x "$work/lib/reference/libblas.so.3"
(apt_install libblis-dev broken) 2>err && fail 'a failed installation is none'
grep -q 'could not install libblis-dev broken' err || fail 'it does not say what failed'
is libblas.so.3 reference 'chosen by hand'
is libblas.so fast 'after a failure'
[ "$(status)" = manual ] || fail "its status is $(status), not manual"

verdict
