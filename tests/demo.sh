#!/bin/sh
# Shows the main job: sudo sh tests/demo.sh
#
# Installs what it needs, builds, and creates three containers with real runc through gpuhelper-runc: the first gets a
# GPU and two folders by its policy, the second asks for too much, the third asks for nothing.  Everything happens in
# a private copy of this host's file system and process table (tests/lib/sandbox.sh), so nothing stays installed.
# Without an NVIDIA GPU the private host simulates one, and the output says so.
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
deps=yes tap=no kit=
while [ $# -gt 0 ]; do
	case $1 in
	--no-deps) deps=no; shift ;;
	--tap) tap=yes; shift ;;
	--kit) kit=$2 deps=no; shift 2 ;;	# prebuilt binaries (tests/gpu/kit.sh), so nothing is built
	*) echo "usage: demo.sh [--no-deps] [--tap] [--kit DIR]" >&2; exit 2 ;;
	esac
done
[ "$(id -u)" = 0 ] || { echo "demo.sh: must run as root: sudo sh tests/demo.sh" >&2; exit 2; }
if [ "${DEMO_STAGE:-}" != inside ]; then
	[ $deps = no ] || sh "$here/tests/deps.sh" demo
	[ -n "$kit" ] || make -s -C "$here" -j"$(nproc)"
	gpu=nvidia-2gpu
	[ ! -e /proc/driver/nvidia/gpus ] || gpu=host
	set -- --no-deps
	[ $tap = no ] || set -- --no-deps --tap
	DEMO_STAGE=inside DEMO_GPU=$gpu exec sh "$here/tests/lib/sandbox.sh" --gpu "$gpu" --kit "$kit" -- sh "$here/tests/demo.sh" "$@"
fi

# from here on inside the private host
say() { if [ $tap = yes ]; then echo "# $*"; else echo "$*"; fi; }
n=0
check() { # check WHAT CONDITION...
	what=$1; shift
	n=$((n + 1))
	if "$@"; then [ $tap = no ] || echo "ok $n - demo: $what"; else echo "not ok $n - demo: $what"; bad=1; fi
}
bad=0
demo=/run/demo
mkdir -p $demo/vol/rootfs /srv/datasets /srv/outputs/train
if [ "$DEMO_GPU" = host ]; then
	say "GPUs of this host:"
else
	say "This host has no NVIDIA GPU: two SIMULATED ones are laid in a private /proc/driver/nvidia and /dev"
	say "(no driver answers for them: opening one that is granted says «No such device or address»)."
fi
gpuhelperctl devices | while IFS= read -r l; do say "    $l"; done

# a root file system, two folders of the host, a policy
for d in bin proc sys dev tmp etc srv; do mkdir -p $demo/vol/rootfs/$d; done
cp /bin/busybox $demo/vol/rootfs/bin/
for a in sh ls cat echo grep touch; do ln -sf busybox $demo/vol/rootfs/bin/$a; done
echo "a data set" > /srv/datasets/README
chown -R 4294967294:4294967294 $demo/vol/rootfs /srv/outputs/train
cat > /etc/gpuhelper/gpuhelper.conf <<EOF
volumes = [ "$demo/vol" ];
EOF
cat > /etc/gpuhelper/policy.d/10-train.conf <<'EOF'
pipeline = "ml/train";
identity = "claim";              # only for a demo: gpuhelper believes the container's own word
gpus     = ( { vendor = "nvidia"; devices = [ "0" ]; count = 1; } );
folders  = ( { path = "/srv/datasets"; access = "ro"; },
             { path = "/srv/outputs/train"; access = "rw"; target = "/srv/outputs"; } );
EOF
say ""
say "/etc/gpuhelper/policy.d/10-train.conf:"
while IFS= read -r l; do say "    $l"; done < /etc/gpuhelper/policy.d/10-train.conf

INSIDE='ls /dev | grep nvidia | while read n; do echo "/dev/$n: $( (: < /dev/$n) 2>&1 || true)"; done
echo "GPU nodes in /dev: $(ls /dev | grep -c nvidia); in /srv: $(ls /srv | tr "\n" " ")"
[ -e /srv/datasets ] && echo "read /srv/datasets: $(cat /srv/datasets/README); write: $(touch /srv/datasets/x 2>&1 || true)"
[ -e /srv/outputs ] && touch /srv/outputs/result && echo "write /srv/outputs: ok"
true'

# container NAME ENV...: makes a bundle as a Concourse worker does, and runs it with gpuhelper-runc
container() {
	name=$1; shift
	mkdir -p $demo/$name
	rm -rf $demo/vol/rootfs/srv		# each container starts from the same image
	mkdir $demo/vol/rootfs/srv
	chown 4294967294:4294967294 $demo/vol/rootfs/srv
	python3 - "$here/tests/fixtures/oci/task.json" $demo/$name/config.json "$demo/vol/rootfs" "$INSIDE" "$@" <<'EOF'
import json, os, sys
source, target, rootfs, script, *env = sys.argv[1:]
spec = json.load(open(source))
spec['root']['path'] = rootfs
spec['process']['args'] = ['/bin/sh', '-c', script]
spec['process']['env'] = ['PATH=/bin', 'NVIDIA_VISIBLE_DEVICES=all'] + env
spec['mounts'] = [m for m in spec['mounts'] if m['type'] != 'bind']
for m in spec['mounts']:
    if m['destination'] == '/sys/fs/cgroup' and os.path.exists('/sys/fs/cgroup/devices'):
        m.update(type='cgroup', source='cgroup')
spec['linux']['cgroupsPath'] = 'garden/' + os.path.basename(os.path.dirname(target))
json.dump(spec, open(target, 'w'))
EOF
	say ""
	say "== container \"$name\": ${*:-asks for nothing} (its image says NVIDIA_VISIBLE_DEVICES=all)"
	set +e
	gpuhelper-runc --root /run/demo/runc run --bundle $demo/$name "$name" > $demo/$name.out 2>&1 < /dev/null
	status=$?
	set -e
	while IFS= read -r l; do say "    $l"; done < $demo/$name.out
	say "    exit status $status"
}

container granted BUILD_TEAM_NAME=ml BUILD_PIPELINE_NAME=train GPUHELPER_GPUS=1 GPUHELPER_FOLDERS=/srv/datasets:ro,/srv/outputs/train:rw
check "the granted container runs" [ $status = 0 ]
check "its task sees the GPU" grep -q '^/dev/nvidia0:' $demo/granted.out
check "its task sees no other GPU" sh -c "! grep -q '^/dev/nvidia[1-9]' $demo/granted.out"
check "its task can read one folder, and cannot write it" grep -q 'read /srv/datasets: a data set; write: .*Read-only' $demo/granted.out
check "its task can write the other one" test -e /srv/outputs/train/result
container greedy BUILD_TEAM_NAME=ml BUILD_PIPELINE_NAME=train GPUHELPER_GPUS=2
check "a container that asks for too much is refused" [ $status = 1 ]
check "the refusal is one clear line" sh -c "[ \$(wc -l < $demo/greedy.out) = 1 ] && grep -q '2 GPUs asked for, and it gives a container at most 1' $demo/greedy.out"
container plain
check "the plain container runs" [ $status = 0 ]
check "it has no GPU" sh -c "! grep -q /dev/nvidia $demo/plain.out"
say ""
say "/var/log/gpuhelper/audit.jsonl:"
while IFS= read -r l; do say "    $l"; done < /var/log/gpuhelper/audit.jsonl
check "grant, end and refusal are in the audit log" sh -c "[ \"\$(sed 's/.*\"event\":\"\([a-z]*\)\".*/\1/' /var/log/gpuhelper/audit.jsonl | tr '\n' ' ')\" = 'grant end refuse ' ]"
check "no lease is left" sh -c '[ -z "$(ls /run/gpuhelper/leases)" ]'
say ""
say "Everything above happened in a private copy of this host, which is gone now. Next: README.md, «Install it on a Concourse"
say "worker» and «A first policy»; policies are explained in gpuhelper-policy(5) (man helper/man/gpuhelper-policy.5)."
[ $tap = no ] || echo "1..$n"
exit $bad
