#!/bin/sh
# Boots a virtual machine (image.sh) with the programs of build/ installed, runs tests/vm/jobs/JOB.sh there as root, and
# prints the job's TAP.  The exit status is the job's.
#
#	vm.sh JOB
#
# The machine is emulated (needs no /dev/kvm), has no network, and its disk forgets changes.  The programs come with
# the initrd: they are there when systemd starts, as a package's files would be, and a change of ours needs no new
# image.  A machine that does not boot, or a job that does not end, is a failure; SKIP means only that the emulator or
# the image is missing.  The console and the journal are in build/logs/console-JOB.
#
# Comments in a job configure its machine:
#	# vm: ARGS		arguments for qemu
#	# files: PATH...	files of tests/ to put beneath /job
#	# programs: FILE.c...	programs of tests/ to compile for it
#	# linked: FILE.c...	the same, linked with the libraries of build/
#	# packages: NAME...	further packages, on a disk of its own
#	# selinux: enforcing	SELinux enforces from boot, with this project's policy modules as «make install-selinux» installs
#				them (linked here, because under emulation that takes a minute), and with their labels
set -eu
umask 022
here=$(cd "$(dirname "$0")/../.." && pwd)
build=${BUILD:-$here/build}
name=${1:?usage: vm.sh JOB}
job=$here/tests/vm/jobs/$name.sh
limit=${VM_LIMIT:-600}	# seconds for everything; a job takes one minute if it has the processors for itself

skip() { echo "ok 1 - vm: $name # SKIP $*"; echo "1..1"; exit 0; }
command -v qemu-system-x86_64 >/dev/null || skip "there is no qemu-system-x86_64: sh tests/deps.sh check"

t=$(mktemp -d)
trap 'rm -rf "$t"' EXIT
trap 'exit 129' HUP INT TERM
p=$t/cpio/payload
make -s -C "$here" B="$build" DESTDIR="$p" install >&2
# shellcheck disable=SC2046
image=$(sh "$here/tests/vm/image.sh" $(sed -n 's/^# packages: //p' "$job") 2>"$t/why") || {
	status=$?
	[ $status != 3 ] || skip "no image: $(tail -n 1 "$t/why")"
	cat "$t/why" >&2
	exit 1
}

mkdir -p "$p/job" "$p/etc/systemd/system"
cp "$here/tests/vm/guest/job.service" "$p/etc/systemd/system/"
install -m 755 "$here/tests/vm/guest/start" "$p/job/start"
install -m 755 "$job" "$p/job/run"
sed -n 's/^#define LEASE_VERSION \([0-9]*\).*/\1/p' "$here/helper/lease/leasefile.h" >"$p/job/lease_version"
cp "$here/tests/lib/tap.sh" "$here/tests/vm/guest/job.sh" "$here/tests/vm/guest/selinux.sh" "$p/job/"
cp "$(command -v busybox)" "$p/job/"	# for containers
# a stand-in for a container's runtime
${CC:-cc} -O1 -static -D_GNU_SOURCE -o "$p/job/hold" "$here/tests/container/hold.c"
for f in $(sed -n 's/^# programs: //p' "$job"); do
	${CC:-cc} -O1 -static -D_GNU_SOURCE -o "$p/job/$(basename "$f" .c)" "$here/tests/$f"
done
for f in $(sed -n 's/^# linked: //p' "$job"); do
	# shellcheck disable=SC2046
	${CC:-cc} -O1 -D_GNU_SOURCE -I"$here/helper" -o "$p/job/$(basename "$f" .c)" "$here/tests/$f" "$build/libhost.a" "$build/libpure.a" \
	    $(pkg-config --libs libudev libconfig jansson libselinux nettle hogweed yaml-0.1)
done
for f in $(sed -n 's/^# files: //p' "$job"); do cp -R "$here/tests/$f" "$p/job/"; done
install -m 755 "$here/tests/vm/guest/init" "$t/cpio/init"

selinux=$(sed -n 's/^# selinux: //p' "$job")
# the emulator translates a program once, if the kernel always loads the program at one address: a third less time
append=norandmaps
if [ -n "$selinux" ]; then
	append="$append security=selinux selinux=1 enforcing=1 log_buf_len=4M"
	policy=$(sh "$here/tests/vm/policy.sh" "$image") || exit 1
	mkdir -p "$p/etc/selinux" "$t/cpio/bin"
	cp -a "$policy/etc/selinux/." "$p/etc/selinux/"
	"$image/label" "$policy/etc/selinux/default/contexts/files/file_contexts" "$p" |
	    sed 's|^\(/job[^ ]*\) .*|\1 system_u:object_r:bin_t:s0|' >"$t/cpio/labels"
	${CC:-cc} -O1 -static -D_GNU_SOURCE -o "$t/cpio/bin/setlabels" "$here/tests/vm/guest/setlabels.c"
fi
(cd "$t/cpio" && find . | cpio --quiet -o -H newc -R 0:0) >"$t/payload"
cat "$image/initrd" "$t/payload" >"$t/initrd"

mkdir -p "$build/logs"
console=$build/logs/console-$name
rm -f "$console"
: >"$t/tap"
# shellcheck disable=SC2046
timeout --foreground -k 5 "$limit" qemu-system-x86_64 -machine q35 -accel tcg,thread=multi -cpu qemu64 -smp "${VM_CPUS:-2}" -m 768 \
    -nodefaults -no-user-config -display none -no-reboot \
    -serial "file:$console" -serial "file:$t/tap" -serial "file:$t/status" \
    -kernel "$image/vmlinuz" -initrd "$t/initrd" \
    -append "console=ttyS0 quiet panic=-1 systemd.unit=job.service systemd.show_status=auto systemd.log_color=no rw $append" \
    -drive "if=none,id=disk,file=$image/root.ext4,format=raw,snapshot=on,cache=unsafe" -device nvme,serial=root,drive=disk \
    $(sed -n 's/^# vm: //p' "$job") </dev/null >&2 || echo "# qemu ended with $?"
cat "$t/tap"
status=$(sed -n 's/^exit \([0-9]*\)$/\1/p' "$t/status" 2>/dev/null || :)
if [ -z "$status" ]; then
	echo "not ok - vm: $name: the machine booted and the job reached its end (within $limit s)"
	tail -n 40 "$console" | tr -d '\r' | sed 's/^/# /'
	exit 1
fi
if [ "$status" != 0 ] && ! grep -q '^not ok ' "$t/tap"; then
	echo "not ok - vm: $name: the job has said what made it end with $status"
	grep 'start\[' "$console" | tail -n 20 | tr -d '\r' | sed 's/^/# /'
	exit 1
fi
if [ "$status" = 0 ] && ! tail -n 1 "$t/tap" | grep -qx "1\.\.$(grep -c -e '^ok ' -e '^not ok ' "$t/tap")"; then
	echo "not ok - vm: $name: the job has said all that it meant to"
	exit 1
fi
exit "$status"
