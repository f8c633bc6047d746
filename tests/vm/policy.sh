#!/bin/sh
# Debian's policy with this project's modules, for a machine that image.sh made.
#
#	policy.sh IMAGE		prints a directory with etc/selinux, after making it if IMAGE lacks these modules
set -eu
umask 022
image=${1:?usage: policy.sh IMAGE}
here=$(cd "$(dirname "$0")/../.." && pwd)
build=${BUILD:-$here/build}
key=$(cat "$here"/selinux/*.te "$here"/selinux/*.if "$here"/selinux/*.fc "$0" | sha256sum | cut -c1-16)
linked=$image/linked-$key
if ! [ -e "$linked" ]; then
	exec 9>"$image/lock"
	flock 9
	# another run may have made it meanwhile
	[ ! -e "$linked" ] || { echo "$linked"; exit 0; }
	rm -rf "$image"/linked-*
	cp -a "$image/policy" "$image/linking"
	trap 'rm -rf "$image/linking"' EXIT
	make -s -C "$here" B="$build" selinux >&2
	make -s -C "$here" B="$build" SEMODULE="semodule -p $image/linking -s default -n" DESTDIR="$image/linking" install-selinux >&2
	rm -rf "$image/linking/var"
	mv "$image/linking" "$linked"
fi
echo "$linked"
