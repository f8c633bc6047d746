#!/bin/sh
# The group and the users that gpuhelper needs, by systemd/gpuhelper.sysusers: makes those that are missing.
#
#   users.sh [missing]		missing: prints them, and makes none
set -eu
file=$(dirname "$0")/systemd/gpuhelper.sysusers

# where gpuhelper looks for them
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
"") missing | while read -r kind name; do add "$kind" "$name"; done ;;
*) echo "usage: users.sh [missing]" >&2; exit 2 ;;
esac
