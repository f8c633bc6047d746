#!/bin/sh
# gpuhelperctl cdi generate.  TAP; in tests/lib/sandbox.sh --gpu nvidia-2gpu, as root.
#
# Two kinds of hosts.  Simulated hosts are directories (--root): the proc and sys trees of fixtures/sysroot, and a
# cache that the real ldconfig made of shared objects that gcc built with the driver's SONAMEs.  The other host is the
# sandbox itself, with such a driver installed: the test injects its spec into a config.json, and real runc makes
# containers from images like Debian's and like RHEL's, in which a program loads the libraries as CUDA programs do.
set -u
here=$(cd "$(dirname "$0")/.." && pwd)
. "$here/tests/lib/ctltool.sh"
sysroot=$here/tests/fixtures/sysroot
VERSION=580.95.05
[ "$(id -u)" = 0 ] || { echo "1..0 # SKIP not root: ldconfig -r, mknod"; exit 0; }

warns() { grep -qxF -e "gpuhelperctl: $1" "$T/err"; }
# py EXPRESSION: true of the spec in out; where: container path to host path, of: a device's nodes
py() { python3 -c 'import json, sys
s = json.load(open(sys.argv[1]))
e = s.get("containerEdits", {})
where = {m["containerPath"]: m["hostPath"] for m in e.get("mounts", [])}
names = [d["name"] for d in s["devices"]]
nodes = lambda edits: [n["path"] for n in edits.get("deviceNodes", [])]
of = {d["name"]: nodes(d["containerEdits"]) for d in s["devices"]}
sys.exit(not eval(sys.argv[2]))' "$T/out" "$1"; }
# valid: gpuhelperctl accepts the generated spec unchanged
valid() { "$ctl" cdi validate - <"$T/out" >"$T/faults" 2>&1 && [ ! -s "$T/faults" ] || { sed 's/^/# /' "$T/faults"; return 1; }; }

# complains_last STATUS LINE: LINE is the last line of stderr, after notes, and no spec was written
complains_last() { is "$1" && [ ! -s "$T/out" ] && [ "$(tail -n 1 "$T/err")" = "gpuhelperctl: $2" ]; }

# lib FILE SONAME [NUMBER [BITS]]: makes a library; its nv_id() tells it from others
lib() {
	mkdir -p "$(dirname "$1")"
	echo "int nv_id(void) { return ${3:-1}; }" >"$T/lib.c"
	gcc ${4:+-m$4} -shared -fPIC -nostdlib -Wl,-soname,"$2" -o "$1" "$T/lib.c" || exit 2
}
# driver DIR VERSION [BITS]: makes the files that every driver has, and some for graphics, video and NGX
driver() {
	for l in libcuda:1 libnvidia-ml:1 libnvidia-ptxjitcompiler:1 libnvidia-nvvm:4 libnvidia-encode:1 libnvidia-opticalflow:1 \
	    libnvidia-glcore:$2 libnvidia-gpucomp:$2 libGLX_nvidia:0 libnvidia-allocator:1 libnvidia-ngx:1; do
		lib "$1/${l%:*}.so.$2" "${l%:*}.so.${l#*:}" 64 "${3:-64}"
	done
	lib "$1/vdpau/libvdpau_nvidia.so.$2" libvdpau_nvidia.so.1 64 "${3:-64}"
}
# host NAME FIXTURE: makes a host beneath $T/NAME; «cache NAME DIR...» then makes its cache
host() { rm -rf "${T:?}/$1" && cp -a "$sysroot/$2/." "$T/$1/" && mkdir -p "$T/$1/etc" "$T/$1/usr/bin" "$T/$1/usr/lib" && ln -s usr/lib "$T/$1/lib"; }
cache() { h=$1; shift; for d; do echo "$d"; done >"$T/$h/etc/ld.so.conf"; ldconfig -r "$T/$h"; }
# node HOST PATH MAJOR MINOR MODE GID: makes a device node
node() { mkdir -p "$(dirname "$T/$1$2")" && mknod "$T/$1$2" c "$3" "$4" && chmod "$5" "$T/$1$2" && chown "0:$6" "$T/$1$2"; }
gen() { run cdi generate --root "$T/$1" ${2+"$2"} ${3+"$3"} ${4+"$4"}; }

echo "# the command line"
run cdi generate x
t "a word" complains 64 'cdi generate takes no "x" (see gpuhelperctl help cdi generate)'
run cdi generate --vendor nvida
t "no such vendor" complains 64 '--vendor must be nvidia, amd or intel, not "nvida"'
run cdi list --vendor nvidia
t "an option of another word" complains 64 "cdi list has no option --vendor (see gpuhelperctl help cdi list)"
run cdi generate --spec-dirs x
t "another word's option" complains 64 "cdi generate has no option --spec-dirs (see gpuhelperctl help cdi generate)"
run cdi generate --root "$T/nowhere"
t "no such host" complains 74 "$T/nowhere: No such file or directory"
host empty empty
gen empty
t "a host without a GPU" sh -c '[ $1 = 69 ] && [ ! -s out ] && grep -qx "gpuhelperctl: no GPU to make a spec for" err' - "$st"

echo "# NVIDIA, a host like Debian"
host deb nvidia-2gpu
a=/usr/lib/x86_64-linux-gnu b=/usr/lib64
driver "$T/deb$a" $VERSION
lib "$T/deb$a/libnvidia-egl-wayland.so.1.1.19" libnvidia-egl-wayland.so.1
lib "$T/deb$a/libGL.so.1.7.0" libGL.so.1
lib "$T/deb$a/libnvidia-new.so.$VERSION" libnvidia-new.so.1
lib "$T/deb$a/libc.so.6" libc.so.6
cache deb $a
for p in nvidia-smi nvidia-debugdump nvidia-persistenced nvidia-cuda-mps-control nvidia-cuda-mps-server; do echo "$p" >"$T/deb/usr/bin/$p"; done
for f in gsp_ga10x.bin gsp_tu10x.bin README; do mkdir -p "$T/deb/usr/lib/firmware/nvidia/$VERSION"; echo x >"$T/deb/usr/lib/firmware/nvidia/$VERSION/$f"; done
mkdir -p "$T/deb/usr/share/glvnd/egl_vendor.d" "$T/deb/usr/share/vulkan/icd.d" "$T/deb/etc/OpenCL/vendors" "$T/deb/run/nvidia-persistenced"
echo '{}' >"$T/deb/usr/share/glvnd/egl_vendor.d/10_nvidia.json"; echo '{}' >"$T/deb/usr/share/vulkan/icd.d/nvidia_icd.json"
echo libnvidia-opencl.so.1 >"$T/deb/etc/OpenCL/vendors/nvidia.icd"
python3 -c 'import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])' "$T/deb/run/nvidia-persistenced/socket"
node deb /dev/nvidia0 195 0 666 0; node deb /dev/nvidia1 195 1 660 44; node deb /dev/nvidiactl 195 255 666 0
node deb /dev/nvidia-uvm 510 0 666 0; node deb /dev/nvidia-uvm-tools 510 1 666 0; node deb /dev/nvidia-modeset 195 254 666 0
gen deb
cp out deb.json
t "is generated" is 0
t "and valid" valid
t "of a library that is new, that" warns "$a/libnvidia-new.so.$VERSION: unknown capability: gpuhelper grants it with every capability"
t "and nothing else" [ "$(wc -l <err)" = 1 ]
t "the lowest version that has groups" py 's["cdiVersion"] == "0.7.0" and s["kind"] == "nvidia.com/gpu"'
t "devices by rank, by UUID, and all" py 'names == ["0", "1", "GPU-edfee158-11c1-52b8-0517-92f30e7fac88", "GPU-0d5b2d8e-8f0d-4a1e-9b2b-6a1b7f0c1d22", "all"]'
t "each with its node, all with both" py 'of["0"] == of[names[2]] == ["/dev/nvidia0"] and of["1"] == of[names[3]] == ["/dev/nvidia1"] and of["all"] == ["/dev/nvidia0", "/dev/nvidia1"]'
t "what all need" py 'nodes(e) == ["/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools", "/dev/nvidia-modeset"]'
t "with their numbers" py '[(n["type"], n["major"], n["minor"], n["permissions"]) for n in e["deviceNodes"]] == [("c", 195, 255, "rw"), ("c", 510, 0, "rw"), ("c", 510, 1, "rw"), ("c", 195, 254, "rw")]'
t "the group of a node that is not everyone's" py '[(d["containerEdits"]["deviceNodes"][0].get("gid"), d["containerEdits"].get("additionalGids")) for d in s["devices"][:2]] == [(None, None), (44, [44])]'
t "no other choice of a runtime below" py 'e["env"] == ["NVIDIA_VISIBLE_DEVICES=void"]'
t "no hook" py '"hooks" not in json.dumps(s)'
t "each library by its SONAME where Debian's loader looks, and where RHEL's does" py "all(where[d + n] == '$a/' + f + '.so.$VERSION' for d in ('$a/', '$b/') for n, f in (('libcuda.so.1', 'libcuda'), ('libnvidia-ml.so.1', 'libnvidia-ml'), ('libnvidia-ptxjitcompiler.so.1', 'libnvidia-ptxjitcompiler'), ('libnvidia-nvvm.so.4', 'libnvidia-nvvm'), ('libnvidia-encode.so.1', 'libnvidia-encode'), ('libGLX_nvidia.so.0', 'libGLX_nvidia'), ('libnvidia-new.so.1', 'libnvidia-new'), ('libnvidia-glcore.so.$VERSION', 'libnvidia-glcore')))"
t "and by its file's name" py "all(where[d + f + '.so.$VERSION'] == '$a/' + f + '.so.$VERSION' for d in ('$a/', '$b/') for f in ('libcuda', 'libnvidia-ml', 'libnvidia-ptxjitcompiler'))"
t "and by other names that programs load" py "all(where[d + n] == '$a/' + f + '.so.$VERSION' for d in ('$a/', '$b/') for n, f in (('libcuda.so', 'libcuda'), ('libnvidia-opticalflow.so', 'libnvidia-opticalflow'), ('libGLX_indirect.so.0', 'libGLX_nvidia'), ('gbm/nvidia-drm_gbm.so', 'libnvidia-allocator')))"
t "VDPAU's in its directory" py "where['$a/vdpau/libvdpau_nvidia.so.1'] == where['$b/vdpau/libvdpau_nvidia.so.1'] == '$a/vdpau/libvdpau_nvidia.so.$VERSION'"
t "one with a version of its own" py "where['$b/libnvidia-egl-wayland.so.1'] == '$a/libnvidia-egl-wayland.so.1.1.19'"
t "none that is not the driver's" py 'not any("libc.so" in p or "libGL.so" in p for p in where)'
t "all of them read-only" py 'all(m["options"] == ["bind", "ro", "nosuid", "nodev", "rprivate"] for m in e["mounts"] if m["hostPath"] != "/run/nvidia-persistenced/socket")'
t "but for a socket" py '[m["options"] for m in e["mounts"] if "socket" in m["hostPath"]] == [["bind", "nosuid", "nodev", "noexec", "rprivate"]]'
t "programs" py "sorted(p for p in where if p.startswith('/usr/bin/')) == ['/usr/bin/nvidia-debugdump', '/usr/bin/nvidia-persistenced', '/usr/bin/nvidia-smi']"
t "firmware" py "sorted(p for p in where if 'firmware' in p) == ['/lib/firmware/nvidia/$VERSION/gsp_ga10x.bin', '/lib/firmware/nvidia/$VERSION/gsp_tu10x.bin'] and where['/lib/firmware/nvidia/$VERSION/gsp_ga10x.bin'] == '/usr/lib/firmware/nvidia/$VERSION/gsp_ga10x.bin'"
t "settings, where containers look for them" py "where['/usr/share/glvnd/egl_vendor.d/10_nvidia.json'] and where['/etc/vulkan/icd.d/nvidia_icd.json'] == '/usr/share/vulkan/icd.d/nvidia_icd.json' and where['/etc/OpenCL/vendors/nvidia.icd']"
gen deb
t "the same host, the same text" cmp -s out deb.json
for f in compat old; do
	ldconfig -c $f -r "$T/deb" && gen deb
	t "the same from ldconfig's format $f" cmp -s out deb.json
done
gen deb --mps
t "MPS only where it is asked for" py "sorted(set(where) - {m['containerPath'] for m in json.load(open('$T/deb.json'))['containerEdits']['mounts']}) == ['/usr/bin/nvidia-cuda-mps-control', '/usr/bin/nvidia-cuda-mps-server']"
t "and the server's directory where it is there" warns "/tmp/nvidia-mps is not a directory of root: start nvidia-cuda-mps-control -d as root first"
mkdir -p "$T/deb/tmp/nvidia-mps"
gen deb --mps
t "the server's directory, to write to" py '[m["options"] for m in e["mounts"] if m["containerPath"] == "/tmp/nvidia-mps"] == [["bind", "rw", "nosuid", "nodev", "noexec", "rprivate"]]'
t "is valid" valid
gen deb --vendor amd
t "another vendor than is here" sh -c '[ $1 = 69 ] && grep -q "no amd GPU: module amdgpu is not loaded" err' - "$st"

echo "# NVIDIA, other hosts"
host rhel nvidia-2gpu
driver "$T/rhel$b" $VERSION
driver "$T/rhel/usr/lib" $VERSION 32
cache rhel $b /usr/lib
gen rhel
t "a host like RHEL, with libraries of 32 bits" is 0
t "is valid" valid
t "those of 64 bits" py "where['$a/libcuda.so.1'] == where['$b/libcuda.so.1'] == '$b/libcuda.so.$VERSION'"
t "those of 32" py "where['/usr/lib/i386-linux-gnu/libcuda.so.1'] == where['/usr/lib/libcuda.so.1'] == '/usr/lib/libcuda.so.$VERSION'"
t "come first: an image's /usr/lib64 may be its /usr/lib" py "list(where).index('/usr/lib/libcuda.so.1') < list(where).index('$b/libcuda.so.1')"
t "VDPAU's of 32 bits" py "where['/usr/lib/vdpau/libvdpau_nvidia.so.1'] == '/usr/lib/vdpau/libvdpau_nvidia.so.$VERSION'"
t "nvidia-smi is missed" warns "nvidia-smi is not in /usr/bin: containers will lack it"
t "a node is missed, once" [ "$(grep -c 'nvidia0 does not exist yet' err)" = 1 ]
t "and in the spec nevertheless" py 'of["0"] == ["/dev/nvidia0"] and s["cdiVersion"] == "0.5.0"'

# Debian's packages: links to /etc/alternatives, and from there into a directory of the driver's version
host alt nvidia-2gpu
driver "$T/alt$a/nvidia/current" $VERSION
mkdir -p "$T/alt/etc/alternatives" "$T/alt/usr/lib/nvidia/current"
for l in "$T/alt$a"/nvidia/current/lib*; do
	so=$(readelf -d "$l" | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p')
	ln -s "$a/nvidia/current/${l##*/}" "$T/alt/etc/alternatives/$so"; ln -s "/etc/alternatives/$so" "$T/alt$a/$so"
done
echo smi >"$T/alt/usr/lib/nvidia/current/nvidia-smi"
ln -s /usr/lib/nvidia/current/nvidia-smi "$T/alt/etc/alternatives/nvidia-smi"; ln -s /etc/alternatives/nvidia-smi "$T/alt/usr/bin/nvidia-smi"
cache alt $a
gen alt
t "alternatives: files are named without a link" py "where['$b/libcuda.so.1'] == '$a/nvidia/current/libcuda.so.$VERSION' and where['/usr/bin/nvidia-smi'] == '/usr/lib/nvidia/current/nvidia-smi' and where['$b/vdpau/libvdpau_nvidia.so.1'] == '$a/nvidia/current/vdpau/libvdpau_nvidia.so.$VERSION'"
t "and is valid" valid

# a library for another architecture, which this compiler cannot make: only an ELF header
cat >"$T/elf.py" <<'P'
import struct, sys
soname, machine = sys.argv[2].encode(), int(sys.argv[3])
h = struct.pack('<4sBBBxxxxxxxxxHHIQQQIHHHHHH', b'\x7fELF', 2, 1, 1, 3, machine, 1, 0, 64, 0, 0, 64, 56, 2, 0, 0, 0)
h += struct.pack('<IIQQQQQQ', 1, 5, 0, 0, 0, 512, 512, 4096) + struct.pack('<IIQQQQQQ', 2, 6, 256, 256, 256, 64, 64, 8)
d = struct.pack('<8Q', 5, 384, 10, 128, 14, 1, 0, 0)
open(sys.argv[1], 'wb').write((h.ljust(256, b'\0') + d).ljust(385, b'\0') + soname.ljust(127, b'\0'))
P
host arm nvidia-2gpu
mkdir -p "$T/arm/usr/lib/aarch64-linux-gnu"
for l in libcuda libnvidia-ml libnvidia-ptxjitcompiler; do
	python3 "$T/elf.py" "$T/arm/usr/lib/aarch64-linux-gnu/$l.so.$VERSION" $l.so.1 183
done
python3 "$T/elf.py" "$T/arm/usr/lib/aarch64-linux-gnu/libnvidia-nvvm.so.$VERSION" libnvidia-nvvm.so.4 243
# the cache is written here as well, because this machine's ldconfig accepts only libraries of its own architecture
cat >"$T/cache.py" <<'P'
import os, struct, sys
paths = sys.argv[2:]
strings, where = b'', []
for p in paths:
    name = os.path.basename(p).split('.so')[0] + '.so.1'
    where.append((len(strings), len(strings) + len(name) + 1))
    strings += name.encode() + b'\0' + p.encode() + b'\0'
start = 48 + 24 * len(paths)
out = struct.pack('<20sIIBxxxIxxxxxxxxxxxx', b'glibc-ld.so.cache1.1', len(paths), len(strings), 2, 0)
out += b''.join(struct.pack('<IIIIQ', 0x0a03, start + k, start + v, 0, 0) for k, v in where)
open(sys.argv[1], 'wb').write(out + strings)
P
python3 "$T/cache.py" "$T/arm/etc/ld.so.cache" $(cd "$T/arm" && find usr/lib/aarch64-linux-gnu -name '*.so.*' | sort | sed 's|^|/|')
gen arm
t "aarch64" py "where['/usr/lib/aarch64-linux-gnu/libcuda.so.1'] == where['$b/libcuda.so.1'] == '/usr/lib/aarch64-linux-gnu/libcuda.so.$VERSION' and '$a/libcuda.so.1' not in where"
t "a machine that is none of a driver's" warns "/usr/lib/aarch64-linux-gnu/libnvidia-nvvm.so.$VERSION is for an unknown machine (ELF 243, 64 bits): left out"

echo "# NVIDIA, what is missing or wrong"
host old nvidia-2gpu
driver "$T/old$a" 570.10
cache old $a
gen old
t "libraries of another version only" complains_last 69 "/etc/ld.so.cache has no libraries of driver $VERSION, but of 570.10: install them and run ldconfig, or load the installed module (reboot)"
driver "$T/old$a" $VERSION
ldconfig -r "$T/old"; rm "$T/old$a/libnvidia-ptxjitcompiler.so.1" "$T/old$a/libnvidia-ptxjitcompiler.so.$VERSION"
gen old
t "libraries of both versions: those of the module" py "where['$b/libcuda.so.1'] == '$a/libcuda.so.$VERSION' and not any('570.10' in p for p in where.values())"
t "a library that is in the cache and gone" warns "/etc/ld.so.cache has no libnvidia-ptxjitcompiler.so.$VERSION: containers will lack the compiler of CUDA's PTX code"
echo 590.1 >"$T/old/sys/module/nvidia/version"
gen old
t "the driver is another one now" complains_last 69 "/etc/ld.so.cache has no libraries of driver 590.1, but of $VERSION: install them and run ldconfig, or load the installed module (reboot)"
driver "$T/old$a" 590.1; ldconfig -r "$T/old"
gen old
t "and its libraries: a new spec" py "where['$b/libcuda.so.1'] == '$a/libcuda.so.590.1' and '$b/libcuda.so.$VERSION' not in where"
rm "$T/old/sys/module/nvidia/version"
sed -i "s/$VERSION/590.1/" "$T/old/proc/driver/nvidia/version"
gen old
t "the version from /proc" py "where['$b/libcuda.so.1'] == '$a/libcuda.so.590.1'"
rm "$T/old/proc/driver/nvidia/version"
gen old
t "no version" complains_last 69 "the driver's version is neither in /sys/module/nvidia/version nor in /proc/driver/nvidia/version: run modprobe nvidia"
host bad nvidia-2gpu
gen bad
t "no cache" complains_last 74 "/etc/ld.so.cache: No such file or directory: run ldconfig"
echo nonsense >"$T/bad/etc/ld.so.cache"
gen bad
t "no cache, but something else" complains_last 65 "/etc/ld.so.cache: is no cache of glibc's ldconfig"
driver "$T/bad$a" $VERSION
cache bad $a
chmod 666 "$T/bad$a/libnvidia-ngx.so.$VERSION"; chown 1000 "$T/bad$a/libnvidia-encode.so.$VERSION"
echo text >"$T/bad$a/libnvidia-nvvm.so.$VERSION"; head -c 200 "$T/deb$a/libcuda.so.$VERSION" >"$T/bad$a/libnvidia-gpucomp.so.$VERSION"
ln -sf /etc/shadow "$T/bad$a/libnvidia-opticalflow.so.1"
rm "$T/bad$a/libGLX_nvidia.so.$VERSION"; mkdir "$T/bad$a/libGLX_nvidia.so.$VERSION"
gen bad
t "is generated" is 0
t "not what others can change" warns "$a/libnvidia-ngx.so.$VERSION may be written by others than root (mode 0666): chmod go-w it: left out"
t "nor what is somebody's" warns "$a/libnvidia-encode.so.$VERSION belongs to uid 1000 and not to root: chown root it: left out"
t "nor what is no library" warns "$a/libnvidia-nvvm.so.$VERSION is no ELF file: left out"
t "nor half of one" warns "$a/libnvidia-gpucomp.so.$VERSION is cut off: left out"
t "nor a directory" warns "$a/libGLX_nvidia.so.$VERSION is not a regular file: left out"
t "none of them" py 'not any(n in p for p in where for n in ("ngx", "encode", "nvvm", "gpucomp", "opticalflow", "GLX", "shadow"))'
node bad /dev/nvidia0 1 3 666 0
gen bad
t "another device in a node's place" warns "/dev/nvidia0 is not the character device 195:0: remove it, and the driver creates the right node"

echo "# NVIDIA, MIG"
host mig nvidia-mig
mkdir -p "$T/mig/sys/module/nvidia"; echo $VERSION >"$T/mig/sys/module/nvidia/version"
driver "$T/mig$a" $VERSION; cache mig $a
gen mig
t "instances by rank" py 'names[:2] == ["0:1:0", "0:2:0"] and not any(n in ("0", "0:1", "0:2") for n in names)'
t "and by UUID; by that alone what is all of several" py '[n.replace("GPU-edfee158-11c1-52b8-0517-92f30e7fac88", "U") for n in names[2:]] == ["U", "U:1", "U:1:0", "U:2", "U:2:0", "all"]'
t "each with its own capabilities" py 'of["0:1:0"] == ["/dev/nvidia0", "/dev/nvidia-caps/nvidia-cap12", "/dev/nvidia-caps/nvidia-cap13"] and of["0:2:0"] == ["/dev/nvidia0", "/dev/nvidia-caps/nvidia-cap21", "/dev/nvidia-caps/nvidia-cap22"]'
t "to be read" py '[n["permissions"] for n in s["devices"][0]["containerEdits"]["deviceNodes"]] == ["rw", "r", "r"]'
t "all of them" py 'of["all"] == ["/dev/nvidia0"] + ["/dev/nvidia-caps/nvidia-cap%d" % n for n in (12, 13, 21, 22)]'
t "the whole GPU" py 'of[names[2]] == of["all"] and of[names[3]] == of["0:1:0"]'
t "and is valid" valid

echo "# AMD and Intel"
host amd udev-amd
node amd /dev/kfd 505 0 660 105; node amd /dev/dri/renderD129 226 129 660 105
gen amd
t "AMD" py 's["kind"] == "amd.com/gpu" and nodes(e) == ["/dev/kfd"] and of["0"] == ["/dev/dri/renderD129"] and "mounts" not in e and e["additionalGids"] == [105]'
t "is valid" valid
t "by UUID where it is one GPU's" py '[n for n in names if n.startswith("0x")] and all(of[n] == of[k] for n in names if n.startswith("0x") for k in names if k in "0123" and of[k] == of[n])'
host cpx amd-mi300x-cpx
node cpx /dev/dri/card1 226 1 660 44
gen cpx
t "partitions by rank only, a card with the first" py 'names == [str(n) for n in range(8)] + ["all"] and of["0"] == ["/dev/dri/card1", "/dev/dri/renderD128"] and of["7"] == ["/dev/dri/renderD135"]'
gen amd --rocm-libs
t "no ROCm" complains_last 69 "no library in /opt/rocm/lib: install ROCm, or omit --rocm-libs"
r=/opt/rocm-6.4.0/lib
lib "$T/amd$r/libamdhip64.so.6.4.60400" libamdhip64.so.6; ln -s libamdhip64.so.6.4.60400 "$T/amd$r/libamdhip64.so.6"
ln -s libamdhip64.so.6 "$T/amd$r/libamdhip64.so"; lib "$T/amd$r/libhsa-runtime64.so.1.15.60400" libhsa-runtime64.so.1
echo x >"$T/amd$r/libstatic.a"; mkdir "$T/amd$r/rocblas"; ln -s rocm-6.4.0 "$T/amd/opt/rocm"
gen amd --rocm-libs
t "ROCm's libraries by SONAME" py "where == {d + '/' + n: '$r/' + f for n, f in (('libamdhip64.so.6', 'libamdhip64.so.6.4.60400'), ('libhsa-runtime64.so.1', 'libhsa-runtime64.so.1.15.60400')) for d in ('$a', '$b')}"
t "are valid" valid
host intel intel
node intel /dev/dri/renderD128 226 128 660 105; node intel /dev/dri/renderD129 226 129 666 105; node intel /dev/accel/accel0 261 0 600 0
gen intel
t "Intel: nodes and the render group, no libraries" py 's["kind"] == "intel.com/gpu" and s["cdiVersion"] == "0.7.0" and "containerEdits" not in s and [d["containerEdits"].get("additionalGids") for d in s["devices"]][:3] == [[105], None, None]'
t "by rank and by PCI address" py 'of["0"] == of["0000:00:02.0"] == ["/dev/dri/renderD128"] and of["2"] == of["0000:03:00.0"] == ["/dev/dri/renderD129"]'
t "is valid" valid

echo "# several vendors, and files"
host both udev-amd
cp -R "$sysroot/nvidia-2gpu/proc/driver" "$T/both/proc/"; cp -R "$sysroot/nvidia-2gpu/sys/module" "$T/both/sys/"
sed -i '/^Character/a 195 nvidia\n510 nvidia-uvm' "$T/both/proc/devices"
driver "$T/both$a" $VERSION; cache both $a
gen both
t "two vendors, one spec" complains 64 "this host has GPUs of several vendors, but a spec is for one: give --vendor, or --output DIRECTORY/"
gen both --vendor amd
t "one of them" py 's["kind"] == "amd.com/gpu"'
gen both --output "$T/specs/"
t "a directory: a file for each" sh -c '[ $1 = 0 ] && [ "$(ls specs)" = "$(printf "gpuhelper-amd.json\ngpuhelper-nvidia.json")" ]' - "$st"
t "which is told" grep -qx "$T/specs/gpuhelper-nvidia.json: nvidia.com/gpu, 5 devices, .* mounts" out
t "mode 0644, and nothing else left" [ "$(stat -c %a specs specs/* | tr '\n' ' ')$(find specs -name '.*' -type f)" = "755 644 644 " ]
t "they are CDI's" sh -c '"$1" cdi list --spec-dirs specs >listed && [ $(wc -l <listed) = 12 ]' - "$ctl"
i=$(stat -c %i specs/gpuhelper-amd.json)
gen both --output "$T/specs"
t "nothing has changed: nothing is written" sh -c '[ $1 = 0 ] && grep -qx "$2/specs/gpuhelper-amd.json: amd.com/gpu, unchanged" out && [ $(stat -c %i specs/gpuhelper-amd.json) = $3 ]' - "$st" "$T" "$i"
chmod 600 specs/gpuhelper-amd.json
gen both --output "$T/specs"
t "but for a mode that is another" [ "$(stat -c %a specs/gpuhelper-amd.json)" = 644 ]
echo 590.1 >"$T/both/sys/module/nvidia/version"
gen both --output "$T/specs"
t "one vendor's failing stops no other, and is the status" sh -c '[ $1 = 69 ] && grep -q amd.com out && ! grep -q nvidia.com out' - "$st"
t "and leaves what was there" grep -q $VERSION specs/gpuhelper-nvidia.json
gen deb --output "$T/specs/mine.json"
t "beside a file that has the same devices: that is told" warns "$T/specs/gpuhelper-nvidia.json also has nvidia.com/gpu=0: an engine that reads both files uses neither device"
gen deb --output "$T/one.json"
t "a file" cmp -s one.json deb.json
ln -sf /etc/passwd "$T/one.json"
gen deb --output "$T/one.json"
t "in place of a link, not through it" sh -c '[ ! -L one.json ] && cmp -s one.json deb.json'
gen deb --output "$T/one.yaml"
t "JSON under another name" complains_last 64 "$T/one.yaml: the name of a CDI spec in JSON must end in .json"
mkdir open && chmod 777 open
gen deb --output "$T/open/a.json"
t "a directory that others may write" sh -c '[ $1 = 78 ] && [ -z "$(ls open)" ] && grep -q "open is writable by others (mode 0777): chmod go-w it" err' - "$st"
chmod 755 open && chown 1000 open
gen deb --output "$T/open/a.json"
t "somebody's directory" sh -c '[ $1 = 78 ] && [ -z "$(ls open)" ] && grep -q "open belongs to uid 1000" err' - "$st"
gen deb --output "$T/none/such/a.json"
t "no directory, and none above it" is 74
gen deb --output - 
t "standard output" cmp -s out deb.json


echo "# this host, where the driver is installed, and containers on it"
# this part writes only to the sandbox
if [ "$(stat -f -c %T /usr)" != overlayfs ] || ! [ -e /proc/driver/nvidia/version ]; then
	skip "this host" "not in tests/lib/sandbox.sh --gpu nvidia-2gpu"
	echo "1..$n"; [ "$bad" = 0 ]; exit
fi
live() { run cdi generate --vendor nvidia "$@"; }
driver $a $VERSION
driver /usr/lib/i386-linux-gnu $VERSION 32
echo $a >/etc/ld.so.conf.d/test-driver.conf; echo /usr/lib/i386-linux-gnu >>/etc/ld.so.conf.d/test-driver.conf
ldconfig
cat >probe.c <<'P'
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
/* loads each library it is told of, as CUDA programs do: by its name alone */
int main(int argc, char **argv)
{
	int (*id)(void);
	void *h;

	for (int i = 1; i < argc; i++) {
		h = dlopen(argv[i], RTLD_NOW);
		id = h != NULL ? (int (*)(void))dlsym(h, "nv_id") : NULL;
		printf("%s %s %d\n", argv[i], id != NULL ? "loaded" : dlerror(), id != NULL ? id() : -1);
	}
	return strstr(argv[0], "smi") != NULL ? 42 : 0;
}
P
gcc -o /usr/bin/nvidia-smi probe.c -ldl && chown root /usr/bin/nvidia-smi || exit 2
live --output /run/cdi/
t "is written to /run/cdi, which was not there" sh -c '[ $1 = 0 ] && grep -q "^/run/cdi/gpuhelper-nvidia.json: nvidia.com/gpu, 5 devices, " out' - "$st"
run cdi validate /run/cdi/gpuhelper-nvidia.json
t "and valid where it is used, held against this host" silent
run cdi list
t "its devices are this host's" sh -c '[ $1 = 0 ] && [ $(grep -c "^nvidia.com/gpu=.*  /run/cdi/gpuhelper-nvidia.json$" out) = 5 ]' - "$st"
live --output /run/cdi
t "again: nothing has changed" says "/run/cdi/gpuhelper-nvidia.json: nvidia.com/gpu, unchanged"
live --output /var/run/cdi/
t "by another name of that directory" says "/run/cdi/gpuhelper-nvidia.json: nvidia.com/gpu, unchanged"
cp "$here/tests/fixtures/cdi/good/nvidia-2gpu.yaml" /run/cdi/nvidia.yaml
rm /run/cdi/gpuhelper-nvidia.json
live --output /run/cdi/
t "not beside nvidia-ctk's" sh -c '[ $1 = 78 ] && [ ! -e /run/cdi/gpuhelper-nvidia.json ] && grep -q "^gpuhelperctl: /run/cdi/nvidia.yaml also has nvidia.com/gpu=0, and with both files no engine would use that device: use that file, or remove it" err' - "$st"
mkdir -p /etc/cdi && mv /run/cdi/nvidia.yaml /etc/cdi/
live --output /run/cdi/
t "above nvidia-ctk's: that is told" warns "/etc/cdi/nvidia.yaml also has nvidia.com/gpu=0: engines use the spec in /run/cdi"
rm /etc/cdi/nvidia.yaml
chmod 775 /run/cdi
live --output /run/cdi/
t "a directory that a group may write" is 78
chmod 755 /run/cdi
cp /run/cdi/gpuhelper-nvidia.json "$T/mine.json"
setpriv --reuid 1000 --regid 1000 --clear-groups "$ctl" cdi generate --vendor nvidia >out 2>err; st=$?
t "anyone may have it made, the same" sh -c '[ $1 = 0 ] && cmp -s out mine.json' - "$st"
setpriv --reuid 1000 --regid 1000 --clear-groups "$ctl" cdi generate --vendor nvidia --output /run/cdi/ >out 2>err; st=$?
t "and write it where he may" sh -c '[ $1 = 0 ] && says=$(cat out) && [ -z "${says##*, unchanged}" ]' - "$st"
chmod 777 $a/vdpau
live
t "a directory that others may write: its library is left out" sh -c '! grep -q x86_64-linux-gnu/vdpau out && [ $(grep -c "vdpau may be written by others than root .*/vdpau/libvdpau_nvidia.so.* left out" err) = 1 ]'
chmod 755 $a/vdpau

# image NAME: makes a root filesystem with a C library in that layout, without driver files
cross=/usr/i686-linux-gnu/lib64
image() {
	r=$T/img/$1
	rm -rf "$r"; mkdir -p "$r/usr/bin" "$r/etc" "$r/proc" "$r/dev" "$r/sys" "$r/tmp"
	cp probe "$r/usr/bin/probe"; ln -s usr/bin "$r/bin"
	case $1 in
	debian)	mkdir -p "$r$a" "$r/usr/lib64"; cp -L /lib64/ld-linux-x86-64.so.2 "$r/usr/lib64/"; cp -L $a/libc.so.6 $a/libdl.so.2 "$r$a/"
		ln -s usr/lib "$r/lib"; ln -s usr/lib64 "$r/lib64" ;;
	split)	mkdir -p "$r/lib/x86_64-linux-gnu" "$r/lib64" "$r/usr/lib"; cp -L /lib64/ld-linux-x86-64.so.2 "$r/lib64/"
		cp -L $a/libc.so.6 $a/libdl.so.2 "$r/lib/x86_64-linux-gnu/" ;;
	rhel)	mkdir -p "$r/usr/lib64" "$r/usr/lib"; cp -L $cross/ld-linux-x86-64.so.2 $cross/libc.so.6 $cross/libdl.so.2 "$r/usr/lib64/"
		ln -s usr/lib "$r/lib"; ln -s usr/lib64 "$r/lib64" ;;
	rhel6)	mkdir -p "$r/lib64" "$r/lib"; cp -L $cross/ld-linux-x86-64.so.2 $cross/libc.so.6 $cross/libdl.so.2 "$r/lib64/" ;;
	arch)	mkdir -p "$r/usr/lib"; cp -L $cross/ld-linux-x86-64.so.2 $cross/libc.so.6 $cross/libdl.so.2 "$r/usr/lib/"
		ln -s usr/lib "$r/lib"; ln -s usr/lib "$r/lib64"; ln -s lib "$r/usr/lib64" ;;
	esac
}
# container NAME READONLY COMMAND...: runs it by runc with the device nvidia.com/gpu=0
container() {
	name=$1 ro=$2; shift 2
	rm -rf bundle; mkdir bundle
	(cd bundle && runc spec) || return 1
	python3 - "$T/img/$name" "$ro" "$@" <<-'P'
	import json, sys
	c = json.load(open('bundle/config.json'))
	c['root'] = {'path': sys.argv[1], 'readonly': sys.argv[2] == 'ro'}
	c['process'].update(args=sys.argv[3:], terminal=False, env=['PATH=/usr/bin:/bin'])
	json.dump(c, open('bundle/plain.json', 'w'))
	P
	"$ctl" cdi inject --device nvidia.com/gpu=0 bundle/plain.json >bundle/config.json 2>err || return 1
	runc --root "$T/runc" run --bundle bundle "gen$SANDBOX_ID" >out 2>>err </dev/null
	st=$?
}
names="libcuda.so.1 libcuda.so libcuda.so.$VERSION libnvidia-ml.so.1 libnvidia-ptxjitcompiler.so.1 libnvidia-nvvm.so.4 libGLX_nvidia.so.0 libnvidia-glcore.so.$VERSION"
loaded() { [ "$st" = 0 ] && [ "$(grep -c ' loaded 64$' out)" = 8 ]; }
gcc -o probe probe.c -ldl || exit 2
live --output /run/cdi/
for i in debian split rhel rhel6 arch; do
	case $i in rhel*|arch) [ -e $cross/ld-linux-x86-64.so.2 ] || { skip "an image like $i" "no C library with RHEL's directories (libc6-amd64-i386-cross)"; continue; } ;; esac
	case $i in
	debian) what="an image like Debian" ;; split) what="an image like Debian of old, its /lib and /usr/lib apart" ;;
	rhel) what="an image like RHEL, its /lib64 a link to /usr/lib64" ;; rhel6) what="an image like RHEL of old, without a /usr/lib64" ;;
	arch) what="an image whose /usr/lib64 is a link to /usr/lib" ;;
	esac
	for ro in rw ro; do
		image $i
		container $i $ro /usr/bin/probe $names
		t "$what, $ro: its loader finds the libraries of 64 bits" loaded
	done
	container $i rw nvidia-smi libnvidia-ml.so.1
	t "and nvidia-smi runs in it" sh -c '[ $1 = 42 ] && grep -qx "libnvidia-ml.so.1 loaded 64" out' - "$st"
done
image debian
container debian rw /usr/bin/probe libcuda.so.1
"$ctl" cdi inject --spec-dirs "$T/nowhere" --device nvidia.com/gpu=0 bundle/plain.json >out 2>err; st=$?
t "without the spec, no device" is 69
cp bundle/plain.json bundle/config.json
image debian
runc --root "$T/runc" run --bundle bundle "gen$SANDBOX_ID" >out 2>err </dev/null; st=$?
t "and no library: it is the spec that brings them" sh -c '[ $1 = 0 ] && grep -q "^libcuda.so.1 .*cannot open shared object file.* -1$" out' - "$st"

echo "# gpuhelper's grants from it"
# granted CAPABILITIES IMAGE COMMAND...: runs it in a container that the installed gpuhelper grants a GPU
granted() {
	caps=$1 name=$2; shift 2
	printf 'pipeline = "ml/train"; identity = "claim"; gpus = ( { vendor = "nvidia"; capabilities = [ %s ]; } );\n' "$caps" \
	    >/etc/gpuhelper/policy.d/10-train.conf
	image $name
	rm -rf bundle; mkdir bundle
	(cd bundle && runc spec) || return 1
	python3 - "$T/img/$name" "$@" <<-'P'
	import json, sys
	c = json.load(open('bundle/config.json'))
	c['root'] = {'path': sys.argv[1], 'readonly': False}
	c['process'].update(args=sys.argv[2:], terminal=False, env=['PATH=/usr/bin:/bin', 'BUILD_TEAM_NAME=ml',
	    'BUILD_PIPELINE_NAME=train', 'GPUHELPER_GPUS=1'])
	json.dump(c, open('bundle/config.json', 'w'))
	P
	gpuhelper-runc --root "$T/runc" run --bundle bundle "gen$SANDBOX_ID" >out 2>err </dev/null
	st=$?
}
chmod 755 "$T" "$T/img"
printf 'runtime = "%s";\nvolumes = [ "%s/img" ];\ndriver_files = "cdi";\n' "$(command -v runc)" "$T" >/etc/gpuhelper/gpuhelper.conf
granted '"compute", "utility"' debian /usr/bin/probe libcuda.so.1 libnvidia-ml.so.1 libnvidia-encode.so.1
t "compute and utility" sh -c '[ $1 = 0 ] && grep -qx "libcuda.so.1 loaded 64" out && grep -qx "libnvidia-ml.so.1 loaded 64" out && grep -q "libnvidia-encode.so.1.* -1$" out' - "$st"
granted '"utility"' debian nvidia-smi libcuda.so.1 libnvidia-ml.so.1
t "utility alone, and nvidia-smi" sh -c '[ $1 = 42 ] && grep -q "libcuda.so.1.* -1$" out && grep -qx "libnvidia-ml.so.1 loaded 64" out' - "$st"
granted '"all"' debian /usr/bin/probe $names
t "all of them, with those of 32 bits" loaded
t "which lie where they belong" [ -e "$T/img/debian/usr/lib/i386-linux-gnu/libcuda.so.1" ]
granted '"compute"' debian /usr/bin/probe libcuda.so.1
t "and without compat32 do not" [ ! -e "$T/img/debian/usr/lib/i386-linux-gnu" ]
if [ -e $cross/ld-linux-x86-64.so.2 ]; then
	granted '"compute"' rhel /usr/bin/probe libcuda.so.1
	t "an image like RHEL" sh -c '[ $1 = 0 ] && grep -qx "libcuda.so.1 loaded 64" out' - "$st"
else
	skip "an image like RHEL" "no C library with RHEL's directories (libc6-amd64-i386-cross)"
fi
sed -i "s/$VERSION/590.1/g" /proc/driver/nvidia/version
granted '"compute"' debian /usr/bin/probe libcuda.so.1
t "of another driver than is loaded: the refusal says how to renew it" sh -c '[ $1 != 0 ] && grep -q "is of NVIDIA driver $2, and 590.1 is loaded: gpuhelperctl cdi generate --vendor nvidia --output /run/cdi/gpuhelper-nvidia.json" err' - "$st" $VERSION
driver $a 590.1; ldconfig
gpuhelperctl cdi generate --vendor nvidia --output /run/cdi/gpuhelper-nvidia.json >out 2>err
granted '"compute"' debian /usr/bin/probe libcuda.so.590.1
t "which renews it" sh -c '[ $1 = 0 ] && grep -qx "libcuda.so.590.1 loaded 64" out' - "$st"

echo "1..$n"
[ "$bad" = 0 ]
