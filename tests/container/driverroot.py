#!/usr/bin/env python3
"""A driver that lives in a root directory of its own, as GPU Operator and Fedora CoreOS have it: /run/nvidia/driver.

usage: driverroot.py RUNTIME CGROUP    (in tests/lib/sandbox.sh --gpu nvidia-2gpu)

The test writes specs in the form of «nvidia-ctk cdi generate --driver-root=/run/nvidia/driver», with and without
--dev-root=/.  The GPUs and the driver's files are SIMULATED, as in driver.py.  /run/nvidia/driver is a directory here,
and not a mount of a container's root filesystem.
"""
import json, os, re, shutil, subprocess
from lib import *

host, tag = able_host()
TRAIN = ['BUILD_TEAM_NAME=ml', 'BUILD_PIPELINE_NAME=train', 'GPUHELPER_GPUS=1']
VERSION = re.search(r'(\d{3}\.\d+\.\d+)', open('/proc/driver/nvidia/version').read()).group(1)
ROOT, DEBIAN, CTL = '/run/nvidia/driver', '/usr/lib/x86_64-linux-gnu', '/usr/sbin/gpuhelperctl'
EXPLAIN = CTL, 'explain', '--identity', 'claim', '--pipeline', 'ml/train', '--gpus', '1'
LIBRARIES = 'libcuda', 'libnvidia-ml', 'libnvidia-ptxjitcompiler'
NAMES = [l + '.so.1' for l in LIBRARIES] + ['libcuda.so']
OPTIONS = ['ro', 'nosuid', 'nodev', 'rbind', 'rprivate']
RULE = 'vendor = "nvidia"; capabilities = [ "compute", "utility" ];'


def policy(rule=RULE):
    host.policies(t10='pipeline = "ml/train";\nidentity = "claim";\ngpus = ( { %s } );\n' % rule)


def node(path, root=ROOT, **more):
    return dict({'path': path}, **({'hostPath': root + path} if root else {}), **more)


def spec(gpu, ctl=node('/dev/nvidiactl'), uvm=node('/dev/nvidia-uvm'), more=(), kind='nvidia.com/gpu'):
    """Installs a spec with one GPU's node, the nodes of all GPUs, and the libraries of the driver's root."""
    shutil.rmtree('/etc/cdi', ignore_errors=True)
    files = ['%s/%s.so.%s' % (DEBIAN, l, VERSION) for l in LIBRARIES]
    edits = {'env': ['NVIDIA_VISIBLE_DEVICES=void'], 'deviceNodes': [ctl, uvm],
             'mounts': [{'hostPath': ROOT + f, 'containerPath': f, 'options': OPTIONS} for f in files]}
    return write('/etc/cdi/nvidia.json', json.dumps({'cdiVersion': '0.5.0', 'kind': kind, 'containerEdits': edits, 'devices': [
        {'name': '0', 'containerEdits': {'deviceNodes': [gpu] + list(more)}}]}))


def make_node(path, major=None, minor=None):
    """A node in the driver's root, by default with the number of the host's own."""
    rdev = os.makedev(major, minor) if major is not None else os.stat(path).st_rdev
    if os.path.lexists(ROOT + path):
        os.unlink(ROOT + path)
    os.makedirs(os.path.dirname(ROOT + path), exist_ok=True)
    os.mknod(ROOT + path, 0o20600, rdev)


def gives(name, gpu=0):
    """The container finds the driver, and has that GPU's node, the host's own."""
    b = Fresh(host, env=TRAIN, args=['/bin/sh', '-c', 'exec 2>&1; /bin/prog %s; ls -l /dev; (: < /dev/nvidia%d)' % (' '.join(NAMES), gpu)])
    r = b.run()
    found = dict(re.findall(r'(?m)^(lib\S+): (.*)', r.stdout))
    ok(all(found.get(n) == n.split('.so')[0] for n in NAMES), tag + name + ': the driver is found', r.stdout)
    ok(re.search(r'195, +%d .* nvidia%d\n' % (gpu, gpu), r.stdout) and 'nvidia%d\n' % (1 - gpu) not in r.stdout and 'No such device or' in r.stdout and
       re.search(r'195, +255 .* nvidiactl\n', r.stdout), tag + '  and so are its nodes', r.stdout)
    ok(leases() == [], tag + '  the lease ends')


def refused(name, *words):
    """The container is refused with these words in one line; explain says the same."""
    r, e = Fresh(host, env=TRAIN, args=['/bin/true']).run(), sh(*EXPLAIN)
    ok(r.returncode != 0 and all(w in r.stdout for w in words) and leases() == [], tag + name, r.stdout)
    ok(e.returncode != 0 and all(w in e.stdout for w in words), tag + '  explain says it, too', e.stdout)


for stem in LIBRARIES:
    path = '%s%s/%s.so.%s' % (ROOT, DEBIAN, stem, VERSION)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    c = write(W + '/lib.c', 'const char *driver_says(void); const char *driver_says(void) { return "%s"; }\n' % stem)
    subprocess.check_call(['cc', '-shared', '-fPIC', '-Wl,-soname,%s.so.1' % stem, '-o', path, c])
glibc_image(W + '/vol/glibc')
policy()

# The spec has no numbers: the nodes are known by those of the nodes in the driver's root.
for n in 'nvidia0', 'nvidia1', 'nvidiactl', 'nvidia-uvm':
    make_node('/dev/' + n)
spec(node('/dev/nvidia0'))
gives('a driver root with nodes')
r, c, v = sh(*EXPLAIN), sh(CTL, 'check'), sh(CTL, 'cdi', 'validate', '--host', '/etc/cdi/nvidia.json')
ok(r.returncode == 0 and 'CDI spec /etc/cdi/nvidia.json' in r.stdout, tag + '  explain names the spec', r.stdout)
ok('cdi' not in c.stdout.lower(), tag + '  check has nothing to say about the spec', c.stdout)
ok(v.returncode == 0 and v.stdout == '', tag + '  validate has nothing to say about its nodes', v.stdout)
r = sh(CTL, 'devices')
ok('CDI device nvidia.com/gpu=0\n' in r.stdout.split('nvidia 1 ')[0], tag + '  devices shows the GPU\'s name', r.stdout)
policy(RULE.replace('"nvidia"', '"nvidia.com/gpu"'))
gives('a rule for the kind')
policy()
spec(node('/dev/nvidia0'), more=[node('/dev/nvidia-uvm-tools')])
make_node('/dev/nvidia-uvm-tools', os.major(os.stat('/dev/nvidia-uvm').st_rdev), 1)
gives('a driver root with nodes that the GPU can do without')

# --dev-root=/
spec(node('/dev/nvidia0', None), node('/dev/nvidiactl', None), node('/dev/nvidia-uvm', None))
gives("a driver root, and the host's nodes")

# What the node in the driver's root is decides which GPU the device is, and never which node is opened.
make_node('/dev/nvidia0', 195, 1)
spec(node('/dev/nvidia0'))
policy(RULE.replace('"nvidia"', '"nvidia.com/gpu"'))
gives('a node by the name of another GPU', gpu=1)
policy()
for name, make, words in (
        ('a node of a GPU that this host lacks', lambda: make_node('/dev/nvidia0', 195, 9), ['is none of this host']),
        ('a node of no GPU', lambda: make_node('/dev/nvidia0', 1, 3), ['is none of this host']),
        ('a link to the node', lambda: [os.unlink(ROOT + '/dev/nvidia0'), os.symlink('/dev/nvidia0', ROOT + '/dev/nvidia0')], ['is a symbolic link']),
        ('a missing node', lambda: os.unlink(ROOT + '/dev/nvidia0'), ['is not there'])):
    make()
    refused(name, ROOT + '/dev/nvidia0', *words, "would come without the driver's files", '--dev-root=/ --driver-root=%s)' % ROOT)
v = sh(CTL, 'cdi', 'validate', '--host', '/etc/cdi/nvidia.json')
ok(v.returncode == 65 and ROOT + '/dev/nvidia0 is not there' in v.stdout, tag + '  validate names a missing node', v.stdout)
make_node('/dev/nvidia0')
os.chmod(ROOT + '/dev', 0o777)
refused('a node in a directory that others can change', ROOT + '/dev/nvidia0', '--dev-root=/')
os.chmod(ROOT + '/dev', 0o755)

# The spec has the numbers: no node is needed in the driver's root.
shutil.rmtree(ROOT + '/dev')
uvm = os.stat('/dev/nvidia-uvm').st_rdev
numbered = dict(ctl=node('/dev/nvidiactl', type='c', major=195, minor=255), uvm=node('/dev/nvidia-uvm', type='c', major=os.major(uvm), minor=0))
spec(node('/dev/nvidia0', type='c', major=195, minor=0), **numbered)
gives('a spec with numbers')
spec(node('/dev/nvidia0', type='b', major=195, minor=0), **numbered)
refused('a block device with the number of a GPU', 'deviceNodes[0].type: a block device')
spec(node('/dev/nvidia0', type='c', major=195, minor=1), **numbered)
refused('a number that contradicts the path', '/dev/nvidia0 never has the number 195:1')
spec(node('/dev/nvidia7', type='c', major=195, minor=7), **numbered)
refused('a number of no GPU of this host', ROOT + '/dev/nvidia7', 'has no node of this host')
# at the host's own path a number that is out of date does not matter, because only the host's node is opened
spec(node('/dev/nvidia0', None, type='c', major=195, minor=0), node('/dev/nvidiactl', None), node('/dev/nvidia-uvm', None, type='c', major=511, minor=0))
gives('a number of nvidia-uvm that is out of date')
# two GPUs in one device, one of them by its number alone
spec(node('/dev/nvidia0', None), more=[{'path': '/dev/renamed', 'type': 'c', 'major': 195, 'minor': 1}], kind='acme.com/gpu')
policy(RULE.replace('"nvidia"', '"acme.com/gpu"'))
refused("a device with another GPU's node by another name", 'acme.com/gpu')
policy()

# further nodes: SIMULATED, that the driver gdrdrv is loaded
devices = open('/proc/devices').read()
write('/proc/devices', devices.replace('\nBlock', '237 gdrdrv\n\nBlock'), 0o444)
os.mknod('/dev/gdrdrv', 0o20666, os.makedev(237, 0))
policy('vendor = "nvidia.com/gpu"; nodes = [ "gdrdrv" ];')
spec(node('/dev/nvidia0', None), node('/dev/nvidiactl', None), node('/dev/nvidia-uvm', None), [node('/dev/gdrdrv')])
make_node('/dev/gdrdrv')
b = Fresh(host, env=TRAIN, args=['/bin/ls', '-l', '/dev'])
r = b.run()
ok(r.returncode == 0 and re.search(r'237, +0 .* gdrdrv', r.stdout), tag + "a further node of the driver's root is the host's own", r.stdout)
os.mknod('/dev/uvm', 0o20666, uvm)
spec(node('/dev/nvidia0', None), more=[node('/dev/uvm', None, type='c', major=os.major(uvm), minor=0)])
b = Fresh(host, env=TRAIN, args=['/bin/ls', '/dev'])
r = b.run()
ok(r.returncode == 0 and 'uvm' in r.stdout.split() and 'nvidia-uvm' in r.stdout.split(), tag + '  and one that is nvidia-uvm by another name', r.stdout)
spec(node('/dev/nvidia0', None), node('/dev/nvidiactl', None), node('/dev/nvidia-uvm', None), [node('/dev/gdrdrv')])
make_node('/dev/gdrdrv', 237, 1)
refused('a further node that is another device there', ROOT + '/dev/gdrdrv', 'remove hostPath')
policy()

# A spec of the vendor's own kind without any node of this host: the driver's files of its GPU are not left out silently.
for path, words in (('/dev/dxg', ['is of a GPU of WSL2']), ('/dev/nvhost-ctrl', ['is of a GPU of Tegra']), ('/dev/nvidia5', ['renew that spec'])):
    spec({'path': path}, {'path': '/dev/nvidiactl'}, {'path': '/dev/nvidia-uvm'})
    refused('a spec with the only node ' + path, '/etc/cdi/nvidia.json', path, 'no spec has GPU 0000:3b:00.0', *words)
spec({'path': '/dev/dxg'}, kind='acme.com/gpu')
b = Fresh(host, env=TRAIN, args=['/bin/ls', '/dev'])
r = b.run()
ok(r.returncode == 0 and 'nvidia0' in r.stdout, tag + 'a spec of another kind does not matter', r.stdout)
done()
