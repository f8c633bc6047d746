#!/usr/bin/env python3
"""respect_allocation: the allocation in the worker's environment limits what its containers get.

usage: allocation.py    (in tests/lib/sandbox.sh --gpu nvidia-2gpu)

The workload manager is SIMULATED by the variables that SLURM sets.  The GPUs are SIMULATED, too.
"""
from lib import *

host = Host('runc', 'v1')
TRAIN = ['BUILD_TEAM_NAME=ml', 'BUILD_PIPELINE_NAME=train']
host.policies(t10='pipeline = "ml/train";\nidentity = "claim";\ngpus = ( { vendor = "nvidia"; count = 2; } );\n')


def told(asked='all', conf='respect_allocation = true;', env=(), **worker):
    """The container's GPUs and its variable, or the refusal."""
    host.settings(conf)
    b = Bundle(host, env=TRAIN + ['GPUHELPER_GPUS=' + asked] + list(env),
               args=['/bin/sh', '-c', 'echo $(cd /dev; ls -d nvidia[0-9]*) "CUDA=$CUDA_VISIBLE_DEVICES"'])
    r = sh(WRAPPER, '--root', W + '/root', 'run', '--bundle', b.dir, b.id, cwd=b.dir, env=dict(os.environ, **worker))
    b.delete()
    return without_warning(r.stdout).strip()


r = told()
ok(r == 'nvidia0 nvidia1 CUDA=', 'a worker without a workload manager: what the policy gives', r)
r = told(CUDA_VISIBLE_DEVICES='1')
ok(r == 'nvidia1 CUDA=0', 'a worker with the second GPU: the container gets that one, as its first', r)
r = told(CUDA_VISIBLE_DEVICES='1', env=['CUDA_VISIBLE_DEVICES=1'])
ok(r == 'nvidia1 CUDA=0', 'whatever variable the container sets itself', r)
r = told(CUDA_VISIBLE_DEVICES=GPU1 + ',0')
ok(r == 'nvidia0 nvidia1 CUDA=0,1', 'an allocation of both GPUs, one by its UUID', r)
r = told(asked='2', CUDA_VISIBLE_DEVICES='0')
ok('gpuhelper: ' in r and 'CUDA_VISIBLE_DEVICES' in r and 'workload manager' in r, 'a request beyond the allocation is refused', r)
r = told(asked=GPU1, CUDA_VISIBLE_DEVICES='0')
ok('workload manager did not let this worker have' in r, 'a request for another GPU by name is refused', r)
for none in '', '-1', 'NoDevFiles':
    r = told(CUDA_VISIBLE_DEVICES=none)
    ok('workload manager' in r, 'an empty allocation, "%s": refused' % none, r)
for bad in '0,', 'GPU-edfe', '0;1', '0x1', ' 1', '1,all':
    r = told(CUDA_VISIBLE_DEVICES=bad)
    ok('is neither a number nor a whole UUID' in r, 'an unreadable allocation, "%s": refused' % bad, r)
r = told(ROCR_VISIBLE_DEVICES='')
ok(r == 'nvidia0 nvidia1 CUDA=', "AMD's variable does not limit NVIDIA's GPUs", r)
r = told(conf='', CUDA_VISIBLE_DEVICES='1')
ok(r == 'nvidia0 nvidia1 CUDA=', 'without respect_allocation the variable is ignored', r)

# what the task sets itself, without a workload manager: a number or UUID that its container does not have
WARNING = 'gpuhelper: warning: CUDA_VISIBLE_DEVICES=%s names %s, which this container does not have, so CUDA will not use it: the container has 1 GPU, numbered from 0: remove the variable'
for value, absent in ('1', '1'), ('0,1', '1'), (GPU1, GPU1):
    r = told(asked='1', conf='', env=['CUDA_VISIBLE_DEVICES=' + value])
    ok(r.splitlines() == [WARNING % (value, absent), 'nvidia0 CUDA=' + value], 'a container with one GPU and CUDA_VISIBLE_DEVICES=%s: one warning' % value, r)
for value in '0', '', '-1', 'NoDevFiles', GPU0:
    r = told(asked='1', conf='', env=['CUDA_VISIBLE_DEVICES=' + value])
    ok(r == 'nvidia0 CUDA=' + value, 'CUDA_VISIBLE_DEVICES=%s: no warning' % value, r)
r = told(asked='all', conf='', env=['CUDA_VISIBLE_DEVICES=1'])
ok(r == 'nvidia0 nvidia1 CUDA=1', 'a container with two GPUs and CUDA_VISIBLE_DEVICES=1: no warning', r)
ok(leases() == [], 'no lease is left')
done()
