#!/bin/sh
# Builds what the benchmark runs beside gpuhelper: build.sh BUILD, into BUILD/bench.
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
$cc $flags -fPIE -pie -Wl,-z,relro,-z,now $(pkg-config --cflags jansson libudev hogweed) -o "$out/libraries" "$here/libraries.c" \
    -Wl,-Bstatic $(pkg-config --libs jansson hogweed nettle) -lgmp -Wl,-Bdynamic $(pkg-config --libs libudev)
