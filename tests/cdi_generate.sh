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
	made=$T/made/$2-${3:-64}
	[ -d "$made" ] || {
		for l in libcuda:1 libnvidia-ml:1 libnvidia-ptxjitcompiler:1 libnvidia-nvvm:4 libnvidia-encode:1 libnvidia-opticalflow:1 \
		    libnvidia-glcore:$2 libnvidia-gpucomp:$2 libGLX_nvidia:0 libnvidia-allocator:1 libnvidia-ngx:1; do
			lib "$made/${l%:*}.so.$2" "${l%:*}.so.${l#*:}" 64 "${3:-64}"
		done
		lib "$made/vdpau/libvdpau_nvidia.so.$2" libvdpau_nvidia.so.1 64 "${3:-64}"
	}
	mkdir -p "$1" && cp -R "$made/." "$1/"
}
# host NAME FIXTURE: makes a host beneath $T/NAME; «cache NAME DIR...» then makes its cache
host() { rm -rf "${T:?}/$1" && cp -a "$sysroot/$2/." "$T/$1/" && mkdir -p "$T/$1/etc" "$T/$1/usr/bin" "$T/$1/usr/lib" && ln -s usr/lib "$T/$1/lib"; }
cache() { h=$1; shift; for d; do echo "$d"; done >"$T/$h/etc/ld.so.conf"; ldconfig -r "$T/$h"; }
# node HOST PATH MAJOR MINOR MODE GID: makes a device node
node() { mkdir -p "$(dirname "$T/$1$2")" && mknod "$T/$1$2" c "$3" "$4" && chmod "$5" "$T/$1$2" && chown "0:$6" "$T/$1$2"; }
gen() { h=$1; shift; run cdi generate --root "$T/$h" "$@"; }

echo "# the command line"
run cdi generate x
t "generate takes no argument" complains 64 'cdi generate takes no "x" (see gpuhelperctl help cdi generate)'
run cdi generate --vendor nvida
t "an unknown vendor" complains 64 '--vendor must be nvidia, amd or intel, not "nvida"'
run cdi list --vendor nvidia
t "list does not take --vendor" complains 64 "cdi list has no option --vendor (see gpuhelperctl help cdi list)"
run cdi generate --spec-dirs x
t "generate does not take --spec-dirs" complains 64 "cdi generate has no option --spec-dirs (see gpuhelperctl help cdi generate)"
run cdi generate --root "$T/nowhere"
t "a missing --root" complains 74 "$T/nowhere: No such file or directory"
host empty empty
gen empty
t "a host without a GPU" sh -c '[ $1 = 69 ] && [ ! -s out ] && grep -qx "gpuhelperctl: no GPU to make a spec for" err' - "$st"

echo "# hosts whose NVIDIA GPU can't be given"
host wsl empty
node wsl /dev/dxg 10 125 666 0
gen wsl
t "WSL2 is said to be WSL2" warns "no nvidia GPU: this host is WSL2, where /dev/dxg stands for all GPUs at once: gpuhelper can't give one"
t "WSL2: no spec, and the status of a host without GPUs" sh -c '[ $1 = 69 ] && [ ! -s out ]' - "$st"
host tegra empty
node tegra /dev/nvhost-gpu 506 2 666 0
gen tegra
t "a Tegra is said to be a Tegra" warns "no nvidia GPU: this host is a Tegra, whose own GPU has no node for it alone: gpuhelper can't give it"

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
t "a spec is generated" is 0
t "the spec is valid" valid
t "an unknown library gives a note" warns "$a/libnvidia-new.so.$VERSION: unknown capability: gpuhelper grants it with every capability"
t "there is no other note" [ "$(wc -l <err)" = 1 ]
t "the spec has the lowest CDI version with groups" py 's["cdiVersion"] == "0.7.0" and s["kind"] == "nvidia.com/gpu"'
t "devices are named by rank, by UUID, and «all»" py 'names == ["0", "1", "GPU-edfee158-11c1-52b8-0517-92f30e7fac88", "GPU-0d5b2d8e-8f0d-4a1e-9b2b-6a1b7f0c1d22", "all"]'
t "each device has its node, and «all» has both" py 'of["0"] == of[names[2]] == ["/dev/nvidia0"] and of["1"] == of[names[3]] == ["/dev/nvidia1"] and of["all"] == ["/dev/nvidia0", "/dev/nvidia1"]'
t "the edits for all devices have the common nodes" py 'nodes(e) == ["/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools", "/dev/nvidia-modeset"]'
t "the common nodes have their numbers" py '[(n["type"], n["major"], n["minor"], n["permissions"]) for n in e["deviceNodes"]] == [("c", 195, 255, "rw"), ("c", 510, 0, "rw"), ("c", 510, 1, "rw"), ("c", 195, 254, "rw")]'
t "a node that is not open to everyone brings its group" py '[(d["containerEdits"]["deviceNodes"][0].get("gid"), d["containerEdits"].get("additionalGids")) for d in s["devices"][:2]] == [(None, None), (44, [44])]'
t "the spec sets NVIDIA_VISIBLE_DEVICES=void for a runtime below" py 'e["env"] == ["NVIDIA_VISIBLE_DEVICES=void"]'
t "the spec has no hook" py '"hooks" not in json.dumps(s)'
t "each library under its SONAME in the directories of Debian's loader and of RHEL's" py "all(where[d + n] == '$a/' + f + '.so.$VERSION' for d in ('$a/', '$b/') for n, f in (('libcuda.so.1', 'libcuda'), ('libnvidia-ml.so.1', 'libnvidia-ml'), ('libnvidia-ptxjitcompiler.so.1', 'libnvidia-ptxjitcompiler'), ('libnvidia-nvvm.so.4', 'libnvidia-nvvm'), ('libnvidia-encode.so.1', 'libnvidia-encode'), ('libGLX_nvidia.so.0', 'libGLX_nvidia'), ('libnvidia-new.so.1', 'libnvidia-new'), ('libnvidia-glcore.so.$VERSION', 'libnvidia-glcore')))"
t "each library under its file name" py "all(where[d + f + '.so.$VERSION'] == '$a/' + f + '.so.$VERSION' for d in ('$a/', '$b/') for f in ('libcuda', 'libnvidia-ml', 'libnvidia-ptxjitcompiler'))"
t "each library under the other names that programs load" py "all(where[d + n] == '$a/' + f + '.so.$VERSION' for d in ('$a/', '$b/') for n, f in (('libcuda.so', 'libcuda'), ('libnvidia-opticalflow.so', 'libnvidia-opticalflow'), ('libGLX_indirect.so.0', 'libGLX_nvidia'), ('gbm/nvidia-drm_gbm.so', 'libnvidia-allocator')))"
t "VDPAU's library in its subdirectory" py "where['$a/vdpau/libvdpau_nvidia.so.1'] == where['$b/vdpau/libvdpau_nvidia.so.1'] == '$a/vdpau/libvdpau_nvidia.so.$VERSION'"
t "a library with a version of its own" py "where['$b/libnvidia-egl-wayland.so.1'] == '$a/libnvidia-egl-wayland.so.1.1.19'"
t "no library of another package" py 'not any("libc.so" in p or "libGL.so" in p for p in where)'
t "all files are mounted read-only" py 'all(m["options"] == ["bind", "ro", "nosuid", "nodev", "rprivate"] for m in e["mounts"] if m["hostPath"] != "/run/nvidia-persistenced/socket")'
t "the socket is mounted without «ro»" py '[m["options"] for m in e["mounts"] if "socket" in m["hostPath"]] == [["bind", "nosuid", "nodev", "noexec", "rprivate"]]'
t "the driver's programs" py "sorted(p for p in where if p.startswith('/usr/bin/')) == ['/usr/bin/nvidia-debugdump', '/usr/bin/nvidia-persistenced', '/usr/bin/nvidia-smi']"
t "the driver's firmware" py "sorted(p for p in where if 'firmware' in p) == ['/lib/firmware/nvidia/$VERSION/gsp_ga10x.bin', '/lib/firmware/nvidia/$VERSION/gsp_tu10x.bin'] and where['/lib/firmware/nvidia/$VERSION/gsp_ga10x.bin'] == '/usr/lib/firmware/nvidia/$VERSION/gsp_ga10x.bin'"
t "the driver's settings, where containers look for them" py "where['/usr/share/glvnd/egl_vendor.d/10_nvidia.json'] and where['/etc/vulkan/icd.d/nvidia_icd.json'] == '/usr/share/vulkan/icd.d/nvidia_icd.json' and where['/etc/OpenCL/vendors/nvidia.icd']"
gen deb
t "the same host gives the same text" cmp -s out deb.json
for f in compat old; do
	ldconfig -c $f -r "$T/deb" && gen deb
	t "ldconfig's format $f gives the same text" cmp -s out deb.json
done
gen deb --mps
t "--mps adds MPS's programs" py "sorted(set(where) - {m['containerPath'] for m in json.load(open('$T/deb.json'))['containerEdits']['mounts']}) == ['/usr/bin/nvidia-cuda-mps-control', '/usr/bin/nvidia-cuda-mps-server']"
t "--mps reports a missing directory of the server" warns "/tmp/nvidia-mps is not a directory of root: start nvidia-cuda-mps-control -d as root first"
mkdir -p "$T/deb/tmp/nvidia-mps"
gen deb --mps
t "--mps mounts the server's directory writable" py '[m["options"] for m in e["mounts"] if m["containerPath"] == "/tmp/nvidia-mps"] == [["bind", "rw", "nosuid", "nodev", "noexec", "rprivate"]]'
t "the spec with MPS is valid" valid
gen deb --vendor amd
t "a vendor without a GPU here" sh -c '[ $1 = 69 ] && grep -q "no amd GPU: module amdgpu is not loaded" err' - "$st"

echo "# NVIDIA, other hosts"
host rhel nvidia-2gpu
driver "$T/rhel$b" $VERSION
driver "$T/rhel/usr/lib" $VERSION 32
cache rhel $b /usr/lib
gen rhel
t "a host like RHEL, with 32-bit libraries" is 0
t "the spec of a host like RHEL is valid" valid
t "RHEL: the 64-bit libraries" py "where['$a/libcuda.so.1'] == where['$b/libcuda.so.1'] == '$b/libcuda.so.$VERSION'"
t "RHEL: the 32-bit libraries" py "where['/usr/lib/i386-linux-gnu/libcuda.so.1'] == where['/usr/lib/libcuda.so.1'] == '/usr/lib/libcuda.so.$VERSION'"
t "RHEL: the 32-bit libraries come first, as an image's /usr/lib64 may be its /usr/lib" py "list(where).index('/usr/lib/libcuda.so.1') < list(where).index('$b/libcuda.so.1')"
t "RHEL: VDPAU's 32-bit library" py "where['/usr/lib/vdpau/libvdpau_nvidia.so.1'] == '/usr/lib/vdpau/libvdpau_nvidia.so.$VERSION'"
t "a missing nvidia-smi is reported" warns "nvidia-smi is not in /usr/bin: containers will lack it"
t "a missing node is reported once" [ "$(grep -c 'nvidia0 does not exist yet' err)" = 1 ]
t "a missing node is in the spec nevertheless" py 'of["0"] == ["/dev/nvidia0"] and s["cdiVersion"] == "0.5.0"'

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
t "Debian's alternatives: the spec names files without links" py "where['$b/libcuda.so.1'] == '$a/nvidia/current/libcuda.so.$VERSION' and where['/usr/bin/nvidia-smi'] == '/usr/lib/nvidia/current/nvidia-smi' and where['$b/vdpau/libvdpau_nvidia.so.1'] == '$a/nvidia/current/vdpau/libvdpau_nvidia.so.$VERSION'"
t "Debian's alternatives: the spec is valid" valid

echo "# NVIDIA, a driver that the host's ldconfig does not know"
# cache.py FILE LIBRARY...: writes a cache, of libraries that this machine's ldconfig would not put into it
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
# from DIR: the spec of the last run has the driver's libraries of that directory, at the places of both loaders
from() { is 0 && valid && ! grep -q ldconfig err && py "all(where[d + n] == '$1/' + f + '.so.$VERSION' for d in ('$a/', '$b/') for n, f in (('libcuda.so.1', 'libcuda'), ('libcuda.so', 'libcuda'), ('libnvidia-ml.so.1', 'libnvidia-ml'), ('libnvidia-nvvm.so.4', 'libnvidia-nvvm'), ('vdpau/libvdpau_nvidia.so.1', 'vdpau/libvdpau_nvidia')))"; }
# the links by which ldconfig(8) names the driver's libraries, in another directory
links() { mkdir -p "$2" && (cd "$1" && for l in *.so.*; do ln -s "${3-$1}/$l" "$2/$(readelf -d "$l" | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p')"; done); }
for i in "COS:/var/lib/nvidia/lib64" "COS in GKE:/home/kubernetes/bin/nvidia/lib64" "Bottlerocket:/usr/lib/nvidia/tesla" "Talos:/usr/local/glibc/usr/lib" \
    "Debian:$a" "Debian's own package:$a/nvidia/current" "RHEL:$b" "Arch:/usr/lib"; do
	dir=${i#*:}
	host bare nvidia-2gpu
	driver "$T/bare$dir" $VERSION
	gen bare
	t "${i%:*}, no ld.so.cache: the libraries of $dir" from "$dir"
	python3 "$T/cache.py" "$T/bare/etc/ld.so.cache" /usr/lib/libz.so.1
	gen bare
	t "  a cache without the driver" from "$dir"
done
host cos nvidia-2gpu
driver "$T/cos/var/lib/nvidia/lib64" $VERSION
mkdir -p "$T/cos/var/lib/nvidia/bin"; echo smi >"$T/cos/var/lib/nvidia/bin/nvidia-smi"
rm "$T/cos/var/lib/nvidia/lib64/libnvidia-ptxjitcompiler.so.$VERSION"
gen cos
t "COS: nvidia-smi" py "where['/usr/bin/nvidia-smi'] == '/var/lib/nvidia/bin/nvidia-smi'"
t "a missing library of such a driver" warns "the driver has no libnvidia-ptxjitcompiler.so.$VERSION: containers will lack the compiler of CUDA's PTX code"
host nixos nvidia-2gpu
store=/nix/store/0123-nvidia-x11-$VERSION/lib
driver "$T/nixos$store" $VERSION
links "$T/nixos$store" "$T/nixos/nix/store/4567-graphics-drivers/lib" $store
mkdir -p "$T/nixos/run"; ln -s /nix/store/4567-graphics-drivers "$T/nixos/run/opengl-driver"
gen nixos
t "NixOS: the libraries by their paths in the store" from $store
host named nvidia-2gpu
driver "$T/named/opt/one" $VERSION; driver "$T/named/opt/two" $VERSION
rm "$T/named/opt/one/libnvidia-ml.so.$VERSION"
gen named
t "a driver in a directory of its own is not found" is 69
gen named --library-path /opt/one --library-path=/opt/two
t "--library-path, twice: the first directory counts" py "where['$b/libcuda.so.1'] == '/opt/one/libcuda.so.$VERSION' and where['$b/libnvidia-ml.so.1'] == '/opt/two/libnvidia-ml.so.$VERSION'"
gen named --library-path /opt/two --library-path=/opt/three
t "--library-path: a directory that is missing is reported" warns "/opt/three: No such file or directory"
t "--library-path: the others count" from /opt/two
driver "$T/named$a" $VERSION; cache named $a
gen named --library-path /opt/two
t "--library-path comes before the cache" from /opt/two

# a driver in a container, whose root directory is beneath the host's
host inside nvidia-2gpu
root=/run/nvidia/driver
driver "$T/inside$root$a" $VERSION
mkdir -p "$T/inside$root/etc/OpenCL/vendors" "$T/inside$root/usr/bin" "$T/inside$root/lib/firmware/nvidia/$VERSION" "$T/inside/sys/module/firmware_class/parameters"
echo libnvidia-opencl.so.1 >"$T/inside$root/etc/OpenCL/vendors/nvidia.icd"; echo smi >"$T/inside$root/usr/bin/nvidia-smi-1"
ln -s /usr/bin/nvidia-smi-1 "$T/inside$root/usr/bin/nvidia-smi"
echo x >"$T/inside$root/lib/firmware/nvidia/$VERSION/gsp_ga10x.bin"; echo $root/lib/firmware >"$T/inside/sys/module/firmware_class/parameters/path"
gen inside
t "a driver in a container is found" from $root$a
t "  where it is, is reported" warns "the driver's files are those of a container: $root"
cache inside$root $a; cache inside /usr/lib
gen inside
t "  by its own ld.so.cache, too" from $root$a
t "  its programs, settings and firmware, at the places where containers look for them" py "where['/usr/bin/nvidia-smi'] == '$root/usr/bin/nvidia-smi-1' and where['/etc/OpenCL/vendors/nvidia.icd'] == '$root/etc/OpenCL/vendors/nvidia.icd' and where['/lib/firmware/nvidia/$VERSION/gsp_ga10x.bin'] == '$root/lib/firmware/nvidia/$VERSION/gsp_ga10x.bin'"
mkdir -p "$T/inside$root/run/nvidia-persistenced" "$T/inside/run/nvidia-persistenced"
bind_at() { python3 -c 'import os, socket, sys; os.chdir(sys.argv[1]); socket.socket(socket.AF_UNIX).bind("socket")' "$1"; }
bind_at "$T/inside/run/nvidia-persistenced"; gen inside
t "  the socket of nvidia-persistenced on the host" py "where['/run/nvidia-persistenced/socket'] == '/run/nvidia-persistenced/socket'"
bind_at "$T/inside$root/run/nvidia-persistenced"; gen inside
t "  and in the container" py "where['/run/nvidia-persistenced/socket'] == '$root/run/nvidia-persistenced/socket'"
t "  no path in a container begins with that root" py "not any(p.startswith('$root') for p in where)"
t "  the nodes are the host's" py 'all(set(n) == {"path", "type", "major", "minor", "permissions"} for n in e["deviceNodes"]) and of["0"] == ["/dev/nvidia0"]'
cp out inside.json
gen inside --driver-root $root
t "--driver-root names it" sh -c '[ $1 = 0 ] && cmp -s out inside.json' - "$st"
t "  no note is needed then" sh -c '! grep -q container: err'
gen inside --driver-root $root --library-path $root$a
t "--library-path may name a directory of the host beneath that root" sh -c '[ $1 = 0 ] && cmp -s out inside.json' - "$st"
mkdir "$T/inside/opt"; mv "$T/inside$root" "$T/inside/opt/driver"; ln -s ../../opt/driver "$T/inside$root"
gen inside --driver-root $root
t "--driver-root: paths of the host have no links" from /opt/driver$a
gen inside --driver-root /opt/none
t "a missing --driver-root" complains_last 74 "/opt/none: No such file or directory"
gen inside --driver-root /usr
t "a --driver-root without the driver" complains_last 69 "/usr has no libraries of driver $VERSION: name that driver's root directory, or with --library-path the directory of its libraries"
host stale nvidia-2gpu
driver "$T/stale$root$a" 570.10; cache stale$root $a
gen stale
t "a driver in a container that is not the loaded one: not a word of ldconfig, as the host has no cache" complains_last 69 "no directory where drivers usually are has libraries of driver $VERSION, but of 570.10: name theirs with --library-path, or with --driver-root the root directory of a driver in a container"
driver "$T/inside$a" $VERSION; ldconfig -r "$T/inside"
echo $a >"$T/inside/etc/ld.so.conf"; ldconfig -r "$T/inside"
gen inside
t "a driver of the host comes before one in a container" from $a

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
python3 "$T/cache.py" "$T/arm/etc/ld.so.cache" $(cd "$T/arm" && find usr/lib/aarch64-linux-gnu -name '*.so.*' | sort | sed 's|^|/|')
gen arm
t "aarch64: the libraries' directory" py "where['/usr/lib/aarch64-linux-gnu/libcuda.so.1'] == where['$b/libcuda.so.1'] == '/usr/lib/aarch64-linux-gnu/libcuda.so.$VERSION' and '$a/libcuda.so.1' not in where"
t "a library for an unknown machine is left out" warns "/usr/lib/aarch64-linux-gnu/libnvidia-nvvm.so.$VERSION is for an unknown machine (ELF 243, 64 bits): left out"

echo "# NVIDIA, what is missing or wrong"
mend="install them and run ldconfig, load the installed module (reboot), or name their directory with --library-path"
host old nvidia-2gpu
driver "$T/old$a" 570.10
cache old $a
gen old
t "only libraries of another driver version" complains_last 69 "/etc/ld.so.cache has no libraries of driver $VERSION, but of 570.10: $mend"
driver "$T/old$a" $VERSION
ldconfig -r "$T/old"; rm "$T/old$a/libnvidia-ptxjitcompiler.so.1" "$T/old$a/libnvidia-ptxjitcompiler.so.$VERSION"
gen old
t "libraries of two versions: only those of the loaded module" py "where['$b/libcuda.so.1'] == '$a/libcuda.so.$VERSION' and not any('570.10' in p for p in where.values())"
t "a library that is in the cache, but missing" warns "/etc/ld.so.cache has no libnvidia-ptxjitcompiler.so.$VERSION: containers will lack the compiler of CUDA's PTX code"
echo 590.1 >"$T/old/sys/module/nvidia/version"
gen old
t "another driver version is loaded" complains_last 69 "/etc/ld.so.cache has no libraries of driver 590.1, but of $VERSION: $mend"
driver "$T/old$a" 590.1; ldconfig -r "$T/old"
gen old
t "another driver with its libraries gives a new spec" py "where['$b/libcuda.so.1'] == '$a/libcuda.so.590.1' and '$b/libcuda.so.$VERSION' not in where"
rm "$T/old/sys/module/nvidia/version"
sed -i "s/$VERSION/590.1/" "$T/old/proc/driver/nvidia/version"
gen old
t "the driver's version from /proc" py "where['$b/libcuda.so.1'] == '$a/libcuda.so.590.1'"
rm "$T/old/proc/driver/nvidia/version"
gen old
t "the driver's version is unknown" complains_last 69 "the driver's version is neither in /sys/module/nvidia/version nor in /proc/driver/nvidia/version: run modprobe nvidia"
host bad nvidia-2gpu
gen bad
t "no ld.so.cache, and no driver" complains_last 69 "no directory where drivers usually are has libraries of driver $VERSION: name theirs with --library-path, or with --driver-root the root directory of a driver in a container"
echo nonsense >"$T/bad/etc/ld.so.cache"
gen bad
t "an invalid ld.so.cache" complains_last 65 "/etc/ld.so.cache: is no cache of glibc's ldconfig"
driver "$T/bad$a" $VERSION
cache bad $a
chmod 666 "$T/bad$a/libnvidia-ngx.so.$VERSION"; chown 1000 "$T/bad$a/libnvidia-encode.so.$VERSION"
echo text >"$T/bad$a/libnvidia-nvvm.so.$VERSION"; head -c 200 "$T/deb$a/libcuda.so.$VERSION" >"$T/bad$a/libnvidia-gpucomp.so.$VERSION"
ln -sf /etc/shadow "$T/bad$a/libnvidia-opticalflow.so.1"
rm "$T/bad$a/libGLX_nvidia.so.$VERSION"; mkdir "$T/bad$a/libGLX_nvidia.so.$VERSION"
gen bad
t "a spec is generated although files are unsuitable" is 0
t "a library that others can change is left out" warns "$a/libnvidia-ngx.so.$VERSION may be written by others than root (mode 0666): chmod go-w it: left out"
t "a library that another user owns is left out" warns "$a/libnvidia-encode.so.$VERSION belongs to uid 1000 and not to root: chown root it: left out"
t "a file that is no library is left out" warns "$a/libnvidia-nvvm.so.$VERSION is no ELF file: left out"
t "a truncated library is left out" warns "$a/libnvidia-gpucomp.so.$VERSION is cut off: left out"
t "a directory in place of a library is left out" warns "$a/libGLX_nvidia.so.$VERSION is not a regular file: left out"
t "the spec has none of these libraries" py 'not any(n in p for p in where for n in ("ngx", "encode", "nvvm", "gpucomp", "opticalflow", "GLX", "shadow"))'
node bad /dev/nvidia0 1 3 666 0
gen bad
t "another device in place of a node" warns "/dev/nvidia0 is not the character device 195:0: remove it, and the driver creates the right node"

echo "# NVIDIA, MIG"
host mig nvidia-mig
mkdir -p "$T/mig/sys/module/nvidia"; echo $VERSION >"$T/mig/sys/module/nvidia/version"
driver "$T/mig$a" $VERSION; cache mig $a
gen mig
t "MIG: instances by rank" py 'names[:2] == ["0:1:0", "0:2:0"] and not any(n in ("0", "0:1", "0:2") for n in names)'
t "MIG: instances by UUID; a device with several instances only by UUID" py '[n.replace("GPU-edfee158-11c1-52b8-0517-92f30e7fac88", "U") for n in names[2:]] == ["U", "U:1", "U:1:0", "U:2", "U:2:0", "all"]'
t "MIG: each instance has its own capability nodes" py 'of["0:1:0"] == ["/dev/nvidia0", "/dev/nvidia-caps/nvidia-cap12", "/dev/nvidia-caps/nvidia-cap13"] and of["0:2:0"] == ["/dev/nvidia0", "/dev/nvidia-caps/nvidia-cap21", "/dev/nvidia-caps/nvidia-cap22"]'
t "MIG: the capability nodes are read-only" py '[n["permissions"] for n in s["devices"][0]["containerEdits"]["deviceNodes"]] == ["rw", "r", "r"]'
t "MIG: «all» has every instance" py 'of["all"] == ["/dev/nvidia0"] + ["/dev/nvidia-caps/nvidia-cap%d" % n for n in (12, 13, 21, 22)]'
t "MIG: the GPU's UUID means the whole GPU" py 'of[names[2]] == of["all"] and of[names[3]] == of["0:1:0"]'
t "MIG: the spec is valid" valid

echo "# AMD and Intel"
host amd udev-amd
node amd /dev/kfd 505 0 660 105; node amd /dev/dri/renderD129 226 129 660 105
gen amd
t "AMD: nodes and groups, no libraries" py 's["kind"] == "amd.com/gpu" and nodes(e) == ["/dev/kfd"] and of["0"] == ["/dev/dri/renderD129"] and "mounts" not in e and e["additionalGids"] == [105]'
t "AMD: the spec is valid" valid
t "AMD: a device by UUID if only one GPU has it" py '[n for n in names if n.startswith("0x")] and all(of[n] == of[k] for n in names if n.startswith("0x") for k in names if k in "0123" and of[k] == of[n])'
host cpx amd-mi300x-cpx
node cpx /dev/dri/card1 226 1 660 44
gen cpx
t "AMD: partitions by rank only, and a card with the first" py 'names == [str(n) for n in range(8)] + ["all"] and of["0"] == ["/dev/dri/card1", "/dev/dri/renderD128"] and of["7"] == ["/dev/dri/renderD135"]'
gen amd --rocm-libs
t "AMD: --rocm-libs without ROCm" complains_last 69 "no library in /opt/rocm/lib: install ROCm, or omit --rocm-libs"
r=/opt/rocm-6.4.0/lib
lib "$T/amd$r/libamdhip64.so.6.4.60400" libamdhip64.so.6; ln -s libamdhip64.so.6.4.60400 "$T/amd$r/libamdhip64.so.6"
ln -s libamdhip64.so.6 "$T/amd$r/libamdhip64.so"; lib "$T/amd$r/libhsa-runtime64.so.1.15.60400" libhsa-runtime64.so.1
echo x >"$T/amd$r/libstatic.a"; mkdir "$T/amd$r/rocblas"; ln -s rocm-6.4.0 "$T/amd/opt/rocm"
gen amd --rocm-libs
t "AMD: --rocm-libs adds ROCm's libraries under their SONAMEs" py "where == {d + '/' + n: '$r/' + f for n, f in (('libamdhip64.so.6', 'libamdhip64.so.6.4.60400'), ('libhsa-runtime64.so.1', 'libhsa-runtime64.so.1.15.60400')) for d in ('$a', '$b')}"
t "AMD: the spec with ROCm is valid" valid
host intel intel
node intel /dev/dri/renderD128 226 128 660 105; node intel /dev/dri/renderD129 226 129 666 105; node intel /dev/accel/accel0 261 0 600 0
gen intel
t "Intel: nodes and the render group, no libraries" py 's["kind"] == "intel.com/gpu" and s["cdiVersion"] == "0.7.0" and "containerEdits" not in s and [d["containerEdits"].get("additionalGids") for d in s["devices"]][:3] == [[105], None, None]'
t "Intel: devices by rank and by PCI address" py 'of["0"] == of["0000:00:02.0"] == ["/dev/dri/renderD128"] and of["2"] == of["0000:03:00.0"] == ["/dev/dri/renderD129"]'
t "Intel: the spec is valid" valid
mkdir -m 755 beside; echo '{"cdiVersion":"0.6.0","kind":"intel.com/gpu","devices":[{"containerEdits":{"env":["A=1"]}}]}' >beside/invalid.json
gen intel --output "$T/beside/"
t "a spec with a device without a name, which nobody uses, is in no conflict" sh -c '[ $1 = 0 ] && [ -f beside/gpuhelper-intel.json ]' - "$st"

echo "# several vendors, and files"
host both udev-amd
cp -R "$sysroot/nvidia-2gpu/proc/driver" "$T/both/proc/"; cp -R "$sysroot/nvidia-2gpu/sys/module" "$T/both/sys/"
sed -i '/^Character/a 195 nvidia\n510 nvidia-uvm' "$T/both/proc/devices"
driver "$T/both$a" $VERSION; cache both $a
gen both
t "two vendors without --vendor" complains 64 "this host has GPUs of several vendors, but a spec is for one: give --vendor, or --output DIRECTORY/"
gen both --vendor amd
t "two vendors with --vendor" py 's["kind"] == "amd.com/gpu"'
gen both --output "$T/specs/"
t "--output DIR/: a file for each vendor" sh -c '[ $1 = 0 ] && [ "$(ls specs)" = "$(printf "gpuhelper-amd.json\ngpuhelper-nvidia.json")" ]' - "$st"
t "--output DIR/: each file is reported" grep -qx "$T/specs/gpuhelper-nvidia.json: nvidia.com/gpu, 5 devices, .* mounts" out
t "--output DIR/: mode 0644, and no temporary file" [ "$(stat -c %a specs specs/* | tr '\n' ' ')$(find specs -name '.*' -type f)" = "755 644 644 " ]
t "--output DIR/: «cdi list» accepts the files" sh -c '"$1" cdi list --spec-dirs specs >listed && [ $(wc -l <listed) = 12 ]' - "$ctl"
i=$(stat -c %i specs/gpuhelper-amd.json)
gen both --output "$T/specs"
t "an unchanged spec is not written again" sh -c '[ $1 = 0 ] && grep -qx "$2/specs/gpuhelper-amd.json: amd.com/gpu, unchanged" out && [ $(stat -c %i specs/gpuhelper-amd.json) = $3 ]' - "$st" "$T" "$i"
chmod 600 specs/gpuhelper-amd.json
gen both --output "$T/specs"
t "a wrong mode of an unchanged spec is corrected" [ "$(stat -c %a specs/gpuhelper-amd.json)" = 644 ]
echo 590.1 >"$T/both/sys/module/nvidia/version"
gen both --output "$T/specs"
t "one vendor's failure does not stop the others, and is the exit status" sh -c '[ $1 = 69 ] && grep -q amd.com out && ! grep -q nvidia.com out' - "$st"
t "a failure leaves the old file" grep -q $VERSION specs/gpuhelper-nvidia.json
gen deb --output "$T/specs/mine.json"
t "another file with the same devices is reported" warns "$T/specs/gpuhelper-nvidia.json also has nvidia.com/gpu=0: an engine that reads both files uses neither device"
gen deb --output "$T/one.json"
t "--output FILE" cmp -s one.json deb.json
ln -sf /etc/passwd "$T/one.json"
gen deb --output "$T/one.json"
t "--output FILE replaces a link instead of following it" sh -c '[ ! -L one.json ] && cmp -s one.json deb.json'
gen deb --output "$T/one.yaml"
t "--output with a name that does not end in .json" complains_last 64 "$T/one.yaml: the name of a CDI spec in JSON must end in .json"
mkdir open && chmod 777 open
gen deb --output "$T/open/a.json"
t "--output in a directory that others may write" sh -c '[ $1 = 78 ] && [ -z "$(ls open)" ] && grep -q "open is writable by others (mode 0777): chmod go-w it" err' - "$st"
chmod 755 open && chown 1000 open
gen deb --output "$T/open/a.json"
t "--output in another user's directory" sh -c '[ $1 = 78 ] && [ -z "$(ls open)" ] && grep -q "open belongs to uid 1000" err' - "$st"
gen deb --output "$T/none/such/a.json"
t "--output in a missing directory" is 74
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
/* loads each library of its arguments as CUDA programs do: by its name alone */
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
t "--output /run/cdi/ makes the directory" sh -c '[ $1 = 0 ] && grep -q "^/run/cdi/gpuhelper-nvidia.json: nvidia.com/gpu, 5 devices, " out' - "$st"
run cdi validate /run/cdi/gpuhelper-nvidia.json
t "the spec in /run/cdi is valid on this host" silent
run cdi list
t "«cdi list» has this host's devices" sh -c '[ $1 = 0 ] && [ $(grep -c "^nvidia.com/gpu=.*  /run/cdi/gpuhelper-nvidia.json$" out) = 5 ]' - "$st"
live --output /run/cdi
t "a second run changes nothing" says "/run/cdi/gpuhelper-nvidia.json: nvidia.com/gpu, unchanged"
live --output /var/run/cdi/
t "/var/run/cdi is the same directory" says "/run/cdi/gpuhelper-nvidia.json: nvidia.com/gpu, unchanged"
cp "$here/tests/fixtures/cdi/good/nvidia-2gpu.yaml" /run/cdi/nvidia.yaml
rm /run/cdi/gpuhelper-nvidia.json
live --output /run/cdi/
t "no spec is written beside nvidia-ctk's in the same directory" sh -c '[ $1 = 78 ] && [ ! -e /run/cdi/gpuhelper-nvidia.json ] && grep -q "^gpuhelperctl: /run/cdi/nvidia.yaml also has nvidia.com/gpu=0, and with both files no engine would use that device: use that file, or remove it" err' - "$st"
mkdir -p /etc/cdi && mv /run/cdi/nvidia.yaml /etc/cdi/
live --output /run/cdi/
t "nvidia-ctk's spec in /etc/cdi is reported" warns "/etc/cdi/nvidia.yaml also has nvidia.com/gpu=0: engines use the spec in /run/cdi"
rm /etc/cdi/nvidia.yaml
chmod 775 /run/cdi
live --output /run/cdi/
t "/run/cdi that a group may write" is 78
chmod 755 /run/cdi
cp /run/cdi/gpuhelper-nvidia.json "$T/mine.json"
setpriv --reuid 1000 --regid 1000 --clear-groups "$ctl" cdi generate --vendor nvidia >out 2>err; st=$?
t "an unprivileged user gets the same text" sh -c '[ $1 = 0 ] && cmp -s out mine.json' - "$st"
setpriv --reuid 1000 --regid 1000 --clear-groups "$ctl" cdi generate --vendor nvidia --output /run/cdi/ >out 2>err; st=$?
t "an unprivileged user sees that the file is unchanged" sh -c '[ $1 = 0 ] && says=$(cat out) && [ -z "${says##*, unchanged}" ]' - "$st"
chmod 777 $a/vdpau
live
t "a library in a directory that others may write is left out" sh -c '! grep -q x86_64-linux-gnu/vdpau out && [ $(grep -c "vdpau can be changed by others than root (see ls -ld): .*/vdpau/libvdpau_nvidia.so.* left out" err) = 1 ]'
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
		t "$what, $ro: its loader finds the 64-bit libraries" loaded
	done
	container $i rw nvidia-smi libnvidia-ml.so.1
	t "$what: nvidia-smi runs in it" sh -c '[ $1 = 42 ] && grep -qx "libnvidia-ml.so.1 loaded 64" out' - "$st"
done
image debian
container debian rw /usr/bin/probe libcuda.so.1
"$ctl" cdi inject --spec-dirs "$T/nowhere" --device nvidia.com/gpu=0 bundle/plain.json >out 2>err; st=$?
t "without the spec there is no device" is 69
cp bundle/plain.json bundle/config.json
image debian
runc --root "$T/runc" run --bundle bundle "gen$SANDBOX_ID" >out 2>err </dev/null; st=$?
t "without the spec the container has no driver library" sh -c '[ $1 = 0 ] && grep -q "^libcuda.so.1 .*cannot open shared object file.* -1$" out' - "$st"

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
t "a grant with compute and utility" sh -c '[ $1 = 0 ] && grep -qx "libcuda.so.1 loaded 64" out && grep -qx "libnvidia-ml.so.1 loaded 64" out && grep -q "libnvidia-encode.so.1.* -1$" out' - "$st"
granted '"utility"' debian nvidia-smi libcuda.so.1 libnvidia-ml.so.1
t "a grant with utility alone runs nvidia-smi" sh -c '[ $1 = 42 ] && grep -q "libcuda.so.1.* -1$" out && grep -qx "libnvidia-ml.so.1 loaded 64" out' - "$st"
granted '"all"' debian /usr/bin/probe $names
t "a grant with all capabilities has all libraries" loaded
t "a grant with all capabilities has the 32-bit libraries" [ -e "$T/img/debian/usr/lib/i386-linux-gnu/libcuda.so.1" ]
granted '"compute"' debian /usr/bin/probe libcuda.so.1
t "a grant without compat32 has no 32-bit libraries" [ ! -e "$T/img/debian/usr/lib/i386-linux-gnu" ]
if [ -e $cross/ld-linux-x86-64.so.2 ]; then
	granted '"compute"' rhel /usr/bin/probe libcuda.so.1
	t "an image like RHEL" sh -c '[ $1 = 0 ] && grep -qx "libcuda.so.1 loaded 64" out' - "$st"
else
	skip "an image like RHEL" "no C library with RHEL's directories (libc6-amd64-i386-cross)"
fi
sed -i "s/$VERSION/590.1/g" /proc/driver/nvidia/version
granted '"compute"' debian /usr/bin/probe libcuda.so.1
t "a spec of another driver than the loaded one: the refusal names the command that renews it" sh -c '[ $1 != 0 ] && grep -q "is of NVIDIA driver $2, and 590.1 is loaded: gpuhelperctl cdi generate --vendor nvidia --output /run/cdi/gpuhelper-nvidia.json" err' - "$st" $VERSION
driver $a 590.1; ldconfig
gpuhelperctl cdi generate --vendor nvidia --output /run/cdi/gpuhelper-nvidia.json >out 2>err
granted '"compute"' debian /usr/bin/probe libcuda.so.590.1
t "that command renews the spec" sh -c '[ $1 = 0 ] && grep -qx "libcuda.so.590.1 loaded 64" out' - "$st"

echo "# drivers elsewhere, on this host and in its containers"
# elsewhere WHAT DIR [CACHE]: the driver is only in DIR
elsewhere() {
	gpuhelperctl cdi generate --vendor nvidia --output /run/cdi/gpuhelper-nvidia.json >out 2>err; st=$?
	t "$1: the spec is made, without a word of ldconfig" sh -c '[ $1 = 0 ] && ! grep -q ldconfig err && grep -q "\"$2/libcuda.so.590.1\"" /run/cdi/gpuhelper-nvidia.json' - "$st" "$2"
	run cdi validate --host /run/cdi/gpuhelper-nvidia.json
	t "$1: the spec is valid on this host" silent
	granted '"compute", "utility"' debian /usr/bin/probe libcuda.so.1 libnvidia-ml.so.1 libnvidia-nvvm.so.4
	t "$1: a granted container finds the libraries" [ "$st-$(grep -c ' loaded 64$' out)" = 0-3 ]
}
for v in $VERSION 590.1; do rm -f $a/*.so.$v $a/vdpau/*.so.$v /usr/lib/i386-linux-gnu/*.so.$v /usr/lib/i386-linux-gnu/vdpau/*.so.$v; done
ldconfig
driver /run/nvidia/driver$a 590.1
elsewhere "a driver in a container" /run/nvidia/driver$a
driver /var/lib/nvidia/lib64 590.1
elsewhere COS /var/lib/nvidia/lib64
rm -r /var/lib/nvidia /run/nvidia; rm -f /etc/ld.so.cache
driver /usr/local/glibc/usr/lib 590.1
elsewhere Talos /usr/local/glibc/usr/lib
rm -r /usr/local/glibc
# the builders of NixOS may make files in the store, whose sticky bit keeps them from replacing root's
store=/nix/store/0123-nvidia-x11-590.1/lib
driver $store 590.1
links $store /nix/store/4567-graphics-drivers/lib
ln -s /nix/store/4567-graphics-drivers /run/opengl-driver
chown 0:30000 /nix/store; chmod 1775 /nix/store
elsewhere NixOS $store
chmod 775 /nix/store
gpuhelperctl cdi generate --vendor nvidia >out 2>err; st=$?
t "NixOS: without the sticky bit the store is not trusted" sh -c '[ $1 = 69 ] && grep -q "/nix/store can be changed by others than root" err' - "$st"
granted '"compute"' debian /usr/bin/probe libcuda.so.1
t "NixOS: nor does a grant trust it" sh -c '[ $1 != 0 ] && grep -q "can be changed by others than root" err' - "$st"
chmod 1775 /nix/store; chown 30001 /nix/store/0123-nvidia-x11-590.1
granted '"compute"' debian /usr/bin/probe libcuda.so.1
t "NixOS: a builder's own directory in the store is not trusted" sh -c '[ $1 != 0 ] && grep -q "can be changed by others than root" err' - "$st"
chown 0 /nix/store/0123-nvidia-x11-590.1
mv /nix/store/0123-nvidia-x11-590.1 /nix/moved; mkdir /nix/store/0123-nvidia-x11-590.1
mount -t tmpfs -o mode=755 other /nix/store/0123-nvidia-x11-590.1 && cp -a /nix/moved/. /nix/store/0123-nvidia-x11-590.1/
granted '"compute"' debian /usr/bin/probe libcuda.so.1
t "NixOS: a file system that is mounted in the store is not trusted, as it may show any owner" sh -c '[ $1 != 0 ] && grep -q "can be changed by others than root" err' - "$st"
umount /nix/store/0123-nvidia-x11-590.1

echo "1..$n"
[ "$bad" = 0 ]
