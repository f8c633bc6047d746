#!/usr/bin/env python3
"""gpuhelperctl setup concourse --image: a worker in a container, from an image that was set up when it was built.

usage: setup_image.py runc|docker    (in tests/lib/sandbox.sh --gpu nvidia-2gpu)

The image is a directory, or made from one; chroot(1) stands in for «RUN» in a Dockerfile.  Real runc or docker makes
the container, with the rights and mounts that gpuhelper-concourse(7) names.  On a machine without CAP_SYS_RESOURCE,
which docker run --privileged needs, the container gets the other rights one by one.  Its /usr is a mount of the
host's; the worker is a Python of its name that starts a real containerd.  The helper is the image's setuid program.
The host's socket is there as well, but its helper refuses requests from a container.
"""
import contextlib, json, os, shutil, subprocess, sys, time
from setuplib import *

IMAGE, WORK = W + '/worker-image', '/worker-state'
CONF, LINK, RUNC = '/etc/gpuhelper/gpuhelper.conf', '/opt/containerd/bin/runc', '/usr/local/concourse/bin/runc'
mode = sys.argv[1]
host = Host('runc', 'v1')
if mode == 'docker' and not has_docker():
    skip('setup concourse --image, in docker', '%s is not there: sh tests/deps.sh check' % UNPACKED)
    done()
if not shutil.which('containerd'):
    skip('setup concourse --image', 'containerd is not there')
    done()
os.unlink(CONF)
host.policies(t10='identity = "caller";\ncallers = [ "root" ];\ngpus = ( { vendor = "nvidia"; devices = [ "%s" ]; } );\n' % GPU0)
for f in 'runc', 'python3':
    os.makedirs('/usr/local/concourse/bin', exist_ok=True)
    shutil.copy(os.path.realpath(shutil.which(f)), '/usr/local/concourse/bin/' + ('concourse' if f == 'python3' else f))

# the image before our lines of its Dockerfile: gpuhelper is installed, without policies
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
    """A RUN line of the Dockerfile: without a /proc that would show a worker, and without a helper."""
    r = sh('chroot', IMAGE, '/usr/sbin/gpuhelperctl', 'setup', 'concourse', *words)
    return r.returncode, r.stdout


def state():
    p = IMAGE + CONF
    return os.path.lexists(IMAGE + LINK), open(p).read() if os.path.exists(p) else None


code, text = build('--image', '--tags')
ok(code == 64 and '--tags' in text and state() == (False, None), '--tags: refused, because there is no worker', text)
write(IMAGE + '/opt/containerd/bin/runc', '#!/bin/sh\n', 0o755)
code, text = build('--image')
ok(code == 78 and 'is not gpuhelper-runc' in text and state() == (True, None), "an image with somebody else's runc there: refused", text)
os.unlink(IMAGE + LINK)
code, text = build('--image', '--dry-run')
ok(code == 0 and 'would make' in text and state() == (False, None), '--dry-run changes nothing', text)
code, text = build('--image')
ok(code == 0 and os.readlink(IMAGE + LINK) == WRAPPER and 'runtime = "%s";' % RUNC in state()[1] and 'door = "setuid";' in state()[1] and
   'volumes' not in state()[1], "--image makes the link, and reports the image's runc and door; its volumes are defaults", (text, state()))
before = state()
code, text = build('--image')
ok(code == 0 and state() == before, 'a second run changes nothing', text)
code, text = build('--image', '--undo')
ok(code == 0 and state() == (False, None), '--undo', (text, state()))
code, text = build('--image', '--worker-dir', '/var/lib/worker')
ok(code == 0 and '"/var/lib/worker/volumes" ];' in state()[1], '--worker-dir names another directory', state())
build('--undo')
code, text = build('--image')
with open(IMAGE + CONF, 'a') as f:
    f.write('privileged = "deny";\n')

# the host: setup cannot find the worker by itself
open_door(bit=True)
STARTS = 'import subprocess; subprocess.Popen(["containerd", "--config", "%s/containerd.toml"]).wait()' % WORK
CAPS = 'CHOWN DAC_OVERRIDE FSETID FOWNER MKNOD NET_RAW SETGID SETUID SETFCAP SETPCAP NET_BIND_SERVICE SYS_CHROOT KILL AUDIT_WRITE SYS_ADMIN SYS_PTRACE NET_ADMIN DAC_READ_SEARCH'
CAPS = ['CAP_' + n for n in CAPS.split()]
NAME = 'worker-' + UNIQUE
# Every /proc shows a real driver, so the sandbox's simulated one is mounted here, too; and a /proc that nothing covers (lib/sandbox.sh).
SIMULATE = 'mount -t proc proc /tmp/proc && mount --rbind /tmp/driver /proc/driver && mount --bind /tmp/devices /proc/devices && exec "$0" "$@"'
os.makedirs(IMAGE + '/tmp/proc')
ARGS = ['/bin/sh', '-c', SIMULATE, '/usr/local/concourse/bin/concourse', '-c', STARTS, 'worker']
ENV = ['PATH=/usr/local/concourse/bin:/usr/sbin:/usr/bin:/sbin:/bin', 'CONCOURSE_WORK_DIR=' + WORK]
# the mounts that the manual names, and this test's own: its containers' files, the host's /usr
MOUNTS = {d: d for d in ('/dev', '/sys/fs/cgroup', '/run/gpuhelper', '/var/log/gpuhelper', '/var/lib/gpuhelper', '/etc/gpuhelper/policy.d', W + '/vol', W + '/b', W + '/init', '/usr')}
MOUNTS.update({'/tmp/driver': '/proc/driver', '/tmp/devices': '/proc/devices'})
os.makedirs(W + '/b', exist_ok=True)
# the directories of this test's root filesystems
with open(IMAGE + CONF, 'a') as f:
    f.write('volumes = [ "%s/volumes", "%s/vol" ];\n' % (WORK, W))
log = open(W + '/worker.log', 'w')
QUIET = {'stdin': subprocess.DEVNULL, 'stdout': log, 'stderr': log, 'cwd': '/'}
OUTER = [host.runtime, '--root', W + '/outer']
ends = []


def start_runc():
    spec = {'ociVersion': '1.0.2', 'process': {'user': {'uid': 0, 'gid': 0}, 'cwd': '/', 'args': ARGS, 'env': ENV,
            'capabilities': {k: CAPS for k in ('bounding', 'effective', 'permitted')}}, 'root': {'path': IMAGE}, 'hostname': 'worker',
            'mounts': [{'destination': '/proc', 'type': 'proc', 'source': 'proc'}, {'destination': '/sys', 'type': 'sysfs', 'source': 'sysfs'},
                       {'destination': '/run', 'type': 'tmpfs', 'source': 'tmpfs', 'options': ['mode=755']},
                       *[{'destination': to, 'type': 'bind', 'source': source, 'options': ['rbind']} for to, source in MOUNTS.items()]],
            'linux': {'namespaces': [{'type': t} for t in ('pid', 'mount', 'ipc', 'uts', 'network')], 'resources': {'devices': [{'allow': True, 'access': 'rwm'}]}}}
    write(W + '/worker-bundle/config.json', json.dumps(spec))
    p = subprocess.Popen([*OUTER, 'run', '--bundle', W + '/worker-bundle', NAME], **QUIET)
    ends.append(lambda: (sh(*OUTER, 'kill', NAME, 'KILL'), p.wait(20), sh(*OUTER, 'delete', '--force', NAME)))
    return [*OUTER, 'exec', NAME]


def start_docker():
    place_docker()
    write('/etc/docker/daemon.json', '{ "storage-driver": "vfs" }\n')
    engine = subprocess.Popen(['containerd'], **QUIET)
    time.sleep(1)
    daemon = subprocess.Popen(DOCKERD, **QUIET)
    ends.append(lambda: (sh(*DOCKER, 'rm', '--force', NAME), daemon.terminate(), daemon.wait(30), engine.terminate(), engine.wait(30)))
    for _ in range(200):
        if sh(*DOCKER, 'version').returncode == 0:
            break
        time.sleep(0.1)
    sh('umount', IMAGE + '/usr')
    assert sh('tar', '-C', IMAGE, '-cf', W + '/image.tar', '.').returncode == 0
    r = sh(*DOCKER, 'import', W + '/image.tar', 'worker')
    assert r.returncode == 0, r.stdout
    held = int(next(l for l in open('/proc/self/status') if l.startswith('CapEff')).split()[1], 16)
    rights = ['--privileged'] if held & (1 << 24) else ['--cap-add=' + c for c in CAPS] + ['--security-opt', 'seccomp=unconfined', '--security-opt',
             'systempaths=unconfined', '--device-cgroup-rule', 'a *:* rwm']
    subprocess.Popen([*DOCKER, 'run', '--name', NAME, '--network', 'none', '--cgroupns=host', *rights, *[w for to, source in MOUNTS.items() for w in ('-v', source + ':' + to)],
                      *[w for e in ENV for w in ('-e', e)], 'worker', *ARGS], **QUIET)
    return [*DOCKER, 'exec', NAME]


enter = start_docker() if mode == 'docker' else start_runc()


def inside(*words):
    return sh(*enter, *words)


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
    ok(code == 0 and 'nvidia0' not in text.split(), 'a task without a request gets no GPU', (text, open(W + '/worker.log').read()[-600:]))
    code, text = task('GPUHELPER_GPUS=1')
    ok(code == 0 and 'nvidia0' in text.split() and 'nvidia1' not in text.split() and 'No such device or address' in text, 'a task with a request gets what the host\'s policy gives', text)
    code, text = task('GPUHELPER_GPUS=2')
    ok(code != 0 and '2 GPUs asked for' in text, 'a request for more is refused', text)
    sh('gpuhelperctl', 'reap')
    ok(leases() == [], 'no lease is left', leases())
    b = Bundle(host, 'task', env=['GPUHELPER_GPUS=1'], args=['/bin/sleep', '1000'])
    r = inside('ctr', '-n', 'concourse', 'run', '--detach', '--config', b.dir + '/config.json', b.id)
    sh('gpuhelperctl', 'reap')
    j = json.loads(sh('gpuhelperctl', 'status', '--json').stdout)
    ok(r.returncode == 0 and len(leases()) == 1 and b.id in json.dumps(j), 'on the host, status shows the GPU\'s holder, and reap keeps the lease', (r.stdout, j))
    ok(GPU0 in open('/var/log/gpuhelper/audit.jsonl').read(), "the grant is in the host's audit log")
    inside('ctr', '-n', 'concourse', 'task', 'kill', '--signal', 'KILL', b.id)
    time.sleep(0.5)
    inside('ctr', '-n', 'concourse', 'task', 'delete', b.id)
    sh('gpuhelperctl', 'reap')
    ok(leases() == [], 'after the container\'s end the GPU is free', leases())
    r = inside('gpuhelperctl', 'setup', 'concourse', '--dry-run')
    ok(r.returncode == 0 and 'worker: PID' in r.stdout and 'link: %s is there' % LINK in r.stdout, 'in the container, setup finds the worker', r.stdout)
    r = inside('gpuhelperctl', 'setup', 'concourse')
    ok(r.returncode == 0 and 'trial: gpuhelper-runc ran a container of its own' in r.stdout, 'setup can be run there for a test', r.stdout)
finally:
    for end in ends:
        end()
done()
