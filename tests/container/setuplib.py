"""What the tests of «gpuhelperctl setup» share: the command, a policy, a real containerd, and a client that fails."""
import contextlib, shutil, subprocess, time
from lib import *

CTL, CONF = '/usr/sbin/gpuhelperctl', '/etc/gpuhelper/gpuhelper.conf'
ADMINS = 'privileged = "deny";\n'
# docker of Debian's package, unpacked by tests/deps.sh; here it has no network, and uses the sandbox's containerd
UNPACKED = os.environ.get('GPUHELPER_DOCKER') or '/var/cache/gpuhelper-docker'
DOCKER = '/usr/local/sbin/docker', '-H', 'unix:///var/run/docker.sock'
DOCKERD = ('/usr/local/sbin/dockerd', '--iptables=false', '--bridge=none', '--ip-forward=false', '--ip-masq=false', '--exec-opt',
           'native.cgroupdriver=cgroupfs', '--containerd=/run/containerd/containerd.sock')


def policy(*callers):
    """The text of a policy that gives one of the two GPUs to containers of these users."""
    return 'identity = "caller";\ncallers = [ %s ];\ngpus = ( { vendor = "nvidia"; devices = [ "%s" ]; } );\n' % (
        ', '.join('"%s"' % c for c in callers), GPU0)


class Setup:
    """gpuhelperctl setup ENGINE.  state() returns all that it may change."""

    def __init__(self, engine, state):
        self.engine, self.state = engine, state

    def __call__(self, *words, **kw):
        r = sh(CTL, 'setup', self.engine, *words, **kw)
        return r.returncode, r.stdout

    def unchanged(self, name, status, *words, args=()):
        """The command ends with this status, says these words, and changes nothing."""
        before = self.state()
        code, text = self(*args)
        ok(code == status and all(w in text for w in words) and self.state() == before, name, (code, text, before, self.state()))


@contextlib.contextmanager
def containerd(*words, program='containerd'):
    """A real containerd, by its usual settings or these words."""
    with open(W + '/containerd.log', 'a') as log:
        p = subprocess.Popen([program, *words], stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd='/')
    for _ in range(100):
        if sh('ctr', 'version').returncode == 0:
            break
        time.sleep(0.1)
    try:
        yield p
    finally:
        p.terminate()
        p.wait(20)


def has_docker():
    return os.path.exists(UNPACKED + '/usr/sbin/dockerd')


def place_docker():
    """Copies docker's programs to where the sandbox finds them."""
    for d in 'sbin', 'bin':
        for f in os.listdir('%s/usr/%s' % (UNPACKED, d)):
            if not os.path.islink('%s/usr/%s/%s' % (UNPACKED, d, f)):
                shutil.copy('%s/usr/%s/%s' % (UNPACKED, d, f), '/usr/local/sbin/' + f)


@contextlib.contextmanager
def dockerd(*flags):
    """A real dockerd, of place_docker(), beside containerd(): with these flags, too."""
    with open(W + '/dockerd.log', 'a') as log:
        p = subprocess.Popen([*DOCKERD, *flags], stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd='/')
    for _ in range(200):
        if sh(*DOCKER, 'version').returncode == 0 or p.poll() is not None:
            break
        time.sleep(0.1)
    try:
        yield p
    finally:
        p.terminate()
        p.wait(30)


@contextlib.contextmanager
def client(path, script, real=None):
    """A script in the place of an engine's client.  In its text %s is the real one, which moves aside if it has that path."""
    aside = path + '-real'
    if real is None:
        os.rename(path, aside)
    write(path, '#!/bin/sh\n' + script.replace('%s', real or aside) + '\n', 0o755)
    try:
        yield aside
    finally:
        os.unlink(path)
        if real is None:
            os.rename(aside, path)


# fails, and leaves a container that runs: as a client does that setup ends after a minute
LEAVES_CONTAINER = '''case "$*" in *" run "*)
    %s $(echo "$*" | sed 's, --rm,,; s, run, run --detach,; s,/usr/bin/true$,/usr/bin/sleep 1000,')
    exit 1 ;;
esac
exec %s "$@"'''
