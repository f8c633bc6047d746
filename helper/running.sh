# Functions to install, upgrade and remove gpuhelper on a host where containers run.  They deal with leases, links, units,
# directories and SELinux modules.  install.sh sources this file.  packaging/script.sh copies it into the scripts of the
# packages, so that «make install» and the packages do the same.
#
# The caller sets:
#   D			root directory of the target; empty: this host
#   RUNSTATE, LOCALSTATE, SBINDIR, wrapper	whole paths
#   lease_version	of the version to be installed
#   FORCE		yes: remove gpuhelper even while containers hold GPUs
#   force_by		how the user sets FORCE, for messages
#   SEMODULE		the semodule command; empty: load no modules
#   modules		directory of the .pp files
#   relabelled		paths to label again after the modules are loaded
#   fail, say		functions that print one line; fail ends the script

# Prints the lease files of another version.
old_leases() {
	[ -z "$D" ] && [ -d "$RUNSTATE/gpuhelper/leases" ] || return 0
	find "$RUNSTATE/gpuhelper/leases" -type f ! -name '*.*' ! -exec grep -qx "lease $lease_version" {} ';' -print
}

# Ends leases whose containers are gone.
reap() { [ ! -x "$SBINDIR/gpuhelperctl" ] || "$SBINDIR/gpuhelperctl" reap >/dev/null || :; }

# The new helper cannot read leases of another version, and grants no GPU while there is one.
refuse_old_leases() {
	[ -n "$(old_leases)" ] || return 0
	reap
	held=$(old_leases | wc -l)
	[ "$held" = 0 ] || fail "leases of another version: $held (gpuhelperctl status): end their containers and try" \
	    "again (nothing was installed)"
}

# Names the leases that were written between that check and the installation of the new files.
say_old_leases() {
	old_leases | while read -r lease; do
		say "a container got a lease of the old version during the upgrade: its GPUs stay taken until you end that" \
		    "container and run: rm $lease"
	done
}

# Makes the directories that gpuhelper writes.  The administrator decides who may read the log, so an existing log directory
# is left alone.
own_directories() {
	install -d -m 0711 "$RUNSTATE/gpuhelper"
	install -d -m 0700 "$RUNSTATE/gpuhelper/births"
	[ -d "$LOCALSTATE/log/gpuhelper" ] || install -d -m 0750 -g gpuhelper "$LOCALSTATE/log/gpuhelper"
	install -d -m 0700 "$LOCALSTATE/lib/gpuhelper"
}

# links NAME...: prints those that are links to the wrapper
links() {
	for l in "$@"; do
		[ -L "$D$l" ] || continue
		case $(readlink "$D$l") in "$wrapper") echo "$l"; continue ;; esac
		[ "$(readlink -f "$D$l")" != "$(readlink -f "$D$wrapper")" ] || echo "$l"
	done
}

# Undoes what «gpuhelperctl setup» told the engines, and its lines in gpuhelper.conf.  Must come before the wrapper is
# removed: an engine that names a missing wrapper makes no containers.
undo_setups() {
	[ -z "$D" ] && [ "$(id -u)" = 0 ] && [ -x "$SBINDIR/gpuhelperctl" ] || return 0
	for e in docker podman containerd concourse; do
		"$SBINDIR/gpuhelperctl" setup "$e" --undo 2>&1 |
		    sed -n '/: removed /p; /^gpuhelperctl: /p' |
		    while IFS= read -r line; do say "$line"; done
	done
	refuse_while_set_up
}

# An engine that could not be taken back would create no containers once the wrapper is gone.
refuse_while_set_up() {
	left=
	for e in docker podman containerd concourse; do
		"$SBINDIR/gpuhelperctl" setup "$e" --undo --dry-run 2>/dev/null | grep -v '^settings: ' |
		    grep -q ': would remove ' && left="$left${left:+, }gpuhelperctl setup $e --undo"
	done
	[ -z "$left" ] || [ "$FORCE" = yes ] ||
	    fail "an engine is still set up to run $wrapper: $left (nothing was removed but what the lines above say), or set $force_by"
}

# Removes the links that make engines run the wrapper.  Must come before the wrapper is removed, or engines could create no
# container.
remove_links() {
	undo_setups
	set -- /opt/containerd/bin/runc
	for d in $(echo "$PATH" | tr : ' '); do set -- "$@" "$d/runc" "$d/crun"; done
	links "$@" | sort -u | while read -r l; do
		rm -f "$D$l"
		say "removed $D$l: from now on containers run without gpuhelper"
	done
}

# end_leases REMOVED: only the helper can close what leases have opened, so they must end before it is removed.
end_leases() {
	[ -z "$D" ] && [ -d "$RUNSTATE/gpuhelper/leases" ] || return 0
	reap
	held=$(find "$RUNSTATE/gpuhelper/leases" -type f | wc -l)
	[ "$held" = 0 ] || [ "$FORCE" = yes ] ||
	    fail "leases that have not ended: $held (gpuhelperctl status): end their containers and try again, or set $force_by ($1)"
}

# Makes engines run their own runtime again.  First the leases: after that, an engine might not end a container that the
# wrapper made, and new ones run without gpuhelper.  Then again, because a container may have been made meanwhile.
detach() {
	end_leases "nothing was removed"
	remove_links
	end_leases "nothing was removed but what the lines above say"
}

stop_units() {
	[ -z "$D" ] && command -v systemctl >/dev/null || return 0
	now=
	[ ! -d /run/systemd/system ] || now=--now
	set --
	for u in audit.service health.timer reap.timer metrics.timer keys.timer keys.socket cdi.service cdi.path; do
		set -- "$@" "gpuhelper-$u"
	done
	# shellcheck disable=SC2086
	systemctl -q disable $now gpuhelper.socket "$@" >/dev/null 2>&1 || :
}

reload_units() { [ -n "$D" ] || [ ! -d /run/systemd/system ] || systemctl daemon-reload || :; }

# The priorities are lower than that of an administrator's own modules (400); that of nvidia-container is also lower than
# NVIDIA's.  nvidia-container needs a policy with the module «container».
load_modules() {
	[ -n "$SEMODULE" ] || return 0
	if $SEMODULE -l | grep -qw '^container'; then
		$SEMODULE -X 300 -i "$modules/gpuhelper.pp" -X 200 -i "$modules/nvidia-container.pp"
	else
		say "the SELinux policy has no module «container» (Fedora: install container-selinux): nvidia-container is not loaded" >&2
		$SEMODULE -X 300 -i "$modules/gpuhelper.pp"
	fi
	[ -z "$D" ] || return 0
	for d in $relabelled; do [ ! -e "$d" ] || restorecon -RF "$d"; done
}

unload_modules() {
	[ -n "$SEMODULE" ] || return 0
	$SEMODULE -X 300 -r gpuhelper || say "the SELinux module gpuhelper could not be removed"
	# it is missing if load_modules did not load it
	$SEMODULE -X 200 -r nvidia-container 2>/dev/null || :
}
