#!/bin/sh
# Real udevd and real systemd: the rule and the units as they are installed.
# vm: -device virtio-gpu-pci
# files: fixtures/sysroot/nvidia-2gpu fuzz/seeds/elf/64
#
# The helper knows no vendor of this machine's GPU, and so cannot lease it.  The job tests what happens to the node of a leased GPU,
# so it writes the lease itself, for a process of a user's.  The helper's own leases are for NVIDIA GPUs, simulated as in
# tests/lib/sandbox.sh.
set -u
. /job/job.sh
node=/dev/dri/renderD128
rule=/usr/lib/udev/rules.d/60-gpuhelper.rules

useradd worker 1000
admit worker
as_worker() { setpriv --reuid worker --regid worker --init-groups -- "$@"; }

complaints() { journalctl --sync; journalctl --boot --no-pager -o cat -u systemd-udevd -p warning | grep -i gpuhelper >"$T/out"; }
no_complaints() { ! complaints; }

# systemd accepts the installed units
for u in /usr/lib/systemd/system/gpuhelper-*.service /usr/lib/systemd/system/gpuhelper-*.timer /usr/lib/systemd/system/gpuhelper-*.path; do
	t "systemd-analyze verify ${u##*/}" quiet systemd-analyze verify --man=no "$u"
done
t "the group was made at boot" grep -q ^gpuhelper: /etc/group
t "systemd-sysusers accepts its file" quiet systemd-sysusers /usr/lib/sysusers.d/gpuhelper.conf
made() {
	[ "$(stat -c '%a %G' /run/gpuhelper /var/log/gpuhelper /var/lib/gpuhelper | tr '\n' ,)" = "711 root,750 gpuhelper,700 root," ]
}
t "the directories were made at boot" made
t "systemd-tmpfiles accepts its file" quiet systemd-tmpfiles --create /usr/lib/tmpfiles.d/gpuhelper.conf
t "systemd-tmpfiles does not change the directories" made

# udev reads the rule
if udevadm verify --help >/dev/null 2>&1; then
	t "udevadm verify" udevadm verify "$rule"
fi
udev_test() { udevadm test "$(udevadm info -q path "$node")" >"$T/out" 2>&1; }
read_quietly() {
	udev_test && grep -q "$rule" "$T/out" &&
	    ! grep -E 'gpuhelper.rules:[0-9]+.*([Ii]nvalid|[Uu]nknown|[Ii]gnor|[Ff]ailed)' "$T/out"
}
t "udevadm test reads the rule without a complaint" read_quietly
# «udevadm test» prints the programs that it would start; the second form is systemd 257's
would_run='^(run: .|  RUN[{]program[}] : )/usr/sbin/gpuhelperctl reapply'
runs_reapply() { udev_test && grep -qE "$would_run" "$T/out"; }
runs_nothing() { udev_test && ! grep -qE "$would_run" "$T/out"; }
t "without leases the rule starts nothing" runs_nothing
t "reap" gpuhelperctl reap
t "with leases the rule starts reapply" runs_reapply
t "udevd has no complaint since boot" no_complaints

# a lease on a DRM node: udev resets the node, and the rule opens it again
hold() {
	setpriv --reuid worker --regid worker --init-groups -- sleep 100000 &
	holder=$!
	soon grep -q '^Uid:.1000' /proc/$holder/status
}
lease() { # lease user|group: a lease of worker's, and in the ledger an entry that opens the node to worker
	{
		lease_head $holder
		printf 'label -\ngpu intel 0000:00:02.0 - yes 1\nnode %s 226 128 432 0 0\ntasks no\nend\n' "$node"
	} >"$T/lease"
	ledger "$node" "226 128" "allow-$1" 1000 - -
	install -m 600 "$T/lease" "$(lease_path)"
}
# the entry is there, and the mask does not limit it (getfacl would show that in the same line)
entry() { getfacl -np "$node" >"$T/out" 2>&1; grep -qx "$1:1000:rw-" "$T/out"; }
opens() { setpriv --reuid 1000 --regid 1000 --clear-groups -- sh -c 'exec 3<>"$0"' "$node" 2>"$T/err"; }
open_to() { entry "$1" && opens; }
shut() { ! entry group && ! entry user && ! opens; }

change() { udevadm trigger --settle -c change "$node"; }
add() { udevadm trigger --settle -c add "$node"; }
replug() {
	pci=$(readlink -f "/sys/class/drm/${node##*/}/device")
	while [ ! -e "$pci/class" ]; do pci=${pci%/*}; done
	echo 1 >"$pci/remove"
	udevadm settle
	if [ -e "$node" ]; then return 1; fi
	echo 1 >/sys/bus/pci/rescan
	udevadm settle
	soon test -c "$node"
	udevadm settle
	[ "$(stat -c %t:%T "$node")" = e2:80 ]
}
rules() { # rules LINE...: installs udev rules of the test's own
	printf '%s\n' "$@" >/etc/udev/rules.d/72-test.rules
	udevadm control --reload
}

t "at first the node is closed to the worker" shut
rules 'SUBSYSTEM=="drm", KERNEL=="renderD128", MODE="0600"'
hold
lease group
t "reapply opens the node for a lease with a group's entry" gpuhelperctl reapply
t "the worker can open the node" open_to group
for event in change add replug; do
	t "$event: the event" $event
	t "$event: a group's entry is there and opens the node" open_to group
done
ln -s /dev/null /etc/udev/rules.d/60-gpuhelper.rules
udevadm control --reload
from_open() { gpuhelperctl reapply && open_to group && "$@"; }
for event in change add replug; do
	t "control: $event, without our rule" from_open $event
	t "control: after $event, without our rule, the node is shut" shut
done
rm /etc/udev/rules.d/60-gpuhelper.rules
udevadm control --reload

end_lease() {
	kill $holder
	gpuhelperctl reap
}
end_lease
t "the lease's end shuts the node" shut

# users' entries are for nodes that uaccess does not manage
hold
lease user
gpuhelperctl reapply
t "control: a user's entry" entry user
t "control: change, on a node that uaccess manages" change
gone() { ! entry user; }
t "control: uaccess removes the entry, so the helper uses groups there" gone
rules 'SUBSYSTEM=="drm", KERNEL=="renderD128", MODE="0600", TAG-="uaccess"'
# a device keeps a tag whose rule is gone until it is added again
for event in replug change add; do
	t "$event: the event, on a node that is not uaccess'" $event
	t "$event: a user's entry is there and opens the node" open_to user
done
t "udevd has no complaint about the rule, or about the programs that it started" no_complaints
end_lease
t "the lease's end shuts the node" shut
rm /etc/udev/rules.d/72-test.rules
udevadm control --reload

# a lease of the helper's, on nodes that udev does not know: gpuhelper-reap takes care of those
node=/dev/nvidia0
mount -t tmpfs -o mode=755 driver /proc/driver
cp -R /job/nvidia-2gpu/proc/driver/. /proc/driver/
mount --bind /job/nvidia-2gpu/proc/devices /proc/devices
mknod -m 600 /dev/nvidia0 c 195 0
mknod -m 600 /dev/nvidiactl c 195 255
mknod -m 600 /dev/nvidia-uvm c 510 0
mknod -m 600 /dev/nvidia-uvm-tools c 510 1
cat >/etc/gpuhelper/gpuhelper.conf <<END
runtime = "/job/hold";
unenforced = "allow";
privileged = "hide-gpus";
END
cat >/etc/gpuhelper/policy.d/10-worker.conf <<END
identity = "caller";
callers = [ "worker" ];
gpus = ( { vendor = "nvidia"; } );
END
mkdir -p "$T/bundle/rootfs"
chmod 755 "$T"
cat >"$T/bundle/config.json" <<END
{"ociVersion": "1.0.2", "root": {"path": "rootfs"}, "hostname": "h", "mounts": [],
 "process": {"terminal": false, "user": {"uid": 0, "gid": 0}, "args": ["/bin/sh"], "cwd": "/", "env": ["GPUHELPER_GPUS=1"]},
 "linux": {"uidMappings": [{"containerID": 0, "hostID": 1000, "size": 1}],
  "gidMappings": [{"containerID": 0, "hostID": 1000, "size": 1}], "namespaces": [{"type": "user"}, {"type": "mount"}]}}
END
# the wrapper's file for the runtime is beside it
chown -R worker:worker "$T/bundle"
HOLD_MS=600000 as_worker gpuhelper-runc --root "$T/root" run --bundle "$T/bundle" c1 >"$T/runc" 2>&1 &
holder=$!
# the number has no driver, so an allowed user gets ENXIO
let_in() { opens; grep -q 'No such device' "$T/err"; }
open_to() { entry "$1" && let_in; }
shut() { ! entry user && ! let_in && grep -q 'Permission denied' "$T/err"; }
t "gpuhelper-runc gets a GPU for the worker" soon entry user
t "the node is open to the worker" open_to user
chmod 0600 "$node"
t "chmod 0600 shuts the node" shut
succeeded() { [ "$(systemctl show --value -p Result gpuhelper-reap.service)" = success ]; }
t "gpuhelper-reap.service runs" systemctl start gpuhelper-reap.service
t "the service succeeds" succeeded
t "the service has opened the node again" open_to user

# numbers for Prometheus, written within what the unit allows; the directory is the exporter's, as its package makes it
page=/var/lib/prometheus/node-exporter/gpuhelper.prom
log=/var/log/gpuhelper/audit.jsonl
t "without an exporter gpuhelper-metrics.service is skipped" systemctl start gpuhelper-metrics.service
mkdir -p "${page%/*}"
chown worker "${page%/*}"
chmod 755 "${page%/*}"
mkdir -p /etc/systemd/system/gpuhelper-metrics.service.d
# These lines would give the service a /proc of its own, without the test's mounts.
printf '%s\n' '[Service]' ProtectKernelTunables=no ProtectControlGroups=no ProtectProc=default >/etc/systemd/system/gpuhelper-metrics.service.d/test.conf
systemctl daemon-reload
numbers() { systemctl start gpuhelper-metrics.service && cp "$page" "$T/page"; }
t "gpuhelper-metrics.service writes the numbers" numbers
all_up() { [ "$(grep -c '^gpuhelper_up{.*} 1$' "$T/page")" = 4 ] && ! grep -q '^gpuhelper_up{.*} 0$' "$T/page"; }
t "every part has numbers: GPUs, helper, configuration, log" all_up
t "the lease of the worker's container is among them" grep -qx 'gpuhelper_leases{state="held"} 1' "$T/page"
t "so is the lease's GPU" grep -q '^gpuhelper_gpu_leases{vendor="nvidia",pci="0000:3b:00.0".*} 1$' "$T/page"
one_held() { grep -qx 'gpuhelper_gpus{vendor="nvidia",state="held"} 1' "$T/page" && grep -qx 'gpuhelper_gpus{vendor="nvidia",state="free"} 1' "$T/page"; }
t "the other GPU is free" one_held
t "a policy that only root can list is counted" grep -qx 'gpuhelper_policies 1' "$T/page"
whose() { echo "$(stat -c %a:%U:%G "$page")" "$(ls -A "${page%/*}")" >"$T/out"; [ "$(cat "$T/out")" = "644:root:root gpuhelper.prom" ]; }
t "whoever can read the directory can read the file, which is root's, and nothing else is left there" whose
rm -r /etc/systemd/system/gpuhelper-metrics.service.d "$page"
systemctl daemon-reload
gpuhelperctl drain 1 >"$T/out" 2>&1
t "the service runs with all its restrictions, too" numbers
t "the numbers have the lease then, too" grep -qx 'gpuhelper_leases{state="held"} 1' "$T/page"
gpuhelperctl undrain --all >"$T/out" 2>&1
quiet_metrics() { journalctl --sync; ! journalctl --boot --no-pager -o cat -u gpuhelper-metrics.service | grep '^gpuhelperctl:' >"$T/out"; }
t "without a complaint" quiet_metrics
nothing_left() { [ ! -e /run/gpuhelper-metrics ]; }
t "what was handed over is gone" nothing_left

# The log is a pipe that ends when this test wants: so the service can be seen while it parses.
mv "$log" "$T/log"
mkfifo -m 640 "$log"
chgrp gpuhelper "$log"
exec 8<>"$log"
systemctl start --no-block gpuhelper-metrics.service
parses() {
	pid=$(systemctl show --value -p MainPID gpuhelper-metrics.service)
	[ "$pid" -gt 1 ] && ls -l "/proc/$pid/fd" 2>"$T/err" | grep -q " $log\$"
}
t "the service parses the log" soon parses
unprivileged() {
	cat "/proc/$pid/status" >"$T/out"
	[ "$(grep -c '^Cap\(Inh\|Prm\|Eff\|Bnd\|Amb\):.0*$' "$T/out")" = 5 ] && grep -q '^NoNewPrivs:.1$' "$T/out" && grep -q '^Seccomp:.2$' "$T/out" &&
	    awk '$1 == "Uid:" || $1 == "Gid:" { for (i = 2; i <= 5; i++) if ($i < 61184 || $i > 65519) exit 1; n++ } END { exit n != 2 }' "$T/out"
}
t "meanwhile it is a user of its own, and has no capability" unprivileged
none_is_root() {
	group=$(systemctl show --value -p ControlGroup gpuhelper-metrics.service)
	for p in $(cat "/sys/fs/cgroup$group/cgroup.procs"); do stat -c '%u %n' "/proc/$p"; done >"$T/out"
	[ -s "$T/out" ] && ! grep -q '^0 ' "$T/out"
}
t "no process of the service is root's" none_is_root
away_from_helper() { [ -z "$(nsenter -t "$pid" -m ls -A /run/gpuhelper /usr/libexec/gpuhelper | grep -v '^/\|^$')" ]; }
t "it cannot reach the helper" away_from_helper
printf '{"event":"grant","waited":7}\n{"event":"refuse","code":75}\n{"event":"refuse","code":77}\n' >&8
exec 8>&-
over() { [ "$(systemctl show --value -p ActiveState gpuhelper-metrics.service)" = inactive ]; }
t "it ends after the log" soon over
rm "$log"
mv "$T/log" "$log"
counted() {
	grep -qx 'gpuhelper_audit_records_total{event="refuse"} 2' "$page" && grep -qx 'gpuhelper_wait_seconds_sum 7' "$page" &&
	    grep -qx 'gpuhelper_up{part="audit-log"} 1' "$page"
}
t "it has counted these records" counted
t "the file is still root's" whose

# What if someone takes over the step that parses?  This unit is the same but for that step: root's steps come before and after.
unit=/run/systemd/system/evil.service
sed -e 's|^Description=.*|Description=evil|' -e 's|^ExecStart=.*|ExecStart=/bin/sh /job/evil|' \
    /usr/lib/systemd/system/gpuhelper-metrics.service >"$unit"
mkdir -p /run/secrets
chmod 700 /run/secrets
echo 'secret 1' >/run/secrets/file
chmod 600 /run/secrets/file
cp "$page" "$T/page"
as_before() { [ "$(cat "$page")" = "$(cat "$T/page")" ]; }
evil() { # evil COMMAND: the step does that with its own output; the service must fail within seconds, and change nothing
	printf 'cd "$RUNTIME_DIRECTORY" || exit\n%s\n' "$1" >/job/evil
	systemctl daemon-reload
	timeout 25 systemctl start evil.service 2>"$T/err"
	status=$?
	journalctl --sync
	journalctl -n 5 --no-pager -o cat -u evil.service >"$T/out"
	[ $status != 0 ] && [ $status != 124 ] && as_before && whose
}
while IFS='	' read -r what command; do
	t "evil step: $what" evil "$command"
done <<'END'
a link to a file of root's	ln -s /run/secrets/file gpuhelper.prom
a link to a file that everybody can read	ln -s /etc/passwd gpuhelper.prom
a pipe	mkfifo gpuhelper.prom
a directory	mkdir gpuhelper.prom
a file without an end	truncate -s 1T gpuhelper.prom
a file that is too large	head -c 8388608 /dev/zero >gpuhelper.prom
nothing	:
END
# a step that goes on while root looks: what comes out is a page of its own, whole, or the old one
race='(while :; do ln -s /run/secrets/file a; mv -T a gpuhelper.prom; echo "own 1" >b; mv -T b gpuhelper.prom; done) 2>/dev/null &'
raced() {
	cp "$T/page" "$page"
	evil "$race"
	[ $status != 124 ] && { as_before || [ "$(cat "$page")" = "own 1" ]; } && whose
}
for i in 1 2 3; do t "evil step: it changes its output while root looks ($i)" raced; done
grows='(while :; do echo "own 1"; done >>gpuhelper.prom) &'
grown() {
	cp "$T/page" "$page"
	evil "$grows"
	[ $status != 124 ] && [ "$(stat -c %s "$page")" -le 1048576 ] && whose
}
t "evil step: its output grows while root reads it" grown
systemctl reset-failed evil.service
rm -r "$unit" /run/secrets "$page"
systemctl daemon-reload

exposure() { systemd-analyze security --no-pager --threshold="$2" "$1" >"$T/out" 2>&1; r=$?; tail -1 "$T/out" | sed 's/^/# /'; return $r; }
t "systemd-analyze security gpuhelper-metrics.service: 0.4 or less" exposure gpuhelper-metrics.service 4

t "the timer can be enabled" quiet systemctl --quiet enable --now gpuhelper-reap.timer
t "the timer is enabled" systemctl --quiet is-enabled gpuhelper-reap.timer
t "the timer is active" systemctl --quiet is-active gpuhelper-reap.timer
due() { case $(systemctl show --value -p NextElapseUSecMonotonic gpuhelper-reap.timer) in ''|infinity) return 1 ;; esac; }
# More than a minute after the boot the timer starts the service at once, and is due again only after the service's end.
t "the timer has a next time" soon due
# more often than every minute, so that the test ends soon
mkdir -p /etc/systemd/system/gpuhelper-reap.timer.d
printf '%s\n' '[Timer]' 'OnBootSec=' 'OnBootSec=1s' 'OnUnitActiveSec=2s' 'AccuracySec=1s' \
    >/etc/systemd/system/gpuhelper-reap.timer.d/test.conf
systemctl daemon-reload
systemctl restart gpuhelper-reap.timer
chmod 0600 "$node"
t "the timer starts the service, which opens the node" soon open_to user
t "the service succeeds" succeeded
# the wrapper waits for the runtime, so both end
end_program() { for p in /proc/[0-9]*; do [ "$(readlink "$p/exe")" != "$1" ] || kill "${p#/proc/}"; done; }
end_program /job/hold
wait $holder
t "after the container's end the timer ends the lease" soon sh -c '! ls /run/gpuhelper/leases/* >/dev/null 2>&1'
t "the node is shut" shut
t "the service succeeds" succeeded
# Without an issuer there is nothing to fetch; the check shows that systemd starts the service with its restrictions.
t "gpuhelper-keys.service runs" systemctl start gpuhelper-keys.service

# specs of the GPUs: only an ELF header stands in for a driver's library, which is enough for ldconfig
spec=/run/cdi/gpuhelper-nvidia.json
cp /job/64 /usr/lib/x86_64-linux-gnu/libcuda.so.580.95.05
ldconfig
# Either line would give the service a /proc of its own, which has the driver's directory but not the test's mounts.
mkdir -p /etc/systemd/system/gpuhelper-cdi.service.d
printf '%s\n' '[Service]' ProtectKernelTunables=no ProtectControlGroups=no >/etc/systemd/system/gpuhelper-cdi.service.d/test.conf
t "before gpuhelper-cdi is enabled there is no spec" test ! -e "$spec"
t "gpuhelper-cdi.service can be enabled" quiet systemctl --quiet enable --now gpuhelper-cdi.service
t "the service writes a spec" grep -q '"hostPath": "/usr/lib/x86_64-linux-gnu/libcuda.so.580.95.05"' "$spec"
t "gpuhelper-cdi.path starts with it" systemctl --quiet is-active gpuhelper-cdi.path
t "gpuhelper-cdi.path is enabled, too" systemctl --quiet is-enabled gpuhelper-cdi.path
rm "$spec"
ldconfig
t "after ldconfig the spec is written again" soon test -e "$spec"
rm "$spec"
node=/dev/dri/renderD128
t "a driver's device is added" replug
t "the spec is written again" soon test -e "$spec"
sed -i 's/580.95.05/590.1/' /proc/driver/nvidia/version
ldconfig
says_so() { journalctl --sync; journalctl --boot --no-pager -o cat -u gpuhelper-cdi.service | grep -q '/etc/ld.so.cache has no libraries of driver 590.1, but of 580.95.05'; }
t "the journal reports a driver without its libraries" soon says_so
# the audit log's follower, with the real journal
log=/var/log/gpuhelper/audit.jsonl
say_refused() { printf '{"time":"2026-01-01T00:00:00Z","event":"refuse","reason":"%s","code":77}\n' "$1" >>"$log"; }
heard() {
	journalctl --sync
	[ "$(journalctl -o cat --no-pager MESSAGE_ID=0f6c2a4f9a0a4b0c8f4e5d1c7b3a9e22 GPUHELPER_CODE=77 "GPUHELPER_REASON=$1" | wc -l)" = 1 ]
}
confined() {
	pid=$(systemctl show --property=MainPID --value gpuhelper-audit.service)
	[ "$(stat -c %u "/proc/$pid")" -ge 61184 ] && grep -q '^NoNewPrivs:.1' "/proc/$pid/status" && grep -q '^CapEff:.0*$' "/proc/$pid/status" &&
	    [ -z "$(nsenter -t "$pid" -m ls -A /run/gpuhelper /usr/libexec/gpuhelper | grep -v '^/\|^$')" ]
}
say_refused one
t "gpuhelper-audit.service can be enabled" quiet systemctl --quiet enable --now gpuhelper-audit.service
t "the journal has the log's existing records" soon heard one
say_refused two
t "the journal gets new records" soon heard two
t "the follower has neither root's rights nor access to the helper" confined
systemctl stop gpuhelper-audit.service
say_refused three
systemctl start gpuhelper-audit.service
t "records written while it was down come later" soon heard three
t "no record comes twice" sh -c '[ "$(journalctl -o cat --no-pager MESSAGE_ID=0f6c2a4f9a0a4b0c8f4e5d1c7b3a9e22 GPUHELPER_CODE=77 | wc -l)" = 3 ]'
# many records at once, beyond the journal's rate limit (its default is a thousand times this, depending on free disk space)
mkdir -p /etc/systemd/journald.conf.d
printf '[Journal]\nRateLimitBurst=10\n' >/etc/systemd/journald.conf.d/test.conf
systemctl restart systemd-journald.service
systemctl stop gpuhelper-audit.service
i=0
while [ $i -lt 1000 ]; do i=$((i + 1)); say_refused "many $i"; done
systemctl start gpuhelper-audit.service
t "a thousand records at once come, too" soon heard "many 1000"
t "none of them is dropped" sh -c '[ "$(journalctl -o cat --no-pager MESSAGE_ID=0f6c2a4f9a0a4b0c8f4e5d1c7b3a9e22 GPUHELPER_CODE=77 | grep -c ": many [0-9]*$")" = 1000 ]'
t "systemd-analyze security gpuhelper-audit.service: 0.2 or less" exposure gpuhelper-audit.service 2
# the GPUs' health, read within what the unit allows
t "gpuhelper-health.timer can be enabled" quiet systemctl --quiet enable --now gpuhelper-health.timer
t "gpuhelper-health.service runs" quiet systemctl start gpuhelper-health.service
read_log() { journalctl --sync; ! journalctl --boot --no-pager -o cat -u gpuhelper-health.service | grep -q "log was not checked"; }
t "the service reads the kernel's log" read_log
t "the service records what it has seen" test -s /var/lib/gpuhelper/health
t "the directory is still root's alone" made
t "systemd-analyze security gpuhelper-health.service: 1.3 or less" exposure gpuhelper-health.service 13
none_failed() { systemctl --failed --no-legend --no-pager >"$T/out"; ! [ -s "$T/out" ]; }
t "no unit of this machine has failed" none_failed
uncomplaining() { ! unit_warnings >"$T/out"; }
t "systemd has no complaint about the units" uncomplaining

echo "1..$n"
[ $bad = 0 ]
