#!/bin/sh
# Creates the group and the users that gpuhelper needs and that do not exist yet.  systemd/gpuhelper.sysusers lists them.
#
#   users.sh		creates them
#   users.sh missing	only prints those that do not exist
set -eu
file=$(dirname "$0")/systemd/gpuhelper.sysusers

# looks in /etc/passwd and /etc/group, as gpuhelper does
is_there() { grep -q "^$2:" "/etc/$1"; }

missing() {
	while read -r kind name rest; do
		case $kind in
		g) is_there group "$name" || echo "group $name" ;;
		u) is_there passwd "$name" || echo "user $name" ;;
		esac
	done <"$file"
}

add() {
	case $1 in
	group) groupadd --system "$2" ;;
	user)	is_there group "$2" || groupadd --system "$2"
		useradd --system --gid "$2" --home-dir / --no-create-home --shell /usr/sbin/nologin "$2" ;;
	esac
}

case ${1:-} in
missing) missing ;;
"")	if [ -z "$(missing)" ]; then echo "make users: the group and the users are there already"; fi
	missing | while read -r kind name; do
		add "$kind" "$name"
		echo "make users: made the system $kind $name"
	done ;;
*) echo "usage: users.sh [missing]" >&2; exit 2 ;;
esac
