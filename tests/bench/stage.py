"""The benchmark's host, and the measurement of a command on it.

Runs as root in tests/lib/sandbox.sh --gpu nvidia-8gpu.  The runtime below the wrapper is runtime.c.
gpuhelper, the kernel, its cgroups and mounts are real.  The GPUs are simulated (lib/sandbox.sh).
"""
import contextlib, json, os, shutil, signal, statistics, subprocess, sys, time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.dirname(HERE) + '/container')
from lib import GPU0, MAXID, W, WRAPPER, Host, sh, write

BUILD = os.environ.get('BENCH_BUILD') or os.path.dirname(os.path.dirname(HERE)) + '/build'
BIN = BUILD + '/bench'
RUNTIME = W + '/bin/runc'
ROOT = W + '/root'
DEVICES = '/sys/fs/cgroup/devices'
TEAM = ['BUILD_TEAM_NAME=ml', 'BUILD_PIPELINE_NAME=train']


MOUNTER = '''
import ctypes, os, sys
c, root = ctypes.CDLL(None), sys.argv[1]
assert c.mount(b'tmpfs', (root + '/srv').encode(), b'tmpfs', 0, None) == 0
for p in sys.stdin.readline().split():
    os.makedirs(root + p)
    assert c.mount(p.encode(), (root + p).encode(), None, 4096, None) == 0
print('mounted', flush=True)
sys.stdin.read()
'''


class Stage:
    """One host: a bare runtime, the wrapper in front of it, policies, bundles."""

    def __init__(self):
        os.makedirs(W + '/bin')
        os.makedirs(W + '/ns')
        shutil.copy(BIN + '/runtime', RUNTIME)
        self.host = Host('runc', 'v1')
        self.host.runtime = RUNTIME
        self.host.settings()
        self.bundles = 0
        self.mounted = {}
        for d in 'garden', 'warm':
            os.makedirs('%s/%s' % (DEVICES, d), exist_ok=True)
        # the cgroups beneath inherit the rules, so that their containers may open only what is allowed
        with open(DEVICES + '/garden/devices.deny', 'w') as f:
            f.write('a')

    def template(self, env=(), name=None, edit=None):
        """Writes a config.json like Concourse's, changed by edit(spec); returns its path."""
        self.bundles += 1
        spec = json.load(open(W + '/fx/task.json'))
        spec['hostname'] = 'h'
        spec['process']['env'] += list(env)
        spec['linux']['cgroupsPath'] = 'garden/shared'
        if edit:
            edit(spec)
        return write(name or '%s/config-%d.json' % (W, self.bundles), json.dumps(spec, separators=(',', ':')))

    def overlay(self):
        """Mounts an overlay of the image's root directory, in the volumes; returns its path."""
        top, over = W + '/vol/overlay', W + '/over'
        if not os.path.ismount(top):
            os.makedirs(top)
            os.makedirs(over)
            sh('mount', '-t', 'tmpfs', '-o', 'mode=755', 'tmpfs', over)
            for d in 'upper', 'work':
                os.makedirs(over + '/' + d)
            layers = 'lowerdir=%s,upperdir=%s/upper,workdir=%s/work' % (self.host.rootfs, over, over)
            r = sh('mount', '-t', 'overlay', '-o', layers, 'overlay', top)
            assert r.returncode == 0, r.stdout
        return top

    def folders(self, n):
        """Makes so many folders, and a mount namespace in which they are mounted in the image's root; returns both."""
        if n not in self.mounted:
            self.mounted[n] = self.mount_folders(n)
        return self.mounted[n]

    def mount_folders(self, n):
        paths = ['/srv/bench/%d/data-%04d' % (n, i) for i in range(n)]
        for p in paths:
            os.makedirs(p, exist_ok=True)
            os.chown(p, MAXID, MAXID)
        space = '%s/ns/%d' % (W, n)
        write(space, '')
        # A namespace can only be mounted in an older one, and the kernel may take a new one for older, because another CPU numbers it.
        for _ in range(20):
            if self.keep_namespace(paths, space):
                return paths, space
        raise RuntimeError('no mount namespace can be kept at ' + space)

    def keep_namespace(self, paths, space):
        """False if it cannot be mounted.  No process may be left in it, because leases live as long as one is."""
        p = subprocess.Popen(['unshare', '--mount', sys.executable, '-c', MOUNTER, self.host.rootfs], text=True,
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        p.stdin.write(' '.join(paths) + '\n')
        p.stdin.flush()
        assert p.stdout.readline() == 'mounted\n'
        kept = sh('mount', '--bind', '/proc/%d/ns/mnt' % p.pid, space).returncode == 0
        p.communicate()
        return kept


def folder_rules(paths):
    return 'folders = ( %s );\n' % ', '.join('{ path = "%s"; access = "%s"; }' % (p, 'rw' if i % 2 else 'ro')
                                               for i, p in enumerate(paths))


def asked(paths):
    return 'GPUHELPER_FOLDERS=' + ','.join('%s:%s' % (p, 'rw' if i % 2 else 'ro') for i, p in enumerate(paths))


# what a command needs besides its arguments
ENV = {'PATH': '/usr/sbin:/usr/bin:/sbin:/bin'}


# the root directory of the containers, as lib.py makes it
ROOTFS = W + '/vol/rootfs'


def create(program, template, extra=(), granted=False, space=None, env=None, after=None, root=ROOTFS):
    """«create» of a new bundle; granted: the runtime must leave a container behind, in the directory «root»."""
    words = [program, *extra, '--root', ROOT, 'create', '--bundle', W + '/b/%', 'bench-%']
    env = dict(ENV, **(env or {}))
    c = {'dir': W + '/b/%', 'copy': [(template, W + '/b/%/config.json')], 'arg': words, 'env': env}
    if granted:
        env['BENCH_CGROUP'] = DEVICES + '/garden/bench-%/cgroup.procs'
        env['BENCH_ROOT'] = root
        if space:
            env['BENCH_MOUNTS'] = space
        c['cgroup'] = DEVICES + '/garden/bench-%'
        c['warm'] = DEVICES + '/warm/cgroup.procs'
        if after is None and program == WRAPPER:
            after = [WRAPPER, '--root', ROOT, 'delete', 'bench-%']
    c['after'] = after or []
    return c


def verb(program, *words, env=None, **more):
    return dict(arg=[program, '--root', ROOT, *words], env=dict(ENV, **(env or {})), **more)


def load():
    return [float(n) for n in open('/proc/loadavg').read().split()[:3]]


def case_text(name, c):
    lines = ['command ' + name]
    lines += ['dir ' + c['dir']] if c.get('dir') else []
    lines += ['copy %s %s' % pair for pair in c.get('copy', ())]
    lines += ['%s %s' % (k, c[k]) for k in ('cgroup', 'warm', 'at_once') if c.get(k)]
    lines += ['env %s=%s' % kv for kv in c['env'].items()]
    lines += ['arg ' + w for w in c['arg']]
    lines += ['after ' + w for w in c.get('after') or ()]
    return '\n'.join(lines) + '\n'


def measure(commands, rounds, seconds=10, warmup=3):
    """{name: [(wall, user, system, cpu, faults), ...]} in ms: the commands in turn, round by round."""
    os.makedirs(W + '/b', exist_ok=True)
    names = list(commands)
    text = ''.join(case_text(str(i), commands[n]) for i, n in enumerate(names))
    r = subprocess.run([BIN + '/measure', str(rounds), str(warmup), str(seconds)], input=text, text=True, timeout=600,
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    shutil.rmtree(W + '/b', ignore_errors=True)
    if r.returncode != 0:
        raise RuntimeError(r.stderr.strip() or 'measure: status %d' % r.returncode)
    out = {n: [] for n in commands}
    for line in r.stdout.splitlines():
        i, wall, user, system, cpu, faults = map(int, line.split())
        out[names[i]].append((wall / 1e6, user / 1e6, system / 1e6, cpu / 1e6, faults))
    return out


def pairs_of(base, c, rounds=40, seconds=5):
    """The base and the command in turn; a command that takes seconds gets few rounds, without a warm-up."""
    once = measure({'base': base, 'c': c}, 1, warmup=0)
    slow = once['c'][0][0] > 1500
    runs = measure({'base': base, 'c': c}, 3 if slow else rounds, seconds, 0 if slow else 3)
    return over(runs['c'], runs['base'])


def over(runs, base):
    """The additional time over the base, pair by pair."""
    pairs = [b[0] - a[0] for a, b in zip(base, runs)]
    mean = lambda k: statistics.fmean(r[k] for r in runs) - statistics.fmean(r[k] for r in base)
    return {'n': len(pairs), 'wall': statistics.median(pairs), 'least': min(pairs), 'most': max(pairs),
            'minima': min(r[0] for r in runs) - min(r[0] for r in base), 'user': mean(1), 'system': mean(2), 'cpu': mean(3),
            'faults': statistics.median(r[4] for r in runs) - statistics.median(r[4] for r in base)}


def end_processes(cgroup):
    """Kills all processes in it, and waits until they are gone."""
    for pid in open(cgroup + '/cgroup.procs').read().split():
        os.kill(int(pid), signal.SIGKILL)
    while open(cgroup + '/cgroup.procs').read():
        time.sleep(0.001)


@contextlib.contextmanager
def crowd():
    """A function that starts idle processes until there are so many; they end with the context."""
    others = []

    def grow(n):
        others.extend(subprocess.Popen(['sleep', '1000']) for _ in range(n - len(others)))
    try:
        yield grow
    finally:
        for p in others:
            p.kill()
            p.wait()


def remove_cgroup(path):
    """Removes it once the killed processes in it are gone."""
    for _ in range(200):
        try:
            return os.rmdir(path)
        except OSError:
            time.sleep(0.01)
    raise RuntimeError(path + ': someone is left there')


def count(c):
    """What one run does: {program: {processes, calls, bytes, peak, faults}}."""
    n = 'calls'
    fill = lambda s: s.replace('%', n)
    if c.get('dir'):
        os.makedirs(fill(c['dir']), exist_ok=True)
    for a, b in c.get('copy', ()):
        shutil.copy(fill(a.replace('%', '0')) if '%' in a else a, fill(b))
    if c.get('cgroup'):
        os.makedirs(fill(c['cgroup']), exist_ok=True)
    env = {k: fill(v) for k, v in c['env'].items()}
    cwd = fill(c['dir']) if c.get('dir') else '/'
    r = subprocess.run([BIN + '/calls', '--', *map(fill, c['arg'])], env=env, cwd=cwd, text=True, timeout=60,
                       stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if c.get('after'):
        subprocess.run(list(map(fill, c['after'])), env={}, cwd=cwd, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    if c.get('cgroup'):
        remove_cgroup(fill(c['cgroup']))
    if c.get('dir'):
        shutil.rmtree(fill(c['dir']), ignore_errors=True)
    if r.returncode != 0:
        raise RuntimeError('calls: status %d: %s' % (r.returncode, r.stderr.strip()))
    keys = ('processes', 'calls', 'bytes', 'peak', 'faults')
    return {l.split('\t')[0]: dict(zip(keys, map(int, l.split('\t')[1:]))) for l in r.stdout.splitlines()}
