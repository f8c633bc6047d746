#!/usr/bin/env python3
"""Containers whose process 1 only pauses (Concourse's): a GPU becomes free when its task is over, and not before.

usage: idle.py RUNTIME CGROUP [ROUNDS]    (in tests/lib/sandbox.sh --gpu nvidia-2gpu)

All containers share one exclusive GPU.  placeholder.c is process 1; the tasks are execs, as an engine makes them.
"""
import array, fcntl, random, signal, socket, termios, threading, time
from lib import *

host, tag = able_host()
ROUNDS = int(sys.argv[3]) if len(sys.argv) > 3 else 100
r = sh('cc', '-std=c11', '-D_GNU_SOURCE', '-O1', '-static', '-o', W + '/init', TESTS + '/container/placeholder.c')
assert r.returncode == 0, r.stdout
TRAIN = ['BUILD_TEAM_NAME=ml', 'BUILD_PIPELINE_NAME=train', 'GPUHELPER_GPUS=1']
POLICY = 'pipeline = "ml/train";\nidentity = "claim";\ngpus = ( { vendor = "nvidia"; devices = [ "0" ]; wait = %d; } );\n'
host.policies(t10=POLICY % 20)
# The granted node has no driver, so opening it gives ENXIO.  A node that was taken away gives EPERM, which is checked first.
HAS, HAS_NOT = 'No such device or address', 'Operation not permitted'
SHOW = '(: < /dev/nvidia0) 2>&1; exit 7'
CTL = '/usr/sbin/gpuhelperctl'


def container(**kw):
    b = Bundle(host, env=TRAIN + kw.pop('env', []), **kw)
    b.start()
    return b


def show(b):
    """Runs a new task; returns its access to the node, its message, and its status."""
    r = b.exec(SHOW)
    told = [l for l in without_warning(r.stdout).splitlines() if l.startswith('gpuhelper: ')]
    return ('has' if HAS in r.stdout else 'not' if HAS_NOT in r.stdout else r.stdout), told[-1][11:] if told else '', r.returncode


def task(b, script, wait=True):
    """Starts a detached task like a shim; returns the PID of its first process."""
    pidfile = '%s/task%d' % (b.dir, random.getrandbits(40))
    p = subprocess.Popen([WRAPPER, '--root', W + '/root', '--log', b.log, '--log-format', 'json', 'exec', '--detach', '--pid-file',
                          pidfile, b.id, '/bin/sh', '-c', script], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                         stderr=subprocess.DEVNULL)
    if not wait:
        return p
    assert p.wait(60) == 0, b.errors()
    return int(open(pidfile).read())


def asks(env=()):
    """Starts the creation of a container, in the background."""
    b = Bundle(host, env=TRAIN + list(env))
    b.p = subprocess.Popen([WRAPPER, '--root', W + '/root', '--log', b.log, '--log-format', 'json', 'create', '--bundle', b.dir,
                            '--pid-file', b.dir + '/pid', b.id], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL)
    return b


def served(b, seconds):
    """Whether the container is created within that time; starts it, as its engine would."""
    try:
        if b.p.wait(seconds) != 0:
            return False
    except subprocess.TimeoutExpired:
        return False
    return b.begin().returncode == 0


def asks_till_served():
    """The policy allows one second of waiting.  On a busy machine one look may take as long, so this tries several times."""
    until = time.monotonic() + 60
    while True:
        b = asks()
        if served(b, 20):
            return b, True
        if time.monotonic() > until:
            return b, False


def execs(b):
    """The audit records of execs into the container, and of refused execs."""
    return [e for e in audit() if e.get('container') == b.id and e['event'] in ('exec', 'refuse')]


def state(b):
    j = json.loads(sh(CTL, 'status', '--json').stdout)
    return next((l['state'] for l in j['leases'] if l['container'] == b.id), None)


def clean(*bundles):
    for b in bundles:
        if getattr(b, 'p', None):
            b.p.kill()
            b.p.wait()
        b.delete()
    sh(CTL, 'reap')
    assert leases() == [], sh(CTL, 'status').stdout


def two_at_once():
    """Searches the audit log for two containers with the GPU; returns the records around that, or nothing."""
    holders, log = set(), audit()
    for i, a in enumerate(log):
        if a['event'] == 'grant':
            holders.add(a['container'])
        elif a['event'] in ('end', 'undo', 'gave-back', 'draining'):
            holders.discard(a['container'])
        if len(holders) > 1:
            return [(x['time'], x['event'], x['container']) for x in log[max(0, i - 12):i + 12]]
    return []


# a task that has ended
a = container(env=['BUILD_PIPELINE_INSTANCE_VARS={"pr":17}'])
ok(show(a) == ('has', 'GPU 0000:3b:00.0 (exclusive)', 7), tag + 'a task has the GPU, is told so, and keeps its exit status', show(a))
told = execs(a)
ok([(e['event'], e['policy'], e['gpus'], e['identity'], e['pipeline'], e.get('reason')) for e in told] == 2 * [
   ('exec', 't10.conf', ['nvidia 0000:3b:00.0'], 'claim', 'train', None)],
   tag + 'the audit log has each exec once', told)
ok(json.loads(told[0]['instance_vars']) == {'pr': 17}, tag + 'the records have the container\'s instance variables', told)
ok(state(a) == 'idle', tag + 'after its task the container is idle in status', state(a))
begin = time.time()
b = asks()
ok(served(b, 10) and time.time() - begin < 1, tag + 'the next container has the GPU within a second (%.2f s)' % (time.time() - begin), b.errors())
ok(show(b)[0] == 'has', tag + 'its task can open the GPU', show(b))
t = task(b, 'sleep 1000')
got = show(a)
ok(got[0] == 'not' and 'ml/train, container %s has it' % b.id in got[1] and got[2] == 7,
   tag + 'a later exec into the first container runs without the GPU, and names the holder', got)
told = execs(a)[-1]
ok(told['event'] == 'exec' and 'container %s has it' % b.id in told['reason'] and told['code'] == 75 and 'gpus' not in told,
   tag + 'the audit log says so', told)
ok(state(a) == 'given-back' and state(b) == 'held', tag + 'status shows that the GPU was given back', sh(CTL, 'status').stdout)

# getting the GPU back
waiter = asks()
time.sleep(0.7)
ok(waiter.p.poll() is None and show(a)[0] == 'not', tag + 'a later exec into the first container runs without the GPU while another container waits')
os.kill(t, 9)
begin = time.time()
ok(served(waiter, 5) and time.time() - begin < 1, tag + 'after a kill the waiter is served within a second (%.2f s)' % (time.time() - begin))
waiter.delete()
got = show(a)
ok(got == ('has', 'GPU 0000:3b:00.0 (exclusive)', 7), tag + 'the GPU is free: a later exec into the first container gets it back', got)
ok(audit()[-1]['event'] == 'grant' and audit()[-1].get('again') and audit()[-1]['container'] == a.id and
   audit()[-1]['gpus'] == ['nvidia 0000:3b:00.0 ' + GPU0], tag + 'the audit log says so', audit()[-1])
b2 = asks()
ok(served(b2, 5) and state(a) == 'given-back', tag + 'after that exec the GPU is given back again')
b2.delete()
host.policies(t10=POLICY.replace('ml/train', 'ml/other') % 20)
got = show(a)
ok(got[0] == 'not' and 'no policy covers pipeline ml/train' in got[1] and got[2] == 7, tag + 'the present policies decide whether an exec gets the GPU back', got)
host.policies(t10=POLICY % 20)
got = show(a)
ok(got[0] == 'has', tag + 'the present policies can also allow it', got)
clean(a, b, waiter, b2)
ok(not two_at_once(), tag + 'the GPU never has two holders', two_at_once())



def stop_asleep(b, pid):
    """Stops the process once it is sleep: pkill below finds it only by that name."""
    until = time.monotonic() + 30
    while open('/proc/%d/cmdline' % pid, 'rb').read(6) != b'sleep\0' and time.monotonic() < until:
        time.sleep(0.01)
    os.kill(pid, signal.SIGSTOP)


# a task that is still running
host.policies(t10=POLICY % 1)
for name, script, prepare in (
        ('sleeps, and has opened nothing', 'sleep 1000', None),
        ('is stopped', 'sleep 1000', stop_asleep),
        ('forked twice, into a session of its own, a moment ago', 'exec busybox setsid sleep 1000', None)):
    a = container()
    p = task(a, script)
    if prepare:
        prepare(a, p)
    b = asks()
    ok(not served(b, 8) and b.p.poll() == 1 and 'waited 1 s' in b.errors()[-1] and state(a) == 'held', tag + 'a task that %s keeps the GPU' % name,
       (b.errors(), state(a)))
    sh('pkill', '-9', '-f', '^sleep 1000')
    b2, got = asks_till_served()
    ok(got, tag + 'another container gets the GPU when that task ends', (b2.errors(), state(a)))
    clean(a, b, b2)
a = container()
p = task(a, 'sleep 1000')
lease = held_leases()[0]
for d in lease['cgroups']:
    os.makedirs('/sys/fs/cgroup/%s/below' % d, exist_ok=True)
    try:
        write('/sys/fs/cgroup/%s/below/cgroup.procs' % d, str(p))
    except OSError:      # cpuset without CPUs; or v2, where a parent with controllers takes no processes
        pass
b = asks()
ok(not served(b, 8) and state(a) == 'held', tag + 'a task in a cgroup below keeps the GPU', state(a))
clean(a, b)

# an exec that has begun, before its process exists
a = container()
show(a)
p = subprocess.Popen([sys.executable, '-c', '''
import sys, time
sys.path.insert(0, %r)
from client import Helper
print(Helper().ask(verb="exec", id=%r, runtime_root=%r, gpus=None).result(), flush=True)
time.sleep(1000)
''' % (TESTS + '/attack', a.id, W + '/root')], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
line = p.stdout.readline()
b = asks()
ok('noted' in line and not served(b, 8) and state(a) == 'held', tag + 'a runtime that is about to start a task keeps the GPU', (line, b.errors()))
p.kill()
p.wait()
b2 = asks()
ok(served(b2, 5), tag + 'another container gets the GPU when that runtime has ended')
clean(a, b, b2)

# no exec has run yet
host.settings('first_exec = 1;')
host.policies(t10=POLICY % 6)
a = container()
ok(state(a) == 'held', tag + 'a new container keeps its GPU before its first task', state(a))
begin = time.time()
b = asks()
ok(served(b, 5) and 0.5 < time.time() - begin < 2.5, tag + 'after first_exec the next container gets the GPU of a container without a task (%.2f s)' % (time.time() - begin), b.errors())
t = task(b, 'sleep 2')
begin = time.time()
got = show(a)
ok(got[0] == 'has' and 'waited' in got[1] and time.time() - begin > 0.5, tag + 'a late first task waits for the GPU', got)
b2 = asks()
ok(served(b2, 5), tag + 'the GPU is given back again')
clean(a, b, b2)
host.policies(t10=POLICY % 2)
a = container()
time.sleep(1.1)
b3 = asks()
assert served(b3, 5)
task(b3, 'sleep 1000')
got = show(a)
ok(got[2] != 7 and got[2] != 0 and 'its GPU was given to others' in a.errors()[-1], tag + 'a late first task without a free GPU fails: no task starts without its grant',
   (got, a.errors()))
clean(a, b3)
host.settings()

# processes that a task leaves behind
for words, ended in (('left_behind = 1;', True), ('left_behind = "keep";', False)):
    host.settings(words)
    host.policies(t10=POLICY % 4)
    a = container()
    show(a)
    p = task(a, '(busybox setsid sleep 1000 &) ; sleep 0.2')
    time.sleep(0.6)
    r = sh(CTL, 'status').stdout
    ok('left processes behind since' in r, tag + 'status names a daemon that a task left behind', r)
    b = asks()
    if ended:
        ok(served(b, 8) and show(b)[0] == 'has', tag + 'left_behind = 1: the daemon is ended, and the GPU is free', b.errors())
        ok(sh('pgrep', '-f', 'sleep 1000').stdout == '' and a.exec('true').returncode == 0, tag + 'the container is not ended', sh('pgrep', '-af', 'sleep').stdout)
    else:
        ok(not served(b, 8) and state(a) == 'held', tag + 'left_behind = "keep": the daemon keeps the GPU', state(a))
    clean(a, b)
host.settings()
host.policies(t10=POLICY % 1)

# other settings
host.settings('idle = "keep";')
a = container()
got = show(a)
b = asks()
ok(got == ('has', 'GPU 0000:3b:00.0 (exclusive)', 7) and not served(b, 8) and state(a) == 'held', tag + 'idle = "keep": the container keeps the GPU to its end', got)
clean(a, b)
host.settings('idle = "stop";')
a = container()
show(a)
b = asks()
ok(served(b, 20) and state(a) is None and 'stopped' in a.call('state', a.id).stdout, tag + 'idle = "stop": the container is ended', a.call('state', a.id).stdout)
clean(a, b)
host.settings()

# a process 1 that is not the placeholder
def other_args(spec):
    spec['process']['args'] = ['/bin/sleep', '1000']


def shadowed(spec):
    spec['mounts'].append({'destination': '/tmp', 'type': 'bind', 'source': W + '/vol/input', 'options': ['bind', 'rw']})


def of_volume(spec):
    for m in spec['mounts']:
        if m['destination'] == '/tmp/gdn-init':
            m['source'] = W + '/vol/input/gdn-init'


def doubled(spec):
    spec['mounts'].append({'destination': '/tmp/gdn-init', 'type': 'bind', 'source': W + '/vol/input/gdn-init', 'options': ['bind']})


os.makedirs(W + '/vol/input')
shutil.copy(W + '/init', W + '/vol/input/gdn-init')
shutil.copy(W + '/init', W + '/writable')
os.chmod(W + '/writable', 0o777)


def writable(spec):
    for m in spec['mounts']:
        if m['destination'] == '/tmp/gdn-init':
            m['source'] = W + '/writable'


for name, edit in (('runs another program', other_args), ("is an input's own gdn-init", shadowed), ('comes from a volume', of_volume),
                   ('is bound over', doubled), ('is a file that others may write', writable)):
    a = container(edit=edit)
    show(a)
    b = asks()
    ok(not served(b, 8) and state(a) == 'held', tag + 'a process 1 that %s keeps the GPU' % name, (state(a), b.errors()))
    clean(a, b)

# a process 1 with the node itself, which has /dev/zero's numbers, so it can be opened and mapped
info = '/proc/driver/nvidia/gpus/0000:3b:00.0/information'
saved = open(info).read(), open('/proc/devices').read()
write(info, re.sub(r'(Device Minor:[^0-9]*)0', r'\g<1>5', saved[0]), 0o444)
write('/proc/devices', saved[1].replace('195 nvidia\n', '1 nvidia\n'))
os.mknod('/dev/nvidia5', 0o020666, os.makedev(1, 5))
os.chmod('/dev/nvidia5', 0o666)
for how in 'open', 'map':
    a = container(env=['HOLD=%s:/dev/nvidia5' % how])
    r = a.exec('true')
    b = asks()
    ok(not served(b, 8) and state(a) == 'held', tag + 'a process 1 that has the node %sed keeps the GPU' % (how + how[-1] * (how == 'map')).replace('openn', 'open'),
       (state(a), b.errors(), r.stdout))
    clean(a, b)
a = container()
a.exec('true')
b = asks()
ok(served(b, 5), tag + 'a process 1 without the node does not keep the GPU')
clean(a, b)
write(info, saved[0], 0o444)
write('/proc/devices', saved[1])
os.unlink('/dev/nvidia5')

# a user without the right to take the GPU back, and root's timer
a = container()
show(a)
if sys.argv[2] == 'v1':     # if the machine has only cgroup2, another user's helper cannot leave its cgroup
    sh('useradd', '--no-create-home', '-G', 'gpuhelper', 'other')
    r = sh('setpriv', '--reuid', 'other', '--regid', 'other', '--init-groups', CTL, 'reap')
    ok(r.returncode == 0 and state(a) == 'idle', tag + "another user's look takes nothing back", r.stdout + str(state(a)))
r = sh(CTL, 'reap', '--dry-run')
ok(r.stdout.startswith('idle: ' + a.id) and state(a) == 'idle', tag + 'reap --dry-run names the idle container', r.stdout)
r = sh(CTL, 'reap')
ok(r.returncode == 0 and state(a) == 'given-back', tag + "root's timer alone takes the GPU back", r.stdout + str(state(a)))
if sys.argv[2] == 'v1':
    gate = held_leases()[0]['pausing']['gate']
    write('/sys/fs/cgroup/%s/devices.allow' % gate, 'c 195:0 rw')
    b = asks()
    ok(served(b, 5) and '195:0 rw' not in open('/sys/fs/cgroup/%s/devices.list' % gate).read(),
       tag + 'before the GPU is given, device rules that an engine rewrote are noticed', open('/sys/fs/cgroup/%s/devices.list' % gate).read())
    clean(a, b)
else:
    clean(a)

# tasks keep their environment
host.policies(t10=(POLICY % 1) + 'env = { KEY = "v"; };\n')
a = container()
show(a)
sh(CTL, 'reap')
host.policies(t10=POLICY.replace('ml/train', 'ml/other') % 20)
r = a.exec('echo KEY=$KEY TOKEN=$GPUHELPER_TOKEN')
ok(state(a) == 'given-back' and 'KEY=v TOKEN=\n' in r.stdout, tag + 'execs keep the environment after the end of the lease', r.stdout)
clean(a)
host.policies(t10=POLICY % 20)


# a task's own variable that names a GPU which the container does not have
a = container()
for value, lines in ('1', 2), ('0', 1):
    write(a.dir + '/process.json', json.dumps({'args': ['/bin/sh', '-c', 'echo CUDA=$CUDA_VISIBLE_DEVICES'], 'cwd': '/', 'user': {'uid': 0, 'gid': 0},
                                               'env': ['PATH=/bin', 'CUDA_VISIBLE_DEVICES=' + value]}))
    r = a.call('exec', '--process', a.dir + '/process.json', a.id)
    said = [l for l in without_warning(r.stdout).splitlines() if l.startswith('gpuhelper: ')]
    ok('CUDA=' + value in r.stdout and len(said) == lines and (lines == 1 or said[1].startswith('gpuhelper: warning: CUDA_VISIBLE_DEVICES=1 names 1,')),
       tag + 'a task with CUDA_VISIBLE_DEVICES=%s %s' % (value, 'is warned' if lines == 2 else 'is not warned'), r.stdout)
clean(a)


# a terminal, as an engine makes it
def with_terminal(b, script):
    """The terminal's output, in order, and the exec's status."""
    path = b.dir + '/pty.sock'
    if os.path.exists(path):
        os.unlink(path)
    s = socket.socket(socket.AF_UNIX)
    s.bind(path)
    s.listen(1)
    s.settimeout(20)
    p = subprocess.Popen([WRAPPER, '--root', W + '/root', '--log', b.log, '--log-format', 'json', 'exec', '--tty', '--console-socket', path,
                          '--detach', '--pid-file', b.dir + '/task.pid', b.id, '/bin/sh', '-c', script], stdin=subprocess.DEVNULL,
                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    c, _ = s.accept()
    data, fds, _, _ = socket.recv_fds(c, 4096, 1)
    out = b''
    try:
        while True:
            part = os.read(fds[0], 4096)
            if not part:
                break
            out += part
    except OSError:     # EIO: the last process has closed the terminal
        pass
    os.close(fds[0])
    return out.decode(), p.wait(20)


a = container()
for i in range(20):
    out, status = with_terminal(a, 'echo one; sleep 0.0%d; echo two' % i)
    lines = out.replace('\r', '').splitlines()
    # crun starts the task before it passes the terminal on
    first = lines[:2] if host.name == 'runc' else [l for l in lines if l.startswith('gpuhelper')]
    if first[:1] != ['gpuhelper: GPU 0000:3b:00.0 (exclusive)'] or without_warning('\n'.join(first[1:]) + '\n') or [l for l in lines if l not in first] != ['one', 'two'] or status != 0:
        break
ok(i == 19, tag + 'with a terminal the line %s, then the warning, and none of the task\'s output is lost (20 times)' % ('comes first' if host.name == 'runc' else 'is there'),
   (i, out, status, a.errors()))
left = [f for f in os.listdir(a.dir) if f.startswith('gpuhelper-')]
ok(left == [] and sh('pgrep', '-f', 'gpuhelper-runc.*exec').stdout == '', tag + 'no process of ours is left at the terminal', left)
plain = Bundle(host)
plain.start()
out, status = with_terminal(plain, 'echo one')
ok(out.replace('\r', '') == 'one\n' and status == 0, tag + 'a container without a grant gets no message', out)
clean(a, plain)

# everything at once
random.seed(int(os.environ.get('IDLE_SEED', '12')))
since = len(audit())
crowd = [Bundle(host, env=TRAIN) for _ in range(3)]
host.policies(t10=POLICY % 60)
host.settings('first_exec = 2; left_behind = 1;')
wrong, served_tasks, killed, without, orphans = [], 0, 0, 0, 0


def life(b, rounds, seed):
    """Runs tasks in one container.  A task without the GPU is told so first; a task that was told it has the GPU has it to its end."""
    global served_tasks, without, killed
    rnd = random.Random(seed)
    for _ in range(rounds):
        out = b.dir + '/out%d' % rnd.getrandbits(40)
        f = open(out, 'w')
        p = subprocess.Popen([WRAPPER, '--root', W + '/root', '--log', b.log, '--log-format', 'json', 'exec', b.id, '/bin/sh', '-c',
                              'for i in 1 2 3 4 5 6; do (: < /dev/nvidia0) 2>&1; sleep 0.0%d; done; %s echo end' %
                              (rnd.randrange(10), rnd.choice(['', '', '(busybox setsid sleep 0.3 &) ;']))],
                             stdin=subprocess.DEVNULL, stdout=f, stderr=f, start_new_session=True)
        if rnd.random() < 0.25:
            time.sleep(rnd.random() * 0.15)
            os.killpg(p.pid, 9)
            killed += 1
        try:
            p.wait(90)
        except subprocess.TimeoutExpired:
            wrong.append(('hangs', b.id, open(out).read(), b.errors()))
            p.kill()
        text = open(out).read()
        if 'gpuhelper: GPU' in text:
            served_tasks += 1
            if HAS_NOT in text:
                wrong.append(('lost it', b.id, text))
        elif 'gpuhelper: no GPU' in text:
            without += 1
            if HAS in text:
                wrong.append(('has a GPU that it was not granted', b.id, text))
        elif p.returncode >= 0 and p.returncode != 137:
            wrong.append(('says nothing', b.id, p.returncode, text, b.errors()[-1:]))
        time.sleep(rnd.random() * 0.1)


def end_orphans(name):
    """
    A runtime that is killed while it creates can leave the container's first process behind and no record of it: nobody
    can delete that, and its lease lasts as long as it lives.  How many there were.
    """
    pids = []
    for pid in filter(str.isdigit, os.listdir('/proc')):
        try:
            if any(line.rstrip().endswith('/garden/' + name) for line in open('/proc/%s/cgroup' % pid)):
                pids.append(int(pid))
        except OSError:
            pass
    for pid in pids:
        os.kill(pid, 9)
    return len(pids)


def askers(rounds, seed):
    """Other containers that want the GPU; some are killed half-way."""
    global killed, orphans
    rnd = random.Random(seed)
    for _ in range(rounds):
        b = asks()
        if rnd.random() < 0.4:
            time.sleep(rnd.random() * 0.2)
            b.p.kill()
            killed += 1
        try:
            b.p.wait(90)
        except subprocess.TimeoutExpired:
            wrong.append(('waits forever', b.id, b.errors()))
            b.p.kill()
        if b.p.returncode == 0 and rnd.random() < 0.5:
            b.begin()
            r = b.exec('(: < /dev/nvidia0) 2>&1')
            if HAS_NOT in r.stdout and 'gpuhelper: GPU' in r.stdout:
                wrong.append(('lost it', b.id, r.stdout))
        b.delete()
        if b.p.returncode == -9:
            orphans += end_orphans(b.id)


for b in crowd:
    b.start()
threads = [threading.Thread(target=life, args=(b, ROUNDS // 4, random.getrandbits(30))) for b in crowd] + \
          [threading.Thread(target=askers, args=(ROUNDS // 4, random.getrandbits(30)))]
begin = time.time()
for t in threads:
    t.start()
for t in threads:
    t.join()
print('# %d tasks with the GPU, %d without, %d kills, %d orphans, in %.0f s' % (served_tasks, without, killed, orphans, time.time() - begin), flush=True)
ok(not wrong, tag + '%d rounds of tasks, kills and requests: no task loses its GPU, and no two have it' % (ROUNDS // 4 * 4), wrong[:5])
ok(not two_at_once(), tag + 'the GPU never has two holders', two_at_once())
b = asks()
ok(served(b, 30), tag + 'in the end the GPU is free', b.errors())
clean(b, *crowd)
ok(os.listdir('/run/gpuhelper/exec/0') == [] and os.listdir('/run/gpuhelper/queue') == [], tag + 'no lease is left')
done()
