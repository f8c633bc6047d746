#!/usr/bin/env python3
"""Quotas of a policy: how many GPUs its containers hold at once, how many wait, and who of the waiting goes first.

usage: quotas.py    (in tests/lib/sandbox.sh --gpu nvidia-4gpu)

The runtime below the wrapper is hold.c, as in leases.py; all else is real.
"""
import json, os, time
from lib import *

CTL = '/usr/sbin/gpuhelperctl'
host = Host('runc', 'v1')
host.use_hold()
GPUS = 'pipeline = "ml/%s"; identity = "claim"; gpus = ( { vendor = "nvidia"; count = 4; wait = %d; } ); %s'


def start(pipeline, ms, gpus=1, team='ml'):
    return Bundle(host, env=['BUILD_TEAM_NAME=' + team, 'BUILD_PIPELINE_NAME=' + pipeline, 'GPUHELPER_GPUS=%d' % gpus]).hold(ms)


def status():
    return json.loads(sh(CTL, 'status', '--json').stdout)


def why(bundle):
    """Why it waits, as status tells people and programs: the same."""
    told = next(w['why'] for w in status()['waiters'] if w['container'] == bundle.id)
    lines = sh(CTL, 'status').stdout.splitlines()
    at = next(i for i, l in enumerate(lines) if l.startswith(bundle.id) and ' waits ' in l)
    return told if [l.strip() for l in lines[at + 2:at + 2 + len(told)]] == told and lines[at + 1].strip().startswith('by t') else lines


def explain(pipeline):
    """What explain says about now, to people and to programs: the same."""
    asks = 'explain', '--identity', 'claim', '--pipeline', pipeline, '--gpus', '1'
    now = json.loads(sh(CTL, '--json', *asks).stdout)['gives']['now']
    lines = [l[7:] for l in sh(CTL, *asks).stdout.splitlines() if l.startswith('  now: ')]
    return (now['ahead'], now['why']) if lines == (now['why'] or ['nobody waits before it']) else lines


def soon(test, seconds=15):
    until = time.time() + seconds
    while not test() and time.time() < until:
        time.sleep(0.05)
    return test()


def holds(*bundles):
    held = {l['container'] for l in status()['leases']}
    return all(b.id in held for b in bundles)


def waits(*bundles):
    waiting = [w['container'] for w in status()['waiters']]
    return all(b.id in waiting for b in bundles)


def end(*bundles):
    for b in bundles:
        os.killpg(b.p.pid, 9)
        b.p.wait()
    assert soon(lambda: (sh(CTL, 'reap'), status())[1]['leases'] == [] and status()['waiters'] == []), status()


def order(since):
    return [a['container'] for a in audit()[since:] if a['event'] == 'grant']


# max_gpus
host.policies(t10=(GPUS % ('pr', 60, 'max_gpus = 2;')).replace('count = 4', 'count = 2'), t20=GPUS % ('train', 0, ''))
first, second = start('pr', 60000), start('pr', 60000)
assert soon(lambda: holds(first, second)), status()
third = start('pr', 50)
ok(soon(lambda: waits(third)) and not holds(third), 'max_gpus = 2: a third container waits, although two GPUs are free', status())
ok(any('waiting up to 60 s: t10.conf: its containers hold at most 2 GPUs at once (max_gpus), and hold 2 now' in e for e in
       [json.loads(l)['msg'] for l in open(third.log)]), '  and is told why', open(third.log).read())
ok(why(third) == ['its policy holds 2 of max_gpus = 2'], '  status says it, too', why(third))
ok(explain('ml/pr') == (1, ['its policy holds 2 of max_gpus = 2', 'it goes after 1 that came earlier']), '  and explain of a further one', explain('ml/pr'))
other = start('train', 60000, 2)
ok(soon(lambda: holds(other)), 'the free GPUs are not kept for it: another policy gets them', (status(), other.errors()))
os.killpg(first.p.pid, 9)
ok(third.p.wait(20) == 0, 'it gets a GPU when one of its policy is given back', third.errors())
end(second, other)
host.policies(t10=(GPUS % ('two', 0, 'max_gpus = 2;')).replace(
    'gpus = ( { vendor = "nvidia"; count = 4; wait = 0; } )', 'gpus = ( { vendor = "nvidia"; count = 2; devices = [ "0", "1" ]; }, { vendor = "nvidia"; count = 2; devices = [ "2", "3" ]; } )'))
b = start('two', 50, 3)
ok(b.p.wait(20) == 1 and 'hold at most 2 GPUs at once (max_gpus), and this one asks for 3' in ' '.join(b.errors()), 'a container that asks for more than max_gpus is refused at once', b.errors())
first = start('two', 60000, 2)
assert soon(lambda: holds(first))
b = start('two', 50)
ok(b.p.wait(20) == 1 and 'and hold 2 now' in ' '.join(b.errors()), 'without a wait, one beyond max_gpus is refused', b.errors())
end(first)

# max_waiting
host.policies(t10=GPUS % ('pr', 60, 'max_waiting = 2;'), t20=GPUS % ('train', 60, ''))
holder = start('train', 60000, 4)
assert soon(lambda: holds(holder))
w = [start('pr', 50) for _ in range(2)]
assert soon(lambda: waits(*w))
b, x = start('pr', 50), start('train', 50)
ok(b.p.wait(20) == 1 and 't10.conf: as many of its containers wait already as may (max_waiting = 2)' in ' '.join(b.errors()), 'max_waiting = 2: a third is refused at once', b.errors())
ok(soon(lambda: waits(x)), '  and one of another policy waits')
os.killpg(holder.p.pid, 9)
ok([b.p.wait(20) for b in w + [x]] == [0, 0, 0], '  and those that wait get their GPUs')

# priority
host.policies(t10=GPUS % ('low', 60, 'priority = 1;'), t20=GPUS % ('train', 60, ''), t30=GPUS % ('high', 60, 'priority = 9;'))
holder = start('train', 60000, 4)
assert soon(lambda: holds(holder))
queue = []
for name in 'low', 'train', 'high', 'low', 'high':
    queue.append(start(name, 20, 4))
    assert soon(lambda: waits(queue[-1])), status()
shown = status()['waiters']
want = [queue[i].id for i in (2, 4, 1, 0, 3)]
ok([w['container'] for w in shown] == want and [w['ahead'] for w in shown] == [0, 1, 2, 3, 4] and [w['priority'] for w in shown] == [9, 9, 5, 1, 1], 'status shows who waits in the order of priority', shown)
reasons = [why(queue[i]) for i in (2, 4, 1, 0, 3)]
ok(reasons == [[], ['it goes after 1 that came earlier'], ['it goes after 2 of higher priority'], ['it goes after 3 of higher priority'],
               ['it goes after 3 of higher priority, 1 that came earlier']], '  and why', reasons)
ok(explain('ml/train') == (3, ['it goes after 2 of higher priority, 1 that came earlier']), 'explain says who would go before a further one', explain('ml/train'))
ok('now' not in json.loads(sh(CTL, '--config-dir', '/etc/gpuhelper', '--json', 'explain', '--identity', 'claim', '--pipeline', 'ml/train', '--gpus', '1').stdout)['gives'],
   '  but not for the files of another configuration')
since = len(audit())
os.killpg(holder.p.pid, 9)
[b.p.wait(30) for b in queue]
ok(order(since) == want, 'they get their GPUs in that order', (order(since), want))

# half of max_wait
host.settings('max_wait = 8;')
holder = start('train', 60000, 4)
assert soon(lambda: holds(holder))
since = len(audit())
low = start('low', 20, 4)
assert soon(lambda: waits(low))
time.sleep(4.5)
high = start('high', 20, 4)
assert soon(lambda: waits(high))
shown = status()['waiters']
ok([w['container'] for w in shown] == [low.id, high.id] and shown[0].get('urgent') and not shown[1].get('urgent'), 'one that has waited for half of max_wait goes first', shown)
ok([why(low), why(high)] == [['it has waited for half of max_wait, and goes before all priorities'], ['it goes after 1 that waited for half of max_wait']], '  status says why', (why(low), why(high)))
os.killpg(holder.p.pid, 9)
ok([low.p.wait(20), high.p.wait(20)] == [0, 0] and order(since) == [low.id, high.id], '  and gets its GPUs first', order(since))
host.settings()

# fair shares: the team that has used least for its share goes first
host.settings('team_shares = { ml = 3; web = 1; };')
host.policies(t10=GPUS % ('train', 100, ''), t20=(GPUS % ('x', 100, '')).replace('ml/', 'web/'), t30=(GPUS % ('x', 100, '')).replace('ml/', 'ops/'),
              t40=(GPUS % ('x', 100, '')).replace('ml/', 'late/'))
holder = start('x', 60000, 4, team='ops')
assert soon(lambda: holds(holder))
queue = [start('x', 2000, team='web') for _ in range(10)]
assert soon(lambda: waits(*queue), 30), status()
queue += [start('train', 2000) for _ in range(10)]
assert soon(lambda: waits(*queue), 30), status()
since = len(audit())
os.killpg(holder.p.pid, 9)
[b.p.wait(60) for b in queue]
got = order(since)
teams = ['web' if id in [b.id for b in queue[:10]] else 'ml' for id in got]
ok(len(got) == 20 and all(b.p.returncode == 0 for b in queue), '20 containers of two teams get their GPUs', [b.errors() for b in queue if b.errors()])
ok(7 <= teams[:12].count('ml') <= 10, 'shares of 3 and 1: of the first 12 about 9 are of the team with 3, although the others came first', teams)
st = os.stat('/run/gpuhelper/shares/usage')
ok(stat.S_IMODE(st.st_mode) == 0o600 and 'team web ' in open('/run/gpuhelper/shares/usage').read(), 'what the teams have used is noted, for root alone', oct(st.st_mode))
holder = start('train', 60000, 4)
assert soon(lambda: holds(holder))
a = start('train', 50)
assert soon(lambda: waits(a))
time.sleep(1.1)     # status tells times in seconds
b = start('x', 50, team='late')
assert soon(lambda: waits(a, b))
ok([w['container'] for w in status()['waiters']] == [b.id, a.id], 'status shows the order', status()['waiters'])
ok([why(b), why(a)] == [[], ['it goes after 1 of teams that used less for their share']], '  and why', (why(b), why(a)))
ok(explain('ml/train') == (1, ['it goes after 1 that came earlier', 'it goes before or after 1 of other teams, as their shares decide']),
   'explain does not know what the teams have used, and says so', explain('ml/train'))
os.killpg(holder.p.pid, 9)
[x.p.wait(20) for x in (a, b)]
write('/run/gpuhelper/shares/usage', 'usage 1\nshares\nteam x', 0o600)
ok(start('train', 50).p.wait(20) == 0, 'a file that is cut off counts as empty')
host.settings()
holder = start('train', 60000, 4)
assert soon(lambda: holds(holder))
a, b = start('train', 50), start('train', 50)
assert soon(lambda: waits(a, b))
ok(not os.path.exists('/run/gpuhelper/shares/usage'), 'without team_shares the file goes')
end(holder, a, b)

# a request of high priority does not wait behind one that waits for a GPU that both could have
host.policies(t10=(GPUS % ('low', 60, 'priority = 1;')), t30=GPUS % ('high', 0, 'priority = 9;'))
holder = start('low', 60000, 3)
assert soon(lambda: holds(holder))
low = start('low', 50, 2)
assert soon(lambda: waits(low))
high = start('high', 50)
ok(high.p.wait(20) == 0, 'the GPU that is kept for a low priority goes to a high one at its first request', high.errors())
end(holder, low)
done()
