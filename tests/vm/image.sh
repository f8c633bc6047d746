#!/bin/sh
# The virtual machine's disk, kernel and initrd: plain Debian of this machine's release (the programs are built
# against its libraries), from the mirrors of this machine's apt.
#
#	image.sh [PACKAGE...]	prints the directory with root.ext4, vmlinuz, initrd and policy, after making them if they are
#				missing; PACKAGE: further packages
#
# It contains nothing of this project (vm.sh adds that at each boot), so it is made once.  The directory's name is a
# hash of the recipe, beneath $GPUHELPER_VM_CACHE (default: gpuhelper-vm in $XDG_CACHE_HOME or /var/cache).  An
# unprivileged process can make it: packages are unpacked, their scripts do not run, nothing is mounted.  This script,
# or systemd at the first boot (which every boot is), does what the scripts would have done.
#
# All jobs share one disk, except a job that wants more packages.  The disk has Debian's SELinux policy and its
# labels; each boot decides whether the kernel enforces it (vm.sh).  «policy» is what semodule needs to link another
# module with it.
#
# Exit status 3: the disk cannot be made here; standard error has the reason in one line.
set -eu
umask 022
PATH=$PATH:/usr/sbin:/sbin
here=$(cd "$(dirname "$0")/../.." && pwd)
build=${BUILD:-$here/build}
cache=${GPUHELPER_VM_CACHE:-${XDG_CACHE_HOME:-/var/cache}/gpuhelper-vm}

cant() { echo "$*" >&2; exit 3; }

for tool in mmdebstrap mke2fs debugfs cpio depmod modprobe busybox objdump semodule xz zstd; do
	command -v $tool >/dev/null || cant "$tool is missing: sh tests/deps.sh check"
done
. /etc/os-release
[ "$ID" = debian ] && [ "$(uname -m)" = x86_64 ] || cant "the image is Debian's for x86_64, and this machine is $ID $(uname -m)"
# «deb MIRROR SUITE COMPONENT» in every form of apt's sources, without other people's repositories
sources=$(apt-get indextargets --format 'deb $(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' |
    awk -v s="$VERSION_CODENAME" '$3 == s || index($3, s "-") == 1' | sort -u)
[ -n "$sources" ] || cant "apt has no sources of Debian $VERSION_CODENAME here"
[ -e /usr/share/selinux/devel/Makefile ] || cant "selinux-policy-dev is missing: sh tests/deps.sh check"
[ -e /usr/src/selinux-policy-src.tar.zst ] || cant "selinux-policy-src is missing: sh tests/deps.sh check"

system="systemd systemd-sysv udev dbus kmod linux-image-amd64 acl
base-files base-passwd bash coreutils dash findutils grep init-system-helpers libc-bin login mawk mount sed tar util-linux
selinux-policy-default policycoreutils selinux-utils runc crun"
for p in "$@"; do system="$system $p"; done
# gpuhelperctl loads libcurl itself
libraries=$(objdump -p "$build/gpuhelper" "$build/gpuhelper-look" "$build/gpuhelper-engine" "$build/gpuhelper-read" "$build/gpuhelper-judge-udev" "$build/gpuhelper-label" "$build/gpuhelperctl" |
    awk '$1 == "NEEDED" { print $2 } END { print "libcurl.so.4" }' | sort -u |
    while read -r l; do dpkg-query -S "*/x86_64-linux-gnu/$l"; done | sed 's/:.*//' | sort -u)
[ -n "$libraries" ] || { echo "image.sh: $build has no programs: make" >&2; exit 1; }

key=$({ cat "$0" "$here/tests/vm/label.c"; echo "$sources" $libraries "$@"; } | sha256sum | cut -c1-16)
image=$cache/$VERSION_CODENAME-$key
mkdir -p "$cache"
exec 9>"$cache/lock"
flock 9
if [ -e "$image/root.ext4" ]; then
	touch "$image"
	echo "$image"
	exit 0
fi
# removes what was unused for a month
find "$cache" -mindepth 1 -maxdepth 1 -type d -mtime +30 -exec rm -rf {} +

new=$cache/new
r=$new/rootfs
rm -rf "$new"
mkdir "$new"
trap 'rm -rf "$new"' EXIT
echo "$sources" >"$new/sources.list"

# only the kernel modules that a job may want: unpacking the thousands of others would take most of the time
set -- --dpkgopt='path-exclude=/lib/modules/*/kernel/*'
for m in 'lib/*' 'crypto/*' 'arch/*' 'block/*' 'fs/ext4/*' 'fs/jbd2/*' 'fs/mbcache.ko*' 'fs/fuse/*' 'fs/overlayfs/*' \
    'fs/autofs/*' 'drivers/nvme/*' 'drivers/virtio/*' 'drivers/gpu/drm/*.ko*' 'drivers/gpu/drm/vgem/*' 'drivers/gpu/drm/virtio/*' \
    'drivers/i2c/*' 'drivers/dma-buf/*' 'drivers/video/*'; do
	set -- "$@" --dpkgopt="path-include=/lib/modules/*/kernel/$m"
done
for d in doc man locale info; do set -- "$@" --dpkgopt="path-exclude=/usr/share/$d/*"; done
# newer releases want fakeroot for root, too; unpacking runs nothing here
if ! mmdebstrap --skip=check/chrootless --mode=chrootless --variant=extract --aptopt='APT::Install-Recommends "false"' "$@" \
    --hook-dir=/usr/share/mmdebstrap/hooks/merged-usr --include="$(echo $system $libraries | tr ' ' ,)" \
    "$VERSION_CODENAME" "$r" "$new/sources.list" >"$cache/log" 2>&1; then
	cant "mmdebstrap can't make the image ($cache/log): $(grep '^E:' "$cache/log" | head -n 1)"
fi

# what the packages' scripts would have done; systemd-sysusers makes the services' users and groups at each boot
cp "$r/usr/share/base-passwd/passwd.master" "$r/etc/passwd"
cp "$r/usr/share/base-passwd/group.master" "$r/etc/group"
(umask 027; : >"$r/etc/shadow"; : >"$r/etc/gshadow")
mkdir -p "$r/etc/sysusers.d"
printf '%s\n' 'g input -' 'g kvm -' 'g render -' 'g sgx -' >"$r/etc/sysusers.d/debian.conf"
printf '%s\n' 'passwd: files' 'group: files' 'shadow: files' 'hosts: files' >"$r/etc/nsswitch.conf"
echo vm >"$r/etc/hostname"
: >"$r/etc/fstab"
ln -sfn /run "$r/var/run"
ln -sfn /run/lock "$r/var/lock"
# a machine with an id does not preset its units
echo 0123456789abcdef0123456789abcdef >"$r/etc/machine-id"
ln -sf dash "$r/bin/sh"
ln -sf mawk "$r/usr/bin/awk"
ldconfig -r "$r"
kernel=$(ls "$r/lib/modules")
depmod -b "$r" "$kernel"
# these take half a minute each under emulation, and their result would be lost with the disk's changes
mkdir -p "$r/etc/systemd/system"
for u in systemd-hwdb-update.service systemd-journal-catalog-update.service ldconfig.service systemd-update-done.service; do
	ln -s /dev/null "$r/etc/systemd/system/$u"
done
# generators for disks and consoles, which systemd would otherwise run
mkdir -p "$r/etc/systemd/system-generators"
for g in "$r"/lib/systemd/system-generators/*; do ln -sf /dev/null "$r/etc/systemd/system-generators/${g##*/}"; done

# initrd: busybox and the modules that the disk needs, numbered in load order (without those whose instructions the
# emulated processor lacks); /init comes from vm.sh
i=$new/initrd.d
mkdir -p "$i/bin" "$i/dev" "$i/proc" "$i/new" "$i/modules"
cp "$(command -v busybox)" "$i/bin/busybox"
n=100
for m in crc32c_generic ext4 nvme; do
	modprobe -d "$r" -S "$kernel" --show-depends $m | awk '$1 == "insmod" { print $2 }'
done | grep -v -e -intel -e pclmul | awk '!seen[$0]++' | while read -r f; do
	n=$((n + 1))
	# Debian 13 compresses them
	case $f in
	*.xz) xz -dc "$f" >"$i/modules/$n-$(basename "$f" .xz)" ;;
	*) cp "$f" "$i/modules/$n-${f##*/}" ;;
	esac
done
(cd "$i" && find . | cpio --quiet -o -H newc -R 0:0) >"$new/initrd"
cp "$r/boot/vmlinuz-$kernel" "$new/vmlinuz"

# SELinux: links Debian's modules, as selinux-policy-default's script does, and the module for containers, of which
# bookworm has only the source.  Labels are set later: mke2fs copies labels only if this kernel lets root set them.
policy=$r/usr/share/selinux/default
if ! [ -e "$policy/container.pp.bz2" ]; then
	tar -xf /usr/src/selinux-policy-src.tar.zst -C "$new" --strip-components=4 --wildcards '*/policy/modules/services/container.*'
	mkdir "$new/container"
	mv "$new"/container.?? "$new/container/"
	make -s -C "$new/container" -f /usr/share/selinux/devel/Makefile container.pp >>"$cache/log" 2>&1 &&
	    mv "$new/container/container.pp" "$policy/" || cant "Debian's container policy can't be built: $cache/log"
fi
printf '%s\n' SELINUX=enforcing SELINUXTYPE=default >"$r/etc/selinux/config"
mkdir -p "$r/var/lib/selinux/default"
for m in $(cat "$policy/.modules"); do [ ! -e "$policy/$m.pp.bz2" ] || echo "$policy/$m.pp.bz2"; done >"$new/modules"
[ ! -e "$policy/container.pp" ] || echo "$policy/container.pp" >>"$new/modules"
# shellcheck disable=SC2046
semodule -p "$r" -s default -n -X 100 $(sed 's/^/-i /' "$new/modules") >>"$cache/log" 2>&1 ||
    cant "semodule can't link Debian's policy: $cache/log"
mkdir -p "$new/policy/etc/selinux" "$new/policy/var/lib"
cp -a "$r/etc/selinux/." "$new/policy/etc/selinux/"
mv "$r/var/lib/selinux" "$new/policy/var/lib/"
rm -rf "$policy"

rm -rf "$r"/boot/* "$r/var/cache/apt" "$r/var/lib/apt" "$r/usr/lib/udev/hwdb.d"
mke2fs -q -F -t ext4 -O ^has_journal -E root_owner=0:0 -d "$r" "$new/root.ext4" 700M >/dev/null
${CC:-cc} -O1 -D_GNU_SOURCE -o "$new/label" "$here/tests/vm/label.c" -lselinux
"$new/label" "$r/etc/selinux/default/contexts/files/file_contexts" "$r" >"$new/labels"
sed 's|^\([^ ]*\) \(.*\)$|ea_set "\1" security.selinux "\2\\000"|' "$new/labels" >"$new/debugfs"
debugfs -w -f "$new/debugfs" "$new/root.ext4" 2>&1 >/dev/null | grep -v ^debugfs >>"$cache/log" || :
rm -rf "$r" "$i" "$new/sources.list" "$new/container" "$new/modules" "$new/labels" "$new/debugfs"
mv "$new" "$image"
echo "$image"
