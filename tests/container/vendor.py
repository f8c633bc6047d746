#!/usr/bin/env python3
"""driver_files = "vendor-runtime": what the wrapper tells a vendor's runtime below it.

usage: vendor.py    (in tests/lib/sandbox.sh --gpu nvidia-2gpu)

The vendor's runtime is a STAND-IN: a script that records the environment of config.json and runs runc.  The test does
not show what a real one does with the variables.
"""
import json, os, sys
from lib import *

host = Host('runc', 'v1')
SEEN = W + '/seen'
vendor = write(W + '/bin/nvidia-container-runtime', """#!/bin/sh
for a; do [ "$prev" != --bundle ] || cp "$a/config.json" %s; prev=$a; done
exec %s "$@"
""" % (SEEN, host.runtime), 0o755)
host.runtime = vendor
TRAIN = ['BUILD_TEAM_NAME=ml', 'BUILD_PIPELINE_NAME=train']
POLICY = 'pipeline = "ml/train";\nidentity = "claim";\ngpus = ( { vendor = "nvidia"; count = 2; %s } );\n'
IMAGE = ['NVIDIA_VISIBLE_DEVICES=all', 'NVIDIA_DRIVER_CAPABILITIES=all', 'AMD_VISIBLE_DEVICES=all']


def told(env=(), text='driver_files = "vendor-runtime";'):
    """The variables, in order, that the runtime below sees."""
    host.settings(text)
    b = Bundle(host, env=IMAGE + list(env), args=['/bin/true'])
    r = b.run()
    if r.returncode != 0:
        return r.stdout
    return [e for e in json.load(open(SEEN))['process']['env'] if e.split('=')[0] in [i.split('=')[0] for i in IMAGE]]


host.policies(t10=POLICY % '')
r = told(TRAIN + ['GPUHELPER_GPUS=' + GPU0])
ok(sorted(r) == ['NVIDIA_DRIVER_CAPABILITIES=compute,utility', 'NVIDIA_VISIBLE_DEVICES=' + GPU0], 'the runtime below is told of the granted GPU, and of no other', r)
r = told(TRAIN + ['GPUHELPER_GPUS=2'])
ok(sorted(r)[1:] == ['NVIDIA_VISIBLE_DEVICES=%s,%s' % (GPU0, GPU1)], 'the runtime below is told of both granted GPUs', r)
host.policies(t10=POLICY % 'capabilities = [ "utility", "video" ];')
r = told(TRAIN + ['GPUHELPER_GPUS=1'])
ok('NVIDIA_DRIVER_CAPABILITIES=utility,video' in r, "the runtime below is told of the policy's capabilities", r)
r = told()
ok('NVIDIA_VISIBLE_DEVICES=void' in r and not [e for e in r if e.startswith('AMD') or e.endswith('VISIBLE_DEVICES=all')],
   'a plain container: the runtime below is told of no GPU, whatever the image says', r)
r = told(TRAIN + ['GPUHELPER_GPUS=1'], '')
ok('NVIDIA_VISIBLE_DEVICES=void' in r, 'driver_files = "none": not of a granted GPU either', r)
NULL = {'type': 'bind', 'source': '/dev/null', 'options': ['bind']}
ASKS = ['/run/nvidia-container-devices/all', '/var/run/nvidia-container-devices/0', '/var/run/nvidia-container-devicesall',
        '/run/nvidia-container-devicesall', '/var/run/../run//nvidia-container-devices1']
NOTES = ['cdi.k8s.io/x', 'nvidia.cdi.k8s.io/x', 'cdi.k8s.io']


def ask(spec):
    spec['mounts'] += [dict(NULL, destination=d) for d in ASKS + ['/tmp/kept']]
    spec['annotations'] = dict({n: 'management.nvidia.com/gpu=all' for n in NOTES}, kept='1')


def requests():
    """How nvidia-container-toolkit reads them (internal/config/image/cuda_image.go): prefixes, after filepath.Clean()."""
    spec = json.load(open(SEEN))
    mounts = [os.path.normpath(m['destination']) for m in spec['mounts']]
    return [m for m in mounts if m.startswith(('/run/nvidia-container-devices', '/var/run/nvidia-container-devices'))] + \
           [a for a in spec['annotations'] if 'cdi.k8s.io' in a], '/tmp/kept' in mounts and 'kept' in spec['annotations']


host.settings('driver_files = "vendor-runtime";')
r = Bundle(host, args=['/bin/true'], edit=ask).run()
ok(r.returncode == 0 and requests() == ([], True), 'a plain container that asks by mounts and annotations: the runtime below is told of no GPU', (r.stdout, requests()))
host.policies(t10=(POLICY % '') + 'env = { NVIDIA_VISIBLE_DEVICES = "all"; };')
r = told(TRAIN + ['GPUHELPER_GPUS=1'])
ok('driver_files' in r, 'a policy that sets the variable itself is invalid', r)
done()
