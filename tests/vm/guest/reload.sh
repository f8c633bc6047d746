# «systemctl daemon-reload» under a container whose cgroup systemd made (runc --systemd-cgroup).  The container keeps
# its GPU; it loses the GPU if the node's link in /dev/char, through which systemd would know the node, is missing.  A
# part of jobs/door.sh: uses its simulated GPUs and its socket, so the grant also stays within what the unit allows
# the service.  The GPUs' numbers have no driver: opening an allowed node gives ENXIO, a denied one EPERM.

mkdir -p "$T/rootfs/bin" "$T/rootfs/dev" "$T/rootfs/proc"
cp /job/busybox "$T/rootfs/bin/sh"
cp /etc/gpuhelper/gpuhelper.conf "$T/conf"
printf '%s\n' "runtime = \"$(command -v runc)\";" "volumes = [ \"$T\" ];" 'privileged = "hide-gpus";' >/etc/gpuhelper/gpuhelper.conf

start() { # start ID: in a cgroup of systemd's
	mkdir -p "$T/$1"
	cat >"$T/$1/config.json" <<-END
	{"ociVersion": "1.0.2", "root": {"path": "$T/rootfs"},
	 "mounts": [{"destination": "/proc", "type": "proc", "source": "proc"},
	  {"destination": "/dev", "type": "tmpfs", "source": "tmpfs", "options": ["nosuid", "mode=755"]}],
	 "process": {"terminal": false, "user": {"uid": 0, "gid": 0}, "args": ["/bin/sh", "-c", "while :; do sleep 1000; done"],
	  "cwd": "/", "env": ["PATH=/bin", "GPUHELPER_GPUS=1"]},
	 "linux": {"cgroupsPath": "system.slice:gpu:$1", "namespaces": [{"type": "mount"}, {"type": "pid"}],
	  "resources": {"devices": [{"allow": false, "access": "rwm"}]}}}
	END
	(cd "$T/$1" && gpuhelper-runc --systemd-cgroup --root /run/ct run -d "$1" </dev/null) >"$T/out" 2>"$T/err"
}
stop() { gpuhelper-runc --systemd-cgroup --root /run/ct delete --force "$1" >"$T/out" 2>"$T/err"; }
in_ct() { id=$1; shift; runc --systemd-cgroup --root /run/ct exec "$id" /bin/sh -c "$*" >"$T/out" 2>&1; }
nodes="nvidia0 nvidiactl nvidia-uvm"
try() { in_ct "$1" "for d in $nodes; do (: <>/dev/\$d); done"; }
may() { try "$1"; [ "$(grep -c 'No such device' "$T/out")" = 3 ]; }
may_not() { try "$1"; [ "$(grep -c 'not permitted' "$T/out")" = 3 ]; }
in_scope() { in_ct "$1" "while read l; do echo \$l; done </proc/self/cgroup"; grep -q "/system.slice/gpu-$1.scope" "$T/out"; }
links() { is "$(for l in /dev/char/195:* /dev/char/510:*; do echo "${l##*/} $(readlink "$l")"; done 2>&1 | tr '\n' ,)" "$1"; }

t "at first there are no links to NVIDIA's nodes" links "195:* ,510:* ,"
# a service of systemd 257 that is starting has the host's root mounted for over a second on this emulated machine, and
# «run» refuses meanwhile
t "a container with a grant, in systemd's cgroups" soon start reload
t "its cgroup is a scope of systemd's" in_scope reload
t "the grant has made the links of its nodes, and no others" links "195:0 ../nvidia0,195:255 ../nvidiactl,510:0 ../nvidia-uvm,"
t "its nodes open" may reload
t "systemctl daemon-reload" systemctl daemon-reload
t "its nodes still open" may reload
t "the container ends" stop reload
rm -f /dev/char/195:* /dev/char/510:*

# one of the reasons for which a link cannot be made
mount -t tmpfs -o ro char /dev/char
t "control: a grant where no links can be made" start control
t "control: its nodes open" may control
t "control: systemctl daemon-reload" systemctl daemon-reload
if systemd_blunders; then
	skip "control: its nodes no longer open" "this systemd keeps the old device rules if the kernel refuses the new ones"
else
	t "control: its nodes no longer open" may_not control
fi
t "control: the container ends" stop control
umount /dev/char

# the example file, with a module that this kernel has in place of the driver's
sed 's/KERNEL=="nvidia|[a-z_]*"/KERNEL=="overlay"/; s/KERNEL=="nvidia_uvm|[a-z_]*"/KERNEL=="overlay"/' /usr/share/doc/gpuhelper/71-gpuhelper-links.rules.example \
    >/etc/udev/rules.d/71-gpuhelper-links.rules
udevadm control --reload
modprobe overlay
linked() { is "$(for l in 195:0 195:31 195:254 195:255 510:0 510:1; do readlink "/dev/char/$l"; done | tr '\n' ,)" \
    ../nvidia0,../nvidia31,../nvidia-modeset,../nvidiactl,../nvidia-uvm,../nvidia-uvm-tools,; }
t "the example rules make links when the driver is loaded" soon linked
complaints() { journalctl --sync; ! journalctl --boot --no-pager -o cat -u systemd-udevd -p warning | grep links.rules >"$T/out"; }
t "udevd has no complaint about the example" complaints
warnings() { gpuhelperctl doctor >"$T/out" 2>&1; grep -c "^warn links:" "$T/out"; }
t "gpuhelperctl doctor finds the links" is "$(warnings)" 0
rm /dev/char/195:0
t "gpuhelperctl doctor reports a missing link" is "$(warnings)" 1
rm -f /etc/udev/rules.d/71-gpuhelper-links.rules /dev/char/195:* /dev/char/510:*
cp "$T/conf" /etc/gpuhelper/gpuhelper.conf
