#!/usr/bin/env python3
"""Tasks, kills and hijacks at random: no two containers ever have the GPU, and in the end it is free.

usage: taskrounds.py RUNTIME CGROUP [ROUNDS]    (in tests/lib/sandbox.sh --gpu nvidia-2gpu)
"""
import threading, time
from lib import *
from tasks import *

host, tag = able_host()
prepare(host)
rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 100
seed = int(os.environ.get('TASK_SEED', '12'))
host.policies(t10=POLICY % 60)
host.settings('left_behind = 1;')
crowd = [container(host) for _ in range(4)]
wrong, counts, lock = [], {'ran': 0, 'killed': 0, 'hijacked': 0, 'failed': 0}, threading.Lock()
SCRIPT = 'for i in 1 2 3; do (: < /dev/nvidia0) 2>&1; sleep 0.0%d; done; %s echo end'
# the only reasons for which a task may end without its GPU
REASONS = ('is gone: start the task again', 'took too long', 'changing', 'try again')


def count(what):
    with lock:
        counts[what] += 1


def kill_some(rnd, t):
    """Kills the waiter or the task, the agent, the runtime and all that it started, or the helper, after a moment."""
    time.sleep(rnd.random() * 0.15)
    count('killed')
    what = rnd.randrange(4)
    try:
        if what == 0:
            os.kill(int(open(t.pidfile).read()), 9)
        elif what == 1:
            os.kill(rnd.choice(agents()), 9)
        elif what == 2:
            sh('pkill', '-9', '-P', str(t.p.pid))
        else:
            sh('pkill', '-9', '-n', '-x', 'gpuhelper')
    except (OSError, ValueError, IndexError):
        pass
    return True


def life(b, n, number):
    rnd = random.Random(seed * 100 + number)
    for _ in range(n):
        if rnd.random() < 0.15:
            count('hijacked')
            t = Task(b, 'true', name='x')
            if t.wait(30) is None:
                wrong.append(('a hijack hangs', b.id, t.text()))
            continue
        t = Task(b, SCRIPT % (rnd.randrange(10), rnd.choice(['', '', '(busybox setsid sleep 0.2 &) ;'])), name=rnd.choice(['task', 'task', 'task']))
        killed = rnd.random() < 0.35 and kill_some(rnd, t)
        if t.wait(120) is None:
            wrong.append(('hangs', b.id, t.text(), b.errors()[-1:]))
            t.p.kill()
            continue
        text = t.text()
        if 'end' in text.split() and (HAS_NOT in text or text.count(HAS) != 3):
            wrong.append(('a task lost its GPU', b.id, text))
        elif 'end' in text.split():
            count('ran')
        elif not killed and not any(r in text for r in REASONS) and t.status != 137 and not CRUN_FAILS.search(text):
            wrong.append(('failed', b.id, t.status, text, b.errors()[-1:]))
        else:
            count('failed')


begin = time.time()
threads = [threading.Thread(target=life, args=(b, rounds // 4, i)) for i, b in enumerate(crowd)]
for t in threads:
    t.start()
for t in threads:
    t.join()
print('# %s in %.0f s' % (counts, time.time() - begin), flush=True)
ok(not wrong, tag + '%d rounds: no task loses its GPU, none begins without it, and none hangs' % rounds, wrong[:5])
ok(counts['ran'] > rounds / 3 and counts['killed'] > rounds / 8, tag + 'most tasks ran', counts)
ok(not two_at_once(), tag + 'the GPU never has two holders', two_at_once())
t = Task(crowd[0], SHOW)
ok(t.wait(90) == 7 and HAS in t.text(), tag + 'in the end the GPU is free', t.text())
clean(*crowd)
ok(soon(lambda: agents() == [], 20), tag + 'no agent is left', agents())
sh(CTL, 'reap')
left = [os.listdir('/run/gpuhelper/' + d) for d in ('exec/0', 'queue', 'leases')] + [f for f in os.listdir('/run/gpuhelper/locks') if f.startswith('gate-')]
ok(left == [[], [], []], tag + 'nothing is left', left)
done()
