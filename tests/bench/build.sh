#!/bin/sh
# Builds the benchmark's own programs: build.sh BUILD, into BUILD/bench.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
out=$1/bench cc=${CC:-gcc}
mkdir -p "$out"
flags='-std=gnu11 -O2 -g -Wall -Wextra'
$cc $flags -nostdlib -static -fno-stack-protector -fno-tree-loop-distribute-patterns -o "$out/runtime" "$here/runtime.c"
$cc $flags -static -o "$out/measure" "$here/measure.c"
$cc $flags -static -o "$out/calls" "$here/calls.c"
for p in empty floor; do
	$cc $flags -fPIE -static-pie -Wl,-z,relro,-z,now -o "$out/$p" "$here/$p.c"
done
$cc $flags -fPIE -static-pie -Wl,-z,relro,-z,now $(pkg-config --cflags jansson hogweed) -o "$out/libraries" "$here/libraries.c" \
    $(pkg-config --static --libs jansson hogweed nettle) -lgmp
# the program for callgrind
$cc $flags -Wno-missing-field-initializers -D_GNU_SOURCE -fPIE -pie -Wl,-z,relro,-z,now \
    -I"$here/../../helper" $(pkg-config --cflags jansson libconfig hogweed) -o "$out/work" "$here/work.c" \
    "$1/libjudge.a" "$1/libread.a" "$1/libhost.a" "$1/libpure.a" \
    -Wl,-Bstatic $(pkg-config --libs libconfig jansson hogweed nettle yaml-0.1) -lgmp \
    -Wl,-Bdynamic
