#!/bin/sh
# Plays the scripts of the shell on each store, in a directory that is made: what was written lies
# in DIR/native and DIR/dsh. What is shown must be what is expected, byte for byte.
set -eu

if [ $# != 1 ]; then
    echo 'usage: play.sh DIR' >&2
    exit 2
fi
mkdir -p "$1"
dir=$(cd "$1" && pwd)
cd "$(dirname "$0")"
scripts=$PWD/scripts

cd ../../..
cargo build --release --quiet -p gatelog-interaction --example shell
target=${CARGO_TARGET_DIR:-target}
case $target in
/*) ;;
*) target=$PWD/$target ;;
esac

# The presets of the scripts are the shipped default's.
unset DSH_PERMISSION_MODE

for store in native dsh; do
    for name in work resume bare; do
        session=main bare=
        if [ "$name" = bare ]; then
            session=bare bare=--bare
        fi
        mkdir -p "$dir/workspace-$store-$session"
        cd "$dir/workspace-$store-$session"
        "$target/release/examples/shell" --store "$store" ${bare:+"$bare"} \
            --script "$scripts/$name.txt" "$dir/$store" "$session" >"$dir/$name-$store.shown"
        diff -u "$scripts/$name.expected" "$dir/$name-$store.shown"
        echo "played $name on $store"
    done
done
