#!/usr/bin/env python3
"""Times whole containers with a real runtime: create, start, the task's first byte, delete; with gpuhelper and without,
in turn.  Beside them: the vendors' runtimes and podman's own CDI, where they are installed; and how long a GPU is unused
between two tasks.

usage: whole.py RUNTIME OUT.json    (in tests/lib/sandbox.sh --gpu nvidia-8gpu --cgroup v1)
"""
import json, os, shutil, statistics, subprocess, sys, time
import driver, items
from stage import TEAM, load
from lib import IDLE_HOOK, W, WRAPPER, Bundle, Host, write

ROUNDS = 15
STEPS = ('create', 'start', 'first byte', 'delete')
ENV = {'PATH': '/usr/sbin:/usr/bin:/sbin:/bin'}
TASK = ['/bin/sh', '-c', 'echo x']
HOLDER = ['/bin/sh', '-c', 'echo x; exec sleep 600']


def ms(since):
    return (time.monotonic() - since) * 1000


class Container:
    """One container by «program», whose task writes a byte to our pipe."""

    def __init__(self, host, program, env=(), args=TASK, config=None, more=None):
        self.program, self.env = program, dict(ENV, **(more or {}))
        self.b = Bundle(host, env=list(env), args=args)
        if config:
            write(self.b.dir + '/config.json', config(self.b))
        self.out, self.end = os.pipe()

    def run(self, *words, **kw):
        return subprocess.Popen([self.program, '--root', W + '/root', *words], env=self.env, cwd=self.b.dir, stdin=subprocess.DEVNULL,
                                stderr=open(self.b.dir + '/err', 'w'), **kw)

    def call(self, *words, **kw):
        status = self.run(*words, **kw).wait(60)
        if status != 0:
            raise RuntimeError('%s %s: status %d: %s' % (self.program, words[0], status, open(self.b.dir + '/err').read().strip()[:300]))

    def begin(self):
        """Makes the container; returns the milliseconds of «create»."""
        t = time.monotonic()
        self.call('create', '--bundle', self.b.dir, '--pid-file', self.b.dir + '/pid', self.b.id, stdout=self.end)
        os.close(self.end)
        return ms(t)

    def start(self):
        """The milliseconds of «start», and until the task's first byte."""
        t = time.monotonic()
        self.call('start', self.b.id, stdout=subprocess.DEVNULL)
        took = ms(t)
        assert os.read(self.out, 1) == b'x'
        return took, ms(t)

    def delete(self):
        t = time.monotonic()
        self.call('delete', '--force', self.b.id, stdout=subprocess.DEVNULL)
        took = ms(t)
        os.close(self.out)
        shutil.rmtree(self.b.dir)
        return took

    def whole(self):
        """The four steps, and their sum; «first byte» is what it took after «start»."""
        create = self.begin()
        start, first = self.start()
        while os.read(self.out, 64):
            pass        # until the task has ended
        steps = (create, start, max(first - start, 0), self.delete())
        return steps + (sum(steps),)


def ready_made(host, env):
    """The config.json that gpuhelper makes of such a container, for a runtime alone: a function of another bundle."""
    c = Container(host, WRAPPER, env)
    c.begin()
    text, ident = c.b.config(), c.b.id
    c.start()
    c.delete()
    return lambda b: text.replace(ident, b.id)


def compare(makers):
    """{name: [steps, ...]}: the makers in turn, round by round, after one round that does not count."""
    runs = {n: [] for n in makers}
    for i in range(ROUNDS + 1):
        for name, make in makers.items():
            steps = make().whole()
            if i > 0:
                runs[name].append(steps)
    return runs


def summary(runs, base):
    out = {}
    for name, r in runs.items():
        more = [a[-1] - b[-1] for a, b in zip(r, runs[base])]
        out[name] = {'steps': [statistics.median(s[i] for s in r) for i in range(len(STEPS))], 'whole': statistics.median(s[-1] for s in r),
                     'more': statistics.median(more),
                     'minima': min(s[-1] for s in r) - min(s[-1] for s in runs[base]), 'least': min(more), 'most': max(more), 'pairs': len(r)}
    return out


def vendors(host, env):
    """Makers of the same container by the vendors' runtimes, in each mode, and what is skipped, with the reason."""
    makers, skipped = {}, {}
    path = shutil.which('nvidia-container-runtime')
    for mode in 'cdi', 'legacy':
        name = 'nvidia-container-runtime, ' + mode
        if not path:
            skipped[name] = 'it is not installed here'
        elif mode == 'legacy' and not shutil.which('nvidia-container-cli'):
            skipped[name] = 'there is no nvidia-container-cli'
        else:
            d = W + '/nvidia-' + mode
            write(d + '/nvidia-container-runtime/config.toml', '[nvidia-container-runtime]\nmode = "%s"\nruntimes = ["%s"]\n' % (mode, host.runtime))
            value = 'NVIDIA_VISIBLE_DEVICES=' + ('nvidia.com/gpu=0' if mode == 'cdi' else '0')
            makers[name] = lambda d=d, value=value: Container(host, path, TEAM + [value], more={'XDG_CONFIG_HOME': d})
            try:
                makers[name]().whole()
            except RuntimeError as e:
                skipped[name] = str(e)
                del makers[name]
    return makers, skipped


def works(host):
    """(key, label, name of the base, makers, skipped)."""
    plain = lambda: Container(host, host.runtime, TEAM)
    yield 'plain', 'plain', host.name, {host.name: plain, 'gpuhelper': lambda: Container(host, WRAPPER, TEAM)}, {}
    driver.install('json')
    # the tool kit's hook is not here, and what it does is not ours to time
    write(driver.HOOK, IDLE_HOOK, 0o755)
    host.policies(t10=items.CALLER + items.GPUS)
    env = TEAM + ['GPUHELPER_GPUS=1']
    made = ready_made(host, env)
    found, skipped = vendors(host, env)
    yield 'gpu', '1 GPU, 40 driver files', host.name, {
        host.name: plain, host.name + ', same config.json': lambda: Container(host, host.runtime, TEAM, config=made),
        'gpuhelper': lambda: Container(host, WRAPPER, env), **found}, skipped
    driver.install(None)
    paths = ['/srv/bench/whole/data-%02d' % i for i in range(32)]
    for p in paths:
        os.makedirs(p, mode=0o777)
        os.chmod(p, 0o777)
    host.policies(t10=items.CALLER + 'folders = ( %s );\n' % ', '.join('{ path = "%s"; access = "rw"; }' % p for p in paths))
    env = TEAM + ['GPUHELPER_FOLDERS=all']
    made = ready_made(host, env)
    yield 'folders', '32 folders', host.name, {
        host.name: plain, host.name + ', same config.json': lambda: Container(host, host.runtime, TEAM, config=made),
        'gpuhelper': lambda: Container(host, WRAPPER, env)}, {}


class Podman:
    """A whole «podman run --rm» of an image's directory: only the first byte and the whole can be seen."""

    def __init__(self, host, *options):
        self.words = ['podman', '--root', W + '/podman/store', '--runroot', W + '/podman/run', '--storage-driver', 'vfs', '--cgroup-manager',
                      'cgroupfs', '--events-backend', 'file', '--log-level', 'error', '--runtime', host.runtime, 'run', '--rm', '--network',
                      'none', '--read-only', *options, '--rootfs', host.priv_rootfs, '/bin/sh', '-c', 'echo x']

    def whole(self):
        t = time.monotonic()
        p = subprocess.Popen(self.words, env=dict(ENV, HOME=W), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        got = p.stdout.read(1)
        first = ms(t)
        err = p.communicate()[1]
        if got != 'x' or p.returncode != 0:
            raise RuntimeError('podman: status %d: %s' % (p.returncode, err.strip()[:300]))
        return 0, 0, first, ms(t) - first, ms(t)


def podman(host):
    """podman's own CDI beside podman without: (runs, reason that there are none)."""
    if not shutil.which('podman'):
        return None, 'it is not installed here'
    driver.install('json')
    write(driver.HOOK, IDLE_HOOK, 0o755)
    makers = {'podman': lambda: Podman(host), 'podman, its own CDI': lambda: Podman(host, '--device', 'nvidia.com/gpu=0')}
    try:
        return compare(makers), ''
    except RuntimeError as e:
        return None, str(e)
    finally:
        driver.install(None)


def unused(host):
    """Milliseconds from the end of a task that has the only GPU to the first byte of the next task, whose create waits."""
    host.policies(t10=items.CALLER + 'gpus = ( { vendor = "nvidia"; count = 1; devices = [ "0" ]; wait = 60; } );\n')
    env, gaps = TEAM + ['GPUHELPER_GPUS=1'], []
    for _ in range(ROUNDS):
        a, b = Container(host, WRAPPER, env, HOLDER), Container(host, WRAPPER, env)
        a.begin()
        a.start()
        p = b.run('create', '--bundle', b.b.dir, '--pid-file', b.b.dir + '/pid', b.b.id, stdout=b.end)
        os.close(b.end)
        while not os.path.isdir('/run/gpuhelper/queue') or not os.listdir('/run/gpuhelper/queue'):
            time.sleep(0.01)
        time.sleep(0.5)
        t = time.monotonic()
        os.kill(int(open(a.b.dir + '/pid').read()), 9)
        a.delete()
        assert p.wait(60) == 0, open(b.b.dir + '/err').read()
        b.start()
        gaps.append(ms(t))
        b.delete()
    return gaps


def main():
    host = Host(sys.argv[1], 'v1')
    result = {'runtime': host.name, 'items': {}, 'absent': {}, 'load': [load()], 'began': time.time()}
    why = host.cannot_run()
    if why:
        print('# SKIP whole creates with %s: %s' % (host.name, why))
        return
    for key, label, base, makers, skipped in works(host):
        s = summary(compare(makers), base)
        result['items'][key] = {'label': label, 'base': base, 'by': s}
        result['absent'].update(skipped)
        for name, o in s.items():
            print('%-24s %-28s %s whole %7.2f ms, over %s %6.2f (%.2f to %.2f; by minima %.2f)' % (label, name, ' '.join(
                '%s %.2f,' % z for z in zip(STEPS, o['steps'])), o['whole'], base, o['more'], o['least'], o['most'], o['minima']), flush=True)
    runs, why = podman(host)
    if runs is None:
        result['absent']["podman's own CDI"] = why
    else:
        s = summary(runs, 'podman')
        result['items']['podman'] = {'label': '1 GPU, 40 driver files, whole «podman run»', 'base': 'podman', 'by': s}
        for name, o in s.items():
            print('%-24s whole %.2f ms, over podman %.2f (%.2f to %.2f)' % (name, o['whole'], o['more'], o['least'], o['most']), flush=True)
    gaps = unused(host)
    result['unused'] = {'median': statistics.median(gaps), 'least': min(gaps), 'most': max(gaps), 'pairs': len(gaps)}
    print('a GPU is unused between two tasks: %.1f ms (%.1f to %.1f)' % (statistics.median(gaps), min(gaps), max(gaps)))
    for name, why in result['absent'].items():
        print('# SKIP %s: %s' % (name, why))
    result['load'].append(load())
    result['took'] = time.time() - result['began']
    write(sys.argv[2], json.dumps(result, indent=1))


main()
