#!/bin/sh
# The socket door, and attacks on it.  systemd-socket-activate starts the helper, without its setuid bit, for each
# connection, as gpuhelper.socket and gpuhelper@.service would.  TAP on standard output.
#
#	sh tests/attack/socket.sh [ID...]
#
# Runs as root in tests/lib/sandbox.sh --gpu nvidia-2gpu, and enters that sandbox by itself.  vm/jobs/door.sh tests what
# systemd adds: limits on connections, and the service's own restrictions.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
[ "$(id -u)" = 0 ] || { echo "socket.sh: must run as root" >&2; exit 2; }
command -v systemd-socket-activate >/dev/null || { echo "1..0 # SKIP there is no systemd-socket-activate: sh tests/deps.sh check"; exit 0; }
if ! grep -q ' /proc/devices ' /proc/self/mountinfo; then
	exec sh "$here/../lib/sandbox.sh" --gpu nvidia-2gpu ${BUILD:+--build "$BUILD"} -- sh "$here/socket.sh" "$@"
fi

ATTACK_TEMP=$(mktemp -d /tmp/attack.XXXXXX)
chmod 755 "$ATTACK_TEMP"
export ATTACK_TEMP
trap 'kill "$door" 2>/dev/null; rm -rf "$ATTACK_TEMP"' EXIT

for u in attacker victim outsider; do useradd --create-home "$u"; done
for u in attacker victim; do
	usermod --append --groups gpuhelper "$u"
	sed -i "/^$u:/d" /etc/subuid /etc/subgid
done
echo attacker:300000:65536 | tee -a /etc/subuid >>/etc/subgid
echo victim:400000:65536 | tee -a /etc/subuid >>/etc/subgid

echo 'unenforced = "allow";' >/etc/gpuhelper/gpuhelper.conf
for u in attacker victim root; do
	cat >"/etc/gpuhelper/policy.d/50-$u.conf" <<-EOF
		identity = "caller";
		callers = [ "$u" ];
		gpus = ( { vendor = "nvidia"; count = 2; } );
		folders = ( { path = "/srv/rw"; access = "rw"; } );
	EOF
done
mkdir -p /srv/rw
chmod 777 /srv/rw

# no one has the setuid bit to fall back on
chmod 0755 /usr/libexec/gpuhelper/gpuhelper
systemd-socket-activate --accept --inetd --listen=/run/gpuhelper/gpuhelper.sock \
    /usr/libexec/gpuhelper/gpuhelper --socket >"$ATTACK_TEMP/log" 2>&1 &
door=$!
export DOOR=$door
i=0
until [ -S /run/gpuhelper/gpuhelper.sock ]; do
	i=$((i + 1))
	[ $i -lt 100 ] || { cat "$ATTACK_TEMP/log" >&2; exit 1; }
	sleep 0.05
done
chown root:gpuhelper /run/gpuhelper/gpuhelper.sock
chmod 0660 /run/gpuhelper/gpuhelper.sock

cd "$here"
python3 -B -c 'import sys, harness, client, t_door
client.exchange = client.exchange_at_socket
sys.exit(harness.run(set(sys.argv[1:])))' "$@"
