#!/usr/bin/env python3
"""Rootless containers of an unprivileged user: a closed GPU node is opened to the container's own ids, and to nobody
else.

usage: rootless.py RUNTIME [SURROUNDINGS]    (runc or crun; in tests/lib/sandbox.sh --gpu nvidia-2gpu)

Surroundings: «plain» (the default) uses the setuid helper.  In the others the helper has no setuid bit and runs
behind the socket (systemd-socket-activate stands in for systemd): «socket» is otherwise like plain; «nnp» runs under
no_new_privs; in «userns» the engine is root of a user namespace that the user made with newuidmap and newgidmap, like
RootlessKit's.

The GPU is /dev/nvidia9, which has /dev/urandom's numbers, so that an open node can be read.  No device cgroup applies
to these containers; the test shows what mode and ACL of the host's node do.
"""
import ctypes, json, os, pwd, re, subprocess, sys, time
from lib import *

where = sys.argv[2] if len(sys.argv) > 2 else 'plain'
host = Host(sys.argv[1], 'v1')
if where != 'plain':
    open_door()
host.settings('unenforced = "allow";')
for user, first in (('worker', 300000), ('stranger', 400000)):
    sh('useradd', '--create-home', '-G', 'gpuhelper', user)
    subordinate(user, first, 1000)
UID = pwd.getpwnam('worker').pw_uid
NODE = urandom_gpu()
host.policies(t10='identity = "caller"; callers = [ "worker" ];\n'
                  'gpus = ( { vendor = "nvidia"; devices = [ "0000:3b:00.0" ]; } );\n'
                  'folders = ( { path = "/srv/data"; access = "rw"; } );\n',
              t20='identity = "caller"; callers = [ "stranger" ];\nfolders = ( { path = "/srv/data"; access = "ro"; } );\n')
os.makedirs('/srv/data')
os.chown('/srv/data', UID, UID)
os.chmod('/srv/data', 0o755)
sh('setfacl', '-m', 'u:300006:rwx', '/srv/data')


# before any user's mount namespace, so that each has this mount
os.makedirs(W + '/held/dev')
sh('mount', '--bind', '/dev', W + '/held/dev')
spaces = {}     # a process in each user's user namespace


def space(user):
    if user not in spaces:
        spaces[user] = user_namespace(user, [(0, pwd.getpwnam(user).pw_uid, 1), (1, 300000 if user == 'worker' else 400000, 1000)],
                                      [(0, pwd.getpwnam(user).pw_gid, 1), (1, 300000 if user == 'worker' else 400000, 1000)])
    return spaces[user]


def as_user(user):
    """Wraps a command to run as that user, in these surroundings."""
    words = ['setpriv', '--reuid', user, '--regid', user, '--init-groups']
    if where == 'nnp':
        words.append('--no-new-privs')
    if where == 'userns':
        words += ['--', 'nsenter', '--user', '--mount', '--preserve-credentials', '--wd=.', '--target', str(space(user))]
    return words + ['--']


class Rootless:
    count = 0

    def __init__(self, user='worker', inside=0, env=('GPUHELPER_GPUS=1', 'GPUHELPER_FOLDERS=all'), args=('/bin/sleep', '60'), mounts=()):
        Rootless.count += 1
        p = pwd.getpwnam(user)
        first = 300000 if user == 'worker' else 400000
        self.user, self.id, self.inside = user, 'r%d' % Rootless.count, inside
        self.home = '%s/rootless-%s' % (W, user)
        self.dir = '%s/%s' % (self.home, self.id)
        os.makedirs(self.dir)
        rootfs = busybox_rootfs(self.dir + '/rootfs', p.pw_uid)
        os.makedirs(self.home + '/root', exist_ok=True)
        sh('chown', '-R', '%d:%d' % (p.pw_uid, p.pw_gid), self.home)
        r = sh('setpriv', '--reuid', user, '--regid', user, '--init-groups', host.runtime, 'spec', '--rootless', cwd=self.dir)
        spec = json.loads(open(self.dir + '/config.json').read())
        spec['process'].update(args=list(args), terminal=False, user={'uid': inside, 'gid': 0})
        spec['process']['env'] += env
        spec['linux']['uidMappings'] = [{'containerID': 0, 'hostID': p.pw_uid, 'size': 1},
                                        {'containerID': 1, 'hostID': first, 'size': 1000}]
        spec['linux']['gidMappings'] = [{'containerID': 0, 'hostID': p.pw_gid, 'size': 1},
                                        {'containerID': 1, 'hostID': first, 'size': 1000}]
        if where == 'userns':
            # a range of ids must be within one range of the outer namespace
            spec['linux']['uidMappings'] = spec['linux']['gidMappings'] = [{'containerID': 0, 'hostID': 0, 'size': 1},
                                                                           {'containerID': 1, 'hostID': 1, 'size': 999}]
        if where == 'nnp':      # newuidmap does not work here either, so the user has only one id
            for kind in 'uidMappings', 'gidMappings':
                spec['linux'][kind] = spec['linux'][kind][:1]
        spec['root']['readonly'] = False
        spec['linux'].pop('resources', None)
        spec['linux'].pop('cgroupsPath', None)
        spec['mounts'] += [{'destination': target, 'type': 'bind', 'source': source, 'options': [how]} for source, target, how in mounts]
        write(self.dir + '/config.json', json.dumps(spec))
        sh('chown', '-R', '%d:%d' % (p.pw_uid, p.pw_gid), self.dir + '/config.json')

    def as_user(self, *argv, **kw):
        return sh(*as_user(self.user), *argv, **kw)

    def call(self, *words):
        return self.as_user(WRAPPER, '--root', self.home + '/root', *words, cwd=self.dir)

    def start(self, **kw):
        with open(self.dir + '/out', 'w') as out:
            r = subprocess.run(as_user(self.user) + [WRAPPER, '--root', self.home + '/root', 'run', '--detach', '--pid-file',
                                self.dir + '/pid', '--bundle', self.dir, self.id], cwd=self.dir, stdin=subprocess.DEVNULL, stdout=out, stderr=out, timeout=60, **kw)
        return r.returncode, open(self.dir + '/out').read()

    def run(self):
        return self.call('run', '--bundle', self.dir, self.id)

    def pid(self):
        return int(open(self.dir + '/pid').read())

    def exec(self, script):
        # crun 1.21 takes a user without a group for root
        return self.call('exec', '--user', '%d:%d' % (self.inside, self.inside), self.id, '/bin/sh', '-c', 'exec 2>&1; ' + script)

    def delete(self):
        return self.call('delete', '--force', self.id)


def entries():
    return [l for l in sh('getfacl', '-npE', NODE).stdout.splitlines() if re.match('(user|group):[0-9]', l)]


def look():
    sh('/usr/sbin/gpuhelperctl', 'reap')


READ = '/bin/busybox head -c 4 %s | /bin/busybox wc -c' % NODE

c = Rootless(args=('/bin/true',), env=())
r = c.run()
if r.returncode != 0:
    if c.as_user(host.runtime, '--root', c.home + '/root', 'run', '--bundle', c.dir, c.id + '-alone', cwd=c.dir).returncode == 0:
        ok(False, 'a plain container runs', r.stdout)
        done()
    print('1..0 # SKIP %s makes no rootless container on this machine: %s' % (host.name, r.stdout.strip().replace('\n', ' ')))
    sys.exit(0)
if where != 'plain':
    ok(os.stat('/usr/libexec/gpuhelper/gpuhelper').st_mode & 0o6000 == 0, 'the helper has no setuid bit')

# a container whose user is not root
insiders = [(0, UID, 'root of the container, who is the worker'), (7, 300006, 'a user of /etc/subuid')]
# under no_new_privs newuidmap maps no other ids
for inside, outside, text in insiders[:1 if where == 'nnp' else 2]:
    c = Rootless(inside=inside)
    status, out = c.start()
    ok(status == 0, '%s: made' % text, out)
    r = c.exec(READ)
    ok(r.stdout.strip() == '4', '%s: reads from the GPU' % text, (r.stdout, sh('getfacl', '-np', NODE).stdout))
    ok(entries() == ['user:%d:rw-' % outside], 'the node has exactly one entry: %s' % entries(), entries())
    r = c.exec('echo x > /srv/data/%d && cat /srv/data/%d' % (inside, inside))
    ok(r.stdout.strip() == 'x', '%s: writes its folder' % text, r.stdout)
    look()
    look()
    ok(len(leases()) == 1 and c.exec(READ).stdout.strip() == '4', 'nothing is open: its lease survives a look')
    r = c.delete()
    # on a busy machine delete's look may not finish in its time; the timer's look does
    if leases():
        look()
    ok(r.returncode == 0 and entries() == [] and leases() == [], 'deleted: no entry, no lease', (r.stdout, entries(), leases()))

# through a mount of a plain container: no device cgroup forbids it, and by default everybody may use NVIDIA's nodes
mode = os.stat(NODE).st_mode & 0o777
os.chmod(NODE, 0o666)
os.makedirs('/dev/dri/by-path')
os.mknod('/dev/dri/renderD128', 0o20666, os.makedev(226, 128))
os.symlink('../renderD128', '/dev/dri/by-path/pci-0000:3b:00.0-render')


def plain(source, how, script, link=None):
    c = Rootless(env=(), args=('/bin/sh', '-c', script), mounts=[(source, '/x', how)])
    if link:
        os.symlink(link, c.dir + '/link')
    # started from another directory: only the runtime changes to the bundle's
    return c.as_user(WRAPPER, '--root', c.home + '/root', 'run', '--bundle', c.dir, c.id, cwd='/')


for source, link, text in ((NODE, None, 'a node'), ('link', NODE, 'a link in the bundle to a node'), ('/dev/dri', None, 'a directory of nodes'),
                           ('link', '/dev/dri', 'a link in the bundle to it')):
    for how in 'bind', 'rbind':
        r = plain(source, how, 'ls /x; echo ran', link)
        ok(r.returncode == 0 and 'No such file' in r.stdout and 'ran' in r.stdout, 'plain, %s of %s: runs without the mount' % (how, text), r.stdout)
for source, how, link, text in (('/dev', 'bind', None, '/dev'), ('/dev', 'rbind', None, '/dev'), (W + '/held', 'rbind', None, 'a directory with /dev beneath'),
                                ('link', 'rbind', '/dev', 'a link in the bundle to /dev')):
    r = plain(source, how, 'head -c 4 /x/nvidia9 /x/dev/nvidia9 | /bin/busybox wc -c', link)
    ok(r.returncode == 1 and 'no device cgroup' in r.stdout and 'gpuhelper: the mount of %s at /x' % source in r.stdout, 'plain, %s of %s: refused' % (how, text), r.stdout)
r = plain('link', 'bind', 'ls /x', '/run/gpuhelper')
ok(r.returncode == 1 and '/run/gpuhelper' in r.stdout and "gpuhelper's settings, state or log" in r.stdout, "plain, a link in the bundle to gpuhelper's own state: refused", r.stdout)
for source, how, text in (('/dev/tty', 'bind', 'another node'), ('/usr', 'rbind', "the host's /usr"),
                          ('/dev/shm', 'rbind', '/dev/shm')):
    r = plain(source, how, 'test -e /x && echo ran')
    ok(r.returncode == 0 and 'ran' in r.stdout, 'plain, %s of %s: is mounted' % (how, text), r.stdout)
sh('rm', '-r', '/dev/dri')
os.chmod(NODE, mode)

# nobody else's access
c = Rootless()
c.start()
r = c.as_user('head', '-c', '4', NODE)
ok(r.returncode == 0, 'the worker itself, whose uid the container runs as, may use the node too (SECURITY.md)', r.stdout)
s = Rootless(user='stranger', env=())
r = s.as_user('head', '-c', '4', NODE)
ok(r.returncode != 0 and 'Permission denied' in r.stdout, 'another user of the host cannot', r.stdout)
status, out = s.start()
r = s.exec('ls %s' % NODE)
ok(status == 0 and 'No such file' in r.stdout, "another user's container does not have the node", (out, r.stdout))
s.delete()
s = Rootless(user='stranger')
status, out = s.start()
ok(status != 0 and 'gpuhelper' in out, 'its request for the node is refused', out)

def look_till_over():
    """Root's look, because on a busy machine a container's end may not be complete when the runtime returns."""
    for _ in range(50):
        if leases() == []:
            break
        time.sleep(0.1)
        look()


# something resets the node during the lease
os.chmod(NODE, 0o600)
r = c.exec(READ)
ok('Permission denied' in r.stdout, 'chmod 0600 shuts the container out', r.stdout)
r = sh('/usr/sbin/gpuhelperctl', 'status')
ok('! %s: the ACL entry of user %d is masked' % (NODE, UID) in r.stdout, 'status reports that', r.stdout)
r = sh('/usr/sbin/gpuhelperctl', 'reapply')
ok(r.returncode == 0 and c.exec(READ).stdout.strip() == '4', 'reapply opens the node again', r.stdout)
r = sh('/usr/sbin/gpuhelperctl', 'status')
ok('!' not in r.stdout, 'status reports nothing any more', r.stdout)

# the container dies without a delete
os.kill(c.pid(), 9)
for _ in range(100):
    if not os.path.exists('/proc/%d' % c.pid()):
        break
    time.sleep(0.02)
n = Rootless()
status, out = n.start()
ok(status == 0 and len(leases()) == 1, 'killed without a delete: the GPU is free at the next request', out)
n.delete()
look_till_over()
ok(entries() == [] and leases() == [], 'no entry and no lease is left', (entries(), leases()))

# The runtime takes a zombie for a stopped container, and the helper must, too: its parent may be slow to wait for it.
PR_SET_CHILD_SUBREAPER = 36
ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
n = Rootless()
status, out = n.start()
pid = n.pid()
n.delete()
look_till_over()
state = open('/proc/%d/stat' % pid).read().rsplit(')', 1)[1].split()[0] if os.path.exists('/proc/%d' % pid) else 'gone'
ok(state == 'Z' and entries() == [] and leases() == [], 'deleted while its first process is a zombie: nothing is left either', (state, out, entries(), leases()))

# root ends another user's container with that user's rights, which suffice for its processes
n = Rootless()
status, out = n.start()
pid = n.pid()
r = sh('/usr/sbin/gpuhelperctl', 'end', '--yes', n.id)
state = open('/proc/%d/stat' % pid).read().rsplit(')', 1)[1].split()[0] if os.path.exists('/proc/%d' % pid) else 'gone'
ok(r.returncode == 0 and state in ('Z', 'gone') and leases() == [], 'root ends a container of another user', (out, r.stdout, state))
n.delete()

# the worker itself is in a cgroup that denies the GPU, as in a container of Docker
place = device_cgroup('nest' + UNIQUE)
for rule in 'c 1:3 rwm', 'c 1:5 rwm', 'c 1:7 rwm', 'c 1:8 rwm', 'c 5:* rwm', 'c 136:* rwm':
    write(place + '/devices.allow', rule)
n = Rootless()
status, out = n.start(preexec_fn=lambda: write(place + '/cgroup.procs', '0'))
listed = n.call('list', '--quiet').stdout
n.delete()
look_till_over()
ok(status != 0 and "gpuhelper: the device rules of this worker's cgroup deny %s and 3 other nodes to all containers beneath it" % NODE in out and
   n.id not in listed.split(), 'a worker whose own cgroup denies the GPU: the container is deleted', (status, out, listed))
ok(entries() == [] and leases() == [], 'a worker whose own cgroup denies the GPU: no entry and no lease is left', (entries(), leases()))
os.rmdir(place)
done()
