#!/usr/bin/env python3
"""One bundle, used several times: what a grant added is marked, and taken out before the next use.

usage: again.py RUNTIME CGROUP    (in tests/lib/sandbox.sh --gpu nvidia-2gpu)
"""
import json, os, shutil
from lib import *

host, tag = able_host()
os.makedirs('/srv/datasets')
os.makedirs('/srv/other')
write('/srv/datasets/x', 'data\n')
ENV = 'env = { FROM_POLICY = "secret"; };\n'
POLICY = ('pipeline = "ml/train"; identity = "claim";\ngpus = ( { vendor = "nvidia"; devices = [ "%s" ]; } );\n'
          'folders = ( { path = "/srv/datasets"; access = "ro"; }, { path = "/srv/other"; access = "ro"; } );\n' % GPU0)
host.policies(t10=POLICY + ENV)
CLAIM = ['BUILD_TEAM_NAME=ml', 'BUILD_PIPELINE_NAME=train']
ASK = ['GPUHELPER_GPUS=1', 'GPUHELPER_FOLDERS=/srv/datasets']
SEE = ['/bin/sh', '-c', 'ls /dev | grep nvidia[0-9]; cat /srv/datasets/x; env | grep FROM_POLICY']
KEY = 'gpuhelper.added'


def change(b, edit):
    spec = json.loads(b.config())
    edit(spec)
    write(b.dir + '/config.json', json.dumps(spec, separators=(',', ':')))


def without(names):
    def edit(spec):
        spec['process']['env'] = [e for e in spec['process']['env'] if e.split('=')[0] not in names]
    return edit


def run(b):
    r = b.run()
    return r, b.config()


for sample, edit, name in (('task', None, 'with a user namespace'), ('task-privileged', lambda s: ordinary(s, ['CAP_CHOWN']), 'without one'),
                           ('task', lambda s: (s['linux'].pop('maskedPaths', None), s['linux'].pop('devices', None), s.pop('hooks', None), s.pop('annotations', None),
                                               s['process']['user'].pop('additionalGids', None)), 'with few members')):
    b = Bundle(host, sample, env=CLAIM + ASK, args=SEE, edit=edit)
    r, first = run(b)
    mark = json.loads(json.loads(first)['annotations'].get(KEY, '{}'))
    ok(r.returncode == 0 and 'nvidia0' in r.stdout and 'data' in r.stdout.splitlines() and 'secret' in r.stdout, tag + '%s: the first use' % name, (r.stdout, b.errors()))
    ok('/srv/datasets' in mark.get('mounts', []) and '/dev/nvidia0' in mark.get('devices', []) and mark.get('variables') == ['FROM_POLICY'] and 'secret' not in json.dumps(mark),
       tag + '  a mark names the mounts, devices and variables, and no values', mark)
    r, second = run(b)
    ok(r.returncode == 0 and 'nvidia0' in r.stdout and 'data' in r.stdout.splitlines() and second == first, tag + '  the second use: the same config.json, byte for byte',
       (r.stdout, b.errors(), first, second))
    change(b, lambda s: s['process'].update(env=[e.replace('GPUHELPER_FOLDERS=/srv/datasets', 'GPUHELPER_FOLDERS=/srv/other') for e in s['process']['env']]))
    r, third = run(b)
    dests = [m['destination'] for m in json.loads(third)['mounts']]
    ok(r.returncode == 0 and 'data' not in r.stdout.splitlines() and 'nvidia0' in r.stdout and '/srv/other' in dests and '/srv/datasets' not in dests,
       tag + '  another request: what the earlier one got is gone', (r.stdout, b.errors(), dests))
    change(b, without(['GPUHELPER_GPUS', 'GPUHELPER_FOLDERS']))
    r, plain = run(b)
    spec = json.loads(plain)
    ok('nvidia0' not in r.stdout and 'data' not in r.stdout.splitlines() and 'FROM_POLICY=' not in plain and 'proc/driver' not in plain and KEY not in plain and '/srv/' not in json.dumps(spec['mounts']) and
       'nvidia0' not in plain and not [d for d in (spec['linux']['resources'].get('devices') or []) if d.get('major') == 195 and d.get('allow')],
       tag + '  without a request: nothing is left', (r.stdout, b.errors(), plain))
    r = sh('/usr/sbin/gpuhelperctl', 'explain', '--bundle', b.dir)
    ok(r.returncode == 77 and 'requests: nothing' in r.stdout, tag + '  explain says the same', r.stdout)

# explain of a bundle that was used
b = Bundle(host, env=CLAIM + ASK, args=SEE)
run(b)
r = sh('/usr/sbin/gpuhelperctl', 'explain', '--bundle', b.dir)
ok(r.returncode == 0 and 'folder /srv/datasets ro at /srv/datasets' in r.stdout, tag + 'explain of a bundle that was used', r.stdout)

# a mount of the engine's stays, whatever a mark says: an image's author could have written the mark
os.makedirs('/srv/all/secret')
write('/srv/all/secret/key', 'KEY\n')
os.makedirs(W + '/empty')
HIDING = [{'destination': '/all', 'type': 'bind', 'source': '/srv/all', 'options': ['rbind', 'ro']},
          {'destination': '/all/secret', 'type': 'bind', 'source': W + '/empty', 'options': ['bind', 'ro']}]
for name, seal in (('no seal', None), ('a wrong seal', '0' * 64), ('no string', 7)):
    def forged(spec):
        spec['mounts'] += HIDING
        value = {'mounts': ['/all/secret']}
        if seal is not None:
            value['seal'] = seal
        spec.setdefault('annotations', {})[KEY] = json.dumps(value)
    b = Bundle(host, args=['/bin/sh', '-c', 'cat /all/secret/key; echo ran'], edit=forged)
    r = b.run()
    ok('ran' in r.stdout and 'KEY' not in r.stdout and 'does not fit its mark' in r.stdout, tag + 'a mark with %s takes nothing out, and a warning says so' % name, r.stdout)

# nor does a mark of another bundle
b = Bundle(host, env=CLAIM + ASK, args=SEE)
run(b)
other = Bundle(host, args=SEE)
shutil.copy(b.dir + '/config.json', other.dir + '/config.json')
r = other.run()
UNFIT = 'warning: config.json does not fit its mark (gpuhelper.added)'
ok(r.returncode == 1 and 'would cover' in r.stdout and leases() == [], tag + 'a copy of a used bundle elsewhere is judged as it is', (r.stdout, other.errors()))
ok(UNFIT in r.stdout, tag + '  and a warning says so, although the container is refused', (r.stdout, other.errors()))
# and one of which an element was changed
b = Bundle(host, env=CLAIM + ASK, args=SEE)
run(b)
change(b, lambda s: [m.update(options=['bind', 'rw']) for m in s['mounts'] if m['destination'] == '/srv/datasets'])
r = b.run()
ok(r.returncode == 1 and 'would cover' in r.stdout and UNFIT in r.stdout, tag + 'what somebody changed is no longer ours', r.stdout)
# a mark that is no mark
for value in '', '[]', '{', '{"mounts":7,"seal":""}', '{"mounts":["' + 'x' * 5000 + '"],"seal":"%s"}' % ('0' * 64):
    b = Bundle(host, args=['/bin/true'], edit=lambda s: s.setdefault('annotations', {}).update({KEY: value}))
    r = b.run()
    ok(r.returncode == 0, tag + 'a mark that is none: %.30s' % value, (r.stdout, b.errors()))
done()
