#!/usr/bin/env python3
"""Driver files from CDI specs: what a container gets of them, and which specs are refused.

usage: driver.py RUNTIME CGROUP    (in tests/lib/sandbox.sh --gpu nvidia-2gpu)

The GPUs and the driver's files are SIMULATED: libcuda and libnvidia-ml are small libraries of the test, with the real
names, SONAMEs and places.  The program that loads them and its loader are real, in an image made of this machine's C
library.  A real RHEL image is not available: its stand-in has the same C library, with the loader's default
directories (constants in the library) changed to RHEL's.
"""
import json, os, re, shutil, subprocess, sys
from lib import *

host, tag = able_host()
TRAIN = ['BUILD_TEAM_NAME=ml', 'BUILD_PIPELINE_NAME=train', 'GPUHELPER_GPUS=1']
VERSION = re.search(r'(\d{3}\.\d+\.\d+)', open('/proc/driver/nvidia/version').read()).group(1)
DRIVER = '/usr/lib/gpu-driver'
DEBIAN, RHEL = '/usr/lib/x86_64-linux-gnu', '/usr/lib64'
OPTIONS = ['ro', 'nosuid', 'nodev', 'rbind', 'rprivate']


def policy(rule='vendor = "nvidia";', rest=''):
    host.policies(t10='pipeline = "ml/train";\nidentity = "claim";\ngpus = ( { %s } );\n%s\n' % (rule, rest))


def library(stem, version, text):
    """A library with one function, which returns the library's name."""
    path = '%s/%s.so.%s' % (DRIVER, stem, version)
    os.makedirs(DRIVER, exist_ok=True)
    c = write(W + '/lib.c', 'const char *driver_says(void); const char *driver_says(void) { return "%s"; }\n' % text)
    subprocess.check_call(['cc', '-shared', '-fPIC', '-Wl,-soname,%s.so.1' % stem, '-o', path, c])
    return path


cuda, ml = library('libcuda', VERSION, 'cuda ' + VERSION), library('libnvidia-ml', VERSION, 'ml')
encode = library('libnvidia-encode', VERSION, 'encode')
small = shutil.copy(cuda, DRIVER + '/small-libcuda.so.' + VERSION)     # stands in for a 32-bit library
smi = write(DRIVER + '/nvidia-smi', '#!/bin/sh\necho smi\n', 0o755)
mps = write(DRIVER + '/nvidia-cuda-mps-control', '#!/bin/sh\n', 0o755)


def mounts(of, name):
    return [{'hostPath': of, 'containerPath': d + '/' + name, 'options': OPTIONS} for d in (DEBIAN, RHEL)]


def device(name, *nodes, **more):
    return {'name': name, 'containerEdits': dict({'deviceNodes': [{'path': n} for n in nodes]}, **more)}


HOOK = write('/usr/libexec/gpu-hook', '#!/bin/sh\nread -r state\n{ env; echo "args $*"; } > %s/hooked\n' % W, 0o755)
write(W + '/hooked', '', 0o666)


def spec(devices=None, edits=None, file='/etc/cdi/nvidia.json', mode=0o644, kind='nvidia.com/gpu', **more):
    """Installs only this spec, whose devices have another order than the GPUs."""
    for d in '/etc/cdi', '/run/cdi':
        shutil.rmtree(d, ignore_errors=True)
    edits = edits if edits is not None else {
        'env': ['NVIDIA_VISIBLE_DEVICES=void', 'DRIVER_IS=' + VERSION],
        'deviceNodes': [{'path': '/dev/nvidiactl'}, {'path': '/dev/nvidia-uvm'}],
        'mounts': mounts(cuda, 'libcuda.so.1') + mounts(ml, 'libnvidia-ml.so.1') + mounts(encode, 'libnvidia-encode.so.1') +
        [{'hostPath': smi, 'containerPath': '/usr/bin/nvidia-smi', 'options': OPTIONS},
         {'hostPath': small, 'containerPath': '/usr/lib/i386-linux-gnu/libcuda.so.1', 'options': OPTIONS},
         {'hostPath': mps, 'containerPath': '/usr/bin/nvidia-cuda-mps-control', 'options': OPTIONS}],
        'hooks': [{'hookName': 'createContainer', 'path': HOOK, 'args': ['gpu-hook', 'one'], 'env': ['HOOK=1', 'PATH=/bin:/usr/bin']}]}
    devices = devices if devices is not None else [device('0', '/dev/nvidia1'), device('1', '/dev/nvidia0'),
                                                   device('all', '/dev/nvidia0', '/dev/nvidia1')]
    return write(file, json.dumps(dict({'cdiVersion': '0.6.0', 'kind': kind, 'containerEdits': edits, 'devices': devices},
                                       **more)), mode)


def refused(name, *words, **kw):
    """The container is refused with these words in one line, and the attempt leaves nothing."""
    before, b = leases(), Fresh(host, env=kw.pop('env', TRAIN), args=['/bin/true'], **kw)
    config = b.config()
    r = b.run()
    ok(r.returncode != 0 and all(w in r.stdout for w in words) and leases() == before and b.config() == config, tag + name, r.stdout)


glibc_image(W + '/vol/glibc')
glibc_image(W + '/vol/glibc-rhel', rhel=True)
policy()
spec()
b = Fresh(host, env=TRAIN)
b.start()
r = b.exec('/bin/prog libcuda.so.1 libnvidia-ml.so.1 libnvidia-encode.so.1; echo; ls /usr/bin /usr/lib64; ls /usr/lib/i386-linux-gnu; '
           'echo x > /usr/lib64/libcuda.so.1; id -u; cat /proc/self/mountinfo; env').stdout
said, _, rest = r.partition('\n\n')
ok('libcuda.so.1: cuda ' + VERSION in said and 'libnvidia-ml.so.1: ml' in said, tag + "the image's own loader finds the driver", said)
ok('libnvidia-encode.so.1: libnvidia-encode.so.1: cannot open' in said, tag + 'without the capability «video» its library is missing', said)
ok('nvidia-smi' in rest and 'libcuda.so.1\n' in rest and 'libnvidia-encode' not in rest, tag + 'the program is there, and so is other distributions\' library directory', rest[:500])
ok('mps' not in rest and 'i386-linux-gnu: No such file' in rest, tag + 'MPS and 32-bit libraries, which the policy does not name, are missing', rest[:500])
ok('Read-only file system' in rest, tag + 'no driver file can be written', rest[:500])
flags = [l.split()[5] for l in r.splitlines() if ' /usr/lib64/libcuda.so.1 ' in l]
ok(flags and all(set(f.split(',')) >= {'ro', 'nosuid', 'nodev'} for f in flags), tag + 'the driver files are mounted ro, nosuid, nodev', flags)
ok('DRIVER_IS=' + VERSION in r and 'NVIDIA_VISIBLE_DEVICES=void' in r, tag + "the spec's variables are set, in an exec, too")
ok(not os.path.getsize(W + '/hooked') and json.loads(b.config()).get('hooks') == json.loads(b.text).get('hooks'), tag + 'the spec\'s hooks do not run')
granted = [record for record in audit() if record['event'] == 'grant'][-1]
ok(granted['cdi_specs'] == ['/etc/cdi/nvidia.json'] and 'folders' not in granted, tag + 'the audit log names the spec', granted)
ok(granted['nodes'][0] == '/dev/nvidia0', tag + 'the audit log names the nodes', granted)
b.delete()

CTL = '/usr/sbin/gpuhelperctl'
EXPLAIN = CTL, 'explain', '--identity', 'claim', '--pipeline', 'ml/train', '--gpus', '1'
r = sh(CTL, 'devices')
ok('CDI device nvidia.com/gpu=1\n' in r.stdout.split('nvidia 1 ')[0] and 'CDI device nvidia.com/gpu=0\n' in r.stdout.split('nvidia 1 ')[1]
   and 'gpu=all' not in r.stdout, tag + 'gpuhelperctl devices shows the CDI device of each GPU', r.stdout)
r = sh(*EXPLAIN)
ok(r.returncode == 0 and 'CDI spec /etc/cdi/nvidia.json' in r.stdout, tag + 'explain names the spec of the files', r.stdout)
os.rename(cuda, cuda + '.gone')
r, c = sh(*EXPLAIN), sh(CTL, 'check')
os.rename(cuda + '.gone', cuda)
ok(r.returncode == 78 and 'refused: CDI spec' in r.stdout and 'is not there' in r.stdout, tag + 'explain says that a file of the spec is missing', r.stdout)
ok('a request would be refused' in c.stdout and 'cdi generate' in c.stdout, tag + 'check says so, too, with the command that renews the spec', c.stdout)

b = Fresh(host, env=TRAIN, image=W + '/vol/glibc-rhel', args=['/bin/prog', 'libcuda.so.1', 'libnvidia-ml.so.1'])
r = b.run().stdout
ok('libcuda.so.1: cuda ' + VERSION in r and 'libnvidia-ml.so.1: ml' in r, tag + "a loader with RHEL's directories finds it, too", r)
# a library whose other names are unknown is only at the place where the spec mounts it
unknown = shutil.copy(cuda, DRIVER + '/libmakers-own.so.1')
spec(edits={'mounts': [m for m in mounts(unknown, 'libmakers-own.so.1') if RHEL not in m['containerPath']]})
shutil.rmtree(W + '/vol/glibc-rhel')
glibc_image(W + '/vol/glibc-rhel', rhel=True)
b = Fresh(host, env=TRAIN, image=W + '/vol/glibc-rhel', args=['/bin/prog', 'libmakers-own.so.1'])
r = b.run().stdout
ok('libmakers-own.so.1: libmakers-own.so.1: cannot open' in r, tag + "a loader with RHEL's directories does not search Debian's", r)
spec()

policy('vendor = "nvidia"; capabilities = [ "video", "compat32" ]; mps = true;')
b = Fresh(host, env=TRAIN)
b.start()
r = b.exec('/bin/prog libcuda.so.1 libnvidia-encode.so.1; ls /usr/bin /usr/lib/i386-linux-gnu').stdout
ok('libnvidia-encode.so.1: encode' in r and 'libcuda.so.1: libcuda.so.1: cannot' in r and 'nvidia-smi' not in r and 'nvidia-cuda-mps-control' in r,
   tag + 'other capabilities give other files; mps = true gives MPS', r)
b.delete()
policy('vendor = "nvidia"; capabilities = [ "compute", "compat32" ];')
b = Fresh(host, env=TRAIN)
b.start()
ok('libcuda' in b.exec('ls /usr/lib/i386-linux-gnu').stdout, tag + 'compat32 gives 32-bit libraries')
b.delete()

# /lib is a link on most hosts, but nvidia-ctk writes /lib/firmware/...
os.makedirs('/srv/links')
for name, to in ('down', '../links/up'), ('up', '../../usr/lib'), ('across', '/lib'):
    os.symlink(to, '/srv/links/' + name)
for way in '/lib', '/srv/links/up', '/srv/links/down', '/srv/links/across':
    spec(edits={'mounts': mounts(way + cuda[len('/usr/lib'):], 'libcuda.so.1')})
    b = Fresh(host, env=TRAIN, args=['/bin/prog', 'libcuda.so.1'])
    r = b.run()
    ok(r.stdout.startswith('libcuda.so.1: cuda ' + VERSION), tag + 'a file whose path contains a link to a directory: ' + way, r.stdout)
os.chmod('/srv/links', 0o777)
refused('a file behind a link that others could change', '/srv/links', 'others than root can change')
os.chmod('/srv/links', 0o755)
spec()

# hooks
host.settings('cdi_hooks = "allow";')
policy()
b = Fresh(host, env=TRAIN, edit=lambda s: s.update(hooks={'poststop': [{'path': '/bin/true'}]}))
b.start()
hooked = open(W + '/hooked').read()
ok('HOOK=1' in hooked and 'args one' in hooked and not re.search('^(HOME|USER|LANG|SUDO|BUILD|GPUHELPER|LD)', hooked, re.M),
   tag + 'cdi_hooks = "allow": the hooks run, with the spec\'s environment', hooked)
ok(list(json.loads(b.config())['hooks']) == ['poststop', 'createContainer'], tag + "the engine's own hooks run, too", b.config()[-300:])
b.delete()
os.chmod(HOOK, 0o777)
refused('a hook that others can change', 'hook ' + HOOK, 'changed by others')
os.chmod(HOOK, 0o755)
one = {'hookName': 'createContainer', 'path': HOOK, 'args': ['gpu-hook'], 'env': ['HOOK=1']}
for what, words, more in (('257 hooks', 'more than 256 hooks', {'hooks': [one] * 257}),
                          ('a hook with 1025 arguments', 'more than 1024 arguments', {'hooks': [dict(one, args=['x'] * 1025)]}),
                          ('1025 variables', 'more than 1024 variables', {'env': ['V%d=1' % n for n in range(1025)]})):
    spec(edits=more)
    refused('a spec with ' + what, '/etc/cdi/nvidia.json', words)
spec()
host.settings()

# GPUs by the spec's names
policy('vendor = "nvidia.com/gpu"; devices = [ "0" ];')
b = Fresh(host, env=TRAIN)
b.start()
r = b.exec('ls /dev; /bin/prog libcuda.so.1').stdout
ok('nvidia1' in r and 'nvidia0' not in r and 'cuda ' + VERSION in r, tag + 'a rule for a CDI kind: the device\'s node identifies the GPU', r)
refused('a GPU that was granted by its device\'s name is leased', 'taken by')
b.delete()
policy('vendor = "nvidia.com/gpu"; devices = [ "0" ];')
refused('another device of the same kind', 'does not give', env=TRAIN[:2] + ['GPUHELPER_GPUS=nvidia.com/gpu=1'])
policy()
b = Fresh(host, env=TRAIN[:2] + ['GPUHELPER_GPUS=nvidia.com/gpu=1'])
b.start()
r = b.exec('ls /dev').stdout
ok('nvidia0' in r and 'nvidia1' not in r, tag + 'a container can request a GPU by its CDI name', r)
b.delete()
policy('vendor = "nvidia.com/gpu"; devices = [ "9" ];')
refused('a device that no spec has', 'nvidia.com/gpu', 'gpuhelperctl cdi list')
policy('vendor = "acme.com/gpu";')
refused('a kind that no spec has', 'acme.com/gpu')

# Further nodes in a spec.  SIMULATED: sysfs's information on a node's device, and that such drivers are loaded.
def drivers(text):
    devices = open('/proc/devices').read()
    write('/proc/devices', devices.replace('\nBlock', text + '\nBlock'), 0o444)


def in_sysfs(major, minor, pci='', place='', pci_class='0x030200'):
    here = '/sys/dev/char/%d:%d' % (major, minor)
    if pci:
        os.makedirs(here)
        os.makedirs('/sys/dev/char/%s/%s' % (pci_class, pci), exist_ok=True)
        write('/sys/dev/char/%s/%s/class' % (pci_class, pci), pci_class + '\n')
        os.symlink('../%s/%s' % (pci_class, pci), here + '/device')
    else:
        os.symlink('../../devices/' + place, here)


def without_sysfs(s):
    """Mounts a second sysfs: the kernel lets a user namespace mount one only if it sees one that nothing covers."""
    s['mounts'] = [m for m in s['mounts'] if not m['destination'].startswith('/sys')]


sh('mount', '-t', 'tmpfs', 'char', '/sys/dev/char')
drivers('240 acme\n')
os.mknod('/dev/gpu-extra', 0o20666, os.makedev(240, 7))
os.mknod('/dev/gpu-closed', 0o20600, os.makedev(240, 8))
in_sysfs(240, 7, pci='0000:3b:00.0')
in_sysfs(240, 8, pci='0000:3b:00.0')
spec(kind='acme.com/card', devices=[device('x', '/dev/nvidia0', '/dev/gpu-extra')], edits={'env': ['A=1']})
policy('vendor = "acme.com/card";')
b = Fresh(host, env=TRAIN, edit=without_sysfs)
b.start()
r = b.exec('ls -l /dev; (: < /dev/gpu-extra); (: < /dev/nvidia0)').stdout
ok(re.search(r'240, +7 .*gpu-extra', r) and r.count('No such device or address') == 2, tag + "a spec's further node of the same PCI device is opened, too", r)
b.delete()
policy('vendor = "nvidia";')
b = Fresh(host, env=TRAIN, edit=without_sysfs)
b.start()
ok('gpu-extra' not in b.exec('ls /dev').stdout, tag + 'a rule for a plain vendor takes only files from a spec')
b.delete()
policy('vendor = "acme.com/card";')
spec(kind='acme.com/card', devices=[device('x', '/dev/nvidia0', '/dev/gpu-closed')], edits={'env': ['A=1']})
b = Fresh(host, env=TRAIN, edit=without_sysfs)
b.start()
r = b.exec('(: < /dev/gpu-closed)').stdout + sh('getfacl', '-cn', '/dev/gpu-closed').stdout
ok('No such device' in r and 'user:4294967294:rw-' in r, tag + 'a closed further node is opened by an ACL entry of the lease', r)
b.delete()
ok(sh('getfacl', '-cnp', '/dev/gpu-closed').stdout.split() == ['user::rw-', 'group::---', 'other::---'], tag + '  the entry ends with the lease', sh('getfacl', '-cn', '/dev/gpu-closed').stdout)
spec(kind='acme.com/card', devices=[device('x', '/dev/nvidia0')], edits={'deviceNodes': [{'path': '/dev/nvidia1'}]})
refused("another GPU's node for all", '/dev/nvidia1', '0000:')
for bad, words in (({'path': '/dev/a', 'hostPath': '/dev/gpu-extra'}, 'hostPath'), ({'path': '/dev/none'}, 'is not there'),
                   ({'path': '/dev/gpu-extra', 'type': 'c', 'major': 240, 'minor': 9}, '240:9'), ({'path': '/dev/stdin'}, 'symbolic link'),
                   ({'path': '/dev/fd'}, 'not a character device'),
                   ({'path': '/dev/shm'}, 'not a character device'), ({'path': '/dev/gpu-extra', 'permissions': 'r'}, 'permissions')):
    spec(kind='acme.com/card', devices=[device('x', '/dev/nvidia0')], edits={'deviceNodes': [bad]})
    refused('a further node: ' + json.dumps(bad), words)

# one GPU by two names of a CDI kind
two = dict(kind='acme.com/card', devices=[device('a', '/dev/nvidia0', '/dev/gpu-extra', env=['IS=a']), device('b', '/dev/nvidia0', env=['IS=b'])])
spec(edits={'env': ['A=1']}, **two)
for name in 'b', 'a':
    policy('vendor = "acme.com/card"; devices = [ "%s" ];' % name)
    b = Fresh(host, env=TRAIN, args=['/bin/sh', '-c', 'ls /dev; env'], edit=without_sysfs)
    r = b.run().stdout
    ok('IS=' + name in r and ('gpu-extra' in r) == (name == 'a'), tag + 'one GPU by two names of a kind: the nodes and variables of %s, which the rule names' % name, r)

# nodes of GPUs that the vendor's own interface does not show
os.makedirs('/dev/dri', exist_ok=True)
os.makedirs('/dev/nvidia-caps', exist_ok=True)
for n, pci in enumerate(('0000:3b:00.0', '0000:af:00.0', '0000:03:00.0')):
    os.mknod('/dev/dri/card%d' % n, 0o20666, os.makedev(226, n))
    in_sysfs(226, n, pci=pci)
os.mknod('/dev/dri/disk', 0o20666, os.makedev(240, 11))
in_sysfs(240, 11, pci='0000:3b:00.0', pci_class='0x010802')
os.mknod('/dev/dri/card3', 0o20666, os.makedev(226, 3))
os.mknod('/dev/nvidia7', 0o20666, os.makedev(195, 7))
os.mknod('/dev/nvidia-caps/nvidia-cap1', 0o20444, os.makedev(235, 1))
policy('vendor = "acme.com/card"; devices = [ "x" ];')
spec(kind='acme.com/card', devices=[device('x', '/dev/nvidia0', '/dev/dri/card0')], edits={'env': ['A=1']})
b = Fresh(host, env=TRAIN, args=['/bin/ls', '/dev/dri'], edit=without_sysfs)
r = b.run()
ok(r.returncode == 0 and without_warning(r.stdout).split() == ['card0'], tag + "the GPU's own card is a further node", r.stdout)
for node, what in (('/dev/dri/card1', "another GPU's card"), ('/dev/dri/card2', 'the card of a device that is no GPU'), ('/dev/dri/card3', 'a card of an unknown device'),
                   ('/dev/dri/disk', "a disk that has the GPU's address"),
                   ('/dev/nvidia7', 'a GPU that the driver does not list'), ('/dev/nvidia-caps/nvidia-cap1', 'the node that changes MIG instances')):
    for where in 'device', 'spec':
        spec(kind='acme.com/card', devices=[device('x', '/dev/nvidia0', *([node] if where == 'device' else []))],
             edits={'env': ['A=1'], 'deviceNodes': [{'path': node}] if where == 'spec' else []})
        refused('a further node of the %s: %s' % (where, what), node, '0000:3b:00.0', edit=without_sysfs)

# nodes of other drivers: refused by default, a few allowed by a policy
WORDED = {'/dev/gdrdrv': (237, 0, 'gdrdrv'), '/dev/nvidia-fs0': (238, 0, 'nvidia-fs'), '/dev/nvidia-caps-imex-channels/channel0': (236, 0, 'imex'),
          '/dev/infiniband/uverbs0': (231, 192, 'infiniband'), '/dev/infiniband/rdma_cm': (10, 59, 'infiniband')}
OTHERS = {'/dev/vfio/12': (511, 12), '/dev/nvidia-nvlink': (234, 0), '/dev/ng0n1': (239, 0), '/dev/gpu-bsg': (248, 0), '/dev/gpu-input': (13, 64),
          '/dev/hidraw0': (243, 0), '/dev/gpu-uinput': (10, 223), '/dev/kvm': (10, 232), '/dev/infiniband/umad0': (231, 0), '/dev/infiniband/alias': (231, 193),
          '/dev/tpm1': (252, 65536), '/dev/i2c-0': (89, 0), '/dev/nobody': (253, 0)}
drivers(''.join('%d %s\n' % d for d in ((13, 'input'), (89, 'i2c'), (231, 'infiniband_mad'), (231, 'infiniband_verbs'), (237, 'gdrdrv'), (238, 'nvidia-fs'),
                                        (239, 'nvme-generic'), (243, 'hidraw'), (248, 'bsg'), (252, 'tpm'), (511, 'vfio'))))
for path, (major, minor) in [(p, v[:2]) for p, v in list(WORDED.items()) + list(OTHERS.items())]:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    os.mknod(path, 0o20666, os.makedev(major, minor))
in_sysfs(231, 192, place='pci0000:00/0000:17:00.0/infiniband_verbs/uverbs0')
in_sysfs(231, 0, place='pci0000:00/0000:17:00.0/infiniband_mad/umad0')
in_sysfs(10, 59, place='virtual/misc/rdma_cm')
in_sysfs(10, 232, place='virtual/misc/kvm')
in_sysfs(511, 12, place='virtual/vfio/12')
ALL = 'nodes = [ "gdrdrv", "nvidia-fs", "infiniband", "imex" ];'


def further(node):
    spec(kind='acme.com/card', devices=[device('x', '/dev/nvidia0', node)], edits={'env': ['A=1']})


for node, (major, minor, word) in WORDED.items():
    further(node)
    policy('vendor = "acme.com/card";')
    refused('a further node of another driver: ' + node, node, '/etc/cdi/nvidia.json', 'nodes = [ "%s" ]' % word, edit=without_sysfs)
    policy('vendor = "acme.com/card"; %s' % ALL.replace('"%s"' % word, '"gdrdrv"' if word != 'gdrdrv' else '"imex"'))
    refused('  other words of nodes do not open it', node, 'nodes = [ "%s" ]' % word, edit=without_sysfs)
    policy('vendor = "acme.com/card"; nodes = [ "%s" ];' % word)
    b = Fresh(host, env=TRAIN, args=['/bin/sh', '-c', ': < ' + node], edit=without_sysfs)
    r = b.run()
    ok('No such device' in r.stdout or (major == 10 and 'not permitted' not in r.stdout and 'gpuhelper' not in r.stdout), tag + '  the word %s opens it' % word, r.stdout)
policy('vendor = "acme.com/card"; ' + ALL)
for node in OTHERS:
    further(node)
    refused('a node that no policy can grant: ' + node, node, '/etc/cdi/nvidia.json', edit=without_sysfs)
further('/dev/vfio/12')
refused('  the refusal names the node\'s driver', '/dev/vfio/12 (511:12)', 'driver vfio', 'GPU 0000:3b:00.0', 'no policy', edit=without_sysfs)
further('/dev/vfio/12')
r, c = sh(*EXPLAIN), sh(CTL, 'check')
ok('refused: CDI spec' in r.stdout and 'driver vfio' in r.stdout and 'driver vfio' in c.stdout, tag + '  explain and check name the driver, too', r.stdout + c.stdout)
further('/dev/gdrdrv')
ok('nodes: these containers can reach other hosts by InfiniBand' in c.stdout, tag + 'check warns that a fabric node gives more than a policy can limit', c.stdout)
r = sh(*EXPLAIN)
ok(r.returncode == 0 and '/dev/gdrdrv' in r.stdout and 'would fail' not in r.stdout, tag + 'explain lists the further nodes', r.stdout)
os.mknod('/dev/nvidia-modeset-alias', 0o20666, os.makedev(195, 254))
os.mknod('/dev/uvm', 0o20666, os.makedev(510, 0))
further('/dev/uvm')
policy('vendor = "acme.com/card";')
b = Fresh(host, env=TRAIN, args=['/bin/sh', '-c', ': < /dev/uvm'], edit=without_sysfs)
r = b.run()
ok('No such device' in r.stdout, tag + "a further node of the GPU's driver that belongs to no single GPU", r.stdout)
further('/dev/nvidia-modeset-alias')
for caps in 'compute', 'display':
    policy('vendor = "acme.com/card"; capabilities = [ "%s" ];' % caps)
    b = Fresh(host, env=TRAIN, args=['/bin/ls', '/dev'], edit=without_sysfs)
    r = b.run()
    ok(r.returncode == 0 and ('nvidia-modeset-alias' in r.stdout) == (caps == 'display'), tag + '  nvidia-modeset only for displays: ' + caps, r.stdout)
sh('umount', '/sys/dev/char')
os.mknod('/dev/memory', 0o20666, os.makedev(1, 1))
spec(kind='acme.com/card', devices=[device('x', '/dev/nvidia0', '/dev/memory')], edits={'env': ['A=1']})
refused("a further node: the host's memory by another name", '/dev/memory', "the host's memory")
policy()

# variables that a vendor's runtime below would take for a request
ASKS = ['NVIDIA_VISIBLE_DEVICES=all', 'NVIDIA_DRIVER_CAPABILITIES=all', 'AMD_VISIBLE_DEVICES=all', 'NVIDIA_MIG_CONFIG_DEVICES=all', 'NVIDIA_IMEX_CHANNELS=0']
spec(edits={'env': ASKS + ['HARMLESS=1']})
b = Fresh(host, env=TRAIN, args=['/bin/env'])
r = b.run().stdout.split('\n')
ok('HARMLESS=1' in r and 'NVIDIA_VISIBLE_DEVICES=void' in r and not set(ASKS) & set(r), tag + "a spec's variables that a vendor's runtime would take for a request are left out", r)

# specs that must not be trusted
os.symlink('/etc', '/srv/by-another-name')
spec(edits={'mounts': [{'hostPath': '/srv/by-another-name/shadow', 'containerPath': '/x'}]})
refused("a mount of /etc/shadow behind a link", '/srv/by-another-name/shadow', '/etc/shadow')
policy()
spec(mode=0o666)
refused('a spec that others can change', '/etc/cdi/nvidia.json', 'written by others')
spec(mode=0o744)
refused('a spec that is executable', '/etc/cdi/nvidia.json', 'is executable')
spec()
os.chown('/etc/cdi', MAXID, 0)
refused("a spec in a directory that is not root's", '/etc/cdi')
os.chown('/etc/cdi', 0, 0)
spec(edits={'mounts': [{'hostPath': '/etc/shadow', 'containerPath': '/x'}]})
refused('a spec with an unsafe mount', '/etc/cdi/nvidia.json', '/etc/shadow')
os.makedirs('/etc/some.d')
spec(edits={'mounts': [{'hostPath': '/etc/some.d', 'containerPath': '/x', 'options': ['bind', 'rw']}]})
refused("a spec with a writable mount in /etc", '/etc/cdi/nvidia.json', "/etc is the host's own")
spec(edits={'mounts': [{'hostPath': '/srv/by-another-name/some.d', 'containerPath': '/x', 'options': ['bind', 'rw']}]})
refused('a spec with a writable mount in /etc behind a link', '/srv/by-another-name/some.d', "/etc/some.d: /etc is the host's own")
spec(edits={'mounts': [{'hostPath': '/srv/by-another-name/some.d', 'containerPath': '/x', 'options': ['bind', 'ro']}]})
ok(Fresh(host, env=TRAIN, args=['/bin/ls', '-d', '/x']).run().returncode == 0, tag + 'a read-only mount in /etc behind a link is allowed')
write('/etc/cdi/nvidia.json', '{ "cdiVersion": "0.6.0", ')
refused('a spec that does not parse', '/etc/cdi/nvidia.json:1')
old = {'mounts': mounts(library('libcuda', '570.1.1', 'old'), 'libcuda.so.1')}
by_ctk = dict(old, env=['NVIDIA_VISIBLE_DEVICES=void'], hooks=[{'hookName': 'createContainer', 'path': '/usr/bin/nvidia-cdi-hook',
                                                                'args': ['nvidia-cdi-hook', 'update-ldcache'], 'env': ['A=1']}])
ANEW = 'mend it, or move it to another directory and write a spec anew: gpuhelperctl cdi generate --vendor nvidia --output /etc/cdi/gpuhelper-nvidia.json'
spec(file='/etc/cdi/nvidia.yaml', edits=by_ctk)
refused('a spec of another driver than the loaded one', 'NVIDIA driver 570.1.1, and %s is loaded' % VERSION, ': nvidia-ctk cdi generate --output=/etc/cdi/nvidia.yaml')
spec(file='/etc/cdi/nvidia.yaml', edits=old)
refused('the same, written by hand: no command overwrites it', 'NVIDIA driver 570.1.1, and %s is loaded: %s' % (VERSION, ANEW))
spec(edits={'mounts': mounts(DRIVER + '/gone.so.1', 'gone.so.1')})
refused('a spec with a missing file', 'gone.so.1 is not there', 'was the driver changed since? ' + ANEW)
spec(file='/etc/cdi/gpuhelper-nvidia.json', edits={'mounts': mounts(DRIVER + '/gone.so.1', 'gone.so.1')})
refused('a spec of gpuhelperctl with a missing file', 'changed since? gpuhelperctl cdi generate --vendor nvidia --output /etc/cdi/gpuhelper-nvidia.json')
spec(edits={'mounts': [{'hostPath': 'tmpfs', 'containerPath': '/scratch', 'type': 'tmpfs', 'options': ['mode=0755']}]})
refused('a spec with a mount that is no bind mount', '/scratch is of type tmpfs: only bind mounts are made')
spec(edits=dict(by_ctk, mounts=mounts(cuda, 'libcuda.so.1'), hooks=[dict(by_ctk['hooks'][0], path='nvidia-cdi-hook')]))
ok(Fresh(host, env=TRAIN, args=['/bin/true']).run().returncode == 0, tag + 'a hook with a relative path does not matter while hooks do not run')
os.symlink(cuda, DRIVER + '/link.so')
spec(edits={'mounts': mounts(DRIVER + '/link.so', 'link.so')})
refused('a spec with a file that is a link', 'link.so is a symbolic link')
os.symlink(DRIVER, '/srv/driver-link')      # as NixOS's /run/opengl-driver
path = spec(edits={'mounts': [{'hostPath': '/srv/driver-link', 'containerPath': '/opt/driver', 'options': OPTIONS}]})
r, v = Fresh(host, env=TRAIN, args=['/bin/ls', '/opt/driver']).run(), sh(CTL, 'cdi', 'validate', '--host', path)
ok(os.path.basename(cuda) in r.stdout and v.returncode == 0, tag + 'a directory that is a link is followed', r.stdout + v.stdout)
os.makedirs('/srv/anyone')
os.symlink(DRIVER, '/srv/anyone/driver-link')
os.chmod('/srv/anyone', 0o777)
spec(edits={'mounts': [{'hostPath': '/srv/anyone/driver-link', 'containerPath': '/opt/driver', 'options': OPTIONS}]})
refused('a spec with such a link where others can replace it', '/srv/anyone/driver-link is a symbolic link')
os.makedirs('/srv/loose')
write('/srv/loose/lib.so', 'x')
os.chmod('/srv/loose', 0o777)
spec(edits={'mounts': mounts('/srv/loose/lib.so', 'lib.so')})
refused('a spec with a file that others can change', '/srv/loose/lib.so', 'changed by others')
for bad, words in (({'type': 'tmpfs'}, 'type tmpfs'), ({'options': ['bind', 'z']}, 'option "z"'), ({'hostPath': '/dev/null'}, 'neither a file')):
    spec(edits={'mounts': [dict(mounts(cuda, 'libcuda.so.1')[0], **bad)]})
    refused('a mount with ' + json.dumps(bad), words)
spec(edits={'mounts': mounts(cuda, 'libcuda.so.1') + mounts(ml, 'libcuda.so.1')})
refused('a spec with two files for the same place', DEBIAN + '/libcuda.so.1')

# a writable folder above the driver's files (attack/t_policy.py, V31: what its container could do)
spec()
policy(rest='folders = ( { path = "%s"; access = "rw"; } );' % os.path.dirname(DRIVER))
r = sh(CTL, 'check')
ok('folder /usr/lib has driver files of /etc/cdi/nvidia.json' in r.stdout, tag + 'check warns of a writable folder that contains the driver', r.stdout)
policy()

# the directory of MPS, inside a sticky directory that everybody may write.  SIMULATED: in /srv, because /tmp is the machine's
os.makedirs('/srv/nvidia-mps')
os.chmod('/srv', 0o1777)
policy('vendor = "nvidia"; mps = true;')
spec(edits={'mounts': [{'hostPath': '/srv/nvidia-mps', 'containerPath': '/tmp/nvidia-mps', 'options': ['rw', 'nosuid', 'nodev', 'bind']}]})
b = Fresh(host, env=TRAIN, args=['/bin/ls', '-d', '/tmp/nvidia-mps'])
r = b.run()
ok(r.returncode == 0, tag + "the directory of root's MPS server is mounted", r.stdout)
os.chown('/srv/nvidia-mps', 1000, 1000)
refused('an MPS directory that another user owns', '/srv/nvidia-mps', 'changed by others')
sh('mount', '-t', 'tmpfs', '-o', 'mode=755', 'not-mps', '/srv/nvidia-mps')
refused('a mount of another user over the MPS directory, which may look like root\'s (FUSE)', '/srv/nvidia-mps', 'changed by others')
sh('umount', '/srv/nvidia-mps')
os.chmod('/srv', 0o755)
policy()

spec()
write('/etc/cdi/nvidia.yaml', 'cdiVersion: 0.5.0\nkind: nvidia.com/gpu\ndevices:\n- name: x\n  containerEdits:\n    deviceNodes:\n    - path: /dev/nvidia0\n'
      "containerEdits:\n  env:\n  - 'A=%s'\n" % ('"' * 700000))
os.unlink('/etc/cdi/nvidia.json')
refused('a spec with more variables than a reply can hold', 'changes to config.json have', 'CDI spec')
spec()
for i in range(17):
    write('/etc/cdi/%d.json' % i, open('/etc/cdi/nvidia.json').read().replace('nvidia.com', 'acme%d.com' % i) + ' ' * 1000000)
refused('more specs than are read for one container', 'more than 16 MiB')
spec()

# sockets
import socket
os.makedirs('/run/nvidia-persistenced')
s = socket.socket(socket.AF_UNIX)
s.bind('/run/nvidia-persistenced/socket')
s.listen()
PERSISTENCED = {'hostPath': '/run/nvidia-persistenced/socket', 'containerPath': '/run/nvidia-persistenced/socket', 'options': ['nosuid', 'nodev', 'rbind', 'rprivate', 'noexec']}
for owner in 0, 1000:
    os.chown('/run/nvidia-persistenced', owner, owner)
    spec(edits={'mounts': [PERSISTENCED]})
    b = Fresh(host, env=TRAIN)
    b.start()
    r = b.exec('test -S /run/nvidia-persistenced/socket && echo there').stdout
    ok(r.endswith('there\n') == (owner == 0), tag + ("a root socket is mounted" if owner == 0 else 'a socket in a service user\'s directory is left out'), r)
    b.delete()

# A service that does not run has no socket: the container does without.  A socket that is there again is mounted.
os.chown('/run/nvidia-persistenced', 0, 0)
FABRIC = dict(PERSISTENCED, hostPath='/run/nvidia-fabricmanager/socket', containerPath='/run/nvidia-fabricmanager/socket')
CORE = mounts(cuda, 'libcuda.so.1') + mounts(ml, 'libnvidia-ml.so.1')


def warnings(text):
    return [l for l in text.splitlines() if l.startswith('gpuhelper: warning: ')]


for dead in 'its directory is gone', 'only the socket is gone':
    if dead == 'its directory is gone':
        os.rename('/run/nvidia-persistenced', '/run/not-persistenced')
    else:
        os.rename('/run/not-persistenced', '/run/nvidia-persistenced')
        os.rename('/run/nvidia-persistenced/socket', '/run/not-the-socket')
    spec(edits={'mounts': CORE + [PERSISTENCED, FABRIC]})
    b = Fresh(host, env=TRAIN, args=['/bin/prog', 'libcuda.so.1', 'libnvidia-ml.so.1'])
    r = b.run()
    w = warnings(r.stdout)
    ok(r.returncode == 0 and 'cuda ' + VERSION in r.stdout and len(w) == 2 and '/run/nvidia-persistenced/socket is not there' in w[0] and
       'systemctl status nvidia-persistenced' in w[0] and 'systemctl status nvidia-fabricmanager' in w[1],
       tag + 'dead services (%s): the container is made, and a warning names each service' % dead, r.stdout)
    v, x = sh(CTL, 'cdi', 'validate', '--host', '/etc/cdi/nvidia.json'), sh(*EXPLAIN)
    ok(v.returncode == 0 and 'warning: containerEdits.mounts[4].hostPath: /run/nvidia-persistenced/socket is not there' in v.stdout and
       'status nvidia-fabricmanager' in v.stdout, tag + '  cdi validate --host warns, and accepts the spec', v.stdout)
    ok(x.returncode == 0 and 'note: warning: /run/nvidia-persistenced/socket is not there' in x.stdout, tag + '  explain warns', x.stdout)
os.rename('/run/not-the-socket', '/run/nvidia-persistenced/socket')
spec(edits={'mounts': CORE + [PERSISTENCED]})
b = Fresh(host, env=TRAIN, args=['/bin/sh', '-c', 'test -S /run/nvidia-persistenced/socket && echo there'])
r = b.run()
ok(r.stdout == 'there\n', tag + '  with the service, the socket is mounted, and nothing warns', r.stdout)
spec(edits={'mounts': CORE + [dict(PERSISTENCED, hostPath='/run/some-service/socket')]})
refused("the missing socket of a service that is not the driver's", '/run/some-service/socket is not there')

# A grant without the libraries that every program needs is made, and one line says so.
for name, edits, caps, want in (
        ('neither library', {'env': ['A=1']}, '', 'no libcuda.so.1 or libnvidia-ml.so.1'),
        ('no libcuda', {'mounts': mounts(ml, 'libnvidia-ml.so.1')}, '', 'no libcuda.so.1,'),
        ('no libnvidia-ml', {'mounts': mounts(cuda, 'libcuda.so.1')}, '', 'no libnvidia-ml.so.1,'),
        ('no libnvidia-ml, for compute', {'mounts': mounts(cuda, 'libcuda.so.1')}, '"compute"', None),
        ('neither library, for video', {'mounts': mounts(encode, 'libnvidia-encode.so.1')}, '"video"', None),
        ('both libraries', {'mounts': CORE}, '', None),
        ('both libraries under their files\' names', {'mounts': [dict(m, containerPath=m['hostPath']) for m in CORE[::2]]}, '', None)):
    spec(edits=edits)
    policy('vendor = "nvidia"; %s' % ('capabilities = [ %s ];' % caps if caps else ''))
    r = Fresh(host, env=TRAIN, args=['/bin/true']).run()
    w = warnings(r.stdout)
    ok(r.returncode == 0 and (len(w) == 1 and want in w[0] and 'CDI spec /etc/cdi/nvidia.json' in w[0] and
       'gpuhelperctl cdi generate --vendor nvidia' in w[0] if want else w == []), tag + 'a spec with %s: %s' % (name, 'one warning' if want else 'no warning'), r.stdout)
    x, c = sh(*EXPLAIN), sh(CTL, 'check')
    ok(x.returncode == 0 and all((want in t if want else 'without which' not in t) for t in (x.stdout, c.stdout)), tag + '  explain and check say the same', x.stdout + c.stdout)
    v = sh(CTL, 'cdi', 'validate', '--host', '/etc/cdi/nvidia.json')
    ok(v.returncode == 0 and ((want in v.stdout and v.stdout.count('without which') == 1) if want else caps or v.stdout == ''),
       tag + '  cdi validate --host says the same of compute and utility', v.stdout)
policy()
spec(edits={'mounts': mounts(ml, 'libnvidia-ml.so.1') + [{'hostPath': DRIVER, 'containerPath': '/usr/local/nvidia', 'options': OPTIONS}]})
shutil.copy(cuda, DRIVER + '/libcuda.so.1')
w = warnings(Fresh(host, env=TRAIN, args=['/bin/true']).run().stdout)
os.unlink(DRIVER + '/libcuda.so.1')
ok(w == [], tag + 'a whole directory with the library, which the image knows: no warning', w)

# settings that need a spec
spec(kind='acme.com/none', devices=[device('x', '/dev/gpu-extra')], edits={'env': ['A=1']})
b = Fresh(host, env=TRAIN, args=['/bin/sh', '-c', 'ls /lib/x86_64-linux-gnu /usr/lib/x86_64-linux-gnu /dev; true'])
r = b.run()
told = warnings(r.stdout)
ok(r.returncode == 0 and 'nvidia0' in r.stdout and 'cuda' not in r.stdout.replace(told[0] if told else '', ''),
   tag + 'driver_files = "auto" without a spec for the GPU: the files are the image\'s', r.stdout)
ok(len(told) == 1 and 'no CDI spec has the nodes of nvidia GPU 0000:3b:00.0' in told[0] and 'no libcuda.so.1 or libnvidia-ml.so.1' in told[0] and
   'gpuhelperctl cdi generate --vendor nvidia' in told[0], tag + '  one line warns of that', r.stdout)
host.settings('driver_files = "cdi";')
refused('driver_files = "cdi": refused then', 'no CDI spec', 'gpuhelperctl cdi generate --vendor nvidia')
spec()
host.settings('driver_files = "none";')
b = Fresh(host, env=TRAIN, args=['/bin/ls', '/usr/lib64'])
r = b.run().stdout
ok('libcuda' not in r and 'warning' not in r, tag + 'driver_files = "none": no driver files, whatever the specs, and no warning', r)
host.settings()

# other things at those places
before = snapshot(DRIVER)
policy(rest='folders = ( { path = "/srv/loose2"; target = "/usr/lib64"; } );')
os.makedirs('/srv/loose2')
refused("a folder at the place of the driver's files", 'folder /srv/loose2', env=TRAIN + ['GPUHELPER_FOLDERS=all'])
policy()
os.makedirs(W + '/vol/input')
refused("a task's own mount over the driver's place", '/usr/lib',
        edit=lambda s: s['mounts'].append({'destination': '/usr/lib', 'type': 'bind', 'source': W + '/vol/input', 'options': ['bind']}))


def odd(name, change, **kw):
    """An unusual image: the container works or is refused, and the host does not change."""
    path = '%s/vol/odd%d' % (W, Bundle.count)
    busybox_rootfs(path, MAXID)
    change(path)
    subprocess.check_call(['chown', '-hR', '%d:%d' % (MAXID, MAXID), path])
    watched = [snapshot(d) for d in (DRIVER, '/usr/lib64', '/usr/bin', '/etc/gpuhelper', '/etc/cdi')]
    b = Fresh(host, env=TRAIN, args=['/bin/ls', DEBIAN + '/libcuda.so.1'], image=path, **kw)
    r = b.run()
    b.delete()
    same = watched == [snapshot(d) for d in (DRIVER, '/usr/lib64', '/usr/bin', '/etc/gpuhelper', '/etc/cdi')]
    ok(same and (r.stdout.strip().endswith('libcuda.so.1') if r.returncode == 0 else r.stdout.strip() != '') and not leases(),
       tag + 'an image with %s: %s, and the host is unchanged' % (name, 'works' if r.returncode == 0 else 'is refused'), r.stdout)
    odd.said = r.stdout
    return r


def linked(link, target):
    def change(path):
        d = path + os.path.dirname(link)
        os.makedirs(d, exist_ok=True)
        if os.path.isdir(path + link) and not os.path.islink(path + link):
            shutil.rmtree(path + link)
        os.symlink(target, path + link)
    return change


spec()
ok(odd('nothing but a program', lambda p: [shutil.rmtree(p + '/' + d) for d in ('tmp', 'srv', 'root', 'run')]).returncode == 0, tag + '  it works', odd.said)
ok(odd('root-is read-only', lambda p: None, edit=lambda s: s['root'].update(readonly=True)).returncode == 0, tag + '  it works', odd.said)
odd('usr-lib that is a link to /', linked('/usr/lib', '/'))
odd('usr-lib64 that is a link to ../../../../usr/lib64', linked('/usr/lib64', '../../../../usr/lib64'))
odd('lib64-to-lib, as some distributions have it', linked('/usr/lib64', 'lib'))
odd('multiarch that is a link to the driver on the host', linked(DEBIAN, DRIVER))
odd('library that is a link to the host\'s', linked(DEBIAN + '/libcuda.so.1', cuda))
odd('dev that is a link to /etc', linked('/dev', '/etc'))
odd('dev that is a link to ../../../../dev', linked('/dev', '../../../../dev'))
odd('proc that is a link to /usr', linked('/proc', '/usr'))
os.makedirs('/srv/out')
os.chown('/srv/out', MAXID, MAXID)
policy(rest='folders = ( { path = "/srv/out"; access = "rw"; } );')
TRAIN.append('GPUHELPER_FOLDERS=all')
r = odd('multiarch that is a link into a granted folder', linked(DEBIAN, '/srv/out'))
ok(r.returncode == 1 and 'links in the image' in r.stdout and os.listdir('/srv/out') == [], tag + '  the folder stays empty', odd.said)
ok(before == snapshot(DRIVER), tag + "the driver's files are unchanged")
done()
