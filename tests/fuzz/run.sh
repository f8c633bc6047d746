#!/bin/sh
# Runs every fuzzer of this directory for a time, with clang's libFuzzer, AddressSanitizer and UBSan.  TAP.
#
#   run.sh [SECONDS [NAME...]]		60 seconds each; NAME: fuzz_doc, ...
#
# Failing inputs stay in $FUZZ_DIR (default: a new directory in /tmp, kept if there is one).
set -u
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
seconds=${1:-60}
[ $# -eq 0 ] || shift
cc=${FUZZ_CC:-clang}
dir=${FUZZ_DIR:-}
TESTS_DIR=$top/tests
export TESTS_DIR

skip() { echo "1..0 # SKIP $1"; exit 0; }

command -v "$cc" >/dev/null 2>&1 || skip "$cc is not installed"
[ -n "$dir" ] || { dir=$(mktemp -d "${TMPDIR:-/tmp}/gpuhelper-fuzz.XXXXXX") && own=1; }
printf 'int LLVMFuzzerTestOneInput(const char *p, unsigned long n);\nint LLVMFuzzerTestOneInput(const char *p, unsigned long n) { return p == 0 && n; }\n' >"$dir/probe.c"
if ! "$cc" -fsanitize=fuzzer,address,undefined -o "$dir/probe" "$dir/probe.c" 2>/dev/null; then
	[ -z "${own:-}" ] || rm -rf "$dir"
	skip "$cc has no fuzzer runtime (Debian: libclang-rt-*-dev)"
fi

names=$*
if [ -z "$names" ]; then
	for f in "$here"/fuzz_*.c; do
		names="$names $(basename "$f" .c)"
	done
fi
set -- $names
echo "1..$#"
sanitizers=address,undefined
jobs=$(getconf _NPROCESSORS_ONLN)
version=$(sed -n 's/^VERSION *:= *//p' "$top/Makefile")
if ! make -s -j"$jobs" -C "$top" B="$dir" CC="$cc" SAN=fuzzer-no-link,$sanitizers CFLAGS='-O1 -g' \
    "$dir/libctl.a" "$dir/libuser.a" "$dir/libread.a" "$dir/libjudge.a" "$dir/libhost.a" "$dir/libpure.a" >"$dir/make.log" 2>&1; then
	sed 's/^/# /' "$dir/make.log"
	echo "Bail out! the rooms do not compile: see $dir/make.log"
	exit 1
fi
libs=$(pkg-config --libs libconfig jansson libudev hogweed nettle yaml-0.1)
fuzz() { # fuzz N NAME: prints its result as TAP
	if ! "$cc" -std=c11 -O1 -g -D_GNU_SOURCE "-DGPUHELPER_VERSION=\"$version\"" -I"$top/helper" -fsanitize=fuzzer,$sanitizers -fno-sanitize-recover=all \
	    -o "$dir/$2" "$here/$2.c" "$dir/libctl.a" "$dir/libuser.a" "$dir/libread.a" "$dir/libjudge.a" "$dir/libhost.a" "$dir/libpure.a" $libs -lgmp \
	    >"$dir/$2.log" 2>&1; then
		sed 's/^/# /' "$dir/$2.log"
		echo "not ok $1 - $2 compiles"
		return
	fi
	mkdir -p "$dir/corpus/$2" "$dir/found"
	status=0
	"$dir/$2" -seed=1 -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
	    -artifact_prefix="$dir/found/$2-" "$dir/corpus/$2" "$here/seeds/${2#fuzz_}" >"$dir/$2.log" 2>&1 || status=$?
	runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$dir/$2.log")
	if [ "$status" = 0 ]; then
		echo "ok $1 - $2: ${runs:-?} inputs in $seconds s, nothing found"
	else
		echo "not ok $1 - $2: after ${runs:-?} inputs, exit status $status; see $dir/found"
		tail -n 40 "$dir/$2.log" | sed 's/^/# /'
	fi
}

# one on each processor
n=0 failed=0
for name; do
	n=$((n + 1))
	fuzz "$n" "$name" >"$dir/$name.tap" &
	if [ $((n % jobs)) = 0 ]; then wait; fi
done
wait
for name; do
	cat "$dir/$name.tap"
	grep -q '^ok ' "$dir/$name.tap" || failed=1
done
[ "$failed" = 1 ] || [ -z "${own:-}" ] || rm -rf "$dir"
exit $failed
