#!/bin/sh
# The socket door as real systemd opens it: gpuhelper.socket and gpuhelper@.service as they are installed, no setuid bit.
# files: fixtures/sysroot/nvidia-2gpu fixtures/jwt vm/guest/reload.sh
# programs: vm/crowd.c
#
# NVIDIA's GPUs are simulated, as in tests/lib/sandbox.sh, by mounts over /proc.  Some lines of the unit give the service a /proc
# of its own, without these mounts; so a drop-in takes those lines back for requests for a GPU.  There is no network, so
# another drop-in gets an issuer's keys from a file.
set -u
. /job/job.sh
helper=/usr/libexec/gpuhelper/gpuhelper sock=/run/gpuhelper/gpuhelper.sock

useradd worker 1000; useradd victim 1001; useradd outsider 1002
admit worker,victim
as() { u=$1; shift; setpriv --reuid "$u" --regid "$u" --init-groups -- "$@"; }
now() { cut -d ' ' -f 1 /proc/uptime; }
since() { awk -v a="$1" -v b="$(now)" 'BEGIN { printf "%.1f", b - a }'; }

for u in gpuhelper.socket gpuhelper@.service gpuhelper-keys.socket gpuhelper-keys-asked.service; do
	t "systemd-analyze verify $u" quiet systemd-analyze verify --man=no "/usr/lib/systemd/system/$u"
done
exposure() { systemd-analyze security --no-pager --threshold=24 gpuhelper@.service >"$T/out" 2>&1; }
t "systemd-analyze security gpuhelper@.service: 2.4 or less" exposure
grep Overall "$T/out" | sed 's/^[^A-Z]*/# /; s/ [A-Z]* [^ ]*$//'

# no setuid bit that the wrapper could fall back on
chmod 0755 "$helper"
t "gpuhelper.socket can be enabled and started" quiet systemctl --quiet enable --now gpuhelper.socket
t "the socket is 0660 root:gpuhelper" sh -c "[ \"\$(stat -c '%a %U:%G %F' $sock)\" = '660 root:gpuhelper socket' ]"

# Stands in for a runtime, to save time under emulation: leaves a process behind, like a container's first one, with the
# folder mounted.
mkdir -p /usr/local/bin
cat >/usr/local/bin/runtime <<'END'
#!/bin/sh
setsid unshare --map-root-user --mount sh -c 'mount --bind /srv/data /srv/data && exec sleep 4' </dev/null >/dev/null 2>&1 &
until grep -q ' /srv/data ' /proc/$!/mountinfo; do kill -0 $! || exit 1; sleep 0.05; done
END
chmod 755 /usr/local/bin/runtime
cat >/etc/gpuhelper/gpuhelper.conf <<END
runtime = "/usr/local/bin/runtime";
unenforced = "allow";
privileged = "hide-gpus";
END
cat >/etc/gpuhelper/policy.d/10-all.conf <<END
identity = "caller";
gpus = ( { vendor = "nvidia"; } );
folders = ( { path = "/srv/data"; access = "ro"; } );
END
mkdir -p /srv/data
c=0
# bundle USER ENV [UID]: sets $b; UID is the uid of the container's root
bundle() {
	c=$((c + 1)) b=$T/b$c
	mkdir -p "$b/rootfs"
	cat >"$b/config.json" <<-END
	{"ociVersion": "1.0.2", "root": {"path": "rootfs"}, "hostname": "h", "mounts": [],
	 "process": {"terminal": false, "user": {"uid": 0, "gid": 0}, "args": ["/bin/sh"], "cwd": "/", "env": ["$2"]},
	 "linux": {"uidMappings": [{"containerID": 0, "hostID": ${3:-$(id -u "$1")}, "size": 1}],
	  "gidMappings": [{"containerID": 0, "hostID": ${3:-$(id -u "$1")}, "size": 1}],
	  "namespaces": [{"type": "user"}, {"type": "mount"}]}}
	END
	chown -R "$1:$1" "$b"
}
create() { gpuhelper_runc=$1; shift; as "$gpuhelper_runc" "$@" gpuhelper-runc --root "$b/root" create --bundle "$b" "c$c" >"$T/out" 2>"$T/err"; }
has_folder() { grep -q /srv/data "$b/config.json"; }
folder() { u=$1; shift; bundle "$u" GPUHELPER_FOLDERS=all; create "$u" "$@" && has_folder; }
t "a member of the group gets a folder over the socket" folder worker env
t "the same under no_new_privs" folder worker setpriv --no-new-privs
own_namespace() { bundle worker GPUHELPER_FOLDERS=all 0; create worker unshare --user --map-root-user && has_folder; }
t "the same from the user's own user namespace" own_namespace
recorded() { [ "$(grep '"event":"grant"' /var/log/gpuhelper/audit.jsonl | grep -c '"uid":1000')" = 3 ]; }
t "all three records name this user" recorded
shut_out() { bundle outsider GPUHELPER_FOLDERS=all; ! create outsider env && grep -q "may not connect to $sock" "$T/err"; }
t "a user outside the group cannot connect, and is told so" shut_out
refusal() { bundle worker GPUHELPER_FOLDERS=/srv/other; ! create worker env && grep -q /srv/other "$T/err"; }
t "a refusal reaches the wrapper" refusal
none_failed() { systemctl --failed --no-legend --no-pager >"$T/out"; ! [ -s "$T/out" ]; }
t "a refusal is no failure of the service" none_failed
ended() { systemctl list-units --all --no-legend --no-pager 'gpuhelper@*' >"$T/out"; ! [ -s "$T/out" ]; }
t "each service ends after its answer" soon ended
for v in status reap reapply; do
	asked() { as worker setpriv --no-new-privs gpuhelperctl $v >"$T/out" 2>"$T/err"; }
	t "gpuhelperctl $v, as a member of the group under no_new_privs" asked
done

# GPUs: the service makes, opens and removes nodes within what its unit allows
mount -t tmpfs -o mode=755 driver /proc/driver
cp -R /job/nvidia-2gpu/proc/driver/. /proc/driver/
mount --bind /job/nvidia-2gpu/proc/devices /proc/devices
mknod -m 600 /dev/nvidia0 c 195 0
mknod -m 600 /dev/nvidia1 c 195 1
mknod -m 600 /dev/nvidiactl c 195 255
mkdir -p /etc/systemd/system/gpuhelper@.service.d
cat >/etc/systemd/system/gpuhelper@.service.d/test.conf <<END
[Service]
ProtectProc=default
ProtectControlGroups=no
ProtectKernelTunables=no
# the same sandbox, to see what can be written in it
ExecStartPre=-/bin/touch /var/lib/gpuhelper/probe
ExecStartPre=-/bin/touch /etc/gpuhelper/probe
ExecStartPre=-/bin/mknod /dev/probe c 1 1
END
sed -i 's|/bin/true|/job/hold|' /etc/gpuhelper/gpuhelper.conf
systemctl daemon-reload
bundle worker GPUHELPER_GPUS=1
HOLD_MS=600000 as worker setpriv --no-new-privs gpuhelper-runc --root "$b/root" run --bundle "$b" "c$c" >"$T/runc" 2>&1 &
holder=$!
entry() { getfacl -cpn /dev/nvidia0 2>/dev/null | grep -qx user:1000:rw-; }
t "a GPU: its node is opened to the worker" soon entry
sed 's/^/# /' "$T/runc"
made() { [ "$(stat -c '%F %t %T' /dev/nvidia-uvm)" = "character special file 1fe 0" ]; }
t "a missing node is made" made
t "the service can write /var/lib/gpuhelper" [ -e /var/lib/gpuhelper/probe ]
t "the service cannot write /etc/gpuhelper" [ ! -e /etc/gpuhelper/probe ]
t "the service can make only NVIDIA's nodes" [ ! -e /dev/probe ]
end_program() { for p in /proc/[0-9]*; do [ "$(readlink "$p/exe")" != "$1" ] || kill "${p#/proc/}"; done; }
end_program /job/hold
wait $holder
no_entry() { gpuhelperctl reap && ! entry && [ ! -e /dev/nvidia-uvm ]; }
t "the lease's end shuts the node, and removes the made one" soon no_entry
. /job/reload.sh
rm -r /etc/systemd/system/gpuhelper@.service.d
systemctl daemon-reload
sed -i 's|/job/hold|/bin/true|' /etc/gpuhelper/gpuhelper.conf

# a crowd
begin=$(now)
t "a grant on a quiet host" folder victim env
peace=$(since "$begin")
as worker /job/crowd "$sock" 4 >"$T/crowd" 2>&1 &
crowd=$!
sleep 0.2
begin=$(now)
t "a grant beside another user's silent connections" folder victim env
meanwhile=$(since "$begin")
wait $crowd
echo "# systemd $(systemctl --version | awk 'NR == 1 { print $2 }'), emulated: $(cat "$T/crowd"); another user's grant in $meanwhile s, in peace $peace s"
# more connections than it accepts; attack/socket.sh measures the delay on a machine that is not emulated
started() { systemctl show --property=NAccepted --value gpuhelper.socket; }
told() { journalctl --sync; journalctl --boot --no-pager | grep -c gpuhelper; }
before=$(started) before_told=$(told)
as worker /job/crowd "$sock" 1000 >"$T/crowd" 2>&1
echo "# $(cat "$T/crowd"); for $(($(started) - before)) of them the helper was started"
t "all of 1000 connections are closed" grep -q "^1000 connections" "$T/crowd"
lines=$(($(told) - before_told))
echo "# lines of the journal about them: $lines"
t "they do not fill the journal" [ "$lines" -lt 20 ]
t "the socket still listens" systemctl --quiet is-active gpuhelper.socket
t "a connection is answered again" folder worker env
t "nothing of the crowd is left" soon ended
t "no unit of this machine has failed" none_failed
uncomplaining() { ! unit_warnings >"$T/out"; }
t "systemd has no complaint" uncomplaining

echo "# an issuer signs with a new key"
keys=/run/gpuhelper/keys.sock
mkdir -p /etc/gpuhelper/keys /run/issuer /etc/systemd/system/gpuhelper-keys.service.d
sed 's/"EC"/"none"/' /job/jwt/jwks.json >/etc/gpuhelper/keys/ci.json
cp /job/jwt/jwks.json /run/issuer/keys.json
chmod 644 /etc/gpuhelper/keys/ci.json /run/issuer/keys.json
echo 'issuers = ( { url = "https://ci.example.org"; audience = "gpuhelper"; keys = "/etc/gpuhelper/keys/ci.json"; } );' >>/etc/gpuhelper/gpuhelper.conf
printf '%s\n' 'pipeline = "ml/train";' 'folders = ( { path = "/srv/data"; access = "ro"; } );' >/etc/gpuhelper/policy.d/20-train.conf
printf '%s\n' '[Service]' ExecStart= 'ExecStart=/bin/cp /run/issuer/keys.json %t/gpuhelper-keys/ci.json' \
    >/etc/systemd/system/gpuhelper-keys.service.d/test.conf
systemctl daemon-reload
token=$(tr , '\n' </job/jwt/tokens.json | sed -n 's/.*"es256-valid": *"\([^"]*\)".*/\1/p')
date -s @1790000060 >/dev/null	# a minute after the token was made
t "gpuhelper-keys.timer can be enabled" quiet systemctl --quiet enable --now gpuhelper-keys.timer
t "the timer enables gpuhelper-keys.socket, too" systemctl --quiet is-enabled gpuhelper-keys.socket
t "and starts it" systemctl --quiet is-active gpuhelper-keys.socket
t "the socket for keys is 0660 root:gpuhelper" sh -c "[ \"\$(stat -c '%a %U:%G %F' $keys)\" = '660 root:gpuhelper socket' ]"
systemctl stop gpuhelper-keys.timer
inactive() { [ "$(systemctl show --property=ActiveState --value "$1")" = inactive ]; }
soon inactive gpuhelper-keys.service
sed 's/"EC"/"none"/' /job/jwt/jwks.json >/etc/gpuhelper/keys/ci.json
fetches() { journalctl --sync; journalctl --boot --no-pager -o cat -u gpuhelper-keys.service | grep -c '^Starting '; }
before=$(fetches)
new_key() { bundle worker "GPUHELPER_TOKEN=$token"; create worker setpriv --no-new-privs && has_folder; }
# an emulated machine may need longer for the fetch than the wrapper waits; the next build then gets the key
soon_new_key() { new_key || { echo "# the first build was refused after $(since "$begin") s"; new_key; }; }
begin=$(now)
t "a token of the new key: the key is fetched, and the build goes on" soon_new_key
echo "# after $(since "$begin") s, emulated"
is_fetched() { is "$(($(fetches) - before))" "$1"; }
t "by one fetch" is_fetched 1
forged() { begin=$(now); bundle worker GPUHELPER_TOKEN=a.a.AAAA; ! create worker env && grep -q "has signed it" "$T/err" && [ "$(since "$begin" | cut -d . -f 1)" -ge 10 ]; }
t "a forged token is refused after ten seconds" forged
t "one user's tokens cause no second fetch within the minute" is_fetched 1
# the end of the minute
systemctl stop gpuhelper-keys-asked.service
listens() { [ "$(systemctl show --property=SubState --value gpuhelper-keys.socket)" = listening ]; }
t "after the minute the socket listens again" soon listens
t "what was asked for meanwhile is dropped" is_fetched 1
t "a forged token of the next minute is refused, too" forged
t "there is one fetch in each minute" is_fetched 2
t "no unit has failed by that" none_failed
t "systemd has no complaint about that" uncomplaining
t "timer and socket for keys can be disabled" quiet systemctl --quiet disable --now gpuhelper-keys.timer gpuhelper-keys.socket
t "the socket for keys is removed" [ ! -e "$keys" ]
systemctl stop gpuhelper-keys-asked.service

t "the socket can be disabled" quiet systemctl --quiet disable --now gpuhelper.socket
t "the socket is removed" [ ! -e "$sock" ]
neither() { bundle worker GPUHELPER_FOLDERS=all; ! create worker env && grep -q "has no setuid bit; and there is no $sock: systemctl enable --now gpuhelper.socket" "$T/err"; }
t "then the wrapper names what is missing" neither

echo "1..$n"
[ $bad = 0 ]
