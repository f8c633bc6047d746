#!/bin/sh
# Runs a command on a host of its own: private mounts and processes; /etc /usr /var /opt /srv /home /root as overlays
# on the machine's, whose changes are lost afterwards; a fresh /run and /dev; gpuhelper installed from build/.
#
#   sandbox.sh [--gpu FIXTURE|host|none] [--cgroup keep|v1|v2] [--build DIR | --kit DIR | --bare] -- COMMAND...
#
# --gpu FIXTURE SIMULATES an NVIDIA host: it mounts the proc/ tree of tests/fixtures/sysroot/FIXTURE over /proc/driver and
#   /proc/devices, and makes nodes in /dev whose numbers have no driver (opening a granted node gives ENXIO, another one
#   EPERM).  Only mounts are simulated, so the installed programs cannot tell.
# --gpu host adds the nodes of the machine's own GPUs.
# --cgroup v1 hides the hybrid cgroup2 mount, as crun 1.8 requires; v2 shows only cgroup2.
# --kit installs from a directory of binaries (from tests/gpu/kit.sh), on a machine without build tools.
# --bare installs nothing, and makes no users.
#
# Several sandboxes may run at once.  They share the machine's network and its uids, so each sandbox has its own range
# of uids, and SANDBOX_ID is part of every name that others could meet; it names the process that ends last.  Each
# sandbox has its own cgroups beneath one of that name, and sees them as the tops of the hierarchies
# (cgroup_namespaces(7)).  A sandbox that was killed leaves its cgroups behind; the next sandbox removes them.
set -eu
# the tests' users read what this makes
umask 022
here=$(cd "$(dirname "$0")/../.." && pwd)
gpu=none cgroup=keep build=$here/build kit= bare=
while [ $# -gt 0 ]; do
	case $1 in
	--gpu) gpu=$2; shift 2 ;;
	--cgroup) cgroup=$2; shift 2 ;;
	--build) build=$2; shift 2 ;;
	--kit) kit=$2; shift 2 ;;
	--bare) bare=--bare; shift ;;
	--) shift; break ;;
	*) break ;;
	esac
done
[ "$(id -u)" = 0 ] || { echo "sandbox.sh: must run as root" >&2; exit 2; }
# in a chroot, / may be a directory of another mount; the kernel then lets nobody make its mounts private
if [ -z "${SANDBOX_STAGE:-}" ] && ! awk '$5 == "/" { found = 1 } END { exit !found }' /proc/self/mountinfo 2>/dev/null; then
	echo "sandbox.sh: / is no mount point, or /proc is not mounted (a chroot?): mount --bind DIR DIR, mount -t proc proc DIR/proc," \
	    "and chroot DIR again" >&2
	exit 2
fi
# files mounted over /proc need the label of the files beneath
context=
[ ! -e /sys/fs/selinux/enforce ] || context=,context=system_u:object_r:proc_t:s0

# Names this PID namespace: namespaces of one machine may share its cgroups, and use the same PIDs.
namespace=n$(readlink /proc/self/ns/pid | tr -dc 0-9)
# sandbox_id PID: an id made of the PID, the process's start time and the PID namespace
sandbox_id() {
	start=$(sed 's/.*) //' "/proc/$1/stat" 2>/dev/null | cut -d ' ' -f 20)
	echo "ghtest$1x$start$namespace"
}
# clean_cgroups: removes cgroups of sandboxes whose process is gone.  A frozen process could not die, so it is thawed first.
clean_cgroups() {
	find /sys/fs/cgroup -depth -type d -name "*ghtest[0-9]*$namespace*" 2>/dev/null | while IFS= read -r d; do
		id=$(printf '%s\n' "${d##*/}" | sed -n 's/.*\(ghtest[0-9]*x[0-9]*n[0-9]*\).*/\1/p') pid=${id#ghtest}
		if [ -z "$id" ] || [ "$(sandbox_id "${pid%%x*}")" = "$id" ]; then continue; fi
		find "$d" -name cgroup.freeze -exec sh -c 'echo 0 >"$1"' - {} \; -o \
		    -name freezer.state -exec sh -c 'echo THAWED >"$1"' - {} \; 2>/dev/null || :
		for i in 1 2 3 4 5; do
			if [ ! -d "$d" ]; then break; fi
			if [ $i != 1 ]; then sleep 0.2; fi
			find "$d" -depth -type d -exec rmdir {} \; 2>/dev/null || :
		done
	done
}

# enter_cgroups: enters a cgroup of the sandbox's own in each hierarchy, if v1 or both versions are mounted.  With v2 alone,
# a namespace's top cannot have both processes and controllers, so the sandbox stays in the machine's cgroup.
enter_cgroups() {
	for d in /sys/fs/cgroup/*/; do
		[ -e "${d}cgroup.procs" ] && [ ! -L "${d%/}" ] || continue
		mkdir "$d$SANDBOX_ID"
		# v1's cpuset accepts no process before its cpus and mems are set
		for f in cpuset.cpus cpuset.mems; do
			[ ! -e "$d$f" ] || cat "$d$f" > "$d$SANDBOX_ID/$f"
		done
		echo $$ > "$d$SANDBOX_ID/cgroup.procs"
	done
}

if [ "${SANDBOX_STAGE:-}" != 2 ]; then
	clean_cgroups
	SANDBOX_ID=$(sandbox_id $$)
	export SANDBOX_ID
	if [ "$(stat -fc %T /sys/fs/cgroup)" != cgroup2fs ]; then enter_cgroups; fi
	SANDBOX_STAGE=2 exec unshare --mount --pid --ipc --cgroup --fork --kill-child --mount-proc -- sh "$0" \
	    --gpu "$gpu" --cgroup "$cgroup" --build "$build" --kit "$kit" $bare -- "$@"
fi
unset SANDBOX_STAGE

mount --make-rprivate /
work=/tmp/.gpuhelper-sandbox.$$
mkdir -p "$work"
mount -t tmpfs -o mode=755 sandbox "$work"
mkdir "$work/project"
mount --bind "$here" "$work/project"
for d in etc usr var opt srv home root; do
	[ -d "/$d" ] || continue
	mkdir -p "$work/up/$d" "$work/wk/$d"
	chown --reference="/$d" "$work/up/$d"
	chmod --reference="/$d" "$work/up/$d"
	mkdir -p "$work/orig/$d"
	mount --rbind "/$d" "$work/orig/$d"
	mount -t overlay -o "lowerdir=/$d,upperdir=$work/up/$d,workdir=$work/wk/$d" overlay "/$d"
	# The overlay's lower layer lacks what is mounted there (a driver's directory, for example).
	awk -v d="$work/orig/$d/" 'index($5, d) == 1 { print substr($5, length(d) + 1) }' /proc/self/mountinfo |
	while read -r m; do
		[ ! -e "/$d/$m" ] || mount --bind "$work/orig/$d/$m" "/$d/$m"
	done
done
# The project is the machine's own, and the tests' users reach it, whatever the directories above it let them do.
closed=
d=$(dirname "$here")
while [ "$d" != / ]; do
	case $(stat -c %a "$d"):$d/ in
	*[1357]:*) ;;
	*:/etc/* | *:/usr/* | *:/var/* | *:/opt/* | *:/srv/* | *:/home/* | *:/root/*) chmod o+x "$d" ;;
	*) closed=$d ;;
	esac
	d=$(dirname "$d")
done
if [ -n "$closed" ]; then
	mount -t tmpfs -o mode=755 closed "$closed"
	mkdir -p "$here"
fi
mount --bind "$work/project" "$here"
mount -t tmpfs -o mode=755 run /run
mkdir -p /run/lock

# /dev has only the usual nodes, with the machine's numbers.
mkdir "$work/dev"
mount -t tmpfs -o mode=755 dev "$work/dev"
for n in null:1:3:666 zero:1:5:666 full:1:7:666 random:1:8:666 urandom:1:9:666 tty:5:0:666 kmsg:1:11:644 fuse:10:229:666; do
	IFS=: read -r name major minor mode <<-EOF
	$n
	EOF
	mknod -m "$mode" "$work/dev/$name" c "$major" "$minor"
done
mkdir "$work/dev/pts" "$work/dev/shm" "$work/dev/mqueue"
mount -t devpts -o newinstance,ptmxmode=0666,mode=620,gid=5 devpts "$work/dev/pts"
mount -t tmpfs -o mode=1777 shm "$work/dev/shm"
ln -s pts/ptmx "$work/dev/ptmx"
ln -s /proc/self/fd "$work/dev/fd"
ln -s fd/0 "$work/dev/stdin"; ln -s fd/1 "$work/dev/stdout"; ln -s fd/2 "$work/dev/stderr"

if [ "$gpu" = host ]; then
	for n in /dev/nvidia* /dev/dri /dev/kfd /dev/accel; do
		[ ! -e "$n" ] || cp -a "$n" "$work/dev/"
	done
elif [ "$gpu" != none ]; then
	tree=$here/tests/fixtures/sysroot/$gpu
	[ -d "$tree/proc" ] || { echo "sandbox.sh: no fixture $gpu" >&2; exit 2; }
	# The kernel lets a user namespace mount /proc only if it sees a /proc that nothing covers; the same with /sys.
	mkdir "$work/proc"
	mount -t proc proc "$work/proc"
	mount -t tmpfs -o "mode=755$context" driver /proc/driver
	[ ! -d "$tree/proc/driver" ] || cp -R "$tree/proc/driver/." /proc/driver/
	mkdir "$work/simulated"
	mount -t tmpfs -o "mode=755$context" simulated "$work/simulated"
	cp "$tree/proc/devices" "$work/simulated/devices"
	mount --bind "$work/simulated/devices" /proc/devices
	# for the machine's own GPUs, gpuhelper would start gpuhelper-judge-udev
	mkdir "$work/sys"
	mount -t sysfs sysfs "$work/sys"
	for d in /sys/class/drm /sys/class/accel; do
		[ ! -d $d ] || mount -t tmpfs -o "mode=755$context" none $d
	done
	major() { awk -v n="$1" '/^Block/ { exit } $2 == n { print $1; exit }' /proc/devices; }
	node() { mknod -m "${4:-666}" "$work/dev/$1" c "$2" "$3"; }
	nv=$(major nvidia)
	if [ -n "$nv" ]; then
		for f in /proc/driver/nvidia/gpus/*/information; do
			m=$(sed -n 's/^Device Minor:[^0-9]*//p' "$f")
			[ -z "$m" ] || node "nvidia$m" "$nv" "$m"
		done
		node nvidiactl "$nv" 255
		[ -z "$(major nvidia-modeset)" ] || node nvidia-modeset "$nv" 254
		uvm=$(major nvidia-uvm)
		caps=$(major nvidia-caps)
		[ -z "$caps" ] || mkdir -p "$work/dev/nvidia-caps"
		for f in $(find /proc/driver/nvidia/capabilities -name access 2>/dev/null); do
			m=$(sed -n 's/^DeviceFileMinor:[^0-9]*//p' "$f")
			node "nvidia-caps/nvidia-cap$m" "$caps" "$m" 444
		done
		[ -z "$uvm" ] || { node nvidia-uvm "$uvm" 0; node nvidia-uvm-tools "$uvm" 1; }
	fi
fi
mount --move "$work/dev" /dev

if [ "$(stat -fc %T /sys/fs/cgroup)" != cgroup2fs ]; then
	awk '$5 ~ "^/sys/fs/cgroup/" { print $5 }' /proc/self/mountinfo | while IFS= read -r m; do
		of=$(awk -v m="$m" '$5 == m { sub(/.* - /, ""); print $1; exit }' /proc/self/mountinfo)
		options=$(awk -v m="$m" '$5 == m { sub(/.* - /, ""); sub(/^rw,?/, "", $3); print $3; exit }' /proc/self/mountinfo)
		umount "$m"
		mount -t "$of" -o "${options:-rw}" "$of" "$m"
	done
fi
case $cgroup in
v1)	umount /sys/fs/cgroup/unified 2>/dev/null || true ;;
v2)	if [ "$(stat -fc %T /sys/fs/cgroup)" != cgroup2fs ]; then
		mount -t cgroup2 cgroup2 /sys/fs/cgroup
	fi ;;
esac

# RLIMIT_NPROC counts a user's processes by uid, so each sandbox has its own uids.
first=${SANDBOX_ID#ghtest}
first=$((20000 + ${first%x*} * 16 % 38992))
[ ! -e /etc/login.defs ] || sed -i "s/^\([UG]ID_MIN\).*/\1 $first/" /etc/login.defs

[ -n "$bare" ] || sh "$here/helper/users.sh" >/dev/null
if [ -n "$bare" ]; then
	:
elif [ -z "$kit" ]; then
	make -s -C "$here" B="$build" install >/dev/null
else
	mkdir -p /usr/libexec/gpuhelper /etc/gpuhelper/policy.d /etc/gpuhelper/keys /run/gpuhelper /var/log/gpuhelper /usr/lib/gpuhelper-kit
	chmod 755 /usr/libexec/gpuhelper /etc/gpuhelper /usr/lib/gpuhelper-kit
	chmod 711 /etc/gpuhelper/policy.d /etc/gpuhelper/keys
	chmod 750 /var/log/gpuhelper
	install -m 755 "$kit/gpuhelper-runc" /usr/bin/gpuhelper-runc
	install -m 755 "$kit/gpuhelperctl" /usr/sbin/gpuhelperctl
	install -m 711 "$kit/gpuhelper-look" "$kit/gpuhelper-engine" "$kit/gpuhelper-read" "$kit/gpuhelper-judge" "$kit/gpuhelper-judge-udev" "$kit/gpuhelper-label" /usr/libexec/gpuhelper/
	install -m 755 "$kit/gpuhelper-wait" /usr/libexec/gpuhelper/
	install -m 4750 -g gpuhelper "$kit/gpuhelper" /usr/libexec/gpuhelper/gpuhelper
	command -v runc >/dev/null || install -m 755 "$kit/runc" /usr/sbin/runc
	[ -x /bin/busybox ] || install -m 755 "$kit/busybox" /bin/busybox
	# libraries that the machine lacks go where the loader finds them for a setuid program, too
	for l in "$kit"/lib/*.so*; do
		[ -e "$l" ] || continue
		ldconfig -p | grep -q "${l##*/} " || cp "$l" /usr/lib/gpuhelper-kit/
	done
	echo /usr/lib/gpuhelper-kit > /etc/ld.so.conf.d/gpuhelper-kit.conf
	ldconfig
fi
[ -z "$context" ] || restorecon -RF /run /dev /etc /srv /usr/libexec/gpuhelper /var/lib/gpuhelper /var/log/gpuhelper 2>/dev/null || :
cd /
set +e
"$@"
status=$?
set -e
exit $status
