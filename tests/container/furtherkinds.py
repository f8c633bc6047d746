#!/usr/bin/env python3
"""NVIDIA's further kinds of CDI specs: IMEX channels, NVSwitch, GPUDirect Storage, GDRCopy, management; and the reason
why a rule of a CDI kind has no GPU to give.

usage: furtherkinds.py RUNTIME CGROUP    (in tests/lib/sandbox.sh --gpu nvidia-2gpu)

The specs have the form of nvidia-ctk's modes (pkg/nvcdi: one device for each IMEX channel, else one device «all»).  The
GPUs and all nodes are SIMULATED: the nodes' numbers are those of the drivers in the sandbox's /proc/devices.
"""
import json, os, re, shutil
from lib import *

host, tag = able_host()
TRAIN = ['BUILD_TEAM_NAME=ml', 'BUILD_PIPELINE_NAME=train', 'GPUHELPER_GPUS=1']
CTL = '/usr/sbin/gpuhelperctl'
EXPLAIN = CTL, 'explain', '--identity', 'claim', '--pipeline', 'ml/train', '--gpus', '1'
DEVICES = open('/proc/devices').read()
GPU, CHANNEL = 'nvidia.com/gpu', '/dev/nvidia-caps-imex-channels/channel'


def policy(rule):
    host.policies(t10='pipeline = "ml/train";\nidentity = "claim";\ngpus = ( { %s } );\n' % rule)


def spec(kind, devices, clear=False, **edits):
    """Installs a spec of the kind with these devices: NAME=[NODE...] ("PATH HOSTPATH" for both)."""
    for d in ('/etc/cdi', '/run/cdi') if clear else ():
        shutil.rmtree(d, ignore_errors=True)
    devices = [{'name': n, 'containerEdits': dict({'deviceNodes': [dict(zip(('path', 'hostPath'), p.split(' '))) for p in nodes]}, **edits)} for n, nodes in devices.items()]
    write('/etc/cdi/%s.json' % kind.replace('/', '-'),
          json.dumps({'cdiVersion': '0.5.0', 'kind': kind, 'containerEdits': {'env': ['NVIDIA_VISIBLE_DEVICES=void']}, 'devices': devices}))


def gpus(*more):
    """Installs the GPUs' own spec alone, with these further nodes of both GPUs."""
    spec(GPU, {'0': ['/dev/nvidia0', *more], '1': ['/dev/nvidia1', *more], 'all': ['/dev/nvidia0', '/dev/nvidia1', *more]}, clear=True)


def node(path, major, minor):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if os.path.lexists(path):
        os.unlink(path)
    os.mknod(path, 0o20666, os.makedev(major, minor))


def drivers(**majors):
    """Registers drivers in place of the fixture's that have the same name; a major of 0 removes one."""
    text = DEVICES
    for name, major in majors.items():
        text = re.sub(r'(?m)^ *\d+ %s\n' % name.replace('_', '-'), '', text)
        if major:
            text = text.replace('\nBlock', '%3d %s\n\nBlock' % (major, name.replace('_', '-')), 1).replace('\n\n%3d' % major, '\n%3d' % major)
    write('/proc/devices', text, 0o444)


def granted(name, there, missing=()):
    """A container gets these nodes, can use them as far as its device cgroup decides, and does not see the others."""
    b = Bundle(host, env=TRAIN, args=['/bin/sh', '-c', 'for n in %s; do ( : < $n ); done' % ' '.join([*there, *missing])])
    r = b.run()
    lines = r.stdout.splitlines()
    ok(all(any(n + ':' in l and 'No such device' in l for l in lines) for n in there) and
       all(any(n + ':' in l and 'no such file' in l.lower() for l in lines) for n in missing), tag + name, r.stdout)


def refused(name, *words, without=()):
    """The container is refused with these words in one line, without a lease; explain and check say the same."""
    before, b = leases(), Bundle(host, env=TRAIN, args=['/bin/true'])
    r, e, c = b.run(), sh(*EXPLAIN), sh(CTL, 'check')
    ok(r.returncode != 0 and all(w in r.stdout for w in words) and not any(w in r.stdout for w in without) and
       len(r.stdout.splitlines()) == 1 and leases() == before, tag + name, r.stdout)
    ok(e.returncode != 0 and all(w in e.stdout for w in words), tag + '  explain says so', e.stdout)
    ok(any(all(w in l for w in words) for l in c.stdout.splitlines()), tag + '  check warns of it', c.stdout)


# IMEX channels.  The kernel chooses the major of their driver, at each boot.
for major in 236, 508:
    drivers(nvidia_caps_imex_channels=major)
    for n in 0, 5, 2047:
        node(CHANNEL + str(n), major, n)
    of = ' (major %d)' % major
    gpus()
    spec('nvidia.com/imex-channel', {str(n): [CHANNEL + str(n)] for n in (0, 5, 2047)})
    policy('vendor = "nvidia.com/gpu"; nodes = [ "imex" ];')
    granted('channels of their own kind: the word gives channel 0 with the GPU' + of, [CHANNEL + '0', '/dev/nvidia0'], [CHANNEL + '5', CHANNEL + '2047'])
    policy('vendor = "nvidia.com/gpu"; nodes = [ "imex=5" ];')
    granted('  a number gives that channel' + of, [CHANNEL + '5', '/dev/nvidia0'], [CHANNEL + '0', CHANNEL + '2047'])
    gpus()
    granted('  without a spec of the channels, too' + of, [CHANNEL + '5', '/dev/nvidia0'], [CHANNEL + '0'])
    policy('vendor = "nvidia.com/gpu";')
    granted('without the word, none' + of, ['/dev/nvidia0'], [CHANNEL + '0', CHANNEL + '5'])
    gpus(CHANNEL + '5')
    refused("a channel in the GPU's own device without the word" + of, CHANNEL + '5', '(%d:5)' % major, 'nodes = [ "imex" ]')
    policy('vendor = "nvidia.com/gpu"; nodes = [ "imex" ];')
    granted("  with the word, it is the GPU's channel" + of, [CHANNEL + '5'], [CHANNEL + '0'])
    policy('vendor = "nvidia.com/gpu"; nodes = [ "imex=0" ];')
    refused('  not with the number of another one' + of, CHANNEL + '5', 'channel 5', 'only channel 0')

for rules in ('"imex"', '"imex=5"'), ('"imex=5"', '"imex"'):
    gpus()
    host.policies(t10='pipeline = "ml/train";\nidentity = "claim";\ngpus = ( %s );\n' %
                  ', '.join('{ vendor = "nvidia.com/gpu"; devices = [ "%d" ]; nodes = [ %s ]; }' % r for r in enumerate(rules)))
    env, TRAIN[-1] = TRAIN[-1], 'GPUHELPER_GPUS=all'
    granted('two rules, %s and %s: both channels' % rules, ['/dev/nvidia0', '/dev/nvidia1', CHANNEL + '0', CHANNEL + '5'])
    TRAIN[-1] = env
policy('vendor = "nvidia.com/gpu"; nodes = [ "imex" ];')
gpus()
r = sh(*EXPLAIN)
ok(r.returncode == 0 and CHANNEL + '0' in r.stdout, tag + 'explain names the channel', r.stdout)
policy('vendor = "nvidia.com/gpu"; nodes = [ "imex=7" ];')
refused('a channel that nobody made', CHANNEL + '7', 'not there', 'nvidia-modprobe -i 7:1')
policy('vendor = "nvidia.com/gpu"; nodes = [ "imex=5" ];')
node(CHANNEL + '5', 236, 5)
refused('a node with a major of an earlier boot', CHANNEL + '5', '508:5', 'nvidia-modprobe -i 5:1')
os.unlink(CHANNEL + '5')
os.symlink('/dev/nvidia1', CHANNEL + '5')
refused("a link to another GPU in the channel's place", CHANNEL + '5', 'not the character device 508:5')
drivers(nvidia_caps_imex_channels=0)
node(CHANNEL + '5', 508, 5)
refused('a driver without IMEX channels', CHANNEL + '5', 'nvidia-caps-imex-channels', '/proc/devices')
policy('vendor = "nvidia.com/gpu"; nodes = [ "imex" ];')
gpus(CHANNEL + '5')
refused('a node of a driver that is not loaded', CHANNEL + '5', 'no driver that is loaded', 'major 508', without=['no policy'])
for words, what in (('"imex=0", "imex=5"', 'two IMEX channels, 0 and 5'), ('"imex=1048576"', 'unknown nodes "imex=1048576"'), ('"imex=all"', 'unknown nodes "imex=all"')):
    policy('vendor = "nvidia.com/gpu"; nodes = [ %s ];' % words)
    r = sh(CTL, 'check')
    ok(r.returncode != 0 and what in r.stdout, tag + 'the policy is refused: ' + what, r.stdout)

# the other drivers' nodes, in the specs that nvidia-ctk writes of them
KINDS = {'nvswitch': ('nvidia.com/nvswitch', ['/dev/nvidia-nvswitchctl', '/dev/nvidia-nvswitch0']),
         'nvidia-fs': ('nvidia.com/gds', ['/dev/nvidia-fs0', '/dev/nvidia-fs1']),
         'gdrdrv': ('nvidia.com/gdrcopy', ['/dev/gdrdrv'])}
drivers(nvidia_nvswitch=239, nvidia_fs=241, gdrdrv=242)
for path, major, minor in (('/dev/nvidia-nvswitchctl', 239, 255), ('/dev/nvidia-nvswitch0', 239, 0), ('/dev/nvidia-fs0', 241, 0),
                           ('/dev/nvidia-fs1', 241, 1), ('/dev/gdrdrv', 242, 0)):
    node(path, major, minor)
for word, (kind, nodes) in KINDS.items():
    gpus()
    policy('vendor = "nvidia.com/gpu"; nodes = [ "%s" ];' % word)
    granted(word + ': without a spec of its own, nothing', ['/dev/nvidia0'], nodes)
    r = Bundle(host, env=TRAIN, args=['/bin/true']).run()
    ok(r.returncode == 0 and 'gpuhelper: warning: the policy says nodes = [ "%s" ], and no usable CDI spec here has such a node' % word in r.stdout,
       tag + "  the build's log tells it", r.stdout)
    c, e = sh(CTL, 'check'), sh(*EXPLAIN)
    ok(('manage the links between all GPUs' in c.stdout) == (word == 'nvswitch'), tag + "  check warns only of what NVSwitch gives", c.stdout)
    ok(all('"%s" adds nothing' % word in t and 'a spec of kind ' + kind in t for t in (c.stdout, e.stdout)),
       tag + '  check and explain tell it', c.stdout + e.stdout)
    spec(kind, {'all': nodes})
    granted('  its spec has them', ['/dev/nvidia0', *nodes])
    r = sh(CTL, 'check')
    ok('adds nothing' not in r.stdout, tag + '  check warns no more', r.stdout)
    spec(kind, {'all': nodes}, mounts=[{'hostPath': '/run/udev', 'containerPath': '/run/udev', 'options': ['ro', 'rbind']}])
    c, e = sh(CTL, 'check'), sh(*EXPLAIN)
    ok(all('adds nothing: CDI spec /etc/cdi/%s.json' % kind.replace('/', '-') in t and "can't be used" in t for t in (c.stdout, e.stdout)),
       tag + '  a spec with /run/udev is named as one that can\'t be used', c.stdout + e.stdout)
    spec(kind, {'all': nodes})
    policy('vendor = "nvidia.com/gpu";')
    granted('  without the word, none', ['/dev/nvidia0'], nodes)
    gpus(nodes[0])
    refused("  in the GPU's own device, refused without the word", nodes[0], 'nodes = [ "%s" ]' % word)
    policy('vendor = "%s";' % kind)
    gpus()
    spec(kind, {'all': nodes})
    refused('  a rule of that kind alone', kind, 'are no GPUs', 'nodes = [ "%s" ]' % word)
gpus()
policy('vendor = "nvidia.com/gpu"; nodes = [ "nvswitch", "nvidia-fs", "gdrdrv", "infiniband" ];')
r = Bundle(host, env=TRAIN + ['CUDA_VISIBLE_DEVICES=7'], args=['/bin/true']).run()
ok(r.returncode == 0 and all('nodes = [ "%s" ]' % w in r.stdout for w in (*KINDS, 'infiniband')) and 'names 7' in r.stdout,
   tag + 'each of four words without a node is told, and what follows, too', r.stdout)
# nvidia-fs always makes 16 nodes, and a DGX A100 has 6 switches
many = {'nvswitch': (239, ['/dev/nvidia-nvswitch%d' % n for n in range(6)]), 'nvidia-fs': (241, ['/dev/nvidia-fs%d' % n for n in range(16)])}
gpus()
for word, (major, nodes) in many.items():
    for n, path in enumerate(nodes):
        node(path, major, n)
    spec(KINDS[word][0], {'all': nodes})
policy('vendor = "nvidia.com/gpu"; nodes = [ "nvidia-fs", "nvswitch" ];')
granted('two words with 22 nodes', ['/dev/nvidia0', *many['nvswitch'][1], *many['nvidia-fs'][1]])
policy('vendor = "nvidia.com/imex-channel"; devices = [ "0" ];')
gpus()
spec('nvidia.com/imex-channel', {'0': [CHANNEL + '0']})
refused('a rule of IMEX channels alone', 'nvidia.com/imex-channel', 'are no GPUs', 'nodes = [ "imex" ]')

# devices that are no GPUs, each with its reason
MANAGED = ['/dev/nvidia0', '/dev/nvidia1', '/dev/nvidiactl', '/dev/nvidia-nvswitchctl', '/dev/nvidia-nvswitch0']
for name, rule, kind, devices, words in (
        ('nvidia-ctk --mode=management', 'vendor = "management.nvidia.com/gpu";', 'management.nvidia.com/gpu', {'all': MANAGED},
         ['management.nvidia.com/gpu=all has nodes of several GPUs']),
        ('no such kind in any spec', 'vendor = "nvidia.com/none";', GPU, {'0': ['/dev/nvidia0']},
         ['no CDI spec has a device of kind nvidia.com/none', 'this host can give kind nvidia.com/gpu']),
        ('no such name in any spec', 'vendor = "nvidia.com/gpu"; devices = [ "7" ];', GPU, {'0': ['/dev/nvidia0'], 'all': MANAGED[:2]},
         ['is one of the nvidia.com/gpu devices that this rule names', 'gpuhelperctl cdi list']),
        ('a name of something else', 'vendor = "nvidia.com/gpu"; devices = [ "x" ];', GPU, {'0': ['/dev/nvidia0'], 'x': ['/dev/dxg']},
         ['nvidia.com/gpu=x has no node of a GPU of this host']),
        ('a node outside of /dev', 'vendor = "nvidia.com/gpu";', GPU, {'0': ['/dev/nvidia0 /run/driver/dev/nvidia0']},
         ['nvidia.com/gpu=0 has a node outside of /dev'])):
    spec(kind, devices, clear=True)
    policy(rule)
    refused(name, *words, without=['devices that this rule names, 0'])
done()
