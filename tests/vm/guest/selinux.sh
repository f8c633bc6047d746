# For jobs with SELinux enforcing: reads the log of denials, and runs containers that report what they may do.
# Sourced after job.sh.

# the kernel's rate limit would drop most denials
echo 0 >/proc/sys/kernel/printk_ratelimit

# the denials so far (or since the last «forget»), one line each
denied() { dmesg | grep 'avc:  denied' | tail -n "+$((seen + 1))"; }
forget() { seen=$(dmesg | grep -c 'avc:  denied'); }
seen=0
# avc PATTERN...: a denial since then whose line matches all patterns
avc() {
	i=0
	while [ $i -lt 20 ]; do
		denied >"$T/out"
		for p in "$@"; do grep -e "$p" "$T/out" >"$T/some"; mv "$T/some" "$T/out"; done
		[ ! -s "$T/out" ] || return 0
		sleep 0.1
		i=$((i + 1))
	done
	denied >"$T/out"
	return 1
}
# no denial of the helper itself since the boot
clean() { dmesg | grep 'avc:  denied' | grep -e 'scontext=[^ ]*:gpuhelper_t:' -e 'scontext=[^ ]*:gpuhelper_label_t:' -e 'scontext=[^ ]*:gpuhelper_read_t:' -e 'scontext=[^ ]*:gpuhelper_judge_t:' | grep -v -e 'comm="tries' -e 'comm="drm"' >"$T/out"; ! [ -s "$T/out" ]; }
label() { stat -c %C "$1"; }

# settings [RUNTIME]: runc, or crun, which is faster under emulation
settings() {
	runtime=${1:-runc}
	cat >/etc/gpuhelper/gpuhelper.conf <<-END
	privileged = "hide-gpus";
	runtime = "$(command -v "$runtime")";
	volumes = [ "/var/lib/containers/vol" ];
	unenforced = "allow";
	END
}

# a container's root filesystem, labelled for containers as engines do
r=/var/lib/containers/vol/rootfs
mkdir -p $r/bin $r/proc $r/dev $r/sys $r/srv/open $r/srv/shut $r/tmp $r/out
cp /job/busybox $r/bin/
for a in sh cat ls sleep touch stat; do ln -s busybox $r/bin/$a; done
# output goes to a file, because SELinux lets a container write to no pipe of the shell's
mkdir -p /var/lib/containers/ct /var/lib/containers/vol/out
chmod 777 /var/lib/containers/vol/out
restorecon -RF /var/lib/containers
chcon -R system_u:object_r:container_file_t:s0 /var/lib/containers/vol
# the kernel lets a user namespace mount /proc only if it sees a /proc that nothing covers
mkdir /run/proc
mount -t proc proc /run/proc

# config ID UID ENV PROCESS LINUX MOUNTS SCRIPT: writes a config.json.  UID: the host's uid of the container's root (0: no user
# namespace); ENV: environment, as JSON strings; PROCESS, LINUX, MOUNTS: further members.  Kernel file systems are mounted as by Concourse.
config() {
	dir=/var/lib/containers/ct/$1
	mkdir -p "$dir"
	ns='{"type":"mount"},{"type":"pid"},{"type":"ipc"},{"type":"uts"},{"type":"network"},{"type":"cgroup"}' map=
	# an engine that labels must write «cgroup»: runtimes cannot label cgroup2
	case $5 in *mountLabel*) cgroup=cgroup ;; *) cgroup=cgroup2 ;; esac
	if [ "$2" != 0 ]; then
		ns="$ns,{\"type\":\"user\"}"
		map="\"uidMappings\":[{\"containerID\":0,\"hostID\":$2,\"size\":1}],\"gidMappings\":[{\"containerID\":0,\"hostID\":$2,\"size\":1}],"
	fi
	cat >"$dir/config.json" <<-END
	{"ociVersion":"1.0.2","root":{"path":"$r"},"hostname":"h",
	"process":{"terminal":false,"user":{"uid":0,"gid":0},"cwd":"/","args":["/bin/sh","-c","exec >>/out/$1 2>&1; $7"],$4
	 "env":["PATH=/bin"${3:+,$3}],"noNewPrivileges":true},
	"mounts":[{"destination":"/proc","type":"proc","source":"proc"},
	 {"destination":"/dev","type":"tmpfs","source":"tmpfs","options":["nosuid","mode=755","size=65536k"]},
	 {"destination":"/dev/pts","type":"devpts","source":"devpts","options":["nosuid","noexec","newinstance","mode=0620"]},
	 {"destination":"/dev/shm","type":"tmpfs","source":"shm","options":["nosuid","noexec","nodev","mode=1777"]},
	 {"destination":"/dev/mqueue","type":"mqueue","source":"mqueue","options":["nosuid","noexec","nodev"]},
	 {"destination":"/sys","type":"sysfs","source":"sysfs","options":["nosuid","noexec","nodev","ro"]},
	 {"destination":"/sys/fs/cgroup","type":"$cgroup","source":"cgroup2","options":["ro","nosuid","noexec","nodev"]},
	 {"destination":"/out","type":"bind","source":"$OUT","options":["bind","rw"]}$6],
	"linux":{$map"namespaces":[$ns],$5"resources":{"devices":[{"allow":false,"access":"rwm"}]}}}
	END
}
# prints what a container sees and may do, a line each
PROBE=$(tr '\n' ' ' <<'END'
read l </proc/self/attr/current; echo label=$l;
for n in nvidia0 nvidia1 nvidiactl nvidia-uvm; do
case $( (: </dev/$n) 2>&1 ) in *such*file*|*nonexistent*) ;; *such*device*) echo $n=may;; *denied*) echo $n=denied;; *permitted*) echo $n=cgroup;;
*) echo $n=other;; esac; done
END
)
# run ID [PROGRAM]: runs it with the wrapper, or with another program; all output goes to $OUT/ID
OUT=/var/lib/containers/vol/out
prepare() {
	rm -f "$OUT/$1"
	cp "/var/lib/containers/ct/$1/config.json" "$T/$1.json"
}
ran() { # adds the runtime's messages to the output, and restores the bundle
	cat "$T/$1.said" >>"$OUT/$1"
	cp "$T/$1.json" "/var/lib/containers/ct/$1/config.json"
}
run() {
	prepare "$1"
	(cd "/var/lib/containers/ct/$1" && "${2:-/usr/bin/gpuhelper-runc}" --root /run/ct run "$1" </dev/null) >"$T/$1.said" 2>&1
	st=$?
	ran "$1"
	return $st
}
# create ID: for refusals that «run» would hide: it refuses for another reason, a folder inside one that a policy gives for writing
create() {
	prepare "$1"
	(cd "/var/lib/containers/ct/$1" && gpuhelper-runc --root /run/ct create "$1" </dev/null) >"$T/$1.said" 2>&1
	st=$?
	ran "$1"
	return $st
}
# says ID LINE...: the container's output matches these patterns
says() {
	id=$1; shift
	for p in "$@"; do grep -qx -e "$p" "$OUT/$id" || { { cat "$OUT/$id"; denied | grep -v -e module_request -e /tmp/ -e pipe:; } >"$T/out"; return 1; }; done
}
# start ID: runs it in the background until it prints «ready»
start() {
	prepare "$1"
	(cd "/var/lib/containers/ct/$1" && exec "${2:-/usr/bin/gpuhelper-runc}" --root /run/ct run "$1" </dev/null >"$T/$1.said" 2>&1) &
	eval "pid_$1=$!"
	i=0
	until grep -q ready "$OUT/$1" 2>/dev/null; do
		i=$((i + 1))
		if [ $i -ge 300 ] || ! kill -0 $! 2>/dev/null; then ran "$1"; cp "$OUT/$1" "$T/out"; return 1; fi
		sleep 0.1
	done
}
stop() { "$runtime" --root /run/ct kill "$1" KILL 2>"$T/err" && eval "wait \$pid_$1"; }
NVIDIA='system_u:system_r:nvidia_container_t:s0:c[0-9]*,c[0-9]*'
