#!/bin/sh
# Tests of tests/container as they are, on a machine with SELinux: what the helper does for them must not be denied.
# selinux: enforcing
# packages: python3 passwd busybox-static uidmap openssl
# files: container lib fixtures
#
# Permissive, because what the tests make in /tmp and in a sandbox of overlays is not labelled for containers.  The log still has each
# denial of gpuhelper_t once.  The jobs selinux and relabel run enforcing.
set -u
. /job/job.sh
. /job/selinux.sh
mkdir -p /srv /opt/gpuhelper/tests /opt/kit/lib
cp -a /job/container /job/lib /job/fixtures /opt/gpuhelper/tests/
cp /usr/libexec/gpuhelper/gpuhelper /usr/libexec/gpuhelper/gpuhelper-look /usr/libexec/gpuhelper/gpuhelper-engine /usr/libexec/gpuhelper/gpuhelper-read /usr/libexec/gpuhelper/gpuhelper-judge /usr/libexec/gpuhelper/gpuhelper-judge-udev /usr/libexec/gpuhelper/gpuhelper-label /usr/bin/gpuhelper-runc /usr/sbin/gpuhelperctl "$(command -v runc)" /opt/kit/
cd /opt/gpuhelper || exit 1
setenforce 0
# suite GPU FILE ARG...: passes if there are checks and all pass
suite() {
	gpu=$1; shift
	sh tests/lib/sandbox.sh --gpu "$gpu" --kit /opt/kit -- python3 /opt/gpuhelper/tests/container/"$@" >"$T/tap" 2>&1
	status=$?
	grep -A 6 '^not ok' "$T/tap" | head -n 60 >"$T/out"
	tail -n 3 "$T/tap" >"$T/err"
	echo "# $*: $(grep -c '^ok' "$T/tap") ok"
	[ $status = 0 ] && grep -q '^ok' "$T/tap" && ! grep -q '^not ok' "$T/tap"
}
# the sandbox's overlays keep library files open through a descriptor of mount(8)
overlay='{ use } .* tcontext=[^ ]*:unconfined_mount_t:[^ ]* tclass=fd'
undenied() {
	denied | grep -e 'scontext=[^ ]*:gpuhelper_t:' -e 'scontext=[^ ]*:gpuhelper_label_t:' -e 'scontext=[^ ]*:gpuhelper_look_t:' -e 'scontext=[^ ]*:gpuhelper_read_t:' -e 'scontext=[^ ]*:gpuhelper_judge_t:' | grep -v -e "$overlay" | tail -n 20 >"$T/out"
	: >"$T/err"
	forget
	! [ -s "$T/out" ]
}
for s in "nvidia-2gpu grants.py runc v2" "nvidia-2gpu grants.py crun v2" "nvidia-2gpu refusals.py runc v2" "nvidia-2gpu tokens.py runc v2" \
    "nvidia-mig mig.py runc v2" "nvidia-2gpu allocation.py" "nvidia-2gpu vendor.py" "nvidia-2gpu rootless.py runc" "nvidia-2gpu rootless.py crun"; do
	# shellcheck disable=SC2086
	t "$s" suite $s
	t "nothing of the helper's would have been denied" undenied
done
t "control: a denial is logged" sh -c 'dmesg | grep "avc:  denied" | grep -q gpuhelper_t'
echo "1..$n"
[ $bad = 0 ]
