#!/usr/bin/env python3
"""Attacks by the author of a command line: words that runc and crun parse differently, and options with effects.

usage: options.py RUNTIME CGROUP    (in tests/lib/sandbox.sh --gpu nvidia-2gpu)

Each attack succeeded once.  The test also shows that each still succeeds without the wrapper (WON).
"""
import hashlib
from lib import *

host, tag = able_host()
WEAK = ['CAP_CHOWN', 'CAP_KILL', 'CAP_SYS_CHROOT', 'CAP_DAC_OVERRIDE']
OPEN = 'head -c 1 /dev/nvidia0 2>&1; echo said'
WON = 'No such device'          # the node could be opened: it only lacks a driver
BY_ITSELF = [host.runtime, '--root', W + '/root']
BY_US = [WRAPPER, '--root', W + '/root']


def weak(spec):
    """A container of the host's root that is not privileged."""
    ordinary(spec, WEAK)


def greedy(spec):
    weak(spec)
    spec['linux']['devices'] = [{'path': '/dev/nvidia0', 'type': 'c', 'major': 195, 'minor': 0, 'fileMode': 0o666, 'uid': 0, 'gid': 0}]
    spec['linux']['resources']['devices'] = [{'allow': False, 'access': 'rwm'}, {'allow': True, 'access': 'rwm'}]


def fresh(edit=weak, args=('/bin/sh', '-c', OPEN), **kw):
    return Bundle(host, 'task-privileged', args=list(args), edit=edit, **kw)


def last(b):
    return (b.errors() or [''])[-1]


def end(b):
    sh(*BY_ITSELF, 'delete', '--force', b.id)


# one spelling, two bundles: runc takes «-b=X» for X, and crun for «=X»
good, bad = fresh(), fresh(greedy)
os.rename(bad.dir, W + '/b/=' + good.id)
r = sh(*BY_ITSELF, 'run', '-b=' + good.id, bad.id, cwd=W + '/b')
end(bad)
ok((WON in r.stdout) == (host.name == 'crun'), tag + 'run -b=X is refused: runc and crun would take different bundles', r.stdout)
for words in (['-b=' + good.id], ['-bundle=' + good.id]):
    if words[0].startswith('-bundle'):
        os.rename(W + '/b/=' + good.id, W + '/b/undle=' + good.id)
    r = sh(*BY_US, 'run', *words, bad.id, cwd=W + '/b')
    end(bad)
    ok(r.returncode == 1 and 'one thing to runc and another one to crun' in r.stdout, tag + 'run %sX is refused' % words[0][:-len(good.id)], r.stdout)

# an option with a value before the verb: the value looks like a verb
if host.name == 'crun':
    b = fresh(greedy)
    words = ['--program-name', 'kill', 'run', '--bundle', b.dir, b.id]
    r = sh(*BY_ITSELF, *words, cwd=b.dir)
    end(b)
    ok(WON in r.stdout, tag + '--program-name kill run counts as run', r.stdout)
    r = b.call(*words)
    end(b)
    ok(WON not in r.stdout and '"/dev/nvidia0"' not in b.config(), tag + 'its bundle is checked', r.stdout)
b = fresh(greedy)
r = b.call('run', '--bundle', b.dir, b.id, globals=('--unheard-of', 'kill'))
ok(r.returncode == 1 and 'option --unheard-of is not one of' in last(b), tag + 'an unknown option before the verb is refused', r.stdout)
for words, want in ((('frobnicate', b.id), 'frobnicate is not a verb'), (('mounts', 'add', b.id, '/f'), 'mounts is not supported'),
                    (('run', '--new', '--bundle', b.dir, b.id), 'run: option --new is not one of')):
    r = b.call(*words)
    ok(r.returncode == 1 and want in last(b), tag + 'refused: ' + ' '.join(words[:2]), (r.stdout, b.errors()))

# Without pivot_root the host's mounts stay beneath the container's.  If they include a complete /proc, the kernel lets anybody
# mount another one without read-only parts (crun up to 1.8; runc moves away what it finds).
DEFAULT = ['CAP_' + c for c in 'CHOWN DAC_OVERRIDE FOWNER SETUID SETGID SETFCAP SYS_CHROOT'.split()]
NEW_PROC = """mkdir -p /tmp/p; busybox unshare -U -r -m -p -f busybox sh -c 'busybox mount -t proc proc /tmp/p && : >>/tmp/p/sys/kernel/core_pattern && echo core_pattern=open'"""


def default(spec):
    spec['process']['capabilities'] = {k: DEFAULT for k in ('bounding', 'effective', 'permitted')}
    spec['linux'].update(readonlyPaths=['/proc/sys'], maskedPaths=['/proc/kcore'])


for words in [], ['--no-pivot']:
    b = fresh(default, args=('/bin/sh', '-c', NEW_PROC))
    r = sh(*BY_ITSELF, 'run', *words, '--bundle', b.dir, b.id, cwd=b.dir)
    end(b)
    won = 'core_pattern=open' in r.stdout
    ok(not won or (words and host.name == 'crun'), tag + '%s: the host\'s core_pattern %s' % (' '.join(['run'] + words), 'opens' if won else 'does not open'), r.stdout)
host.settings('privileged = "deny";')
for words in (['--no-pivot'],) + ((['--no-pivot=true'],) if host.name == 'runc' else (['--no-piv'],)):
    b = fresh(default, args=('/bin/sh', '-c', NEW_PROC))
    r = b.run(*words)
    ok(r.returncode == 1 and 'is made with --no-pivot' in r.stdout, tag + 'privileged = "deny": %s is refused' % words[0], r.stdout)
b = Bundle(host, args=['/bin/true'])
r = b.run('--no-pivot')
ok('is made with --no-pivot' not in r.stdout, tag + '--no-pivot is accepted with a user namespace', r.stdout)

# an image's own rights for its processes
b = fresh()
r = b.call('restore', '--bundle', b.dir, '--image-path', W, b.id)
ok(r.returncode == 1 and 'restore brings processes' in last(b), tag + 'privileged = "deny": restore is refused', (r.stdout, b.errors()))

# exec: capabilities in a spelling that only Go accepts, and in a config.json that an annotation names
b = fresh(args=('/bin/sleep', '60'))
b.start()
process = {'args': ['/bin/grep', 'CapEff', '/proc/self/status'], 'cwd': '/', 'env': ['PATH=/bin'], 'user': {'uid': 0, 'gid': 0},
           'Capabilities': {k: WEAK + ['CAP_SYS_ADMIN'] for k in ('bounding', 'effective', 'permitted')}}
write(b.dir + '/p.json', json.dumps(process))
r = b.call('exec', '--process', b.dir + '/p.json', b.id)
ok(r.returncode == 1 and 'must be spelt "capabilities"' in last(b), tag + 'exec --process with «Capabilities» is refused', (r.stdout, b.errors()))
# the helper is away, so a refusal cannot come from the lease
planted = write_exec_record(W + '/root', b.id, {'version': 1, 'env': [], 'groups': [], 'asks': True})
os.rename('/usr/libexec/gpuhelper/gpuhelper', '/usr/libexec/gpuhelper/away')
r = b.call('exec', '--cap', 'CAP_SYS_ADMIN', b.id, '/bin/true')
os.rename('/usr/libexec/gpuhelper/away', '/usr/libexec/gpuhelper/gpuhelper')
ok(r.returncode == 1 and 'privileged = "deny"' in last(b), tag + 'exec --cap is refused before the helper is asked', b.errors())
[os.unlink(path) for path in planted]
b.delete()
other = fresh(lambda s: s['process'].update(capabilities={k: WEAK + ['CAP_SYS_ADMIN'] for k in ('bounding', 'effective', 'permitted')}))
b = fresh(lambda s: (weak(s), s.update(annotations={'bundle': other.dir})), args=('/bin/sleep', '60'))
if host.name == 'runc':
    subprocess.run(BY_ITSELF + ['run', '--detach', '--bundle', b.dir, b.id], cwd=b.dir, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    caps = int(sh(*BY_ITSELF, 'exec', b.id, '/bin/grep', 'CapEff', '/proc/self/status').stdout.split()[-1], 16)
    ok(caps >> 21 & 1, tag + 'control: an annotation names another bundle, and exec gets its CAP_SYS_ADMIN', caps)
    end(b)
r = b.create()
ok(r.returncode == 1 and 'annotation bundle' in last(b), tag + 'an annotation that names another bundle, for exec, is refused', b.errors())
end(b)

# runc stores annotations as «key=value», and splits at the first «=»: so a key can name a bundle
os.rename(other.dir, other.dir + '=')
cut = fresh(lambda s: (weak(s), s.update(annotations={'bundle=' + other.dir: ''})), args=('/bin/sleep', '60'))
if host.name == 'runc':
    subprocess.run(BY_ITSELF + ['run', '--detach', '--bundle', cut.dir, cut.id], cwd=cut.dir, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    caps = int(sh(*BY_ITSELF, 'exec', cut.id, '/bin/grep', 'CapEff', '/proc/self/status').stdout.split()[-1], 16)
    ok(caps >> 21 & 1, tag + "control: an annotation's key has a «=», and exec gets the CAP_SYS_ADMIN of the bundle behind it", caps)
    end(cut)
r = cut.create()
ok(r.returncode == 1 and 'annotation bundle=' in last(cut), tag + 'an annotation whose key has a «=» is refused', cut.errors())
end(cut)
host.settings()

# cgroup files that are no limits: one moves another container's process into the own cgroup, where it ends with the container
victim = fresh(args=('/bin/sleep', '60'))
pid = victim.start()
before = open('/proc/%d/cgroup' % pid).read()
b = fresh(lambda s: (weak(s), s['linux']['resources'].update(unified={'cgroup.procs': str(pid)})), args=('/bin/sleep', '60'))
r = b.create()
ok(r.returncode == 1 and 'unified: cgroup.procs is not a limit' in last(b), tag + 'resources.unified with cgroup.procs is refused', b.errors())
end(b)
for text in ('{"unified":{"cgroup.procs":"%d"}}', '{"unified":{"memory.max":"1","cgroup.threads":"%d"}}', '{"Unified":{"cgroup.procs":"%d"}}'):
    b = fresh(args=('/bin/sleep', '60'))
    b.start()
    r = b.call('update', '--resources', write(b.dir + '/r.json', text % pid), b.id)
    ok(r.returncode == 1 and ('is not a limit' in last(b) or 'must be spelt "unified"' in last(b)), tag + 'refused: update --resources ' + text, (r.stdout, b.errors()))
    end(b)
ok(open('/proc/%d/cgroup' % pid).read() == before, tag + 'the other container is still in its cgroup', before)
victim.delete()
if host.cgroup == 'v2':
    victim = fresh(args=('/bin/sleep', '60'))
    pid = victim.start()
    b = fresh(lambda s: (weak(s), s['linux']['resources'].update(unified={'cgroup.procs': str(pid)})), args=('/bin/sleep', '60'))
    r = subprocess.run(BY_ITSELF + ['run', '--detach', '--bundle', b.dir, b.id], cwd=b.dir, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    ok(b.id in open('/proc/%d/cgroup' % pid).read(), tag + 'control: without the wrapper it enters that cgroup', open('/proc/%d/cgroup' % pid).read())
    end(b)
    victim.delete()
    b = fresh(lambda s: (weak(s), s['linux']['resources'].update(unified={'memory.high': '100000000', 'cgroup.max.depth': '4'})), args=('/bin/true',))
    r = b.run()
    ok('is not a limit' not in r.stdout, tag + 'limits are accepted', r.stdout)
done()
