#!/bin/sh
# Runs all jobs, two machines at a time (each keeps little more than one processor busy), and prints their TAP one
# after another.
set -u
here=$(cd "$(dirname "$0")/../.." && pwd)
t=$(mktemp -d)
trap 'rm -rf "$t"' EXIT
# Emulated machines are slow enough by themselves, so only one run of them at a time on this machine.
exec 9>>/tmp/.gpuhelper-vm.lock
flock 9
# the longest first
jobs="relabel selinux door udev"
# two emulated processors would mostly wait for each other
export VM_CPUS=1
# shellcheck disable=SC2086
printf '%s\n' $jobs | xargs -P 2 -I '{}' sh -c 'exec 9>&-; start=$(date +%s); sh "$1/tests/vm/vm.sh" "$2" >"$3/$2" 2>&1
	echo "$?" >"$3/$2.status"; echo "# $2: $(($(date +%s) - start)) s" >>"$3/$2"' - "$here" '{}' "$t"
bad=0
for j in $jobs; do
	echo "# job $j"
	cat "$t/$j"
	[ "$(cat "$t/$j.status" 2>/dev/null)" = 0 ] || { bad=1; grep -q '^not ok' "$t/$j" || echo "not ok - vm: $j came to its end"; }
done
exit $bad
