#!/usr/bin/env python3
"""gpuhelperctl setup containerd: the host's real containerd, with the configuration of Debian's package and with
others.

usage: setup_containerd.py    (in tests/lib/sandbox.sh --gpu nvidia-2gpu)
"""
import contextlib, json, os, shutil, subprocess, sys, time
from setuplib import *
import setuplib

TOML = '/etc/containerd/config.toml'
OPT = '/var/lib/containerd/opt'
LINK = OPT + '/bin/runc'
DEBIANS = '''version = 2

[plugins]
  [plugins."io.containerd.grpc.v1.cri"]
    [plugins."io.containerd.grpc.v1.cri".cni]
      bin_dir = "/usr/lib/cni"
      conf_dir = "/etc/cni/net.d"
  [plugins."io.containerd.internal.v1.opt"]
    path = "%s"
''' % OPT
HANDLER = '''  [plugins."io.containerd.grpc.v1.cri".containerd]
    default_runtime_name = "%s"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.nvidia]
      runtime_type = "io.containerd.runc.v2"
      [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.nvidia.options]
        BinaryName = "/usr/bin/nvidia-container-runtime"
'''
POLICY = policy('root')
host = Host('runc', 'v1')
host.policies(t10=POLICY)


def state():
    """Everything that setup may change."""
    found = [(p, open(p).read() if os.path.exists(p) else None) for p in (CONF, TOML)]
    for top in OPT, '/opt/containerd':
        for d, dirs, files in os.walk(top):
            found += [(d, n) for n in dirs + files]
    # containerd keeps an empty directory for each namespace that ever existed
    found += [n for n in os.listdir('/run') if 'setup' in n]
    r = sh('ctr', 'namespaces', 'ls', '-q')
    return found, r.stdout if r.returncode == 0 else ''


setup = Setup('containerd', state)
unchanged = setup.unchanged


def containerd(*words, text=DEBIANS, **kw):
    write(TOML, text)
    return setuplib.containerd(*words, **kw)


def build(*options, env=()):
    """The GPUs that a container sees, and containerd's message."""
    b = Bundle(host, 'task', env=env, args=['/bin/sh', '-c', 'ls /dev > /said'])
    said = json.loads(open(b.dir + '/config.json').read())['root']['path'] + '/said'
    with contextlib.suppress(FileNotFoundError):
        os.unlink(said)
    r = sh('ctr', '-n', 'test', 'run', '--rm', *options, '--config', b.dir + '/config.json', b.id)
    return r.returncode, open(said).read() if os.path.exists(said) else r.stdout


if not shutil.which('containerd') or not shutil.which('ctr'):
    skip('setup containerd', 'containerd or ctr is not there: sh tests/deps.sh check')
    done()
# this test's root filesystems are outside of their bundles
ADMINS += 'volumes = [ "%s/vol", "%s/worker/volumes" ];\n' % (W, W)
write(CONF, ADMINS)

unchanged('no containerd runs: refused, and nothing is changed', 78, 'no running containerd')
with containerd() as p:
    code, text = build()
    ok(code == 0, 'containerd %s creates containers' % sh('containerd', '--version').stdout.split()[2], text)
    host.policies(t10='?')
    unchanged('a broken policy: nothing is switched on', 78, 't10.conf:1: ')
    host.policies(t10=POLICY)
    os.makedirs(OPT + '/bin', exist_ok=True)
    write(LINK, '#!/bin/sh\nexit 1\n', 0o755)
    unchanged("somebody's runc where the link would be", 78, LINK + ' is there, and is not gpuhelper-runc')
    os.unlink(LINK)
    os.chmod(OPT + '/bin', 0o777)
    unchanged('the link\'s directory is writable by others: refused', 77, "is not root's alone")
    os.chmod(OPT + '/bin', 0o711)
    fresh = state()
    code, text = setup('--dry-run')
    ok(code == 0 and 'containerd: PID %d' % p.pid in text and 'would make %s -> ' % LINK in text and '    runtime = "' in text and state() == fresh,
       '--dry-run reports everything, and changes nothing', text)
    code, text = setup()
    ok(code == 0 and 'trial: containerd ran a container' in text and os.readlink(LINK) == WRAPPER, 'setup: the link is in the directory that containerd searches first', text)
    ok(open(CONF).read().startswith(ADMINS) and 'volumes' not in open(CONF).read()[len(ADMINS):], "gpuhelper.conf has the runtime, and the administrator's lines", open(CONF).read())
    ok(open(TOML).read() == DEBIANS, "containerd's settings are unchanged")
    ok('gpuhelper-setup' not in sh('ctr', 'namespaces', 'ls').stdout and not [n for n in os.listdir('/run') if 'setup' in n], 'the trial leaves nothing')
    code, text = build(env=['GPUHELPER_GPUS=1'])
    ok(code == 0 and 'nvidia0' in text.split() and 'nvidia1' not in text.split(), 'without a restart, a container gets what its policy gives', text)
    code, text = build(env=['NVIDIA_VISIBLE_DEVICES=all'])
    ok(code == 0 and 'nvidia0' not in text.split(), 'a container without a request gets no GPU', text)
    code, text = build(env=['GPUHELPER_GPUS=2'])
    ok(code != 0 and '2 GPUs asked for' in text, 'a request for more is refused', text)
    before = state()
    code, text = setup()
    ok(code == 0 and 'link: %s is there' % LINK in text and state() == before, 'a second run changes nothing', text)
    r = sh(CTL, 'doctor')
    ok('ok   engine: containerd (PID %d) finds it first, as %s' % (p.pid, LINK) in r.stdout, 'doctor finds no fault', r.stdout)
    os.unlink(LINK)
    r = sh(CTL, 'doctor')
    ok('warn engine: containerd' in r.stdout and 'which is not gpuhelper-runc' in r.stdout, 'without the link, doctor names the program that is called', r.stdout)
    ok(setup()[0] == 0 and os.path.lexists(LINK), 'setup repairs that')
    code, text = setup('--undo', '--dry-run')
    ok(code == 0 and text.count('would ') == 2 and state() == before, '--undo --dry-run', text)
    code, text = setup('--undo')
    ok(code == 0 and state() == fresh, '--undo restores everything', (text, state(), fresh))
    code, text = build(env=['GPUHELPER_GPUS=2'])
    ok(code == 0 and 'nvidia0' not in text.split(), 'afterwards gpuhelper does not decide any more', text)
    ok(setup('--undo')[0] == 0, 'a second --undo is no error')
    with client('/usr/bin/ctr', LEAVES_CONTAINER) as ctr:
        code, text = setup()
        left = [sh(ctr, '-n', 'gpuhelper-setup', what, 'ls', '-q').stdout for what in ('containers', 'tasks')]
        ok(code == 78 and 'could not be run by containerd' in text and left == ['', ''] and 'gpuhelper-setup' not in sh(ctr, 'namespaces', 'ls', '-q').stdout,
           'the container of a client that failed is removed', (text, left))
    os.rename('/usr/bin/ctr', '/usr/bin/ctr.away')
    code, text = setup()
    ok(code == 0 and 'there is no ctr' in text and os.path.lexists(LINK), 'without ctr, setup says that it did not test containerd', text)
    os.rename('/usr/bin/ctr.away', '/usr/bin/ctr')
code, text = setup('--undo')
ok(code == 0 and not os.path.lexists(LINK) and open(CONF).read() == ADMINS, '--undo without a running containerd', text)

with containerd(text=DEBIANS + HANDLER % 'runc'):
    code, text = setup()
    ok(code == 0 and 'runtime «nvidia» calls /usr/bin/nvidia-container-runtime: gpuhelper will not judge pods that name it' in text,
       'a CRI runtime with its own program: setup reports it', text)
    r = sh(CTL, 'doctor')
    ok("warn engine: containerd's CRI runtime «nvidia» calls /usr/bin/nvidia-container-runtime" in r.stdout, 'doctor reports it, too', r.stdout)
    setup('--undo')
with containerd(text=DEBIANS + HANDLER % 'nvidia'):
    unchanged('CRI\'s default runtime has its own program: refused', 78, "CRI's default runtime, «nvidia»", 'BinaryName = "%s"' % WRAPPER)
with containerd(text='imports = ["/etc/containerd/conf.d/*.toml"]\n' + DEBIANS):
    pass
write('/etc/containerd/conf.d/10-opt.toml', 'version = 2\n[plugins."io.containerd.internal.v1.opt"]\n path = "/srv/elsewhere"\n')
with containerd(text='imports = ["/etc/containerd/conf.d/*.toml"]\n' + DEBIANS) as p:
    code, text = setup()
    ok(code == 0 and os.readlink('/srv/elsewhere/bin/runc') == WRAPPER and not os.path.lexists(LINK), 'the directory comes from a file that the settings import', text)
    code, text = build(env=['GPUHELPER_GPUS=1'])
    ok(code == 0 and 'nvidia0' in text.split(), 'containerd uses that directory', text)
    r = sh(CTL, 'doctor')
    ok('ok   engine: containerd (PID %d) finds it first, as /srv/elsewhere/bin/runc' % p.pid in r.stdout, 'doctor reads that file, too', r.stdout)
    code, text = setup('--undo')
    ok(code == 0 and not os.path.lexists('/srv/elsewhere/bin/runc'), 'undo', text)
os.unlink('/etc/containerd/conf.d/10-opt.toml')
write('/srv/conf/relative.toml', DEBIANS.replace(OPT, '/srv/relative'))
with containerd('--config', 'srv/conf/relative.toml') as p:
    code, text = setup('--dry-run', cwd='/usr')
    ok(code == 0 and 'would make /srv/relative/bin/runc' in text, "a relative --config is resolved in containerd's working directory", text)
    os.rename('/srv/conf', '/srv/conf.away')
    code, text = setup('--dry-run')
    ok(code == 78 and 'srv/conf/relative.toml' in text, 'a --config file that is gone: the refusal names it', text)
with containerd(text='disabled_plugins = ["io.containerd.internal.v1.opt"]\n' + DEBIANS):
    unchanged('the plugin «opt» is disabled: refused', 78, 'plugin «opt» disabled')
# a link that two engines were set up with
SHARED, RECORD = '/opt/containerd/bin/runc', '/var/lib/gpuhelper/setup-links'
os.makedirs(W + '/worker')
concourse = Setup('concourse', state)
for first, second in ('concourse', 'containerd'), ('containerd', 'concourse'):
    undo = {'concourse': lambda *w: concourse('--undo', *w), 'containerd': lambda *w: setup('--undo', *w)}
    code, text = concourse('--worker-dir', W + '/worker')
    assert code == 0, text
    with containerd(text='version = 2\n') as p:
        code, text = setup()
        ok(code == 0 and 'link: %s is there' % SHARED in text, 'containerd and a worker share a link', text)
        before = state()
        code, text = undo[first]('--dry-run')
        ok(code == 0 and 'link: %s stays, because «setup %s» needs it' % (SHARED, second) in text and state() == before, '%s --undo --dry-run says that the link stays' % first, text)
        code, text = undo[first]()
        ok(code == 0 and 'link: %s stays, because «setup %s» needs it' % (SHARED, second) in text and os.readlink(SHARED) == WRAPPER and
           'setup\'s lines stay in gpuhelper.conf, because «setup %s» needs them' % second in text and 'runtime = ' in open(CONF).read(),
           '%s --undo: the link stays, and so do the lines' % first, (text, open(CONF).read()))
        code, text = build(env=['GPUHELPER_GPUS=2'])
        ok(code != 0 and '2 GPUs asked for' in text, 'gpuhelper still decides about the other engine\'s containers', text)
        code, text = undo[second]()
        ok(code == 0 and not os.path.lexists(SHARED) and open(CONF).read() == ADMINS and not os.path.exists(RECORD), '%s --undo then removes the link and the lines' % second, text)
code, text = concourse('--worker-dir', W + '/worker')
with containerd(text='version = 2\n') as p:
    code, text = concourse('--undo')
    ok(code == 0 and not os.path.lexists(SHARED) and 'containerd (PID %d) looks there too' % p.pid in text, '--undo names an engine that used the link without its own setup', text)

shutil.copy(shutil.which('containerd'), '/usr/local/bin/containerd-2.1')
with containerd(program='/usr/local/bin/containerd-2.1'):
    code, text = setup('--dry-run')
    ok(code == 0 and 'would make ' + LINK in text, 'a containerd of another name', text)
shutil.copy('/usr/local/bin/containerd-2.1', '/usr/local/bin/containerd.new')
with containerd(program='/usr/local/bin/containerd-2.1'):
    os.rename('/usr/local/bin/containerd.new', '/usr/local/bin/containerd-2.1')
    unchanged('a containerd whose program was replaced since its start: refused until it is restarted', 78, 'was upgraded since it was started')
with containerd() as p:
    write(W + '/second.toml', 'version = 2\nroot = "%s/r"\nstate = "%s/s"\n[grpc]\n address = "%s/second.sock"\n' % (W, W, W))
    second = subprocess.Popen(['containerd', '--config', W + '/second.toml'], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(1)
    unchanged('two containerd: refused', 78, 'several containerd run')
    second.terminate()
    second.wait(20)
done()
