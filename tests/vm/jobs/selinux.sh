#!/bin/sh
# SELinux enforcing from boot, Debian's policy, the modules of selinux/: containers with GPUs, and the helper itself.
# selinux: enforcing
# vm: -device virtio-gpu-pci
# files: fixtures/sysroot/nvidia-2gpu fixtures/jwt
# programs: vm/guest/tries.c vm/guest/record.c attack/faultat.c container/placeholder.c
# linked: vm/guest/drm.c
#
# Real: kernel, policy, systemd, udevd, runc, crun, a DRM device.  Simulated: NVIDIA's GPUs, as in tests/lib/sandbox.sh.
# No driver answers for their numbers, so a node that may be used opens as ENXIO, and one that SELinux denies as EACCES.
set -u
. /job/job.sh
. /job/selinux.sh

t "SELinux enforces" is "$(getenforce)" Enforcing
t "SELinux enforces since the boot" grep -q 'security=selinux selinux=1 enforcing=1' /proc/cmdline
for f in /usr/libexec/gpuhelper/gpuhelper=gpuhelper_exec_t /usr/libexec/gpuhelper/gpuhelper-label=gpuhelper_label_exec_t /usr/libexec/gpuhelper/gpuhelper-look=gpuhelper_look_exec_t /usr/libexec/gpuhelper/gpuhelper-engine=gpuhelper_engine_exec_t /usr/libexec/gpuhelper/gpuhelper-read=gpuhelper_read_exec_t /usr/libexec/gpuhelper/gpuhelper-judge=gpuhelper_judge_exec_t /usr/libexec/gpuhelper/gpuhelper-judge-udev=gpuhelper_judge_exec_t /etc/gpuhelper=gpuhelper_conf_t \
    /etc/gpuhelper/policy.d=gpuhelper_conf_t /run/gpuhelper=gpuhelper_runtime_t /run/gpuhelper/births=gpuhelper_birth_t /var/log/gpuhelper=gpuhelper_log_t \
    /var/lib/gpuhelper=gpuhelper_var_lib_t /usr/bin/gpuhelper-runc=bin_t; do
	t "${f%=*} is ${f#*=}" is "$(label "${f%=*}" | cut -d : -f 3)" "${f#*=}"
done

# a user, GPUs, folders, policies
useradd worker 1000
admit worker
mkdir -p /home/worker
echo secret >/home/worker/secret
restorecon -RF /home/worker
mkdir -p /run/driver
mount -t tmpfs -o mode=755,context=system_u:object_r:proc_t:s0 driver /run/driver
cp -R /job/nvidia-2gpu/proc/driver /job/nvidia-2gpu/proc/devices /run/driver/
mount --bind /run/driver/driver /proc/driver
mount --bind /run/driver/devices /proc/devices
for d in nvidia0:195:0 nvidia1:195:1 nvidiactl:195:255 nvidia-uvm:510:0 nvidia-uvm-tools:510:1; do
	IFS=: read -r name major minor <<-END
	$d
	END
	mknod -m 666 "/dev/$name" c "$major" "$minor"
	restorecon -F "/dev/$name"
done
t "NVIDIA's nodes are xserver_misc_device_t" is "$(label /dev/nvidia0)" system_u:object_r:xserver_misc_device_t:s0
mkdir -p /srv
restorecon -F /srv
mkdir -p /srv/open /srv/shut
chmod 777 /srv/open /srv/shut
chcon -t container_file_t /srv/open
echo data >/srv/shut/x
settings
GPU='identity = "caller"; callers = [ "root", "worker" ];'
policy 10-gpu <<END
$GPU
gpus = ( { vendor = "nvidia"; } );
folders = ( { path = "/srv/open"; access = "rw"; }, { path = "/srv/shut"; access = "ro"; } );
END

echo "# the helper's domain"
HELPER=/usr/libexec/gpuhelper/gpuhelper
t "the helper runs in gpuhelper_t" like "$(/job/tries domain $HELPER)" 'unconfined_u:unconfined_r:gpuhelper_t:s0-s0:c0.c1023'
t "for a user, too" like "$(setpriv --reuid worker --regid worker --init-groups -- /job/tries domain $HELPER)" \
    'unconfined_u:unconfined_r:gpuhelper_t:s0-s0:c0.c1023'
cp /job/tries /usr/libexec/gpuhelper/tries
chcon --reference=$HELPER /usr/libexec/gpuhelper/tries
TRIES=/usr/libexec/gpuhelper/tries
t "control: a program labelled as the helper's runs in gpuhelper_t" like "$($TRIES label)" '.*:gpuhelper_t:.*'
t "it may read its settings" is "$($TRIES read /etc/gpuhelper/gpuhelper.conf)" done
gpuhelperctl reap
# can't NAME WHAT PATH AVC...: SELinux denies it, and the log shows that
cant() {
	name=$1 what=$2 path=$3; shift 3
	forget
	t "gpuhelper_t can't $name" is "$($TRIES "$what" "$path" 2>&1)" EACCES
	t "and the log says so" avc 'comm="tries"' 'scontext=[^ ]*:gpuhelper_t:' "$@"
}
cant "make a file in /etc" make /etc/made 'tcontext=[^ ]*:etc_t:'
cant "write /etc/passwd" write /etc/passwd 'tcontext=[^ ]*:etc_t:'
cant "read the password hashes" read /etc/shadow 'tcontext=[^ ]*:shadow_t:'
cant "write its own settings" write /etc/gpuhelper/gpuhelper.conf 'tcontext=[^ ]*:gpuhelper_conf_t:'
cant "read a file of a home" read /home/worker/secret 'tcontext=[^ ]*:user_home_t:'
cant "list a home" list /home/worker 'tcontext=[^ ]*:user_home_dir_t:'
cant "execute a shell" exec /usr/bin/dash 'tcontext=[^ ]*:shell_exec_t:' 'execute'
cant "execute a program" exec /usr/bin/true 'tcontext=[^ ]*:bin_t:' 'execute'
cant "execute itself" exec $HELPER 'execute_no_trans'
cant "open a network socket" inet - 'tclass=tcp_socket'
cant "open one of IPv6" inet6 - 'tclass=udp_socket'
cant "open a GPU" open /dev/nvidia0 'tcontext=[^ ]*:xserver_misc_device_t:'
cant "relabel a file of the system" relabel /etc/passwd 'relabelfrom'
cant "relabel a device that is no GPU" relabel /dev/null 'relabelfrom'
cant "truncate the audit log" truncate /var/log/gpuhelper/audit.jsonl 'tcontext=[^ ]*:gpuhelper_log_t:'
cant "remove it" unlink /var/log/gpuhelper/audit.jsonl 'tcontext=[^ ]*:gpuhelper_log_t:'
mknod /dev/strange c 1 3
cant "remove a device that is no GPU" unlink /dev/strange 'tcontext=[^ ]*:device_t:' 'tclass=chr_file'
rm /dev/strange
mkdir /sys/fs/cgroup/strange
cant "remove a cgroup" rmdir /sys/fs/cgroup/strange 'tcontext=[^ ]*:cgroup_t:' 'tclass=dir'
rmdir /sys/fs/cgroup/strange
sleep 1000 &
cant "end a process" kill $! 'tclass=process'
kill $!
rm /usr/libexec/gpuhelper/tries
forget

echo "# containers in a user namespace: they see the host's nodes"
config a 100000 '"GPUHELPER_GPUS=1"' '' '' '' "$PROBE; echo ready; sleep 1000"
config b 100000 '"GPUHELPER_GPUS=1"' '' '' '' "$PROBE; echo ready; sleep 1000"
t "a container with a GPU starts" start a
t "it runs in nvidia_container_t with categories of its own" says a "label=$NVIDIA"
t "it can use its GPU, and the nodes that all share" says a nvidia0=may nvidiactl=may nvidia-uvm=may
A=$(sed -n 's/^label=.*:s0:/s0:/p' "$OUT/a")
t "its GPU has our type and the container's categories" is "$(label /dev/nvidia0)" "system_u:object_r:gpuhelper_device_t:$A"
t "the nodes that all share have no categories" is "$(label /dev/nvidiactl) $(label /dev/nvidia-uvm)" \
    "system_u:object_r:xserver_misc_device_t:s0 system_u:object_r:xserver_misc_device_t:s0"
t "the other GPU is unchanged" is "$(label /dev/nvidia1)" system_u:object_r:xserver_misc_device_t:s0
t "the audit log has the label" grep -q "\"selinux\":\"system_u:system_r:nvidia_container_t:$A\"" /var/log/gpuhelper/audit.jsonl
t "a second container starts" start b
B=$(sed -n 's/^label=.*:s0:/s0:/p' "$OUT/b")
t "it has other categories" sh -c '[ -n "$0" ] && [ "$0" != "$1" ]' "$B" "$A"
t "the other GPU has those categories" is "$(label /dev/nvidia1)" "system_u:object_r:gpuhelper_device_t:$B"
t "status has no complaint about the nodes" sh -c '! gpuhelperctl status | grep -i selinux'

# To try what the device cgroup would refuse, too: raw runc, all devices allowed, nodes bind-mounted.
ALL='"resources":{"devices":[{"allow":true,"access":"rwm"}]},'
bound() { printf ',{"destination":"/dev/%s","type":"bind","source":"/dev/%s","options":["bind"]}' "$1" "$1"; }
raw() { # raw ID TYPE LEVEL NODE...: what a container with that label may do with nodes that are bind-mounted into it
	id=$1 type=$2 level=$3; shift 3
	m=$(for n in "$@"; do bound "$n"; done)
	config "$id" 100000 '' "\"selinuxLabel\":\"system_u:system_r:$type:$level\"," \
	    "\"mountLabel\":\"system_u:object_r:container_file_t:$level\",$ALL" "$m" "$PROBE"
	sed -i 's/,"resources":{"devices":\[{"allow":false,"access":"rwm"}\]}}}$/}}/; s/"rwm"}\]},"resources.*$/"rwm"}]}}}/' "/var/lib/containers/ct/$id/config.json"
	forget
	run "$id" runc
}
t "a container with another one's categories and a bind mount of the node starts" raw c nvidia_container_t s0:c1022,c1023 nvidia0 nvidiactl
t "it cannot use the GPU, only the nodes that all share" says c nvidia0=denied nvidiactl=may
t "the log has that denial" avc "scontext=[^ ]*:nvidia_container_t:s0:c1022,c1023" "tcontext=[^ ]*:gpuhelper_device_t:$A"
t "one of type container_t with the same categories starts" raw d container_t "$A" nvidia0 nvidiactl
t "it can use neither of the nodes" says d nvidia0=denied nvidiactl=denied
t "the log has that denial" avc "scontext=[^ ]*:container_t:$A" "tcontext=[^ ]*:gpuhelper_device_t:$A"
t "the log has the denial of the other node" avc "scontext=[^ ]*:container_t:$A" "tcontext=[^ ]*:xserver_misc_device_t:s0"
forget

# exec: an engine's process.json has the engine's label
printf '{"args":["/bin/sh","-c","cat /proc/self/attr/current >/out/exec"],"cwd":"/","user":{"uid":0,"gid":0},"env":["PATH=/bin"],%s}' \
    '"selinuxLabel":"system_u:system_r:container_t:s0:c1,c2"' >"$T/process.json"
runs_in() { rm -f "$OUT/exec"; gpuhelper-runc --root /run/ct exec "$@" >"$T/err" 2>&1; tr -d '\0' <"$OUT/exec" >"$T/out"; grep -qx "system_u:system_r:nvidia_container_t:$A" "$T/out"; }
t "exec with a process.json runs in the container's label" runs_in --process "$T/process.json" a
t "exec without a process.json, too" runs_in a /bin/sh -c 'cat /proc/self/attr/current >/out/exec'

echo "# events: the helper labels again what udev has reset"
chcon -t xserver_misc_device_t -l s0 /dev/nvidia0
t "status reports a relabelled node" sh -c 'gpuhelperctl status | grep -q "/dev/nvidia0 has the SELinux label"'
t "gpuhelper-reap.service runs" systemctl start gpuhelper-reap.service
t "the service has labelled the node again" is "$(label /dev/nvidia0)" "system_u:object_r:gpuhelper_device_t:$A"

stop a
stop b
t "reap" gpuhelperctl reap
t "after the containers' end the nodes have their own labels" is "$(label /dev/nvidia0) $(label /dev/nvidia1)" \
    "system_u:object_r:xserver_misc_device_t:s0 system_u:object_r:xserver_misc_device_t:s0"
t "control: then a container of nvidia_container_t with a bind-mounted node starts" raw e nvidia_container_t s0:c1022,c1023 nvidia0
t "control: it may use the node, with any categories" says e nvidia0=may
t "control: a container of container_t starts" raw f container_t s0:c1022,c1023 nvidia0
t "control: it may not use the node" says f nvidia0=denied
t "the log has that denial" avc "scontext=[^ ]*:container_t:s0:c1022,c1023" "tcontext=[^ ]*:xserver_misc_device_t:s0"
forget

echo "# nodes that are not there, and nodes that someone has labelled"
policy 10-gpu <<END
$GPU
gpus = ( { vendor = "nvidia"; count = 2; } );
END
config a 100000 '"GPUHELPER_GPUS=2"' '' '' '' "$PROBE; echo ready; sleep 1000"
rm /dev/nvidia1
t "a container with two GPUs starts, one of them without a node" start a
t "it can use both GPUs" says a nvidia0=may nvidia1=may
A=$(sed -n 's/^label=.*:s0:/s0:/p' "$OUT/a")
t "the node that was made for it is labelled" is "$(label /dev/nvidia1 | cut -d : -f 3-)" "gpuhelper_device_t:$A"
stop a
gpuhelperctl reap
t "the node goes with the lease" is "$(ls /dev/nvidia1 /run/gpuhelper/leases 2>/dev/null)" /run/gpuhelper/leases:
mknod -m 666 /dev/nvidia1 c 195 1
# labels as nvidia-modprobe may leave them, or an administrator may set them
chcon system_u:object_r:device_t:s0 /dev/nvidia0
chcon system_u:object_r:container_file_t:s0:c5,c6 /dev/nvidia1
t "a container starts whose nodes had other labels than GPUs'" start a
t "it can use these nodes" says a nvidia0=may nvidia1=may
stop a
gpuhelperctl reap
t "afterwards the nodes have those labels again" is "$(label /dev/nvidia0) $(label /dev/nvidia1)" \
    "system_u:object_r:device_t:s0 system_u:object_r:container_file_t:s0:c5,c6"
t "no lease is left" is "$(ls /run/gpuhelper/leases)" ""
restorecon -F /dev/nvidia0 /dev/nvidia1
policy 10-gpu <<END
$GPU
folders = ( { path = "/srv/open"; access = "rw"; }, { path = "/srv/shut"; access = "ro"; } );
END

echo "# files: two containers' in one folder"
config a 0 '"GPUHELPER_GPUS=none","GPUHELPER_FOLDERS=/srv/open"' '' '' '' 'echo mine >/srv/open/a; echo ready; sleep 1000'
config b 0 '"GPUHELPER_GPUS=none","GPUHELPER_FOLDERS=/srv/open"' '' '' '' "$PROBE; cat /srv/open/a && echo read; echo ready"
t "the first writes a file" start a
t "the second container runs" run b
t "it has a label of its own" says b "label=$NVIDIA"
t "it cannot read the first one's file" sh -c '! grep -qx read "$0"' "$OUT/b"
t "the log has that denial" avc 'scontext=[^ ]*:nvidia_container_t:s0:c' "tcontext=$(label /srv/open/a)" 'name="a"'
t "the file has the first one's categories" like "$(label /srv/open/a)" '[^:]*:object_r:container_file_t:s0:c[0-9]*,c[0-9]*'
stop a
forget
config a 0 '"GPUHELPER_GPUS=none","GPUHELPER_FOLDERS=/srv/shut"' '' '' '' 'echo ready'
fails() { ! "$@"; }
refused() { cp "$OUT/$1" "$T/out"; shift; for p in "$@"; do grep -q -e "$p" "$T/out" || return 1; done; }
t "a folder that SELinux keeps from containers is refused" fails run a
t "gpuhelperctl check warned of that folder" sh -c 'gpuhelperctl check | grep -q "SELinux keeps .* from /srv/shut"'
t "gpuhelperctl check warned of nothing else" sh -c '! gpuhelperctl check | grep SELinux | grep -v /srv/shut'
t "the refusal names type, label and command" refused a nvidia_container_t 'var_t' \
    "semanage fcontext -a -t container_file_t '/srv/shut(/.\*)?' && restorecon -RF /srv/shut"
t "the container did not try to use it: there was no denial" is "$(denied | grep /srv/shut)" ""

echo "# files of the driver, by a CDI spec"
policy 10-gpu <<END
$GPU
gpus = ( { vendor = "nvidia"; } );
END
# SIMULATED: a library is a text file here, and nvidia-smi a program that says so
echo driver >/usr/lib/x86_64-linux-gnu/libcuda.so.580.95.05
cp /job/busybox /usr/bin/nvidia-smi
restorecon -F /usr/lib/x86_64-linux-gnu/libcuda.so.580.95.05 /usr/bin/nvidia-smi
mkdir -p /etc/cdi /run/cdi $r/usr/lib64 $r/usr/lib/x86_64-linux-gnu $r/usr/bin
touch $r/usr/bin/nvidia-smi
# the runtime makes the mount points of the library's names as the container's root, whose image this is with an engine
chown 100000:100000 $r/usr/lib64 $r/usr/lib/x86_64-linux-gnu
cat >/etc/cdi/nvidia.json <<END
{"cdiVersion":"0.5.0","kind":"nvidia.com/gpu","devices":[
{"name":"0","containerEdits":{"deviceNodes":[{"path":"/dev/nvidia0"}]}}],
"containerEdits":{"mounts":[
{"hostPath":"/usr/lib/x86_64-linux-gnu/libcuda.so.580.95.05","containerPath":"/usr/lib64/libcuda.so.1","options":["ro"]},
{"hostPath":"/usr/bin/nvidia-smi","containerPath":"/usr/bin/nvidia-smi","options":["ro"]}]}}
END
restorecon -RF /etc/cdi /run/cdi
config a 100000 '"GPUHELPER_GPUS=1"' '' '' '' "$PROBE; cat /usr/lib64/libcuda.so.1; /usr/bin/nvidia-smi"
forget
run a
t "a container can read and run the files of a spec in /etc/cdi" says a "label=$NVIDIA" nvidia0=may driver 'nvidia-smi: applet not found'
mv /etc/cdi/nvidia.json /run/cdi/gpuhelper-nvidia.json
restorecon -RF /run/cdi
run a
t "and those of a spec in /run/cdi" says a "label=$NVIDIA" nvidia0=may driver 'nvidia-smi: applet not found'
t "there was no denial" sh -c '! echo "$0" | grep -e libcuda -e nvidia-smi -e cdi' "$(denied)"
rm -r /etc/cdi /run/cdi /usr/bin/nvidia-smi /usr/lib/x86_64-linux-gnu/libcuda.so.580.95.05

echo "# other types and levels"
policy 10-gpu <<END
$GPU
gpus = ( { vendor = "nvidia"; sharing = "shared"; } );
END
config a 100000 '"GPUHELPER_GPUS=1"' '"selinuxLabel":"system_u:system_r:container_t:s0:c7,c9",' \
    '"mountLabel":"system_u:object_r:container_file_t:s0:c7,c9",' '' "$PROBE; echo ready; sleep 1000"
t "a container keeps the categories from its engine" start a
t "it has our type" says a label=system_u:system_r:nvidia_container_t:s0:c7,c9 nvidia0=may
t "a shared GPU keeps its label" is "$(label /dev/nvidia0)" system_u:object_r:xserver_misc_device_t:s0
stop a
config a 100000 '"GPUHELPER_GPUS=1"' '"selinuxLabel":"system_u:system_r:container_t:s0-s0:c0.c1023",' '' '' "$PROBE"
run a
t "a range of categories is refused" refused a 's0-s0:c0.c1023' 'a range'
policy 10-gpu <<END
$GPU
gpus = ( { vendor = "nvidia"; } );
selinux = { type = "no_such_t"; };
END
config a 100000 '"GPUHELPER_GPUS=1"' '' '' '' "$PROBE"
run a
t "an unknown type is refused" refused a 10-gpu.conf no_such_t
checked() { gpuhelperctl check >"$T/out" 2>&1; grep -q -e "$1" "$T/out"; }
t "gpuhelperctl check says so, too" checked "10-gpu.conf:.*SELinux on this host has no label system_u:system_r:no_such_t"
policy 10-gpu <<END
$GPU
gpus = ( { vendor = "nvidia"; } );
selinux = { type = "container_t"; };
END
run a
t "a type that may not use GPUs is refused; the refusal names type and node" refused a container_t /dev/nvidia0 gpuhelper_device_t
t "no lease is left" is "$(label /dev/nvidia0) $(ls /run/gpuhelper/leases)" "system_u:object_r:xserver_misc_device_t:s0 "
config a 0 '"GPUHELPER_GPUS=1"' '' '' '' "$PROBE"
t "the type is enough if the runtime makes the nodes" run a
t "those nodes have the label of the container's own files" says a 'label=system_u:system_r:container_t:s0:c.*' nvidia0=may
config a 0 '"GPUHELPER_GPUS=1"' '' '"cgroupsPath":"system.slice:gpu:a",' '' "$PROBE"
printf '#!/bin/sh\nexec gpuhelper-runc --systemd-cgroup "$@"\n' >"$T/systemd-cgroup"
chmod 755 "$T/systemd-cgroup"
t "a container in systemd's cgroups starts" run a "$T/systemd-cgroup"
t "its node's link is there, labelled like the others" like "$(readlink /dev/char/195:0) $(label /dev/char/195:0)" \
    '../nvidia0 [a-z_]*:object_r:device_t:s0'
policy 10-gpu <<END
$GPU
gpus = ( { vendor = "nvidia"; } );
selinux = { level = "s0:c9,c3"; };
END
config a 100000 '"GPUHELPER_GPUS=1"' '' '' '' "$PROBE"
t "a container with a level from the policy starts" run a
t "it has that level" says a label=system_u:system_r:nvidia_container_t:s0:c3,c9 nvidia0=may

echo "# runtimes and callers"
policy 10-gpu <<END
$GPU
gpus = ( { vendor = "nvidia"; } );
END
sed -i 's|/usr/sbin/runc|/usr/bin/crun|' /etc/gpuhelper/gpuhelper.conf
t "crun: a container in a user namespace starts" run a
t "it has the label and the GPU" says a "label=$NVIDIA" nvidia0=may
sed -i 's|/usr/bin/crun|/usr/sbin/runc|' /etc/gpuhelper/gpuhelper.conf
mkdir -p /usr/local/sbin
printf '#!/bin/sh\ncd /var/lib/containers/ct/a && exec gpuhelper-runc --root /run/ct run a </dev/null\n' >/usr/local/sbin/engine
chmod 755 /usr/local/sbin/engine
restorecon -F /usr/local/sbin/engine
printf '%s\n' '[Service]' Type=oneshot ExecStart=/usr/local/sbin/engine >/run/systemd/system/engine.service
# Debian 13's policy has a domain for runc in a service, and lets it mount less
sed 's/gpuhelper-runc/runc/' /usr/local/sbin/engine >/usr/local/sbin/bare-engine
chmod 755 /usr/local/sbin/bare-engine
restorecon -F /usr/local/sbin/bare-engine
sed 's|sbin/engine|sbin/bare-engine|' /run/systemd/system/engine.service >/run/systemd/system/bare-engine.service
systemctl daemon-reload
prepare a
if systemctl start bare-engine.service 2>/dev/null; then
	rm -f "$OUT/a"
	t "a container of an engine that is a service starts" systemctl start engine.service
	t "it has the label and the GPU" says a "label=$NVIDIA" nvidia0=may
else
	skip "a container of an engine that is a service" "this machine's policy denies it to runc alone, too"
fi
ran a
mkdir -p /home/worker/c/rootfs
cp -a /var/lib/containers/vol/rootfs/. /home/worker/c/rootfs/
config w 1000 '"GPUHELPER_GPUS=1"' '' '' '' "$PROBE"
sed 's|"path":"[^"]*"|"path":"rootfs"|; s|"resources":.*$|"x":0}}|' /var/lib/containers/ct/w/config.json >/home/worker/c/config.json
chown -R worker:worker /home/worker/c
chmod 600 /dev/nvidia0 /dev/nvidia1
as_worker() { prepare w; (cd /home/worker/c && setpriv --reuid worker --regid worker --init-groups -- gpuhelper-runc --root /tmp/w run w </dev/null) >"$T/w.said" 2>&1; }
t "rootless: a user's container with a closed node starts" as_worker
ran w
t "ACL and label open the node" says w "label=$NVIDIA" nvidia0=may
gpuhelperctl reap
t "both are removed after its end" is "$(label /dev/nvidia0) $(getfacl -cp /dev/nvidia0 | grep -c user:)" \
    "system_u:object_r:xserver_misc_device_t:s0 1"

echo "# tasks in containers that only pause"
policy 10-gpu <<END
$GPU
gpus = ( { vendor = "nvidia"; devices = [ "0" ]; wait = 60; } );
END
pausing() { # pausing ID: created and started as an engine does
	config "$1" 100000 '"GPUHELPER_GPUS=1"' '' '' ',{"destination":"/tmp/gdn-init","type":"bind","source":"/usr/local/sbin/gdn-init","options":["bind"]}' ''
	sed -i 's|"args":\[[^]]*\]|"args":["/tmp/gdn-init"]|' "/var/lib/containers/ct/$1/config.json"
	(cd "/var/lib/containers/ct/$1" && gpuhelper-runc --root /run/ct create --bundle . "$1" && gpuhelper-runc --root /run/ct start "$1") </dev/null >/dev/null 2>"$T/err"
}
task() { # task ID SCRIPT: an exec, by an engine with a service's level; its pipe is the task's output, as Concourse's is
	rm -f "$OUT/$1"
	{
		runcon -l s0 gpuhelper-runc --root /run/ct exec --pid-file "$T/task.pid" "$1" /bin/sh -c "echo out; exec >>/out/$1 2>&1; $2" </dev/null 2>&1
		echo $? >"$T/status.$1"
	} | cat >"$T/told"
	return "$(cat "$T/status.$1")"
}
chmod 666 /dev/nvidia0 /dev/nvidia1
mkdir -p /usr/local/sbin
cp /job/placeholder /usr/local/sbin/gdn-init
: >/var/lib/containers/vol/rootfs/tmp/gdn-init
chcon system_u:object_r:container_file_t:s0 /var/lib/containers/vol/rootfs/tmp/gdn-init
# a container's first program must be labelled for containers
chcon system_u:object_r:container_file_t:s0 /usr/local/sbin/gdn-init
t "a container whose first process pauses starts" pausing p
t "before its task the host's node has its own label" is "$(label /dev/nvidia0)" system_u:object_r:xserver_misc_device_t:s0
state_of() { gpuhelperctl status | sed -n "s/^$1  *\([a-z][a-z-]*\)  .*/\1/p"; }
task p "$PROBE; sleep 20" &
t "a task runs in it, and holds the GPU" soon sh -c "grep -q '^nvidia0=' '$OUT/p'"
t "the task has label and GPU, and is told so" sh -c "grep -q 'gpuhelper: GPU 0000:3b:00.0 (NVIDIA.*), exclusive' '$T/told' && grep -qx 'label=$NVIDIA' '$OUT/p' && grep -qx nvidia0=may '$OUT/p'"
P=$(sed -n 's/^label=.*:s0:/s0:/p' "$OUT/p")
t "the host's node has its categories" is "$(label /dev/nvidia0)" "system_u:object_r:gpuhelper_device_t:$P"
t "another container is created meanwhile" pausing q
t "after the first task, one there has the GPU" task q "$PROBE; sleep 1"
wait
t "it has a label of its own" sh -c "grep -qx nvidia0=may '$OUT/q' && ! grep -q ':$P\$' '$OUT/q'"
t "it was told that it waited" grep -q 'gpuhelper: waiting for a GPU: taken by' "$T/told"
gpuhelper-runc --root /run/ct kill q KILL; sleep 1; gpuhelper-runc --root /run/ct delete --force q
t "a later task in the first container runs" task p "$PROBE"
t "it has the GPU again, and its old label" sh -c "grep -qx nvidia0=may '$OUT/p' && grep -q ':$P\$' '$OUT/p'"
t "its output reaches the engine's pipe" grep -qx out "$T/told"
t "from a shell, whose pipes a container can't use, a task has the GPU, too" \
    gpuhelper-runc --root /run/ct exec --pid-file "$T/task.pid" p /bin/sh -c "(: </dev/nvidia0) 2>&1 | grep -q 'such device' && echo yes >/out/shell" </dev/null
t "it says so in a folder of its own" grep -qx yes "$OUT/shell"
t "after it the GPU is given back" soon sh -c "gpuhelperctl status | grep -q '^p  *promised  '"
t "the node has its own label again" is "$(label /dev/nvidia0)" system_u:object_r:xserver_misc_device_t:s0
systemctl daemon-reload
t "systemd's daemon-reload leaves the container's rules alone: a hijack has no GPU" sh -c "runcon -l s0 gpuhelper-runc --root /run/ct exec p /bin/sh -c '(: </dev/nvidia0) 2>&1' </dev/null 2>&1 | grep -q 'not permitted'"
gpuhelper-runc --root /run/ct kill p KILL; sleep 1; gpuhelper-runc --root /run/ct delete --force p
t "no denial of the helper" clean
chmod 600 /dev/nvidia0 /dev/nvidia1
policy 10-gpu <<END
$GPU
gpus = ( { vendor = "nvidia"; } );
END

echo "# categories of another user's container"
config a 0 '"GPUHELPER_GPUS=1"' '' '' '' "$PROBE; echo ready; sleep 1000"
t "root's container starts" start a
A=$(sed -n 's/^label=.*:s0:/s0:/p' "$OUT/a")
t "it has a node of its own, and the host's node is closed to other containers" is "$(label /dev/nvidia0)" \
    "system_u:object_r:gpuhelper_device_t:$A"
for other in c0 c1 c2; do case ,${A#s0:}, in *",$other,"*) ;; *) break ;; esac; done
asks() { # asks LEVEL: a container of worker's to which its engine gives that level
	config w 1000 '"GPUHELPER_GPUS=1"' "\"selinuxLabel\":\"system_u:system_r:container_t:$1\"," '' '' "$PROBE"
	sed 's|"path":"[^"]*"|"path":"rootfs"|; s|"resources":.*$|"x":0}}|' /var/lib/containers/ct/w/config.json >/home/worker/c/config.json
	as_worker
	status=$?
	ran w
	return $status
}
t "a user's container cannot have the same categories" fails asks "$A"
t "because they are another container's" refused w "categories of $A .*another user's"
t "nor the same and one more, which could use files labelled with the two" fails asks "$A,$other"
t "for the same reason" refused w "categories of .*another user's"
t "nor a single category" fails asks "${A%,*}"
t "because that separates it from nobody" refused w "the level ${A%,*}: one category"
t "control: it can have one of these and another one" asks "${A%,*},$other"
stop a
gpuhelperctl reap
policy 10-gpu <<END
$GPU
gpus = ( { vendor = "nvidia"; } );
selinux = { level = "s0:c3,c9"; };
END
t "a container of root's, with a level from the policy, starts" start a
t "another user's container with the same level starts" asks s0:c7,c8
t "both have the policy's level" says w label=system_u:system_r:nvidia_container_t:s0:c3,c9
stop a
gpuhelperctl reap
policy 10-gpu <<END
$GPU
gpus = ( { vendor = "nvidia"; } );
END

# without the wrapper: nodes open to everyone, bind-mounted into a user's container of either type
rootless_raw() {
	config w 1000 '' "\"selinuxLabel\":\"system_u:system_r:$1:s0:c5,c6\"," "\"mountLabel\":\"system_u:object_r:container_file_t:s0:c5,c6\"," \
	    "$(bound nvidia0)$(bound nvidiactl)" "$PROBE"
	sed 's|"path":"[^"]*"|"path":"rootfs"|; s|"resources":.*$|"x":0}}|' /var/lib/containers/ct/w/config.json >/home/worker/c/config.json
	prepare w
	forget
	(cd /home/worker/c && setpriv --reuid worker --regid worker --init-groups -- runc --root /tmp/w run w </dev/null) >"$T/w.said" 2>&1
	st=$?
	ran w
	return $st
}
cp /home/worker/c/config.json "$T/rootless.json"
chmod 666 /dev/nvidia0
t "rootless: a container of container_t with bind-mounted nodes starts" rootless_raw container_t
t "it can use none of them" says w nvidia0=denied nvidiactl=denied
t "the log has that denial" avc 'scontext=[^ ]*:container_t:s0:c5,c6' 'tcontext=[^ ]*:xserver_misc_device_t:s0' 'name="nvidia0"'
t "rootless: one of nvidia_container_t starts" rootless_raw nvidia_container_t
t "it can use them" says w nvidia0=may nvidiactl=may
config w 1000 '"GPUHELPER_GPUS=1"' '' '' '' "$PROBE"
cp "$T/rootless.json" /home/worker/c/config.json
chmod 600 /dev/nvidia0
forget

# One request again and again: the helper removes an ACL entry and a label of an earlier lease, and sets new ones.
cp $HELPER "$T/helper"
install -m 4750 -o root -g gpuhelper /job/record $HELPER
restorecon -F $HELPER
as_worker
ran w
install -m 4750 -o root -g gpuhelper "$T/helper" $HELPER
restorecon -F $HELPER
mkfifo "$T/lines" "$T/answers"
/job/faultat worker /run/gpuhelper/asked $HELPER blind <"$T/lines" >"$T/answers" 2>"$T/faultat" &
exec 7>"$T/lines" 8<"$T/answers"
# ask CLASS N ERRNO: one request, with the end of its asker; sets $hit
ask() {
	echo "$*" >&7
	read -r _ _ _ _ _ _ hit reply <&8
	echo end >&7
	read -r _ <&8
}
unmarked() {
	echo "$(label /dev/nvidia0) $(label /dev/nvidia1) $(getfacl -cp /dev/nvidia0 /dev/nvidia1 | grep -c user:) $(ls /run/gpuhelper/leases)" >"$T/out"
	grep -qx "system_u:object_r:xserver_misc_device_t:s0 system_u:object_r:xserver_misc_device_t:s0 2 " "$T/out"
}
# on a busy machine the first look may not see that the asker is gone
settled() {
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		gpuhelperctl reap 7>&- 8<&-
		! unmarked || return 0
		sleep 1
	done
	return 1
}
# at_point ERRNO: after a grant, the next request's call number $points fails; sets $hit
at_point() {
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		ask none 0 0
		case $reply in *'"grant"'*) ;; *) return 1 ;; esac
		ask setxattr $points "$1"
		# on a busy machine the request may not see that the last asker is gone: then no call was reached
		case $hit,$reply in 0,*'is not gone'*) settled || return 1 ;; *) return 0 ;; esac
	done
	return 1
}
# at_each ERRNO: each of these calls fails in turn; sets $points
at_each() {
	points=0 hit=1
	while [ "$hit" = 1 ]; do
		points=$((points + 1))
		at_point "$1" || { echo "$reply" >"$T/out"; return 1; }
		settled || return 1
	done
	points=$((points - 1))
	echo "the last reply: $reply" >>"$T/out"
	[ $points -ge 4 ]
}
t "a kill before any call that sets an ACL or a label leaves no label, no ACL and no lease" at_each 0
echo "# at $points points"
t "nor does a failure of any of these calls" at_each 5
echo "# at $points points"
exec 7>&- 8<&-
rm /run/gpuhelper/asked
chmod 666 /dev/nvidia0 /dev/nvidia1
config p 0 '' '' '' '' "$PROBE"
t "a plain container runs" run p
t "it keeps its label, which is none" sh -c '! grep -q container_t "$0"' "$OUT/p"
echo 'selinux = { plain = "container_t"; };' >>/etc/gpuhelper/gpuhelper.conf
t "with selinux.plain a plain container runs" run p
t "it runs in container_t, with categories" says p 'label=system_u:system_r:container_t:s0:c[0-9]*,c[0-9]*'

echo "# tokens: each is written down, so that it is good for one container"
mkdir -p /etc/gpuhelper/keys
cp /etc/gpuhelper/gpuhelper.conf "$T/conf"
policy 20-train <<END
pipeline = "ml/train";
gpus = ( { vendor = "nvidia"; } );
END
cat >>/etc/gpuhelper/gpuhelper.conf <<END
issuers = ( { url = "https://ci.example.org"; audience = "gpuhelper"; keys = "/etc/gpuhelper/keys/ci.json"; } );
END
# a minute after the token was made
today=$(date +%s) up=$(cut -d . -f 1 /proc/uptime)
date -s @1790000060 >/dev/null
cp /job/jwt/jwks.json /etc/gpuhelper/keys/ci.json
TOKEN=$(tr , '\n' </job/jwt/tokens.json | sed -n 's/.*"es256-valid": *"\([^"]*\)".*/\1/p')
config a 0 "\"GPUHELPER_GPUS=1\",\"GPUHELPER_TOKEN=$TOKEN\"" '' '' '' "$PROBE"
config b 0 "\"GPUHELPER_GPUS=1\",\"GPUHELPER_TOKEN=$TOKEN\"" '' '' '' "$PROBE"
t "a container with a token runs" run a
t "it has the label and the GPU" says a "label=$NVIDIA" nvidia0=may
run b
t "a second container with the same token is refused" refused b 'used by another container'
date -s "@$((today + $(cut -d . -f 1 /proc/uptime) - up))" >/dev/null
cp "$T/conf" /etc/gpuhelper/gpuhelper.conf
rm -r /etc/gpuhelper/policy.d/20-train.conf /etc/gpuhelper/keys

echo "# the programs that the helper starts"
tells() { gpuhelperctl doctor >"$T/out"; grep -q "$1" "$T/out"; }
# gpuhelper-judge parses the JSON of a claim
config a 0 '"GPUHELPER_GPUS=1","BUILD_TEAM_NAME=ml","BUILD_PIPELINE_NAME=train","BUILD_PIPELINE_INSTANCE_VARS={}"' '' '' '' "$PROBE"
# the one that starts here; its messages call both by one name
judge=gpuhelper-judge
ls /sys/class/drm | grep -q '^renderD' && judge=gpuhelper-judge-udev
for program in gpuhelper-label gpuhelper-look gpuhelper-engine gpuhelper-read $judge; do
	f=/usr/libexec/gpuhelper/$program
	t "doctor has nothing to say of $program" fails tells $program
	mv $f $f.away
	run a
	t "without it nothing is granted, and the refusal says what to do" refused a "$program: No such file or directory: install it (make install)"
	t "doctor says so, too" tells "$program: No such file"
	v=$($f.away --version) v=${v##* }
	sed "s/$v/9${v#?}/g" $f.away >$f
	chmod 711 $f
	chcon --reference=$f.away $f
	run a
	t "nor with that of another version" refused a "gpuhelper and ${program%-udev} differ in version: install both again"
	mv $f.away $f
	chmod 777 $f
	run a
	t "nor with one that others may write" refused a $program
	t "of which doctor says that it is not root's alone" tells "others than root can change /usr/libexec/gpuhelper/$program"
	chmod 711 $f
done
t "a container with its own token runs" run a
t "no lease is left" sh -c 'gpuhelperctl reap; [ -z "$(ls /run/gpuhelper/leases)" ]'

echo "# the socket: the helper as a service, without the setuid bit"
chmod u-s $HELPER
policy 20-folder <<END
$GPU
folders = ( { path = "/srv/open"; access = "rw"; } );
END
config a 0 '"GPUHELPER_FOLDERS=/srv/open"' '' '' '' "$PROBE"
t "gpuhelper.socket starts" systemctl start gpuhelper.socket
service_label() {
	i=0
	while [ $i -lt 30 ]; do
		i=$((i + 1))
		for p in /sys/fs/cgroup/system.slice/system-gpuhelper.slice/gpuhelper@*/cgroup.procs; do
			read -r pid <"$p" && case $(readlink "/proc/$pid/exe") in $HELPER) tr -d '\0' <"/proc/$pid/attr/current"; return ;; esac
		done 2>/dev/null
		sleep 0.1
	done
}
# a helper waits some seconds for its request; on a busy machine systemd may need longer to start one
for _ in 1 2 3 4 5; do
	/job/tries connect /run/gpuhelper/gpuhelper.sock &
	label=$(service_label)
	[ -z "$label" ] || break
done
t "the service runs in gpuhelper_t" is "$label" system_u:system_r:gpuhelper_t:s0
wait $!
t "a container with a folder, granted by the service" run a
t "it has its label" says a "label=$NVIDIA"
# the service needs to see the simulated /proc
mkdir -p /run/systemd/system/gpuhelper@.service.d
printf '%s\n' '[Service]' ProtectProc=default ProtectControlGroups=no ProtectKernelTunables=no \
    >/run/systemd/system/gpuhelper@.service.d/test.conf
systemctl daemon-reload
rm /etc/gpuhelper/policy.d/20-folder.conf
config a 100000 '"GPUHELPER_GPUS=1"' '' '' '' "$PROBE"
t "a container with a GPU, granted by the service" run a
t "label and GPU are as before" says a "label=$NVIDIA" nvidia0=may
t "the node has its own label again" sh -c 'gpuhelperctl reap; [ "$(stat -c %C /dev/nvidia0)" = system_u:object_r:xserver_misc_device_t:s0 ]'
systemctl stop gpuhelper.socket
chmod u+s $HELPER

echo "# the socket by which new keys are fetched, for an engine that is a service"
mkdir -p /etc/gpuhelper/keys
cp /job/jwt/jwks.json /etc/gpuhelper/keys/ci.json
cp /etc/gpuhelper/gpuhelper.conf "$T/conf"
cat >>/etc/gpuhelper/gpuhelper.conf <<END
issuers = ( { url = "https://ci.example.org"; audience = "gpuhelper"; keys = "/etc/gpuhelper/keys/ci.json"; } );
END
config a 0 '"GPUHELPER_TOKEN=a.a.AAAA"' '' '' '' "$PROBE"
t "gpuhelper-keys.socket starts" systemctl start gpuhelper-keys.socket
t "the socket has the label of gpuhelper's state" is "$(label /run/gpuhelper/keys.sock | cut -d : -f 3)" gpuhelper_runtime_t
prepare a
systemctl start engine.service
t "an engine's token that no key here signed has keys fetched" soon systemctl --quiet is-active gpuhelper-keys-asked.service
systemctl stop gpuhelper-keys.socket gpuhelper-keys-asked.service
systemctl reset-failed gpuhelper-keys.service engine.service 2>/dev/null
cp "$T/conf" /etc/gpuhelper/gpuhelper.conf
rm -r /etc/gpuhelper/keys

echo "# permissive"
policy 10-gpu <<END
$GPU
folders = ( { path = "/srv/shut"; access = "ro"; } );
END
config a 0 '"GPUHELPER_FOLDERS=all"' '' '' '' "$PROBE; cat /srv/shut/x"
run a
t "control: enforcing, this is refused" refused a 'semanage fcontext'
t "no denial of the helper so far" clean
setenforce 0
t "permissive, it is granted" run a
t "it has the same label" says a "label=$NVIDIA" data
setenforce 1
forget

echo "# udev, with a real DRM device"
node=/dev/dri/renderD128
# Only the helper may start gpuhelper-judge in its domain.  In permissive mode others can, and the log has the denial.
cp /job/drm /usr/libexec/gpuhelper/drm
chcon --reference=/usr/libexec/gpuhelper/gpuhelper-judge /usr/libexec/gpuhelper/drm
setenforce 0
forget
found=$(runcon -t gpuhelper_judge_t /usr/libexec/gpuhelper/drm | grep $node)
denied | grep 'scontext=[^ ]*:gpuhelper_judge_t:' | grep -v -e 'tclass=process' -e 'tclass=fd' -e 'tclass=fifo_file' >"$T/out"
setenforce 1
t "in gpuhelper_judge_t, libudev finds the DRM device with bus, vendor and driver" like "$found" \
    '/dev/dri/renderD128 226:128 pci 0000:00:0[0-9a-f].0 vendor 1af4 driver virtio-pci'
t "enforcing would have denied nothing of that" fails test -s "$T/out"
t "control: a denial of such a process is noticed" avc 'scontext=[^ ]*:gpuhelper_judge_t:\|tcontext=[^ ]*:gpuhelper_judge_t:'
rm /usr/libexec/gpuhelper/drm
forget
t "a render node is dri_device_t" is "$(label $node)" system_u:object_r:dri_device_t:s0
setpriv --reuid worker --regid worker --clear-groups -- sleep 100000 &
holder=$!
sleep 0.5
{
	lease_head $holder
	printf 'label system_u:system_r:nvidia_container_t:s0:c1,c2\ngpu intel 0000:00:02.0 - yes 1\n'
	printf 'node %s 226 128 432 0 0\ntasks no\nend\n' $node
} >"$T/lease"
ledger $node "226 128" label 0 system_u:object_r:gpuhelper_device_t:s0:c1,c2 system_u:object_r:dri_device_t:s0
cp "$T/lease" "$(lease_path)"
t "reapply labels it for a lease" gpuhelperctl reapply
LEASED=system_u:object_r:gpuhelper_device_t:s0:c1,c2
t "the node is labelled" is "$(label $node)" $LEASED
for event in change add; do
	t "$event" udevadm trigger --settle -c $event $node
	t "after $event it is labelled" is "$(label $node)" $LEASED
done
ln -s /dev/null /etc/udev/rules.d/60-gpuhelper.rules
udevadm control --reload
t "control: add, without our rule" udevadm trigger --settle -c add $node
t "control: udev has reset the label" is "$(label $node)" system_u:object_r:dri_device_t:s0
rm /etc/udev/rules.d/60-gpuhelper.rules
udevadm control --reload
t "add, with our rule" udevadm trigger --settle -c add $node
t "the node is labelled again" is "$(label $node)" $LEASED
kill $holder
gpuhelperctl reap
t "it is not labelled after the end of the lease" is "$(label $node)" system_u:object_r:dri_device_t:s0

cp /usr/share/doc/gpuhelper/72-gpuhelper-nodes.rules.example /etc/udev/rules.d/72-gpuhelper-nodes.rules
if udevadm verify --help >/dev/null 2>&1; then
	t "udevadm verify of the rules for a worker" udevadm verify /etc/udev/rules.d/72-gpuhelper-nodes.rules
fi
udevadm control --reload
t "add, with the rules for a worker" udevadm trigger --settle -c add $node
t "the node has owner, mode and label by our rules" is "$(stat -c '%U:%G %a %C' $node)" \
    "root:render 660 system_u:object_r:gpuhelper_device_t:s0"
sulky() { journalctl --sync; journalctl --boot --no-pager -o cat -u systemd-udevd -p warning | grep -i gpuhelper >"$T/out"; }
t "udevd has no complaint about the rules" fails sulky

t "no denial of the helper in all of this" clean
none_failed() { systemctl --failed --no-legend --no-pager >"$T/out"; ! grep gpuhelper "$T/out"; }
t "no unit of ours has failed" none_failed

echo "1..$n"
[ $bad = 0 ]
