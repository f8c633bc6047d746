"""Tasks in containers that only pause, for the tests of promised GPUs (task.py and others)."""
import random, time
from lib import *

TRAIN = ['BUILD_TEAM_NAME=ml', 'BUILD_PIPELINE_NAME=train', 'GPUHELPER_GPUS=1']
POLICY = 'pipeline = "ml/train";\nidentity = "claim";\ngpus = ( { vendor = "nvidia"; devices = [ "0" ]; wait = %d; } );\n'
# The node has no driver, so opening it gives ENXIO.  A node that the device rules deny gives EPERM, which is checked first.
HAS, HAS_NOT = 'No such device or address', 'Operation not permitted'
SHOW = '(: < /dev/nvidia0) 2>&1; exit 7'
CTL = '/usr/sbin/gpuhelperctl'


def prepare(host):
    host.promises = True
    host.settings()
    r = sh('cc', '-std=c11', '-D_GNU_SOURCE', '-O1', '-static', '-o', W + '/init', TESTS + '/container/placeholder.c')
    assert r.returncode == 0, r.stdout
    write(host.rootfs + '/etc/noexec', 'x', 0o644)


def container(host, **kw):
    b = Bundle(host, env=TRAIN + kw.pop('env', []), **kw)
    b.start()
    return b


def soon(test, seconds=5):
    """Whether the test becomes true in that time."""
    until = time.monotonic() + seconds
    while not test():
        if time.monotonic() > until:
            return False
        time.sleep(0.02)
    return True


class Task:
    """A detached exec, as a shim makes it: its output goes to a file, and its status comes from a subreaper."""

    def __init__(self, b, script, env=(), args=None, name='task'):
        self.b, self.status = b, None
        self.dir = '%s/task%d' % (b.dir, random.getrandbits(40))
        os.makedirs(self.dir)
        self.out = self.dir + '/out'
        self.pidfile = '%s/%s.pid' % (self.dir, name)
        process = {'args': args or ['/bin/sh', '-c', script], 'cwd': '/', 'user': {'uid': 0, 'gid': 0},
                   'env': ['PATH=/bin:/usr/bin', *env]}
        write(self.dir + '/process.json', json.dumps(process))
        self.p = subprocess.Popen([sys.executable, os.path.dirname(os.path.abspath(__file__)) + '/shim.py', self.out, self.pidfile, WRAPPER, '--root', W + '/root',
                                   '--log', b.log, '--log-format', 'json', 'exec', '--detach', '--pid-file', self.pidfile,
                                   '--process', self.dir + '/process.json', b.id], stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def text(self):
        return open(self.out).read() if os.path.exists(self.out) else ''

    def said(self):
        return [l[11:] for l in without_warning(self.text()).splitlines() if l.startswith('gpuhelper: ')]

    def until(self, words, seconds=10):
        return soon(lambda: words in self.text(), seconds)

    def pid(self):
        assert soon(lambda: os.path.exists(self.pidfile) and open(self.pidfile).read()), self.b.errors()
        return int(open(self.pidfile).read())

    def wait(self, seconds=30):
        try:
            out, _ = self.p.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            return None
        self.status = int(out.strip().splitlines()[-1])
        return self.status

    def kill(self, sig=9):
        os.kill(self.pid(), sig)
        return self.wait()


def show(b, name):
    """Runs a new process; returns its access to the node, its last message, and its status."""
    t = Task(b, SHOW, name=name)
    t.wait()
    said = t.said()
    return 'has' if HAS in t.text() else 'not' if HAS_NOT in t.text() else t.text(), said[-1] if said else '', t.status


def status():
    return json.loads(sh(CTL, 'status', '--json').stdout)


def state(b):
    return next((l['state'] for l in status()['leases'] if l['container'] == b.id), None)


def agents():
    """The agents of this sandbox: other sandboxes have theirs, in other PID namespaces."""
    found = []
    for pid in filter(str.isdigit, os.listdir('/proc')):
        try:
            if open('/proc/%s/comm' % pid).read().startswith('gpuhelper-agent'):
                found.append(int(pid))
        except OSError:
            pass
    return found


def clean(*bundles):
    for b in bundles:
        b.delete()
    assert soon(lambda: sh(CTL, 'reap').returncode == 0 and leases() == []), sh(CTL, 'status').stdout


def two_at_once(count=1):
    """Searches the audit log for more than «count» holders; returns the records around that, or nothing."""
    holders, log = set(), audit()
    for i, a in enumerate(log):
        if a['event'] == 'grant':
            holders.add(a['container'])
        elif a['event'] in ('end', 'undo', 'gave-back', 'draining'):
            holders.discard(a['container'])
        if len(holders) > count:
            return [(x['time'], x['event'], x['container']) for x in log[max(0, i - 12):i + 12]]
    return []
