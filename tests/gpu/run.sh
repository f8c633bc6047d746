#!/bin/sh
# On a host with a real NVIDIA GPU: run.sh KIT   (KIT from kit.sh; needs root, but no network and no package)
#
# Writes a CDI spec.  Containers from images with a C library, a shell and no NVIDIA file, once with Debian's library
# directories and once with RHEL's, then run nvidia-smi and a CUDA program with what gpuhelper brings in.  A plain
# container and one with another capability do not get the GPU, and cannot open nodes that they make.  Prints TAP, and
# the observations and times as comments.
#
# RHEL's image has Debian's C library, with the loader's directories (constants in it) changed to RHEL's.
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
ms() { echo $(($(date +%s%N) / 1000000)); }
echo "# $(sed -n 1p /proc/driver/nvidia/version)"
echo "# $(uname -r), $(runc --version | head -n 1), cgroup $(stat -fc %T /sys/fs/cgroup)"
gpuhelperctl devices | sed 's/^/# /'
smi=$(command -v nvidia-smi || ls /usr/local/nvidia/bin/nvidia-smi)
uuid=$("$smi" -L | sed -n '1s/.*UUID: \(GPU-[^)]*\).*/\1/p')
count=$("$smi" -L | grep -c UUID)
ok "gpuhelperctl devices and nvidia-smi name the same GPU" sh -c "gpuhelperctl devices | grep -q '$uuid'"

# the spec
mkdir -p /etc/cdi
spec=/etc/cdi/nvidia.json
start=$(ms)
ok "gpuhelperctl cdi generate" gpuhelperctl cdi generate --vendor nvidia --output $spec
echo "# cdi generate: $(($(ms) - start)) ms, $(wc -c < $spec) bytes, $(grep -c hostPath $spec) mounts"
sed 's/^/#   /' /tmp/ok.out
ok "its spec is valid, and safe on this host" gpuhelperctl cdi validate $spec
ok "the spec has the GPU's names" sh -c "gpuhelperctl devices | grep -q 'CDI device nvidia.com/gpu='"

# images
top=/run/gpu-test
make_image() { # make_image DIR LIBDIR
	root=$1
	for d in bin proc sys dev tmp etc srv lib64 "${2#/}"; do mkdir -p "$root/$d"; done
	cp /bin/busybox "$root/bin/"
	for a in sh ls cat grep mknod wc find; do ln -s busybox "$root/bin/$a"; done
	cp "$kit/vectoradd" "$root/bin/"
	cp "$kit"/image/lib*.so* "$root$2/"
	cp "$kit"/image/ld-linux* "$root/lib64/"
	if [ "$2" = /lib64 ]; then
		python3 - "$root"/lib64/ld-linux* <<-'EOF'
		import sys
		data = open(sys.argv[1], 'rb').read()
		old, new = b'/lib/x86_64-linux-gnu/\0', b'/lib64//./././././././\0'
		assert len(old) == len(new) and data.count(old) > 1
		open(sys.argv[1], 'wb').write(data.replace(old, new))
		EOF
	fi
	chown -R 4294967294:4294967294 "$root"
}
make_image $top/vol/debian /lib/x86_64-linux-gnu
make_image $top/vol/rhel /lib64
ok "the images have no file of NVIDIA's" sh -c "! find $top/vol | grep -i -e nvidia -e libcuda"
mkdir -p /srv/datasets
echo "a data set" > /srv/datasets/README
echo "volumes = [ \"$top/vol\" ]; privileged = \"hide-gpus\";" > /etc/gpuhelper/gpuhelper.conf
policy() { # policy RULE
	cat > /etc/gpuhelper/policy.d/10-train.conf <<-EOF
	pipeline = "ml/train";
	identity = "claim";
	gpus = ( { $1 } );
	folders = ( { path = "/srv/datasets"; access = "ro"; } );
	EOF
}

run() { # run NAME IMAGE SAMPLE SCRIPT ENV...
	name=$1 image=$2 sample=$3 script=$4; shift 4
	mkdir -p $top/$name
	python3 - "$here/tests/fixtures/oci/$sample.json" $top/$name/config.json $top/vol/$image "$script" "$@" <<'EOF'
import json, os, re, sys
source, target, rootfs, script, *env = sys.argv[1:]
spec = json.load(open(source))
spec['root']['path'] = rootfs
spec['process']['args'] = ['/bin/sh', '-c', script]
spec['process']['env'] = ['PATH=/bin:/usr/bin', 'NVIDIA_VISIBLE_DEVICES=all'] + env
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
	start=$(ms)
	gpuhelper-runc --root $top/runc run --bundle $top/$name "$name" > $top/$name.out 2>&1 < /dev/null || echo "status $?" >> $top/$name.out
	echo "# $name: $(($(ms) - start)) ms"
	sed 's/^/#     /' $top/$name.out
}

ASK="BUILD_TEAM_NAME=ml BUILD_PIPELINE_NAME=train GPUHELPER_GPUS=1"
SEE="ls /dev | grep nvidia; nvidia-smi -L; nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader; vectoradd"
policy "vendor = \"nvidia\"; devices = [ \"$uuid\" ];"
for image in debian rhel; do
	# mount points that a runtime makes stay in an image, so each container has its own
	cp -a $top/vol/$image $top/vol/used-$image
	run granted-$image used-$image task "$SEE" $ASK
	ok "$image: nvidia-smi sees the GPU, and no other" sh -c "grep -q 'UUID: $uuid' $top/granted-$image.out && [ \$(grep -c UUID: $top/granted-$image.out) = 1 ]"
	ok "$image: a CUDA program runs, and is right" grep -q 'elements are right, on the first of 1 GPUs' $top/granted-$image.out
done
policy "vendor = \"nvidia.com/gpu\"; devices = [ \"0\" ];"
cp -a $top/vol/debian $top/vol/by-name
run by-name by-name task "$SEE" $ASK
ok "by a CDI device's name: the same" grep -q 'elements are right' $top/by-name.out
policy "vendor = \"nvidia\"; capabilities = [ \"utility\" ];"
cp -a $top/vol/debian $top/vol/utility
run utility utility task "$SEE" $ASK
ok "the capability «utility» alone: nvidia-smi is there" grep -q "UUID: $uuid" $top/utility.out
ok "the capability «utility» alone: CUDA is not there" sh -c "grep -q 'vectoradd: libcuda.so.1: cannot open' $top/utility.out && ! grep -q nvidia-uvm $top/utility.out"
policy "vendor = \"nvidia\"; devices = [ \"$uuid\" ];"
run plain debian task "ls /dev | grep nvidia; vectoradd; find / -name 'libcuda*' -o -name 'libnvidia*'"
ok "the plain container has no node, no driver file, and no CUDA" sh -c "! grep -q -e '^nvidia' -e '^/.*lib' -e right $top/plain.out && grep -q 'cannot open' $top/plain.out"
run privileged debian task-privileged "mknod /tmp/n c 195 0; mknod /tmp/c c 195 255; (: < /tmp/n) 2>&1; (: < /tmp/c) 2>&1"
ok "a privileged plain container opens no node that it makes" sh -c "[ \$(grep -c 'Operation not permitted' $top/privileged.out) -ge 2 ]"
policy 'vendor = "nvidia"; devices = [ "GPU-99999999-2222-3333-4444-555555555555" ];'
run unknown debian task "$SEE" $ASK
ok "a policy for a GPU that this host lacks gives a clear refusal" grep -q 'this host has 0 of the nvidia GPUs' $top/unknown.out
[ "$count" -gt 1 ] || echo "# one GPU on this host: that another stays hidden is shown by the simulated hosts only"
ok "no lease is left" sh -c '[ -z "$(ls /run/gpuhelper/leases)" ]'
echo "1..$n"
exit $bad
