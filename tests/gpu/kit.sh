#!/bin/sh
# kit.sh DIR: puts what tests/gpu/run.sh needs into DIR, for a machine that has a GPU and nothing to build with.
set -eu
here=$(cd "$(dirname "$0")/../.." && pwd)
mkdir -p "$1/lib"
cp "$here/build/gpuhelper" "$here/build/gpuhelper-runc" "$here/build/gpuhelperctl" "$1/"
cp "$(command -v runc)" /bin/busybox "$1/"
for p in "$1/gpuhelper" "$1/gpuhelperctl" "$1/runc"; do
	ldd "$p" | sed -n 's/.*=> \(\/[^ ]*\) .*/\1/p'
done | sort -u | while read -r l; do
	case ${l##*/} in libc.so*|libm.so*|libpthread.so*|libdl.so*) ;; *) cp -L "$l" "$1/lib/" ;; esac
done
