#!/bin/sh
# What «make install» and «make uninstall» do; run by them, for the Makefile says where things go.
#
#   install.sh install|uninstall
#
# An upgrade happens under running workers.  While the wrapper is missing, containerd takes the next runc that it finds,
# and containers run ungoverned: so each file is made whole under a name that nobody looks for, and then renamed over the
# old one.  The setuid bit is set last, on a file that is whole and has its owner.  Files are copied before the first
# is renamed: a full disk leaves the old version as it was.
set -eu
umask 022
PATH=$PATH:/usr/sbin:/sbin
D=$DESTDIR
config=$SYSCONFDIR/gpuhelper
helper=$LIBEXECDIR/gpuhelper/gpuhelper
wrapper=$BINDIR/gpuhelper-runc
units=$LIBDIR/systemd/system
rotation=$SYSCONFDIR/logrotate.d/gpuhelper	# the administrator's, once it is there

fail() { echo "make $what: $*" >&2; exit 1; }
say() { echo "make $what: $*"; }

# «MODE SOURCE TARGET», a line for each file.  Those of text have the places named that the Makefile has.
# The helper and the wrapper speak to each other, and are the last: they are renamed one right after the other.
files() {
	echo "0755 $B/gpuhelperctl $SBINDIR/gpuhelperctl"
	for f in policy.d/*.conf.example; do echo "0644 $f $config/$f"; done
	echo "0644 policy.d/gpuhelper.conf $config/gpuhelper.conf.example"
	echo "0644 policy.d/policies.test.example $config/policies.test.example"
	echo "0644 helper/systemd/gpuhelper.sysusers $LIBDIR/sysusers.d/gpuhelper.conf"
	echo "0644 helper/systemd/gpuhelper.tmpfiles $LIBDIR/tmpfiles.d/gpuhelper.conf"
	for f in helper/systemd/*.service helper/systemd/*.timer helper/systemd/*.path helper/systemd/*.socket; do
		echo "0644 $f $units/${f##*/}"
	done
	echo "0644 helper/systemd/gpuhelper.logrotate $rotation"
	for f in udev/*.rules; do echo "0644 $f $LIBDIR/udev/rules.d/${f##*/}"; done
	for f in udev/*.example; do echo "0644 $f $PREFIX/share/doc/gpuhelper/${f##*/}"; done
	echo "0644 helper/completion/gpuhelperctl.bash $PREFIX/share/bash-completion/completions/gpuhelperctl"
	echo "0644 helper/completion/gpuhelperctl.zsh ${ZSHDIR:-$PREFIX/share/zsh/vendor-completions}/_gpuhelperctl"
	for f in helper/man/*.[1578]; do echo "0644 $f $MANDIR/man${f##*.}/${f##*/}"; done
	# nobody else's is to look into a process of its (proc(5), dumpable): not readable for others
	echo "0711 $B/gpuhelper-read $LIBEXECDIR/gpuhelper/gpuhelper-read"
	echo "0711 $B/gpuhelper-judge $LIBEXECDIR/gpuhelper/gpuhelper-judge"
	echo "0711 $B/gpuhelper-label $LIBEXECDIR/gpuhelper/gpuhelper-label"
	echo "0755 $B/gpuhelper $helper"
	echo "0755 $B/gpuhelper-runc $wrapper"
}

# directories that are gpuhelper's own, the innermost first
directories() {
	for d in "$LIBEXECDIR/gpuhelper" "$config/policy.d" "$config/keys" "$config" "$PREFIX/share/doc/gpuhelper"; do echo "$d"; done
}

# no program takes up a file of such a name: not udev, systemd, logrotate, nor gpuhelper
new_name() { echo "${1%/*}/.${1##*/}.new~"; }

# places SOURCE: the text, with this installation's paths
places() {
	sed -e "s|/usr/sbin/|$SBINDIR/|g; s|/etc/gpuhelper|$config|g; s|/usr/libexec/|$LIBEXECDIR/|g" \
	    -e "s|/run/gpuhelper|$RUNSTATE/gpuhelper|g; s|/var/l|$LOCALSTATE/l|g" "$1"
}

# copy MODE SOURCE TARGET
copy() {
	new=$D$(new_name "$3")
	rm -f "$new"
	case $2 in
	helper/systemd/* | udev/*.rules)
		places "$2" >"$new"
		chmod "$1" "$new" ;;
	*)	install -m "$1" "$2" "$new" ;;
	esac
	# the label that the name has, before the name has the file
	if [ -z "$D" ] && [ -e /sys/fs/selinux/enforce ] && label=$(matchpathcon -n "$3" 2>/dev/null); then
		chcon "$label" "$new"
	fi
}

# is_ours: nobody has changed the rotation
is_ours() { places helper/systemd/gpuhelper.logrotate | cmp -s - "$D$rotation"; }

# put TARGET: the new file in the place of the old
put() {
	if [ "$1" = "$rotation" ] && [ -e "$D$1" ]; then
		is_ours || say "$D$1 was changed, and stays as it is (this version's: helper/systemd/gpuhelper.logrotate)"
		rm -f "$D$(new_name "$1")"
	else
		mv -fT "$D$(new_name "$1")" "$D$1"
	fi
}

drop_new() { files | while read -r mode from to; do rm -f "$D$(new_name "$to")"; done; }

has_group() { getent group gpuhelper >/dev/null; }

missing() { sh helper/users.sh missing | paste -sd , - | sed 's/,/, /g'; }

# The owner first, for a change of owner takes the bit away.  Of a package's tree the package says whose it is.
set_bit() {
	new=$D$(new_name "$helper")
	if [ "$(id -u)" = 0 ] && has_group; then chown root:gpuhelper "$new"; fi
	chmod 4750 "$new"
}

may_install() {
	[ -z "$SAN" ] || fail "not with SAN=$SAN"
	[ -z "$D" ] || return 0
	[ "$(id -u)" = 0 ] || [ "$SETUID" = no ] || fail "must run as root (or with DESTDIR, or with SETUID=no)"
	[ "$(id -u)" != 0 ] || [ -z "$(missing)" ] || fail "missing: $(missing): make users"
}

make_directories() {
	{ directories; files | while read -r mode from to; do echo "${to%/*}"; done; } | sort -u |
	while read -r d; do [ -d "$D$d" ] || install -d -m 0755 "$D$d"; done
	[ -z "$D" ] && [ "$(id -u)" = 0 ] || return 0
	install -d -m 0711 "$RUNSTATE/gpuhelper"
	# who reads the log is the administrator's to say
	[ -d "$LOCALSTATE/log/gpuhelper" ] || install -d -m 0750 -g gpuhelper "$LOCALSTATE/log/gpuhelper"
	install -d -m 0700 "$LOCALSTATE/lib/gpuhelper"
}

# The files of leases that another version wrote.
old_leases() {
	[ -z "$D" ] && [ -d "$RUNSTATE/gpuhelper/leases" ] || return 0
	version=$(sed -n 's/^#define LEASE_VERSION \([0-9]*\).*/\1/p' helper/pure/leasefile.h)
	find "$RUNSTATE/gpuhelper/leases" -type f ! -name '*.*' ! -exec grep -qx "lease $version" {} ';' -print
}

# The helper of this version does not read what those of others wrote of a GPU that is held, and gives none out then.
refuse_old_leases() {
	[ -n "$(old_leases)" ] || return 0
	[ ! -x "$SBINDIR/gpuhelperctl" ] || "$SBINDIR/gpuhelperctl" reap >/dev/null || :
	held=$(old_leases | wc -l)
	[ "$held" = 0 ] || fail "containers hold leases that another version wrote: $held (gpuhelperctl status): end these" \
	    "containers and try again (nothing is installed)"
}

install_all() {
	may_install
	refuse_old_leases
	make_directories
	trap drop_new EXIT
	trap 'exit 1' HUP INT TERM
	files | while read -r mode from to; do copy "$mode" "$from" "$to"; done
	[ "$SETUID" = no ] || set_bit
	files | while read -r mode from to; do echo "$D$(new_name "$to")"; done | xargs sync
	files | while read -r mode from to; do put "$to"; done
	old_leases | while read -r lease; do
		say "a container got a lease of the old form meanwhile: its GPUs stay taken until you end that container and" \
		    "remove the lease: rm $lease"
	done
}

# links NAME...: those that are links to the wrapper
links() {
	for l in "$@"; do
		[ -L "$D$l" ] || continue
		case $(readlink "$D$l") in "$wrapper") echo "$l"; continue ;; esac
		[ "$(readlink -f "$D$l")" != "$(readlink -f "$D$wrapper")" ] || echo "$l"
	done
}

remove_links() {
	set -- /opt/containerd/bin/runc
	for d in $(echo "$PATH" | tr : ' '); do set -- "$@" "$d/runc" "$d/crun"; done
	links "$@" | sort -u | while read -r l; do
		rm -f "$D$l"
		say "removed $D$l: containers are not judged from now on"
	done
}

# What a lease has opened, a helper has to shut.
end_leases() {
	[ -z "$D" ] && [ -d "$RUNSTATE/gpuhelper/leases" ] || return 0
	[ ! -x "$SBINDIR/gpuhelperctl" ] || "$SBINDIR/gpuhelperctl" reap >/dev/null || :
	held=$(find "$RUNSTATE/gpuhelper/leases" -type f | wc -l)
	[ "$held" = 0 ] || [ "$FORCE" = yes ] ||
	    fail "leases that are not over: $held (gpuhelperctl status): end their containers and try again, or say FORCE=yes"
}

stop_units() {
	[ -z "$D" ] && command -v systemctl >/dev/null || return 0
	now=
	[ ! -d /run/systemd/system ] || now=--now
	for u in audit.service health.timer reap.timer metrics.timer keys.timer cdi.service cdi.path; do set -- "$@" "gpuhelper-$u"; done
	# shellcheck disable=SC2086
	systemctl -q disable $now gpuhelper.socket "$@" >/dev/null 2>&1 || :
}

remove_modules() {
	packages=$PREFIX/share/selinux/packages/gpuhelper
	[ -d "$D$packages" ] || return 0
	if [ -z "$D" ]; then
		$SEMODULE -X 300 -r gpuhelper || say "the SELinux module gpuhelper stays"
		[ ! -e "$packages/nvidia-container.pp" ] || $SEMODULE -X 200 -r nvidia-container 2>/dev/null || :
	fi
	rm -rf "${D:?}$packages"
}

# stays PATH...: those that are there
stays() {
	for f in "$@"; do
		[ ! -e "$D$f" ] || find "$D$f" ! -type d | sort
	done
}

say_what_stays() {
	left=$(stays "$config" "$rotation" "$LOCALSTATE/log/gpuhelper" "$LOCALSTATE/lib/gpuhelper")
	[ -z "$left" ] || { say "these stay: settings, policies, the audit log, which tokens were used:"; echo "$left" | sed 's/^/    /'; }
	[ -n "$D" ] || ! has_group || say "the group gpuhelper and its users stay (userdel gpuhelper-read; userdel gpuhelper-judge;" \
	    "groupdel gpuhelper)"
	[ -n "$D" ] || say "an engine whose own settings name $wrapper makes no containers until they name another runtime"
}

uninstall_all() {
	[ -n "$D" ] || [ "$(id -u)" = 0 ] || [ "$SETUID" = no ] || fail "must run as root (or with DESTDIR)"
	remove_links
	end_leases
	stop_units
	remove_modules
	files | while read -r mode from to; do
		[ "$to" = "$rotation" ] && ! is_ours || rm -f "$D$to"
		rm -f "$D$(new_name "$to")"
	done
	[ -n "$D" ] || [ ! -d /run/systemd/system ] || systemctl daemon-reload || :
	[ -n "$D" ] || rm -rf "$RUNSTATE/gpuhelper"
	directories | while read -r d; do rmdir "$D$d" 2>/dev/null || :; done
	[ -n "$D" ] || rmdir "$LOCALSTATE/log/gpuhelper" "$LOCALSTATE/lib/gpuhelper" 2>/dev/null || :
	say_what_stays
}

what=${1:-}
case $what in
install) install_all ;;
uninstall) uninstall_all ;;
*) echo "usage: make install, make uninstall" >&2; exit 2 ;;
esac
