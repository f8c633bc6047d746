"""Shared by the container tests: TAP, bundles made from the fixtures, and the host.

Everything runs as root in tests/lib/sandbox.sh, with real runc, crun or containerd, the installed gpuhelper and a
real kernel.  Only the GPUs are simulated: no driver answers for their numbers, so a granted node opens as ENXIO, and
a node that the device cgroup denies as EPERM.
"""
import hashlib, json, os, re, shutil, stat, subprocess, sys, time

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# the version of the frames between wrapper and helper
WIRE = int(re.search(r'WIRE_VERSION (\d+)', open(TESTS + '/../helper/ask/wire.h').read()).group(1))
sys.path.append(TESTS + '/lib')
import lease

W = '/run/t'
MAXID = 4294967294
GPU0, GPU1 = 'GPU-edfee158-11c1-52b8-0517-92f30e7fac88', 'GPU-0d5b2d8e-8f0d-4a1e-9b2b-6a1b7f0c1d22'
WRAPPER = '/usr/bin/gpuhelper-runc'

_n = _bad = 0


def ok(cond, name, detail=''):
    global _n, _bad
    _n += 1
    print(('ok' if cond else 'not ok'), _n, '-', name, flush=True)
    if not cond:
        _bad += 1
        for line in str(detail)[:3000].splitlines():
            print('#   ' + line, flush=True)
    return bool(cond)


def skip(name, why):
    global _n
    _n += 1
    print('ok', _n, '-', name, '# SKIP', why, flush=True)


def done():
    print('1..%d' % _n)
    sys.exit(1 if _bad else 0)


def sh(*argv, **kw):
    if 'input' not in kw:
        kw.setdefault('stdin', subprocess.DEVNULL)
    return subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors='replace', timeout=60, **kw)


def write(path, text, mode=0o644):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'w') as f:
        f.write(text)
    os.chmod(path, mode)
    return path


# A hook that does nothing.  It reads the container's state: crun before 1.17 fails if a hook ends without that, when the
# hook is the faster one («error executing hook», exit code -33).
IDLE_HOOK = '#!/bin/sh\nread -r state\nexit 0\n'


def without_warning(text):
    """The output without the line that warns of missing driver files (the GPUs of most tests come without any), and without
    the one that names what was taken away, which podman shows only at times."""
    text = re.sub(r'(?m)^gpuhelper: warning: removed .*\r?\n', '', text, count=1)
    return re.sub(r'(?m)^gpuhelper: warning: .* no (?:libcuda\.so\.1|libnvidia-ml\.so\.1).*\r?\n', '', text, count=1)


def busybox_rootfs(path, owner):
    for d in 'bin proc sys dev tmp etc srv root run'.split():
        os.makedirs(os.path.join(path, d), exist_ok=True)
    shutil.copy('/bin/busybox', path + '/bin/busybox')
    for a in 'sh ls cat sleep mknod id env touch stat mkdir readlink grep head rm dd chmod true'.split():
        if not os.path.lexists(path + '/bin/' + a):
            os.symlink('busybox', path + '/bin/' + a)
    write(path + '/etc/passwd', 'root:x:0:0::/:/bin/sh\n')
    for top, dirs, files in os.walk(path):
        for n in dirs + files:
            os.lchown(os.path.join(top, n), owner, owner)
    os.chown(path, owner, owner)
    return path


class Host:
    promises = False        # whether containers whose process 1 is gdn-init are promised their GPUs (tasks.py)

    def __init__(self, runtime='runc', cgroup='v1'):
        self.runtime = shutil.which(runtime)
        self.name = runtime
        self.cgroup = cgroup
        os.makedirs(W, exist_ok=True)
        self.rootfs = busybox_rootfs(W + '/vol/rootfs', MAXID)
        self.priv_rootfs = busybox_rootfs(W + '/vol/priv-rootfs', 0)
        write(W + '/init', '#!/bin/sh\nexec /bin/sleep 1000\n', 0o755)
        r = sh('python3', TESTS + '/fixtures/oci/mkfix.py', W + '/fx', '--rootfs', self.rootfs, '--init', W + '/init',
               '--cgroup', cgroup, '--fake-volumes', W + '/vol')
        assert r.returncode == 0, r.stdout
        self.settings()
        os.makedirs('/etc/gpuhelper/policy.d', exist_ok=True)

    def cannot_run(self):
        """Why this runtime can make no container on this machine, or None."""
        b = Bundle(self, args=['/bin/true'])
        spec = json.loads(b.text)
        spec['linux']['resources']['devices'].insert(0, {'allow': False, 'access': 'rwm'})
        write(b.dir + '/config.json', json.dumps(spec))
        r = sh(self.runtime, '--root', W + '/root', 'run', '--bundle', b.dir, b.id, cwd=b.dir)
        return None if r.returncode == 0 else '%s by itself says: %s' % (self.name, r.stdout.strip().replace('\n', ' '))

    def settings(self, text=''):
        if not self.promises and 'placeholder_init' not in text:
            text += '\nplaceholder_init = [ ];'
        write('/etc/gpuhelper/gpuhelper.conf', 'runtime = "%s";\nvolumes = [ "%s/vol" ];\n%s\n' % (self.runtime, W, text))

    def use_hold(self):
        """Puts hold.c in the runtime's place: a container only lasts (Bundle.hold()), so that hundreds run in seconds."""
        os.makedirs(W + '/bin')
        self.runtime = W + '/bin/runc'
        r = sh('cc', '-std=c11', '-D_GNU_SOURCE', '-O1', '-static', '-o', self.runtime, TESTS + '/container/hold.c')
        assert r.returncode == 0, r.stdout
        self.settings()

    def policies(self, **files):
        d = '/etc/gpuhelper/policy.d'
        for f in os.listdir(d):
            if f.endswith('.conf'):
                os.unlink(os.path.join(d, f))
        for name, text in files.items():
            write('%s/%s.conf' % (d, name.replace('_', '-')), text)


def able_host():
    """The host for the test's two arguments, RUNTIME CGROUP, and the prefix of its checks' names.

    Where the runtime makes no container at all, the test ends here, skipped.
    """
    host = Host(sys.argv[1], sys.argv[2])
    tag = '%s/%s: ' % (host.name, sys.argv[2])
    why = host.cannot_run()
    if why:
        skip(tag + 'all checks', why)
        done()
    return host, tag


# Part of the names of containers and their cgroups, which other runs on this machine see (lib/sandbox.sh).
UNIQUE = os.environ.get('SANDBOX_ID') or os.urandom(3).hex()


# crun 1.8's exec fails like this in 10 of 600 new containers, without our wrapper as well; a second try works
CRUN_FAILS = re.compile(r'setns\(pid=\d+, CLONE_')


def runs_runtime(pid):
    """Whether this process is still the runtime."""
    try:
        exe = os.readlink('/proc/%d/exe' % pid)
    except OSError:
        return False
    return os.path.basename(exe) in ('runc', 'crun', 'exe') or 'memfd:' in exe


class Bundle:
    """A bundle made from a sample, changed by edit(spec)."""
    count = 0

    def __init__(self, host, sample='task', env=(), args=None, edit=None, raw=None):
        Bundle.count += 1
        self.host = host
        self.id = 'c%s-%d' % (UNIQUE, Bundle.count)
        self.dir = '%s/b/%s' % (W, self.id)
        os.makedirs(self.dir)
        self.log = self.dir + '/log.json'
        spec = json.load(open('%s/fx/%s.json' % (W, sample)))
        if 'cgroupsPath' in spec['linux']:
            spec['linux']['cgroupsPath'] = 'garden/' + self.id
        spec['hostname'] = 'h'
        if 'privileged' in sample and 'fuse' not in sample:
            spec['root']['path'] = host.priv_rootfs
        bounding = int(re.search(r'CapBnd:\s*(\w+)', open('/proc/self/status').read()).group(1), 16)
        caps = spec['process']['capabilities']
        for k in caps:      # on a machine without one of them (CAP_SYS_RESOURCE) no container can have that one
            caps[k] = [c for c in caps[k] if c not in missing_caps(bounding)]
        if host.name == 'crun':         # crun 1.8 does not know version 1.3
            spec['ociVersion'] = '1.0.2'
        spec['process']['env'] += list(env)
        if args:
            spec['process']['args'] = args
        if edit:
            edit(spec)
        self.text = raw(json.dumps(spec)) if raw else json.dumps(spec, separators=(',', ':'))
        write(self.dir + '/config.json', self.text)

    def call(self, *words, globals=(), **kw):
        for _ in range(20):
            r = sh(WRAPPER, '--root', W + '/root', '--log', self.log, '--log-format', 'json', *globals, *words, cwd=self.dir, **kw)
            if words[0] != 'exec' or r.returncode == 0 or not CRUN_FAILS.search(r.stdout):
                break
        return r

    def run(self, *opts):
        return self.call('run', *opts, '--bundle', self.dir, self.id)

    def create(self):
        """Creates like a shim: the container must not inherit our pipe, so errors are only in the log."""
        return subprocess.run([WRAPPER, '--root', W + '/root', '--log', self.log, '--log-format', 'json', 'create',
                               '--bundle', self.dir, '--pid-file', self.dir + '/pid', self.id],
                              stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=60)

    def begin(self):
        """Starts the created container, and waits until the task runs: crun cannot exec before that, although «start» has returned."""
        r = self.call('start', self.id)
        for _ in range(500 if r.returncode == 0 else 0):
            if not runs_runtime(int(open(self.dir + '/pid').read())):
                break
            time.sleep(0.01)
        return r

    def start(self):
        r = self.create()
        assert r.returncode == 0, self.errors()
        r = self.begin()
        assert r.returncode == 0, r.stdout
        return int(open(self.dir + '/pid').read())

    def hold(self, ms):
        """Runs the container for so long, by hold.c, in a session of its own; self.p is the wrapper."""
        self.p = subprocess.Popen([WRAPPER, '--root', W + '/root', '--log', self.log, '--log-format', 'json', 'run', '--bundle', self.dir, self.id],
                                  env={'PATH': '/usr/bin', 'HOLD_MS': str(ms)}, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL, start_new_session=True)
        return self

    def exec(self, script):
        # one pipe, because runc copies stdout and stderr separately, in any order
        return self.call('exec', self.id, '/bin/sh', '-c', 'exec 2>&1; ' + script)

    def delete(self):
        return self.call('delete', '--force', self.id)

    def config(self):
        return open(self.dir + '/config.json').read()

    def errors(self):
        """The messages that containerd would show: the last one of level error."""
        if not os.path.exists(self.log):
            return []
        # crun 1.28 writes one object on several lines
        text, found = open(self.log).read().lstrip(), []
        while text:
            j, end = json.JSONDecoder().raw_decode(text)
            found += [j['msg']] if j['level'] == 'error' else []
            text = text[end:].lstrip()
        return found


def glibc_image(path, rhel=False):
    """An image with a C library and a program that loads the driver, but without driver files."""
    busybox_rootfs(path, MAXID)
    c = write(W + '/prog.c', r'''#include <dlfcn.h>
#include <stdio.h>
int main(int n, char **v) {
	for (v++; n-- > 1; v++) {
		void *l = dlopen(*v, RTLD_NOW);
		const char *(*f)(void) = l != NULL ? (const char *(*)(void))dlsym(l, "driver_says") : NULL;
		printf("%s: %s\n", *v, f != NULL ? f() : dlerror());
		if (l != NULL)		/* the loader would not look for its SONAME again */
			dlclose(l);
	}
}''')
    subprocess.check_call(['cc', '-o', path + '/bin/prog', c])
    for lib in re.findall(r'(/\S+)', sh('ldd', path + '/bin/prog').stdout):
        data, to = open(lib, 'rb').read(), lib
        if rhel:
            to = '/lib64/' + os.path.basename(lib)
            old, new = b'/lib/x86_64-linux-gnu/\0', b'/lib64//./././././././\0'
            assert len(old) == len(new) and ('ld-linux' not in lib or data.count(old) > 1)
            data = data.replace(old, new)
        os.makedirs(path + os.path.dirname(to), exist_ok=True)
        with open(path + to, 'wb') as f:
            f.write(data)
        os.chmod(path + to, 0o755)
    # The directories depend on this machine.  The runtime makes mount points in them as the container's root.
    for d, _, _ in os.walk(path):
        os.chown(d, MAXID, MAXID)


class Fresh(Bundle):
    """A bundle with its own image: mount points that a runtime makes in a shared image would be visible to the next container."""
    def __init__(self, host, edit=lambda s: None, image=None, **kw):
        if image is None:
            image = '%s/vol/image%d' % (W, Bundle.count)
            subprocess.check_call(['cp', '-a', W + '/vol/glibc', image])
        super().__init__(host, edit=lambda s: [edit(s), s['root'].update(path=image)], **kw)


def ordinary(spec, caps):
    """An ordinary container of root's with these capabilities, made from Concourse's sample of a privileged one."""
    spec['process']['capabilities'] = {k: caps for k in ('bounding', 'effective', 'permitted')}
    spec['linux']['readonlyPaths'] = ['/proc/bus', '/proc/fs', '/proc/irq', '/proc/sys', '/proc/sysrq-trigger']
    for m in spec['mounts']:
        if m['destination'] in ('/sys', '/sys/fs/cgroup') and 'ro' not in m['options']:
            m['options'].append('ro')


def missing_caps(bounding):
    names = ('CHOWN DAC_OVERRIDE DAC_READ_SEARCH FOWNER FSETID KILL SETGID SETUID SETPCAP LINUX_IMMUTABLE NET_BIND_SERVICE '
             'NET_BROADCAST NET_ADMIN NET_RAW IPC_LOCK IPC_OWNER SYS_MODULE SYS_RAWIO SYS_CHROOT SYS_PTRACE SYS_PACCT '
             'SYS_ADMIN SYS_BOOT SYS_NICE SYS_RESOURCE SYS_TIME SYS_TTY_CONFIG MKNOD LEASE AUDIT_WRITE AUDIT_CONTROL '
             'SETFCAP MAC_OVERRIDE MAC_ADMIN SYSLOG WAKE_ALARM BLOCK_SUSPEND AUDIT_READ PERFMON BPF CHECKPOINT_RESTORE').split()
    return {'CAP_' + n for i, n in enumerate(names) if not bounding >> i & 1}


def urandom_gpu():
    """A closed node in place of one GPU's, with /dev/urandom's numbers, so that an open one can be read."""
    info = '/proc/driver/nvidia/gpus/0000:3b:00.0/information'
    write(info, re.sub(r'(Device Minor:[^0-9]*)0', r'\g<1>9', open(info).read()), 0o444)
    write('/proc/devices', open('/proc/devices').read().replace('195 nvidia\n', '1 nvidia\n'))
    os.mknod('/dev/nvidia9', 0o020600, os.makedev(1, 9))
    os.chmod('/dev/nvidiactl', 0o600)
    return '/dev/nvidia9'


def subordinate(user, first, count):
    """Sets this user's ids in /etc/subuid and /etc/subgid, and no others."""
    for f in '/etc/subuid', '/etc/subgid':
        text = open(f).read() if os.path.exists(f) else ''
        write(f, re.sub(r'(?m)^%s:.*\n' % user, '', text) + '%s:%d:%d\n' % (user, first, count))


def open_door(bit=False):
    """The helper behind its socket, started by systemd-socket-activate as gpuhelper.socket would; without the setuid bit."""
    path, helper = '/run/gpuhelper/gpuhelper.sock', '/usr/libexec/gpuhelper/gpuhelper'
    if not shutil.which('systemd-socket-activate'):
        print('1..0 # SKIP there is no systemd-socket-activate: sh tests/deps.sh check')
        sys.exit(0)
    if not bit:
        os.chmod(helper, 0o755)
    log = open('/run/door.log', 'w')
    door = subprocess.Popen(['systemd-socket-activate', '--accept', '--inetd', '--listen', path, helper, '--socket'],
                            stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    while not os.path.exists(path):
        assert door.poll() is None, open('/run/door.log').read()
        time.sleep(0.02)
    shutil.chown(path, 'root', 'gpuhelper')
    os.chmod(path, 0o660)
    return door


def user_namespace(user, uids, gids):
    """A user and a mount namespace that the user makes, with these ids; returns the PID of a process there."""
    as_him = ['setpriv', '--reuid', user, '--regid', user, '--init-groups', '--']
    p = subprocess.Popen(as_him + ['unshare', '--user', '--mount', '--propagation', 'unchanged', 'sleep', '1000'],
                         stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    own = os.stat('/proc/self/ns/user').st_ino
    while os.stat('/proc/%d/ns/user' % p.pid).st_ino == own:
        time.sleep(0.01)
    for kind, ranges in ('uid', uids), ('gid', gids):
        r = sh(*as_him, 'new%smap' % kind, str(p.pid), *[str(n) for one in ranges for n in one])
        assert r.returncode == 0, r.stdout
    return p.pid


def system_container(size):
    """Like an LXD container: user, mount and PID namespaces of the host's root, with another root directory; the PID of its process 1.

    Its ids are the host's own, as many as that, which LXD's are not.
    """
    os.makedirs('/run/lxd/driver', exist_ok=True)
    write('/run/lxd/devices', '')
    p = subprocess.Popen(['unshare', '--user', '--mount', '--pid', '--fork', '--propagation', 'unchanged', 'sh', '-ec', '''
                          read go
                          for f in driver devices; do mount --rbind /proc/$f /run/lxd/$f; done
                          mount -t proc proc /proc
                          for f in driver devices; do mount --rbind /run/lxd/$f /proc/$f; done
                          echo ready
                          exec sleep 1000'''], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    init = ''
    while not init:
        init = sh('pgrep', '-P', str(p.pid)).stdout.strip()
        time.sleep(0.01)
    for kind in 'uid', 'gid':
        with open('/proc/%s/%s_map' % (init, kind), 'w') as f:
            f.write('0 0 %d\n' % size)
    p.stdin.write('go\n')
    p.stdin.flush()
    assert p.stdout.readline() == 'ready\n'
    return int(init)


def device_cgroup(name):
    """A v1 cgroup without any device permission, as a runtime makes one."""
    place = '/sys/fs/cgroup/devices/' + name
    os.makedirs(place)
    with open(place + '/devices.deny', 'w') as f:
        f.write('a')
    return place


def write_exec_record(root, id, record):
    """Writes an exec record of root's, and root's wrapper's note of it (user/record/grantrecord.c); returns both paths."""
    name = hashlib.sha256(('%s\0%s' % (root, id)).encode()).hexdigest()
    numbers = '%d %d %d %d' % (len(record['env']), 'label' in record, record.get('privileged', False), record['asks'])
    pieces = [' '.join([numbers, *map(str, record['groups'])]), record.get('label', ''), *record['env']]
    os.makedirs('/run/gpuhelper/births', mode=0o700, exist_ok=True)
    return [write('/run/gpuhelper/exec/0/' + name, json.dumps(record)),
            write('/run/gpuhelper/births/exec-' + name, 'vetted 1 %s\n' % hashlib.sha256('\0'.join(pieces).encode()).hexdigest(), 0o600)]


def audit():
    p = '/var/log/gpuhelper/audit.jsonl'
    return [json.loads(l) for l in open(p)] if os.path.exists(p) else []


def leases():
    d = '/run/gpuhelper/leases'
    return sorted(os.listdir(d)) if os.path.isdir(d) else []


def held_leases():
    """The leases (lease.py)."""
    return [lease.read(open('/run/gpuhelper/leases/' + name).read()) for name in leases()]


def snapshot(top):
    """Everything about a tree that a refusal must not change."""
    out = {}
    for d, dirs, files in os.walk(top):
        for n in dirs + files:
            p = os.path.join(d, n)
            st = os.lstat(p)
            h = ''
            if stat.S_ISREG(st.st_mode):
                h = hashlib.sha256(open(p, 'rb').read()).hexdigest()
            elif stat.S_ISLNK(st.st_mode):
                h = os.readlink(p)
            out[p] = (st.st_mode, st.st_uid, st.st_gid, st.st_ino, h)
    return out


def exact(text):
    """Parses JSON but keeps the spelling of numbers and the order of members, so that a comparison misses nothing."""
    keep = lambda s: ('number', s)
    return json.loads(text, parse_int=keep, parse_float=keep, object_pairs_hook=lambda p: ('object', p))


def members(obj):
    return dict(obj[1])


def differences(a, b, place=''):
    """The places where two exact() values differ, including added, missing and moved members."""
    if type(a) is tuple and type(b) is tuple and a[0] == b[0] == 'object':
        ka, kb = [k for k, _ in a[1]], [k for k, _ in b[1]]
        out = [place + '.' + k for k in kb if k not in ka] + ['-' + place + '.' + k for k in ka if k not in kb]
        if [k for k in ka if k in kb] != [k for k in kb if k in ka]:
            out.append(place + ' (order)')
        da, db = members(a), members(b)
        for k in ka:
            if k in db:
                out += differences(da[k], db[k], place + '.' + k)
        return out
    return [] if a == b else [place]
