#!/bin/sh
# arm64: cross-compiles with warnings as errors, and runs the unit tests under qemu-user.  The build fails on an
# architecture whose system calls the filter does not know.  TAP.
set -u
here=$(cd "$(dirname "$0")/.." && pwd)
cd "$here" || exit 2
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
. "$here/tests/lib/tap.sh"

for a in x86_64 aarch64 riscv; do unknown="${unknown:-} -U__${a}__ -U__$a"; done
# this architecture's C library headers include a file that is missing here
mkdir "$T/gnu" && : >"$T/gnu/stubs-32.h"
# shellcheck disable=SC2086
gcc -std=c11 -D_GNU_SOURCE -I"$T" -fsyntax-only $unknown helper/root/self/filterrules.c >"$T/out" 2>"$T/err"
st=$?
t "an architecture without a filter of system calls is refused" [ $st != 0 ]
t "the compiler's message names the missing filter" grep -q 'error.*needs a filter of system calls, and has none' "$T/err"

for p in qemu-aarch64-static aarch64-linux-gnu-gcc; do
	command -v $p >/dev/null || { skip "arm64" "there is no $p: sh tests/deps.sh check"; echo "1..$n"; [ $bad = 0 ]; exit; }
done
root=$(sh tests/lib/root.sh unpack arm64 this libc6-dev libconfig-dev libjansson-dev libudev-dev libsystemd-dev libselinux1-dev \
    nettle-dev libgmp-dev libcurl4-openssl-dev libyaml-dev zlib1g-dev 2>"$T/err") || {
	[ $? = 3 ] || { fail "the packages of arm64"; exit 1; }
	skip "arm64" "$(tail -n 1 "$T/err")"
	echo "1..$n"
	[ $bad = 0 ]
	exit
}

# qemu starts the loader of the arm64 root directly: its -L option would also redirect the machine's own paths
emulator="qemu-aarch64-static $root/lib/ld-linux-aarch64.so.1 --library-path $root/lib/aarch64-linux-gnu:$root/usr/lib/aarch64-linux-gnu"

PKG_CONFIG_SYSROOT_DIR=$root PKG_CONFIG_LIBDIR=$root/usr/lib/aarch64-linux-gnu/pkgconfig:$root/usr/share/pkgconfig \
    make -s -j"$(nproc)" CC="aarch64-linux-gnu-gcc --sysroot=$root" AR=aarch64-linux-gnu-ar B=build/arm64 WERROR=-Werror all unit \
    >"$T/out" 2>"$T/err"
st=$?
t "the tree compiles with warnings as errors" [ $st = 0 ]
t "the programs are arm64's" sh -c "file build/arm64/gpuhelper build/arm64/gpuhelper-runc | grep -c 'ARM aarch64' | grep -qx 2"
cat >"$T/unit" <<END
TESTS_DIR=tests TESTS_EMULATED=1 $emulator "\$1" >"$T/\${1##*/}.tap" 2>&1
echo \$? >"$T/\${1##*/}.status"
END
find build/arm64/unit -name 't_*' ! -name '*.d' | sort | xargs -P "$(nproc)" -n 1 sh "$T/unit"
for u in "$T"/*.tap; do
	grep -A 3 '^not ok' "$u" >"$T/out"
	t "$(basename "$u" .tap): $(grep -c '^ok' "$u") tests" [ "$(cat "${u%tap}status")" = 0 ]
	grep '# SKIP' "$u" | sed 's/^/# /'
done
# shellcheck disable=SC2086
$emulator build/arm64/gpuhelperctl --version >"$T/out" 2>"$T/err"
t "gpuhelperctl runs" grep -q '^gpuhelperctl ' "$T/out"
echo "1..$n"
[ $bad = 0 ]
