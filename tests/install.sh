#!/bin/sh
# make install and make uninstall, on a host of its own (tests/lib/sandbox.sh, which has installed once already).  TAP.
set -u
here=$(cd "$(dirname "$0")/.." && pwd)
build=${BUILD:-$here/build}
T=$(mktemp -d)
trap 'umount "$T/small" 2>/dev/null; rm -rf "$T"' EXIT
. "$here/tests/lib/tap.sh"

W=/usr/bin/gpuhelper-runc H=/usr/libexec/gpuhelper/gpuhelper
run_make() { make -s -C "$here" B="$build" "$@" >"$T/out" 2>"$T/err"; st=$?; }
says() { grep -q -e "$1" "$T/out" "$T/err"; }
# shot DIRECTORY...: every file in it with its mode, owner and content
shot() { find "$@" ! -type d -printf '%p %l %m %u %g\n' | sort; find "$@" -type f -exec cksum {} + | sort; }

echo "# an upgrade under running workers"
calls='unlink unlinkat write copy_file_range fchmod fchmodat chmod fchown fchownat chown rename renameat renameat2'
# a slow machine: a delay after each call that makes a file, writes it, or changes its attributes
slow="strace -f -qq -o /dev/null --seccomp-bpf -e trace=$(echo "$calls" | tr ' ' ,) -e inject=$(echo "$calls" | tr ' ' ,):delay_exit=3000"
shot /etc/gpuhelper >"$T/before"
python3 "$here/tests/lib/watch.py" $W $H "$T/seen" &
watcher=$!
while [ ! -e "$T/seen.ready" ]; do sleep 0.05; done
for i in 1 2; do run_make install; [ "$st" = 0 ] || break; done
$slow make -s -C "$here" B="$build" install >"$T/out" 2>"$T/err" || st=1
t "make install" [ "$st" = 0 ]
run_make install
t "make install says what it installed, and what comes next" sh -c 'grep -q "^make install: installed [0-9]* files: /usr/bin/gpuhelper-runc, /usr/sbin/gpuhelperctl, " "$1" &&
    grep -q "^make install: no policy is there yet: write /etc/gpuhelper/gpuhelper.conf .*gpuhelperctl setup ENGINE" "$1"' - "$T/out"
: >/etc/gpuhelper/policy.d/10-one.conf
run_make install
t "where a policy is, it names the command that looks at the host" says "^make install: gpuhelperctl doctor says which engines call $W"
rm /etc/gpuhelper/policy.d/10-one.conf
run_make help
t "make help lists every target that a user needs" sh -c 'for t in make "make users" "make install" "make uninstall" "make selinux" "make deb" "make check" "make clean"; do grep -q "^$t\\>\\|[,;] *$t\\>" "$1" || exit 1; done' - "$T/out"
kill $watcher
wait $watcher
read -r looks files <"$T/seen.looks"
echo "# $looks looks at the wrapper, which was $files files"
t "the watcher saw the new version" [ "$files" -ge 2 -a "$looks" -ge 100 ]
cp "$T/seen" "$T/out"
t "meanwhile the wrapper is never missing or incomplete, and no file has the setuid bit without its owner and content" [ ! -s "$T/seen" ]
t "no temporary file is left" [ -z "$(find /usr /etc -name '*.new~')" ]
t "nobody but root may list the policies and the keys" [ "$(stat -c '%a %U %G' /etc/gpuhelper/policy.d /etc/gpuhelper/keys | sort -u)" = "711 root root" ]
t "the helper is 4750 root:gpuhelper" [ "$(stat -c '%a %U %G' $H)" = "4750 root gpuhelper" ]
shot /etc/gpuhelper >"$T/after"
t "an upgrade of the same version changes nothing" cmp -s "$T/before" "$T/after"

echo "# what the administrator wrote stays"
echo 'privileged = "deny";' >/etc/gpuhelper/gpuhelper.conf
echo 'identity = "caller";' >/etc/gpuhelper/policy.d/10-all.conf
echo '{}' >/etc/gpuhelper/keys/ci.json
chmod 0700 /etc/gpuhelper/policy.d
chgrp root /var/log/gpuhelper
chmod 0700 /var/log/gpuhelper
echo '{"event":"grant"}' >/var/log/gpuhelper/audit.jsonl
cp /etc/logrotate.d/gpuhelper "$T/rotation"
sed -i 's/rotate 400/rotate 4000/' /etc/logrotate.d/gpuhelper
shot /etc/gpuhelper /var/log/gpuhelper /etc/logrotate.d >"$T/before"
run_make install
shot /etc/gpuhelper /var/log/gpuhelper /etc/logrotate.d >"$T/after"
t "a changed logrotate file stays, and the message says so" says '/etc/logrotate.d/gpuhelper was changed'
t "an upgrade does not change settings, policies, keys, the logrotate file or the audit log" cmp -s "$T/before" "$T/after"
t "an upgrade does not change the mode of the policies' directory" [ "$(stat -c %a /etc/gpuhelper/policy.d)" = 700 ]
t "make install makes the directory of birth records, which is root's alone" \
    [ "$(stat -c '%a %U %G' /run/gpuhelper/births)" = "700 root root" ]
t "an upgrade does not change the mode of the audit log" [ "$(stat -c '%a %G' /var/log/gpuhelper)" = "700 root" ]

echo "# where it can't be"
groupdel gpuhelper
run_make install PREFIX=/opt/other SYSCONFDIR=/opt/other/etc
t "without the group make install fails" [ "$st" != 0 ]
t "the message names the group" says 'missing: group gpuhelper: run «make users» first'
t "nothing was copied" [ ! -e /opt/other ]
userdel gpuhelper-judge
run_make install PREFIX=/opt/other SYSCONFDIR=/opt/other/etc
t "without a program's user make install fails" says 'missing: group gpuhelper, user gpuhelper-judge: run «make users» first'
t "nothing was copied" [ ! -e /opt/other ]
getent passwd gpuhelper-read >"$T/before"
run_make users
t "make users says what it made" sh -c '[ "$(cat "$1")" = "make users: made the system group gpuhelper
make users: made the system user gpuhelper-judge" ]' - "$T/out"
t "make users makes group and users" [ "$st" = 0 -a -z "$(sh "$here/helper/users.sh" missing)" ]
getent passwd gpuhelper-read >"$T/after"
t "make users does not change existing users" cmp -s "$T/before" "$T/after"
run_make users
t "make users says that all is there" [ "$(cat "$T/out")" = "make users: the group and the users are there already" ]
t "such a user has no shell, no home and no groups" [ "$(getent passwd gpuhelper-judge | cut -d : -f 6,7) $(id -Gn gpuhelper-judge)" = \
    "/:/usr/sbin/nologin gpuhelper-judge" ]
if command -v systemd-sysusers >/dev/null; then
	mkdir -p "$T/root/etc"
	systemd-sysusers --root="$T/root" "$here/helper/systemd/gpuhelper.sysusers" >"$T/out" 2>"$T/err"
	t "systemd-sysusers makes the same" [ "$(cut -d : -f 1 "$T/root/etc/passwd" | sort | xargs)" = "gpuhelper-engine gpuhelper-judge gpuhelper-look gpuhelper-read" ]
else
	skip "systemd-sysusers makes the same" "systemd-sysusers is not installed"
fi
t "such a user does not have root's ids" [ "$(id -u gpuhelper-judge)" -gt 0 -a "$(id -g gpuhelper-judge)" -gt 0 ]
mkdir "$T/small"
# has room for one version, but not for two
size=1000000
for f in gpuhelper gpuhelper-look gpuhelper-engine gpuhelper-read gpuhelper-judge gpuhelper-judge-udev gpuhelper-label gpuhelper-runc gpuhelperctl; do size=$((size + $(stat -c %s "$build/$f"))); done
mount -t tmpfs -o size=$size small "$T/small"
run_make install DESTDIR="$T/small"
t "make install into a file system that is just large enough" [ "$st" = 0 ]
shot "$T/small" >"$T/before"
run_make install DESTDIR="$T/small"
t "an upgrade there fails" [ "$st" != 0 ]
shot "$T/small" >"$T/after"
t "a failed upgrade changes nothing" cmp -s "$T/before" "$T/after"
run_make install DESTDIR="$T/tree" SETUID=no
t "SETUID=no: the mode is 0755" [ "$(stat -c %a "$T/tree$H")" = 755 ]
run_make install DESTDIR="$T/other" PREFIX=/opt/g SYSCONFDIR=/opt/g/etc RUNSTATE=/var/r LOCALSTATE=/srv/v
t "units and rules name other installation directories" sh -c "! grep -rE '/usr/sbin/gpuhelper|/usr/libexec/|[^/a-z]/etc/gpuhelper|/var/lib|/var/log|[ =\"-]/run/gpuhelper' '$T/other/opt/g/lib' >'$T/out'"

echo "# make install where containers hold leases"
mkdir -p /run/gpuhelper/leases
printf '{"version":3}' >/run/gpuhelper/leases/old
before=$(stat -c %i $H $W)
run_make install
t "with another version's leases make install fails" [ "$st" != 0 ]
t "the message says so" says 'leases of another version: 1'
t "nothing is installed" [ "$(stat -c %i $H $W)" = "$before" ]
rm /run/gpuhelper/leases/old
version=$(sed -n 's/^#define LEASE_VERSION \([0-9]*\).*/\1/p' "$here/helper/lease/leasefile.h")
printf 'lease %s\n' "$version" >/run/gpuhelper/leases/now
run_make install
t "with this version's leases it installs" [ "$st" = 0 -a "$(stat -c %i $H $W)" != "$before" ]
rm -r /run/gpuhelper/leases

echo "# make uninstall"
groupdel gpuhelper; groupadd --system gpuhelper; run_make install
mkdir -p /opt/containerd/bin /run/gpuhelper/leases
ln -s $W /opt/containerd/bin/runc
ln -s ../../bin/gpuhelper-runc /usr/local/sbin/runc
ln -s /bin/true /usr/local/bin/crun
# the settings that «gpuhelperctl setup» wrote for engines
mkdir -p /etc/containers/containers.conf.d /etc/docker /etc/systemd/system/worker.service.d
printf '%s\n' '# gpuhelperctl setup podman wrote this; take it away with --undo' '[engine]' 'runtime = "gpuhelper"' '[engine.runtimes]' \
    "gpuhelper = [ \"$W\" ]" >/etc/containers/containers.conf.d/90-gpuhelper.conf
printf '{ "debug": false, "runtimes": { "gpuhelper": { "path": "%s" } }, "default-runtime": "gpuhelper" }\n' $W >/etc/docker/daemon.json
echo '[Service]' >/etc/systemd/system/worker.service.d/50-gpuhelper-tags.conf
mount --bind /etc/docker /etc/docker && mount -o remount,bind,ro /etc/docker
run_make uninstall
t "make uninstall fails while an engine is set up and can't be changed" [ "$st" != 0 ]
t "the message names the command that takes the engine back" says "an engine is still set up to run $W: gpuhelperctl setup docker --undo "
t "the helper and the wrapper were not removed" [ -x $W -a -u $H ]
t "podman's setting was removed, and the message says so" sh -c '[ ! -e "$1" ] && grep -q "removed $1" "$2"' - \
    /etc/containers/containers.conf.d/90-gpuhelper.conf "$T/out"
umount /etc/docker
# a lease that no helper can end: it is unreadable
echo '?' >/run/gpuhelper/leases/held
run_make uninstall
t "make uninstall fails while a container holds a lease" [ "$st" != 0 ]
t "the message says so, and that nothing was removed" says 'leases that have not ended: 1 (gpuhelperctl status).*(nothing was removed)'
t "engines still run the wrapper" [ -L /usr/local/sbin/runc ]
# a container that is made while engines are taken back
rm /run/gpuhelper/leases/held
mv /usr/sbin/gpuhelperctl /usr/sbin/gpuhelperctl.real
printf '#!/bin/sh\n[ "$*" != "setup podman --undo" ] || echo "?" >/run/gpuhelper/leases/held\nexec /usr/sbin/gpuhelperctl.real "$@"\n' \
    >/usr/sbin/gpuhelperctl
chmod 755 /usr/sbin/gpuhelperctl
run_make uninstall
mv /usr/sbin/gpuhelperctl.real /usr/sbin/gpuhelperctl
t "make uninstall fails if a container gets a lease meanwhile" [ "$st" != 0 ]
t "the message says so, and what was removed" says 'leases that have not ended: 1 .*(nothing was removed but what the lines above say)'
t "the links were removed before" [ ! -L /opt/containerd/bin/runc -a ! -L /usr/local/sbin/runc ]
t "docker's setting was removed before" [ "$(cat /etc/docker/daemon.json)" = '{ "debug": false }' ]
t "the drop-in of a worker's unit was removed before" [ ! -e /etc/systemd/system/worker.service.d ]
t "the helper was not removed" [ -u $H ]
t "somebody else's link stays" [ -L /usr/local/bin/crun ]
rm /run/gpuhelper/leases/held
echo "keep = no" >>/etc/gpuhelper/policy.d/10-all.conf
mkdir -p /etc/crio/crio.conf.d
echo "runtime_path = \"$W\"" >/etc/crio/crio.conf.d/50-mine.conf
run_make uninstall
t "without leases make uninstall succeeds" [ "$st" = 0 ]
find /usr /etc /run /var/lib /opt/containerd ! -type d -name '*gpuhelper*' | sort >"$T/err"
find /etc/gpuhelper ! -type d | sort >"$T/stayed"
t "the message names settings that name the wrapper, which «setup» did not write" says "/etc/crio/crio.conf.d/50-mine.conf names $W"
t "no file of ours is left, except changed ones" [ "$(xargs <"$T/err")" = "/etc/gpuhelper/gpuhelper.conf /etc/logrotate.d/gpuhelper" ]
t "the administrator's files stay" [ "$(xargs <"$T/stayed")" = "/etc/gpuhelper/gpuhelper.conf /etc/gpuhelper/keys/ci.json /etc/gpuhelper/policy.d/10-all.conf" ]
t "the audit log stays" [ -s /var/log/gpuhelper/audit.jsonl ]
: >"$T/err"
for f in $(cat "$T/stayed") /var/log/gpuhelper/audit.jsonl "gpuhelper and its users stay"; do says "$f" || echo "$f" >>"$T/err"; done
t "the message names each of them" [ ! -s "$T/err" ]
run_make uninstall
t "a changed logrotate file stays" [ -e /etc/logrotate.d/gpuhelper ]
t "the message says so" says '    /etc/logrotate.d/gpuhelper$'
cp "$T/rotation" /etc/logrotate.d/gpuhelper
run_make uninstall
t "an unchanged logrotate file is removed" [ ! -e /etc/logrotate.d/gpuhelper ]
t "a second make uninstall is no error" [ "$st" = 0 ]
run_make install
t "make install works again" [ "$st" = 0 -a -u $H ]
echo "1..$n"
[ $bad = 0 ]
