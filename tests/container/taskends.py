#!/usr/bin/env python3
"""Which containers are promised GPUs, terminals, other settings, and attacks from inside a promised container.

usage: taskends.py RUNTIME CGROUP    (in tests/lib/sandbox.sh --gpu nvidia-2gpu)
"""
import signal, socket, time
from lib import *
from tasks import *

host, tag = able_host()
prepare(host)
host.policies(t10=POLICY % 1)


def gate(lease):
    return '/sys/fs/cgroup/' + lease['pausing']['gate']


def promises(b):
    return [l for l in held_leases() if l['id'] == b.id][0]


# containers that take their GPU when they are created
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


def writable(spec):
    for m in spec['mounts']:
        if m['destination'] == '/tmp/gdn-init':
            m['source'] = W + '/writable'


os.makedirs(W + '/vol/input')
shutil.copy(W + '/init', W + '/vol/input/gdn-init')
shutil.copy(W + '/init', W + '/writable')
os.chmod(W + '/writable', 0o777)
for name, edit, words in (('whose process 1 runs another program', other_args, ''), 
                          ('whose process 1 comes from a volume', of_volume, ''), ('whose process 1 is bound over', doubled, ''),
                          ('whose process 1 is a file that others may write', writable, ''), 
                          ('with idle = "keep"', None, 'idle = "keep";'), ('without placeholder_init', None, 'placeholder_init = [ ];'),
                          ("with a vendor's runtime below", None, 'driver_files = "vendor-runtime";')):
    host.settings(words)
    a = container(host, edit=edit)
    ok(state(a) == 'held' and 'pausing' not in promises(a) and [r['event'] for r in audit() if r['container'] == a.id] == ['grant'],
       tag + 'a container %s takes its GPU when it is created' % name, state(a))
    a.exec('true')
    host.settings()
    b = container(host)
    t = Task(b, SHOW)
    ok(t.wait() == 75 and 'waited 1 s for a GPU: taken by ml/train' in t.text(), tag + 'and keeps it', (state(a), t.text()))
    clean(a, b)
a = container(host, edit=shadowed)
Task(a, SHOW).wait()
b = container(host)
t = Task(b, SHOW)
ok(t.wait() == 75 and state(a) == 'held', tag + "a container whose process 1 is an input's own gdn-init keeps the GPU that its task took", (state(a), t.text()))
clean(a, b)
waiter = '/usr/libexec/gpuhelper/gpuhelper-wait'
os.rename(waiter, waiter + '.away')
a = container(host)
ok(state(a) == 'held', tag + 'without the waiter a container takes its GPU when it is created', state(a))
clean(a)
os.rename(waiter + '.away', waiter)
b = Bundle(host, env=TRAIN)
subprocess.run([WRAPPER, '--root', W + '/root', '--log', b.log, '--log-format', 'json', 'run', '--detach', '--bundle', b.dir, b.id],
               stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
ok(state(b) == 'held', tag + '«run» starts the container before its nodes could be closed: it takes its GPU', state(b))
clean(b)
a = Bundle(host, env=TRAIN[:2] + ['GPUHELPER_GPUS=3'])
ok(a.create().returncode != 0 and audit()[-1]['event'] == 'refuse', tag + 'what no policy gives is refused at once, not promised', a.errors())

# idle = "stop", and a task whose names are not the default's
host.settings('idle = "stop"; task_execs = [ "build", "task" ];')
a = container(host)
t = Task(a, SHOW, name='build')
ok(t.wait() == 7 and HAS in t.text(), tag + 'an exec that task_execs names is a task', t.text())
ok(soon(lambda: state(a) is None or 'stopped' in a.call('state', a.id).stdout, 20), tag + 'idle = "stop": the container is ended after its task', a.call('state', a.id).stdout)
a.delete()
host.settings()
sh(CTL, 'reap')

# a terminal, as an engine makes it
def with_terminal(b, script, name):
    """The terminal's output, in order, and the exec's status."""
    path = b.dir + '/pty.sock'
    if os.path.exists(path):
        os.unlink(path)
    s = socket.socket(socket.AF_UNIX)
    s.bind(path)
    s.listen(1)
    s.settimeout(20)
    p = subprocess.Popen([WRAPPER, '--root', W + '/root', '--log', b.log, '--log-format', 'json', 'exec', '--tty', '--console-socket', path,
                          '--detach', '--pid-file', '%s/%s.pid' % (b.dir, name), b.id, '/bin/sh', '-c', script], stdin=subprocess.DEVNULL,
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
    return without_warning(out.decode().replace('\r', '')), p.wait(20)


a = container(host)
for i in range(10):
    assert soon(lambda: state(a) == 'promised')
    out, st = with_terminal(a, 'test -t 0 && test -t 1 && echo one; sleep 0.0%d; echo two' % i, 'task')
    if out != 'gpuhelper: GPU 0000:3b:00.0 (NVIDIA A100-PCIE-40GB), exclusive\none\ntwo\n' or st != 0:
        break
ok(i == 9, tag + 'with a terminal the line comes before the task\'s own output (10 times)', (i, out, st, a.errors()))
soon(lambda: state(a) == 'promised')
out, st = with_terminal(a, 'echo one', 'hijack')
ok(out.startswith('gpuhelper: no GPU yet: the task takes it') and out.endswith('\none\n') and st == 0, tag + 'a hijack with a terminal is told that it has none', out)
plain = Bundle(host)
plain.start()
out, st = with_terminal(plain, 'echo one', 'task')
ok(out == 'one\n' and st == 0, tag + 'a container without a grant gets no message', out)
plain.delete()

# what the task gets from the runtime is as without a waiter
facts = ('cd /; id; pwd; umask; ulimit -a; grep -E "^(Sig[^Q]|Cap|Seccomp|NoNew|Uid|Gid|Groups)" /proc/self/status; ls -l /proc/self/fd | wc -l; env | grep -v GPU | sort; '
         'cat /proc/self/oom_score_adj; tr "\\0" " " </proc/self/cmdline; cat /proc/self/comm')
t, plain = Task(a, facts), Task(a, facts, name='x')
t.wait()
plain.wait()
mine, its = [l for l in t.text().splitlines() if not l.startswith('gpuhelper: ')], [l for l in plain.text().splitlines() if not l.startswith('gpuhelper: ')]
ok(mine == its and len(mine) > 20, tag + 'ids, capabilities, signals, limits, descriptors, directory and variables are as without a waiter', [x for x in zip(mine, its) if x[0] != x[1]])
for name, args, env in (('odd arguments', ['/bin/sh', '-c', 'printf "%s|" "$0" "$@"', '', 'a b', '\x01', '\n', 'ü', '-x'], []),
                        ('a relative path', ['bin/sh', '-c', 'echo here'], []),
                        ('a script', ['/etc/script', 'x'], []), ('a script without #!', ['/etc/noformat'], []),
                        ('PATH with an empty part', ['sh', '-c', 'echo $PATH'], ['PATH=:/bin'])):
    write(host.rootfs + '/etc/script', '#!/bin/sh\necho "script $0 $1"\n', 0o755)
    write(host.rootfs + '/etc/noformat', 'no program', 0o755)
    t, plain = Task(a, None, args=args, env=env), Task(a, None, args=args, env=env, name='x')
    t.wait()
    plain.wait()
    mine, its = [re.sub('(?m)^gpuhelper: (?!exec).*\n', '', x.text()) for x in (t, plain)]
    same = mine == its and t.status == plain.status if name != 'a script without #!' else t.status == 126 and 'exec format error' in t.text()
    ok(same, tag + 'a task with %s runs as without a waiter' % name, (t.status, mine, plain.status, its))
r = a.call('exec', '--preserve-fds', '0', '--pid-file', a.dir + '/task.pid', a.id, '/bin/sh', '-c', 'ls -l /proc/self/fd | wc -l')
ok(r.returncode == 0, tag + 'the engine\'s own --preserve-fds', r.stdout)
fd = os.open('/etc/hostname', os.O_RDONLY)
os.dup2(fd, 3)
r = subprocess.run([WRAPPER, '--root', W + '/root', 'exec', '--preserve-fds=1', '--pid-file', a.dir + '/task.pid', a.id, '/bin/sh', '-c', 'cat <&3; ls -l /proc/self/fd'],
                   pass_fds=[3], stdin=subprocess.DEVNULL, capture_output=True, text=True)
ok(r.returncode == 0 and open('/etc/hostname').read().strip() in r.stdout and ' 4 -> ' not in r.stdout.replace(' 4 -> /proc', ''), tag + 'a descriptor that the engine passes on stays the same, and none of ours is left', r.stdout + r.stderr)
os.close(3)
ok(soon(lambda: state(a) == 'promised'), tag + 'then the GPU is free', state(a))

# what a task's author may try
lease = promises(a)
holder = Task(a, 'echo began; sleep 1000')
holder.until('began')
b = container(host)
host.policies(t10=POLICY % 60)
w = Task(b, SHOW)
w.until('waiting for')
got = show(b, 'hijack')
ok(got[0] == 'not', tag + 'attack: a node that is opened before the turn', got)
inside = Task(b, 'for p in /proc/[0-9]*; do for f in $p/fd/*; do echo go > $f; printf "G\\0" > $f; done; done 2>/dev/null; true', name='attack')
inside.wait()
ok(w.p.poll() is None and state(b) == 'promised', tag + 'attack: «go» written to all that another process of the container can open', (w.text(), state(b)))
inside = Task(b, 'for p in /proc/[0-9]*; do cat /bin/true > $p/exe; done 2>&1; true', name='attack')
inside.wait()
ok(w.p.poll() is None and open('/usr/libexec/gpuhelper/gpuhelper-wait', 'rb').read(4) == b'\x7fELF', tag + 'attack: the waiter\'s program overwritten through /proc (CVE-2019-5736)', inside.text())
os.kill(w.pid(), signal.SIGSTOP)
c = container(host)
w2 = Task(c, SHOW)
w2.until('1 ahead')
holder.kill()
ok(soon(lambda: state(b) == 'held'), tag + 'a stopped waiter is given its turn, and holds the GPU as a stopped task would', state(b))
os.kill(w.pid(), signal.SIGKILL)
w.wait()
ok(w2.wait() == 7 and HAS in w2.text(), tag + 'when it is ended, the next one has it', w2.text())

# the device rules are undone by someone else
def undo_rules(lease):
    """What an engine's update does on v1, and a detached program on v2."""
    if os.path.exists(gate(lease) + '/devices.allow'):
        write(gate(lease) + '/devices.allow', 'c 195:0 rw')
        return True
    return False


if undo_rules(promises(b)):
    w = Task(c, SHOW)
    ok(w.wait() == 7 and HAS in w.text() and '195:0 rw' not in open(gate(promises(b)) + '/devices.list').read(),
       tag + 'before a GPU is taken, device rules that an engine rewrote are noticed, and written again', w.text())
    d = Bundle(host, env=TRAIN)
    assert d.create().returncode == 0, d.errors()
    undo_rules(promises(d))
    r = d.call('start', d.id)
    ok(r.returncode != 0 and 'was changed by someone else' in d.errors()[-1], tag + 'a container whose rules were changed before its start is not started', (r.stdout, d.errors()))
    d.delete()
else:
    r = sh('sh', '-c', 'command -v bpftool')
    skip(tag + 'rules that an engine rewrote', 'cgroup v2 has no rules to rewrite, and another program can only deny more')

# a user without the right to take the GPU back
t = Task(a, 'echo began; sleep 1000')
t.until('began')
for p in agents():
    os.kill(p, 9)
t.kill()
ok(soon(lambda: state(a) == 'idle'), tag + 'a task ends, and its agent was killed', state(a))
if sys.argv[2] == 'v1':     # if the machine has only cgroup2, another user's helper cannot leave its cgroup
    sh('useradd', '--no-create-home', '-G', 'gpuhelper', 'other')
    r = sh('setpriv', '--reuid', 'other', '--regid', 'other', '--init-groups', CTL, 'reap')
    ok(r.returncode == 0 and state(a) == 'idle', tag + "another user's look takes nothing back", r.stdout + str(state(a)))
r = sh(CTL, 'reap', '--dry-run')
ok(re.search(r'^%s  idle  ' % a.id, r.stdout, re.M) is not None and state(a) == 'idle', tag + 'reap --dry-run names the idle container', r.stdout)
r = sh(CTL, 'reap')
ok(r.returncode == 0 and state(a) == 'promised', tag + "root's timer alone takes the GPU back", r.stdout + str(state(a)))
clean(a, b, c)

# a program that others may have changed is no placeholder any more: its container keeps the GPU
for how, change in (('mode 0757', lambda: os.chmod(W + '/init', 0o757)), ('mode 0775', lambda: os.chmod(W + '/init', 0o775)),
                    ('another owner', lambda: os.chown(W + '/init', 1000, 0))):
    a = container(host)
    t = Task(a, 'echo began; sleep 1000')
    t.until('began')
    change()
    t.kill()
    sh(CTL, 'reap')
    ok(not soon(lambda: state(a) == 'promised', 1), tag + 'its program has %s: the GPU is not given back' % how, state(a))
    os.chown(W + '/init', 0, 0)
    os.chmod(W + '/init', 0o755)
    sh(CTL, 'reap')
    ok(soon(lambda: (sh(CTL, 'reap'), state(a) == 'promised')[1]), tag + '  when it is only root\'s again, the GPU is', state(a))
    clean(a)

# variables
host.policies(t10=(POLICY % 1) + 'env = { KEY = "v"; };\n')
a = container(host)
t = Task(a, 'echo KEY=$KEY TOKEN=$GPUHELPER_TOKEN', env=['GPUHELPER_TOKEN=secret'])
t.wait()
ok('KEY=v TOKEN=\n' in t.text(), tag + 'a task has the policy\'s variables, and not its token', t.text())
host.policies(t10=POLICY % 20)
for value, warned in ('1', True), ('0', False):
    t = Task(a, 'echo CUDA=$CUDA_VISIBLE_DEVICES', env=['CUDA_VISIBLE_DEVICES=' + value])
    t.wait()
    ok('CUDA=' + value in t.text() and ('warning: CUDA_VISIBLE_DEVICES=1 names 1,' in t.text()) == warned,
       tag + 'a task with CUDA_VISIBLE_DEVICES=%s %s' % (value, 'is warned' if warned else 'is not warned'), t.text())
clean(a)
ok(not two_at_once(), tag + 'the GPU never has two holders', two_at_once())
done()
