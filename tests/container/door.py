#!/usr/bin/env python3
"""The door that gpuhelper-runc and gpuhelperctl choose, and their messages if no door works.

usage: door.py    (in tests/lib/sandbox.sh --gpu nvidia-2gpu)

The runtime below is a script that leaves a process behind, like a container's first one, with the folder mounted.
The test checks whether config.json has what the policy gives.  rootless.py and podman.py run real containers.
"""
import contextlib, fcntl, json, os, pwd, shutil, signal, socket, struct, subprocess, sys, threading, time
from lib import *

host = Host('runc', 'v1')
HELPER, RUN, SOCK = '/usr/libexec/gpuhelper/gpuhelper', '/run/gpuhelper', '/run/gpuhelper/gpuhelper.sock'
for user in 'worker', 'outsider':
    sh('useradd', '--create-home', user)
sh('usermod', '--append', '--groups', 'gpuhelper', 'worker')
UID = pwd.getpwnam('worker').pw_uid
subordinate('worker', 300000, 1000)
host.policies(t10='identity = "caller"; callers = [ "worker", "root" ];\nfolders = ( { path = "/srv/data"; access = "ro"; } );\n')
os.makedirs('/srv/data')
write('/srv/data/x', 'data\n')
RUNTIME = W + '/runtime'
write(RUNTIME, """#!/bin/sh
setsid unshare --map-root-user --mount sh -c 'mount --bind /srv/data /srv/data && exec sleep 5' </dev/null >/dev/null 2>&1 &
until grep -q ' /srv/data ' /proc/$!/mountinfo; do kill -0 $! || exit 1; done
""")
os.chmod(RUNTIME, 0o755)


def door(text=''):
    write('/etc/gpuhelper/gpuhelper.conf', 'runtime = "%s";\n' % RUNTIME + (('door = "%s";\n' % text) if text else ''))


n = 0


def ask(*before, user='worker', outer=()):
    """The wrapper's exit status, its message, and whether config.json has the folder now."""
    global n
    n += 1
    d = '%s/door/%d' % (W, n)
    os.makedirs(d + '/rootfs')
    os.chmod(W, 0o755)
    uid = pwd.getpwnam(user).pw_uid
    spec = {'ociVersion': '1.0.2', 'root': {'path': 'rootfs'}, 'hostname': 'h', 'mounts': [],
            'process': {'terminal': False, 'user': {'uid': 0, 'gid': 0}, 'args': ['/bin/sh'], 'cwd': '/',
                        'env': ['GPUHELPER_FOLDERS=all']},
            'linux': {'namespaces': [{'type': 'user'}, {'type': 'mount'}],
                      'uidMappings': [{'containerID': 0, 'hostID': uid if 'nsenter' not in before else 0, 'size': 1}],
                      'gidMappings': [{'containerID': 0, 'hostID': uid if 'nsenter' not in before else 0, 'size': 1}]}}
    write(d + '/config.json', json.dumps(spec))
    sh('chown', '-R', '%d:%d' % (uid, uid), d)
    r = sh(*outer, 'setpriv', '--reuid', user, '--regid', user, '--init-groups', *before, '--', WRAPPER, '--root', d + '/root', 'create',
           '--bundle', d, 'c%d' % n, cwd=d)
    return r.returncode, r.stdout.strip(), '/srv/data' in open(d + '/config.json').read()


def is_granted(answer, text):
    return ok(answer == (0, '', True), text, answer)


def is_refused(answer, text, *words):
    return ok(answer[0] == 1 and not answer[2] and answer[1].startswith('gpuhelper: ') and '\n' not in answer[1] and
              all(w in answer[1] for w in words), '%s: «%s»' % (text, answer[1]), answer)


def bit(on):
    sh('chown', 'root:gpuhelper', HELPER)
    os.chmod(HELPER, 0o4750 if on else 0o755)


def space(user='worker'):
    pid = user_namespace(user, [(0, UID, 1), (1, 300000, 1000)], [(0, UID, 1), (1, 300000, 1000)])
    return ['nsenter', '--user', '--mount', '--preserve-credentials', '--wd=.', '--target', str(pid)]


# without the socket
door()
is_granted(ask(), 'auto, no socket: by the setuid bit')
is_refused(ask('--no-new-privs'), 'no_new_privs', 'has no effect under no_new_privs',
           'there is no %s: systemctl enable --now gpuhelper.socket' % SOCK)
is_refused(ask(user='outsider'), 'a user outside the group', 'may not be executed by uid %d: add' % pwd.getpwnam('outsider').pw_uid,
           'group gpuhelper', 'systemctl enable')
inside = space()
is_refused(ask(*inside), 'root of a user namespace', 'has no effect in a user namespace', 'systemctl enable')
sh('mount', '--bind', '/usr/libexec/gpuhelper', '/usr/libexec/gpuhelper')
sh('mount', '-o', 'remount,bind,nosuid', '/usr/libexec/gpuhelper')
is_refused(ask(), 'a nosuid mount', 'mounted nosuid', 'systemctl enable')
sh('umount', '/usr/libexec/gpuhelper')
bit(False)
is_refused(ask(), 'no setuid bit', 'has no setuid bit', 'systemctl enable')
os.rename(HELPER, HELPER + '.away')
is_refused(ask(), 'the helper is not installed', 'is gpuhelper installed?')
os.rename(HELPER + '.away', HELPER)
door('setuid')
is_refused(ask(), 'door = "setuid": the refusal does not mention a socket', 'has no setuid bit')
door('socket')
is_refused(ask(), 'door = "socket"', 'there is no %s' % SOCK)
bit(True)
is_refused(ask(), 'door = "socket": the setuid bit is not used instead', 'there is no %s' % SOCK)
door('door')
answer = ask()
ok(answer[0] == 1 and 'door' in answer[1] and 'auto' in answer[1], 'an unknown value of door is an error in gpuhelper.conf', answer)

# with the socket
service = open_door()
for d in '', 'auto', 'socket':
    door(d)
    is_granted(ask(), 'door "%s", a socket and no setuid bit' % d)
is_granted(ask('--no-new-privs'), 'by the socket, under no_new_privs')
is_granted(ask(*inside), 'by the socket, from a user namespace')
is_refused(ask(user='outsider'), 'by the socket, a user outside the group', 'may not connect to %s' % SOCK, 'group gpuhelper')
for words in ((), ('--no-new-privs',), tuple(inside)):
    for verb in 'status', 'reap', 'reapply':
        r = sh('setpriv', '--reuid', 'worker', '--regid', 'worker', '--init-groups', *words, '--', '/usr/sbin/gpuhelperctl', verb)
        ok(r.returncode == 0 and (r.stdout == '' or verb == 'status'), 'gpuhelperctl %s, as the worker%s' % (verb, ' (%s)' % words[0] if words else ''), r.stdout)
bit(True)
door('setuid')
is_granted(ask(), 'door = "setuid" beside a socket')
is_refused(ask('--no-new-privs'), 'door = "setuid" under no_new_privs, beside a socket', 'has no effect under no_new_privs')
service.kill()
service.wait()
door()
is_granted(ask(), 'auto, where nobody listens: by the setuid bit')
door('socket')
is_refused(ask(), 'door = "socket", where nobody listens', 'nobody listens', 'systemctl restart gpuhelper.socket')
os.unlink(SOCK)


class Listener:
    """A socket that another uid listens on; keeps what it receives."""

    def __init__(self, uid, owner=None, mode=0o666):
        self.s = socket.socket(socket.AF_UNIX)
        self.s.bind(SOCK)
        # SO_PEERCRED names the user who called listen(2)
        pid = os.getuid()
        os.seteuid(uid)
        self.s.listen()
        os.seteuid(0)
        os.chown(SOCK, uid if owner is None else owner, -1)
        os.chmod(SOCK, mode)

    def heard(self):
        self.s.settimeout(0.2)
        try:
            c, _ = self.s.accept()
            c.settimeout(0.2)
            return c.recv(100)
        except TimeoutError:
            return b''
        except ConnectionResetError:
            return b''

    def end(self):
        self.s.close()
        os.unlink(SOCK)


# a socket that somebody else made
for text, listener in (("a user's socket", lambda: Listener(UID)),
                       ("a user who listens at root's", lambda: Listener(UID, owner=0))):
    l = listener()
    door('socket')
    is_refused(ask(), text, 'uid %d' % UID)
    door()
    is_granted(ask(), '%s, auto: by the setuid bit' % text)
    ok(l.heard() == b'', '%s: the socket received nothing' % text)
    l.end()
for text, spoil, mend in (
        ('a directory that a group may write', lambda: os.chmod(RUN, 0o775), lambda: os.chmod(RUN, 0o755)),
        ("a user's directory", lambda: os.chown(RUN, UID, -1), lambda: os.chown(RUN, 0, -1)),
        ('a /run that all may write', lambda: os.chmod('/run', 0o777), lambda: os.chmod('/run', 0o755))):
    l = Listener(0)
    spoil()
    door('socket')
    is_refused(ask(), text, 'chown root' if 'user' in text else 'chmod go-w')
    ok(l.heard() == b'', '%s: the socket in it received nothing' % text)
    mend()
    l.end()
for text, make in (('a link', lambda: os.symlink('/run/elsewhere', SOCK)), ('a file', lambda: write(SOCK, 'x'))):
    make()
    door('socket')
    is_refused(ask(), '%s in place of the socket' % text, SOCK)
    door()
    is_granted(ask(), '%s in place of the socket, auto: by the setuid bit' % text)
    os.unlink(SOCK)

# a crowd: the wrapper asks again after a dropped connection
def crowded(refusals, late=0):
    s = socket.socket(socket.AF_UNIX)
    s.bind(SOCK)
    shutil.chown(SOCK, 'root', 'gpuhelper')
    os.chmod(SOCK, 0o660)
    s.listen(100)
    pid = os.fork()
    if pid == 0:
        while True:
            c, _ = s.accept()
            if refusals > 0:
                refusals -= 1
                c.close()
                continue
            time.sleep(late)
            late = 0
            subprocess.Popen([HELPER, '--socket'], stdin=c)
            c.close()
    s.close()
    return pid


door('socket')
pid = crowded(20)
began = time.monotonic()
is_granted(ask(), 'the connection is closed unanswered 20 times: the wrapper asks again until it gets an answer')
print('# after %.2f s' % (time.monotonic() - began))
os.kill(pid, signal.SIGKILL)
os.unlink(SOCK)
# a reply may take more than 10 s, on a busy host or if a process cannot be inspected
pid = crowded(0, late=11)
is_granted(ask(), 'an answer that comes after 11 s')
os.kill(pid, signal.SIGKILL)
os.unlink(SOCK)
pid = crowded(1 << 30)
began = time.monotonic()
is_refused(ask(), 'the connection is always closed unanswered: the wrapper gives up', 'gave no answer')
took = time.monotonic() - began
ok(9 < took < 14, 'the refusal comes after about 10 s (%.1f)' % took)
os.kill(pid, signal.SIGKILL)
os.unlink(SOCK)


# the same with the setuid helper, while all places of this user are taken (root/self/slots.h)
@contextlib.contextmanager
def no_place():
    places = []
    for i in range(16):
        places.append(os.open('%s/locks/door-%d-%d' % (RUN, UID, i), os.O_RDWR | os.O_CREAT, 0o600))
        fcntl.flock(places[-1], fcntl.LOCK_EX)
    try:
        yield lambda: [os.close(places.pop()) for _ in places[:]]
    finally:
        for fd in places:
            os.close(fd)


bit(True)
door('setuid')
with no_place() as leave:
    threading.Timer(1.5, leave).start()
    began = time.monotonic()
    is_granted(ask(), 'the setuid helper ends without an answer: the wrapper asks again until it gets one')
    ok(time.monotonic() - began > 1.4, 'the answer comes only after a place is free')
with no_place():
    began = time.monotonic()
    is_refused(ask(), 'the setuid helper always ends without an answer: the wrapper gives up', 'gave no answer', 'too many requests of uid %d' % UID)
    took = time.monotonic() - began
    ok(4 < took < 14, 'the refusal comes after some seconds (%.1f)' % took)
door('socket')

CREATED = 7     # helper/ask/request.h


def verb(c):
    """Of the request that comes on the connection (helper/ask/request.c); None where none comes."""
    head = c.recv(12, socket.MSG_WAITALL)
    if len(head) < 12:
        return None
    asked = c.recv(struct.unpack('>I', head[8:])[0], socket.MSG_WAITALL)
    return struct.unpack('=QIII', asked[:20])[3]


def say(c, reply):
    body = json.dumps(reply).encode()
    c.sendall(b'GPUH' + struct.pack('>II', WIRE, len(body)) + body)


# a helper that loses a grant: it ends before the confirmation
def stub(reply, after):
    s = socket.socket(socket.AF_UNIX)
    s.bind(SOCK)
    os.chmod(SOCK, 0o666)
    s.listen()
    pid = os.fork()
    if pid == 0:
        while True:
            c, _ = s.accept()
            created = verb(c) == CREATED
            say(c, {'reply': 'noted'} if created else reply)
            if not created:
                after(c)
            c.close()
    s.close()
    return pid


GRANT = {'reply': 'grant', 'policy': 'p', 'maskedPaths': [],
         'containerEdits': {'deviceNodes': [], 'mounts': [], 'hooks': [], 'env': [], 'additionalGids': []}}
for text, after in (('ends without a confirmation', lambda c: None), ('reads the byte and ends', lambda c: c.recv(1)),
                    ('says something else', lambda c: c.sendall(b'X'))):
    pid = stub(GRANT, after)
    answer = ask()
    ok(answer[0] == 1 and 'took the grant back' in answer[1], 'a helper that %s after a grant: no container' % text, answer)
    os.kill(pid, signal.SIGKILL)
    os.unlink(SOCK)


def stay(answer):
    def after(c):
        word = c.recv(1)
        c.sendall(word)
        if word == b'S' and verb(c) == CREATED:
            answer(c)
    return after


for text, after in (('says that it ends', lambda c: c.recv(1) and c.sendall(b'W')), ('says that it stays, and ends', lambda c: c.sendall(c.recv(1))),
                    ('stays, and sees the container', stay(lambda c: say(c, {'reply': 'noted'}))),
                    ('stays, and can not see the container', stay(lambda c: say(c, {'reply': 'refused', 'code': 75, 'text': 'x', 'wait': 0, 'ahead': 0}))),
                    ('stays, and ends at the second request', stay(lambda c: None))):
    pid = stub(GRANT, after)
    ok(ask()[:2] == (0, ''), 'control: a helper that %s: there is a container' % text)
    os.kill(pid, signal.SIGKILL)
    os.unlink(SOCK)

# Like an unprivileged LXD container: setuid bits work, device rules do not.
lxd = ['nsenter', '--user', '--mount', '--pid', '--wd=.', '--target', str(system_container(65536))]
host.policies(t10='identity = "caller"; callers = [ "worker", "root" ];\nfolders = ( { path = "/srv/data"; access = "ro"; } );\n'
                  'gpus = ( { vendor = "nvidia"; devices = [ "0" ]; } );\n')
door()
is_granted(ask(outer=lxd), 'a worker in a system container: by the setuid bit')
host.settings('unenforced = "allow";')
busybox_rootfs(W + '/vol/lxd-rootfs', 65535)
with open('/etc/subuid', 'a') as f:
    f.write('root:65535:1\n')
for p in '/dev/nvidia0', '/dev/nvidiactl', '/dev/nvidia-uvm':
    os.chmod(p, 0o600)


def as_concourse(spec):
    """A container as a Concourse worker makes it if its last id is 65535."""
    for kind in 'uidMappings', 'gidMappings':
        spec['linux'][kind] = [{'containerID': 0, 'hostID': 65535, 'size': 1}, {'containerID': 1, 'hostID': 1, 'size': 65534}]
    spec['root']['path'] = W + '/vol/lxd-rootfs'
    # the samples' volumes belong to an id that does not exist here
    spec['mounts'] = [m for m in spec['mounts'] if not m['source'].startswith(W + '/vol/')]


def lxd_run(env, script):
    b = Bundle(host, 'task', env=env, args=['/bin/sh', '-c', script], edit=as_concourse)
    sh('chown', '-R', '0:65535', b.dir)
    return sh(*lxd, WRAPPER, '--root', W + '/lxd', 'run', '--bundle', b.dir, b.id, cwd=b.dir)


# processes left by the script above count as root's containers, which could write to this image's directory
time.sleep(5.5)
r = lxd_run([], 'echo ran')
if 'ran' not in r.stdout:
    skip('the worker as root of the namespace', 'runc makes no container there: ' + r.stdout.strip().replace('\n', ' '))
else:
    r = lxd_run(['GPUHELPER_FOLDERS=all', 'GPUHELPER_GPUS=1'], 'cat /srv/data/x; (: < /dev/nvidia0) 2>&1; (: < /dev/nvidia1) 2>&1; id')
    ok('data' in r.stdout and 'nvidia0: No such device or address' in r.stdout and 'nvidia1: no such file' in r.stdout.lower(),
       'the worker as root of the namespace: the container has its folder and its GPU, by the ACL', r.stdout)
    sh('/usr/sbin/gpuhelperctl', 'reap')
    # the stand-in for the previous container's first process is a zombie here, because nobody waits for it
    left = [l for l in held_leases() if l['root'] == W + '/lxd']
    ok(left == [] and 'user:65535' not in sh('getfacl', '-np', '/dev/nvidia0').stdout, 'no lease and no entry is left')
    r = lxd_run([], '(: < /dev/nvidia0) 2>&1')
    ok('no such file' in r.stdout.lower(), 'its other container has no GPU', r.stdout)
done()
