#!/usr/bin/env python3
"""gpuhelperctl end, where containers are promised GPUs: a task that waits, a task that has the GPU, and neither.

usage: end.py RUNTIME CGROUP    (in tests/lib/sandbox.sh --gpu nvidia-2gpu)

All containers share one exclusive GPU, which is SIMULATED.  See task.py.
"""
from lib import *
from tasks import *

host, tag = able_host()
prepare(host)
host.policies(t10=POLICY % 100)
HOLD = 'echo began; sleep 1000'


def end(b, *words):
    return sh(CTL, 'end', b if isinstance(b, str) else b.id, *words, stdin=subprocess.DEVNULL)


def abandoned():
    return [(r['container'], r['team'], r['pipeline'], r.get('pid')) for r in audit() if r['event'] == 'abandon']


def waiting():
    return [(w['container'], w['ahead']) for w in status()['waiters']]


def lives(b):
    return json.loads(sh(host.runtime, '--root', W + '/root', 'state', b.id).stdout)['status'] == 'running'


a, b, c = container(host), container(host), container(host)
r = end(b, '--yes')
ok(r.returncode == 69 and 'holds no GPU now, and no task of it waits for one' in r.stdout and lives(b), tag + 'a container that is only promised a GPU is left alone',
   r.stdout)
holder = Task(a, HOLD)
holder.until('began')
w = Task(b, SHOW)
w.until('waiting for')
w2 = Task(c, SHOW)
w2.until('waiting for')
ok(waiting() == [(b.id, 0), (c.id, 1)], tag + 'two tasks wait', status())
pid = next(x['task'] for x in status()['waiters'] if x['container'] == b.id)
ok(os.readlink('/proc/%d/ns/mnt' % pid) == os.readlink('/proc/%d/ns/mnt' % w.pid()) and pid == w.pid(), tag + 'status has the number of the process that waits', pid)
text = sh(CTL, 'status').stdout
ok(re.search(r'^%s +promised +\d+[sm] +ml/train\n    by t10.conf, uid 0, since 20\S+\n    may take nvidia 0000:3b:00.0$' % b.id, text, re.M) and
   re.search(r'^%s +task waits +\d+[sm] +1 GPU +1 +ml/train$' % c.id, text, re.M) and
   re.search(r'^%s +held .*\n    by t10.conf, .*\n    nvidia 0000:3b:00.0$' % a.id, text, re.M), tag + 'status shows who holds, who is promised, and who waits', text)
m = sh(CTL, 'metrics').stdout
ok('gpuhelper_leases{state="promised"} 2\n' in m and 'gpuhelper_leases{state="held"} 1\n' in m and 'gpuhelper_waiting_tasks 2\n' in m and
   'gpuhelper_waiters 2\n' in m and 'gpuhelper_abandoned_waits_total 0\n' in m, tag + 'and metrics count them', m)

# nothing is ended yet
r = end(b, '--dry-run')
ok(r.returncode == 0 and 'container %s (ml/train), by t10.conf: its task (process %d) waits for 1 GPU, 0 ahead, since 20' % (b.id, pid) in r.stdout and
   'only that process is killed' in r.stdout and waiting() == [(b.id, 0), (c.id, 1)], tag + '--dry-run says what would happen, and does nothing', r.stdout)
r = end(b)
ok(r.returncode == 64 and '--yes' in r.stdout and len(waiting()) == 2, tag + 'without a terminal for the question, end does nothing', r.stdout)

r = end(b.id[:-1], '--yes')
ok(r.returncode == 64 and '3 containers' in r.stdout and len(waiting()) == 2, tag + 'nor with the beginning of several names', r.stdout)

# a task that waits
begin = time.time()
r = end(b, '--yes')
ok(r.returncode == 0 and r.stdout.endswith('ended\n') and waiting() == [(c.id, 0)], tag + 'the waiting task has left the queue (%.2f s), and the next one moved up' %
   (time.time() - begin), r.stdout)
ok(w.wait() == 137 and HAS not in w.text(), tag + 'it was killed, and never had the GPU', (w.status, w.text()))
ok(soon(lambda: abandoned() == [(b.id, 'ml', 'train', pid)]), tag + 'with one record', abandoned())
ok(lives(b) and state(b) == 'promised' and state(a) == 'held' and lives(a), tag + 'its container stays, and so does the holder', status())
m = sh(CTL, 'metrics').stdout
ok('gpuhelper_abandoned_waits_total 1\n' in m and 'gpuhelper_waiting_tasks 1\n' in m, tag + 'the metrics count it', m)
text = sh(CTL, 'audit', 'show').stdout
ok(re.search(r'^20\S+  abandon   ml/train; (seconds waited: \d+; )?container %s; uid 0$' % b.id, text, re.M), tag + 'audit show shows it', text)
text = sh(CTL, 'audit', 'show', '--denied').stdout
ok('abandon' not in text, tag + 'but not as a denial', text)

# a create that waits has no lease yet
d = Bundle(host, env=TRAIN, args=['/bin/sleep', '1000'])
d.p = subprocess.Popen([WRAPPER, '--root', W + '/root', '--log', d.log, '--log-format', 'json', 'create', '--bundle', d.dir, d.id],
                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
ok(soon(lambda: (d.id, 1) in waiting()) and next(x for x in status()['waiters'] if x['container'] == d.id).get('task') is None, tag +
   'a container whose first process is the task waits when it is created', status())
r = end(d, '--yes')
ok(r.returncode == 69 and 'is still being created' in r.stdout and 'with its engine' in r.stdout and (d.id, 1) in waiting(), tag +
   'end says that its engine can end it', r.stdout)
d.p.kill()
d.p.wait()
ok(soon(lambda: (d.id, 1) not in waiting()), tag + 'it leaves the queue when it is killed', status())

# a task that has the GPU
r = end(a, '--yes')
ok(r.returncode == 0 and 'its processes are killed' in r.stdout and not lives(a), tag + 'a container that holds the GPU ends as a whole', r.stdout)
ok(w2.wait() == 7 and HAS in w2.text(), tag + 'then the waiter has the GPU', w2.text())
w = Task(b, 'sleep 2; ' + SHOW)
ok(w.wait() == 7 and HAS in w.text(), tag + 'the container whose waiting task was ended can have another one', w.text())
ok([a[0] for a in abandoned()] == [b.id, d.id], tag + 'no other wait was abandoned', abandoned())
ok(soon(lambda: state(b) == 'promised'), tag + 'and gives the GPU back', state(b))
given = next(r['time'] for r in reversed(audit()) if r['event'] == 'gave-back' and r['container'] == b.id)
since = next(l['since'] for l in status()['leases'] if l['container'] == b.id)
ok(since >= given, tag + 'the promise is since the GPU was given back', (since, given))

page = sh(CTL, 'report', '--output', '-').stdout
ok('2 abandoned waits<' in page and 'no record of' not in page, tag + 'the report counts the abandoned waits, and finds nothing odd', page[-2000:])

# a lease of folders only
os.makedirs('/srv/data', exist_ok=True)
host.policies(t10=POLICY % 100, t20='pipeline = "ml/data";\nidentity = "claim";\nfolders = ( { path = "/srv/data"; } );\n')
f = Bundle(host, env=['BUILD_TEAM_NAME=ml', 'BUILD_PIPELINE_NAME=data', 'GPUHELPER_FOLDERS=/srv/data'])
f.start()
r = end(f, '--dry-run')
ok(r.returncode == 0 and re.fullmatch(r'container %s \(ml/data\), since 20\S+, by t20.conf: no GPU\n'
                                      '    its processes are killed: its build fails and loses unsaved data\n' % f.id, r.stdout) and lives(f), tag +
   'end promises no GPU of a container that has folders only', r.stdout)
sh(host.runtime, '--root', W + '/root', 'kill', f.id, 'KILL')
ok(soon(lambda: not lives(f)), tag + 'its process ends, and its wrapper sees nothing of that')
r = end(f, '--yes')
ok(r.returncode == 69 and r.stdout == 'gpuhelperctl: container %s is gone already: gpuhelperctl reap ends its lease\n' % f.id, tag +
   'of its lease, end says what ends it', r.stdout)
clean(a, b, c, f)
ok(soon(lambda: agents() == []), tag + 'no agent is left', agents())
done()
