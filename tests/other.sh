#!/bin/sh
# Runs groups of check.sh on another release of Debian: builds and tests what «make dist» packs, in a root directory
# of that release's packages (lib/root.sh), on this machine's kernel.  TAP: the groups' lines, each with its group's
# name.
#
#   other.sh SUITE GROUP...
set -u
here=$(cd "$(dirname "$0")/.." && pwd)
cd "$here" || exit 2
[ $# -ge 2 ] || { echo "usage: other.sh SUITE GROUP..." >&2; exit 2; }
mkdir -p build || exit 2

if [ "${OTHER_STAGE:-}" = inside ]; then
	# from here on «/» is the other release's root directory
	shift
	if make -s -k -j"$(nproc)" WERROR=-Werror all unit >build.log 2>&1; then
		echo "ok - $(gcc --version | head -n 1): warnings are errors"
	else
		echo "not ok - $(gcc --version | head -n 1): warnings are errors"
		grep -E 'error|warning' build.log | head -n 20 | sed 's/^/# /'
		make -s -j"$(nproc)" all unit >build.log 2>&1 || exit 1
	fi
	sh tests/check.sh --no-deps "$@" >check.log 2>&1
	for g in "$@"; do
		sed -n "s/^\(ok\|not ok\)[ 0-9]*- */\1 - $g: /p; s/^#/# $g:/p; t; s/^/#   /p" "build/logs/$g"
		grep "^$g: exit status" check.log | sed 's/^/not ok - /'
	done
	exit 0
fi

suite=$1
shift
if [ "${OTHER_STAGE:-}" != mounts ]; then
	# shellcheck disable=SC2046
	if ! root=$(sh tests/lib/root.sh install "$(dpkg --print-architecture)" "$suite" $(sh tests/deps.sh --print other) 2>build/other.err); then
		echo "ok - $suite # SKIP $(tail -n 1 build/other.err)"
		exit 0
	fi
	make -s dist || exit 1
	OTHER_STAGE=mounts OTHER_ROOT=$root exec unshare --mount --propagation private sh "$0" "$suite" "$@"
fi

# read-only except for what is in memory; devices, cgroups and processes are the machine's
root=$OTHER_ROOT
# refusals.py needs srvx, a folder beside /srv
mkdir -p "$root/gpuhelper" "$root/srvx"
mount --bind "$root" "$root"
for d in gpuhelper srvx tmp run var/tmp root; do mount -t tmpfs -o mode=1777 other "$root/$d"; done
chmod 0755 "$root/gpuhelper" "$root/run" "$root/root"
mount -o remount,ro,bind "$root"
for d in proc sys dev; do mount --rbind "/$d" "$root/$d"; done
tar -xzf build/gpuhelper-*.tar.gz -C "$root/gpuhelper" --strip-components=1
cd "$root" || exit 2
mkdir run/old
pivot_root . run/old
cd / || exit 2
exec env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root OTHER_STAGE=inside \
    unshare --fork --pid --kill-child sh -c 'umount -l /run/old && mount -t proc proc /proc && cd /gpuhelper && exec sh tests/other.sh "$@"' sh "$suite" "$@"
