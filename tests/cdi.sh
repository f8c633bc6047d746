#!/bin/sh
# gpuhelperctl cdi: validates, lists and injects specs.  sh tests/cdi.sh; TAP.
#   CTL=PROGRAM   another build of it (default build/gpuhelperctl)
# fixtures/cdi: the reference library (pkg/cdi of container-device-interface $reference) accepts what is in good and
# dirs, and refuses what is in bad; it made golden from config.json files.  The root helper must refuse what is in
# unsafe, whatever the library does.  Golden cases need root, for their own /dev.
set -u
reference=1.1.1		# with 1.1.0 four golden cases differ
here=$(cd "$(dirname "$0")/.." && pwd)
. "$here/tests/lib/ctltool.sh"
fix=$here/tests/fixtures/cdi

# where hooks run
mkdir allow; echo 'cdi_hooks = "allow";' >allow/gpuhelper.conf
allow="--config-dir $T/allow"

warns() { grep -qF -e "$1" "$T/err"; }
json() { python3 -c 'import json, sys
j = json.load(open(sys.argv[1]))
sys.exit(not eval(sys.argv[2]))' "$T/out" "$1"; }
# spec FILE EDITS [NAME]: writes a spec with one device
spec() { printf '{"cdiVersion":"0.6.0","kind":"v.com/c","devices":[{"name":"%s","containerEdits":{%s}}]}\n' "${3:-d}" "$2" >"$1"; }

echo "# the command line"
run cdi
t "cdi without a subcommand" complains 64 "cdi needs validate, list, inject or generate (see gpuhelperctl help cdi)"
run cdi validat x
t "a misspelt subcommand" complains 64 'unknown command "cdi validat"; did you mean "cdi validate"?'
run cdi validate
t "validate without a file" complains 64 "cdi validate needs FILE|- ... (see gpuhelperctl help cdi validate)"
run cdi inject x.json
t "inject without a device" complains 64 "cdi inject needs --device NAME (see gpuhelperctl help cdi inject)"
run cdi inject --device v.com/c=d
t "inject without a file" complains 64 "cdi inject needs CONFIG.json|- (see gpuhelperctl help cdi inject)"
run cdi list --device v.com/c=d
t "list does not take --device" complains 64 "cdi list has no option --device (see gpuhelperctl help cdi list)"
run cdi list x
t "list takes no argument" complains 64 'cdi list takes no "x" (see gpuhelperctl help cdi list)'
run check --spec-dirs x
t "another command does not take --spec-dirs" complains 64 "check has no option --spec-dirs (see gpuhelperctl help check)"

tells() { grep -qF -e "$1" "$T/out"; }
# warned N: the spec is accepted, with N warnings and no other output
warned() { is 0 && [ ! -s "$T/err" ] && [ "$(wc -l <"$T/out")" = "$1" ] && ! grep -vE '^[^:]+:[0-9]+:[0-9]+: warning: ' "$T/out" >"$T/odd"; }

echo "# validate"
good=0 refused=0 n_bad=0 n_unsafe=0
for f in "$fix"/good/*; do
	# nodes and hooks of no GPU driver and no vendor's tools; accel_controlD* and uverbs*
	case ${f##*/} in full-1.1.0.yaml) w=3 ;; intel-gaudi.yaml) w=4 ;; missing-node.yaml) w=1 ;; *) w=0 ;; esac
	run cdi validate "$f"
	t "good/${f##*/} is accepted, with $w warnings" warned $w && good=$((good + 1))
done
t "all 16 specs in good are accepted" [ "$good" = 16 ]
# refused FILE KIND: refused with a line that names the file, the place (unless the file is no text) and the reason
refused() { is 65 && [ ! -s "$T/err" ] && case $1 in *not-utf8*) says "$1: is not UTF-8 text" ;;
    *) ! grep -vE "^$1:[0-9]+:[0-9]+: [^ ].*[^ ]" "$T/out" >"$T/odd" ;; esac }
for f in "$fix"/bad/*; do
	run cdi validate "$f"
	t "bad/${f##*/} is refused" refused "$f" && n_bad=$((n_bad + 1))
done
t "all 44 specs in bad are refused" [ "$n_bad" = 44 ]
for f in "$fix"/unsafe/*; do
	# shellcheck disable=SC2086
	run $allow cdi validate "$f"
	t "unsafe/${f##*/} is refused" refused "$f" && n_unsafe=$((n_unsafe + 1))
done
t "all 31 specs in unsafe are refused" [ "$n_unsafe" = 31 ]
# The library accepts these, although CDI does not allow them; gpuhelper refuses them.
ours=0
for f in "$fix"/unsafe/*; do
	# shellcheck disable=SC2086
	run $allow cdi validate "$f"
	grep -q ': unsafe: ' out && ours=$((ours + 1))
done
t "27 of the specs in unsafe are valid CDI, and marked as unsafe" [ "$ours" = 27 ]
excused=0
for f in "$fix"/unsafe/*; do
	run cdi validate "$f"
	case ${f##*/} in hook-*) is 0 && ! grep -q ': unsafe: ' out && grep -qF "$f: warning: a hook of it is unsafe, but gpuhelper runs none here" out && excused=$((excused + 1)) ;;
	    *) refused "$f" || excused=100 ;; esac
done
t "where hooks do not run, the 4 specs with only unsafe hooks are accepted with a warning, and no other" [ "$excused" = 4 ]
run cdi validate "$fix/unsafe/devnode-mem.json"
t "an unsafe value is marked, with its line and path" exactly 65 <<-E
	$fix/unsafe/devnode-mem.json:11:25: unsafe: devices[0].containerEdits.deviceNodes[0].hostPath: is the host's memory, log or console
	$fix/unsafe/devnode-mem.json:13:22: unsafe: devices[0].containerEdits.deviceNodes[0].major: 1:1 is the host's memory
E
run cdi validate "$fix/unsafe/mount-rshared.json"
t "an unsafe mount option" exactly 65 <<-E
	$fix/unsafe/mount-rshared.json:17:15: unsafe: devices[0].containerEdits.mounts[0].options[4]: option "rshared" is not one that a driver needs: bind, ro, rw, nosuid, nodev, noexec, rprivate
E
run cdi validate "$fix/unsafe/yaml-norway.yaml"
t "YAML that readers understand differently" exactly 65 <<-E
	$fix/unsafe/yaml-norway.yaml:7:67: devices[0].containerEdits.deviceNodes[0].fileMode: "0660" without quotes is not the same to every YAML reader: write text in quotes, a number in plain decimal, and true or false
E
run cdi validate --json "$fix/bad/dup-key.json" "$fix/good/minimal.json" "$fix/unsafe/netdev-eth0.json"
t "validate, as JSON" json "not j['ok'] and [(f['kind'], f['line'], f['column']) for f in j['findings']] == [('invalid', 1, 50), ('unsafe', 10, 34), ('unsafe', 11, 21)]"
t "JSON has file, path and message" json "j['findings'][1]['file'].endswith('netdev-eth0.json') and j['findings'][1]['path'] == 'devices[0].containerEdits.netDevices[0].hostInterfaceName' and j['findings'][1]['message'] == 'eth0 is the host\'s own link, which it would lose' and 'path' not in j['findings'][0]"
run cdi validate "$fix/good/full-1.1.0.yaml"
t "a hook of no known tool gives a warning" tells "warning: devices[0].containerEdits.hooks[0]: /usr/libexec/vendor-hook x is no hook of NVIDIA's or AMD's tools: engines run it as root, so see what it does"
run cdi validate "$fix/good/intel-gaudi.yaml"
t "a node that only a policy's nodes grants gives a warning" tells '/dev/infiniband/uverbs0 is given only by a policy that says nodes = [ "infiniband" ]'
run cdi validate --json "$fix/good/missing-node.yaml"
t "JSON with a warning alone is ok" json "j['ok'] and [f['kind'] for f in j['findings']] == ['warning'] and '/dev/gpuhelper-no-such-node is of no GPU driver' in j['findings'][0]['message']"
# by their names alone: the files need not exist
for node in st0 sr0 kvm tpm9 ipmi0 i2c-0 char/195:0 fd/3 vfio/12 nvidia-nvlink ng0n1 hidraw0 uhid infiniband/umad0; do
	spec one.json "\"deviceNodes\":[{\"path\":\"/dev/$node\"}]"
	run cdi validate one.json
	t "/dev/$node gives a warning" sh -c '[ "$1" = 0 ] && [ "$(wc -l <out)" = 1 ] && grep -qF ": warning: devices[0].containerEdits.deviceNodes[0]: /dev/$2 is of no GPU driver" out' - "$st" "$node"
done
for node in dxg:WSL2 nvhost-ctrl-gpu:Tegra nvmap:Tegra nvgpu/igpu0/ctrl:Tegra; do
	spec one.json "\"deviceNodes\":[{\"path\":\"/dev/${node%:*}\"}]"
	run cdi validate one.json
	t "/dev/${node%:*} is said to be of a GPU that can't be given" tells "/dev/${node%:*} is of a GPU of ${node#*:}, which gpuhelper can't give: no node stands for this GPU alone"
done
for node in nvidia-nvswitchctl:nvswitch nvidia-nvswitch7:nvswitch nvidia-caps-imex-channels/channel2047:imex; do
	spec one.json "\"deviceNodes\":[{\"path\":\"/dev/${node%:*}\"}]"
	run cdi validate one.json
	t "/dev/${node%:*} gives a warning that names the policy's word" tells "/dev/${node%:*} is given only by a policy that says nodes = [ \"${node#*:}\" ]"
done
spec one.json '"deviceNodes":[{"path":"/dev/kvm","permissions":"none"}]'
run cdi validate one.json
t "a node without permissions gives no warning" silent
spec one.json '"mounts":[{"hostPath":"/dev/vfio/12","containerPath":"/dev/vfio/12"}]'
run cdi validate one.json
t "a mount of such a node gives a warning" tells "warning: devices[0].containerEdits.mounts[0]: /dev/vfio/12 is of no GPU driver"
# mount_of PATH OPTIONS: validates a spec with that mount
mount_of() { spec one.json "\"mounts\":[{\"hostPath\":\"$1\",\"containerPath\":\"/x\",\"options\":[$2]}]"; run cdi validate one.json; }
mount_of /opt/x '"bind","rw"'
t "a writable mount gives a warning" tells 'warning: devices[0].containerEdits.mounts[0]: /opt/x is mounted writable: any container with the device can change it for all'
mount_of /opt/x '"bind"'
t "a mount without «ro», which engines make writable, gives a warning" tells 'warning: devices[0].containerEdits.mounts[0]: /opt/x has no option "ro"'
mount_of /opt/x '"bind","ro"'
t "a read-only mount gives no warning" silent
mount_of /etc/cron.d '"bind","rw"'
t "a writable mount of the host's configuration is unsafe" tells "unsafe: devices[0].containerEdits.mounts[0].hostPath: /etc is the host's own: nothing above and beneath it can be given out to write"
mount_of /etc/sudoers.d '"bind","ro"'
t "a read-only mount of /etc/sudoers.d is unsafe" tells "unsafe: devices[0].containerEdits.mounts[0].hostPath: /etc/sudoers can't be given out"
for number in 189:1 10:239 4:64 226:128; do
	spec one.json "\"deviceNodes\":[{\"path\":\"/dev/nvidia0\",\"type\":\"c\",\"major\":${number%:*},\"minor\":${number#*:}}]"
	run cdi validate one.json
	t "/dev/nvidia0 with the number $number is unsafe" sh -c '[ "$1" = 65 ] && grep -q ": unsafe: devices" out' - "$st"
done
spec one.json '"deviceNodes":[{"path":"/dev/kfd","type":"c","major":10,"minor":232}]'
run cdi validate one.json
t "a major number that no such driver has gives a warning" tells 'warning: devices[0].containerEdits.deviceNodes[0]: /dev/kfd has a major number, 10, that the kernel gives to none of its kind'
# hook PATH [ARG...]: validates a spec with that hook, where hooks run
# shellcheck disable=SC2086
hook() { p=$1; shift; a="\"${p##*/}\""; for x; do a="$a,\"$x\""; done
    spec one.json "\"hooks\":[{\"hookName\":\"createContainer\",\"path\":\"$p\",\"args\":[$a],\"env\":[\"A=1\"]}]"; run $allow cdi validate one.json; }
for known in 'nvidia-cdi-hook create-symlinks --link a::b' 'nvidia-cdi-hook update-ldcache --folder /x --ldconfig-path @/sbin/ldconfig.real' \
    'nvidia-cdi-hook update-ldcache --ldconfig-path=@/sbin/ldconfig' 'nvidia-cdi-hook update-ldcache -ldconfig-path @/sbin/ldconfig' 'nvidia-ctk hook chmod --mode 755' 'amd-ctk gpu-tracker release 1'; do
	# shellcheck disable=SC2086
	hook /usr/bin/$known
	t "a known hook gives no warning: $known" silent
done
for other in 'mawk x' 'gawk x' 'timeout 1 x' 'setpriv x' 'busybox sh' 'env x' 'nsenter -t 1' 'unshare x' 'ld-linux-x86-64.so.2 x' 'python3.11 -c x'; do
	# shellcheck disable=SC2086
	hook /usr/bin/$other
	t "a hook that runs other programs is unsafe: $other" sh -c '[ "$1" = 65 ] && [ "$(wc -l <out)" = 1 ] && grep -q ": unsafe: .*hooks\[0\].path: .* runs whatever its arguments say$" out' - "$st"
done
for other in 'git x' 'sed -n 1e' 'nvidia-cdi-hook' 'nvidia-cdi-hook something' 'nvidia-ctk runtime configure' 'nvidia-cdi-hook update-ldcache --ldconfig-path /x/ldconfig' \
    'nvidia-cdi-hook update-ldcache --ldconfig-path=@/srv/ldconfig' 'amd-ctk runtime configure' 'nvidia-cdi-hook update-ldcache -ldconfig-path /x/ldconfig' \
    'nvidia-cdi-hook update-ldcache -ldconfig-path=@/srv/ldconfig' 'nvidia-cdi-hook chmod --mode 755 --path /x --container-spec /x.json' \
    'nvidia-cdi-hook chmod -container-spec=/x.json'; do
	# shellcheck disable=SC2086
	hook /usr/bin/$other
	t "a hook of no vendor gives a warning: $other" sh -c '[ "$1" = 0 ] && [ "$(wc -l <out)" = 1 ] && grep -q ": warning: .*hooks\[0\]: /usr/bin/" out' - "$st"
done
hook /usr/tmp/nvidia-cdi-hook create-symlinks
t "a known hook in a directory that anyone may write is unsafe" tells "unsafe: devices[0].containerEdits.hooks[0].path: a program beneath /usr/tmp can be changed by others than root"
hook /opt/x/nvidia-cdi-hook create-symlinks
t "a known hook's name outside /usr gives a warning" tells ": warning: devices[0].containerEdits.hooks[0]: /opt/x/nvidia-cdi-hook "
run cdi validate --json "$fix/good/minimal.json"
t "JSON of a valid spec" json "j == {'ok': True, 'findings': []}"
run cdi validate none.json
t "a missing file" exactly 65 <<-'E'
	none.json: No such file or directory
E
"$ctl" cdi validate - <"$fix/good/minimal.json" >out 2>err; st=$?
t "JSON on standard input" silent
"$ctl" cdi validate - <"$fix/good/nvidia-2gpu.yaml" >out 2>err; st=$?
t "YAML on standard input" silent
head -c 1100000 /dev/zero | tr '\0' ' ' >large.json
run cdi validate large.json
t "a file that is too large" exactly 65 <<-'E'
	large.json: larger than 1048576 bytes
E
esc=$(printf '\033')
printf '{"cdiVersion":"0.6.0","k%s[31m":1}' '\u001b' >esc.json
run cdi validate esc.json
t "a key can't send control codes to the terminal" sh -c '[ $1 = 65 ] && grep -qF "unknown key \"k?[31m\"" out && ! grep -q "$2" out' - "$st" "$esc"

echo "# validate --host"
# says_once TEXT: one line is a warning with this text, and no other one is about libraries that are missing
says_once() { tells "warning: $1" && [ "$(grep -c "without which" "$T/out")" = 1 ]; }
spec null.json '"deviceNodes":[{"path":"/dev/null","type":"c","major":1,"minor":3},{"path":"/dev/null"}]'
run cdi validate --host null.json
t "a node with the number that it has on this host" warned 2
spec other.json '"deviceNodes":[{"path":"/dev/null","type":"c","major":1,"minor":5},{"path":"/dev/null","type":"p"}]'
run cdi validate --host other.json
t "a node with another number or type than on this host" exactly 65 <<-'E'
	other.json:1:96: unsafe: devices[0].containerEdits.deviceNodes[0].path: /dev/null is 1:3 here, and the spec says 1:5
	other.json:1:148: unsafe: devices[0].containerEdits.deviceNodes[1].path: /dev/null is of type c here, and the spec says p
E
run cdi validate other.json
t "without --host, the node's number is not compared" warned 2
ln -s /dev/null link; : >file; mkdir dir; ln -s dir dirlink; : >dir/file
spec links.json "\"deviceNodes\":[{\"path\":\"/dev/x\",\"hostPath\":\"$T/link\"},{\"path\":\"/dev/x\",\"hostPath\":\"$T/file\"},{\"path\":\"/dev/x\",\"hostPath\":\"$T/none\"}]"
run cdi validate --host links.json
sed -i 's/^links.json:1:[0-9]*: //' out
t "a node path that is a link, a file, or missing" exactly 65 <<-E
	unsafe: devices[0].containerEdits.deviceNodes[0].hostPath: $T/link is a symbolic link
	unsafe: devices[0].containerEdits.deviceNodes[1].hostPath: $T/file is not a device
	unsafe: devices[0].containerEdits.deviceNodes[2].hostPath: $T/none is not there
E
far=$T/$(printf '%0240d' 0); mkdir "$far"; : >"$far/libcuda.so.1"
spec long.json "\"deviceNodes\":[{\"path\":\"/dev/x\",\"hostPath\":\"$far/nvidia0\"}],\"mounts\":[{\"hostPath\":\"$far/libcuda.so.1\",\"containerPath\":\"/x\",\"options\":[\"rw\"]}]"
run cdi validate --host long.json
t "a long path is cut in its middle" sh -c '[ $1 = 65 ] && grep -q "hostPath: $2/0*\.\.\.0*/nvidia0 is not there$" out && grep -q "mounts\[0\]: $2/0*\.\.\.0*/libcuda.so.1 is mounted writable" out' - "$st" "$T"
if mknod mem c 1 1 && mknod disk b 8 0 && mknod tty c 5 0; then
	spec inside.json "\"deviceNodes\":[{\"path\":\"/dev/gpu-a\",\"hostPath\":\"$T/mem\"},{\"path\":\"/dev/gpu-b\",\"hostPath\":\"$T/disk\"},{\"path\":\"/dev/gpu-c\",\"hostPath\":\"$T/disk\",\"permissions\":\"none\"},{\"path\":\"/dev/gpu-d\",\"hostPath\":\"$T/tty\"}]"
	run cdi validate --host inside.json
	sed -i 's/^inside.json:1:[0-9]*: //; /^warning: /d' out
	t "the host's memory and a disk under other names" exactly 65 <<-E
		unsafe: devices[0].containerEdits.deviceNodes[0].hostPath: $T/mem is 1:1 here, which is the host's memory
		unsafe: devices[0].containerEdits.deviceNodes[1].hostPath: $T/disk is a block device here: access to a disk is access to all files on it
	E
else
	skip "the host's memory and a disk under other names" "no node can be made here"
fi
ro='"options":["ro"]'
spec mounts.json "\"mounts\":[{\"hostPath\":\"$T/link\",\"containerPath\":\"/x\",$ro},{\"hostPath\":\"$T/file\",\"containerPath\":\"/y\",$ro},{\"hostPath\":\"$T/dirlink/file\",\"containerPath\":\"/z\",$ro}]"
run cdi validate --host mounts.json
t "a mount source that is a link, or behind a link that anyone may change" sh -c '[ $1 = 65 ] && [ $(wc -l <out) = 2 ] &&
    grep -q "mounts\[0\].hostPath: .*/link is a symbolic link$" out && grep -q "mounts\[2\].hostPath: .*the link .*/dirlink is in /tmp, which others than root can change$" out' - "$st"
if [ "$(id -u)" = 0 ] && unshare -m mount --make-rprivate / 2>/dev/null; then
	# lead COMMAND...: runs it with links to directories of root's, and with device nodes under plain names
	lead() { unshare -m sh -c 'mount --make-rprivate / && mount -t tmpfs -o mode=755 tmpfs /mnt && ln -s /etc /mnt/e && ln -s /usr /mnt/u &&
	    ln -s / /mnt/all && mkdir /mnt/d && mknod /mnt/d/disk b 8 0 && mknod /mnt/d/mem c 1 1 && exec "$@"' - "$@" >out 2>err; st=$?; }
	at() { printf '{"hostPath":"%s","containerPath":"/%s","options":["%s"]}' "$1" "$2" "$3"; }
	spec lead.json "\"mounts\":[$(at /mnt/e/passwd a ro),$(at /mnt/e/passwd b rw),$(at /mnt/u/bin c rw),$(at /mnt/u/bin d ro),$(at /mnt/d/disk e ro),$(at /mnt/d/mem f ro),$(at /mnt/all/root g ro),$(at /mnt/all/home h ro),$(at /mnt/all/opt i ro)]"
	lead "$ctl" cdi validate --host lead.json
	sed -i 's/^lead.json:1:[0-9]*: unsafe: devices.0..containerEdits.mounts//' out
	t "mount sources behind links to the host's own directories" exactly 65 <<-'E'
		[1].hostPath: /mnt/e/passwd is /etc/passwd here: /etc is the host's own: nothing above and beneath it can be given out to write
		[2].hostPath: /mnt/u/bin is /usr/bin here: /usr is the host's own: nothing above and beneath it can be given out to write
		[4].hostPath: /mnt/d/disk is /mnt/d/disk here: a block device: access to a disk is access to all files on it
		[5].hostPath: /mnt/d/mem is /mnt/d/mem here: the host's memory
		[6].hostPath: /mnt/all/root is /root here: /root can't be given out, nor what is above and beneath it
		[7].hostPath: /mnt/all/home is /home here: /home can't be given out, nor what is above and beneath it
	E
	spec lead.json "\"mounts\":[$(at /mnt/e/shadow a ro)]"
	lead "$ctl" cdi validate --host lead.json
	t "a mount of /etc/shadow behind a link" tells "/mnt/e/shadow is /etc/shadow here: /etc/shadow can't be given out"
else
	skip "mount sources behind links to the host's own directories" "not root, or no mount namespaces"
fi
spec hooks.json "\"hooks\":[{\"hookName\":\"poststop\",\"path\":\"/etc/passwd\",\"env\":[\"A=1\"]},{\"hookName\":\"poststop\",\"path\":\"/usr/none\",\"env\":[\"A=1\"]},{\"hookName\":\"poststop\",\"path\":\"/usr/bin/true\",\"env\":[\"A=1\"]}]"
# shellcheck disable=SC2086
run $allow cdi validate --host hooks.json
t "a hook that is no program, or is missing" sh -c '[ $1 = 65 ] && [ $(grep -vc ": warning: " out) = 2 ] && grep -q "hooks\[0\].path: /etc/passwd is no program" out && grep -q "hooks\[1\].path: .*none is not there" out' - "$st"
run cdi validate --host hooks.json
t "the same, where hooks do not run, is a warning" sh -c '[ $1 = 0 ] && [ "$(grep -vc ": warning: " out)" = 0 ] && grep -q "warning: .*hooks\[1\].path: .*none is not there" out' - "$st"
printf '#!/bin/sh\n' >hook && chmod 755 hook
sed "s|/etc/passwd|/srvhook|; s|/usr/none|$T/hook|" hooks.json | sed 's|/srvhook|/usr/bin/true|' >hook.json
# shellcheck disable=SC2086
run $allow cdi validate --host hook.json
case $T in
/tmp/*) t "a hook that others can change, by its path alone and as found on this host" sh -c '[ $1 = 65 ] && [ $(grep -vc ": warning: " out) = 2 ] &&
    grep -q "hooks\[1\].path: a program beneath /tmp can be changed" out && grep -q "hooks\[1\].path: /tmp can be changed by others than root" out' - "$st" ;;
*) skip "a hook that others can change" "TMPDIR is not /tmp" ;;
esac
# libraries COMMON DEVICE: validates a spec with two NVIDIA GPUs and these libraries for all devices, or for each
libraries() {
	for l in $1; do echo "{\"hostPath\":\"$T/$l\",\"containerPath\":\"/usr/lib64/$l\"}"; done | paste -sd, >common
	for l in $2; do echo "{\"hostPath\":\"$T/$l\",\"containerPath\":\"/opt/$l\"}"; done | paste -sd, >each
	for i in 0 1; do
		echo "{\"name\":\"$i\",\"containerEdits\":{\"deviceNodes\":[{\"path\":\"/dev/nvidia$i\"}],\"mounts\":[$(cat each)]}}"
	done | paste -sd, >devices
	echo "{\"cdiVersion\":\"0.6.0\",\"kind\":\"v.com/c\",\"devices\":[$(cat devices)],\"containerEdits\":{\"mounts\":[$(cat common)]}}" >libs.json
	run cdi validate --host libs.json
}
libraries "" ""
t "validate --host: a GPU without any library" says_once "devices[0]: a container gets no libcuda.so.1 or libnvidia-ml.so.1, without which programs can't use the GPU"
libraries "libcuda.so.580.95.05 libnvidia-nvvm70.so.4" ""
t "validate --host: a GPU without libnvidia-ml" says_once "devices[0]: a container gets no libnvidia-ml.so.1, without"
libraries "libcuda.so.580.95.05" "libnvidia-ml.so.580.95.05"
t "validate --host: each device has the other library" sh -c '! grep -q "without which" out'
run cdi validate libs.json
t "without --host, libraries do not matter" sh -c '! grep -q "without which" out'
run cdi validate --host "$fix/good/missing-node.yaml"
t "validate --host: a missing node" is 65

echo "# groups, of this host"
gids() { printf '{"cdiVersion":"0.7.0","kind":"v.com/c","devices":[{"name":"g","containerEdits":{"additionalGids":[%s]}}]}\n' "$1" >gids.json; }
gids 44,60000
run cdi validate gids.json
t "ordinary groups" silent
gids 44,0
run cdi validate gids.json
t "group 0" exactly 65 <<-'E'
	gids.json:1:102: unsafe: devices[0].containerEdits.additionalGids[1]: 0 is root's own group
E
n6=6000; : >group
for g in disk kmem docker shadow sudo wheel video; do
	n6=$((n6 + 1)); echo "$g:x:$n6:" >>group
done
# grouped COMMAND...: runs it with only those groups, from 6001 on, some of which own disks and memory
grouped() { unshare -m sh -c 'mount --make-rprivate / && mount --bind group /etc/group && mount -t tmpfs -o mode=755 tmpfs /mnt &&
    mknod /mnt/null c 1 3 && mknod /mnt/sdz b 8 400 && mknod /mnt/nvme0n1 b 259 0 && mknod /mnt/mem c 1 1 && mknod /mnt/sr0 b 11 0 &&
    chown 0:7001 /mnt/sdz && chown 0:7002 /mnt/nvme0n1 && chown 0:7003 /mnt/mem && chown 0:7004 /mnt/sr0 &&
    mount --bind /mnt /dev && exec "$@"' - "$@" >out 2>err; st=$?; }
if [ "$(id -u)" = 0 ] && unshare -m mount --make-rprivate / 2>/dev/null; then
	gids 6001,6002,6003,6004,6005,6006,6007
	grouped "$ctl" cdi validate gids.json
	t "groups with the names of powerful groups" exactly 65 <<-'E'
		gids.json:1:98: unsafe: devices[0].containerEdits.additionalGids[0]: 6001 is this host's group disk, which is as good as root
		gids.json:1:98: unsafe: devices[0].containerEdits.additionalGids[1]: 6002 is this host's group kmem, which is as good as root
		gids.json:1:98: unsafe: devices[0].containerEdits.additionalGids[2]: 6003 is this host's group docker, which is as good as root
		gids.json:1:98: unsafe: devices[0].containerEdits.additionalGids[3]: 6004 is this host's group shadow, which is as good as root
		gids.json:1:98: unsafe: devices[0].containerEdits.additionalGids[4]: 6005 is this host's group sudo, which is as good as root
		gids.json:1:98: unsafe: devices[0].containerEdits.additionalGids[5]: 6006 is this host's group wheel, which is as good as root
	E
	gids 7001,7002,7003,7004
	grouped "$ctl" cdi validate gids.json
	t "groups that own disks or memory" exactly 65 <<-'E'
		gids.json:1:98: unsafe: devices[0].containerEdits.additionalGids[0]: 7001 owns this host's /dev/sdz, and is as good as root
		gids.json:1:98: unsafe: devices[0].containerEdits.additionalGids[1]: 7002 owns this host's /dev/nvme0n1, and is as good as root
		gids.json:1:98: unsafe: devices[0].containerEdits.additionalGids[2]: 7003 owns this host's /dev/mem, and is as good as root
	E
	# a duplicate name, and names next to the known ones
	printf 'docker:x:6101:\ndocker:x:6102:\nuinput:x:6103:\ninput:x:6104:\nadm:x:6105:\nmicrok8s:x:6106:\nlibvirt-qemu:x:6107:\n' >group
	gids 6101,6102,6103,6104,6105,6106,6107
	grouped "$ctl" cdi validate gids.json
	t "each line of a duplicate name, and further powerful groups" sh -c '[ "$1" = 65 ] && [ "$(grep -c "which is as good as root$" out)" = 7 ]' - "$st"
	mkdir gids; gids 6102; cp gids.json gids/
	grouped "$ctl" cdi list --spec-dirs gids
	t "list marks powerful groups as unsafe, too" sh -c '[ "$1" = 65 ] && grep -q "^v.com/c=g  .*/gids/gids.json  (unsafe)$" out && grep -q "6102 is this host.s group docker" err' - "$st"
	# others COMMAND...: runs it with owners of other disks, input devices, an engine's socket, the password files; and an ACL
	cat >others.sh <<-'E'
		set -e
		mount --make-rprivate /
		mount --bind group /etc/group
		mount -t tmpfs -o mode=755 tmpfs /mnt
		mkdir /mnt/mapper /mnt/input
		n() { mknod "/mnt/$1" "$2" "$3" "$4"; chown "0:$5" "/mnt/$1"; }
		n null c 1 3 0; n mapper/vg-lv b 253 0 7101; n pmem0 b 259 3 7102; n nvme0 c 241 0 7103; n sg0 c 21 0 7104
		n uinput c 10 223 7105; n input/event0 c 13 64 7106; n sdq b 8 64 0; n sgx_enclave c 10 125 7110
		command -v setfacl >/dev/null && setfacl -m g:7107:rw /mnt/sdq
		mount --bind /mnt /dev
		mount -t tmpfs -o mode=755 tmpfs /run
		python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("/run/docker.sock")'
		chown 0:7108 /run/docker.sock
		: >secret; chmod 640 secret; chown 0:7109 secret
		mount --bind secret /etc/shadow
		exec "$@"
	E
	others() { unshare -m sh others.sh "$@" >out 2>err; st=$?; }
	if [ -e /etc/shadow ] && command -v setfacl >/dev/null; then
		gids 7101,7102,7103,7104,7105,7106,7107,7108,7109,7110
		others "$ctl" cdi validate gids.json
		sed -i 's/^gids.json:1:98: unsafe: devices.0..containerEdits.additionalGids.[0-9].: //' out
		t "groups that own other disks, input devices, an engine's socket or the passwords" exactly 65 <<-'E'
			7101 owns this host's /dev/mapper/vg-lv, and is as good as root
			7102 owns this host's /dev/pmem0, and is as good as root
			7103 owns this host's /dev/nvme0, and is as good as root
			7104 owns this host's /dev/sg0, and is as good as root
			7105 owns this host's /dev/uinput, and is as good as root
			7106 owns this host's /dev/input/event0, and is as good as root
			7107 has an ACL entry on this host's /dev/sdq, and is as good as root
			7108 owns this host's /run/docker.sock, and is as good as root
			7109 owns this host's /etc/shadow, and can have its passwords guessed
		E
	else
		skip "groups that own other disks, input devices, an engine's socket or the passwords" "no /etc/shadow, or no setfacl"
	fi
else
	skip "groups of this host" "not root, or no mount namespaces"
fi

echo "# list"
run cdi list --spec-dirs "$fix/dirs/override/etc:$fix/dirs/override/run"
t "for each device, the later directory counts" exactly 0 <<-E
	vendor1.com/device=dev1  $fix/dirs/override/run/vendor1.yaml
	vendor1.com/device=dev2  $fix/dirs/override/etc/vendor1.yaml
E
run cdi list --spec-dirs "$fix/dirs/override/run:$fix/dirs/override/etc"
t "with the directories swapped, the other one counts" says "vendor1.com/device=dev1  $fix/dirs/override/etc/vendor1.yaml"
run cdi list --spec-dirs "$fix/dirs/conflict/etc:$fix/dirs/conflict/run"
t "a device in two files of one directory is unusable" exactly 65 <<-E
	vendor1.com/device=dev2  $fix/dirs/conflict/run/a.yaml
E
t "the message names both files" sh -c '[ "$(cat err)" = "$1" ]' - "gpuhelperctl: $fix/dirs/conflict/run/a.yaml: device vendor1.com/device=dev1 is in $fix/dirs/conflict/run/b.yaml, too: none of them is used
gpuhelperctl: $fix/dirs/conflict/run/b.yaml: device vendor1.com/device=dev1 is in $fix/dirs/conflict/run/a.yaml, too: none of them is used"
run cdi list --spec-dirs "$fix/dirs/conflict-below/etc:$fix/dirs/conflict-below/run"
t "a device in two files of a later directory is unusable everywhere" sh -c '[ $1 = 65 ] && [ ! -s out ]' - "$st"
run cdi list --spec-dirs "$fix/dirs/one-bad/etc"
t "a file with an error does not affect other files" exactly 65 <<-E
	vendor2.com/device=dev1  $fix/dirs/one-bad/etc/good.yaml
E
t "the error is reported" warns "$fix/dirs/one-bad/etc/bad.yaml:5:5: devices[0]: has no containerEdits"
run cdi list --spec-dirs "$fix/dirs/ext/etc"
t "only files whose names end in .json or .yaml count, hidden ones included" exactly 0 <<-E
	vendor1.com/device=dev5  $fix/dirs/ext/etc/.hidden.yaml
	vendor1.com/device=dev6  $fix/dirs/ext/etc/e.yaml
E
run cdi list --spec-dirs "$fix/dirs/same-kind-merge/etc:$fix/dirs/no-such"
t "files of the same kind are merged" sh -c '[ $1 = 0 ] && [ $(wc -l <out) = 2 ]' - "$st"
run cdi list --spec-dirs "$T/nowhere"
t "a missing directory is no error" silent
run cdi list --spec-dirs "$T/file"
t "a file in place of a directory" is 65
mkdir hooked; cp "$fix/unsafe/hook-shell.json" hooked/
run cdi list --spec-dirs hooked
t "list does not call a spec unsafe for a hook that does not run" exactly 0 <<-E
	vendor.com/device=dev1  $T/hooked/hook-shell.json
E
mkdir specs; spec specs/a.json '"deviceNodes":[{"path":"/dev/sda","type":"b","major":8}]' a; ln -s ../null.json specs/b.json
mkdir specs/c.json; mkfifo specs/d.json
run cdi list --spec-dirs specs
t "list marks unsafe devices" exactly 65 <<-E
	v.com/c=a  $T/specs/a.json  (unsafe)
E
t "list does not read a link" warns "$T/specs/b.json: is a symbolic link"
t "list does not read a pipe" warns "$T/specs/d.json: is not a regular file"
run cdi list --spec-dirs specs --json
t "list, as JSON" json "[(d['name'], d['unsafe'], d['conflict']) for d in j['devices']] == [('v.com/c=a', True, False)] and [(f['file'][-6:], f['usable'], len(f['faults']), len(f['problems'])) for f in j['files']] == [('a.json', True, 2, 0), ('b.json', False, 0, 1), ('d.json', False, 0, 1)] and j['problems'] == []"
mkdir named; cp "$fix/good/unquoted.yaml" named/
run cdi list --spec-dirs named --json
t "names and annotations without quotes are the text that the reference library reads" json "[(d['name'], d['annotations']) for d in j['devices']] == [('example.org/unquoted=0', {'since': '2026-01-02', 'watts': '37.5', '7': 'seven'}), ('example.org/unquoted=1:0', {})]"
run cdi list --spec-dirs "$fix/good" --json
t "list accepts all specs in good" json "len(j['files']) == 16 and all(f['usable'] and not f['faults'] for f in j['files'])"

echo "# list and validate, where specs are used from"
# live CHANGE COMMAND...: runs it with an own /etc/cdi and /run/cdi, which contain null.json and fine.json
live() { unshare -m sh -c 'mount --make-rprivate / && mount -t tmpfs -o mode=755 tmpfs /mnt && cp -a /etc /mnt/etc &&
    mount --bind /mnt/etc /etc && mount -t tmpfs -o mode=755 tmpfs /run && rm -rf /etc/cdi && mkdir /etc/cdi /run/cdi &&
    chmod 755 /etc /etc/cdi /run/cdi && cp null.json /etc/cdi/ && cp fine.json /run/cdi/ && chmod 644 /etc/cdi/* /run/cdi/* &&
    eval "$1" && shift && exec "$@"' - "$@" >out 2>err; st=$?; }
if [ "$(id -u)" = 0 ] && unshare -m mount --make-rprivate / 2>/dev/null; then
	spec fine.json '"env":["A=1"]' e
	live : "$ctl" cdi list
	t "specs that only root can change are listed" exactly 0 <<-'E'
		v.com/c=d  /etc/cdi/null.json
		v.com/c=e  /run/cdi/fine.json
	E
	live 'cp other.json /run/cdi/' "$ctl" cdi list
	t "the later directory's device counts" says "v.com/c=d  /run/cdi/other.json"
	live "cp $fix/unsafe/devnode-mem.json /run/cdi/" "$ctl" cdi list
	t "an unsafe spec is not used" sh -c '[ $1 = 65 ] && [ $(wc -l <out) = 2 ] && grep -q "^gpuhelperctl: /run/cdi/devnode-mem.json:11:25: unsafe: " err' - "$st"
	live "mkdir -p /etc/gpuhelper; cp allow/gpuhelper.conf /etc/gpuhelper/; chmod 644 /etc/gpuhelper/*; cp $fix/unsafe/hook-shell.json /run/cdi/" "$ctl" cdi list
	t "a spec with an unsafe hook is unsafe where hooks run" sh -c '[ $1 = 65 ] && grep -qx "vendor.com/device=dev1  /run/cdi/hook-shell.json  (unsafe)" out && grep -q "^gpuhelperctl: /run/cdi/hook-shell.json:11:21: unsafe: " err' - "$st"
	live 'chmod 664 /etc/cdi/null.json' "$ctl" cdi list
	t "a file that a group can change is not read" sh -c '[ $1 = 65 ] && [ "$(cat out)" = "v.com/c=e  /run/cdi/fine.json" ] && grep -q "/etc/cdi/null.json: may be written by others than root" err' - "$st"
	live 'chmod 700 /etc/cdi/null.json' "$ctl" cdi list
	t "an executable file is not read: crun can write a hook's output so" sh -c '[ $1 = 65 ] && [ "$(cat out)" = "v.com/c=e  /run/cdi/fine.json" ] && grep -q "/etc/cdi/null.json: is executable" err' - "$st"
	live 'chown 1000 /run/cdi' "$ctl" cdi list
	t "a directory that another user owns is not read" sh -c '[ $1 = 65 ] && [ "$(cat out)" = "v.com/c=d  /etc/cdi/null.json" ] && grep -q "/run/cdi belongs to uid 1000" err' - "$st"
	live 'cp other.json /etc/cdi/z.json; chmod 666 /etc/cdi/z.json' "$ctl" cdi validate /etc/cdi/null.json /etc/cdi/z.json
	sed -i '/: warning: /d' out
	t "a file in /etc/cdi is compared with this host, and must be root's" exactly 65 <<-'E'
		/etc/cdi/z.json: unsafe: z.json may be written by others than root (mode 0666): chmod go-w it
		/etc/cdi/z.json:1:96: unsafe: devices[0].containerEdits.deviceNodes[0].path: /dev/null is 1:3 here, and the spec says 1:5
		/etc/cdi/z.json:1:148: unsafe: devices[0].containerEdits.deviceNodes[1].path: /dev/null is of type c here, and the spec says p
	E
else
	skip "where specs are used from" "not root, or no mount namespaces"
fi

echo "# inject"
if [ "$(id -u)" = 0 ] && unshare -m sh "$fix/devnodes.sh" true 2>/dev/null; then
	echo "# golden cases: made by container-device-interface $reference"
	unshare -m sh "$fix/devnodes.sh" python3 "$here/tests/lib/cdigolden.py" "$ctl" "$fix" >golden 2>golden.err
	while read -r name rest; do
		case $rest in ok) pass "golden $name" ;; *) echo "# $rest"; : >out; : >err; fail "golden $name" ;; esac
	done <golden
	t "all 28 golden cases" [ "$(grep -c ' ok$' golden)" = 28 ]
else
	skip "golden cases" "not root, or no mount namespaces"
fi
printf '{"ociVersion":"1.0.2","n":18446744073709551615,"r":1.50,"mounts":[{"destination":"/a","x":1e400}]}' >odd.json
mkdir one; spec one/a.json '"env":["A=1"],"mounts":[{"hostPath":"/opt","containerPath":"/b"}]'
run cdi inject --spec-dirs one --device v.com/c=d odd.json
cp out whole
t "the parts that are not edited keep their bytes" exactly 0 <<-'E'
	{"ociVersion":"1.0.2","n":18446744073709551615,"r":1.50,"mounts":[{"destination":"/a","x":1e400},{"destination":"/b","source":"/opt"}],"process":{"env":["A=1"],"cwd":"","user":{"uid":0,"gid":0}}}
E
"$ctl" cdi inject --spec-dirs one --device v.com/c=d - <odd.json >out 2>err; st=$?
t "inject reads standard input" cmp -s whole out
echo '{"process":[]}' >wrong.json
run cdi inject --spec-dirs one --device v.com/c=d wrong.json
t "a config.json of another shape" complains 65 "config.json: process is not an object"
echo '{' >wrong.json
run cdi inject --spec-dirs one --device v.com/c=d wrong.json
t "a config.json that is no JSON" complains 65 "config.json: line 2 column 1: expected a key"
run cdi inject --spec-dirs one --device v.com/c=e --device d odd.json
t "no such devices" complains 69 "no such CDI devices: v.com/c=e, d (not vendor/class=name)"
spec one/b.json '"deviceNodes":[{"path":"/dev/none"}]' n
run cdi inject --spec-dirs one --device v.com/c=n odd.json
t "inject: a missing node" complains 69 "device node /dev/none: No such file or directory"
spec one/b.json '"deviceNodes":[{"path":"/dev/x","hostPath":"/dev/null","type":"b"}]' n
run cdi inject --spec-dirs one --device v.com/c=n odd.json
t "inject: a node of another type" complains 65 "device node /dev/null: is of type c, and the spec says b"

echo "1..$n"
[ "$bad" = 0 ]
