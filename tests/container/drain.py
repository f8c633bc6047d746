#!/usr/bin/env python3
"""gpuhelperctl drain, undrain, end: a drained GPU goes to nobody, by any way; a container that is ended frees its own.

usage: drain.py    (in tests/lib/sandbox.sh --gpu nvidia-2gpu)

The GPUs are SIMULATED.
"""
from lib import *

CTL = '/usr/sbin/gpuhelperctl'
LIST = '/var/lib/gpuhelper/drained'
host = Host('runc', 'v1')
host.settings()
POLICY = 'pipeline = "ml/train";\nidentity = "claim";\ngpus = ( { vendor = "nvidia"; count = 2; wait = %d; %s } );\n'
host.policies(t10=POLICY % (0, ''))
TRAIN = ['BUILD_TEAM_NAME=ml', 'BUILD_PIPELINE_NAME=train']


def run(*env, hold=False, caps=None):
    b = Bundle(host, env=TRAIN + list(env), args=['/bin/sleep', '1000' if hold else '0'])
    b.r = sh('sh', '-c', 'exec "$@"' + (' >/dev/null 2>&1' if hold else ''), '-', WRAPPER, '--root', W + '/root', '--log', b.log,
             '--log-format', 'json', 'run', *(['-d'] if hold else []), '--bundle', b.dir, b.id, cwd=b.dir)
    b.said = b.r.stdout + (open(b.log).read() if os.path.exists(b.log) else '')
    return b


def gpus():
    return json.loads(sh(CTL, 'status', '--json').stdout)['gpus']


A, B = [g['pci'] for g in gpus()]
UUID = gpus()[0]['uuid']
before = snapshot('/run/gpuhelper')

# what is refused changes nothing
r = sh(CTL, 'drain', 'nvidia-9')
ok(r.returncode == 69 and 'see gpuhelperctl devices' in r.stdout and not os.path.exists(LIST), 'a GPU that is not there', r.stdout)
r = sh(CTL, 'drain', 'all')
ok(r.returncode == 64 and A in r.stdout and B in r.stdout and not os.path.exists(LIST), 'a name of several', r.stdout)
r = sh(CTL, 'drain', '0', '--why', 'a\nb')
ok(r.returncode == 64 and not os.path.exists(LIST), 'a reason of two lines', r.stdout)
r = sh(CTL, 'drain', '0', '--why', 'x' * 128)
ok(r.returncode == 64 and not os.path.exists(LIST), 'one that is too long', r.stdout)
sh('useradd', '--no-create-home', '-G', 'gpuhelper', 'worker')
AS = ['setpriv', '--reuid', 'worker', '--init-groups', '--regid', 'worker']
for command in (['drain', '0'], ['undrain', '--all'], ['end', 'x', '--yes']):
    r = sh(*AS, CTL, *command)
    ok(r.returncode == 77 and 'only root' in r.stdout and not os.path.exists(LIST), 'a user may not: ' + command[0], r.stdout)

# who has the GPU keeps it, and is named
held = run('GPUHELPER_GPUS=2', hold=True)
ok(held.r.returncode == 0, 'both are given', held.said)
r = sh(CTL, 'drain', UUID, '--why', 'fan is loud')
ok(r.returncode == 0 and r.stdout.startswith('nvidia %s: drained' % A) and 'gpuhelperctl undrain ' + A in r.stdout and
   'held by %s (ml/train)' % held.id in r.stdout, 'drain says what it did, and who holds the GPU', r.stdout)
ok(os.stat('/var/lib/gpuhelper').st_mode & 0o777 == 0o700, 'the list is root\'s to read')
s = gpus()
ok([g['state'] for g in s] == ['held', 'held'] and s[0]['drained']['why'] == 'fan is loud' and 'drained' not in s[1], 'status tells', s)
text = sh(CTL, 'status').stdout
ok(re.search(r'^nvidia 0 .*: held by %s .*; drained since 20\S+: fan is loud$' % held.id, text, re.M), 'and in words', text)
b = sh(*AS, CTL, 'status').stdout
ok('drained' not in b and b.count(': unknown') == 2, 'a user is not told', b)

# end
r = sh(CTL, 'end', held.id, '--dry-run')
ok(r.returncode == 0 and 'its processes are killed' in r.stdout and len(leases()) == 1, 'end --dry-run says what becomes of it', r.stdout)
r = sh(CTL, 'end', held.id, stdin=subprocess.DEVNULL)
ok(r.returncode == 64 and '--yes' in r.stdout and len(leases()) == 1, 'nobody to ask: it is not ended', r.stdout)
r = sh('sh', '-c', 'echo n | script -qec "%s end %s" /dev/null' % (CTL, held.id))
ok('[y/N]' in r.stdout and 'keeps running' in r.stdout and len(leases()) == 1, 'who says no is heard', r.stdout)
r = sh(CTL, 'end', held.id + 'x', '--yes')
ok(r.returncode == 69 and len(leases()) == 1, 'a container that is not there', r.stdout)
r = sh(CTL, 'end', held.id[:-1], '--yes')
ok(r.returncode == 0 and r.stdout.endswith('ended\n') and leases() == [], 'the beginning of a name is enough', r.stdout)
r = sh('runc', '--root', W + '/root', 'state', held.id)
ok('"status": "stopped"' in r.stdout, 'its processes are gone', r.stdout)
ok(audit()[-1]['event'] == 'end', 'and the log has its end', audit()[-1])
held.delete()
ok([g['state'] for g in gpus()] == ['out-of-service', 'free'], 'then the drained one is out of service', gpus())

# two containers whose names begin alike
one, two = run('GPUHELPER_GPUS=1', hold=True), None
ok(one.r.returncode == 0, 'one GPU is given', one.said)
g = [g for a in audit() if a.get('container') == one.id and a['event'] == 'grant' for g in a['gpus']]
ok(len(g) == 1 and B in g[0], 'the other one', g)
for n in range(3):
    refused = run('GPUHELPER_GPUS=1')
    ok(refused.r.returncode != 0 and 'free' in refused.said, 'the drained one is not', refused.said)
    refused.delete()
sh(CTL, 'end', one.id, '--yes')
one.delete()
for ask in ('GPUHELPER_GPUS=2', 'GPUHELPER_GPUS=' + UUID, 'GPUHELPER_GPUS=' + A):
    b = run(ask)
    ok(b.r.returncode != 0 and 'too few of the GPUs' in b.said and '%s is drained since 20' % A in b.said and 'fan is loud' in b.said,
       'refused, with the reason: ' + ask, b.said)
    b.delete()
r = audit()[-1]
ok(r['event'] == 'refuse' and r['code'] == 77 and 'is drained' in r['reason'], 'and so in the log', r)
# who may wait does not wait for days
host.policies(t10=POLICY % (100, ''))
began = time.time()
b = run('GPUHELPER_GPUS=2')
ok(b.r.returncode != 0 and time.time() - began < 20 and os.listdir('/run/gpuhelper/queue') == [], 'nor does who may wait wait for it', b.said)
b.delete()
host.policies(t10=POLICY % (0, 'sharing = "shared";'))
b = run('GPUHELPER_GPUS=' + A)
ok(b.r.returncode != 0 and 'is drained' in b.said, 'a shared one is drained for all', b.said)
b.delete()
host.policies(t10=POLICY % (0, ''))

# both; the metrics
sh(CTL, 'drain', B)
ok([g['state'] for g in gpus()] == ['out-of-service'] * 2, 'both can be drained', gpus())
m = sh(CTL, 'metrics').stdout
ok('gpuhelper_gpus{vendor="nvidia",state="out-of-service"} 2' in m, 'the metrics count them', m)
r = sh(CTL, 'drain', B, '--why', 'later')
ok(r.returncode == 0 and gpus()[1]['drained']['why'] == 'later', 'the reason can be given later', r.stdout)
since = gpus()[1]['drained']['since']
sh(CTL, 'drain', B)
ok(gpus()[1]['drained'] == {'since': since, 'why': 'later'}, 'and draining again changes nothing')

# a list that nobody can read gives nothing out
text = open(LIST).read()
for name, spoil in (('cut off', lambda: write(LIST, text[:-4])), ('a stranger\'s', lambda: os.chown(LIST, 12345, 0)),
                    ('writable', lambda: os.chmod(LIST, 0o666)),
                    ('a link', lambda: (os.rename(LIST, LIST + '.away'), os.symlink(LIST + '.away', LIST)))):
    write(LIST, text)
    os.chmod(LIST, 0o644)
    os.chown(LIST, 0, 0)
    spoil()
    b = run('GPUHELPER_GPUS=1')
    ok(b.r.returncode != 0 and 'drained' in b.said and leases() == [], 'a list that is %s: no GPU' % name, b.said)
    b.delete()
    if os.path.islink(LIST):
        os.unlink(LIST)
        os.unlink(LIST + '.away')
write(LIST, text[:-4])
r = sh(CTL, 'undrain', A)
ok(r.returncode == 78 and 'undrain --all' in r.stdout, 'undrain can\'t read it either, and says what can', r.stdout)
r = sh(CTL, 'undrain', '--all')
ok(r.returncode == 0 and [g['state'] for g in gpus()] == ['free'] * 2, 'undrain --all mends it', r.stdout)

# undrain
r = sh(CTL, 'undrain')
ok(r.returncode == 64, 'undrain of nothing', r.stdout)
r = sh(CTL, 'undrain', A)
ok(r.returncode == 69, 'undrain of what is not drained', r.stdout)
sh(CTL, 'drain', A)
sh(CTL, 'drain', B)
r = sh(CTL, 'undrain', A.upper())
ok(r.returncode == 0 and r.stdout == 'nvidia %s: in service again\n' % A and [g['state'] for g in gpus()] == ['free', 'out-of-service'],
   'one is put back, by any spelling of its address', r.stdout)
# many at once
ps = [subprocess.Popen([CTL, word, '1'] if word == 'drain' else [CTL, word, '--all'], stdout=subprocess.DEVNULL)
      for word in ('drain', 'undrain') * 10]
ok([p.wait() for p in ps] == [0] * 20, 'twenty at once')
sh(CTL, 'undrain', '--all')
b = run('GPUHELPER_GPUS=2')
ok(b.r.returncode == 0 and leases() == [], 'both are given again', b.said)
b.delete()
ok(snapshot('/run/gpuhelper') == before or leases() == [], 'and nothing is left')
done()
