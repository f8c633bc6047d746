"""NVIDIA drivers 535 to 615, installed on this host in the layouts of several systems.

The drivers' lists of files and NixOS's module say what each has.  The files are SIMULATED: a library has the real name and
SONAME, needs others of the driver as many real ones do, and its driver_says() returns where it is on the host.
"""
import collections, os, socket, subprocess

DRIVERS = {535: '535.288.01', 550: '550.163.01', 570: '570.133.20', 575: '575.57.08', 580: '580.95.05', 595: '595.71.05',
           615: '615.71.09'}

# root: where the driver's files are; dev: where its nodes are; lib: the directory of its libraries beneath root
Layout = collections.namedtuple('Layout', 'root dev lib', defaults=('', '', ''))
LAYOUTS = {
    'Debian': Layout(lib='/usr/lib/x86_64-linux-gnu'),
    'Ubuntu': Layout(lib='/lib/x86_64-linux-gnu'),
    "Debian's alternatives": Layout(lib='/usr/lib/x86_64-linux-gnu/nvidia/current'),
    'RHEL': Layout(lib='/usr/lib64'),
    'Arch': Layout(lib='/usr/lib'),
    'COS': Layout('/var/lib/nvidia', '', '/lib64'),
    'Talos': Layout(lib='/usr/local/glibc/usr/lib'),
    'NixOS': Layout(lib='/opt/nix/store/00000000000000000000000000000000-nvidia-x11-VERSION-6.12/lib'),
    'a driver container': Layout('/run/nvidia/driver', '/run/nvidia/driver', '/usr/lib/x86_64-linux-gnu'),
    "a driver container, the host's nodes": Layout('/run/nvidia/driver', '', '/usr/lib/x86_64-linux-gnu'),
}
# The libraries are not in the host's /etc/ld.so.cache
NOT_CACHED = 'COS', 'Talos', 'NixOS', 'a driver container', "a driver container, the host's nodes"

# Each line: what is before ".so" in the name, and what is behind ".so." in the SONAME (V: the driver's version).  Then the
# drivers that have the library; the directory beneath; «dev» for a link that ends in ".so"; the libraries that it needs.
LIBRARIES = '''
libcuda 1 dev
libcudadebugger 1
libnvidia-opencl 1 needs=libnvidia-gpucomp
libnvidia-ptxjitcompiler 1 dev
libnvidia-nvvm 4 dev
libnvidia-pkcs11 V -580
libnvidia-pkcs11-openssl3 V
libnvidia-gpucomp V 550-
libnvidia-tileiras V 595-
libnvidia-allocator 1 dev
libnvidia-ml 1 dev
libnvidia-cfg 1 dev
libnvidia-nscq 2 570-580
libnvidia-sandboxutils 1 570- dev
libnvidia-encode 1 dev
libnvcuvid 1 dev
libnvidia-opticalflow 1 dev
libvdpau_nvidia 1 in=/vdpau
libnvidia-ngx 1
libGLX_nvidia 0 needs=libnvidia-tls,libnvidia-glcore
libEGL_nvidia 0 needs=libnvidia-glsi
libGLESv1_CM_nvidia 1 needs=libnvidia-eglcore
libGLESv2_nvidia 2 needs=libnvidia-eglcore
libnvidia-glcore V needs=libnvidia-gpucomp
libnvidia-eglcore V needs=libnvidia-gpucomp
libnvidia-glsi V
libnvidia-tls V
libnvidia-glvkspirv V
libnvidia-rtcore V
libnvoptix 1
libnvidia-fbc 1 dev
libnvidia-present V 570-
libnvidia-vksc-core 1 550-
libnvidia-vulkan-producer V -535
libnvidia-gtk3 V
libnvidia-wayland-client V
'''
# Files with a version of their own, or none: the file, its SONAME, the first driver
OWN_VERSION = (('libnvidia-nvvm70.so.4', 'libnvidia-nvvm70.so.4', 575),
               ('libnvidia-egl-gbm.so.1.1.2', 'libnvidia-egl-gbm.so.1', 535),
               ('libnvidia-egl-wayland.so.1.1.19', 'libnvidia-egl-wayland.so.1', 535),
               ('libnvidia-egl-wayland2.so.1.0.2', 'libnvidia-egl-wayland2.so.1', 595),
               ('libnvidia-egl-xcb.so.1.0.2', 'libnvidia-egl-xcb.so.1', 570),
               ('libnvidia-egl-xlib.so.1.0.2', 'libnvidia-egl-xlib.so.1', 570))

Library = collections.namedtuple('Library', 'stem file soname beneath dev needs', defaults=('', False, ()))


def libraries(driver):
    """The libraries of that driver."""
    found = []
    for line in LIBRARIES.strip().split('\n'):
        stem, number, *words = line.split()
        first, last = next((w.split('-') for w in words if w[0] in '-123456789'), ('', ''))
        if int(first or driver) <= driver <= int(last or driver):
            keys = dict(w.split('=') for w in words if '=' in w)
            found.append(Library(stem, '%s.so.%s' % (stem, DRIVERS[driver]), '%s.so.%s' % (stem, number.replace('V', DRIVERS[driver])),
                                 keys.get('in', ''), 'dev' in words, keys.get('needs', '').split(',')))
    files = {l.stem: l.file for l in found}
    return [l._replace(needs=[files[n] for n in l.needs if n in files]) for l in found] + [
        Library(file.split('.so')[0], file, soname) for file, soname, first in OWN_VERSION if driver >= first]


class Maker:
    """Makes libraries: cc makes one that needs none, one that needs one and one that needs two; copies get other names."""
    SONAME, SAYS, NEEDS = 'S' * 64, '@' * 256, ['N' * 64, 'M' * 64]

    def __init__(self, place):
        os.makedirs(place)
        cc = ['cc', '-shared', '-fPIC', '-nostdlib', '-Wl,--no-as-needed', '-x', 'c', '-']
        needed, self.made = [], []
        for name in self.NEEDS:
            subprocess.run(cc + ['-Wl,-soname,' + name, '-o', place + '/' + name], input=b'', check=True)
            needed.append(place + '/' + name)
        code = 'const char *driver_says(void); const char *driver_says(void) { static const char says[] = "%s"; return says; }\n' % self.SAYS
        for n in range(3):
            subprocess.run(cc + ['-x', 'none'] + needed[:n] + ['-Wl,-soname,' + self.SONAME, '-o', place + '/made'], input=code.encode(),
                           check=True)
            with open(place + '/made', 'rb') as f:
                self.made.append(f.read())

    def __call__(self, path, soname, needs=()):
        data = self.made[len(needs)]
        for old, new in [(self.SONAME, soname), (self.SAYS, path)] + list(zip(self.NEEDS, needs)):
            assert data.count(old.encode()) == 1 and len(new) < len(old), (old, new)
            data = data.replace(old.encode(), new.encode().ljust(len(old), b'\0'))
        with open(path, 'wb') as f:
            f.write(data)
        os.chmod(path, 0o755)


class Installed:
    """A driver, installed.  remove() takes its files away again."""
    SOCKET = '/run/nvidia-persistenced/socket'
    # where a container has each of these files, beneath the driver's root
    CONFIGS = {'/usr/share/glvnd/egl_vendor.d/10_nvidia.json': '/usr/share/glvnd/egl_vendor.d/10_nvidia.json',
               '/usr/share/egl/egl_external_platform.d/15_nvidia_gbm.json': '/usr/share/egl/egl_external_platform.d/15_nvidia_gbm.json',
               '/usr/share/vulkan/icd.d/nvidia_icd.json': '/etc/vulkan/icd.d/nvidia_icd.json',
               '/usr/share/nvidia/nvoptix.bin': '/usr/share/nvidia/nvoptix.bin',
               '/etc/OpenCL/vendors/nvidia.icd': '/etc/OpenCL/vendors/nvidia.icd'}
    GRAPHICS = '/opt/nix/store/22222222222222222222222222222222-graphics-drivers'
    GLIBC = '/opt/nix/store/33333333333333333333333333333333-glibc-2.40-66/lib'

    def __init__(self, make, driver, layout):
        self.version, self.name = DRIVERS[driver], layout
        self.root, self.dev, lib = LAYOUTS[layout]
        self.lib = lib.replace('VERSION', self.version)
        self.is_cached = layout not in NOT_CACHED
        self.programs = '/bin' if layout == 'COS' else '/usr/bin'
        if layout == 'NixOS':
            self.programs = '/opt/nix/store/11111111111111111111111111111111-nvidia-x11-bin/bin'
        self.libraries, self.made = libraries(driver), []
        self.firmware = '/lib/firmware/nvidia/%s/gsp_ga10x.bin' % self.version
        for l in self.libraries:
            make(self.new(self.path(l)), l.soname, l.needs)
            if l.soname != l.file:
                self.link(l.file, '%s/%s' % (os.path.dirname(self.path(l)), l.soname))
            if l.dev:
                self.link(l.soname, '%s/%s.so' % (os.path.dirname(self.path(l)), l.stem))
        for p in 'nvidia-smi', 'nvidia-debugdump', 'nvidia-persistenced', 'nvidia-cuda-mps-control', 'nvidia-cuda-mps-server':
            self.file('%s%s/%s' % (self.root, self.programs, p), '#!/bin/sh\n', 0o755)
        for f in [self.firmware] + list(self.CONFIGS):
            self.file(self.root + f, '{}\n')
        with socket.socket(socket.AF_UNIX) as s:
            s.bind(self.new(self.root + self.SOCKET))
        for n in 'nvidia0', 'nvidia1', 'nvidiactl', 'nvidia-uvm', 'nvidia-uvm-tools', 'nvidia-modeset':
            if self.dev:
                os.mknod(self.new('%s/dev/%s' % (self.dev, n)), 0o020666, os.stat('/dev/' + n).st_rdev)
        if layout == "Debian's alternatives":
            self.add_alternatives()
        if layout == 'NixOS':
            self.add_store()

    def add_alternatives(self):
        for l in self.libraries:
            if not l.beneath and l.soname != l.file:
                chosen = '/etc/alternatives/nvidia--%s-x86_64-linux-gnu' % l.soname
                self.link('%s/%s' % (self.lib, l.soname), chosen)
                self.link(chosen, '/usr/lib/x86_64-linux-gnu/' + l.soname)

    def add_store(self):
        """What NixOS has beside the driver's files.  /nix could be made on the machine only, so the store is in /opt here."""
        for l in self.libraries:
            self.link(self.path(l), '%s/lib/%s' % (self.GRAPHICS, l.soname))
        self.link(self.GRAPHICS, '/run/opengl-driver')
        self.file(self.GLIBC + '/libc.so.6')
        # the group nixbld may add entries to the store, but cannot change those of root
        os.chown('/opt/nix/store', 0, 30000)
        os.chmod('/opt/nix/store', 0o1775)

    def path(self, l):
        """Where the library is on the host."""
        return self.root + self.lib + l.beneath + '/' + l.file

    def new(self, path):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if os.path.lexists(path):
            os.unlink(path)
        self.made.append(path)
        return path

    def link(self, target, path):
        os.symlink(target, self.new(path))

    def file(self, path, text='', mode=0o644):
        with open(self.new(path), 'w') as f:
            f.write(text)
        os.chmod(path, mode)

    def remove(self):
        for path in self.made:
            os.unlink(path)
