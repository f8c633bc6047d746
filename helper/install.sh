#!/bin/sh
# Does the work of «make install», «make uninstall» and «make install-selinux».  The Makefile calls it and says where files
# go.  The packages do the same (packaging/README).
#
#   install.sh install|uninstall|install-selinux
#
# An upgrade must not disturb running workers.  While the wrapper is missing, containerd takes the next runc that it finds,
# and containers run without gpuhelper.  So each file is first written whole under a name that no program looks for, and
# then renamed over the old file.  The setuid bit is set last, on a whole file with its owner.  All files are copied before
# the first one is renamed: if the disk is full, the old version stays as it was.
set -eu
umask 022
PATH=$PATH:/usr/sbin:/sbin
D=$DESTDIR
config=$SYSCONFDIR/gpuhelper
helper=$LIBEXECDIR/gpuhelper/gpuhelper
wrapper=$BINDIR/gpuhelper-runc
units=$LIBDIR/systemd/system
rotation=$SYSCONFDIR/logrotate.d/gpuhelper	# once it exists, the administrator may change it
modules=$D$PREFIX/share/selinux/packages/gpuhelper
relabelled="$LIBEXECDIR/gpuhelper $config $RUNSTATE/gpuhelper $LOCALSTATE/log/gpuhelper $LOCALSTATE/lib/gpuhelper"
lease_version=$(sed -n 's/^#define LEASE_VERSION \([0-9]*\).*/\1/p' helper/lease/leasefile.h)
force_by=FORCE=yes
. helper/running.sh

fail() { echo "make $what: $*" >&2; exit 1; }
say() { echo "make $what: $*"; }

# Prints «MODE SOURCE TARGET» for each file.  Helper and wrapper speak to each other: they come last, so that they are
# renamed one right after the other.
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
	# others can't read these programs, so no process of the same user can look into their processes (proc(5))
	echo "0711 $B/gpuhelper-look $LIBEXECDIR/gpuhelper/gpuhelper-look"
	echo "0711 $B/gpuhelper-engine $LIBEXECDIR/gpuhelper/gpuhelper-engine"
	echo "0711 $B/gpuhelper-read $LIBEXECDIR/gpuhelper/gpuhelper-read"
	echo "0711 $B/gpuhelper-judge $LIBEXECDIR/gpuhelper/gpuhelper-judge"
	echo "0711 $B/gpuhelper-judge-udev $LIBEXECDIR/gpuhelper/gpuhelper-judge-udev"
	echo "0711 $B/gpuhelper-label $LIBEXECDIR/gpuhelper/gpuhelper-label"
	echo "0755 $B/gpuhelper-wait $LIBEXECDIR/gpuhelper/gpuhelper-wait"
	echo "0755 $B/gpuhelper $helper"
	echo "0755 $B/gpuhelper-runc $wrapper"
}

# gpuhelper's own directories, the innermost first
directories() {
	for d in "$LIBEXECDIR/gpuhelper" "$config/policy.d" "$config/keys" "$config" "$PREFIX/share/doc/gpuhelper"; do echo "$d"; done
}

# a name that udev, systemd, logrotate and gpuhelper ignore
new_name() { echo "${1%/*}/.${1##*/}.new~"; }

# places SOURCE: prints the text with the paths of this installation
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
	# the SELinux label for the final name, before the file gets that name
	if [ -z "$D" ] && [ -e /sys/fs/selinux/enforce ] && label=$(matchpathcon -n "$3" 2>/dev/null); then
		chcon "$label" "$new"
	fi
}

# is_ours: true if nobody has changed the logrotate file
is_ours() { places helper/systemd/gpuhelper.logrotate | cmp -s - "$D$rotation"; }

# put TARGET: replaces the old file with the new one
put() {
	if [ "$1" = "$rotation" ] && [ -e "$D$1" ]; then
		is_ours || say "$D$1 was changed, so it stays as it is (the new one: helper/systemd/gpuhelper.logrotate)"
		rm -f "$D$(new_name "$1")"
	else
		mv -fT "$D$(new_name "$1")" "$D$1"
	fi
}

drop_new() { files | while read -r mode from to; do rm -f "$D$(new_name "$to")"; done; }

has_group() { getent group gpuhelper >/dev/null; }

missing() { sh helper/users.sh missing | paste -sd , - | sed 's/,/, /g'; }

# The owner first, because a change of owner clears the setuid bit.  In a package's tree the package sets the owner.
set_bit() {
	new=$D$(new_name "$helper")
	if [ "$(id -u)" = 0 ] && has_group; then chown root:gpuhelper "$new"; fi
	chmod 4750 "$new"
}

may_install() {
	[ -z "$SAN" ] || fail "a build with SAN=$SAN is unsafe as a setuid program: build without SAN"
	[ -z "$D" ] || return 0
	[ "$(id -u)" = 0 ] || [ "$SETUID" = no ] || fail "must run as root (or with DESTDIR, or with SETUID=no)"
	[ "$(id -u)" != 0 ] || [ -z "$(missing)" ] || fail "missing: $(missing): run «make users» first"
}

make_directories() {
	{ directories; files | while read -r mode from to; do echo "${to%/*}"; done; } | sort -u |
	while read -r d; do
		# a user who may list a directory can keep root's programs waiting there (gpuhelper-limits(7), «Stalling»)
		case $d in "$config/policy.d" | "$config/keys") mode=0711 ;; *) mode=0755 ;; esac
		[ -d "$D$d" ] || install -d -m $mode "$D$d"
	done
	if [ -z "$D" ] && [ "$(id -u)" = 0 ]; then own_directories; fi
}

say_next() {
	if ls "$config"/policy.d/*.conf >/dev/null 2>&1; then
		say "gpuhelperctl doctor says which engines call $wrapper, and what is wrong on this host"
	else
		say "no policy is there yet: write $config/gpuhelper.conf and a policy (the examples there), then run gpuhelperctl check," \
		    "gpuhelperctl setup ENGINE and gpuhelperctl doctor"
	fi
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
	say_old_leases
	say "installed $(files | wc -l) files: $D$wrapper, $D$SBINDIR/gpuhelperctl, the helper, units, man pages"
	[ -n "$D" ] || say_next
}

remove_modules() {
	[ -d "$modules" ] || return 0
	[ -n "$D" ] || unload_modules
	rm -rf "$modules"
}

# «make install-selinux» has built the modules.
install_modules() {
	install -d -m 0755 "$modules"
	install -m 0644 "$B"/selinux/*.pp "$modules/"
	load_modules
}

# stays PATH...: prints the files that exist there
stays() {
	for f in "$@"; do
		[ ! -e "$D$f" ] || find "$D$f" ! -type d | sort
	done
}

# Settings that «setup» did not write, which name the wrapper all the same.
name_settings() {
	for f in /etc/containerd/config.toml /etc/containerd/conf.d/*.toml /etc/docker/daemon.json /etc/containers/containers.conf \
	    /etc/containers/containers.conf.d/*.conf /etc/crio/crio.conf /etc/crio/crio.conf.d/*.conf; do
		! grep -qsF "$wrapper" "$f" || say "$f names $wrapper: its engine creates no containers until it names another runtime"
	done
	say "an engine with other settings that name $wrapper creates no containers until they name another runtime"
}

say_what_stays() {
	left=$(stays "$config" "$rotation" "$LOCALSTATE/log/gpuhelper" "$LOCALSTATE/lib/gpuhelper")
	if [ -n "$left" ]; then
		say "these files stay (settings, policies, the audit log, the record of used tokens):"
		echo "$left" | sed 's/^/    /'
	fi
	[ -n "$D" ] || ! has_group || say "the group gpuhelper and its users stay; to remove them: userdel gpuhelper-look;" \
	    "userdel gpuhelper-engine; userdel gpuhelper-read; userdel gpuhelper-judge; groupdel gpuhelper"
	[ -n "$D" ] || name_settings
}

uninstall_all() {
	[ -n "$D" ] || [ "$(id -u)" = 0 ] || [ "$SETUID" = no ] || fail "must run as root (or with DESTDIR)"
	detach
	stop_units
	remove_modules
	files | while read -r mode from to; do
		[ "$to" = "$rotation" ] && ! is_ours || rm -f "$D$to"
		rm -f "$D$(new_name "$to")"
	done
	reload_units
	say "removed gpuhelper's programs, units and man pages"
	[ -n "$D" ] || rm -rf "$RUNSTATE/gpuhelper"
	directories | while read -r d; do rmdir "$D$d" 2>/dev/null || :; done
	[ -n "$D" ] || rmdir "$LOCALSTATE/log/gpuhelper" "$LOCALSTATE/lib/gpuhelper" 2>/dev/null || :
	say_what_stays
}

what=${1:-}
case $what in
install) install_all ;;
uninstall) uninstall_all ;;
install-selinux) install_modules ;;
*) echo "usage: make install, make uninstall, make install-selinux" >&2; exit 2 ;;
esac
