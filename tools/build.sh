# Finds what the build needs, installs it on Debian and Ubuntu, and builds a preset.
# Sourced by ./roofstep and ./test, which set `root`.
# shellcheck shell=bash disable=SC2001,SC2086,SC2154

say() { printf 'roofstep: %s\n' "$*" >&2; }
die() { say "$@"; exit 1; }

# Where else libraries may be installed; CMake looks there too, and in their folders for one architecture.
prefixes() { printf '%s\n' /usr/local ${CONDA_PREFIX:+"$CONDA_PREFIX"} ${CMAKE_PREFIX_PATH//[:;]/ }; }

# A header may lie in a folder of its own ("blis-openmp/cblas.h").
has_header() {
    local name=$1 folder sub
    shift
    for folder in /usr/include /usr/include/*-linux-gnu* $(prefixes | sed 's|.*|&/include &/include/*-linux-gnu*|') ${CPATH//:/ }; do
        for sub in "" "$@"; do
            [ -e "$folder/${sub:+$sub/}$name" ] && return 0
        done
    done
    return 1
}

has_cblas() {
    local name folder
    for name in blis openblas; do
        has_header cblas.h "$name-openmp" "$name-pthread" "$name-serial" "$name" || continue
        for folder in /usr/lib* /usr/lib*/* $(prefixes | sed 's|.*|&/lib &/lib/*-linux-gnu*|'); do
            compgen -G "$folder/lib$name.so" >/dev/null && return 0
            compgen -G "$folder/$name-*/lib$name.so" >/dev/null && return 0
        done
    done
    return 1
}

# The presets need CMake 3.21.
has_cmake() {
    local version
    version=$(cmake --version 2>/dev/null) || return 1
    [[ $version =~ ([0-9]+)\.([0-9]+) ]] || return 1
    ((BASH_REMATCH[1] * 1000 + BASH_REMATCH[2] >= 3021))
}

# CC as CMake takes it: a program, or a program and words for it ("ccache gcc", "gcc -m64"). Its complaints go to stdout.
compile() {
    local words=("${CC:-cc}")
    command -v "${words[0]}" >/dev/null || read -ra words <<<"${CC:-cc}"
    { "${words[@]}" "$@" >/dev/null; } 2>&1
}

has_compiler() { compile -x c -E /dev/null >/dev/null; }

# ---- CUDA ----

# Where nvcc is; fails when there is none.
find_nvcc() {
    local folder
    command -v "${CUDACXX:-nvcc}" && return
    for folder in ${CUDA_PATH:+"$CUDA_PATH"} /usr/local/cuda /usr/local/cuda-*; do
        [ -x "$folder/bin/nvcc" ] && { echo "$folder/bin/nvcc"; return; }
    done
    return 1
}

has_nvcc() {
    local nvcc
    nvcc=$(find_nvcc) && [[ $("$nvcc" --version) =~ release\ ([0-9]+) ]] && ((BASH_REMATCH[1] >= 12))
}

# Looks at files only: nvidia-smi takes longer than the rest of a start.
has_gpu_device() { compgen -G '/dev/nvidia[0-9]*' >/dev/null || [ -e /dev/dxg ]; }

has_gpu() {
    if command -v nvidia-smi >/dev/null; then nvidia-smi -L 2>/dev/null | grep -q '^GPU'; else has_gpu_device; fi
}

# CUDA itself is NVIDIA's to install.
missing_for_cuda() {
    has_nvcc || die "no CUDA compiler (nvcc 12 or newer) was found: install NVIDIA's CUDA toolkit, or put nvcc on PATH"
    missing_for_build
    command -v g++ >/dev/null || echo 'g++|a C++ compiler, for the host parts of CUDA sources'
}

# ---- what is missing ----

# One line per missing thing: "Debian package|what it is elsewhere".
missing_for_build() {
    local blas='libopenblas-openmp-dev|a CBLAS: OpenBLAS or BLIS with headers'
    case $(uname -m) in aarch64 | arm64) blas=${blas/libopenblas/libblis} ;; esac
    if [ -n "${CC:-}" ] && ! has_compiler; then
        die "CC is '$CC', and that compiles nothing ($(compile -x c -E /dev/null | head -n 1)): name a C compiler that is here, or unset CC"
    elif ! has_compiler; then
        echo 'gcc|a C compiler: gcc 12 or newer, or clang 14 or newer'
    fi
    has_header stdio.h || echo "libc6-dev|the C library's headers"
    has_cmake || echo 'cmake|CMake 3.21 or newer'
    command -v ninja >/dev/null || echo 'ninja-build|Ninja'
    has_header jansson.h || echo 'libjansson-dev|jansson with headers'
    has_header zlib.h || echo 'zlib1g-dev|zlib with headers'
    has_cblas || echo "$blas"
}

# Several ranks need MPI; everything else works without it.
missing_for_ranks() {
    command -v mpicc >/dev/null || has_header mpi.h mpi openmpi || echo 'libopenmpi-dev|an MPI with headers'
    command -v mpirun >/dev/null || echo 'openmpi-bin|mpirun of that MPI'
}

missing_for_tests() {
    missing_for_build
    missing_for_ranks
    has_header cmocka.h || echo 'libcmocka-dev|cmocka with headers'
    pyflakes3 --version >/dev/null 2>&1 || python3 -m pyflakes --version >/dev/null 2>&1 || echo 'pyflakes3|pyflakes, for lint_python'
}

# apt's lists count as fresh for a day.
apt_lists_are_fresh() { [ -n "$(find /var/lib/apt/lists -name '*_Packages*' -mtime -1 -print -quit 2>/dev/null)" ]; }

as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi
}

# ---- Debian's alternatives ----

# A BLAS puts itself in front of those that other programs are given: PyTorch would multiply with the one that was installed
# for roofstep, which asks for it by its own name. It is put behind all others; what a name stands for stays as it was.

# What may stand for the names that BLAS libraries share, "NAME PATH" on a line.
blas_choices() {
    local name
    command -v update-alternatives >/dev/null || return 0
    update-alternatives --get-selections | awk '$1 ~ /^lib(c?blas|lapacke?)(64)?\.so/ { print $1 }' | while read -r name; do
        update-alternatives --query "$name" | awk -v name="$name" '$1 == "Alternative:" { print name, $2 }'
    done | sort
}

# The words that register a choice as it is registered, but with the priority 0.
words_to_put_behind() {
    update-alternatives --query "$1" | awk -v name="$1" -v path="$2" '
        $1 == "Link:" { words = $2 " " name " " path " 0" }
        $1 == "Alternative:" { choices = 1; it = $2 == path }
        /^ / && !choices { link[$1] = $2 }
        /^ / && it { words = words " --slave " link[$1] " " $1 " " $2 }
        END { print words }'
}

# put_behind BEFORE: every choice that is not in the list.
put_behind() {
    local name path
    comm -13 <(printf '%s\n' "$1") <(blas_choices) | while read -r name path; do
        as_root update-alternatives --install $(words_to_put_behind "$name" "$path") </dev/null
    done
}

apt_install() {
    local log=$root/build/install.log before failed=
    if [ "$(id -u)" != 0 ] && ! command -v sudo >/dev/null; then
        die "not root and no sudo here; as root, run: apt-get install $*"
    fi
    mkdir -p "$root/build"
    say "installing $* (log: $log)"
    apt_lists_are_fresh || as_root apt-get update >"$log" 2>&1 ||
        say "apt-get update failed; trying with the package lists there are"
    before=$(blas_choices)
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$@" >>"$log" 2>&1 || failed=1
    put_behind "$before" >>"$log" 2>&1 # what was installed before it failed, too
    if [ -n "$failed" ]; then
        tail -n 5 "$log" >&2
        die "apt-get could not install $*; full log: $log"
    fi
}

# need FUNCTION: what the function says is missing gets installed, or the program stops saying so.
need() {
    local missing packages=() line
    missing=$("$1") || exit 1
    [ -n "$missing" ] || return 0
    while IFS= read -r line; do packages+=("${line%%|*}"); done <<<"$missing"
    if ! command -v apt-get >/dev/null; then
        say "missing (this is not Debian or Ubuntu: install them with your package manager):"
        sed 's/^\([^|]*\)|\(.*\)$/  \2 (on Debian: \1)/' <<<"$missing" >&2
        exit 1
    fi
    if [ -n "${ROOFSTEP_NO_INSTALL:-}" ]; then
        say "missing, and ROOFSTEP_NO_INSTALL is set: apt-get install ${packages[*]}"
        exit 1
    fi
    apt_install "${packages[@]}"
    missing=$("$1")
    [ -z "$missing" ] || die "still missing after installing: $(sed 's/|.*//' <<<"$missing" | tr '\n' ' ')"
}

# ---- from npm ----

# npm alone is not worth stopping for: what needs it is left out, with the reason.
want_npm() {
    [ -z "${npm_tried:-}" ] && command -v apt-get >/dev/null || return 0
    npm_tried=1
    say "npm is missing: it is installed with Node.js and its modules, some hundred MB"
    (apt_install npm)
}

# What npm said of its failure, on one line.
npm_error() { sed -nE 's/^npm (ERR!|error) +//p' "$1" | head -n 3 | paste -sd' ' | cut -c1-300; }

# fetch_npm FOLDER NAME: the packages that FOLDER's lock file names, with its checksums, into build/NAME, from where npm is set up to
# take them. What is there already is not asked for again. Where it fails `why` says why and `remedy` what to do.
fetch_npm() {
    local from=$root/$1 to=$root/build/$2 log=$root/build/$2.log
    cmp -s "$from/package-lock.json" "$to/node_modules/fetched" && return 0
    if [ -n "${ROOFSTEP_NO_INSTALL:-}" ]; then
        why='ROOFSTEP_NO_INSTALL is set' remedy='unset it and run this again'
        return 1
    fi
    command -v npm >/dev/null || want_npm
    if ! command -v npm >/dev/null; then
        why='there is no npm' remedy='install it and run this again'
        return 1
    fi
    mkdir -p "$to" && cp "$from/package.json" "$from/package-lock.json" "$to" &&
        (cd "$to" && npm ci --ignore-scripts --no-audit --no-fund --fetch-retries=0 --fetch-timeout=20000) >"$log" 2>&1 &&
        cp "$to/package-lock.json" "$to/node_modules/fetched" && return 0
    why="npm failed: $(npm_error "$log") (log: $log)" remedy="to try again, remove $left_out"
    return 1
}

# The HTML report alone needs what draws its charts: what cannot be had for it stops nothing. Why it was left out is kept, to build it as soon as
# that has changed.
left_out=$root/build/charts.left-out
npm_here() {
    if [ -n "${ROOFSTEP_NO_INSTALL:-}" ]; then echo not wanted; elif command -v npm >/dev/null; then echo here; else echo missing; fi
}
charts_may_come() { [ -z "${ROOFSTEP_NO_INSTALL:-}" ] && [ -w "$left_out" ] && [ "$(<"$left_out")" != "$(npm_here)" ]; }

fetch_charts() {
    rm -f -- "$left_out"
    fetch_npm src/report/page charts && return
    npm_here >"$left_out"
    say "built without the HTML report, for what draws its charts is not here: $why; $remedy. Everything else is there"
}

# ---- where it is built ----

is_plain() { [[ $1 != *[[:cntrl:]\]\[\!\"\#\$%\&\'\(\)\*:\;\<=\>\?\\^\`\{\|\}]* ]]; }

# Sets `tree`, the name of the source folder for CMake, which cannot build in folders with some of these characters: they mean something in
# its language, in patterns of files or to ninja. There it is given a link to the folder, which stays for the next build.
find_tree() {
    local place cache=${XDG_CACHE_HOME:-${HOME:+$HOME/.cache}}
    tree=$root
    is_plain "$root" && return
    for place in ${cache:+"$cache/roofstep"} "${TMPDIR:-/tmp}/roofstep-$UID"; do
        tree=$place/tree-$(sha256sum <<<"$root" | cut -c1-16)
        [[ $tree = /* ]] && is_plain "$tree" && mkdir -p -m 700 -- "$place" 2>/dev/null && [ -O "$place" ] || continue
        [ "$(readlink -- "$tree")" != "$root" ] || return 0
        ln -sfn -- "$root" "$tree" 2>/dev/null && return
    done
    die "CMake cannot build in a folder of such a name, and no link to it can be made in the cache or the temporary folder: rename $root"
}

# Makes build/. Where nothing can be written in it, for someone else, root say, built there before, it fails and `why` says so.
make_build_folder() {
    local build=$root/build file
    why="$root cannot be written: build in a copy of your own (cp -r)"
    mkdir -p -- "$build" 2>/dev/null || return 1
    file=$(find "$build" -name node_modules -prune -o ! -writable ! -type l -print -quit 2>/dev/null)
    [ -n "$file" ] || return 0
    why="$file, of user $(stat -c %U -- "$file"), cannot be written: remove $build as that user, or build in a copy of your own (cp -r)"
    return 1
}

# A tree that was moved, or built through another link: what CMake keeps of it names other folders.
forget_other_tree() {
    local cache=$root/build/$1/CMakeCache.txt
    [ ! -e "$cache" ] || grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$tree" "$cache" || rm -rf -- "$cache" "$root/build/$1/CMakeFiles"
}

# Shows ninja's "[12/60] ..." as one line that moves, on a terminal only.
show_progress() {
    local name=$1 line
    [ -t 2 ] || { cat >/dev/null; return; }
    while IFS= read -r line; do
        [[ $line =~ ^\[([0-9]+/[0-9]+)\] ]] && printf '\rroofstep: building %s %s ' "$name" "${BASH_REMATCH[1]}" >&2
    done
    printf '\r\033[K' >&2
}

# build_preset NAME TARGET [cmake arguments]: quiet; the log is build/NAME.log.
build_preset() {
    local name=$1 target=$2 log=$root/build/$1.log
    shift 2
    make_build_folder || die "$why"
    find_tree
    forget_other_tree "$name"
    [ -t 2 ] || say "building $name (log: $log)"
    fetch_charts
    if ! (cd "$root" && cmake --preset "$name" -S "$tree" "$@" && cmake --build "$tree/build/$name" --target "$target") 2>&1 |
        tee "$log" | show_progress "$name"; then
        grep -E -A 12 'error|FAILED|CMake Error' "$log" | head -n 30 >&2
        die "the build failed; full log: $log"
    fi
}
