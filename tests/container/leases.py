#!/usr/bin/env python3
"""Leases under a crowd: no GPU is given too often, none is lost, and the first to come is served first.

usage: leases.py    (in tests/lib/sandbox.sh --gpu nvidia-4gpu)

The runtime below the wrapper is hold.c, so that hundreds of containers run in seconds.  The wrapper, the helper, its
lock, leases and queue, and the processes that hold the leases are real.
"""
import json, os, random, signal, time
from lib import *

host = Host('runc', 'v1')
host.use_hold()
TRAIN = ['BUILD_TEAM_NAME=ml', 'BUILD_PIPELINE_NAME=train']
POLICY = 'pipeline = "ml/train";\nidentity = "claim";\ngpus = ( { vendor = "nvidia"; count = 4; wait = 100; %s } );\n'


def start(env, ms):
    return Bundle(host, env=TRAIN + env).hold(ms)


def most_at_once(records):
    """The largest number of holders at the same time, for each GPU, by the log."""
    now, most, of = {}, {}, {}
    for a in records:
        if a['event'] == 'grant':
            of[a['container']] = [g.split()[1] for g in a.get('gpus', [])]
            for g in of[a['container']]:
                now[g] = now.get(g, 0) + 1
                most[g] = max(most.get(g, 0), now[g])
        elif a['event'] in ('end', 'undo'):
            for g in of.pop(a['container'], []):
                now[g] -= 1
    return most, now


# a crowd, with exclusive and with shared GPUs
for name, rule, count, limit in (('exclusive', '', 200, 1), ('shared, limit 3', 'sharing = "shared"; share_limit = 3;', 200, 3)):
    host.policies(t10=POLICY % rule)
    since = len(audit())
    begin = time.time()
    crowd = [start(['GPUHELPER_GPUS=%d' % random.choice((1, 1, 1, 2))], 20) for _ in range(count)]
    for b in crowd:
        b.p.wait(120)
    took = time.time() - begin
    records = audit()[since:]
    most, left = most_at_once(records)
    got = [a['container'] for a in records if a['event'] == 'grant']
    ok(all(b.p.returncode == 0 for b in crowd) and len(got) == len(set(got)) == count,
       '%d containers at once, %s: each gets its GPUs (in %.1f s)' % (count, name, took),
       ([b.p.returncode for b in crowd if b.p.returncode], len(got), [b.errors() for b in crowd if b.errors()][:3]))
    ok(len(most) == 4 and max(most.values()) <= limit, '%s: no GPU is given too often: at most %s at once' % (name, most), most)
    sh(WRAPPER, '--root', W + '/root', 'state', 'x')
    ok(leases() == [] and os.listdir('/run/gpuhelper/queue') == [] and not any(left.values()), '%s: no lease and no place in the queue is left' % name,
       (leases(), os.listdir('/run/gpuhelper/queue'), left))

# first come, first served, although some die waiting
host.policies(t10=POLICY.replace('count = 4', 'count = 4; devices = [ "0" ]') % '')
holder = start(['GPUHELPER_GPUS=1'], 120000)
while not leases():
    time.sleep(0.01)
since = len(audit())
waiters = []
for _ in range(20):
    before = len(os.listdir('/run/gpuhelper/queue')) if os.path.isdir('/run/gpuhelper/queue') else 0
    waiters.append(start(['GPUHELPER_GPUS=1'], 5))
    for _ in range(200):
        if os.path.isdir('/run/gpuhelper/queue') and len(os.listdir('/run/gpuhelper/queue')) > before:
            break
        time.sleep(0.01)
random.seed(7)
dead = random.sample(waiters, 6)
for b in dead:
    os.killpg(b.p.pid, signal.SIGKILL)
frozen = [b for b in waiters if b not in dead][3]
os.killpg(frozen.p.pid, signal.SIGSTOP)
# the check needs all of them waiting
os.killpg(holder.p.pid, signal.SIGKILL)
holder.p.wait()
begin = time.time()
for b in waiters:
    if b is not frozen:
        b.p.wait(60)
# the record may come a moment after the lease
order = [a['container'] for a in audit()[since:] if a['event'] == 'grant' and a['container'] != holder.id]
alive = [b.id for b in waiters if b not in dead and b is not frozen]
took = time.time() - begin
ok(order == alive, '20 wait, 6 are killed, 1 is frozen: the others are served in order of arrival', (order, alive))
os.killpg(frozen.p.pid, signal.SIGCONT)
ok(frozen.p.wait(30) == 0, 'the frozen one lost its place, but may try again')
ok(took < 25, 'the others waited some seconds for the frozen one, not a minute (%.1f s)' % took, took)

# what keeps a place: a waiter sleeps until a lease changes, and its ticket lies there meanwhile
holder = start(['GPUHELPER_GPUS=1'], 120000)
while not leases():
    time.sleep(0.01)
sleeper = start(['GPUHELPER_GPUS=1'], 5)
ticket = lambda: {f: os.stat('/run/gpuhelper/queue/' + f).st_mtime for f in os.listdir('/run/gpuhelper/queue')}
while not ticket():
    time.sleep(0.01)
time.sleep(1)
first = ticket()
time.sleep(3.5)
ok(len(first) == 1 and ticket() == first, 'a waiter does not ask for 3.5 s, and keeps its place', (first, ticket()))
time.sleep(3)
ok(list(ticket()) == list(first) and ticket() != first, 'it asks within 5 s, and keeps its place', (first, ticket()))
os.killpg(holder.p.pid, signal.SIGKILL)
holder.p.wait()
sh(WRAPPER, '--root', W + '/root', 'delete', holder.id)
begin = time.time()
ok(sleeper.p.wait(30) == 0 and time.time() - begin < 1.5, 'it is woken when the lease ends (%.2f s)' % (time.time() - begin), time.time() - begin)

# small requests do not starve a large one
host.policies(t10=POLICY % '')
small = [start(['GPUHELPER_GPUS=1'], 1500) for _ in range(3)]
while len(leases()) < 3:
    time.sleep(0.01)
large = start(['GPUHELPER_GPUS=4'], 5)
while not os.listdir('/run/gpuhelper/queue'):
    time.sleep(0.01)
late = start(['GPUHELPER_GPUS=1'], 5)
large.p.wait(60)
late.p.wait(60)
order = [a['container'] for a in audit() if a['event'] == 'grant'][-2:]
ok(order == [large.id, late.id], 'a request for four GPUs is served before later requests for one', order)
waited = {a['container']: a.get('waited') for a in audit() if a['event'] == 'grant'}
ok(waited[large.id] in (1, 2) and not any(waited[b.id] for b in small), 'the record has the time that the request waited, if it waited', waited[large.id])

# requests that share a GPU do not starve an exclusive one
host.policies(t10=(POLICY % '').replace('count = 4', 'count = 1; devices = [ "0" ]'),
              t20=(POLICY % 'sharing = "shared";').replace('ml/train', 'ml/share').replace('count = 4', 'count = 1; devices = [ "0" ]').replace('wait = 100', 'wait = 0'))
SHARE = ['BUILD_TEAM_NAME=ml', 'BUILD_PIPELINE_NAME=share', 'GPUHELPER_GPUS=1']


def share(ms):
    return Bundle(host, env=SHARE).hold(ms)


stream = [share(1500)]
while not leases():
    time.sleep(0.01)
alone = start(['GPUHELPER_GPUS=1'], 5)
while not os.listdir('/run/gpuhelper/queue'):
    time.sleep(0.01)
for _ in range(6):
    stream.append(share(1500))
    time.sleep(0.3)
ok(alone.p.wait(30) == 0 and all(b.p.wait(30) == 1 for b in stream[1:5]), 'an exclusive request is served before shared ones that came later',
   [b.p.returncode for b in stream])
for b in stream:
    b.p.wait(30)
host.policies(t10=POLICY % '')

# status and reap
CTL = '/usr/sbin/gpuhelperctl'
sh('useradd', '--no-create-home', '-G', 'gpuhelper', 'worker')
held = start(['GPUHELPER_GPUS=4'], 3000)
while len(leases()) < 1:
    time.sleep(0.01)
queued = start(['GPUHELPER_GPUS=2'], 5)
while not os.listdir('/run/gpuhelper/queue'):
    time.sleep(0.01)
state = snapshot('/run/gpuhelper')
r = sh(CTL, 'status', '--json')
j = json.loads(r.stdout)
ok(r.returncode == 0 and [(l['container'], l['state'], len(l['gpus']), l['pipeline']) for l in j['leases']] == [(held.id, 'held', 4, 'ml/train')] and
   [(w['container'], w['gpus'], w['ahead']) for w in j['waiters']] == [(queued.id, 2, 0)], 'status shows holders and waiting requests', r.stdout)
text = sh(CTL, 'status').stdout
ok(re.search('^CONTAINER +STATE +AGE +PIPELINE$', text, re.M) and re.search(r'^%s +held +\d+[sm] +ml/train\n    by t10.conf, uid 0, since 20\S+\n    nvidia ' % held.id, text, re.M) and
   re.search(r'^%s +waits +\d+[sm] +2 GPUs +0 +ml/train$' % queued.id, text, re.M), 'status shows holders and waiting requests as text, too', text)
ok([(g['rank'], g['state'], [h['container'] for h in g['holders']]) for g in j['gpus']] == [(n, 'held', [held.id]) for n in range(4)],
   'status shows the holder at each GPU', r.stdout)
ok(re.match('GPU +PCI +MODEL +STATE +AGE +HELD BY\nnvidia 0  [0-9a-f:.]+  [A-Z].*  held +[0-9]+[sm] +%s \\(ml/train\\)\n' % held.id, text), 'status shows the holder at each GPU as text, too', text)
r = sh('setpriv', '--reuid', 'worker', '--init-groups', '--regid', 'worker', CTL, 'status', '--json')
j = json.loads(r.stdout)
ok(r.returncode == 0 and j['leases'] == j['waiters'] == [] and {(g['state'], len(g['holders'])) for g in j['gpus']} == {('unknown', 0)}, 'another user sees only its own leases: none', r.stdout)
r = sh('setpriv', '--reuid', 'worker', '--init-groups', '--regid', 'worker', CTL, 'status')
ok(r.stdout.count('unknown  ') + r.stdout.count('unknown\n') >= 4 and 'unknown: only root sees' in r.stdout and 'run this as root' in r.stdout, 'status says why a state is unknown', r.stdout)
BUSY = {}
for name, env in (('with colours', {}), ('with NO_COLOR', {'NO_COLOR': '1'}), ('on a dumb terminal', {'TERM': 'dumb'})):
    r = sh('env', '-u', 'NO_COLOR', 'TERM=xterm', *['%s=%s' % e for e in env.items()], 'script', '-qec', 'stty cols 80; ' + CTL + ' status', '/dev/null')
    BUSY[name] = r.stdout
    bare = [l for l in re.sub('\033\\[[0-9]*m', '', r.stdout).replace('\r', '').splitlines() if not l.startswith('    ')]
    ok(r.returncode == 0 and max(map(len, bare)) <= 80 and len(bare) >= 9, 'status fits a terminal of 80 columns, ' + name, r.stdout)
ok('\033[36mheld\033[0m' in BUSY['with colours'] and '\033' not in BUSY['with NO_COLOR'] + BUSY['on a dumb terminal'], 'colours only where they are wanted', repr(BUSY))
r = sh('setpriv', '--reuid', 'nobody', '--clear-groups', '--regid', 'nogroup', CTL, 'status')
ok(r.returncode == 77 and 'group gpuhelper' in r.stdout, 'a user who may not run the helper is told so', r.stdout)
queued.p.wait(60)
held.p.wait(60)
r = sh(CTL, 'status')
ok(len(re.findall('^nvidia .* free$', r.stdout, re.M)) == 4, 'afterwards all GPUs are free', r.stdout)
r = sh('timeout', '3', CTL, 'status', '--watch')
ok(r.returncode == 124 and r.stdout.count('nvidia 0 ') == 2 and '\033' not in r.stdout, 'status --watch repeats its output, without control codes if there is no terminal', r.stdout)
r = sh('timeout', '3', 'script', '-qec', CTL + ' status --watch', '/dev/null')
ok(r.stdout.count('\033[H\033[2J') == 2, 'status --watch clears a terminal each time', repr(r.stdout))
r = sh(CTL, 'status', '--watch', '--json')
ok(r.returncode == 64 and 'not both' in r.stdout, 'status --watch refuses --json', r.stdout)
b = start(['GPUHELPER_GPUS=1'], 60000)
# The lease is written before the grant's reply; a container that dies earlier leaves no lease.
while b.p.poll() is None and not any(os.readlink('/proc/%s/exe' % c) == host.runtime
                                     for c in open('/proc/%d/task/%d/children' % (b.p.pid, b.p.pid)).read().split()):
    time.sleep(0.01)
assert b.p.returncode is None, b.errors()
os.killpg(b.p.pid, signal.SIGKILL)
b.p.wait()
time.sleep(0.1)
r = sh(CTL, 'reap', '--dry-run')
ok(r.returncode == 0 and re.search('^%s +over ' % b.id, r.stdout, re.M) and len(leases()) == 1, 'reap --dry-run names an ended lease, and keeps it', r.stdout)
r = sh(CTL, 'reap')
ok(r.returncode == 0 and leases() == [] and audit()[-1]['event'] == 'end', 'reap removes the lease', r.stdout)

# the message of a refusal after a wait
host.policies(t10=(POLICY % '').replace('wait = 100', 'wait = 1'))
holder = [start(['GPUHELPER_GPUS=1'], 4000) for _ in range(4)]
while len(leases()) < 4:
    time.sleep(0.01)
b = start(['GPUHELPER_GPUS=1'], 5)
ok(b.p.wait(30) == 1 and b.errors() and 'waited 1 s' in b.errors()[-1] and re.search(r'taken by ml/train in container \S+ since 20', b.errors()[-1]) and holder[0].id in b.errors()[-1],
   'a refusal after a wait names the seconds and the GPUs\' holders', b.errors())
host.settings('max_wait = 0;')
b = start(['GPUHELPER_GPUS=1'], 5)
ok(b.p.wait(30) == 1 and b.errors() and 'waited' not in b.errors()[-1], 'max_wait limits every policy', b.errors())
for h in holder:
    h.p.wait(30)
r = sh(CTL, 'report', '--output', W + '/report.html')
page = open(W + '/report.html').read()
granted = sum(a['event'] == 'grant' for a in audit())
ok(r.returncode == 0 and '<dd class="n">%s</dd>' % '{:,}'.format(granted) in page and page.count('GPU-') >= 4 and 'ml/share' in page and
   'no record of' not in page, 'a report of this log has all %d grants, and a grant for each end' % granted, r.stdout + page[-3000:])
done()
