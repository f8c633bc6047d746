#!/bin/sh
# The only place that installs anything: the packages that building, the demo and the tests need.
#
#   deps.sh build|deb|rpm|demo|other|check      (as root; Debian and Ubuntu.  Elsewhere it prints what is needed and fails.)
#   deps.sh --print SET			prints the packages and installs nothing
#   deps.sh --ask SET			asks before it installs, if this is a machine in use (systemd runs)
# The set «other» is what tests/other.sh needs in another release's root directory.
set -eu
build="gcc make pkg-config libc6-dev libconfig-dev libjansson-dev libudev-dev libsystemd-dev libselinux1-dev nettle-dev
libgmp-dev libcurl4-openssl-dev libyaml-dev zlib1g-dev ca-certificates"
deb="$build build-essential dpkg-dev debhelper selinux-policy-dev"
rpm="$build rpm selinux-policy-dev"
demo="$build runc busybox-static python3-minimal python3 util-linux passwd mount"
other="$demo systemd crun podman containerd acl uidmap strace procps binutils file openssl iproute2 dbus"
check="$demo crun podman buildah containerd acl uidmap strace clang llvm umockdev logrotate mandoc groff-base codespell cppcheck procps binutils file
openssl systemd qemu-system-x86 python3-prometheus-client mmdebstrap e2fsprogs kmod cpio xz-utils zstd zsh
selinux-policy-dev selinux-policy-src policycoreutils semodule-utils chromium
build-essential dpkg-dev debhelper rpm lintian valgrind jq"
# a C library whose loader searches RHEL's directories, for tests/cdi_generate.sh; arm64's, for tests/arm64.sh
[ "$(uname -m)" != x86_64 ] || check="$check libc6-amd64-i386-cross gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user-static"
print=no ask=no
[ "${1:-}" != --print ] || { print=yes; shift; }
[ "${1:-}" != --ask ] || { ask=yes; shift; }
case ${1:-none} in
build) want=$build ;;
deb) want=$deb ;;
rpm) want=$rpm ;;
demo) want=$demo ;;
other) want=$other ;;
check) want=$check ;;
*) echo "usage: deps.sh [--print|--ask] build|deb|rpm|demo|other|check" >&2; exit 2 ;;
esac
[ $print = no ] || { echo $want; exit 0; }

if ! command -v apt-get >/dev/null; then
	cat >&2 <<-'EOF'
	deps.sh: no apt-get here.  On Fedora:
	  dnf install gcc make pkgconf-pkg-config libconfig-devel libconfig-static jansson-devel jansson-static \
	    systemd-devel libselinux-devel nettle-devel nettle-static gmp-devel gmp-static \
	    glibc-static libcurl-devel libyaml-devel zlib-devel runc crun containerd busybox python3 acl strace clang umockdev mandoc groff-base \
	    codespell cppcheck procps-ng openssl
	EOF
	exit 2
fi
# the installed packages and their provides (Debian 13 has libselinux1-dev only as a provide)
there=$(dpkg-query -W -f '${db:Status-Status} ${Package}, ${Provides}\n' | sed -n 's/^installed //p' | tr ',' '\n' | sed 's/ *(.*//; s/^ *//')
missing=
for p in $want; do
	echo "$there" | grep -qxF -e "$p" || missing="$missing $p"
done
# get COMMAND...: apt-get, waiting for another apt-get's lock (a new machine's own updates); apt 2.6 waits only for dpkg's lock
get() {
	tries=60
	until LC_ALL=C DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 "$@" 2>"$err"; do
		grep -q 'Could not get lock' "$err" && [ $((tries -= 1)) -gt 0 ] || { cat "$err" >&2; return 1; }
		[ $tries != 59 ] || echo "deps.sh: another apt-get is at work: waiting for it" >&2
		sleep 5
	done
}
err=$(mktemp)
trap 'rm -f "$err"' EXIT
# clang's sanitizer and fuzzer runtimes are a separate package, named after clang's version
runtime() {
	[ "$1" = check ] || return 0
	v=$(clang --version 2>/dev/null | sed -n 's/.*clang version \([0-9]*\).*/\1/p')
	[ -z "$v" ] || dpkg-query -W -f '${db:Status-Status}\n' "libclang-rt-$v-dev" 2>/dev/null | grep -qx installed ||
	    get install -y -qq --no-install-recommends "libclang-rt-$v-dev" >/dev/null ||
	    echo "deps.sh: libclang-rt-$v-dev can't be installed: fuzzers will be skipped" >&2
}
# dockerd for tests/container/setup_docker.py, unpacked outside of PATH.  An installed dockerd would start, and change the
# host's network.
docker() {
	at=${GPUHELPER_DOCKER:-/var/cache/gpuhelper-docker}
	[ "$1" = check ] && [ ! -e "$at" ] && [ "$(id -u)" = 0 ] || return 0
	part=$at.$$
	mkdir -p "$part"
	(cd "$part" && apt-get -qq -o APT::Sandbox::User=root download docker.io docker-cli 2>"$err" ||
	    apt-get -qq -o APT::Sandbox::User=root download docker.io 2>"$err") &&
	    for p in "$part"/*.deb; do dpkg-deb -x "$p" "$part" || break; done && rm -f "$part"/*.deb && mv "$part" "$at" ||
	    echo "deps.sh: docker.io can't be downloaded: its test will be skipped" >&2
	rm -rf "$part"
}
# Says what would be installed, and asks on the terminal.  False: no, or there is no terminal.
may_install() {
	plan=$(LC_ALL=C apt-get install --assume-no --no-install-recommends $missing 2>&1 || :)
	n=$(echo "$plan" | sed -n 's/.* \([0-9]*\) newly installed.*/\1/p')
	size=$(echo "$plan" | sed -n 's/^After this operation, \(.*\) of additional disk space.*/, \1/p')
	echo "This installs ${n:-some} packages$size, which stay, and starts the services among them (containerd):$missing" >&2
	[ -t 0 ] || { echo "deps.sh: this machine is in use, and there is no terminal to ask: say --yes, or use a fresh machine" >&2; return 1; }
	printf 'Install them? [y/N] ' >&2
	read -r answer || return 1
	[ "$answer" = y ] || [ "$answer" = yes ]
}
if [ -n "$missing" ]; then
	[ "$(id -u)" = 0 ] || { echo "deps.sh: needs root to install:$missing" >&2; exit 2; }
	get update -qq
	if [ $ask = yes ] && [ -d /run/systemd/system ]; then may_install || exit 2; fi
	echo "installing:$missing" >&2
	get install -y -qq --no-install-recommends $missing >/dev/null
fi
runtime "$1"
docker "$1"
