#!/usr/bin/env python3
"""gpuhelperctl drain, undrain, end: no container gets a drained GPU in any way; a container that is ended frees its
GPU.

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

# refused commands change nothing
r = sh(CTL, 'drain', 'nvidia-9')
ok(r.returncode == 69 and 'see gpuhelperctl devices' in r.stdout and not os.path.exists(LIST), 'an unknown GPU', r.stdout)
r = sh(CTL, 'drain', 'all')
ok(r.returncode == 64 and A in r.stdout and B in r.stdout and not os.path.exists(LIST), 'a name of several GPUs', r.stdout)
r = sh(CTL, 'drain', '0', '--why', 'a\nb')
ok(r.returncode == 64 and not os.path.exists(LIST), 'a two-line reason', r.stdout)
r = sh(CTL, 'drain', '0', '--why', 'x' * 128)
ok(r.returncode == 64 and not os.path.exists(LIST), 'too long a reason', r.stdout)
sh('useradd', '--no-create-home', '-G', 'gpuhelper', 'worker')
AS = ['setpriv', '--reuid', 'worker', '--init-groups', '--regid', 'worker']
for command in (['drain', '0'], ['undrain', '--all'], ['end', 'x', '--yes']):
    r = sh(*AS, CTL, *command)
    ok(r.returncode == 77 and 'only root' in r.stdout and not os.path.exists(LIST), 'a user may not: ' + command[0], r.stdout)

# the holder keeps the GPU, and is named
held = run('GPUHELPER_GPUS=2', hold=True)
ok(held.r.returncode == 0, 'both GPUs are given', held.said)
r = sh(CTL, 'drain', UUID, '--why', 'fan is loud')
ok(r.returncode == 0 and r.stdout.startswith('nvidia %s: drained' % A) and 'gpuhelperctl undrain ' + A in r.stdout and
   'held by %s (ml/train)' % held.id in r.stdout, 'drain reports what it did, and the GPU\'s holder', r.stdout)
ok(os.stat('/var/lib/gpuhelper').st_mode & 0o777 == 0o700, 'only root can read the list')
s = gpus()
ok([g['state'] for g in s] == ['held', 'held'] and s[0]['drained']['why'] == 'fan is loud' and 'drained' not in s[1], 'status shows the drained GPU', s)
text = sh(CTL, 'status').stdout
ok(re.search(r'^nvidia 0 .*  held +\d+[sm] +%s .*\n    drained since 20\S+: fan is loud$' % held.id, text, re.M), 'status shows the drained GPU as text, too', text)
b = sh(*AS, CTL, 'status').stdout
ok('drained' not in b and len(re.findall('^nvidia .* unknown', b, re.M)) == 2, 'a user does not see the reason', b)

# end
r = sh(CTL, 'end', held.id, '--dry-run')
ok(r.returncode == 0 and 'its processes are killed' in r.stdout and len(leases()) == 1, 'end --dry-run says what would happen', r.stdout)
r = sh(CTL, 'end', held.id, stdin=subprocess.DEVNULL)
ok(r.returncode == 64 and '--yes' in r.stdout and len(leases()) == 1, 'without a terminal for the question, end does nothing', r.stdout)
r = sh('sh', '-c', 'echo n | script -qec "%s end %s" /dev/null' % (CTL, held.id))
ok('[y/N]' in r.stdout and 'keeps running' in r.stdout and len(leases()) == 1, 'the answer «no» ends nothing', r.stdout)
r = sh(CTL, 'end', held.id + 'x', '--yes')
ok(r.returncode == 69 and len(leases()) == 1, 'an unknown container', r.stdout)
r = sh(CTL, 'end', held.id[:-1], '--yes')
ok(r.returncode == 0 and r.stdout.endswith('ended\n') and leases() == [], 'the beginning of a name is enough', r.stdout)
r = sh('runc', '--root', W + '/root', 'state', held.id)
ok('"status": "stopped"' in r.stdout, 'the container\'s processes are gone', r.stdout)
ok(audit()[-1]['event'] == 'end', 'the log has the lease\'s end', audit()[-1])
held.delete()
ok([g['state'] for g in gpus()] == ['out-of-service', 'free'], 'afterwards the drained GPU is out of service', gpus())

# two containers with a common prefix
one, two = run('GPUHELPER_GPUS=1', hold=True), None
ok(one.r.returncode == 0, 'the free GPU is given', one.said)
g = [g for a in audit() if a.get('container') == one.id and a['event'] == 'grant' for g in a['gpus']]
ok(len(g) == 1 and B in g[0], 'the container got the GPU that is not drained', g)
for n in range(3):
    refused = run('GPUHELPER_GPUS=1')
    ok(refused.r.returncode != 0 and 'free' in refused.said, 'the drained GPU is refused', refused.said)
    refused.delete()
sh(CTL, 'end', one.id, '--yes')
one.delete()
for ask in ('GPUHELPER_GPUS=2', 'GPUHELPER_GPUS=' + UUID, 'GPUHELPER_GPUS=' + A):
    b = run(ask)
    ok(b.r.returncode != 0 and 'too few of the GPUs' in b.said and '%s is drained since 20' % A in b.said and 'fan is loud' in b.said,
       'refused, with the reason: ' + ask, b.said)
    b.delete()
r = audit()[-1]
ok(r['event'] == 'refuse' and r['code'] == 77 and 'is drained' in r['reason'], 'the log has the same reason', r)
# a request that may wait does not wait for days
host.policies(t10=POLICY % (100, ''))
began = time.time()
b = run('GPUHELPER_GPUS=2')
ok(b.r.returncode != 0 and time.time() - began < 20 and os.listdir('/run/gpuhelper/queue') == [], 'a request that may wait does not wait for it', b.said)
b.delete()
host.policies(t10=POLICY % (0, 'sharing = "shared";'))
b = run('GPUHELPER_GPUS=' + A)
ok(b.r.returncode != 0 and 'is drained' in b.said, 'a shared GPU is drained for everybody', b.said)
b.delete()
host.policies(t10=POLICY % (0, ''))

# both GPUs; the metrics
sh(CTL, 'drain', B)
ok([g['state'] for g in gpus()] == ['out-of-service'] * 2, 'both GPUs can be drained', gpus())
m = sh(CTL, 'metrics').stdout
ok('gpuhelper_gpus{vendor="nvidia",state="out-of-service"} 2' in m, 'the metrics count them', m)
r = sh(CTL, 'drain', B, '--why', 'later')
ok(r.returncode == 0 and gpus()[1]['drained']['why'] == 'later', 'the reason can be added later', r.stdout)
since = gpus()[1]['drained']['since']
sh(CTL, 'drain', B)
ok(gpus()[1]['drained'] == {'since': since, 'why': 'later'}, 'draining a drained GPU changes nothing')

# with an unreadable list no GPU is given
text = open(LIST).read()
for name, spoil in (('cut off', lambda: write(LIST, text[:-4])), ('a stranger\'s', lambda: os.chown(LIST, 12345, 0)),
                    ('writable', lambda: os.chmod(LIST, 0o666)),
                    ('a link', lambda: (os.rename(LIST, LIST + '.away'), os.symlink(LIST + '.away', LIST)))):
    write(LIST, text)
    os.chmod(LIST, 0o644)
    os.chown(LIST, 0, 0)
    spoil()
    b = run('GPUHELPER_GPUS=1')
    ok(b.r.returncode != 0 and 'drained' in b.said and leases() == [], 'a list that is %s: no GPU is given' % name, b.said)
    b.delete()
    if os.path.islink(LIST):
        os.unlink(LIST)
        os.unlink(LIST + '.away')
write(LIST, text[:-4])
r = sh(CTL, 'undrain', A)
ok(r.returncode == 78 and 'undrain --all' in r.stdout, 'undrain cannot read the list either, and names the command that helps', r.stdout)
r = sh(CTL, 'undrain', '--all')
ok(r.returncode == 0 and [g['state'] for g in gpus()] == ['free'] * 2, 'undrain --all repairs the list', r.stdout)

# undrain
r = sh(CTL, 'undrain')
ok(r.returncode == 64, 'undrain without a name', r.stdout)
r = sh(CTL, 'undrain', A)
ok(r.returncode == 69, 'undrain of a GPU that is not drained', r.stdout)
sh(CTL, 'drain', A)
sh(CTL, 'drain', B)
r = sh(CTL, 'undrain', A.upper())
ok(r.returncode == 0 and r.stdout == 'nvidia %s: in service again\n' % A and [g['state'] for g in gpus()] == ['free', 'out-of-service'],
   'undrain accepts any spelling of the address', r.stdout)
# many commands at once
ps = [subprocess.Popen([CTL, word, '1'] if word == 'drain' else [CTL, word, '--all'], stdout=subprocess.DEVNULL)
      for word in ('drain', 'undrain') * 10]
ok([p.wait() for p in ps] == [0] * 20, 'twenty commands at once')
sh(CTL, 'undrain', '--all')
b = run('GPUHELPER_GPUS=2')
ok(b.r.returncode == 0 and leases() == [], 'both GPUs are given again', b.said)
b.delete()
ok(snapshot('/run/gpuhelper') == before or leases() == [], 'no file is left')
# a container of «run», whose first process the helper never saw
b = Bundle(host, env=['BUILD_TEAM_NAME=ml', 'BUILD_PIPELINE_NAME=train', 'GPUHELPER_GPUS=1'], args=['/bin/sleep', '1000'])
p = subprocess.Popen([WRAPPER, '--root', W + '/root', '--log', b.log, 'run', '--bundle', b.dir, b.id], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                     stderr=subprocess.STDOUT, text=True)
for _ in range(200):
    if '"running"' in sh(host.runtime, '--root', W + '/root', 'state', b.id).stdout:
        break
    time.sleep(0.05)
r = sh(CTL, 'end', b.id, '--dry-run')
ok(r.returncode == 0 and p.poll() is None and 'its processes are killed' in r.stdout, 'end --dry-run of a container of «run»', r.stdout)
r = sh(CTL, 'end', b.id, '--yes')
ok(r.returncode == 0 and r.stdout.endswith('ended\n') and p.wait(10) == 137 and leases() == [], 'end ends a container of «run»', (r.stdout, p.returncode, leases()))

done()
