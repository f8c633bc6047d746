#!/usr/bin/env python3
"""Specs written by hand, as tutorials and bug reports show them.

usage: handspec.py RUNTIME CGROUP    (in tests/lib/sandbox.sh --gpu nvidia-2gpu)

The GPUs and the driver's files are SIMULATED (driverhost.py).
"""
from ctkforms import yaml
from driverhost import Maker
from lib import *
from loads import *

host, tag = able_host()
loads = Loads(host, tag)
make = Maker(W + '/made')
debian, rhel = install(make, 580, 'Debian'), install(make, 580, 'RHEL')
CUDA, ML, RHEL_ML = ['%s/%s.so.%s' % (of.lib, stem, of.version) for of, stem in
                     ((debian, 'libcuda'), (debian, 'libnvidia-ml'), (rhel, 'libnvidia-ml'))]


def mount(of, to, options=('ro', 'nosuid', 'nodev', 'bind')):
    return dict({'hostPath': of, 'containerPath': to}, **{} if options is None else {'options': list(options)})


def spec(edits, device={}):
    """Installs a spec of two GPUs with these edits of all devices, and of each device."""
    nodes = lambda *names: {'deviceNodes': [{'path': '/dev/' + n} for n in names]}
    text = yaml({'cdiVersion': '0.6.0', 'kind': 'nvidia.com/gpu', 'devices': [
        {'name': str(n), 'containerEdits': dict(nodes('nvidia%d' % n), **device)} for n in (0, 1)],
        'containerEdits': dict(nodes('nvidiactl', 'nvidia-uvm'), **edits)})
    return only_spec(lambda where: write(where + '/by-hand.yaml', text))


# Each device has all files, under the names that programs load, and the edits of all devices have none.
spec({}, {'env': ['NVIDIA_VISIBLE_DEVICES=0', 'NVIDIA_DRIVER_CAPABILITIES=compute,utility'],
          'mounts': [mount(CUDA, debian.lib + '/libcuda.so.1'), mount(ML, debian.lib + '/libnvidia-ml.so.1')],
          'hooks': [{'hookName': 'createContainer', 'path': '/usr/bin/nvidia-ctk', 'args': ['hook', 'update-ldcache']}]})
loads.finds('each device has files under their SONAMEs',
            lambda dirs: {'libcuda.so.1': CUDA, 'libcuda.so': CUDA, 'libnvidia-ml.so.1': ML})

# A node's number is another host's: a grant makes the nodes of this host, and validate tells the difference.
path = spec({'mounts': [mount(CUDA, CUDA), mount(ML, ML)],
             'deviceNodes': [{'path': '/dev/nvidia-uvm', 'type': 'c', 'major': 511, 'minor': 0}]})
loads.finds("a number of another host's nvidia-uvm", lambda dirs: {'libcuda.so.1': CUDA, 'libnvidia-ml.so.1': ML})
r = sh(CTL, 'cdi', 'validate', '--host', path)
ok(r.returncode == 65 and '/dev/nvidia-uvm is 510:0 here, and the spec says 511:0' in r.stdout,
   tag + '  validate names both numbers', r.stdout)

# No options, and «ro» alone: other engines make the first mount writable.
spec({'mounts': [mount(CUDA, debian.lib + '/libcuda.so.1', None), mount(RHEL_ML, '/lib64/libnvidia-ml.so.1', ['ro'])]})
loads.finds('mounts without options', lambda dirs: {'libcuda.so.1': CUDA, 'libnvidia-ml.so.1': RHEL_ML})
said = loads.run('Debian', '/bin/grep', r'libcuda\|libnvidia-ml', '/proc/self/mountinfo')
ok(said.count(' ro,') == said.count('\n') > 1, tag + '  all are read-only', said)

# A link says neither which file nor which version will be mounted.
path = spec({'mounts': [mount('/usr/lib64/libcuda.so.1', debian.lib + '/libcuda.so.1')]})
loads.refused('a mount of a link', path, '/usr/lib64/libcuda.so.1 is a symbolic link', without=['--output=' + path, '--output ' + path])

# A static spec for NixOS: directories, in each device and in the edits of all devices, and a variable for the loader.
nixos = install(make, 580, 'NixOS')
VARIABLE, VALUE = 'LD_LIBRARY_PATH', '/usr/local/nvidia/lib:/usr/local/nvidia/lib64'
mounts = {'mounts': [mount(nixos.lib, to) for to in VALUE.split(':')] + [mount(nixos.GLIBC, nixos.GLIBC)]}
path = spec(dict(mounts, env=[VARIABLE + '=' + VALUE]), mounts)
loads.refused('a spec with a variable for the loader', path, VARIABLE, 'env = ')
spec(mounts, mounts)
loads.policy(rest='env = { %s = "%s"; };' % (VARIABLE, VALUE))
loads.finds("  the policy's env in its place",
            lambda dirs: {l.soname: nixos.path(l) for l in nixos.libraries if l.stem in ('libcuda', 'libnvidia-ml')})
done()
