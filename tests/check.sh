#!/bin/sh
# All tests.  sudo sh tests/check.sh [GROUP...]; the last line is «N passed, N failed, N skipped».
#   --no-deps   does not install what the tests need
#   --yes       installs it without asking on a machine in use
#   --long      also runs what takes longer than a CI run (long fuzzing, more faults, mutants)
#   --list      only prints the groups' names, one a line
# Each group is a program that prints TAP; its whole output is in build/logs/GROUP.
set -u
here=$(cd "$(dirname "$0")/.." && pwd)
cd "$here" || exit 2
deps=yes ask=--ask long=no list=no
while [ $# -gt 0 ]; do
	case $1 in
	--no-deps) deps=no; shift ;;
	--yes) ask=; shift ;;
	--long) long=yes; shift ;;
	--list) list=yes; shift ;;
	-*) echo "usage: check.sh [--no-deps|--yes|--list] [--long] [GROUP...]" >&2; exit 2 ;;
	*) break ;;
	esac
done
if [ $list = no ] && [ $# -gt 0 ]; then
	names=$(if [ $long = yes ]; then sh tests/check.sh --list --long; else sh tests/check.sh --list; fi)
	for name in "$@"; do
		printf '%s\n' "$names" | grep -qxF -e "$name" && continue
		echo "check.sh: no group \"$name\": sh tests/check.sh --list prints the names; some groups need --long" >&2
		exit 2
	done
fi
only=" $* "
[ $list = yes ] || [ "$(id -u)" = 0 ] || { echo "check.sh: must run as root (containers, a setuid bit, users)" >&2; exit 2; }
# the tests' users read what root makes here
umask 022
if [ $list = no ] && [ $((0$(stat -c %a tests/check.sh) & 4)) = 0 ]; then
	echo "check.sh: the tests' users can't read this checkout (umask 077?): chmod -R go+rX $here" >&2
	exit 2
fi
if [ $list = no ] && [ $deps = yes ]; then sh tests/deps.sh $ask check || exit 2; fi
if [ $long = yes ]; then export ATTACK_LONG=1; fi
jobs=$(nproc)
logs=$here/build/logs
mkdir -p "$logs"
passed=0 failed=0 skipped=0 summary= skips=

wanted() { # wanted NAME: whether to run this group; with --list, only prints the name
	if [ $list = yes ]; then echo "$1"; return 1; fi
	case $only in *[!\ ]*) case $only in *" $1 "*) ;; *) return 1 ;; esac ;; esac
}

run_group() { # run_group NAME COMMAND...: runs it; output, exit status and duration go into files
	at=$logs/$1 began=$(date +%s); shift
	"$@" >"$at" 2>&1
	echo "$? $(($(date +%s) - began))" >"$at.new" && mv "$at.new" "$at.end"
}

# Counts a group's TAP.  A command that fails, or prints no test, counts as one failure.
tell_group() {
	name=$1 status=1 seconds=0
	# a killed group has no such file
	[ ! -e "$logs/$name.end" ] || read -r status seconds <"$logs/$name.end"
	rm -f "$logs/$name.end"
	bad=$(grep -c '^not ok' "$logs/$name")
	skip=$(grep -c '^ok.*# SKIP' "$logs/$name")
	good=$(($(grep -c '^ok' "$logs/$name") - skip))
	if [ $((good + skip + bad)) = 0 ] || { [ "$status" != 0 ] && [ "$bad" = 0 ]; }; then
		bad=$((bad + 1))
		echo "$name: exit status $status; its last lines:"
		tail -n 25 "$logs/$name" | sed 's/^/    /'
	fi
	grep -A 12 '^not ok' "$logs/$name" | grep -v '^ok' | head -n 80
	grep '^ok.*# SKIP' "$logs/$name"
	skips=$skips$(sed -n "s/^ok[ 0-9]*- *\(.*\)# SKIP/    $name: \1/p" "$logs/$name" | cut -c 1-200)"
"
	grep -E '^# (.* points, .* leaks|.* another user.s grants? .*|.* at once: the last .*)$' "$logs/$name"
	passed=$((passed + good)) failed=$((failed + bad)) skipped=$((skipped + skip))
	line=$(printf '%-28s %5d passed %3d failed %3d skipped %5d s' "$name" "$good" "$bad" "$skip" "$seconds")
	echo "$line"
	# the virtual machine's jobs, with their durations
	times=$(sed -n 's/^# \([a-z]*: [0-9]* s\)$/    \1/p' "$logs/$name")
	summary="$summary$line
${times:+$times
}"
}

running=	# concurrent groups, as PID:NAME

# Waits until any one of them has ended, and reports it.
end_one() {
	while :; do
		for job in $running; do
			[ -e "$logs/${job#*:}.end" ] || ! kill -0 "${job%%:*}" 2>/dev/null || continue
			wait "${job%%:*}"
			running=$(echo " $running " | sed "s/ $job / /; s/^ *//; s/ *\$//")
			tell_group "${job#*:}"
			return
		done
		sleep 0.2
	done
}

# group NAME COMMAND...: runs alone; for groups that use all processors or measure time
group() {
	while [ -n "$running" ]; do end_one; done
	wanted "$1" || return 0
	run_group "$@"
	tell_group "$1"
}

start_group() {
	rm -f "$logs/$1.end"
	run_group "$@" &
	running="${running:+$running }$!:$1"
}

three_at_work() { # not counting groups that mostly wait
	n=0
	for job in $running; do
		case $waiting in *" ${job#*:} "*) ;; *) n=$((n + 1)) ;; esac
	done
	[ $n -ge 3 ]
}

# beside NAME COMMAND...: runs beside two other groups; each has its own sandbox or files, uses one processor at most, and
# waits for a part of its time
beside() {
	wanted "$1" || return 0
	while three_at_work; do end_one; done
	start_group "$@"
}

waiting=" "	# names of groups

# aside NAME COMMAND...: runs beside any other groups, because it mostly waits
aside() {
	wanted "$1" || return 0
	waiting="$waiting$1 "
	start_group "$@"
}

tap() { # tap NAME COMMAND...: one test, which passes if the command succeeds
	t=$1; shift
	if "$@"; then echo "ok - $t"; else echo "not ok - $t"; fi
}

unpack_tarball() {
	make -s dist && rm -rf build/dist && mkdir build/dist && tar -xzf build/gpuhelper-*.tar.gz -C build/dist --strip-components=1
}

build_all() {
	# -B, because make shows the warnings of an object only when it compiles it
	tap "gcc, warnings are errors" make -B -j"$jobs" WERROR=-Werror
	tap "make dist makes a tarball" unpack_tarball
	tap "which builds: clang, warnings are errors" make -C build/dist -j"$jobs" CC=clang WERROR=-Werror
	tap "gcc with address and undefined behaviour sanitizers" make -j"$jobs" SAN=address,undefined B=build/san
	tap "unit tests" make -j"$jobs" unit
	tap "unit tests with sanitizers" make -j"$jobs" SAN=address,undefined B=build/san unit
	if make SAN=address,undefined B=build/san DESTDIR="$here/build/san/root" install >/dev/null 2>&1; then
		echo "not ok - a sanitizer build is not installed"
	else
		echo "ok - a sanitizer build is not installed"
	fi
}

units() { # units DIR: runs the unit tests, one on each processor, and prints their output one after another
	out=$logs/units.$$
	mkdir -p "$out"
	find "$1/unit" -name 't_*' ! -name '*.d' | sort | TESTS_DIR=tests xargs -P "$jobs" -I '{}' sh -c '
		"$1" >"$2/${1##*/}" 2>&1 || touch "$2/failed"' - '{}' "$out"
	for t in "$out"/t_*; do
		echo "# ${t##*/}"
		cat "$t"
	done
	[ ! -e "$out/failed" ]; r=$?
	rm -rf "$out"
	return $r
}

static_analysis() {
	# gcc 12 reports memory as leaked that is stored in a structure; gcc 14 loses a descriptor in dup2(2) and in a loop;
	# cppcheck does not understand __attribute__((cleanup)), nor a variable that names its register.  The sanitizers find
	# leaks.
	lost="-Wno-analyzer-malloc-leak -Wno-analyzer-fd-leak -Wno-analyzer-fd-double-close"
	tap "gcc -fanalyzer finds nothing" sh -c "make -j$jobs B=build/analyzer CFLAGS='-O1 -fanalyzer $lost' HARDEN= FORTIFY= build/analyzer/gpuhelper build/analyzer/gpuhelper-look build/analyzer/gpuhelper-engine build/analyzer/gpuhelper-read build/analyzer/gpuhelper-judge build/analyzer/gpuhelper-judge-udev build/analyzer/gpuhelper-runc >build/logs/analyzer 2>&1 && ! grep -n 'Wanalyzer' build/logs/analyzer"
	tap "cppcheck finds nothing" cppcheck --quiet --error-exitcode=1 --std=c11 --enable=warning,portability \
	    --inline-suppr --suppress=missingIncludeSystem --suppress=memleak --suppress=resourceLeak --suppress=unknownMacro --suppress=normalCheckLevelMaxBranches \
	    -D_GNU_SOURCE -D__x86_64__ '-D__asm__(x)=' helper
}

manuals() {
	for m in helper/man/*.[1578]; do
		tap "mandoc -Tlint: ${m##*/}" sh -c "! mandoc -Tlint -W warning '$m' | grep ."
	done
	python3 tests/lib/manlook.py helper/man/*.[1578]
	tap "spelling of documents and comments" sh tests/lib/spelling.sh
	python3 tests/lib/manexamples.py build/gpuhelperctl || echo "not ok - examples and keys of the manuals"
	for f in policy.d/*.conf.example; do
		cp "$f" "build/${f##*/}.conf"
		tap "$f parses" build/gpuhelperctl check "build/${f##*/}.conf"
		rm -f "build/${f##*/}.conf"
	done
}

bench_growth() {
	tap "the benchmark's curves are measured" sh tests/bench/bench.sh growth
}

sandboxed() { # sandboxed GPU CGROUP COMMAND...
	gpu=$1 cgroup=$2; shift 2
	sh tests/lib/sandbox.sh --gpu "$gpu" --cgroup "$cgroup" -- "$@"
}

group build build_all
group packages sh tests/packages.sh
group unit units build
group unit-sanitized units build/san
group tcb sandboxed nvidia-2gpu keep sh "$here/tests/tcb.sh"
group bench-instructions sh tests/bench/bench.sh instructions
group analysis static_analysis
group arm64 sh tests/arm64.sh
beside cdi-generate sandboxed nvidia-2gpu keep sh "$here/tests/cdi_generate.sh"
beside gpuhelperctl sh tests/ctl.sh
beside install sandboxed none keep sh "$here/tests/install.sh"
beside keys sh tests/keys.sh
beside report python3 tests/report.py
beside sandbox sh tests/sandbox.sh
beside rooms sh tests/rooms.sh
beside cdi sh tests/cdi.sh
beside manuals manuals
beside docs sh tests/docs.sh
beside attack-cases python3 tests/attack/cases.py
group door sh tests/attack/socket.sh
group leases sandboxed nvidia-4gpu keep python3 "$here/tests/container/leases.py"
# a real minute passes in these
aside rotation sandboxed nvidia-2gpu keep python3 "$here/tests/container/rotation.py" runc v1
aside rotation-socket sandboxed nvidia-2gpu keep python3 "$here/tests/container/rotation.py" runc v1 socket
# a runtime sleeps for longer than half a minute
aside beside-slow sandboxed nvidia-2gpu keep python3 "$here/tests/container/beside.py" runc v1 slow
# four fifths of its time are waits for time limits
apart="t_process t_door t_stall t_cgroup t_reader t_twice"
# shellcheck disable=SC2086
aside attack-processes sandboxed nvidia-2gpu keep sh "$here/tests/attack/setuid.sh" $apart
# shellcheck disable=SC2046,SC2086
aside attack sandboxed nvidia-2gpu keep sh "$here/tests/attack/setuid.sh" $(printf '!%s ' $apart t_fault)
beside attack-faults sandboxed nvidia-2gpu keep sh "$here/tests/attack/setuid.sh" t_fault
# packages and engines of Debian 13
beside debian-13 sh tests/other.sh trixie unit in-mounts-runc-v1 in-mounts-crun-v1 builds-runc-v1 grants-runc-v1 \
    grants-crun-v1 refusals-runc-v1 podman-rootful podman-rootless containerd-v1
beside doctor sandboxed nvidia-2gpu keep python3 "$here/tests/container/doctor.py"
beside setup sandboxed nvidia-2gpu keep python3 "$here/tests/container/setup.py"
for e in containerd podman docker; do
	beside "setup-$e" sandboxed nvidia-2gpu keep python3 "$here/tests/container/setup_$e.py"
done
for e in runc docker; do
	beside "setup-image-$e" sandboxed nvidia-2gpu keep python3 "$here/tests/container/setup_image.py" $e
done
beside follow python3 tests/follow.py build/gpuhelperctl
beside health sandboxed nvidia-2gpu keep python3 "$here/tests/container/health.py"
beside drain sandboxed nvidia-2gpu keep python3 "$here/tests/container/drain.py"
beside metrics sandboxed nvidia-2gpu keep python3 "$here/tests/container/metrics.py"
beside door-choice sandboxed nvidia-2gpu keep python3 "$here/tests/container/door.py"
beside wrapper sandboxed nvidia-2gpu keep python3 "$here/tests/container/wrapper.py"
beside verbs sandboxed nvidia-2gpu keep python3 "$here/tests/container/verbs.py"
beside forged sandboxed nvidia-2gpu keep python3 "$here/tests/container/forged.py" runc v1
beside quotas sandboxed nvidia-4gpu keep python3 "$here/tests/container/quotas.py"
beside packing sandboxed nvidia-8gpu keep python3 "$here/tests/container/packing.py"
beside vetting sandboxed nvidia-2gpu keep python3 "$here/tests/container/vetting.py" runc v1
beside kept sandboxed nvidia-2gpu keep python3 "$here/tests/container/kept.py" runc v1
beside judges sandboxed nvidia-2gpu keep python3 "$here/tests/container/judges.py" runc v1
beside ahead-runc-v1 sandboxed nvidia-2gpu keep python3 "$here/tests/container/ahead.py" runc v1
beside ahead-crun-v2 sandboxed nvidia-2gpu v2 python3 "$here/tests/container/ahead.py" crun v2
beside grants-runc-v1 sandboxed nvidia-2gpu keep python3 "$here/tests/container/grants.py" runc v1
beside grants-runc-v2 sandboxed nvidia-2gpu v2 python3 "$here/tests/container/grants.py" runc v2
beside grants-crun-v1 sandboxed nvidia-2gpu v1 python3 "$here/tests/container/grants.py" crun v1
beside grants-crun-v2 sandboxed nvidia-2gpu v2 python3 "$here/tests/container/grants.py" crun v2
beside refusals-runc-v1 sandboxed nvidia-2gpu keep python3 "$here/tests/container/refusals.py" runc v1
beside refusals-runc-v2 sandboxed nvidia-2gpu v2 python3 "$here/tests/container/refusals.py" runc v2
beside refusals-crun-v1 sandboxed nvidia-2gpu v1 python3 "$here/tests/container/refusals.py" crun v1
beside refusals-crun-v2 sandboxed nvidia-2gpu v2 python3 "$here/tests/container/refusals.py" crun v2
beside privileged-runc-v1 sandboxed nvidia-2gpu keep python3 "$here/tests/container/privileged.py" runc v1
beside privileged-runc-v2 sandboxed nvidia-2gpu v2 python3 "$here/tests/container/privileged.py" runc v2
beside privileged-crun-v1 sandboxed nvidia-2gpu v1 python3 "$here/tests/container/privileged.py" crun v1
beside privileged-crun-v2 sandboxed nvidia-2gpu v2 python3 "$here/tests/container/privileged.py" crun v2
beside options-runc-v1 sandboxed nvidia-2gpu keep python3 "$here/tests/container/options.py" runc v1
beside options-runc-v2 sandboxed nvidia-2gpu v2 python3 "$here/tests/container/options.py" runc v2
beside options-crun-v1 sandboxed nvidia-2gpu v1 python3 "$here/tests/container/options.py" crun v1
beside options-crun-v2 sandboxed nvidia-2gpu v2 python3 "$here/tests/container/options.py" crun v2
beside tokens-runc-v1 sandboxed nvidia-2gpu keep python3 "$here/tests/container/tokens.py" runc v1
beside claims python3 "$here/tests/claims.py" build/gpuhelperctl
beside claims-runc-v1 sandboxed nvidia-2gpu keep python3 "$here/tests/container/claims.py" runc v1
for e in docker podman; do
	beside "ci-$e" sandboxed nvidia-2gpu keep python3 "$here/tests/container/ci.py" $e
done
beside claims-crun-v1 sandboxed nvidia-2gpu v1 python3 "$here/tests/container/claims.py" crun v1
beside tokens-crun-v1 sandboxed nvidia-2gpu v1 python3 "$here/tests/container/tokens.py" crun v1
beside rootless-runc sandboxed nvidia-2gpu keep python3 "$here/tests/container/rootless.py" runc
beside rootless-crun sandboxed nvidia-2gpu v1 python3 "$here/tests/container/rootless.py" crun
for s in socket nnp userns; do
	beside rootless-runc-$s sandboxed nvidia-2gpu keep python3 "$here/tests/container/rootless.py" runc $s
done
beside rootless-crun-userns sandboxed nvidia-2gpu v1 python3 "$here/tests/container/rootless.py" crun userns
for m in rootless rootful; do
	beside podman-$m sandboxed nvidia-2gpu keep python3 "$here/tests/container/podman.py" $m
done
beside again-runc-v1 sandboxed nvidia-2gpu keep python3 "$here/tests/container/again.py" runc v1
beside again-runc-v2 sandboxed nvidia-2gpu v2 python3 "$here/tests/container/again.py" runc v2
beside again-crun-v1 sandboxed nvidia-2gpu v1 python3 "$here/tests/container/again.py" crun v1
beside builds-runc-v1 sandboxed nvidia-2gpu keep python3 "$here/tests/container/builds.py" runc v1
beside builds-runc-v2 sandboxed nvidia-2gpu v2 python3 "$here/tests/container/builds.py" runc v2
beside builds-crun-v1 sandboxed nvidia-2gpu v1 python3 "$here/tests/container/builds.py" crun v1
beside buildah sandboxed nvidia-2gpu keep python3 "$here/tests/container/buildah.py"
beside mig sandboxed nvidia-mig keep python3 "$here/tests/container/mig.py" runc v1
beside vendor-runtime sandboxed nvidia-2gpu keep python3 "$here/tests/container/vendor.py"
for c in runc:keep:v1 crun:v1:v1; do
	r=${c%%:*} m=${c#*:}
	beside "ctkspec-$r" sandboxed nvidia-2gpu "${m%:*}" python3 "$here/tests/container/ctkspec.py" "$r" v1
	beside "driverroot-$r" sandboxed nvidia-2gpu "${m%:*}" python3 "$here/tests/container/driverroot.py" "$r" v1
done
for c in runc:keep:v1 runc:v2:v2 crun:v1:v1 crun:v2:v2; do
	r=${c%%:*} v=${c##*:} m=${c#*:}
	beside "hooks-$r-$v" sandboxed nvidia-2gpu "${m%:*}" python3 "$here/tests/container/hooks.py" "$r" "$v"
done
beside ctk-matrix sandboxed nvidia-2gpu keep python3 "$here/tests/container/ctkmatrix.py" runc v1
beside handspec sandboxed nvidia-2gpu keep python3 "$here/tests/container/handspec.py" runc v1
beside driver-runc sandboxed nvidia-2gpu keep python3 "$here/tests/container/driver.py" runc v1
beside foreignspecs sandboxed nvidia-2gpu keep python3 "$here/tests/container/foreignspecs.py" runc v1
beside driver-crun sandboxed nvidia-2gpu v1 python3 "$here/tests/container/driver.py" crun v1
beside furtherkinds sandboxed nvidia-2gpu keep python3 "$here/tests/container/furtherkinds.py" runc v1
beside allocation sandboxed nvidia-2gpu keep python3 "$here/tests/container/allocation.py"
beside folders sandboxed nvidia-2gpu keep python3 "$here/tests/container/folders.py" runc v1
for c in runc:keep:v1 runc:v2:v2 crun:v1:v1 crun:v2:v2; do
	r=${c%%:*} v=${c##*:} m=${c#*:}
	beside "in-mounts-$r-$v" sandboxed nvidia-2gpu "${m%:*}" python3 "$here/tests/container/inmounts.py" "$r" "$v"
	beside "nested-$r-$v" sandboxed nvidia-2gpu "${m%:*}" python3 "$here/tests/container/nested.py" "$r" "$v"
	beside "beside-$r-$v" sandboxed nvidia-2gpu "${m%:*}" python3 "$here/tests/container/beside.py" "$r" "$v"
	beside "where-$r-$v" sandboxed nvidia-2gpu "${m%:*}" python3 "$here/tests/container/where.py" "$r" "$v"
	beside "passed-$r-$v" sandboxed nvidia-2gpu "${m%:*}" python3 "$here/tests/container/passed.py" "$r" "$v"
	beside "passed-places-$r-$v" sandboxed nvidia-2gpu "${m%:*}" python3 "$here/tests/container/passed_places.py" "$r" "$v"
done
rounds=150
[ $long = no ] || rounds=4000
for c in runc:keep:v1 runc:v2:v2 crun:v1:v1 crun:v2:v2; do
	r=${c%%:*} v=${c##*:} m=${c#*:}
	beside "task-$r-$v" sandboxed nvidia-2gpu "${m%:*}" python3 "$here/tests/container/task.py" "$r" "$v"
	beside "end-$r-$v" sandboxed nvidia-2gpu "${m%:*}" python3 "$here/tests/container/end.py" "$r" "$v"
	beside "task-ends-$r-$v" sandboxed nvidia-2gpu "${m%:*}" python3 "$here/tests/container/taskends.py" "$r" "$v"
	beside "task-rounds-$r-$v" sandboxed nvidia-2gpu "${m%:*}" python3 "$here/tests/container/taskrounds.py" "$r" "$v" $rounds
done
beside containerd-v1 sandboxed nvidia-2gpu keep python3 "$here/tests/container/containerd.py" v1
beside containerd-v2 sandboxed nvidia-2gpu v2 python3 "$here/tests/container/containerd.py" v2
beside containerd-userns sandboxed nvidia-2gpu keep python3 "$here/tests/container/containerd_userns.py"
group vm sh tests/vm/all.sh
if [ $long = yes ]; then group bench-growth bench_growth; fi
if [ $long = yes ]; then group vm-suite sh tests/vm/vm.sh suite; fi
if [ $long = yes ]; then group mutants python3 -B tests/mutants.py; fi
group demo sh tests/demo.sh --no-deps --tap
if [ $long = yes ]; then group fuzz sh tests/fuzz/run.sh 600; else group fuzz sh tests/fuzz/run.sh 5; fi

while [ -n "$running" ]; do end_one; done
[ $list = no ] || exit 0
printf '\n%s\n' "$summary"
if [ $skipped != 0 ]; then echo "Skipped, and why:"; echo "$skips" | grep .; echo; fi
if [ $skipped = 0 ]; then echo "$passed passed, $failed failed"; else echo "$passed passed, $failed failed, $skipped skipped"; fi
# a machine that lacks what a group needs is no failure; a name of no group is one
[ $failed = 0 ] && [ $((passed + skipped)) -gt 0 ]
