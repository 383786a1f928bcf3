#!/usr/bin/env bash
# --peer torch: rows of both, the ratio, resuming, and no PyTorch.
here=$(dirname "$(realpath "$0")")
. "$here/bench.sh"
export PYTHON=$here/fake_python PEER_LOG=$dir/log
lines() { wc -l <"$1"; }

bench --steps 2 --peer torch --peer-variant eager,best --peer-rounds 2 --out-json peer.json >peer.out 2>peer.err
code=$?
expect_code 0 "with a peer"
expect peer.out 'peer / ours'
[ "$(grep -c '^| custom[ (0-9)]* | torch' peer.out)" = 2 ] || fail "not two rows of the peer"
[ "$(lines log)" = 4 ] || fail "the peer ran $(lines log) times, not 4"
expect peer.json '"peer_best": ?"best"'
expect peer.json '"peer_version": ?"0.0-fake"'
expect peer.json '"rounds": ?2'
expect peer.out 'steps 2, rounds 2'

PEER_BLAS=/x/libblas.so.3 bench --steps 2 --peer torch --peer-rounds 1 --out-json once.json >once.out 2>once.err
code=$?
expect_code 0 "one round"
expect once.json '"rounds": ?1'
expect once.out 'matrix multiplications by Fake 1, /x/libblas.so.3'
expect once.out '12 % of the CPU time went to other programs'
PEER_WORDS=$dir/words bench --steps 2 --accumulate 3 --peer torch --peer-rounds 1 --out-json micro.json >micro.out 2>micro.err
code=$?
expect_code 0 "micro-batches"
expect words '--accumulate 3'
[ "$(grep -oc '"accumulate": *3' micro.json)" -ge 1 ] || fail "micro-batches are not recorded"
expect micro.out 'accumulate 3'
rm log
touch log

bench --steps 2 --peer torch --peer-variant eager,best --resume peer.json >again.out 2>again.err
code=$?
expect_code 0 "resumed with a peer"
[ "$(lines log)" = 0 ] || fail "what was known ran again"

# Our rows alone do not serve a sweep with the peer, but those of the peer do no harm without it.
bench --steps 2 --resume peer.json --out-json alone.json >alone.out 2>alone.err
code=$?
expect_code 0 "resumed without the peer"
expect alone.err 'from the file'
[ "$(grep -c '^| custom' alone.out)" = 1 ] || fail "not one row"

# It computes with as many threads as ours: more than there may be are refused, and nothing makes them fewer.
OMP_THREAD_LIMIT=1 bench --threads 1,2 --steps 2 --peer torch --peer-rounds 1 --out-json limit.json >limit.out 2>limit.err
code=$?
expect_code 0 "a peer with more threads than there may be"
[ "$(grep -c '^| custom.*torch.*unsupported' limit.out)" = 1 ] || fail "the peer has threads that it may not have"
PEER_ENVIRONMENT=$dir/environment OMP_DYNAMIC=true OMP_MAX_ACTIVE_LEVELS=0 bench --steps 2 --peer torch --peer-rounds 1 >/dev/null 2>&1
expect environment '^PEER_ENVIRONMENT='
refuse environment '^OMP_(DYNAMIC|MAX_ACTIVE_LEVELS)='

PEER_ABSENT=1 bench --steps 2 --peer torch >absent.out 2>absent.err
code=$?
expect_code 0 "no PyTorch"
[ "$(grep -c 'no PyTorch here' absent.out)" = 1 ] || fail "not one line about PyTorch"
expect absent.out '^\| custom .*\| ok '
exit 0
