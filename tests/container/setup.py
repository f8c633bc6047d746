#!/usr/bin/env python3
"""gpuhelperctl setup concourse: puts a running worker's containers under gpuhelper, and takes that back.

The worker is a Python with the worker's name and command line.  It starts a real containerd as Concourse does: with its
own runc first in PATH.

usage: setup.py    (in tests/lib/sandbox.sh --gpu nvidia-2gpu)
"""
import contextlib, json, os, shutil, subprocess, sys, time
from lib import *

CTL, CONF, LINK = '/usr/sbin/gpuhelperctl', '/etc/gpuhelper/gpuhelper.conf', '/opt/containerd/bin/runc'
DROP_IN = '/etc/systemd/system/concourse-worker.service.d/50-gpuhelper-tags.conf'
host = Host('runc', 'v1')
WORK, SOCK, RUNC = W + '/worker', W + '/worker/sock', '/srv/concourse/bin/runc'
VOLUMES = W + '/vol'
WORKER = '--work-dir', WORK, '--baggageclaim-volumes', VOLUMES
os.makedirs('/srv/concourse/bin')
shutil.copy(shutil.which('runc'), RUNC)
shutil.copy(os.path.realpath(sys.executable), '/srv/concourse/bin/concourse')
write(WORK + '/containerd.toml', 'version = 2\nroot = "%s/root"\nstate = "%s/state"\ndisabled_plugins = ["io.containerd.grpc.v1.cri"]\n[grpc]\n address = "%s"\n' % (WORK, WORK, SOCK))
STARTS = 'import subprocess; subprocess.Popen(["containerd", "--config", "%s/containerd.toml"]).wait()' % WORK
ADMINS = '# the administrator\'s own\nprivileged = "deny";'
POLICY = 'identity = "caller";\ncallers = [ "root" ];\ngpus = ( { vendor = "nvidia"; devices = [ "%s" ]; } );\n' % GPU0


def setup(*words):
    r = sh(CTL, 'setup', 'concourse', *words)
    return r.returncode, r.stdout


def state():
    """Everything that setup may change."""
    found = [(CONF, open(CONF).read() if os.path.exists(CONF) else None)]
    for top in '/opt', '/etc/systemd/system/concourse-worker.service.d', '/run':
        for d, dirs, files in os.walk(top):
            found += [(d, n) for n in dirs + files if top != '/run' or 'setup' in n]
    return found


def unchanged(name, status, *words, args=()):
    before = state()
    code, text = setup(*args)
    ok(code == status and all(w in text for w in words) and state() == before, name + ': refused, and nothing is changed', (code, text))


def in_unit(pid, unit):
    """Moves it into a cgroup like a unit's; False if none can be made here."""
    with contextlib.suppress(OSError):
        d = '/sys/fs/cgroup/systemd/' + unit
        os.makedirs(d, exist_ok=True)
        write(d + '/cgroup.procs', str(pid))
        return unit in open('/proc/%d/cgroup' % pid).read()
    return False


@contextlib.contextmanager
def worker(*args, user=None, starts=STARTS, program='/srv/concourse/bin/concourse', **env):
    words = ['concourse', '-c', starts, 'worker', *args]
    with open(W + '/worker.log', 'a') as log:
        p = subprocess.Popen(words, executable=program, cwd='/', user=user, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                             env={'PATH': '/srv/concourse/bin:' + os.environ['PATH'], **env})
    try:
        for _ in range(40):
            if starts != STARTS or sh('ctr', '-a', SOCK, 'version').returncode == 0:
                break
            time.sleep(0.05)
        time.sleep(0.2)
        yield p
    finally:
        sh('pkill', '-P', str(p.pid))
        p.terminate()
        p.wait()


def build(env=()):
    """The GPUs that a step's container sees."""
    b = Bundle(host, 'task', env=env, args=['/bin/sh', '-c', 'ls /dev > /said'])
    said = json.loads(open(b.dir + '/config.json').read())['root']['path'] + '/said'
    with contextlib.suppress(FileNotFoundError):
        os.unlink(said)
    r = sh('ctr', '-a', SOCK, '-n', 'concourse', 'run', '--rm', '--config', b.dir + '/config.json', b.id)
    return r.returncode, open(said).read() if os.path.exists(said) else r.stdout


if not shutil.which('containerd'):
    skip('setup concourse', 'containerd is not there')
    done()
write(CONF, ADMINS)

unchanged('no worker runs', 78, 'no running Concourse worker', '--worker-dir')
unchanged('a work directory that is no absolute path', 64, 'must begin with /', args=['--worker-dir', 'x'])
unchanged('a work directory that does not exist', 64, '--worker-dir /opt/nix: No such file or directory: name the worker', args=['--worker-dir', '/opt/nix'])
unchanged('  nor its parent', 64, '--worker-dir /nix/work: No such file or directory: name the worker', args=['--worker-dir', '/nix/work'])
unchanged('a work directory that is a file', 64, '--worker-dir /etc/passwd: is no directory', args=['--worker-dir', '/etc/passwd'])
r = sh('setpriv', '--reuid', 'nobody', '--clear-groups', '--', CTL, 'setup', 'concourse')
ok(r.returncode == 77 and 'as root' in r.stdout, 'refused to everybody but root', r.stdout)
SLEEPS = 'import time; time.sleep(600)'
with worker('--work-dir', WORK, starts=SLEEPS, user='nobody'):
    unchanged("another user's process that is named like a worker", 78, 'no running Concourse worker of root')
os.symlink(os.path.realpath(sys.executable), '/srv/concourse/concourse')
with worker('--work-dir', '/home', starts=SLEEPS, program='/srv/concourse/concourse'):
    unchanged("a program of root's that somebody started under a worker's name", 78, 'no running Concourse worker of root')
# if fs.protected_hardlinks is 0, a user can make a hard link to a setuid program of root in the user's own directory
os.makedirs('/srv/nobodys')
shutil.copy('/srv/concourse/bin/concourse', '/srv/nobodys/concourse')
shutil.chown('/srv/nobodys', 'nobody')
with worker('--work-dir', '/home', starts=SLEEPS, program='/srv/nobodys/concourse'):
    unchanged("a program that root owns, in a user's directory", 78, 'no running Concourse worker of root')
    os.unlink('/srv/nobodys/concourse')
    unchanged('such a program that the user has removed since', 78, 'no running Concourse worker of root')
os.chmod('/srv/concourse/bin/concourse', 0o777)
with worker(*WORKER, starts=SLEEPS):
    unchanged('a worker whose program others may write', 78, 'no running Concourse worker of root')
os.chmod('/srv/concourse/bin/concourse', 0o755)
with worker('--work-dir', WORK, starts=SLEEPS):
    unchanged('a worker without a containerd (guardian was the default for long)', 78, 'CONCOURSE_GARDEN_RUNTIME_PLUGIN=' + WRAPPER)

with worker(*WORKER) as p:
    code, text = build()
    ok(code == 0, 'the worker creates containers', text)
    with open('/etc/gpuhelper/policy.d/10-broken.conf', 'w') as f:
        f.write('?')
    code, text = setup()
    ok(code == 78 and '10-broken.conf:1: ' in text and not os.path.lexists(LINK), 'with a broken policy gpuhelper is not switched on', (code, text))
    host.policies(t10=POLICY)
    ok(open(CONF).read().rstrip() == ADMINS and not leases(), 'setup takes its lines back', open(CONF).read())
    write(CONF, ADMINS)
    write(CONF, ADMINS + '\nvolumes = [ "/srv" ];\n')
    unchanged("volumes of the administrator that lack the worker's", 78, CONF, '"volumes"')
    write(CONF, ADMINS)
    write(LINK, '#!/bin/sh\nexit 1\n', 0o755)
    unchanged("somebody's runc where the link would be", 78, LINK + ' is there, and is not gpuhelper-runc')
    os.unlink(LINK)
    os.chmod('/opt/containerd/bin', 0o777)
    code, text = setup()
    ok(code == 77 and 'is not root\'s alone' in text and not os.path.lexists(LINK), 'the link\'s directory is writable by others: refused', text)
    ok(open(CONF).read().rstrip() == ADMINS, 'setup leaves nothing', open(CONF).read())
    write(CONF, ADMINS)
    shutil.rmtree('/opt/containerd')
    os.rename(RUNC, RUNC + '-real')
    write(RUNC, '#!/bin/sh\necho no such container >&2\nexit 1\n', 0o755)
    code, text = setup()
    ok(code == 78 and 'could not be run' in text and 'no such container' in text and not os.path.lexists(LINK), 'a runtime that cannot run a container', text)
    ok(open(CONF).read().rstrip() == ADMINS, 'setup leaves nothing', open(CONF).read())
    os.rename(RUNC + '-real', RUNC)
    write(CONF, ADMINS)

    # doctor must not suggest «ln -s»: with the link alone, gpuhelper would refuse the worker's containers for their volumes
    r = sh(CTL, 'doctor')
    mend = ': gpuhelperctl setup concourse'
    ok(any(l.startswith('warn engine: ') and l.endswith(mend) for l in r.stdout.splitlines()) and
       any(l.startswith('warn volumes: ') and 'would be refused' in l and l.endswith(mend) for l in r.stdout.splitlines()),
       'doctor names the command that switches gpuhelper on', r.stdout)

    old = Bundle(host, 'task-privileged', args=['/bin/sleep', '1000'])
    subprocess.run([RUNC, '--root', W + '/root', 'create', '--bundle', old.dir, old.id], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, timeout=60)
    fresh = state()
    code, text = setup('--dry-run')
    ok('privileged: %s (PID ' % old.id in text and 'refuses such containers from now on' in text, '--dry-run names the privileged containers that run', text)
    sh(RUNC, '--root', W + '/root', 'delete', '--force', old.id)
    code, text = setup('--dry-run')
    ok('privileged: ' not in text, '  and says nothing of them where none runs', text)
    ok(code == 0 and 'would add' in text and '    runtime = "%s";' % RUNC in text and ', "%s" ];' % VOLUMES in text and '"/var/lib/docker/overlay2", ' in text and
       'would make ' + LINK in text and state() == fresh, '--dry-run reports everything, and changes nothing', text)
    began = time.monotonic()
    code, text = setup()
    print('# setup took %.1f s' % (time.monotonic() - began))
    ok(code == 0 and 'ran a container of its own' in text and os.readlink(LINK) == WRAPPER, 'setup', text)
    ok(open(CONF).read().startswith(ADMINS + '\n') and 'runtime = "%s";' % RUNC in open(CONF).read(), "the administrator's lines stay", open(CONF).read())
    ok(not [n for n in os.listdir('/run') if 'setup' in n], 'nothing is left in /run', sh('find', '/run', '-path', '*setup*').stdout)
    code, text = build(['GPUHELPER_GPUS=1'])
    ok(code == 0 and 'nvidia0' in text.split() and 'nvidia1' not in text.split(), 'a container gets what its policy gives', text)
    code, text = build(['NVIDIA_VISIBLE_DEVICES=all'])
    ok(code == 0 and 'nvidia0' not in text.split(), 'a container without a request gets no GPU', text)
    code, text = build(['GPUHELPER_GPUS=2'])
    ok(code != 0 and '2 GPUs asked for' in text, 'a request for more is refused', text)
    r = sh(CTL, 'doctor')
    ok('ok   engine: containerd' in r.stdout and 'ok   runtime: ' + RUNC in r.stdout and 'ok   volumes: ' in r.stdout, 'doctor finds no fault', r.stdout)
    before = state()
    code, text = setup()
    ok(code == 0 and 'link: %s is there' % LINK in text and state() == before, 'a second run changes nothing', text)

    # a worker's upgrade
    shutil.copy(shutil.which('runc'), RUNC + '-new')
    os.rename(RUNC + '-new', RUNC)
    code, text = build(['GPUHELPER_GPUS=1'])
    ok(code == 0 and 'nvidia0' in text.split(), "an upgrade brings another runc: gpuhelper still decides on the worker's containers", text)
    os.unlink(LINK)
    shutil.copy(shutil.which('runc'), LINK)
    r = sh(CTL, 'doctor')
    ok('warn engine: ' in r.stdout and 'which is not gpuhelper-runc' in r.stdout, 'a runc in place of the link: doctor reports it', r.stdout)
    code, text = setup('--undo', '--dry-run')
    ok(code == 0 and "there is none of gpuhelper's" in text and os.path.exists(LINK), '--undo does not remove a runc that is not gpuhelper\'s', text)
    os.unlink(LINK)
    ok(setup()[0] == 0, 'setup works again')

    # tags
    code, text = setup('--tags')
    if in_unit(p.pid, 'user.slice/user-7.slice/user@7.service/concourse.service'):
        code, text = setup('--tags')
        ok(code == 78 and 'no unit' in text, "tags: a unit of a user's manager does not count", text)
    if in_unit(p.pid, 'system.slice/cron.service'):
        code, text = setup('--tags')
        ok(code == 78 and 'no unit' in text and not os.path.exists('/etc/systemd/system/cron.service.d'), 'tags: a worker started by cron has no unit', text)
    if in_unit(p.pid, 'system.slice/concourse-worker.service'):
        code, text = setup('--tags')
        ok(code == 0 and 'Environment="CONCOURSE_TAG=gpu,gpu-type=nvidia,gpu-model=nvidia-a100-pcie-40gb,gpu-count=2"' in open(DROP_IN).read() and
           'takes only steps with one of the tags' in text, 'tags: a drop-in for the unit', (text, os.path.exists(DROP_IN) and open(DROP_IN).read()))
    else:
        ok(code == 78 and 'no unit' in text, 'tags: a worker without a unit', text)
        skip('tags: a drop-in for the unit', 'no cgroup of a unit can be made here')

    before = state()
    code, text = setup('--undo', '--tags')
    ok(code == 0 and not os.path.exists(DROP_IN) and os.path.lexists(LINK) and 'runtime' in open(CONF).read(), '--undo --tags removes only the tags', text)
    setup('--tags')
    ok(state() == before, 'setup adds the tags again')
    write(CONF, open(CONF).read().replace(', "%s" ];' % VOLUMES, ', "%s", "/srv/mine" ];' % VOLUMES))
    code, text = setup('--undo')
    ok(code == 78 and 'changed the lines' in text and '/srv/mine' in open(CONF).read(), "--undo keeps what the administrator added to setup's lines", text)
    write(CONF, open(CONF).read().replace(', "/srv/mine"', ''))
    ok(setup()[0] == 0 and (setup('--tags')[0] == 0 or not in_unit(p.pid, 'system.slice/concourse-worker.service')), 'setup works again')
    code, text = setup('--undo', '--dry-run')
    ok(code == 0 and text.count('would ') == (3 if os.path.exists(DROP_IN) else 2) and os.path.lexists(LINK), 'undo --dry-run', text)
    code, text = setup('--undo')
    ok(code == 0 and not os.path.lexists(LINK) and not os.path.exists(DROP_IN) and open(CONF).read() == ADMINS + '\n', 'undo', (text, open(CONF).read()))
    steps = [l.split(':')[0] for l in text.splitlines()]
    ok([s for s in steps if s in ('tags', 'link', 'settings')] == sorted({'tags', 'link', 'settings'} & set(steps), key=['tags', 'link', 'settings'].index) and
       steps.index('settings') < steps.index('    runtime = "%s";' % RUNC), 'undo prints its steps in order, and after the step «settings» the lines that it removes', text)
    code, text = build(['GPUHELPER_GPUS=2'])
    ok(code == 0 and 'nvidia0' not in text.split(), 'afterwards gpuhelper does not decide any more', text)
    ok(setup('--undo')[0] == 0, 'a second --undo is no error')

# with a stopped worker
with worker(*WORKER):
    setup()
code, text = setup('--undo')
ok(code == 0 and not os.path.lexists(LINK) and open(CONF).read() == ADMINS + '\n', '--undo without a running worker', text)
write(CONF, ADMINS)
engine = subprocess.Popen(['containerd', '--config', WORK + '/containerd.toml'], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
time.sleep(1)
unchanged("a containerd that is no worker's", 78, 'other engines', args=['--worker-dir', WORK])
engine.terminate()
engine.wait()
with worker(*WORKER, CONCOURSE_TAG='mine'):
    code, text = setup('--tags')
    ok(code == 0 and 'has some already' in text and not os.path.exists(DROP_IN), 'a worker keeps the tags that it has', text)
    setup('--undo')
write(CONF, ADMINS)

# two workers, and a containerd with another name
with worker('--work-dir', WORK) as p, worker('--work-dir', '/srv/second', starts=SLEEPS) as second:
    unchanged('another worker, whose containers would be refused', 78, 'the worker with PID ', 'to gpuhelper.conf first')
    unchanged('--worker-dir names one of two workers: the containers of the other would be refused', 78, 'the worker with PID %d' % second.pid, '/srv/second/volumes', args=['--worker-dir', WORK])
    os.makedirs('/srv/second/volumes')
    write(CONF, ADMINS + '\nvolumes = [ "/srv/second/volumes", "%s/volumes" ];\n' % WORK)
    code, text = setup()
    ok(code == 0 and os.path.lexists(LINK), "with the other worker's volumes in gpuhelper.conf, setup goes on", text)
    setup('--undo')
write(CONF, ADMINS)
shutil.copy(shutil.which('containerd'), '/srv/concourse/bin/engine')
with worker(*WORKER, starts='import subprocess; subprocess.Popen(["engine", "--config", "%s/containerd.toml", "--address", "%s"]).wait()' % (WORK, SOCK)) as p:
    time.sleep(1)
    code, text = setup('--dry-run')
    ok(code == 0 and 'worker: PID %d' % p.pid in text, "the worker's containerd may have any name", text)
os.makedirs('/usr/local/concourse/bin', exist_ok=True)
shutil.copy(RUNC, '/usr/local/concourse/bin/runc')
code, text = setup('--worker-dir', WORK, '--dry-run')
ok(code == 0 and 'settings: would add to %s:\n    runtime = ' % CONF in text and 'would replace' not in text, 'the first run would add lines', text)
code, text = setup('--worker-dir', WORK)
ok(code == 0 and 'runtime: /usr/local/concourse/bin/runc' in text and os.path.lexists(LINK), 'setup with --worker-dir before the worker\'s first start', text)
os.makedirs('/srv/third')
os.makedirs(WORK + '/volumes')
code, text = setup('--worker-dir', '/srv/third', '--dry-run')
ok(code == 0 and 'settings: would replace what «setup» wrote to %s by:\n    runtime = ' % CONF in text and 'would add' not in text,
   "for another directory, setup's lines would be replaced", text)
code, text = setup('--worker-dir', '/srv/third')
ok(code == 0 and 'settings: replaced what «setup» wrote to %s by:' % CONF in text and open(CONF).read().count('runtime = ') == 1, '  and they are', (text, open(CONF).read()))
ok('"%s", "/srv/third/volumes" ];' % (WORK + '/volumes') in open(CONF).read() and 'settings: volumes keeps %s, of an earlier setup: if it is no worker\'s, remove the directory' % (WORK + '/volumes') in text,
   "  the other directory may be another worker's, and stays", (text, open(CONF).read()))
unchanged('  a second run changes nothing', 0, 'already names', args=['--worker-dir', '/srv/third'])
os.makedirs('/srv/fourth')
before = state()
code, text = setup('--worker-dir', '/srv/fourth', '--dry-run')
ok(code == 0 and 'settings: would no longer name /srv/third/volumes, of an earlier setup: there is no such directory' in text and state() == before,
   'a directory without volumes would be replaced', text)
code, text = setup('--worker-dir', '/srv/fourth')
ok(code == 0 and 'settings: no longer names /srv/third/volumes' in text and '"%s", "/srv/fourth/volumes" ];' % (WORK + '/volumes') in open(CONF).read(), '  and is', (text, open(CONF).read()))
with worker(*WORKER) as p:
    code, text = setup()
    ok(code == 0 and 'settings: no longer names /srv/fourth/volumes' in text and '"%s/volumes", "%s" ];' % (WORK, VOLUMES) in open(CONF).read(), '  also by the directory of a worker that runs', (text, open(CONF).read()))
setup('--worker-dir', '/srv/third')
write(CONF, open(CONF).read().replace('"/srv/third/volumes"', '"/srv/third/volumes", "/srv/mine/volumes"'))
unchanged("  but not in lines that somebody changed", 78, 'changed the lines', args=['--worker-dir', '/srv/fourth'])
write(CONF, open(CONF).read().replace(', "/srv/mine/volumes"', ''))
setup('--undo')
write(CONF, ADMINS + '\nvolumes = [ "/srv/third/volumes", "%s/volumes" ];\n' % WORK)
code, text = setup('--worker-dir', WORK)
ok(code == 0 and 'no longer' not in text and '"/srv/third/volumes"' in open(CONF).read(), "  nor in the administrator's own", (text, open(CONF).read()))
setup('--undo')
write(CONF, ADMINS)

r = sh(CTL, 'tags')
ok(r.stdout.splitlines() == ['gpu', 'gpu-type=nvidia', 'gpu-model=nvidia-a100-pcie-40gb', 'gpu-count=2', 'gpu-devices=0,1'], 'tags', r.stdout)
done()
