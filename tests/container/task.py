#!/usr/bin/env python3
"""A container is promised GPUs, and its task takes them: waiting, ends, hijacks, and what is left behind.

usage: task.py RUNTIME CGROUP    (in tests/lib/sandbox.sh --gpu nvidia-2gpu)

All containers share one exclusive GPU.  placeholder.c is process 1, as Concourse's gdn-init is; tasks are execs with the
pid file «task.pid», as containerd makes them.
"""
import re, signal, sys, threading, time
from lib import *
sys.path.insert(0, TESTS + '/attack')
import client
import lease as lease_file
from tasks import *

host, tag = able_host()
prepare(host)
host.policies(t10=POLICY % 20)


# a promise, and a task
a = container(host)
lease = held_leases()[0]
ok(state(a) == 'promised' and lease['gpus'] == [] and [g['pci'] for g in lease['pausing']['may']] == ['0000:3b:00.0'],
   tag + 'a new container is promised its GPU, and holds none', lease)
ok([r['event'] for r in audit()] == ['promise'], tag + 'the audit log has the promise', audit())
got = show(a, 'hijack')
ok(got[0] == 'not' and got[2] == 7, tag + 'before its task, another exec begins at once, and can\'t open the node', got)
# an entry that an earlier task has left in the ledger, as a full disk can
left = '/run/gpuhelper/ledger/195:1!dev!nvidia1'
os.makedirs(os.path.dirname(left), 0o700, exist_ok=True)
with open(left, 'w') as f:
    f.write(lease_file.write_ledger({'path': '/dev/nvidia1', 'major': 195, 'minor': 1, 'boot': open('/proc/sys/kernel/random/boot_id').read().strip(),
                                      'entries': [{'key': leases()[0][:64], 'uid': 0, 'kind': 'allow-user', 'id': 4242}]}))
sh('setfacl', '-m', 'u:4242:rw', '/dev/nvidia1')
t = Task(a, 'echo began; sleep 1000')
ok(t.until('began') and not os.path.exists(left) and '4242' not in sh('getfacl', '-np', '/dev/nvidia1').stdout, tag + 'what an earlier task has left open is closed before another gets a GPU')
t.kill()
ok(soon(lambda: state(a) == 'promised'), tag + 'and is not opened again')
t = Task(a, SHOW)
ok(t.wait() == 7 and HAS in t.text() and t.said()[0] == 'GPU 0000:3b:00.0 (NVIDIA A100-PCIE-40GB), exclusive', tag +
   'a task has the GPU, is told so, and keeps its exit status', (t.status, t.text()))
ok(soon(lambda: state(a) == 'promised'), tag + 'after it the GPU is given back', state(a))
ok([r['event'] for r in audit() if r['container'] == a.id and r['event'] != 'exec'] == ['promise'] + 2 * ['grant', 'gave-back'], tag + 'the audit log says so',
   [(r['event'], r.get('waited')) for r in audit()])
ok([len(r.get('reply_sha256', '')) for r in audit() if r['container'] == a.id and r['event'] in ('promise', 'grant')] == [64, 64, 64], tag +
   'the records of promise and grant have the hash of the reply', audit())
ok(show(a, 'hijack')[0] == 'not', tag + 'a later exec has no GPU', show(a, 'hijack'))
ok('no GPU yet' in show(a, 'hijack')[1], tag + 'and is told so', show(a, 'hijack'))

# waiting
holder = Task(a, 'echo began; sleep 1000')
ok(holder.until('began') and state(a) == 'held', tag + 'a task that runs holds the GPU', state(a))
b = container(host)
w = Task(b, SHOW)
ok(w.until('gpuhelper: waiting for a GPU: taken by ml/train in container %s since ' % a.id) and ' UTC' in w.text(), tag + 'a second task waits, and its log says for whom', w.text())
c = container(host)
w2 = Task(c, SHOW)
ok(w2.until('gpuhelper: waiting for a GPU: 1 ahead (ml/train since '), tag + 'a third one is told who is ahead', w2.text())
j = status()
ok([(x['container'], x['ahead']) for x in j['waiters']] == [(b.id, 0), (c.id, 1)] and all(x['task'] for x in j['waiters']), tag + 'status lists both', j)
ok(show(b, 'hijack')[0] == 'not', tag + 'a hijack into a waiting container begins at once, without the GPU')
# what an agent asks when its task has ended: only the kernel's word counts
answer = client.exchange(verb='over', id=b.id, runtime_root=W + '/root', gpus=None)
ok(answer[1]['reply'] == 'noted' and [x['container'] for x in status()['waiters']] == [b.id, c.id], tag + 'who says that a waiting task is over takes its place from no living one',
   (answer, status()))
time.sleep(1)
begin = time.time()
holder.kill()
ok(w.wait() == 7 and HAS in w.text() and time.time() - begin < 1.5, tag + 'when the holder is killed, the first one has the GPU (%.2f s)' % (time.time() - begin), w.text())
ok(w2.wait() == 7 and HAS in w2.text() and 'waited ' in w2.text(), tag + 'then the second one', w2.text())

# a waiting task that is ended
holder = Task(a, 'echo began; sleep 1000')
holder.until('began')
w = Task(b, SHOW)
w.until('waiting for')
w2 = Task(c, SHOW)
w2.until('waiting for')
begin = time.time()
w.kill()
ok(soon(lambda: [x['container'] for x in status()['waiters']] == [c.id]), tag + 'a waiting task that is killed leaves the queue (%.2f s)' % (time.time() - begin))
ok(soon(lambda: [r['container'] for r in audit() if r['event'] == 'abandon'] == [b.id]), tag + 'with a record', [r for r in audit() if r['event'] == 'abandon'])
ok(w2.until('waiting for a GPU: taken by'), tag + 'the next one sees that nobody is ahead', w2.text())

# in a running container
got = show(a, 'hijack')
ok(got[0] == 'has' and 'GPU 0000:3b:00.0' in got[1], tag + 'a hijack into the holder sees its GPU', got)
again = Task(a, SHOW, env=['GPUHELPER_GPUS=again'], name='hijack2')
ok(again.wait() == 7 and HAS in again.text(), tag + 'one that asks again joins it', again.text())
holder.kill()
ok(w2.wait() == 7, tag + 'then the waiter has it', w2.text())
again = Task(a, SHOW, env=['GPUHELPER_GPUS=again'], name='hijack2')
ok(again.wait() == 7 and HAS in again.text(), tag + 'after the end, one that asks again takes a GPU by itself', again.text())
again = Task(a, None, args=['env', 'GPUHELPER_GPUS=again', '/bin/sh', '-c', SHOW], name='hijack3')
ok(again.wait() == 7 and HAS in again.text(), tag + 'the same with «env GPUHELPER_GPUS=again COMMAND»', again.text())

# statuses
for args, status_, words in ((['nosuchprog'], 127, 'exec: "nosuchprog": executable file not found in $PATH'), (['/nope'], 127, 'no such file or directory'),
                             (['/bin'], 127, 'is a directory'), (['/etc/noexec'], 127, 'permission denied')):
    t = Task(a, None, args=args)
    ok(t.wait() == status_ and words in t.text() and 'GPU 0000' not in t.text(), tag + 'no program %s: status %d, and no GPU is taken' % (args[0], status_), (t.status, t.text()))
t = Task(a, 'kill -TERM $$')
ok(t.wait() == 128 + 15, tag + 'a task that ends by a signal', (t.status, t.text()))

# the driver was loaded again meanwhile, and its nodes have other numbers: the container has the old ones
def renumber(before, after):
    text = open('/proc/devices').read()
    with open('/proc/devices', 'w') as f:
        f.write(re.sub(r'(?m)^%d (nvidia\S*)$' % before, r'%d \1' % after, text))
    for n in '/dev/nvidia0', '/dev/nvidia1', '/dev/nvidiactl':
        old = os.stat(n)
        os.unlink(n)
        os.mknod(n, old.st_mode, os.makedev(after, os.minor(old.st_rdev)))
        os.chmod(n, old.st_mode & 0o777)


ok(soon(lambda: state(a) == 'promised'), tag + '  then the GPU is given back')
renumber(195, 196)
t = Task(a, SHOW)
ok(t.wait() == 69 and 'the numbers of its device nodes have changed: create the container again' in t.text() and HAS not in t.text() and state(a) == 'promised',
   tag + 'a task takes no GPU whose nodes have other numbers than its container was promised', (t.status, t.text(), state(a)))
renumber(196, 195)
t = Task(a, SHOW)
ok(t.wait() == 7 and soon(lambda: state(a) == 'promised'), tag + '  with the old numbers it does, and gives it back', t.text())

# policies of today
host.policies(t10=POLICY.replace('ml/train', 'ml/other') % 20)
t = Task(a, SHOW)
ok(t.wait() == 77 and 'no policy covers pipeline ml/train' in t.text() and HAS not in t.text(), tag + 'today\'s policies decide: the task fails', (t.status, t.text()))
host.policies(t10=POLICY % 1)
holder = Task(a, 'echo began; sleep 1000')
holder.until('began')
w = Task(b, SHOW)
ok(w.wait() == 75 and 'gpuhelper: waited 1 s for a GPU: taken by ml/train' in w.text(), tag + 'the policy\'s wait is over: the task fails, and says why', (w.status, w.text()))
host.policies(t10=POLICY % 0)
w = Task(b, SHOW)
ok(w.wait() == 75 and 'gpuhelper: no GPU is free, and the policy allows no wait: taken by' in w.text(), tag + 'without a wait it fails at once', (w.status, w.text()))
holder.kill()
host.policies(t10=POLICY % 20)
ok(soon(lambda: state(a) == 'promised'), tag + 'the GPU is free')

# left behind
for words, ended in (('left_behind = 1;', True), ('left_behind = "keep";', False)):
    host.settings(words)
    d = container(host)
    t = Task(d, '(busybox setsid sleep 1000 &) ; sleep 0.1')
    t.wait()
    ok(soon(lambda: 'left processes behind since' in sh(CTL, 'status').stdout), tag + 'status names a daemon that a task left behind (%s)' % words, sh(CTL, 'status').stdout)
    w = Task(b, SHOW)
    if ended:
        ok(w.wait() == 7 and sh('pgrep', '-f', 'sleep 1000').stdout == '' and show(d, 'x')[2] == 7, tag + 'left_behind = 1: the daemon is ended, and the GPU is free', w.text())
    else:
        time.sleep(2)
        ok(state(d) == 'held' and w.p.poll() is None, tag + 'left_behind = "keep": the daemon keeps the GPU', state(d))
        w.kill()
    d.delete()
host.settings()
sh(CTL, 'reap')

# nobody is there to give back
t = Task(a, 'echo began; sleep 1000')
t.until('began')
for p in agents():
    os.kill(p, 9)
ok(state(a) == 'held', tag + 'without the agent the task keeps its GPU', state(a))
t.kill()
time.sleep(0.3)
ok(state(a) == 'idle', tag + 'and status shows when the task is over', state(a))
w = Task(b, SHOW)
ok(w.wait() == 7 and HAS in w.text(), tag + 'the next task gets the GPU', w.text())
t = Task(a, 'echo began; sleep 1000')
t.until('began')
w = Task(b, SHOW)
w.until('waiting for')
for p in agents():
    os.kill(p, 9)
ok(w.wait() == 75 and 'is gone: start the task again' in w.text(), tag + 'a waiter whose agent is killed ends', (w.status, w.text()))
t.kill()
ok(sh(CTL, 'reap').returncode == 0 and state(a) == 'promised' and status()['waiters'] == [], tag + "root's timer gives the GPU back", state(a))

clean(a, b, c)

# a CDI spec with variables of its devices: which GPU a task gets is not known when its container is made
device = lambda n, v: {'name': n, 'containerEdits': {'deviceNodes': [{'path': '/dev/nvidia' + n}], 'env': ['ALIKE=1', 'GPU_IS=' + v]}}
os.makedirs('/etc/cdi', exist_ok=True)
write('/etc/cdi/nvidia.json', json.dumps({'cdiVersion': '0.6.0', 'kind': 'nvidia.com/gpu', 'containerEdits': {'env': ['SPEC=1']},
                                          'devices': [device('0', 'zero'), device('1', 'one')]}))
host.policies(t10=(POLICY % 20).replace('"0"', '"0", "1"'))
a = container(host)
t = Task(a, 'env')
t.wait()
ok('SPEC=1\n' in t.text() and 'ALIKE=1\n' in t.text() and 'GPU_IS=' not in t.text(), tag + 'a task that may get two GPUs has no variable of one of them', t.text())
host.policies(t10=POLICY % 20)
b = container(host)
t = Task(b, 'env')
t.wait()
ok('GPU_IS=zero\n' in t.text(), tag + 'a task that may get one GPU has the variables of its device', t.text())
os.unlink('/etc/cdi/nvidia.json')
clean(a, b)
# the same with a spec for each GPU, and variables of the whole spec
for n, v in ('0', 'zero'), ('1', 'one'):
    write('/etc/cdi/%s.json' % v, json.dumps({
        'cdiVersion': '0.6.0', 'kind': 'nvidia.com/gpu', 'containerEdits': {'env': ['ALIKE=1', 'GPU_IS=' + v]},
        'devices': [{'name': n, 'containerEdits': {'deviceNodes': [{'path': '/dev/nvidia' + n}]}}]}))
host.policies(t10=(POLICY % 20).replace('"0"', '"0", "1"'))
a = container(host)
t = Task(a, 'env')
t.wait()
ok('ALIKE=1\n' in t.text() and 'GPU_IS=' not in t.text(), tag + "  nor one of the GPU's spec", t.text())
host.policies(t10=POLICY % 20)
b = container(host)
t = Task(b, 'env')
t.wait()
ok('ALIKE=1\n' in t.text() and 'GPU_IS=zero\n' in t.text(), tag + '  and for one GPU it has those of its spec', t.text())
for v in 'zero', 'one':
    os.unlink('/etc/cdi/%s.json' % v)
clean(a, b)
ok(not two_at_once(), tag + 'the GPU never has two holders', two_at_once())
ok(soon(lambda: agents() == []), tag + 'no agent is left', agents())
left = [os.listdir('/run/gpuhelper/' + d) for d in ('exec/0', 'queue', 'leases')] + [f for f in os.listdir('/run/gpuhelper/locks') if f.startswith('gate-')]
ok(left == [[], [], []], tag + 'no lease is left', left)
done()
