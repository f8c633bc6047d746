#!/bin/sh
# On a host with a real NVIDIA GPU: run.sh KIT   (KIT from kit.sh; needs no network, no package, and root)
#
# The demo with the real GPU; nvidia-smi in the granted container sees that one GPU; a plain container sees none, and
# can't open a node that it makes itself.  Prints TAP, and what was seen as comments.
set -eu
here=$(cd "$(dirname "$0")/../.." && pwd)
kit=$(cd "$1" && pwd)
if [ "${GPU_STAGE:-}" != inside ]; then
	[ -e /proc/driver/nvidia/gpus ] || { echo "1..0 # SKIP this host has no NVIDIA GPU"; exit 0; }
	GPU_STAGE=inside exec sh "$here/tests/lib/sandbox.sh" --gpu host --kit "$kit" -- sh "$here/tests/gpu/run.sh" "$kit"
fi
n=0 bad=0
ok() { # ok NAME COMMAND...
	name=$1; shift
	n=$((n + 1))
	if "$@" >/tmp/ok.out 2>&1; then echo "ok $n - gpu: $name"; else echo "not ok $n - gpu: $name"; sed 's/^/#   /' /tmp/ok.out; bad=1; fi
}
echo "# $(sed -n 1p /proc/driver/nvidia/version)"
echo "# $(uname -r), $(runc --version | head -n 1), cgroup $(stat -fc %T /sys/fs/cgroup)"
gpuhelperctl devices | sed 's/^/# /'
smi=$(command -v nvidia-smi || ls /usr/local/nvidia/bin/nvidia-smi)
uuid=$("$smi" -L | sed -n '1s/.*UUID: \(GPU-[^)]*\).*/\1/p')
count=$("$smi" -L | grep -c UUID)
ok "gpuhelperctl devices and nvidia-smi name the same GPU" sh -c "gpuhelperctl devices | grep -q '$uuid'"

# a root file system with nvidia-smi and the libraries that it needs, by their own paths
top=/run/gpu-test
root=$top/vol/rootfs
for d in bin proc sys dev tmp etc srv lib64; do mkdir -p $root/$d; done
cp /bin/busybox $root/bin/
for a in sh ls cat grep mknod wc; do ln -s busybox $root/bin/$a; done
copy() { mkdir -p "$root$(dirname "$1")"; cp -L "$1" "$root$1"; }
ml=$(ldconfig -p | sed -n 's/.*libnvidia-ml.so.1 .*=> //p' | head -n 1)
[ -n "$ml" ] || ml=$(find /usr -name libnvidia-ml.so.1 2>/dev/null | head -n 1)
copy "$smi"
copy "$ml"
for f in $(ldd "$smi" "$ml" | sed -n 's/.*=> \(\/[^ ]*\) .*/\1/p; s/^[[:space:]]*\(\/lib[^ ]*\) .*/\1/p' | sort -u); do copy "$f"; done
chown -R 4294967294:4294967294 $root
mkdir -p /srv/datasets
echo "a data set" > /srv/datasets/README
echo "volumes = [ \"$top/vol\" ];" > /etc/gpuhelper/gpuhelper.conf
cat > /etc/gpuhelper/policy.d/10-train.conf <<EOF
pipeline = "ml/train";
identity = "claim";
gpus = ( { vendor = "nvidia"; devices = [ "$uuid" ]; } );
folders = ( { path = "/srv/datasets"; access = "ro"; } );
EOF

run() { # run NAME SAMPLE SCRIPT ENV...
	name=$1 sample=$2 script=$3; shift 3
	mkdir -p $top/$name
	python3 - "$here/tests/fixtures/oci/$sample.json" $top/$name/config.json "$root" "$script" "$(dirname "$ml")" "$@" <<'EOF'
import json, os, re, sys
source, target, rootfs, script, libs, *env = sys.argv[1:]
spec = json.load(open(source))
spec['root']['path'] = rootfs
spec['process']['args'] = ['/bin/sh', '-c', script]
spec['process']['env'] = ['PATH=/bin', 'NVIDIA_VISIBLE_DEVICES=all', 'LD_LIBRARY_PATH=' + libs] + env
spec['mounts'] = [m for m in spec['mounts'] if m['type'] != 'bind']
for m in spec['mounts']:
    if m['destination'] == '/sys/fs/cgroup' and os.path.exists('/sys/fs/cgroup/devices'):
        m.update(type='cgroup', source='cgroup')
if 'cgroupsPath' in spec['linux']:
    spec['linux']['cgroupsPath'] = 'garden/' + os.path.basename(os.path.dirname(target))
bounding = int(re.search(r'CapBnd:\s*(\w+)', open('/proc/self/status').read()).group(1), 16)
for k, caps in spec['process']['capabilities'].items():
    spec['process']['capabilities'][k] = [c for c in caps if c != 'CAP_SYS_RESOURCE' or bounding >> 24 & 1]
json.dump(spec, open(target, 'w'))
EOF
	start=$(date +%s%N)
	gpuhelper-runc --root $top/runc run --bundle $top/$name "$name" > $top/$name.out 2>&1 < /dev/null || echo "status $?" >> $top/$name.out
	echo "# $name: $((($(date +%s%N) - start) / 1000000)) ms"
	sed 's/^/#     /' $top/$name.out
}

ASK="BUILD_TEAM_NAME=ml BUILD_PIPELINE_NAME=train GPUHELPER_GPUS=1"
run granted task "ls /dev | grep nvidia; $smi -L; $smi --query-gpu=name,driver_version,memory.total --format=csv,noheader" $ASK
ok "nvidia-smi in the granted container sees the GPU" grep -q "UUID: $uuid" $top/granted.out
ok "and no other" sh -c "[ \$(grep -c 'UUID:' $top/granted.out) = 1 ]"
run plain task "ls /dev | grep nvidia; $smi -L"
ok "the plain container has no node" sh -c "! grep -q '^nvidia' $top/plain.out"
ok "and nvidia-smi finds nothing there" sh -c "! grep -q UUID $top/plain.out"
run privileged task-privileged "mknod /tmp/n c 195 0; mknod /tmp/c c 195 255; (: < /tmp/n) 2>&1; (: < /tmp/c) 2>&1; $smi -L"
ok "a privileged plain container opens no node that it makes" sh -c "[ \$(grep -c 'Operation not permitted' $top/privileged.out) -ge 2 ] && ! grep -q UUID $top/privileged.out"
sed 's/devices = .*/devices = [ "GPU-99999999-2222-3333-4444-555555555555" ]; } );/' -i /etc/gpuhelper/policy.d/10-train.conf
run unknown task "$smi -L" $ASK
ok "a policy for a GPU that is not here is a clear refusal" grep -q 'this host has 0 of the nvidia GPUs' $top/unknown.out
[ "$count" -gt 1 ] || echo "# one GPU on this host: that another stays hidden is shown by the simulated hosts only"
ok "no lease is left" sh -c '[ -z "$(ls /run/gpuhelper/leases)" ]'
echo "1..$n"
exit $bad
