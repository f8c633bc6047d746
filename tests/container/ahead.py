#!/usr/bin/env python3
"""The wrapper starts the helper before it parses config.json, if that names something that a container can ask for.

usage: ahead.py RUNTIME CGROUP    (in tests/lib/sandbox.sh --gpu nvidia-2gpu)
"""
import json, os, subprocess
from lib import *

host, tag = able_host()
TRAIN = ['BUILD_TEAM_NAME=ml', 'BUILD_PIPELINE_NAME=train']
host.policies(t10='pipeline = "ml/train";\nidentity = "claim";\ngpus = ( { vendor = "nvidia"; count = 2; } );\n')
AUDIT = '/var/log/gpuhelper/audit.jsonl'
LOOK = ['/bin/sh', '-c', ': GPUHELPER_GPUS=1 GPUHELPER_TOKEN; exec sleep 60']


def records():
    return [json.loads(l) for l in open(AUDIT)] if os.path.exists(AUDIT) else []


def helpers():
    """The processes of our programs, zombies included."""
    return [p for p in os.listdir('/proc') if p.isdigit() and
            open('/proc/%s/stat' % p).read().split('(', 1)[1].rsplit(')', 1)[0].startswith('gpuhelper')]


def traced(b):
    """«create» under strace: the wrapper's exit status, and its own calls, in order, until it becomes or forks the runtime."""
    trace = b.dir + '/trace'
    status = subprocess.run(['strace', '-o', trace, '-e', 'trace=vfork,clone,clone3,execve,execveat,sendto', WRAPPER, '--root', W + '/root',
                             '--log', b.log, '--log-format', 'json', 'create', '--bundle', b.dir, '--pid-file', b.dir + '/pid', b.id],
                            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=60).returncode
    kinds = []
    for line in open(trace).read().splitlines()[1:]:
        if line[:3] in ('---', '+++'):
            continue
        kind = line.split('(', 1)[0]
        # only a program that it starts shares its memory until then
        if kind.startswith('execve') or ('clone' in kind and 'CLONE_VM' not in line):
            break
        kinds.append('start' if 'clone' in kind or kind == 'vfork' else kind)
    return status, kinds


if not shutil.which('strace'):
    print('1..0 # SKIP there is no strace: sh tests/deps.sh check')
    sys.exit(0)

# an asking container
b = Bundle(host, env=TRAIN + ['GPUHELPER_GPUS=1'])
status, calls = traced(b)
ok(status == 0 and '/dev/nvidia0' in b.config(), tag + 'a container that asks gets its GPU', b.errors())
ok(calls[:2] == ['start', 'sendto'], tag + 'the helper was started before there was a request', calls)
b.delete()

# one that only names it
before = records()
b = Bundle(host, env=TRAIN, args=LOOK)
status, calls = traced(b)
ok(status == 0 and '/dev/nvidia' not in b.config(), tag + 'a task that names GPUHELPER_GPUS in its arguments gets no GPU', b.errors())
ok(calls == ['start'], tag + 'its helper gets no request', calls)
ok(records() == before, tag + 'the audit log has nothing of it', records()[len(before):])
ok(helpers() == [] and os.listdir('/run/gpuhelper/leases') == [], tag + 'no process of ours is left, not even a zombie, and no lease', helpers())
b.delete()

# audit.plain: the helper that was started is the one that records
host.settings('audit = { plain = true; };')
before = records()
b = Bundle(host, env=TRAIN, args=LOOK)
status, calls = traced(b)
new = records()[len(before):]
ok(status == 0 and calls == ['start', 'sendto'] and [e['event'] for e in new] == ['plain'],
   tag + 'with audit.plain that helper records the container, once', (calls, new))
b.delete()
host.settings()

# a config.json that cannot be read
before = records()
b = Bundle(host, env=TRAIN + ['GPUHELPER_GPUS=1'], raw=lambda t: t[:-1])
status, calls = traced(b)
new = records()[len(before):]
ok(status != 0 and calls == ['start', 'sendto'] and [e['event'] for e in new] == ['refuse'],
   tag + 'a broken config.json is refused, and recorded once, by that helper', (calls, new))

# an ordinary container
b = Bundle(host, env=TRAIN)
status, calls = traced(b)
ok(status == 0 and calls == [], tag + 'for a container that names nothing, no helper is started', calls)
b.delete()

# every container asks
host.settings('grant_unasked = true;')
b = Bundle(host, env=TRAIN)
status, calls = traced(b)
ok(calls[:2] == ['start', 'sendto'], tag + 'with grant_unasked the helper is started ahead for every container', calls)
b.delete()
done()
