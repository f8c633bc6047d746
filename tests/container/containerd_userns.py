#!/usr/bin/env python3
"""containerd as root of a user namespace that an unprivileged user made with newuidmap, like RootlessKit; over the
socket.

usage: containerd_userns.py    (in tests/lib/sandbox.sh --gpu nvidia-2gpu)

The test does to a container what a Concourse worker does: create, start, exec --process, kill, delete twice.  A
worker itself does not start there: it needs uid 0 of the host for its volumes and its network.  The samples'
cgroupsPath is removed, because no cgroup is delegated here.
"""
import os, pwd, subprocess, sys, time
from lib import *

tag = 'containerd in a user namespace: '
host = Host('runc', 'v1')
sh('useradd', '--create-home', '-G', 'gpuhelper', 'worker')
subordinate('worker', 300000, 65536)
UID = pwd.getpwnam('worker').pw_uid
NODE = urandom_gpu()
open_door()
# the ids that a Concourse worker maps: root of its containers gets its last id
LAST = 65536
HOSTROOT = 300000 + LAST - 1
host.settings('unenforced = "allow";')
host.policies(t10='identity = "caller"; callers = [ "worker" ];\ngpus = ( { vendor = "nvidia"; devices = [ "0000:3b:00.0" ]; } );\n'
                  'folders = ( { path = "/srv/data"; access = "rw"; } );\n')
os.makedirs('/srv/data')
os.chown('/srv/data', HOSTROOT, HOSTROOT)
C = W + '/containerd'
for d in C, C + '/opt/bin', '/run/containerd', '/run/containerd/s', W + '/vol/rootless', W + '/b':
    os.makedirs(d, exist_ok=True)
busybox_rootfs(W + '/vol/rootless/rootfs', HOSTROOT)
os.symlink(WRAPPER, C + '/opt/bin/runc')
write(C + '/config.toml', 'version = 2\nroot = "%s/root"\nstate = "%s/state"\ndisabled_plugins = ["io.containerd.grpc.v1.cri"]\n'
      '[grpc]\n address = "%s/sock"\n[plugins."io.containerd.internal.v1.opt"]\n path = "%s/opt"\n' % (C, C, C, C))
for d in C, '/run/containerd':
    sh('chown', '-R', 'worker:worker', d)
os.chmod(W, 0o755)
os.chmod(W + '/vol', 0o755)
os.chown(W + '/vol/rootless', UID, UID)
# in a user namespace only the worker's own directory counts as a volume
conf = open('/etc/gpuhelper/gpuhelper.conf').read()
write('/etc/gpuhelper/gpuhelper.conf', conf.replace('"%s/vol"' % W, '"%s/vol/rootless"' % W))
space = user_namespace('worker', [(0, UID, 1), (1, 300000, LAST)], [(0, UID, 1), (1, 300000, LAST)])
inside = ['setpriv', '--reuid', 'worker', '--regid', 'worker', '--init-groups', '--', 'nsenter', '--user', '--mount',
          '--preserve-credentials', '--target', str(space), '--']
log = open(W + '/containerd.log', 'w')
daemon = subprocess.Popen(inside + ['containerd', '--config', C + '/config.toml'], stdout=log, stderr=log, stdin=subprocess.DEVNULL)


def ctr(*words):
    return sh(*inside, 'ctr', '-a', C + '/sock', '-n', 'concourse', *words)


for _ in range(100):
    if ctr('version').returncode == 0:
        break
    time.sleep(0.1)


def as_concourse(spec):
    for kind in 'uidMappings', 'gidMappings':
        spec['linux'][kind] = [{'containerID': 0, 'hostID': LAST, 'size': 1}, {'containerID': 1, 'hostID': 1, 'size': LAST - 1}]
    spec['root']['path'] = W + '/vol/rootless/rootfs'
    spec['linux'].pop('cgroupsPath', None)
    spec['linux']['resources'] = {}
    spec['mounts'] = [m for m in spec['mounts'] if not m['source'].startswith(W) and m['type'] not in ('cgroup', 'mqueue')]


def bundle(env=(), args=('/bin/sleep', '1000')):
    b = Bundle(host, env=env, args=list(args), edit=as_concourse)
    sh('chown', '-R', 'worker:worker', b.dir)
    return b


def errors(text):
    return (text, [l for l in open(W + '/containerd.log').read().splitlines() if 'level=error' in l or 'level=fatal' in l][-5:])


PROBE = 'head -c 4 %s | /bin/busybox wc -c; echo x > /srv/data/x && cat /srv/data/x; ls /dev/nvidia* | head -n 1' % NODE
b = bundle(args=['/bin/sh', '-c', 'echo ran; ls /dev/nvidia* /srv'])
r = ctr('run', '--rm', '--config', b.dir + '/config.json', b.id)
if 'gpuhelper' in r.stdout:
    ok(False, tag + 'a plain container is not refused', r.stdout)
    done()
if 'ran' not in r.stdout:
    skip(tag + 'all checks', 'no container is made there: ' + r.stdout.strip().replace('\n', ' ')[-400:] + ' ' + ' '.join(errors('')[1])[-400:])
    done()
ok('No such file' in r.stdout and 'data' not in r.stdout, tag + 'a plain container runs, without a GPU or folder', r.stdout)
b = bundle(['GPUHELPER_GPUS=1', 'GPUHELPER_FOLDERS=all'], ['/bin/sh', '-c', PROBE])
r = ctr('run', '--rm', '--config', b.dir + '/config.json', b.id)
ok(without_warning(r.stdout).split()[:2] == ['4', 'x'], tag + 'the container\'s root can read the GPU and write the folder', errors(r.stdout))
ok(os.path.exists('/srv/data/x') and os.stat('/srv/data/x').st_uid == HOSTROOT, tag + 'its root is uid %d of this host' % HOSTROOT)
sh('/usr/sbin/gpuhelperctl', 'reap')
ok(leases() == [] and 'user:%d' % HOSTROOT not in sh('getfacl', '-np', NODE).stdout, tag + 'no lease is left', leases())

# as a worker does
b = bundle(['GPUHELPER_GPUS=1', 'GPUHELPER_FOLDERS=all'])
r = ctr('run', '--detach', '--config', b.dir + '/config.json', b.id)
held = held_leases()
ok(r.returncode == 0 and [l['uid'] for l in held] == [UID], tag + "a detached task holds its lease, in the worker's name", errors(r.stdout))
r = ctr('task', 'exec', '--exec-id', 'e1', b.id, '/bin/sh', '-c', PROBE)
ok(r.stdout.split()[:2] == ['4', 'x'], tag + 'a process of exec --process has the GPU and the folder', errors(r.stdout))
b2 = bundle(['GPUHELPER_GPUS=1'])
r = ctr('run', '--rm', '--config', b2.dir + '/config.json', b2.id)
ok(r.returncode != 0 and 'taken' in r.stdout, tag + 'meanwhile nobody else gets the GPU; the refusal says why', r.stdout)
ctr('task', 'kill', '--signal', 'KILL', b.id)
time.sleep(0.5)
r = ctr('task', 'delete', b.id)
r2 = ctr('container', 'delete', b.id)
r3 = sh(*inside, WRAPPER, '--root', C + '/state/runc/concourse', 'delete', '--force', b.id)
ok(r2.returncode == 0 and r3.returncode == 0, tag + 'kill, delete, and a shim\'s second delete', r.stdout + r2.stdout + r3.stdout)
sh('/usr/sbin/gpuhelperctl', 'reap')
ok(leases() == [] and 'user:%d' % HOSTROOT not in sh('getfacl', '-np', NODE).stdout, tag + 'the lease is over, and the node is shut', leases())
daemon.terminate()
daemon.wait(20)
done()
