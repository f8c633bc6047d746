#!/bin/sh
# kit.sh DIR: collects in DIR what tests/gpu/run.sh needs, for a machine with a GPU and without build tools.
set -eu
here=$(cd "$(dirname "$0")/../.." && pwd)
mkdir -p "$1/lib" "$1/image"
for p in gpuhelper gpuhelper-look gpuhelper-engine gpuhelper-read gpuhelper-judge gpuhelper-judge-udev gpuhelper-label gpuhelper-runc gpuhelper-wait gpuhelperctl; do
	cp "$here/build/$p" "$1/"
done
cp "$(command -v runc)" /bin/busybox "$1/"
${CC:-cc} -O1 -o "$1/vectoradd" "$here/tests/gpu/vectoradd.c"
for p in "$1/gpuhelper" "$1/gpuhelper-look" "$1/gpuhelper-engine" "$1/gpuhelper-read" "$1/gpuhelper-judge" "$1/gpuhelper-judge-udev" "$1/gpuhelper-label" "$1/gpuhelperctl" "$1/runc"; do
	ldd "$p" 2>/dev/null | sed -n 's/.*=> \(\/[^ ]*\) .*/\1/p'
done | sort -u | while read -r l; do
	case ${l##*/} in libc.so*|libm.so*|libpthread.so*|libdl.so*) ;; *) cp -L "$l" "$1/lib/" ;; esac
done
# the images' C library, which the driver's files need
for l in libc.so.6 libm.so.6 libdl.so.2 libpthread.so.0 librt.so.1 libgcc_s.so.1; do
	cp -L "$(ldconfig -p | sed -n "s/.*[[:space:]]$l (libc6,x86-64.*=> //p" | head -n 1)" "$1/image/$l"
done
cp -L /lib64/ld-linux-x86-64.so.2 "$1/image/"
