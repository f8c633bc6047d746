#!/usr/bin/env python3
"""Grants beside CDI specs that can't be used: specs for other devices, broken and oversized ones.

usage: foreignspecs.py RUNTIME CGROUP    (in tests/lib/sandbox.sh --gpu nvidia-2gpu)

The GPUs and the driver's library are SIMULATED; the program that loads it and its loader are real.
"""
import json, os, re, shutil, subprocess, sys
from lib import *

host, tag = able_host()
TRAIN = ['BUILD_TEAM_NAME=ml', 'BUILD_PIPELINE_NAME=train', 'GPUHELPER_GPUS=1']
VERSION = re.search(r'(\d{3}\.\d+\.\d+)', open('/proc/driver/nvidia/version').read()).group(1)
DRIVER = '/usr/lib/gpu-driver'
NEEDED = 'mend it, or move it to another directory'


def policy(vendor='nvidia', rest=''):
    host.policies(t10='pipeline = "ml/train";\nidentity = "claim";\ngpus = ( { vendor = "%s"; } );\n%s\n' % (vendor, rest))


def specs(**files):
    """Makes these the only specs: NAME_EXTENSION=TEXT."""
    for d in '/etc/cdi', '/run/cdi':
        shutil.rmtree(d, ignore_errors=True)
    for name, text in files.items():
        write('/etc/cdi/' + name.replace('_', '.'), text)


def run():
    return Fresh(host, env=TRAIN, args=['/bin/sh', '-c', 'ls /dev/nvidia0; /bin/prog libcuda.so.1']).run()


def granted(name, files=False, **beside):
    """The GPU comes, with or without the driver's files."""
    specs(**beside)
    r = run()
    ok(r.returncode == 0 and '/dev/nvidia0' in r.stdout and ('cuda says so' in r.stdout) == files, tag + name, r.stdout)


def refused(name, *words, **beside):
    specs(**beside)
    before, r = leases(), run()
    ok(r.returncode != 0 and all(w in r.stdout for w in words) and leases() == before, tag + name, r.stdout)
    return r.stdout


glibc_image(W + '/vol/glibc')
os.makedirs(DRIVER)
subprocess.check_call(['cc', '-shared', '-fPIC', '-Wl,-soname,libcuda.so.1', '-o', '%s/libcuda.so.%s' % (DRIVER, VERSION),
                       write(W + '/lib.c', 'const char *driver_says(void); const char *driver_says(void) { return "cuda says so"; }\n')])
os.symlink('libcuda.so.' + VERSION, DRIVER + '/libcuda.so.1')

NODES = '''devices:
- name: 0
  containerEdits: {deviceNodes: [{path: /dev/nvidia0}]}
- name: 1
  containerEdits: {deviceNodes: [{path: /dev/nvidia1}]}
'''
GOOD = 'cdiVersion: 0.5.0\nkind: nvidia.com/gpu\n' + NODES + '''containerEdits:
  deviceNodes: [{path: /dev/nvidiactl}]
  mounts:
  - {hostPath: %s/libcuda.so.%s, containerPath: /usr/lib/x86_64-linux-gnu/libcuda.so.1, options: [ro, bind]}
''' % (DRIVER, VERSION)
GDS = '''cdiVersion: 0.5.0
kind: nvidia.com/gds
devices:
- name: all
  containerEdits:
    deviceNodes: [{path: /dev/nvidia-fs0}]
    mounts:
    - {hostPath: /run/udev, containerPath: /run/udev, options: [ro, rbind]}
'''
ASCEND = '''cdiVersion: 0.8.0
kind: huawei.com/Ascend910
devices:
- name: index-0
  containerEdits:
    env: [LD_LIBRARY_PATH=/usr/local/Ascend/driver/lib64]
    deviceNodes: [{path: /dev/davinci0, permissions: rwm}]
    hooks: [{hookName: prestart, path: /sbin/ldconfig, args: [ldconfig]}]
'''
OTHER = 'cdiVersion: 0.5.0\nkind: example.org/fpga\ndevices:\n- name: 0\n  containerEdits: {env: [A=1]}\n'
# a directory that an image's loader does not search: by hand for NixOS and WSL
BY_HAND = 'cdiVersion: 0.5.0\nkind: nvidia.com/gpu\n' + NODES + '''containerEdits:
  deviceNodes: [{path: /dev/nvidiactl}]
  mounts:
  - {hostPath: %s, containerPath: /usr/local/nvidia/lib64, options: [ro, bind]}
''' % DRIVER
LOADER = '  env: [LD_LIBRARY_PATH=/usr/local/nvidia/lib:/usr/local/nvidia/lib64]\n'

policy()
granted('a GPU comes beside a spec for GPUDirect Storage that is unsafe', gds_yaml=GDS)
granted('beside a spec for NPUs that sets LD_LIBRARY_PATH', npu_yaml=ASCEND)
granted('beside a spec without devices', none_yaml='cdiVersion: 0.5.0\nkind: nvidia.com/gpu\ndevices: []\n')
granted('beside a spec for other devices that breaks off after its kind', other_yaml=OTHER + 'containerEdits: [\n')
granted('beside two specs for other devices with one device', a_yaml=OTHER, b_yaml=OTHER)
granted('beside all of these, with the files of the spec that has the GPU', True, gds_yaml=GDS, npu_yaml=ASCEND,
        none_yaml='cdiVersion: 0.5.0\nkind: nvidia.com/gpu\ndevices: []\n', other_yaml=OTHER + 'containerEdits: [\n', gpu_yaml=GOOD)

TOO_LARGE = OTHER + '#' * (1 << 20) + '\n'
for what, name, text, words in (
        ('a broken spec of the GPU\'s vendor', 'gpu_yaml', GOOD + 'containerEdits: [\n', ['is not YAML']),
        ('a spec of the GPU\'s vendor for something else than gpu', 'mig_yaml', GDS.replace('gds', 'mig'), ['/run/udev', 'devices[0].']),
        ('a spec that breaks off before its kind', 'x_json', '{', ['x.json:1:2: ']),
        ('a spec above 1 MiB, whose kind nobody reads', 'large_yaml', TOO_LARGE, ['is too large'])):
    r = refused('a GPU does not come where no other spec has it: ' + what, '/etc/cdi/' + name.replace('_', '.'), NEEDED, *words, **{name: text})
    granted('and comes beside a spec that has it: ' + what, True, good_yaml=GOOD, **{name: text})
specs(gpu_yaml=GOOD)
os.chmod('/etc/cdi/gpu.yaml', 0o664)
r = run()
ok(r.returncode != 0 and '/etc/cdi/gpu.yaml: may be written by others than root' in r.stdout and NEEDED in r.stdout,
   tag + 'a GPU does not come where its spec can be written by others than root', r.stdout)

# rules for a CDI kind: only a spec of this kind, or of an unknown one, may be the one that is meant
policy('example.org/gpu')
refused('a rule for a kind names the spec of this kind that can\'t be used', 'no example.org/gpu device', NEEDED, '/etc/cdi/own.yaml:',
        own_yaml=GDS.replace('nvidia.com/gds', 'example.org/gpu'), npu_yaml=ASCEND)
refused('or the one of an unknown kind', 'no example.org/gpu device', NEEDED, '/etc/cdi/x.json:', x_json='{')
policy('nvidia.com/gpu')
r = refused('a rule for a kind has no device in a spec without devices', 'nvidia.com/gpu', npu_yaml=ASCEND, none_yaml='cdiVersion: 0.5.0\nkind: nvidia.com/gpu\ndevices: []\n')
ok('/etc/cdi' not in r, tag + 'and the specs of other kinds are not blamed', r)
granted('a rule for a kind is granted beside specs of others', True, npu_yaml=ASCEND, gds_yaml=GDS, gpu_yaml=GOOD)

# LD_LIBRARY_PATH in a spec: the way out that the refusal names works
policy()
r = refused('a spec that sets LD_LIBRARY_PATH is not used', '/etc/cdi/gpu.yaml:', 'LD_LIBRARY_PATH steers the dynamic loader', gpu_yaml=BY_HAND + LOADER)
way = re.search(r'set it in the policy: (env = \{ LD_LIBRARY_PATH = "/usr/local/nvidia/lib:/usr/local/nvidia/lib64"; \})', r)
if ok(way, tag + 'the refusal names the line for the policy', r):
    policy(rest=way.group(1))
    granted('without it, and with that line in the policy, the library is found', True, gpu_yaml=BY_HAND)
policy()
granted('without that line it is not', False, gpu_yaml=BY_HAND)

CTL = '/usr/sbin/gpuhelperctl'
specs(npu_yaml=ASCEND, x_json='{')
r = sh(CTL, 'explain', '--identity', 'claim', '--pipeline', 'ml/train', '--gpus', '1')
ok(r.returncode == 78 and 'refused: ' in r.stdout and '/etc/cdi/x.json:1:2: ' in r.stdout and NEEDED in r.stdout, tag + 'explain says the same as the refusal', r.stdout)
r = sh(CTL, 'devices')
ok('a CDI spec is not used: /etc/cdi/x.json:1:2: ' in r.stdout and 'a CDI spec is not used: /etc/cdi/npu.yaml:6:' in r.stdout, tag + 'devices names each spec that is not used', r.stdout)
r = sh(CTL, 'devices', '--json')
ok(json.loads(r.stdout)['cdi_problem'].startswith('/etc/cdi/npu.yaml:6:'), tag + 'and the first one, as JSON', r.stdout[-500:])
done()
