#!/bin/sh
# Two runs of lib/sandbox.sh at a time share no name.  What a killed sandbox left in the cgroups, a frozen process
# included, the next sandbox removes.  On a machine in use, deps.sh asks before it installs.  TAP.  As root.
set -u
here=$(cd "$(dirname "$0")" && pwd)
T=$(mktemp -d)
. "$here/lib/tap.sh"
soon() { i=0; until "$@"; do i=$((i + 1)); [ $i -lt 600 ] || return 1; sleep 0.05; done; }

top=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
# if both versions are mounted, processes are frozen by v1's freezer
[ -e /sys/fs/cgroup/freezer/cgroup.procs ] && top=/sys/fs/cgroup/freezer
# in the sandbox: makes a cgroup like a test's, with a frozen process in it, and waits
cat >"$T/inside" <<'END'
d=$2/gpuhelper-attack-$SANDBOX_ID
useradd somebody
mkdir -p "$d/deep" || exit
sleep 1000 &
echo $! >"$d/deep/cgroup.procs" || exit
if [ -e "$d/deep/freezer.state" ]; then echo FROZEN >"$d/deep/freezer.state"; else echo 1 >"$d/deep/cgroup.freeze"; fi
echo "$SANDBOX_ID $(id -u somebody)" >"$1"
wait
END
start() { sh "$here/lib/sandbox.sh" -- sh "$T/inside" "$T/$1" "$top" >"$T/log-$1" 2>&1 & eval "pid_$1=$!"; }
if ! mkdir "$top/gpuhelper-sandbox-$$" 2>/dev/null; then
	echo "1..0 # SKIP no cgroups here in which a directory can be made"
	exit 0
fi
rmdir "$top/gpuhelper-sandbox-$$"

# a stand-in for apt-get, which installs nothing; /run/systemd/system says that systemd runs
mkdir "$T/bin"
cat >"$T/bin/apt-get" <<'END'
#!/bin/sh
case "$*" in
*--assume-no*)
	echo "0 upgraded, 633 newly installed, 0 to remove and 0 not upgraded."
	echo "After this operation, 2,011 MB of additional disk space will be used."
	exit 1 ;;
*" install "*) touch "$INSTALLED" ;;
esac
END
printf '#!/bin/sh\n' >"$T/bin/dpkg-query"
chmod +x "$T/bin/apt-get" "$T/bin/dpkg-query"
# deps BOOTED OPTION...: runs deps.sh on a machine that lacks all packages, with or without systemd
deps() {
	booted=$1; shift
	rm -f "$T/installed"
	unshare --mount --propagation private sh -c 'mount -t tmpfs none /run && if [ "$1" = yes ]; then mkdir -p /run/systemd/system; fi
	    shift && PATH=$0/bin:$PATH INSTALLED=$0/installed GPUHELPER_DOCKER=/ && export PATH INSTALLED GPUHELPER_DOCKER && exec "$@"' \
	    "$T" "$booted" "$@" >"$T/said" 2>&1 </dev/null
}
said() { grep -q "^This installs 633 packages, 2,011 MB, which stay.* runc" "$T/said"; }
terminal() { deps yes sh -c 'printf "%s\n" "$1" | script -qec "sh $2/deps.sh --ask check" /dev/null' - "$1" "$here"; }
deps yes sh "$here/deps.sh" --ask check
t "on a machine in use, without a terminal, nothing is installed, and one line says what to do" \
    sh -c '[ ! -e "$1/installed" ] && grep -q "^deps.sh: this machine is in use.*say --yes" "$1/said"' - "$T"
t "  after it said what it would install" said
terminal n
t "with a terminal it asks: no" sh -c '[ ! -e "$1/installed" ] && grep -q "Install them?" "$1/said"' - "$T"
terminal y
t "with a terminal it asks: yes" test -e "$T/installed"
deps yes sh "$here/deps.sh" check
t "check.sh --yes does not ask" test -e "$T/installed"
deps no sh "$here/check.sh" setup nosuch
t "check.sh names a group that does not exist, in one line, and installs nothing" sh -c '[ ! -e "$1/installed" ] && [ "$(cat "$1/said")" = "check.sh: no group \"nosuch\": sh tests/check.sh --list prints the names; some groups need --long" ]' - "$T"
deps no sh "$here/deps.sh" --ask check
t "on a machine where systemd does not run, as in a container, it does not ask" test -e "$T/installed"

# a chroot whose / is a directory of the machine's mount
mkdir "$T/chroot" "$T/chroot/proc" "$T/chroot/checkout"
for d in bin sbin lib lib64 usr etc dev sys tmp; do
	if [ -L "/$d" ]; then cp -P "/$d" "$T/chroot/"; elif [ -d "/$d" ]; then mkdir "$T/chroot/$d"; fi
done
unshare --mount --propagation private sh -c 'mount --rbind /usr "$1/chroot/usr" && mount -t proc proc "$1/chroot/proc" && mount --bind "$2" "$1/chroot/checkout" &&
    chroot "$1/chroot" sh /checkout/tests/lib/sandbox.sh -- true' - "$T" "$(cd "$here/.." && pwd)" >"$T/said" 2>&1
t "in a chroot whose / is no mount point, one line says why it can't run, and what to do" sh -c '[ "$(wc -l <"$1")" = 1 ] && grep -q "^sandbox.sh: / is no mount point.*mount --bind DIR DIR" "$1"' - "$T/said"

(umask 077; sh "$here/lib/sandbox.sh" --gpu nvidia-2gpu --bare -- setpriv --reuid 65534 --regid 65534 --clear-groups cat /proc/devices) >"$T/said" 2>&1
t "with umask 077 the simulated files can be read, too" grep -q nvidia "$T/said"

# a checkout that only root can reach; /home is an overlay in the sandbox, and /mnt is not
for at in home mnt; do
	unshare --mount --propagation private sh -c 'mount -t tmpfs -o mode=700 closed "/$1" && mkdir -m 700 "/$1/deep" "/$1/deep/project" &&
	    mount --bind "$2" "/$1/deep/project" && cd "/$1/deep/project" &&
	    sh "/$1/deep/project/tests/lib/sandbox.sh" --bare -- sh -c "setpriv --reuid 65534 --regid 65534 --clear-groups cat /$1/deep/project/tests/sandbox.sh"
	    ' - "$at" "$(cd "$here/.." && pwd)" >"$T/said" 2>&1
	t "the tests' users read a project in a directory of mode 0700 in /$at" cmp -s "$T/said" "$here/sandbox.sh"
done

start a
start b
t "two sandboxes at a time" soon sh -c '[ -s "$1/a" ] && [ -s "$1/b" ]' - "$T"
read -r a uid_a <"$T/a"
read -r b uid_b <"$T/b"
t "two sandboxes have different names" test "$a" != "$b"
# their names outside of the sandboxes
a=$(find "$top" -type d -name "gpuhelper-attack-$a")
b=$(find "$top" -type d -name "gpuhelper-attack-$b")
t "their users have different uids" test "$uid_a" != "$uid_b"
# shellcheck disable=SC2154
kill -KILL "$pid_a"
wait "$pid_a" 2>/dev/null
t "a killed sandbox leaves its cgroups" test -d "$a/deep" -a -d "$b/deep"
t "the next one starts" sh "$here/lib/sandbox.sh" -- true
t "the next sandbox has removed a killed sandbox's cgroups" test ! -e "$a"
t "the next sandbox did not remove a live sandbox's cgroups" test -d "$b/deep"
# shellcheck disable=SC2154
kill -KILL "$pid_b"
wait "$pid_b" 2>/dev/null
t "those go with the next sandbox after its end" sh -c 'sh "$1/lib/sandbox.sh" -- true && [ ! -e "$2" ]' - "$here" "$b"
rm -rf "$T"
echo "1..$n"
[ $bad = 0 ]
