#!/usr/bin/env python3
"""containerd as the engine, with the wrapper as its runtime binary and the sample containers of a Concourse worker.

usage: containerd.py CGROUP    (in tests/lib/sandbox.sh --gpu nvidia-2gpu)
"""
import json, os, pty, shutil, subprocess, sys, time
from lib import *

host = Host('runc', sys.argv[1])
tag = 'containerd/%s: ' % sys.argv[1]
C = W + '/containerd'
os.makedirs(C)
write(C + '/config.toml', 'version = 2\nroot = "%s/root"\nstate = "%s/state"\ndisabled_plugins = ["io.containerd.grpc.v1.cri"]\n'
      '[grpc]\n address = "%s/sock"\n[plugins."io.containerd.internal.v1.opt"]\n path = "%s/opt"\n' % (C, C, C, C))
# containerd searches this directory (its plugin «opt») before PATH, where the worker's own runc is
os.makedirs(C + '/opt/bin')
os.symlink(WRAPPER, C + '/opt/bin/runc')
log = open(C + '/log', 'w')
daemon = subprocess.Popen(['containerd', '--config', C + '/config.toml'], stdout=log, stderr=log, stdin=subprocess.DEVNULL)
for _ in range(100):
    if sh('ctr', '-a', C + '/sock', 'version').returncode == 0:
        break
    time.sleep(0.1)
host.settings('privileged = "hide-gpus";')         # Concourse's privileged containers, too
TRAIN = ['BUILD_TEAM_NAME=ml', 'BUILD_PIPELINE_NAME=train']
os.makedirs('/srv/datasets')
write('/srv/datasets/x', 'data\n')
host.policies(t10='''
pipeline = "ml/train";
identity = "claim";
gpus = ( { vendor = "nvidia"; devices = [ "%s" ]; } );
folders = ( { path = "/srv/datasets"; access = "ro"; } );
''' % GPU0)
PROBE = ('for n in /dev/nvidia*; do [ -e $n ] && echo node=$n; done; (: < /dev/nvidia0) 2>&1; cat /srv/datasets/x; '
         '(echo w > /srv/datasets/new) 2>&1; echo visible=$NVIDIA_VISIBLE_DEVICES')


def ctr(*words, **kw):
    return sh('ctr', '-a', C + '/sock', '-n', 'concourse', *words, **kw)


def run(sample, env=(), script=PROBE, **kw):
    """Returns the task's output through a file: on a busy machine ctr loses output that comes late."""
    b = Bundle(host, sample, env=env, args=['/bin/sh', '-c', '(%s) > /said 2>&1' % script], **kw)
    said = json.loads(open(b.dir + '/config.json').read())['root']['path'] + '/said'
    if os.path.exists(said):
        os.unlink(said)
    r = ctr('run', '--rm', '--config', b.dir + '/config.json', b.id)
    if os.path.exists(said):
        r.stdout += open(said).read()
    return b, r


version = sh('containerd', '--version').stdout.split()[2]
b, r = run('task', script='echo ran')
if 'ran' not in r.stdout:
    print('# containerd %s says: %s' % (version, r.stdout.strip()))
ok('ran' in r.stdout, tag + 'containerd %s runs a container through the wrapper' % version, r.stdout + open(C + '/log').read()[-1500:])
for sample in ('task', 'get', 'put', 'check', 'task-forged-env', 'task-privileged'):
    b, r = run(sample)
    nodes = [l for l in r.stdout.splitlines() if l.startswith('node=') and sample != 'task-forged-env']
    ok('visible=void' in r.stdout and nodes == [] and 'No such device or address' not in r.stdout, tag + 'plain %s runs and has no GPU' % sample, r.stdout[-800:])
for sample in ('task', 'get', 'put', 'check', 'task-privileged'):
    b, r = run(sample, TRAIN + ['GPUHELPER_GPUS=1', 'GPUHELPER_FOLDERS=all'])
    ok('node=/dev/nvidia0' in r.stdout and 'node=/dev/nvidia1' not in r.stdout and 'No such device or address' in r.stdout and
       'data' in r.stdout.splitlines() and 'Read-only' in r.stdout, tag + 'granted %s has its GPU and its folder, ro' % sample, r.stdout[-800:])
    ok(leases() == [], tag + '%s leaves no lease' % sample, leases())
b, r = run('task', TRAIN + ['GPUHELPER_GPUS=2'])
ok(r.returncode != 0 and 'OCI runtime create failed: gpuhelper: t10.conf: 2 GPUs asked for' in r.stdout, tag + "containerd's error shows the refusal", r.stdout)
b, r = run('task', ['GPUHELPER_GPUS=1', 'BUILD_TEAM_NAME=ml', 'BUILD_PIPELINE_NAME=other'])
ok(r.returncode != 0 and 'no policy covers pipeline ml/other' in r.stdout, tag + 'another pipeline is refused', r.stdout)

# as a worker does: create, start, exec, kill, delete twice
b = Bundle(host, env=TRAIN + ['GPUHELPER_GPUS=1'], args=['/bin/sleep', '1000'])
r = ctr('run', '--detach', '--config', b.dir + '/config.json', b.id)
ok(r.returncode == 0 and len(leases()) == 1, tag + 'a detached task holds its lease', r.stdout)
r = ctr('task', 'exec', '--exec-id', 'e1', b.id, '/bin/sh', '-c', PROBE)
ok('node=/dev/nvidia0' in r.stdout and 'node=/dev/nvidia1' not in r.stdout, tag + 'exec: the process sees the GPU', r.stdout)
b2, r = run('task', TRAIN + ['GPUHELPER_GPUS=1'])
ok(r.returncode != 0 and 'taken by ml/train' in r.stdout, tag + 'meanwhile nobody else gets the GPU', r.stdout)
r = ctr('task', 'kill', '--signal', 'KILL', b.id)
time.sleep(0.5)
r = ctr('task', 'delete', b.id)
r2 = ctr('container', 'delete', b.id)
ok(r2.returncode == 0 and leases() == [], tag + 'kill and delete end the lease', r.stdout + r2.stdout + str(leases()))
b = Bundle(host, env=TRAIN + ['GPUHELPER_GPUS=1'], args=['/bin/sleep', '1000'])
ctr('run', '--detach', '--config', b.dir + '/config.json', b.id)
sh('pkill', '-9', '-f', 'containerd-shim.*' + b.id)
time.sleep(0.3)
for p in sh('pgrep', '-f', 'sleep 1000').stdout.split():
    os.kill(int(p), 9)
time.sleep(0.3)
b2, r = run('task', TRAIN + ['GPUHELPER_GPUS=1'])
ok('node=/dev/nvidia0' in r.stdout, tag + 'shim and container killed: the GPU is free at the next request', r.stdout[-600:])

# tasks like Concourse's: process 1 pauses, and execs run with and without a terminal
host.promises = True
host.settings()
r = sh('cc', '-std=c11', '-D_GNU_SOURCE', '-O1', '-static', '-o', W + '/init', TESTS + '/container/placeholder.c')
assert r.returncode == 0, r.stdout
host.policies(t10='''
pipeline = "ml/train";
identity = "claim";
gpus = ( { vendor = "nvidia"; devices = [ "%s" ]; wait = 10; } );
''' % GPU0)
pausing = []
for i in range(2):
    b = Bundle(host, env=TRAIN + ['GPUHELPER_GPUS=1'])
    r = ctr('run', '--detach', '--config', b.dir + '/config.json', b.id)
    pausing.append(b)
    r = ctr('task', 'exec', '--exec-id', 'task', b.id, '/bin/sh', '-c', PROBE + '; exit 3')
    ok('No such device or address' in r.stdout and 'gpuhelper: GPU 0000:3b:00.0 (NVIDIA A100-PCIE-40GB), exclusive' in r.stdout and
       r.stdout.count('gpuhelper: warning: ') == 1 and 'no libcuda.so.1 or libnvidia-ml.so.1' in r.stdout and r.returncode == 3,
       tag + 'container %d of 2 with one GPU: its task has the GPU, is told so, and keeps its exit status' % (i + 1), r.stdout)
pid, terminal = pty.fork()
if pid == 0:
    os.execvp('ctr', ['ctr', '-a', C + '/sock', '-n', 'concourse', 'task', 'exec', '--tty', '--exec-id', 'task', pausing[0].id,
                      '/bin/sh', '-c', 'echo begins; (: < /dev/nvidia0); sleep 1; exit 4'])    # ctr sets the terminal's size only after the start
out = b''
try:
    while True:
        out += os.read(terminal, 4096)
except OSError:
    pass
status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
lines = [l.strip() for l in out.decode().splitlines() if l.strip()]
ok(status == 4 and lines[0].startswith('gpuhelper: warning: no CDI spec has the nodes of nvidia GPU 0000:3b:00.0') and
   lines[1] == 'gpuhelper: GPU 0000:3b:00.0 (NVIDIA A100-PCIE-40GB), exclusive' and lines[2] == 'begins' and
   'No such device or address' in lines[3], tag + 'a terminal shows the lines first; a later task has the GPU again', (status, lines))
for b in pausing:
    ctr('task', 'kill', '--signal', 'KILL', b.id)
    time.sleep(0.3)
    ctr('task', 'delete', b.id)
    ctr('container', 'delete', b.id)
sh('gpuhelperctl', 'reap')
ok(leases() == [], tag + 'and no lease is left', leases())
daemon.terminate()
daemon.wait(20)
done()
