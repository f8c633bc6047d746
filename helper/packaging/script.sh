#!/bin/sh
# Prints the whole script of a package.  In FILE, it replaces the line «@running@» with helper/running.sh and the variables
# that this needs, and the line «@sysusers@» with gpuhelper.sysusers.  Packages always use /usr, /etc, /run and /var.
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
	lease_version=$(sed -n 's/^#define LEASE_VERSION \([0-9]*\).*/\1/p' "$helper/lease/leasefile.h")
	FORCE=\${GPUHELPER_FORCE:-no} force_by=GPUHELPER_FORCE=yes
	SEMODULE=semodule
	PATH=\$PATH:/usr/sbin:/sbin
	fail() { echo "gpuhelper: \$*" >&2; exit 1; }
	say() { echo "gpuhelper: \$*"; }
	END
	# without the comment at its head
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
