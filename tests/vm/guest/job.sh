# The beginning of every job in the machine.  Sourced; sets T, the job's directory.
T=$(mktemp -d)
chmod 755 "$T"
. /job/tap.sh
# t NAME TEST...: passes if TEST succeeds; a failure prints only this check's output
t() { name=$1; shift; : >"$T/out"; : >"$T/err"; if "$@"; then pass "$name"; else fail "$name"; fi; }
is() { echo "$1" >"$T/out"; [ "$1" = "$2" ]; }
like() { echo "$1" | grep -qx -e "$2" || { echo "$1" >"$T/out"; return 1; }; }
# succeeds, and prints nothing
quiet() { "$@" >"$T/out" 2>&1 && ! [ -s "$T/out" ]; }
# succeeds within some seconds
soon() {
	i=0
	until "$@"; do
		i=$((i + 1))
		[ $i -lt 100 ] || return 1
		sleep 0.3
	done
}
# useradd NAME ID: makes a user with a group of its own
useradd() {
	echo "$1:x:$2:$2::/home/$1:/bin/sh" >>/etc/passwd
	echo "$1:x:$2:" >>/etc/group
}
# admit NAMES: adds them («a,b») to the group that may ask the helper
admit() { sed -i "s/^gpuhelper:.*/&$1/" /etc/group; }
policy() { cat >"/etc/gpuhelper/policy.d/$1.conf"; }
# lease_head PID: the beginning of a lease of uid 1000's (helper/lease/leasefile.c), asked for by that process; «label»
# comes next
lease_head() {
	printf 'lease %s\ncontainer vm /run/runc 1000\ngranted p t/p 1\nstate held no\nboot %s\nasker %d %s\n' \
	    "$(cat /job/lease_version)" "$(cat /proc/sys/kernel/random/boot_id)" "$1" "$(cut -d ' ' -f 22 "/proc/$1/stat")"
	printf 'init 0 0\nnamespaces 0 no 0\nrights no no no\n'
}
# a lease's file, with the name of one that may concern everyone (helper/lease/leasename.h)
lease_path() { echo "/run/gpuhelper/leases/$(printf '1000\000/run/runc\000vm' | sha256sum | cut -c 1-64)-1000-7-ffffffffffffffff"; }
# ledger NODE NUMBER KIND ID LABEL WAS: what that lease has of a node (helper/lease/ledgerfile.c).  NUMBER: «226 128»
ledger() {
	gpuhelperctl reap	# makes the directory, with its label
	printf 'ledger 1\nnode %s %s\nbefore %s 0 none\nentry %s 1000 %s %s %s %s\nend\n' "$1" "$2" \
	    "$(cat /proc/sys/kernel/random/boot_id)" "$(basename "$(lease_path)" | cut -d - -f 1)" "$3" "$4" "$5" "$6" >"$T/ledger"
	chmod 600 "$T/ledger"
	cp "$T/ledger" "/run/gpuhelper/ledger/$(echo "$2$1" | tr ' /' ':!')"
}
# systemd 257 makes a program of device rules that the kernel refuses where none of the devices exists (DevicePolicy=closed).
# True if it says so of a service that is not ours.
systemd_blunders() {
	systemd-run --quiet --wait -p PrivateDevices=yes -p DevicePolicy=closed --unit=not-ours /bin/true >/dev/null 2>&1
	journalctl --sync
	journalctl --boot --no-pager -o cat -p warning _PID=1 | grep -q "Attaching device control BPF program to cgroup .*/not-ours.service failed"
}
# systemd's warnings about our units since boot, without that one
unit_warnings() {
	blunder=.^
	! systemd_blunders || blunder='No devices matched by device filter|Attaching device control BPF program|configures device ACL'
	journalctl --sync
	journalctl --boot --no-pager -p warning _PID=1 | grep -i gpuhelper | grep -vE "$blunder"
}
