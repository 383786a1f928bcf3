#!/usr/bin/env bash
# usage: fetch.sh PROGRAM: what the page needs comes from npm, wherever npm is set up to take it from and only with the checksum of the
# lock file; without npm that is installed; and where the page is left out the reason is the true one.
# shellcheck disable=SC1091,SC2154,SC2317 # cli.sh and build.sh set what is used here; stand-ins are called by build.sh
. "$(dirname "$(realpath "$0")")/../cli/cli.sh"
export root=$work
unset ROOFSTEP_NO_INSTALL
. "$tests/../tools/build.sh"
mkdir -p build src/report/page tools bin
cp "$tests"/../src/report/page/package*.json src/report/page

# A machine of these tools alone.
for tool in bash sh cat cmp cp cut find grep head id mkdir paste rm sed sleep tail; do ln -s "$(command -v $tool)" bin; done
system=$PATH
stand_in() { # NAME, its script on stdin
    { echo '#!/bin/sh'; cat; } >"bin/$1"
    chmod +x "bin/$1"
}
# fetches WORDS...: the charts, in that environment; what is said is in err
fetches() { (PATH=$work/bin && export PATH && for word; do export "${word?}"; done && fetch_charts) >out 2>err; }
# says REASON...: one line, which has each, and names none of the other reasons
says() {
    local part
    [ "$(grep -c 'built without the HTML report' err)" = 1 ] || fail "the page is not said to be left out: $1"
    for part; do grep 'built without' err | grep -q -- "$part" || fail "the reason is not '$part'"; done
}

# ---- why it is left out ----

fetches ROOFSTEP_NO_INSTALL=1
says 'ROOFSTEP_NO_INSTALL is set' 'unset it'
! grep -qi 'npm' err || fail 'npm is blamed for what was asked for'
may_come() { (PATH=$work/bin && ROOFSTEP_NO_INSTALL=${1:-} && charts_may_come); }
may_come 1 && fail 'built again although nothing has changed'
may_come || fail 'not built again when it may be fetched'

fetches
says 'there is no npm' 'install it'
may_come && fail 'built again and again without npm'

stand_in npm <<<'echo "npm ERR! code ENOTFOUND"; echo "npm ERR! network request to there failed"; exit 1'
may_come || fail 'not built again when there is an npm'
fetches
says 'npm failed: code ENOTFOUND network request to there failed' "log: $work/build/charts.log" "remove $work/build/charts.left-out"
may_come && fail 'npm is asked again at every start'
rm bin/npm

# ---- npm is installed like the rest ----

if [ "$(id -u)" = 0 ]; then
    stand_in apt-get <<EOF
echo "\$*" >>asked
case \$* in *install*npm*) printf '#!/bin/sh\necho "\$*" >>asked\nmkdir -p node_modules\n' >"$work/bin/npm" && chmod +x "$work/bin/npm" ;; esac
EOF
    ln -s "$(PATH=$system command -v chmod)" "$(PATH=$system command -v env)" bin
    fetches
    grep -q 'install.*npm' asked || fail 'npm is not installed'
    grep -q 'npm is missing.*MB' err || fail 'it does not say that it is large'
    grep -q 'installing npm' err || fail 'it does not say what it installs'
    [ -e build/charts/node_modules/fetched ] && [ ! -e build/charts.left-out ] || fail 'the npm that was installed is not used'
    rm -r bin/npm build/charts asked
    ROOFSTEP_NO_INSTALL=1 fetches
    [ ! -e asked ] || fail 'something is installed although it must not be'
    stand_in apt-get <<<'exit 100'
    fetches
    says 'there is no npm'
    [ "$(grep -c 'could not install npm' err)" = 1 ] || fail 'it does not say that npm cannot be installed'
fi

# ---- the real npm, and a registry of its own ----

PATH=$system
if command -v npm >/dev/null && command -v node >/dev/null; then
    mkdir -p package pins
    echo '{"name": "left-pad", "version": "1.2.3"}' >package/package.json
    tar -czf left-pad.tgz package
    cat >registry.mjs <<'EOF'
import http from 'http'; import fs from 'fs'; import crypto from 'crypto';
const file = fs.readFileSync('left-pad.tgz');
const integrity = 'sha512-' + crypto.createHash('sha512').update(file).digest('base64');
fs.writeFileSync('integrity', integrity);
const server = http.createServer((request, reply) => {
  fs.appendFileSync('requests', request.url + '\n');
  if (request.url.endsWith('.tgz')) return reply.end(file);
  const tarball = `http://127.0.0.1:${server.address().port}/left-pad/-/left-pad-1.2.3.tgz`;
  reply.end(JSON.stringify({name: 'left-pad', 'dist-tags': {latest: '1.2.3'},
    versions: {'1.2.3': {name: 'left-pad', version: '1.2.3', dist: {tarball, integrity}}}}));
}).listen(0, '127.0.0.1', () => fs.writeFileSync('port', String(server.address().port)));
EOF
    node registry.mjs &
    trap 'kill %1; wait; rm -r "$work"' EXIT
    for _ in $(seq 100); do [ -s port ] && break; sleep 0.1; done
    port=$(cat port)
    export npm_config_registry=http://127.0.0.1:$port/ npm_config_cache=$work/npm-cache npm_config_userconfig=/dev/null no_proxy=127.0.0.1
    unset http_proxy https_proxy HTTP_PROXY HTTPS_PROXY npm_config_proxy npm_config_https_proxy
    echo '{"name": "own", "dependencies": {"left-pad": "1.2.3"}}' >pins/package.json
    lock() { # INTEGRITY
        printf '%s\n' '{"name": "own", "lockfileVersion": 3, "requires": true, "packages": {"": {"name": "own", "dependencies": {"left-pad": "1.2.3"}},' \
            "\"node_modules/left-pad\": {\"version\": \"1.2.3\", \"integrity\": \"$1\"}}}" >pins/package-lock.json
    }
    lock "$(cat integrity)"
    fetch_npm pins good && [ -e build/good/node_modules/left-pad/package.json ] || fail "the package was not fetched: $why"
    grep -q left-pad requests || fail 'npm was not asked where it is set up to ask'
    lock "sha512-$(printf 'A%.0s' {1..86})=="
    ! fetch_npm pins bad || fail 'a package with another checksum was taken'
    [[ $why = *EINTEGRITY* ]] || fail "the reason is '$why', not its checksum"
fi

# ---- nothing of ours names a host to download from, and every package is pinned ----

cd "$tests/.." || exit 1
for lock in $(find src tests -name package-lock.json -not -path '*/node_modules/*'); do
    [ "$(grep -c '"integrity": "sha512-' "$lock")" = "$(grep -c '"node_modules/' "$lock")" ] || fail "$lock: a package without a checksum"
    ! grep -q '"resolved"' "$lock" || fail "$lock names where its packages come from"
done
! grep -nE '://|\b(curl|wget)\b' roofstep test tools/build.sh cmake/*.cmake CMakeLists.txt || fail 'the build names where to download from'
! grep -rnE 'registry\.|npmjs' --include='*.sh' --include='*.json' --include='*.cmake' --include='*.c' --include='*.md' --exclude-dir=build \
    --exclude-dir=node_modules --exclude=fetch.sh . || fail 'a registry is named'

cd "$work" || exit 1
verdict
