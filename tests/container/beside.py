#!/usr/bin/env python3
"""While the runtime makes a container, the helper looks who else has its GPU open (root/grant/latescan.h).

usage: beside.py RUNTIME CGROUP [slow]    (in tests/lib/sandbox.sh --gpu nvidia-2gpu)

«slow»: a runtime takes longer than a user's helper lives; two containers at once, one by each door.  Nothing else is tested.

The first GPU's node has /dev/urandom's numbers, so that a process can have it open; the second's has /dev/zero's.  A script in the runtime's place
counts the runtime's calls, and can do something when the runtime has made the container.
"""
import json, os, signal, socket
from lib import *

host, tag = able_host()
NODE = urandom_gpu()
os.chmod(NODE, 0o666)
info = '/proc/driver/nvidia/gpus/0000:af:00.0/information'
write(info, re.sub(r'(Device Minor:[^0-9]*)1', r'\g<1>5', open(info).read()), 0o444)
os.mknod('/dev/nvidia5', 0o020600, os.makedev(1, 5))
real, SCRIPT, CALLS, THEN = host.runtime, W + '/script', W + '/calls', W + '/then'
write(SCRIPT, '''#!/bin/sh
for verb; do case $verb in create|start|delete) echo "$verb" >>%s; break ;; esac; done
[ "$verb" != create ] || exec %s "$@" <%s
exec %s "$@"
''' % (CALLS, W + '/making', '/dev/null', real), 0o755)
write(W + '/making', '''#!/bin/sh
%s "$@" || exit
! [ -e %s ] || . %s
exit 0
''' % (real, THEN, THEN), 0o755)
host.runtime = SCRIPT
host.settings()
ENV = ['BUILD_TEAM_NAME=ml', 'BUILD_PIPELINE_NAME=train', 'GPUHELPER_GPUS=1']
POLICY = 'pipeline = "ml/train"; identity = "claim"; gpus = ( { vendor = "nvidia"; count = 1; %s } );'
ONLY = 'devices = [ "0" ]; '
BOTH, HAS_0 = POLICY % '', 'test -e /dev/nvidia9 && echo first; test -e /dev/nvidia5 && echo second; :'


def creating(b, options=()):
    """Begins «create» of the bundle's container; returns the wrapper."""
    return subprocess.Popen([WRAPPER, '--root', W + '/root', '--log', b.log, '--log-format', 'json', 'create', *options, '--bundle', b.dir,
                             '--pid-file', b.dir + '/pid', b.id], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def made(then='', env=ENV, edit=None, options=()):
    """Creates a container, and returns it with the verbs that the runtime heard, and the new records."""
    write(CALLS, '')
    write(THEN, then)
    b = Bundle(host, env=env, edit=edit, args=['/bin/sleep', '1000'])
    n = len(audit())
    b.status = creating(b, options).wait(60)
    os.unlink(THEN)
    return b, open(CALLS).read().split(), [a['event'] for a in audit()[n:]]


def gone(b, name):
    r = sh(real, '--root', W + '/root', 'state', b.id)
    ok(r.returncode != 0 and leases() == [] and os.listdir('/run/gpuhelper/births') == [], tag + name,
       (r.stdout, leases(), os.listdir('/run/gpuhelper/births')))


class Stray:
    """A process of another container that has the node open, and no lease."""

    def __enter__(self):
        self.p = subprocess.Popen(['unshare', '--pid', '--fork', '--kill-child', '--mount-proc', 'python3', '-c',
                                   'import os, time\nfd = os.open("%s", os.O_RDONLY)\nprint("open", flush=True)\ntime.sleep(60)' % NODE],
                                  stdout=subprocess.PIPE, text=True)
        assert self.p.stdout.readline() == 'open\n'
        return self

    def end(self):
        inside = sh('pgrep', '-P', str(self.p.pid)).stdout.split()
        self.p.kill()
        self.p.wait()
        for pid in inside:
            while os.path.exists('/proc/' + pid):
                time.sleep(0.01)

    def __exit__(self, *ignored):
        if self.p.poll() is None:
            self.end()


def slow():
    """Each container is made once, because root's helper lives on behind both doors."""
    host.policies(t10=BOTH)
    write(CALLS, '')
    write(THEN, 'sleep 32')
    containers = {}
    for door in 'socket', 'setuid':
        host.settings('door = "%s";' % door)
        b = containers[door] = Bundle(host, env=ENV, args=['/bin/sleep', '1000'])
        b.made = creating(b)
        while b.made.poll() is None and len(open(CALLS).readlines()) < len(containers):
            time.sleep(0.02)
    for door, b in containers.items():
        ok(b.made.wait(100) == 0, tag + '%s: a runtime that takes 32 s makes the container' % door, b.errors())
    calls = open(CALLS).read().split()
    ok(calls == ['create', 'create'], tag + '  each one once', calls)
    for door, b in containers.items():
        ok(b.begin().returncode == 0, tag + '%s: it starts' % door, b.errors())
        b.delete()
    gone(b, '  and leaves nothing')


if sys.argv[3:] == ['slow']:
    open_door(bit=True)
    slow()
    done()

# nobody has it
host.policies(t10=BOTH)
b, calls, events = made('cat /run/gpuhelper/leases/* >%s' % (W + '/lease'))
ok(b.status == 0 and calls == ['create'] and events == ['grant'], tag + 'nobody has the GPU open: the runtime makes the container once', (b.errors(), calls, events))
ok(lease.read(open(W + '/lease').read()).get('unscanned'), tag + '  its lease says meanwhile that nobody has looked yet', open(W + '/lease').read())
ok('unscanned' not in lease.read(open('/run/gpuhelper/leases/' + leases()[0]).read()), tag + '  and no more when it is made')
r = b.begin()
ok(r.returncode == 0 and b.exec(HAS_0).stdout == 'first\n', tag + '  it starts, with the GPU', r.stdout)
b.delete()
gone(b, '  and leaves nothing')

# one has
with Stray():
    b, calls, events = made()
    ok(b.status == 0 and calls == ['create', 'delete', 'create'] and events == ['grant', 'end', 'grant'],
       tag + 'a process has it open: the container is deleted before it starts, and made again', (b.status, b.errors(), calls, events))
    b.begin()
    ok(b.exec(HAS_0).stdout == 'second\n', tag + '  with the other GPU')
    b.delete()
    gone(b, '  and leaves nothing')
    host.policies(t10=POLICY % ONLY)
    b, calls, events = made()
    ok(b.status != 0 and 'is open in process' in b.errors()[-1] and calls == ['create', 'delete'] and events == ['grant', 'end', 'refuse'],
       tag + 'there is no other GPU: refused', (b.status, b.errors(), calls, events))
    gone(b, '  and nothing is left')
    r = b.call('start', b.id)
    ok(r.returncode != 0, tag + '  nothing can be started', r.stdout)
    b.delete()
    host.policies(t10=POLICY % (ONLY + 'wait = 30;'))
    b = Bundle(host, env=ENV, args=['/bin/sleep', '1000'])
    p = creating(b)
    for _ in range(500):
        if os.path.isdir('/run/gpuhelper/queue') and os.listdir('/run/gpuhelper/queue'):
            break
        time.sleep(0.01)
    ok(p.poll() is None and leases() == [], tag + 'where the policy allows a wait, the second request waits', (p.poll(), leases(), b.errors()))
with open(os.devnull) as nothing:
    ok(p.wait(30) == 0 and b.begin().returncode == 0, tag + '  until the process ends', b.errors())
b.delete()
gone(b, '  and leaves nothing')

# it can be open only in the new container's own processes later
host.policies(t10=POLICY % 'sharing = "shared"; share_limit = 2;')
with Stray():
    b, calls, events = made()
    ok(b.status == 0 and calls == ['create'], tag + 'a GPU that is shared may be open elsewhere', (b.errors(), calls))
    b.delete()
host.policies(t10=BOTH)

# nothing starts before the look has ended well
b, calls, events = made('for id; do :; done; %s --root %s start $id >%s 2>&1' % (WRAPPER, W + '/root', W + '/started'))
said = open(W + '/started').read()
ok(b.status == 0 and 'its create did not end' in said, tag + 'a «start» before «create» has ended is refused', (b.errors(), said))
b.delete()
gone(b, '  and the container can be deleted')
# $PPID is the wrapper, and the helper is another child of it
HELPER = 'for p in $(pgrep -x -P $PPID gpuhelper); do kill -9 $p; done'
b, calls, events = made('[ -e %s ] || { touch %s; %s; }' % (W + '/once', W + '/once', HELPER))
ok(b.status == 0 and calls == ['create', 'delete', 'create'], tag + 'the helper is killed while the runtime works: another looks first, and the container is made again', (b.status, b.errors(), calls, events))
b.begin()
ok(b.exec(HAS_0).stdout == 'first\n', tag + '  with the GPU')
b.delete()
gone(b, '  and leaves nothing')
with Stray():
    os.unlink(W + '/once')
    b, calls, events = made('[ -e %s ] || { touch %s; %s; }' % (W + '/once', W + '/once', HELPER))
    b.begin()
    ok(b.status == 0 and b.exec(HAS_0).stdout == 'second\n', tag + '  or with another one, if a process has the first open', (b.status, b.errors(), calls, events))
    b.delete()
b, calls, events = made('kill -9 $PPID')
ok(b.status == -9 and calls == ['create'], tag + 'control: the wrapper is killed while the runtime works', (b.status, calls))
r = b.call('start', b.id)
ok(r.returncode != 0 and 'its create did not end' in r.stdout, tag + '  its container does not start', r.stdout)
b.delete()
sh('/usr/sbin/gpuhelperctl', 'reap')
gone(b, '  and leaves nothing once it is deleted')

# what can't be made twice
with Stray():
    def terminal(spec):
        spec['process']['terminal'] = True
    path = W + '/console'
    s = socket.socket(socket.AF_UNIX)
    s.bind(path)
    s.listen()
    b, calls, events = made(options=['--console-socket', path], edit=terminal)
    ok(b.status == 0 and calls == ['create'] and events == ['grant'], tag + 'a container with a terminal is made once: the helper looks first', (b.status, b.errors(), calls, events))
    b.delete()
    s.close()
b = Bundle(host, env=ENV, args=['/bin/sh', '-c', 'sleep 1; ' + HAS_0])
p = subprocess.Popen([WRAPPER, '--root', W + '/root', 'run', '--bundle', b.dir, b.id], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
while p.poll() is None and not leases():
    time.sleep(0.005)
text = open('/run/gpuhelper/leases/' + leases()[0]).read()
ok('unscanned' not in text and p.communicate()[0] == 'first\n', tag + '«run» has the helper look before its answer', text)
done()
