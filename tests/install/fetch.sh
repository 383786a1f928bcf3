#!/usr/bin/env bash
# usage: fetch.sh PROGRAM: without npm packages come by curl, and only those with the checksum of the lock file.
# shellcheck disable=SC1091,SC2154 # cli.sh and build.sh set what is used here
. "$(dirname "$(realpath "$0")")/../cli/cli.sh"
export root=$work
. "$tests/../tools/build.sh"
has_curl || { echo 'skipped: no curl or openssl'; exit 77; }

mkdir -p package/dist registry/left-pad/-
echo padded >package/dist/pad.js
tar -czf registry/left-pad/-/left-pad-1.2.3.tgz package
export npm_config_registry=file://$work/registry
lock() { # lock SHA512
    printf '%s\n' '{"lockfileVersion": 3, "packages": {' '  "": {"name": "own"},' '    "node_modules/left-pad": {' '      "version": "1.2.3",' \
        "      \"integrity\": \"sha512-$1\"," '      "license": "MIT"' '}}}' >lock.json
}
lock "$(openssl dgst -sha512 -binary registry/left-pad/-/left-pad-1.2.3.tgz | base64 -w0)"
fetch_archives lock.json modules && [ "$(cat modules/left-pad/dist/pad.js)" = padded ] || fail 'the package was not fetched'
lock "$(openssl dgst -sha512 -binary lock.json | base64 -w0)"
! fetch_archives lock.json other || fail 'a package with another checksum was taken'
[ ! -e other ] || fail 'and is there'
# Every package of our own lock files is found in them.
for file in src/report/page tests/page; do
    names=$(grep -c '"node_modules/' "$tests/../$file/package-lock.json")
    [ "$(grep -c '"integrity": "sha512-' "$tests/../$file/package-lock.json")" = "$names" ] || fail "$file: a package without a checksum"
done

verdict
