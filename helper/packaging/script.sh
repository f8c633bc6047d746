#!/bin/sh
# A script of a package, whole: FILE with helper/running.sh, and the places that it wants to know, at its line
# «@running@»; the lines of gpuhelper.sysusers at its line «@sysusers@».  Packages are installed beneath /usr, /etc,
# /run and /var, and nowhere else.
#
#   script.sh FILE
set -eu
helper=$(cd "$(dirname "$0")/.." && pwd)

running() {
	cat <<-END
	RUNSTATE=/run LOCALSTATE=/var SBINDIR=/usr/sbin
	wrapper=/usr/bin/gpuhelper-runc
	helper=/usr/libexec/gpuhelper/gpuhelper
	modules=/usr/share/selinux/packages/gpuhelper
	relabelled="/usr/libexec/gpuhelper /etc/gpuhelper /run/gpuhelper /var/log/gpuhelper /var/lib/gpuhelper"
	lease_version=$(sed -n 's/^#define LEASE_VERSION \([0-9]*\).*/\1/p' "$helper/pure/leasefile.h")
	FORCE=\${GPUHELPER_FORCE:-no} force_by=GPUHELPER_FORCE=yes
	SEMODULE=semodule
	PATH=\$PATH:/usr/sbin:/sbin
	fail() { echo "gpuhelper: \$*" >&2; exit 1; }
	say() { echo "gpuhelper: \$*"; }
	END
	# what its head says is for who reads the source
	sed -n '/^[a-z_]*() {/,$p' "$helper/running.sh"
}

[ $# = 1 ] || { echo "usage: script.sh FILE" >&2; exit 2; }
while IFS= read -r line; do
	case $line in
	@running@) running ;;
	@sysusers@) cat "$helper/systemd/gpuhelper.sysusers" ;;
	*) printf '%s\n' "$line" ;;
	esac
done <"$1"
