#!/bin/sh
# A root directory made of Debian's packages, for another architecture or another release than this machine's.
#
#   root.sh unpack|install ARCHITECTURE SUITE PACKAGE...	prints its path, after making it if it is missing
#
# unpack: only the packages' files (mmdebstrap's chrootless mode: no script runs, nothing is mounted), for compiling
# and emulating.  install: runs the packages' scripts, too, for chroot(1).  The packages come from the mirrors of this
# machine's apt; a mirror that is weeks old is good enough.  The directory's name is a hash of its contents' recipe,
# beside the disks of vm/image.sh; image.sh removes those that were unused for a month.
#
# Exit status 3: the directory cannot be made here; standard error has the reason in one line.
set -eu
umask 022
how=$1 arch=$2 suite=$3
shift 3
cache=${GPUHELPER_VM_CACHE:-${XDG_CACHE_HOME:-/var/cache}/gpuhelper-vm}

cant() { echo "$*" >&2; exit 3; }

command -v mmdebstrap >/dev/null || cant "mmdebstrap is missing: sh tests/deps.sh check"
. /etc/os-release
[ "$ID" = debian ] || cant "the packages are Debian's, and this machine is $ID"
[ "$suite" != this ] || suite=$VERSION_CODENAME
# this machine's sources, with the other release's name in place of its own
sources=$(apt-get indextargets --format 'deb $(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' |
    awk -v s="$VERSION_CODENAME" -v to="$suite" '$3 == s || index($3, s "-") == 1 { $3 = to substr($3, length(s) + 1); print }' | sort -u)
[ -n "$sources" ] || cant "apt has no sources of Debian $VERSION_CODENAME here"

key=$({ cat "$0"; echo "$how $arch $suite" "$sources" "$@"; } | sha256sum | cut -c1-16)
root=$cache/$suite-$arch-$key
mkdir -p "$cache"
exec 9>"$cache/lock-$arch-$suite"
flock 9
if [ -d "$root" ]; then
	touch "$root"
	echo "$root"
	exit 0
fi
new=$cache/new-$arch-$suite
rm -rf "$new"
trap 'rm -rf "$new" "$new.list"' EXIT
trap 'exit 129' HUP INT TERM
echo "$sources" >"$new.list"
case $how in
# /lib is a link: the hook makes it, and from Debian 13 on base-files
unpack) mode=chrootless variant=extract merge=--hook-dir=/usr/share/mmdebstrap/hooks/merged-usr; set -- base-files "$@" ;;
install) mode=root variant=essential merge= ;;
*) echo "usage: root.sh unpack|install ARCHITECTURE SUITE PACKAGE..." >&2; exit 2 ;;
esac
packages=$(echo "$@" | tr ' ' ,)
# shellcheck disable=SC2086
set -- $merge
for d in doc man locale info; do set -- "$@" --dpkgopt="path-exclude=/usr/share/$d/*"; done
mmdebstrap --skip=check/chrootless --mode=$mode --variant=$variant --architectures="$arch" --aptopt='APT::Install-Recommends "false"' \
    --aptopt='Acquire::Check-Valid-Until "false"' "$@" \
    --include="$packages" "$suite" "$new" "$new.list" >"$new.log" 2>&1 ||
    cant "mmdebstrap can't make a root of $suite for $arch ($new.log): $(grep '^E:' "$new.log" | head -n 1)"
rm -rf "$new/var/cache/apt" "$new/var/lib/apt/lists"
mv "$new" "$root"
echo "$root"
