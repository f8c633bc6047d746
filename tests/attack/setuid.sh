#!/bin/sh
# Attacks on the setuid helper by an unprivileged user in group gpuhelper.  TAP on standard output.
#
#	sh tests/attack/setuid.sh [ID|FILE|!FILE]...	(for example Y1, t_acl, or all files but one: «!t_fault»)
#
# Runs as root in tests/lib/sandbox.sh --gpu nvidia-2gpu, and enters that sandbox by itself.  BUILD=DIR names another
# build.  ATTACK_TIMES=1 prints the duration of each case.  ATTACK_LONG=1 tries more faults, which takes many minutes.
#
# The letter of an ID says what is attacked: A arguments, D devices, E environment, F file descriptors, G the log, H
# the log's chain, I identity, K killed or failing at any point, L leases, M metrics, N nodes and their ACLs, P policies, Q
# the programs that the helper starts, R resource limits, S signals and time, T tokens, U use of a node, V folders, W a
# GPU with two holders, X delaying others, Y code inside our programs.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
[ "$(id -u)" = 0 ] || { echo "setuid.sh: must run as root" >&2; exit 2; }
if ! grep -q ' /proc/devices ' /proc/self/mountinfo; then
	exec sh "$here/../lib/sandbox.sh" --gpu nvidia-2gpu ${BUILD:+--build "$BUILD"} -- sh "$here/setuid.sh" "$@"
fi

ATTACK_TEMP=$(mktemp -d /tmp/attack.XXXXXX)
# a test that was killed leaves its FUSE file systems mounted
trap 'umount -l "$ATTACK_TEMP"/silent-* 2>/dev/null || :; rm -rf "$ATTACK_TEMP"' EXIT
chmod 755 "$ATTACK_TEMP"
mkdir -m 1777 "$ATTACK_TEMP/scratch"
mkdir -m 1777 "$ATTACK_TEMP/marks"
export ATTACK_TEMP

for p in launch poke killat faultat stopat payload fusemap evilread; do
	${CC:-cc} -O1 -Wall -Wextra -D_GNU_SOURCE -o "$ATTACK_TEMP/$p" "$here/$p.c"
done
${CC:-cc} -shared -fPIC -Wall -DMARK="\"$ATTACK_TEMP/marks/mark\"" -o "$ATTACK_TEMP/preload.so" "$here/preload.c"
${CC:-cc} -O1 -shared -fPIC -fno-builtin -Wall -Wextra -D_GNU_SOURCE -o "$ATTACK_TEMP/nomem.so" "$here/nomem.c"
b=${BUILD:-$here/../../build}
${CC:-cc} -pie -o "$ATTACK_TEMP/gpuhelper-dynamic" "$b/helper/root/main.o" "$b/libroot.a" "$b/libhost.a" "$b/libpure.a"

for u in attacker victim; do
	useradd --create-home "$u"
	usermod --append --groups gpuhelper "$u"
done

# rootless as the users are, exclusive GPUs have to be allowed
cat >/etc/gpuhelper/gpuhelper.conf <<-'EOF'
	unenforced = "allow";
EOF
for u in attacker victim root; do
	cat >"/etc/gpuhelper/policy.d/50-$u.conf" <<-EOF
		identity = "caller";
		callers = [ "$u" ];
		gpus = ( { vendor = "nvidia"; count = 2; } );
		folders = (
			{ path = "/srv/ro"; access = "ro"; },
			{ path = "/srv/rw"; access = "rw"; },
			{ path = "/srv/alias"; access = "rw"; },
			{ path = "/srv/tree/ro"; access = "ro"; },
			{ path = "/srv/tree"; access = "rw"; subfolders = true; }
		);
	EOF
done

umask 022
mkdir -p /srv/ro /srv/rw /srv/rwx /srv/private /srv/treefrog /srv/tree
cd /srv/tree
mkdir -p mine/sub open/sub acl/sub dir closed ro
chown attacker: /srv/rw mine
chmod 777 open
setfacl -m u:attacker:rwx acl
chmod 700 closed /srv/private
touch file
mkfifo fifo
mknod null c 1 3
ln -s /etc link
ln -s /nowhere dangling
ln -s mine inner
ln -s .. dir/up
ln -s /srv/rw /srv/alias

cd "$here"
python3 -B -c 'import sys, harness, t_process, t_policy, t_lease, t_acl, t_cgroup, t_token, t_inuse, t_twice, t_spaces, t_stall, t_reader, t_look, t_engine, t_audit, t_metrics, t_fault
sys.exit(harness.run(set(sys.argv[1:])))' "$@"
