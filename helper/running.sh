# What it takes to install, upgrade and remove gpuhelper on a host where containers run: leases, links, units,
# directories, SELinux modules.  Functions alone.  install.sh sources this file; packaging/script.sh puts it into the
# scripts of the packages, so that «make install» and the packages do the same.
#
# Before they are called, set: D (the host's root directory; empty: this host), RUNSTATE, LOCALSTATE, SBINDIR, wrapper
# (whole paths), lease_version (of the version that is installed), FORCE (yes: remove it while containers hold GPUs),
# force_by (what to say for that), SEMODULE (the command; empty: load no module), modules (where the .pp files are),
# relabelled (paths), and the functions fail and say, which print one line; fail ends the script.

# The files of leases that another version wrote.
old_leases() {
	[ -z "$D" ] && [ -d "$RUNSTATE/gpuhelper/leases" ] || return 0
	find "$RUNSTATE/gpuhelper/leases" -type f ! -name '*.*' ! -exec grep -qx "lease $lease_version" {} ';' -print
}

# Leases whose containers are gone are not in the way.
reap() { [ ! -x "$SBINDIR/gpuhelperctl" ] || "$SBINDIR/gpuhelperctl" reap >/dev/null || :; }

# The helper of this version does not read what those of others wrote of a GPU that is held, and gives none out then.
refuse_old_leases() {
	[ -n "$(old_leases)" ] || return 0
	reap
	held=$(old_leases | wc -l)
	[ "$held" = 0 ] || fail "containers hold leases that another version wrote: $held (gpuhelperctl status): end these" \
	    "containers and try again (nothing is installed)"
}

# Afterwards: those that came between the look and the new files.
say_old_leases() {
	old_leases | while read -r lease; do
		say "a container got a lease of the old form meanwhile: its GPUs stay taken until you end that container and" \
		    "remove the lease: rm $lease"
	done
}

# The directories that gpuhelper writes.  Who reads the log is the administrator's to say: that one is made, and then
# left alone.
own_directories() {
	install -d -m 0711 "$RUNSTATE/gpuhelper"
	[ -d "$LOCALSTATE/log/gpuhelper" ] || install -d -m 0750 -g gpuhelper "$LOCALSTATE/log/gpuhelper"
	install -d -m 0700 "$LOCALSTATE/lib/gpuhelper"
}

# links NAME...: those that are links to the wrapper
links() {
	for l in "$@"; do
		[ -L "$D$l" ] || continue
		case $(readlink "$D$l") in "$wrapper") echo "$l"; continue ;; esac
		[ "$(readlink -f "$D$l")" != "$(readlink -f "$D$wrapper")" ] || echo "$l"
	done
}

# What «gpuhelperctl setup» told the engines, with its lines in gpuhelper.conf: before the wrapper goes, for an engine that
# names it makes no containers then.
undo_setups() {
	[ -z "$D" ] && [ "$(id -u)" = 0 ] && [ -x "$SBINDIR/gpuhelperctl" ] || return 0
	for e in docker podman containerd concourse; do
		"$SBINDIR/gpuhelperctl" setup "$e" --undo 2>&1 |
		    sed -n '/: removed /p; /: took gpuhelper-runc /p; /^gpuhelperctl: /p' |
		    while IFS= read -r line; do say "$line"; done
	done
}

# The links in an engine's way: before the wrapper goes, or no container could be made.
remove_links() {
	undo_setups
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
	reap
	held=$(find "$RUNSTATE/gpuhelper/leases" -type f | wc -l)
	[ "$held" = 0 ] || [ "$FORCE" = yes ] ||
	    fail "leases that are not over: $held (gpuhelperctl status): end their containers and try again, or say $force_by"
}

stop_units() {
	[ -z "$D" ] && command -v systemctl >/dev/null || return 0
	now=
	[ ! -d /run/systemd/system ] || now=--now
	set --
	for u in audit.service health.timer reap.timer metrics.timer keys.timer cdi.service cdi.path; do
		set -- "$@" "gpuhelper-$u"
	done
	# shellcheck disable=SC2086
	systemctl -q disable $now gpuhelper.socket "$@" >/dev/null 2>&1 || :
}

reload_units() { [ -n "$D" ] || [ ! -d /run/systemd/system ] || systemctl daemon-reload || :; }

# Below the priority that an administrator's own modules have (400); nvidia-container below NVIDIA's, too.  The one
# for containers goes where the policy knows containers.
load_modules() {
	[ -n "$SEMODULE" ] || return 0
	if $SEMODULE -l | grep -qw '^container'; then
		$SEMODULE -X 300 -i "$modules/gpuhelper.pp" -X 200 -i "$modules/nvidia-container.pp"
	else
		say "the policy has no module «container» (Fedora: install container-selinux): nvidia-container is left out" >&2
		$SEMODULE -X 300 -i "$modules/gpuhelper.pp"
	fi
	[ -z "$D" ] || return 0
	for d in $relabelled; do [ ! -e "$d" ] || restorecon -RF "$d"; done
}

unload_modules() {
	[ -n "$SEMODULE" ] || return 0
	$SEMODULE -X 300 -r gpuhelper || say "the SELinux module gpuhelper stays"
	# it is there where load_modules found containers
	$SEMODULE -X 200 -r nvidia-container 2>/dev/null || :
}
