#!/usr/bin/env python3
"""gpuhelperctl setup concourse --image: a worker that is a container, made from an image that was set up while it was built.

usage: setup_image.py    (in tests/lib/sandbox.sh --gpu nvidia-2gpu)

The image is a directory: what «RUN» does in a Dockerfile is done by chroot(1), and the container is real runc's, with the
rights and the mounts that gpuhelper-concourse(7) names.  Its /usr is the host's, seen once more; the worker is a Python of
its name, which starts a real containerd.  The helper is the image's, by its setuid bit: the host's takes no request of a
container's over the socket, which is there as well.
"""
import contextlib, json, os, shutil, subprocess, sys, time
from lib import *

IMAGE, WORK = W + '/worker-image', '/worker-state'
CONF, LINK, RUNC = '/etc/gpuhelper/gpuhelper.conf', '/opt/containerd/bin/runc', '/usr/local/concourse/bin/runc'
host = Host('runc', 'v1')
if not shutil.which('containerd'):
    skip('setup concourse --image', 'containerd is not there')
    done()
os.unlink(CONF)
host.policies(t10='identity = "caller";\ncallers = [ "root" ];\ngpus = ( { vendor = "nvidia"; devices = [ "%s" ]; } );\n' % GPU0)
for f in 'runc', 'python3':
    os.makedirs('/usr/local/concourse/bin', exist_ok=True)
    shutil.copy(os.path.realpath(shutil.which(f)), '/usr/local/concourse/bin/' + ('concourse' if f == 'python3' else f))

# the image, as it is when its Dockerfile comes to our lines: gpuhelper is installed, without policies
for d in 'usr proc dev sys run tmp opt root var/lib/gpuhelper var/log/gpuhelper etc/gpuhelper/policy.d worker-state/volumes srv'.split():
    os.makedirs(os.path.join(IMAGE, d), exist_ok=True)
for l in 'bin', 'sbin', 'lib', 'lib64':
    os.symlink('usr/' + l, os.path.join(IMAGE, l))
for f in 'passwd', 'group', 'ld.so.cache':
    shutil.copy('/etc/' + f, IMAGE + '/etc/' + f)
assert sh('mount', '--bind', '/usr', IMAGE + '/usr').returncode == 0
TOML = 'version = 2\nroot = "%s/containerd"\nstate = "/run/containerd"\ndisabled_plugins = ["io.containerd.grpc.v1.cri"]\n' % WORK
write(IMAGE + WORK + '/containerd.toml', TOML)


def build(*words):
    """A RUN line of the Dockerfile: there is no /proc to look for a worker in, and no helper."""
    r = sh('chroot', IMAGE, '/usr/sbin/gpuhelperctl', 'setup', 'concourse', *words)
    return r.returncode, r.stdout


def state():
    p = IMAGE + CONF
    return os.path.lexists(IMAGE + LINK), open(p).read() if os.path.exists(p) else None


code, text = build('--image', '--tags')
ok(code == 64 and '--tags' in text and state() == (False, None), '--tags has no worker to give tags to', text)
write(IMAGE + '/opt/containerd/bin/runc', '#!/bin/sh\n', 0o755)
code, text = build('--image')
ok(code == 78 and 'is not gpuhelper-runc' in text and state() == (True, None), "an image that has another's runc there: refused", text)
os.unlink(IMAGE + LINK)
code, text = build('--image', '--dry-run')
ok(code == 0 and 'would make' in text and state() == (False, None), '--dry-run does nothing', text)
code, text = build('--image')
ok(code == 0 and os.readlink(IMAGE + LINK) == WRAPPER and 'runtime = "%s";' % RUNC in state()[1] and 'door = "setuid";' in state()[1] and
   'volumes' not in state()[1], "--image makes the link, and names the image's runc and door; its volumes are among the defaults", (text, state()))
before = state()
code, text = build('--image')
ok(code == 0 and state() == before, 'a second time it changes nothing', text)
code, text = build('--image', '--undo')
ok(code == 0 and state() == (False, None), '--undo', (text, state()))
code, text = build('--image', '--worker-dir', '/var/lib/worker')
ok(code == 0 and '"/var/lib/worker/volumes" ];' in state()[1], '--worker-dir names another place', state())
build('--undo')
code, text = build('--image')
with open(IMAGE + CONF, 'a') as f:
    f.write('privileged = "deny";\n')

# the host: on its own, setup can't see the worker
open_door(bit=True)
STARTS = 'import subprocess; subprocess.Popen(["containerd", "--config", "%s/containerd.toml"]).wait()' % WORK
bundle = W + '/worker-bundle'
CAPS = sorted({'CAP_' + n for n in 'CHOWN DAC_OVERRIDE FSETID FOWNER MKNOD NET_RAW SETGID SETUID SETFCAP SETPCAP NET_BIND_SERVICE SYS_CHROOT KILL AUDIT_WRITE SYS_ADMIN SYS_PTRACE NET_ADMIN DAC_READ_SEARCH SYS_RESOURCE'.split()})
held = int(next(l for l in open('/proc/self/status') if l.startswith('CapEff')).split()[1], 16)
if not held & (1 << 24):
    CAPS.remove('CAP_SYS_RESOURCE')


def bind(path, *options, source=None):
    return {'destination': path, 'type': 'bind', 'source': source or path, 'options': ['rbind', *options]}


# the simulated driver of the sandbox, which a kernel would show in any /proc; and one that nothing covers (lib/sandbox.sh)
SIMULATE = 'mount -t proc proc /tmp/proc && mount --rbind /tmp/driver /proc/driver && mount --bind /tmp/devices /proc/devices && exec "$0" "$@"'
os.makedirs(IMAGE + '/tmp/proc')

spec = {'ociVersion': '1.0.2', 'process': {'user': {'uid': 0, 'gid': 0}, 'cwd': '/', 'args': ['/bin/sh', '-c', SIMULATE, '/usr/local/concourse/bin/concourse', '-c', STARTS, 'worker'],
        'env': ['PATH=/usr/local/concourse/bin:/usr/sbin:/usr/bin:/sbin:/bin', 'CONCOURSE_WORK_DIR=' + WORK],
        'capabilities': {k: CAPS for k in ('bounding', 'effective', 'permitted')}},
        'root': {'path': IMAGE}, 'hostname': 'worker', 'mounts': [
            {'destination': '/proc', 'type': 'proc', 'source': 'proc'}, {'destination': '/run', 'type': 'tmpfs', 'source': 'tmpfs', 'options': ['mode=755']},
            bind('/usr', source=IMAGE + '/usr'), bind('/dev'), bind('/sys'), *[bind(d) for d in ('/run/gpuhelper', '/var/log/gpuhelper', '/var/lib/gpuhelper')], bind('/etc/gpuhelper/policy.d', 'ro'), bind('/tmp/driver', source='/proc/driver'), bind('/tmp/devices', source='/proc/devices'), bind(W + '/vol'), bind(W + '/b'), bind(W + '/init')],
        'linux': {'namespaces': [{'type': t} for t in ('pid', 'mount', 'ipc', 'uts')], 'resources': {'devices': [{'allow': True, 'access': 'rwm'}]}}}
write(bundle + '/config.json', json.dumps(spec))
os.makedirs(W + '/b', exist_ok=True)
# where this test's containers have their root filesystems
with open(IMAGE + CONF) as f:
    text = f.read()
write(IMAGE + CONF, text + 'volumes = [ "%s/volumes", "%s/vol" ];\n' % (WORK, W))
NAME = 'worker-' + UNIQUE
log = open(W + '/worker.log', 'w')
p = subprocess.Popen([host.runtime, '--root', W + '/outer', 'run', '--bundle', bundle, NAME], stdin=subprocess.DEVNULL, stdout=log, stderr=log)


def inside(*words):
    return sh(host.runtime, '--root', W + '/outer', 'exec', NAME, *words)


for _ in range(100):
    if inside('ctr', 'version').returncode == 0:
        break
    time.sleep(0.1)


def task(*env):
    b = Bundle(host, 'task', env=env, args=['/bin/sh', '-c', 'ls /dev > /said; (: < /dev/nvidia0) 2>> /said; true'])
    said = json.loads(open(b.dir + '/config.json').read())['root']['path'] + '/said'
    with contextlib.suppress(FileNotFoundError):
        os.unlink(said)
    r = inside('ctr', '-n', 'concourse', 'run', '--rm', '--config', b.dir + '/config.json', b.id)
    return r.returncode, open(said).read() if os.path.exists(said) else r.stdout


try:
    r = sh('/usr/sbin/gpuhelperctl', 'setup', 'concourse')
    ok(r.returncode == 78 and 'one in a container' in r.stdout and 'gpuhelper-concourse(7)' in r.stdout, 'on the host, setup says that the worker is in a container', r.stdout)
    code, text = task()
    ok(code == 0 and 'nvidia0' not in text.split(), 'a task that asks for nothing has none', (text, open(W + '/worker.log').read()[-600:]))
    code, text = task('GPUHELPER_GPUS=1')
    ok(code == 0 and 'nvidia0' in text.split() and 'nvidia1' not in text.split() and 'No such device or address' in text, 'one that asks has what the policy of the host gives', text)
    code, text = task('GPUHELPER_GPUS=2')
    ok(code != 0 and '2 GPUs asked for' in text, 'who asks for more is refused', text)
    sh('gpuhelperctl', 'reap')
    ok(leases() == [], 'and no lease is left', leases())
    b = Bundle(host, 'task', env=['GPUHELPER_GPUS=1'], args=['/bin/sleep', '1000'])
    r = inside('ctr', '-n', 'concourse', 'run', '--detach', '--config', b.dir + '/config.json', b.id)
    sh('gpuhelperctl', 'reap')
    j = json.loads(sh('gpuhelperctl', 'status', '--json').stdout)
    ok(r.returncode == 0 and len(leases()) == 1 and b.id in json.dumps(j), 'on the host, status shows who holds the GPU, and reap leaves it', (r.stdout, j))
    ok(GPU0 in open('/var/log/gpuhelper/audit.jsonl').read(), "and it is in the host's audit log")
    inside('ctr', '-n', 'concourse', 'task', 'kill', '--signal', 'KILL', b.id)
    time.sleep(0.5)
    inside('ctr', '-n', 'concourse', 'task', 'delete', b.id)
    sh('gpuhelperctl', 'reap')
    ok(leases() == [], 'when it is over, the GPU is free', leases())
    r = inside('gpuhelperctl', 'setup', 'concourse', '--dry-run')
    ok(r.returncode == 0 and 'worker: PID' in r.stdout and 'link: %s is there' % LINK in r.stdout, 'in the container, setup finds the worker', r.stdout)
    r = inside('gpuhelperctl', 'setup', 'concourse')
    ok(r.returncode == 0 and 'trial: a container of its own ran' in r.stdout, 'and can be run there for a trial', r.stdout)
finally:
    sh(host.runtime, '--root', W + '/outer', 'kill', NAME, 'KILL')
    p.wait(20)
    sh(host.runtime, '--root', W + '/outer', 'delete', '--force', NAME)
done()
