"""CDI specs in the forms that nvidia-ctk 1.14 to 1.20 write.

The forms were read off the tool kit's releases (pkg/nvcdi, internal/discover); the tool kit is not needed.
"""
import json, os, re
from lib import GPU0, GPU1

# The releases that changed the form, and a number by which they are compared
FORMS = {'1.14.6': 1140, '1.15.0': 1150, '1.16.2': 1160, '1.17.0': 1170, '1.17.8': 1178, '1.18.2': 1180, '1.19.1': 1190,
         '1.20.0': 1200, '1.20.2': 1202, '1.20.2 --disable-hook=all': 1202}
# Libraries that not each release lists
SINCE = {'libvdpau_nvidia': 1170, 'libnvidia-nvvm70': 1200, 'libnvidia-egl-wayland': 1160, 'libnvidia-egl-wayland2': 1190,
         'libnvidia-egl-xcb': 1200, 'libnvidia-egl-xlib': 1200}
# Names beside the SONAME by which programs load a library
FURTHER_NAMES = {'libcuda': 'libcuda.so', 'libnvidia-opticalflow': 'libnvidia-opticalflow.so',
                 'libGLX_nvidia': 'libGLX_indirect.so.0'}


class Form:
    """The spec of an installed driver (driverhost.py) in one of these forms."""

    def __init__(self, installed, form):
        self.of, self.at, self.hooked = installed, FORMS[form], 'disable-hook' not in form
        self.libraries = [l for l in installed.libraries if self.at >= SINCE.get(l.stem, 0)]

    def names(self, dirs):
        """Name to path on the host: what programs load in a container whose loader searches these directories.  They open
        plug-ins by a path, in the last of the directories."""
        names = {}
        for l in self.libraries:
            plain = l.soname, l.file, FURTHER_NAMES.get(l.stem, l.soname)
            names.update(dict.fromkeys([dirs[-1] + l.beneath + '/' + l.soname] if l.beneath else plain, self.of.path(l)))
            if l.stem == 'libnvidia-allocator':
                names[dirs[-1] + '/gbm/nvidia-drm_gbm.so'] = self.of.path(l)
        # what the hook would have linked to in those directories
        for target, name in (link.split('::') for link in self.links()):
            if os.path.dirname(name) in dirs and target in names:
                names[os.path.basename(name)] = names[target]
        return names

    def links(self):
        """The links of the create-symlinks hooks, those for graphics first."""
        links = []
        for l in self.libraries if self.hooked and self.at >= 1160 else ():
            if l.stem == 'libnvidia-allocator':
                links.append('../%s::%s/gbm/nvidia-drm_gbm.so' % (l.soname, self.of.lib))
            if l.stem == 'libnvidia-vulkan-producer':
                links.append('%s::%s/%s.so' % (l.file, self.of.lib, l.stem))
        for l in self.libraries if self.hooked and self.at >= 1170 else ():
            where = self.of.lib + l.beneath
            if l.stem == 'libGLX_nvidia':
                links.append('%s::%s/libGLX_indirect.so.0' % (l.file, where))
            ends_in_so = '%s::%s/%s.so' % (l.soname, where, l.stem)
            if l.stem in ('libcuda', 'libnvidia-opticalflow'):
                links.append(ends_in_so)
            if self.at >= 1180 and l.soname != l.file and l.file.endswith(self.of.version):
                links.append('%s::%s/%s' % (l.file, where, l.soname))
            if self.at >= 1180 and l.dev and ends_in_so not in links:
                links.append(ends_in_so)
        return links

    def hook(self, *args, when='createContainer'):
        where = '/usr/local/nvidia/toolkit/' if self.of.root == '/run/nvidia/driver' else '/usr/bin/'
        words = ['nvidia-cdi-hook'] if self.at >= 1160 else ['nvidia-ctk', 'hook']
        h = {'hookName': when, 'path': where + words[0], 'args': words + list(args)}
        return dict(h, env=['NVIDIA_CTK_DEBUG=false']) if self.at >= 1178 else h

    def hooks(self):
        links, folders = self.links(), [self.of.lib, self.of.lib + '/vdpau'] if self.at >= 1170 else [self.of.lib]
        graphics = [l for l in links if '/gbm/' in l or 'vulkan' in l]
        hooks = [self.hook('create-symlinks', *[w for l in some for w in ('--link', l)])
                 for some in (graphics, [l for l in links if l not in graphics]) if some]
        if self.at >= 1178:
            hooks += [self.hook('enable-cuda-compat', '--host-driver-version=' + self.of.version)]
        hooks += [self.hook('update-ldcache', *[w for f in folders for w in ('--folder', f)])]
        if self.at >= 1180:
            hooks += [self.hook('disable-device-node-modification')]
        if self.at >= 1200:
            hooks += [self.hook('update-application-profile')]
        return hooks

    def mounts(self):
        of, options = self.of, ['ro', 'nosuid', 'nodev'] + (['rbind', 'rprivate'] if self.at >= 1180 else ['bind'])
        files = [(of.path(l), of.lib + l.beneath + '/' + l.file) for l in self.libraries]
        files += [(of.root + f, f) for f in [of.firmware] + [of.programs + p for p in ('/nvidia-smi', '/nvidia-debugdump')]]
        files += [(of.root + f, to) for f, to in of.CONFIGS.items() if self.at >= 1200 or 'OpenCL' not in f]
        mounts = [{'hostPath': f, 'containerPath': to, 'options': options} for f, to in files]
        # a socket is writable since 1.19
        mounts += [{'hostPath': of.root + of.SOCKET, 'containerPath': of.SOCKET,
                    'options': [o for o in options if o != 'ro' or self.at < 1190] + ['noexec']}]
        if of.name == 'NixOS':      # added by its module
            mounts += [{'hostPath': f, 'containerPath': to, 'options': ['ro', 'nosuid', 'nodev', 'bind']} for f, to in (
                ('/run/opengl-driver', '/run/opengl-driver'), (of.GLIBC, of.GLIBC), (of.lib, '/usr/local/nvidia/lib'),
                (of.lib, '/usr/local/nvidia/lib64'), (of.programs + '/nvidia-smi', '/usr/bin/nvidia-smi'))]
        if self.at >= 1202:         # tells NVIDIA's runtime that the devices are there already
            mounts += [{'hostPath': '/dev/null', 'containerPath': '/var/run/nvidia-container-devices/void',
                        'options': options}]
        return mounts

    def node(self, name):
        node = {'path': '/dev/' + name}
        if self.of.dev:
            node['hostPath'] = '%s/dev/%s' % (self.of.dev, name)
        if self.at >= 1190:
            number = os.stat('/dev/' + name).st_rdev
            minor = {'minor': os.minor(number)} if os.minor(number) else {}
            node = dict(node, major=os.major(number), **minor, fileMode=0o666, permissions='rwm')
        return node

    def spec(self):
        """The spec as a dictionary."""
        env = [(1180, 'NVIDIA_CTK_LIBCUDA_DIR=' + self.of.lib), (1150, 'NVIDIA_VISIBLE_DEVICES=void')]
        edits = {'env': [e for since, e in env if self.at >= since],
                 'deviceNodes': [self.node(n) for n in ('nvidia-modeset', 'nvidia-uvm', 'nvidia-uvm-tools', 'nvidiactl')],
                 'hooks': self.hooks() if self.hooked else [], 'mounts': self.mounts()}
        gpus = [{'deviceNodes': [self.node(n)]} for n in ('nvidia0', 'nvidia1')]
        for g, uuid in zip(gpus if self.hooked and self.at >= 1202 else [], (GPU0, GPU1)):
            g['hooks'] = [self.hook('apply-cuda-memory-limits', '--driver-root', self.of.root, '--gpu-id', uuid,
                                    when='createRuntime')]
        named = list(zip(('0', '1'), gpus)) + [('all', {k: [x for g in gpus for x in g[k]] for k in gpus[0]})]
        if self.at >= 1150:
            named += zip((GPU0, GPU1), gpus)
        return {'cdiVersion': '0.5.0', 'kind': 'nvidia.com/gpu', 'devices': [{'name': n, 'containerEdits': g} for n, g in named],
                'containerEdits': {k: v for k, v in edits.items() if v}}

    def write(self, where):
        """Writes the spec into that directory as the tool kit does: in YAML, and in JSON on NixOS."""
        nixos = self.of.name == 'NixOS'
        path = where + ('/nvidia-container-toolkit.json' if nixos else '/nvidia.yaml')
        os.makedirs(where, exist_ok=True)
        with open(path, 'w') as f:
            f.write(json.dumps(self.spec()) if nixos else '---\n' + yaml(self.spec()))
        os.chmod(path, 0o644)
        return path


def yaml(value, indent=0):
    """YAML in the style of Go's library: most strings without quotes."""
    pad, text = ' ' * indent, ''
    if isinstance(value, dict):
        for k, v in value.items():
            inner = '\n' + yaml(v, indent + 4) if isinstance(v, (dict, list)) else ' %s\n' % scalar(v)
            text += '%s%s:%s' % (pad, k, inner)
        return text
    for v in value:
        text += pad + '- ' + (yaml(v, indent + 2)[indent + 2:] if isinstance(v, dict) else scalar(v) + '\n')
    return text


def scalar(value):
    plain = isinstance(value, int) or re.fullmatch(r'[-A-Za-z/.][-A-Za-z0-9/._=:]*|\d+\.\d+\.\d+', value)
    return str(value) if plain and value not in ('true', 'false', 'null', '-') else json.dumps(value)
