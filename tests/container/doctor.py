#!/usr/bin/env python3
"""gpuhelperctl doctor on a healthy host, and on a host with one fault at a time.

usage: doctor.py    (in tests/lib/sandbox.sh --gpu nvidia-2gpu)
"""
import contextlib, json, os, pwd, re, shutil, socket, subprocess, sys, time
from lib import *

CTL, SOCK, HELPER = '/usr/sbin/gpuhelperctl', '/run/gpuhelper/gpuhelper.sock', '/usr/libexec/gpuhelper/gpuhelper'
host = Host('runc', 'v1')
for user in 'worker', 'outsider':
    sh('useradd', '--create-home', user)
sh('usermod', '--append', '--groups', 'gpuhelper', 'worker')
CONF = 'runtime = "%s";\n' % host.runtime
PARAMS = '/proc/driver/nvidia/params'
VOLUMES = '/srv/worker/volumes'
os.makedirs(VOLUMES)
CONF += 'volumes = [ "%s" ];\n' % VOLUMES
version = re.search(r'Kernel Module\D*(\d+\.\d+(\.\d+)?)', open('/proc/driver/nvidia/version').read()).group(1)
LIBRARY, LIBRARY_ML = '/usr/lib/x86_64-linux-gnu/libcuda.so.', '/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.'
SOCKET = '/run/nvidia-persistenced/socket'


def spec(version, libraries=(LIBRARY, LIBRARY_ML), more=()):
    """A CDI spec of the fixture's two GPUs, with these libraries of that driver and more files."""
    files = [l + version for l in libraries] + list(more)
    return json.dumps({'cdiVersion': '0.6.0', 'kind': 'nvidia.com/gpu', 'devices': [
        {'name': str(i), 'containerEdits': {'deviceNodes': [{'path': '/dev/nvidia%d' % i}]}} for i in (0, 1)],
        'containerEdits': {'mounts': [{'hostPath': f, 'containerPath': f, 'options': ['ro', 'nosuid', 'nodev', 'bind']} for f in files]}})


write(LIBRARY + version, '')
write(LIBRARY_ML + version, '')
well = {'/etc/gpuhelper/gpuhelper.conf': CONF + 'unenforced = "allow";\n', '/etc/gpuhelper/policy.d/10-all.conf':
        'identity = "caller";\ngpus = ( { vendor = "nvidia"; } );\n', '/etc/cdi/gpu.json': spec(version),
        '/etc/cron.d/gpuhelper': '* * * * * root /usr/sbin/gpuhelperctl reapply; /usr/sbin/gpuhelperctl reap\n'}
os.makedirs('/etc/cron.d', exist_ok=True)
for p, t in well.items():
    write(p, t)
os.makedirs('/opt/containerd/bin')
os.symlink(WRAPPER, '/opt/containerd/bin/runc')
TIMERS = '/etc/systemd/system/timers.target.wants/'
os.makedirs(TIMERS, exist_ok=True)
os.symlink('/usr/lib/systemd/system/gpuhelper-reap.timer', TIMERS + 'gpuhelper-reap.timer')
params = open(PARAMS).read()
closed = ''.join({'DeviceFileMode': 'DeviceFileMode: 432\n', 'ModifyDeviceFiles': 'ModifyDeviceFiles: 0\n'}.get(l.split(':')[0], l)
                 for l in params.splitlines(True))
write(PARAMS, closed, 0o444)
for node in '/dev/nvidia0', '/dev/nvidia1':
    os.chmod(node, 0o660)


def doctor(user='worker', words=(), json_=True):
    before = ['setpriv', '--reuid', user, '--regid', user, '--init-groups', '--'] if user != 'root' else []
    r = sh(*before, CTL, 'doctor', *(['--json'] if json_ else []), *words)
    return r.returncode, json.loads(r.stdout) if json_ and r.stdout.startswith('{') else r.stdout


def found(j, state):
    return [c for c in j['checks'] if c['state'] == state]


def is_well(text, *args, **kw):
    status, j = doctor(*args, **kw)
    ok(status == 0 and j['ok'] and found(j, 'fail') == found(j, 'warn') == [], text, [c for c in j['checks'] if c['state'] != 'ok'])
    return j


def says(text, state, check, words, mend=None, user='worker', options=()):
    """doctor reports this for this check, and no other check has that state."""
    status, j = doctor(user, options)
    bad = found(j, state)
    ok(len(bad) >= 1 and all(c['check'] == check for c in bad) and any(all(w in c['text'] for w in words) for c in bad) and
       (mend is None or any(mend in c.get('mend', c['text']) for c in bad)) and status == (78 if state == 'fail' else 0) and
       (state == 'fail' or found(j, 'fail') == []), '%s: %s %s' % (text, state, [c['text'] for c in bad][:1]), (status, j))


@contextlib.contextmanager
def changed(path, text=None, mode=None, owner=None):
    """Changes a file or directory, and restores it afterwards.  Text None, without mode and owner, removes it."""
    there = os.path.lexists(path)
    if text is None and (mode is not None or owner is not None):
        st = os.stat(path)
        if owner is not None:
            os.chown(path, owner, -1)
        if mode is not None:
            os.chmod(path, mode)
        yield
        os.chown(path, st.st_uid, st.st_gid)
        os.chmod(path, st.st_mode & 0o7777)
        return
    if there:
        os.rename(path, path + '.away')
    if text is not None:
        write(path, text)
    yield
    if text is not None:
        os.unlink(path)
    if there:
        os.rename(path + '.away', path)


@contextlib.contextmanager
def systemd():
    """A host that systemd has booted, by sd_booted(3)."""
    os.makedirs('/run/systemd/system')
    yield
    os.rmdir('/run/systemd/system')
    os.rmdir('/run/systemd')


checks = {c['check'] for c in is_well('a healthy host, as the worker: each check says ok, exit status 0')['checks']}
ok(checks == {'wrapper', 'engine', 'runtime', 'volumes', 'group', 'door', 'helper', 'settings', 'policies', 'keys', 'gpus', 'nodes', 'links', 'cdi',
              'driver', 'udev', 'units', 'privileged', 'selinux', 'audit', 'state', 'cgroups', 'worker-cgroup', 'tasks'}, 'each check has a line', checks)
is_well('a healthy host, as root', 'root')
is_well('a healthy host, as root with --user worker', 'root', ['--user', 'worker'])
status, text = doctor(json_=False)
ok(status == 0 and all(l.startswith('ok   ') for l in text.splitlines()) and len(text.splitlines()) >= 16, 'each check has one line', text)
before = snapshot('/etc/gpuhelper')
doctor()
ok(snapshot('/etc/gpuhelper') == before, 'doctor changes nothing')
status, text = doctor('root', ['--user', 'nobody-at-all'], json_=False)
ok(status == 64, 'an unknown user: exit status 64', (status, text))

with changed(WRAPPER):
    says('the wrapper is missing', 'fail', 'wrapper', ['No such file'], 'make install')
with changed(WRAPPER, mode=0o775):
    says('a wrapper that a group may write', 'fail', 'wrapper', ['0775'], 'chmod 0755')
with changed('/opt/containerd/bin/runc'):
    here = [e for e, p in (('podman', 'podman'), ('docker', 'dockerd'), ('containerd', 'containerd')) if shutil.which(p, path='/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin')]
    here = [e for e in here if e != 'containerd' or 'docker' not in here]
    says('no engine is set up', 'warn', 'engine', ['no engine is set up' if here else 'no container engine is found'],
         ', or '.join('gpuhelperctl setup ' + e for e in here) or 'gpuhelperctl setup ENGINE')
    status, j = doctor()
    ok(not any(e in c.get('mend', '') + c['text'] for c in j['checks'] if c['check'] == 'engine' for e in ('podman', 'docker', 'containerd', 'concourse') if e not in here),
       'and nothing is said of engines that are not here', j)
with changed('/opt/containerd/bin/runc', 'x'):
    says('another runc in place of the link for containerd', 'warn', 'engine', ['is not gpuhelper-runc'], 'ln -sf')
with changed('/etc/gpuhelper/gpuhelper.conf', 'runtime = "/nowhere/runc";\nunenforced = "allow";\n'):
    says('a configured runtime that does not exist', 'fail', 'runtime', ['/nowhere/runc'])
says('a user outside the group, checked by root', 'fail', 'group', ['outsider'], 'usermod -aG gpuhelper outsider', 'root', ['--user', 'outsider'])
status, j = doctor('outsider')
ok(status == 78 and {c['check'] for c in found(j, 'fail')} == {'group', 'door'}, 'a user outside the group: neither door works', found(j, 'fail'))
with changed(HELPER, mode=0o755):
    for user, options, words in ('worker', (), ['has no setuid bit']), ('root', ['--user', 'worker'], ['neither a socket nor a setuid bit']):
        says('neither setuid bit nor socket, as %s, without systemd' % user, 'fail', 'door', words, 'chmod 4750 ' + HELPER, user, options)
        status, j = doctor(user, options)
        ok('systemctl' not in json.dumps(j), '  no line advises systemctl', [c for c in j['checks'] if 'systemctl' in json.dumps(c)])
        with systemd():
            says('neither setuid bit nor socket, as %s, with systemd' % user, 'fail', 'door', words, 'systemctl enable --now gpuhelper.socket', user, options)
with changed('/etc/gpuhelper/policy.d/10-all.conf'):
    says('no policy', 'warn', 'policies', ['nothing is granted'], user='root')
with changed('/etc/gpuhelper/policy.d/10-all.conf', 'identity = "caler";\n'):
    status, j = doctor('root')
    ok(status == 78 and {c['check'] for c in found(j, 'fail')} <= {'policies', 'helper'} and 'policies' in
       {c['check'] for c in found(j, 'fail')}, 'a policy that does not parse', found(j, 'fail'))
with changed('/etc/gpuhelper/policy.d/10-all.conf', mode=0o600):
    j = is_well('policies that only root may read')
    ok(any(c['check'] == 'policies' and 'only root can read them' in c['text'] for c in j['checks']), 'doctor says that only root can read the policies', j)
    is_well('policies that only root may read, as root', 'root')
with changed('/etc/gpuhelper/policy.d', mode=0o700):
    is_well('a policy.d that only root may look into')
# privileged containers
with changed('/etc/gpuhelper/gpuhelper.conf', well['/etc/gpuhelper/gpuhelper.conf'] + 'privileged = "hide-gpus";\n'):
    says('every container may be privileged', 'warn', 'privileged', ['can open every GPU'], 'privileged = "deny"')
BUILDS = '/etc/gpuhelper/policy.d/20-builds.conf'
with changed('/etc/gpuhelper/gpuhelper.conf', well['/etc/gpuhelper/gpuhelper.conf'] + 'issuers = ( { url = "https://ci"; audience = "g"; keys = "/etc/gpuhelper/keys/ci.json"; } );\n'):
    write(BUILDS, 'pipeline = "ml/images";\nprivileged = true;\n')
    status, j = doctor('root')
    ok(any(c['check'] == 'privileged' and c['state'] == 'ok' and 'except by 20-builds.conf: those containers are the host\'s root' in c['text'] for c in j['checks']),
       'doctor names the policy that lets containers be privileged', j)
    os.unlink(BUILDS)


def bare_create(b):
    """Creates it without gpuhelper."""
    subprocess.run([host.runtime, '--root', W + '/root', 'create', '--bundle', b.dir, b.id], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, timeout=60)


b = Bundle(host, 'task-privileged', args=['/bin/sleep', '1000'])
bare_create(b)
says('a privileged container runs, which was made without gpuhelper', 'warn', 'privileged', [b.id, 'PID', 'CAP_', 'which can open every GPU'], user='root')
sh(host.runtime, '--root', W + '/root', 'delete', '--force', b.id)
quiet = Bundle(host, args=['/bin/sleep', '1000'])
bare_create(quiet)
is_well('a container with a user namespace of its own is none', 'root')
sh(host.runtime, '--root', W + '/root', 'delete', '--force', quiet.id)

for mode, path in (0o600, '/etc/gpuhelper/gpuhelper.conf'), (0o700, '/etc/gpuhelper'):
    with changed(path, mode=mode):
        for user, options in ('worker', ()), ('root', ('--user', 'worker')):
            status, j = doctor(user, options)
            ok(status == 78 and any(c['check'] == 'settings' and "can't be read by worker" in c['text'] and 'no container can be created' in c['text'] and
               'chmod 0644 /etc/gpuhelper/gpuhelper.conf' in c['mend'] for c in found(j, 'fail')), '%s that is %04o, as %s' % (path, mode, user), j)
        is_well('%s that is %04o, as root for root\'s worker' % (path, mode), 'root')
with changed('/etc/gpuhelper/gpuhelper.conf', mode=0o640):
    os.chown('/etc/gpuhelper/gpuhelper.conf', 0, pwd.getpwnam('worker').pw_gid)
    is_well('settings that the worker\'s group may read')
    is_well('settings that the worker\'s group may read, as root', 'root', ['--user', 'worker'])
    os.chown('/etc/gpuhelper/gpuhelper.conf', 0, 0)
with changed('/etc/gpuhelper/policy.d/10-all.conf', mode=0o666):
    says('a policy that anyone may write', 'fail', 'policies', ['10-all.conf', '0666'], 'gpuhelperctl check', user='root')
with changed('/etc/gpuhelper/policy.d/10-all.conf', 'pipeline = "a/b";\ngpus = ( { vendor = "nvidia"; } );\n'):
    says('a policy that requires a token, without any issuer', 'fail', 'policies', ['no issuers'], 'set issuers = ( ... ) in gpuhelper.conf, see gpuhelper.conf(5), then gpuhelperctl keys fetch', user='root')
with changed('/etc/gpuhelper/gpuhelper.conf', 'privilegd = "deny";\n'):
    says('settings that do not parse', 'fail', 'settings', ['privilegd'], 'gpuhelperctl check')

# check keeps a copy of the last valid settings, and names it
GOOD = '/var/lib/gpuhelper/gpuhelper.conf.good'
sh('gpuhelperctl', 'check')
kept = open(GOOD).read()
ok(kept == well['/etc/gpuhelper/gpuhelper.conf'], 'check keeps a copy of valid settings', kept)
with changed('/etc/gpuhelper/gpuhelper.conf', 'privilegd = "deny";\n'):
    r = sh('gpuhelperctl', 'check')
    ok(r.returncode == 78 and re.search('gpuhelper.conf: .*the last version without errors, from 20\\S+ or earlier, is in ' + GOOD, r.stdout) and
       open(GOOD).read() == kept, 'with broken settings check names the copy, and does not change it', r.stdout)
    r = sh('setpriv', '--reuid', 'worker', '--regid', 'worker', '--init-groups', 'gpuhelperctl', 'check')
    ok(r.returncode == 78 and GOOD not in r.stdout, 'check does not tell another user of the copy', r.stdout)

KEYS, KEYS_SOCK = '/etc/gpuhelper/keys/ci.json', '/run/gpuhelper/keys.sock'
with changed('/etc/gpuhelper/gpuhelper.conf', well['/etc/gpuhelper/gpuhelper.conf'] +
             'issuers = ( { url = "https://ci.example.com"; audience = "gpuhelper"; keys = "%s"; } );\n' % KEYS):
    write('/etc/cron.d/gpuhelper-keys', '*/5 * * * * root /usr/sbin/gpuhelperctl keys fetch\n')
    says('an issuer without keys', 'fail', 'keys', ['ci.example.com', 'No such file'], 'gpuhelperctl keys fetch', user='root')
    shutil.copy(TESTS + '/fixtures/jwt/jwks.json', KEYS)
    os.chmod(KEYS, 0o644)
    is_well('an issuer with keys')
    os.chmod(KEYS, 0o600)
    is_well('an issuer with keys that only root may read')
    os.chmod(KEYS, 0o644)
    for age, state, words, mend in ((7200, 'warn', ['120 min old'], 'gpuhelperctl keys fetch'), (49 * 3600, 'fail', ['49 h old'], 'keys fetch')):
        os.utime(KEYS, (time.time() - age, time.time() - age))
        says('keys that are %d h old' % (age // 3600), state, 'keys', words, mend, user='root')
    write(KEYS, '{}')
    says('a key file without keys', 'fail', 'keys', [KEYS], 'gpuhelperctl keys fetch', user='root')
    shutil.copy(TESTS + '/fixtures/jwt/jwks.json', KEYS)
    for text in '', '#*/5 * * * * root /usr/sbin/gpuhelperctl keys fetch\n':
        write('/etc/cron.d/gpuhelper-keys', text)
        says('without systemd, %s fetches keys' % ('a comment' if text else 'nothing'), 'warn', 'units', ["no file of cron's has «gpuhelperctl keys fetch»"],
             "echo '*/5 * * * * root /usr/sbin/gpuhelperctl keys fetch' >>/etc/cron.d/gpuhelper")
    os.unlink('/etc/cron.d/gpuhelper-keys')
    KEYS_TIMER = TIMERS + 'gpuhelper-keys.timer'
    os.symlink('/usr/lib/systemd/system/gpuhelper-keys.timer', KEYS_TIMER)
    with systemd():
        says('the socket to have keys fetched is off', 'warn', 'units', ['there is no socket ' + KEYS_SOCK], 'systemctl enable --now gpuhelper-keys.socket')
        socket.socket(socket.AF_UNIX).bind(KEYS_SOCK)
        is_well('with the keys\' timer and its socket')
        os.utime(KEYS, (time.time() - 7200, time.time() - 7200))
        bad = [c for c in found(doctor('root')[1], 'warn') if c['check'] == 'keys']
        ok(len(bad) == 1 and '120 min old' in bad[0]['text'] and bad[0]['mend'] == 'systemctl enable --now gpuhelper-keys.timer', 'keys that are 2 h old, with systemd', bad)
        os.utime(KEYS)
        os.unlink(KEYS_TIMER)
        says('the keys\' timer is off', 'warn', 'units', ['gpuhelper-keys.timer is not enabled'], 'systemctl enable --now gpuhelper-keys.timer')
    os.unlink(KEYS)
    os.unlink(KEYS_SOCK)

write(PARAMS, params, 0o444)
says('a driver that opens the nodes to everyone, for a rootless worker', 'warn', 'nodes', ['nvidia-modprobe', 'open to everyone', 'no device cgroup'],
     'NVreg_DeviceFileMode=0660')
is_well('a driver that opens the nodes to everyone, for root', 'root')
with changed('/dev/nvidia0', mode=0o666):
    says('a node that this driver has opened, for a rootless worker', 'warn', 'nodes', ['/dev/nvidia0 is open to everyone (mode 0666)'], 'NVreg_DeviceFileMode=0660')
write(PARAMS, params.replace('ModifyDeviceFiles: 1', 'ModifyDeviceFiles: 0'), 0o444)
is_well('nodes that an administrator has closed, and that the driver does not open again')
write(PARAMS, closed, 0o444)
with changed('/dev/nvidia0', mode=0o666):
    says('a node that somebody else has opened, for a rootless worker', 'warn', 'nodes', ['/dev/nvidia0 is open to everyone'], 'chmod o= /dev/nvidia*')
    is_well('a node that somebody else has opened, for root', 'root')
write(PARAMS, closed.replace('ModifyDeviceFiles: 0', 'ModifyDeviceFiles: 1').replace('DeviceFileMode: 432', 'DeviceFileMode: 384'), 0o444)
says('a driver that resets the nodes\' mode', 'warn', 'nodes', ['0600'], 'NVreg_ModifyDeviceFiles=0')
write(PARAMS, closed, 0o444)
# systemd finds a device by its number through /dev/char; systemd does not run here, so the test makes the directory that shows it runs
os.makedirs('/run/systemd/system')
for missing in 'all', 'one', 'one (a link to another device)':
    with contextlib.ExitStack() as stack:
        if missing != 'all':
            os.mkdir('/dev/char')
            stack.callback(shutil.rmtree, '/dev/char')
            for node in ['nvidia0', 'nvidia1', 'nvidiactl', 'nvidia-uvm', 'nvidia-uvm-tools', 'nvidia-modeset']:
                if os.path.exists('/dev/' + node) and (missing == 'one (a link to another device)' or node != 'nvidia1'):
                    rdev = os.stat('/dev/' + node).st_rdev
                    os.symlink('../' + node, '/dev/char/%d:%d' % (os.major(rdev), os.minor(rdev)))
        if missing == 'one (a link to another device)':
            is_well('links of /dev/char to all nodes', 'root')
            os.unlink('/dev/char/195:1')
            os.symlink('../null', '/dev/char/195:1')
        says('links of /dev/char: %s missing' % missing, 'warn', 'links', ['/dev/char/195:1', 'systemctl daemon-reload'],
             'ln -sfn ../nvidia1 /dev/char/195:1', 'root')
        status, j = doctor('root')
        text = found(j, 'warn')[0]
        ok(('195:0' in text['text']) == (missing == 'all') and ('nvidia0' in text['mend']) == (missing == 'all'), 'only the missing link is named', text)
        is_well('no links are needed for a user without a device cgroup')
        if missing == 'one':
            status, j = doctor('root')
            sh('sh', '-c', found(j, 'warn')[0]['mend'])
            is_well('the command that doctor names mends it', 'root')
os.rmdir('/run/systemd/system')
os.rmdir('/run/systemd')
with changed('/etc/cdi/gpu.json', spec('111.22.33')):
    status, j = doctor()
    ok(status == 78 and [c['check'] for c in found(j, 'fail')] == ['cdi', 'driver', 'driver'] and all(
        '111.22.33' in c['text'] and version in c['text'] and 'is loaded' in c['text'] for c in found(j, 'fail')), 'a CDI spec of another driver', j)
    ok(found(j, 'fail')[0]['mend'].endswith('write a spec anew: gpuhelperctl cdi generate --vendor nvidia --output /etc/cdi/gpuhelper-nvidia.json'),
       'no command overwrites it', j)
with changed('/etc/cdi/gpu.json'):
    says('no driver files', 'warn', 'driver', ['no driver files come with nvidia GPU'], 'cdi generate --vendor nvidia --output')
with changed('/etc/cdi/gpu.json'), changed('/etc/gpuhelper/gpuhelper.conf', well['/etc/gpuhelper/gpuhelper.conf'] + 'driver_files = "cdi";\n'):
    says('no driver files, and driver_files = "cdi"', 'fail', 'driver', ['driver_files = "cdi"'], 'cdi generate')
with changed('/etc/cdi/gpu.json'), changed('/etc/gpuhelper/gpuhelper.conf', well['/etc/gpuhelper/gpuhelper.conf'] + 'driver_files = "none";\n'):
    is_well('no driver files, and driver_files = "none"')
for lacks, libraries in ('libcuda.so.1', [LIBRARY_ML]), ('libnvidia-ml.so.1', [LIBRARY]):
    with changed('/etc/cdi/gpu.json', spec(version, libraries)):
        says('a CDI spec without ' + lacks, 'warn', 'driver', ['CDI spec /etc/cdi/gpu.json gives the container no %s,' % lacks], 'cdi generate --vendor nvidia')
        warned = found(doctor()[1], 'warn')
        ok(len(warned) == 1, '  one warning for both GPUs', warned)
with changed('/etc/cdi/gpu.json', spec(version, more=[SOCKET])):
    says('nvidia-persistenced does not run', 'warn', 'driver', [SOCKET + ' is not there'], 'systemctl status nvidia-persistenced')
with changed(LIBRARY + version):
    says('a CDI spec that names a missing file', 'fail', 'driver', [LIBRARY + version, 'is not there'])
with changed('/etc/cdi/other.json', '{'):
    says('a CDI spec that does not parse', 'warn', 'cdi', ['/etc/cdi/other.json is not used'], 'cdi validate')
unused = spec(version).replace('"devices"', '"devicez"')
with changed('/etc/cdi/other.json', unused):
    says('a CDI spec of the GPUs\' vendor that is invalid', 'warn', 'cdi', ['/etc/cdi/other.json is not used: ', 'did you mean "devices"?'], 'cdi validate')
for kind in 'nvidia.com/gds', 'huawei.com/Ascend910':
    with changed('/etc/cdi/other.json', unused.replace('nvidia.com/gpu', kind)):
        status, j = doctor()
        skipped = [c for c in j['checks'] if '/etc/cdi/other.json' in c['text']]
        ok(status == 0 and not found(j, 'warn') and len(skipped) == 1 and skipped[0]['state'] == 'ok' and
           'is not used, and no GPU of this host needs a spec of the kind %s: ' % kind in skipped[0]['text'],
           'a CDI spec of the kind %s that is invalid is only mentioned' % kind, j)
        with changed('/etc/gpuhelper/policy.d/20-other.conf', 'pipeline = "x/y";\nidentity = "claim";\ngpus = ( { vendor = "%s"; } );\n' % kind):
            says('the same, and a policy names the kind', 'warn', 'cdi', ['/etc/cdi/other.json is not used: '], 'cdi validate', user='root')
with changed('/etc/cdi/other.json', '{"cdiVersion":"0.5.0","kind":"nvidia.com/gpu","devices":[]}'):
    status, j = doctor()
    ok(status == 0 and not found(j, 'warn') and '/etc/cdi/other.json has no devices' in [c['text'] for c in j['checks']],
       'a CDI spec without devices is only mentioned', j)
os.makedirs('/etc/containers/containers.conf.d', exist_ok=True)
with changed('/etc/containers/containers.conf.d/99-mine.conf', '[engine]\nruntime = crun\n'):
    says('settings of podman that are no TOML', 'warn', 'engine', ['/etc/containers/containers.conf.d/99-mine.conf:2: a string needs quotation marks'])
with changed('/usr/lib/udev/rules.d/60-gpuhelper.rules'):
    says('no udev rule', 'warn', 'udev', ['60-gpuhelper.rules'], 'make install')
with changed(TIMERS + 'gpuhelper-reap.timer'), systemd():
    says('gpuhelper-reap.timer is off', 'warn', 'units', ['gpuhelper-reap.timer is not enabled'], 'systemctl enable --now gpuhelper-reap.timer')
with changed('/etc/cron.d/gpuhelper'):
    says('without systemd, nothing ends leases', 'warn', 'units', ["no file of cron's has «gpuhelperctl reap»"],
         "echo '* * * * * root /usr/sbin/gpuhelperctl reapply; /usr/sbin/gpuhelperctl reap' >>/etc/cron.d/gpuhelper")
    status, j = doctor()
    ok('systemctl' not in json.dumps(j), '  no line advises systemctl', [c for c in j['checks'] if 'systemctl' in json.dumps(c)])
    sh('sh', '-c', found(j, 'warn')[0]['mend'])
    is_well('the command that doctor names mends it')
    os.unlink('/etc/cron.d/gpuhelper')
with changed('/var/log/gpuhelper'):
    status, j = doctor()
    ok(status == 78 and 'audit' in {c['check'] for c in found(j, 'fail')}, 'no directory for the audit log', found(j, 'fail'))
with changed('/var/log/gpuhelper', mode=0o770):
    status, j = doctor()
    ok(status == 78 and 'audit' in {c['check'] for c in found(j, 'fail')}, 'a log directory that a group may write', found(j, 'fail'))
LOG = '/var/log/gpuhelper/audit.jsonl'
worker = pwd.getpwnam('worker').pw_uid
with changed(LOG, ''):
    os.chmod(LOG, 0o640)
    is_well('an audit log that root owns', 'root')
    os.chown(LOG, worker, -1)
    says('an audit log that another user owns', 'fail', 'audit', [LOG, 'uid %d' % worker], 'chown root:gpuhelper ' + LOG, 'root')
    os.chown(LOG, 0, -1)
    os.chmod(LOG, 0o660)
    says('an audit log that a group may write', 'fail', 'audit', [LOG, '0660'], 'chmod 0640 ' + LOG, 'root')
os.makedirs('/run/cdi', exist_ok=True)
os.chmod('/run/cdi', 0o711)
for d in '/etc/gpuhelper/policy.d', '/etc/gpuhelper/keys', '/run/cdi':
    with changed(d, mode=0o755):
        says('every user may list ' + d, 'warn', 'state', [d, '0755', 'wait for ever'], 'chmod o-r ' + d, 'root')
j = is_well('specs that only root may list')
ok([c['check'] for c in j['checks'] if 'doctor as root' in c['text']] == ['cdi', 'driver'], 'doctor says what only root can see', j)
is_well('the same, as root', 'root')
with changed('/etc/cdi', mode=0o711):
    j = is_well('two directories of specs that only root may list')
    ok([c['text'].split(':')[0] for c in j['checks'] if c['check'] == 'cdi'] == ['/etc/cdi', '/run/cdi'], 'doctor names both', j)
os.rmdir('/run/cdi')
for d in '/run/gpuhelper', '/var/lib/gpuhelper':
    for how in {'owner': worker}, {'mode': 0o777}:
        with changed(d, **how):
            status, j = doctor('root')
            bad = [c for c in found(j, 'fail') if c['check'] == 'state']
            ok(status == 78 and len(bad) == 1 and d in bad[0]['text'] and bad[0]['mend'].startswith('chown root:root %s && ' % d),
               '%s: %s' % (d, how), j)
for d, check in ('/var/log/gpuhelper', 'audit'), ('/run/gpuhelper', 'state'), ('/var/lib/gpuhelper', 'state'):
    for how, option in ('space', 'size=64k'), ('files', 'nr_inodes=1'):
        sh('mount', '-t', 'tmpfs', '-o', 'mode=755,' + option, 'small', d)
        if how == 'space':
            write(d + '/much', 'x' * 65536)
        status, j = doctor('root')
        bad = [c for c in found(j, 'fail') if c['check'] == check]
        ok(status == 78 and len(bad) == 1 and d in bad[0]['text'] and 'full' in bad[0]['text'], 'no %s left in %s' % (how, d), j)
        sh('umount', d)
with changed('/etc/gpuhelper/gpuhelper.conf', CONF):
    says('no device cgroup for the worker', 'warn', 'cgroups', ['get no exclusive GPUs'], 'unenforced = "allow"')
    is_well('a device cgroup for root', 'root')


def tasks(text, words, user='root'):
    """What doctor says of tasks, if nothing is wrong."""
    said = [c['text'] for c in is_well(text, user)['checks'] if c['check'] == 'tasks']
    ok(len(said) == 1 and words in said[0], '%s: %s' % (text, words), said)


tasks('a worker of root', 'a Concourse task takes its GPU itself, and waits for it in the build\'s log')
tasks('a worker of a user', 'every container takes its GPU when it is created, and waits then, unseen in a Concourse build\'s log: no device cgroup', 'worker')
for setting, words in (('idle = "keep";', 'sets idle = "keep"'), ('placeholder_init = [ ];', 'sets placeholder_init = [ ]'),
                       ('driver_files = "vendor-runtime";', 'sets driver_files = "vendor-runtime"')):
    with changed('/etc/gpuhelper/gpuhelper.conf', CONF + 'unenforced = "allow";\n' + setting + '\n'):
        tasks(setting, words)
WAITER = '/usr/libexec/gpuhelper/gpuhelper-wait'
with changed(WAITER):
    says('without the waiter', 'warn', 'tasks', ['every container takes its GPU when it is created', WAITER + ' is missing'], 'make install', 'root')
write(W + '/noexec', '2\n')
r = sh('mount', '--bind', W + '/noexec', '/proc/sys/vm/memfd_noexec')
if r.returncode:
    print('# this kernel has no vm.memfd_noexec: ' + r.stdout.strip())
else:
    says('no memory file may be executed', 'warn', 'tasks', ['vm.memfd_noexec = 2'], 'sysctl vm.memfd_noexec=1', 'root')
    sh('umount', '/proc/sys/vm/memfd_noexec')
write('/proc/driver/nvidia/gpus/0000:3b:00.0/information', '', 0o444)
status, j = doctor()
ok(found(j, 'fail') == [] and [c['check'] for c in found(j, 'warn')][:1] == ['gpus'], 'a GPU that can\'t be granted: only a warning', j)

# running engines: a real containerd, and a Python with the name and command line of Concourse's worker
NO_RUNTIME = well['/etc/gpuhelper/gpuhelper.conf'].replace('runtime = "%s";\n' % host.runtime, '')


def of(j, check):
    return [(c['state'], c['text'], c.get('mend')) for c in j['checks'] if c['check'] == check][0]


@contextlib.contextmanager
def running(name, *args, env):
    d = subprocess.Popen(args, executable=name, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, cwd='/')
    # the kernel changes a process's name before its environment is readable
    for _ in range(200):
        if open('/proc/%d/comm' % d.pid).read().strip() == os.path.basename(name) and open('/proc/%d/environ' % d.pid, 'rb').read():
            break
        time.sleep(0.05)
    else:
        raise Exception('%s does not run after 10 seconds: exit status %s' % (name, d.poll()))
    try:
        yield d.pid
    finally:
        d.terminate()
        d.wait()


os.makedirs('/srv/bin')
os.makedirs('/srv/opt/bin')
shutil.copy(host.runtime, '/srv/bin/runc')
os.symlink(WRAPPER, '/srv/opt/bin/runc')
shutil.copy(os.path.realpath(sys.executable), '/srv/concourse')
CONTAINERD = shutil.which('containerd')
TOML = 'version = 2\nroot = "/srv/c/root"\nstate = "/srv/c/state"\ndisabled_plugins = ["io.containerd.grpc.v1.cri"%s]\n[grpc]\n address = "/srv/c/sock"\n'
OPT = '[plugins."io.containerd.internal.v1.opt"]\n path = "/srv/opt"\n'
os.makedirs('/srv/c')
ENV = {'PATH': '/srv/bin:' + os.environ['PATH']}
with changed('/etc/gpuhelper/gpuhelper.conf', NO_RUNTIME):
    state, text, _ = of(doctor('root')[1], 'runtime')
    ok(state == 'warn' and 'which is a guess: no running worker or containerd of user root can be seen' in text, 'no engine runs: the runtime is a guess', text)
    if CONTAINERD is None:
        skip('the runtime that a running containerd uses', 'containerd is not there')
    else:
        write('/srv/c/config.toml', TOML % '')
        with running(CONTAINERD, 'containerd', '--config', '/srv/c/config.toml', env=ENV) as pid:
            j = doctor('root')[1]
            ok(of(j, 'runtime')[:2] == ('ok', '/srv/bin/runc, by the PATH of containerd (PID %d)' % pid), 'the runtime is that of a running containerd', of(j, 'runtime'))
            ok(of(j, 'engine')[:2] == ('ok', 'containerd (PID %d) finds it first, as /opt/containerd/bin/runc' % pid), 'a containerd that calls the wrapper', of(j, 'engine'))
            ok('guess' in of(doctor()[1], 'runtime')[1], 'another user\'s containerd does not count', of(doctor()[1], 'runtime'))
            with changed('/opt/containerd/bin/runc'):
                state, text, mend = of(doctor('root')[1], 'engine')
                ok(state == 'warn' and 'finds /srv/bin/runc first, which is not gpuhelper-runc' in text and mend == 'gpuhelperctl setup containerd',
                   'a containerd that does not call the wrapper', (state, text, mend))
        for name, conf, engine in (('by the directory that its settings name', TOML % '' + OPT, ('ok', 'as /srv/opt/bin/runc')),
                                   ('only in a directory that its settings disable', TOML % ', "io.containerd.internal.v1.opt"', ('warn', '/srv/bin/runc first'))):
            write('/srv/c/config.toml', conf)
            with running(CONTAINERD, 'containerd', '--config', '/srv/c/config.toml', env=ENV):
                state, text, _ = of(doctor('root')[1], 'engine')
                ok(state == engine[0] and engine[1] in text, 'a containerd that calls the wrapper %s' % name, (state, text))
    SLEEP = 'concourse', '-c', 'import time; time.sleep(600)', 'worker'
    with running('/srv/concourse', *SLEEP, '--work-dir', '/srv/worker', env=ENV) as pid:
        j = doctor('root')[1]
        ok(of(j, 'runtime')[:2] == ('ok', '/srv/bin/runc, by the PATH of concourse (PID %d)' % pid), "the runtime of Concourse's worker", of(j, 'runtime'))
        ok(of(j, 'volumes')[:2] == ('ok', "Concourse's worker (PID %d) has them in /srv/worker/volumes" % pid), 'the volumes of Concourse\'s worker', of(j, 'volumes'))
    os.makedirs('/srv/other/volumes')
    for name, args, env in (('--work-dir=', ['--work-dir=/srv/other'], {}), ('its environment', [], {'CONCOURSE_WORK_DIR': '/srv/other'}),
                            ('--baggageclaim-volumes', ['--work-dir', '/srv/worker', '--baggageclaim-volumes', '/srv/other/volumes'], {})):
        with running('/srv/concourse', *SLEEP, *args, env={**ENV, **env}):
            status, j = doctor('root')
            state, text, mend = of(j, 'volumes')
            ok(status == 78 and state == 'fail' and 'has them in /srv/other/volumes, which is in none' in text and 'volumes = [ "/srv/other/volumes" ]' in mend,
               'volumes in another directory, by ' + name, (state, text, mend))
    for name, state in ('worker', 'fail'), ('worker.service', 'warn'):
        place = device_cgroup('%s-%s' % (UNIQUE, name))
        with running('/srv/concourse', *SLEEP, '--work-dir', '/srv/worker', env=ENV) as pid:
            write(place + '/cgroup.procs', str(pid))
            status, j = doctor('root')
            found_state, text, mend = [(c['state'], c['text'], c.get('mend')) for c in j['checks'] if c['check'] == 'worker-cgroup'][-1]
        os.rmdir(place)
        ok(found_state == state and "the cgroup of Concourse's worker (PID %d) deny /dev/nvidia1 and 4 other nodes" % pid in text and
           "--device-cgroup-rule='c 195:* rwm' --device-cgroup-rule='c 510:* rwm'" in mend,
           'the device rules of the worker itself, in a cgroup %s: %s' % (name, state), (found_state, text, mend))
    shutil.chown('/srv/worker', 'worker')
    with running('/srv/concourse', *SLEEP, '--work-dir', '/srv/worker', env=ENV) as pid:
        status, j = doctor('root')
        state, text, _ = of(j, 'volumes')
        ok(status == 78 and state == 'fail' and '/srv/worker/volumes does not count for containers of uid 0' in text and '/srv/worker belongs to uid' in text,
           "volumes in another user's directory, for root's worker", (state, text))
    shutil.chown('/srv/worker', 'root')
with changed('/etc/gpuhelper/gpuhelper.conf', NO_RUNTIME.replace(VOLUMES, '/srv/nowhere')):
    state, text, _ = of(doctor('root')[1], 'volumes')
    ok(state == 'warn' and 'exists: gpuhelper refuses a container' in text, 'no directory of volumes exists', text)

open_door()
status, j = doctor()
ok(found(j, 'fail') == [] and any(c['check'] == 'door' and c['text'] == 'the socket, ' + SOCK for c in j['checks']), 'doctor finds the socket', j)
status, j = doctor('root', ['--user', 'worker'])
ok(found(j, 'fail') == [] and any(c['check'] == 'door' and '0660' in c['text'] for c in j['checks']), 'doctor finds the socket, as root for the worker', j)
os.chmod('/run/gpuhelper', 0o775)
status, j = doctor()
ok(status == 78 and 'door' in {c['check'] for c in found(j, 'fail')}, 'an untrusted socket, and no setuid bit', found(j, 'fail'))
os.chmod('/run/gpuhelper', 0o711)

NONE = '/proc/driver/nvidia/gpus'
gone = [NONE + '/' + n for n in os.listdir(NONE)]
for n in gone:
    shutil.rmtree(n)
status, j = doctor('root')
ok(status == 78 and not j['ok'] and any(c['check'] == 'gpus' and 'none usable, but policies grant GPUs' in c['text'] for c in found(j, 'fail')) and
   not any(c['check'] in ('gpus', 'driver') for c in found(j, 'ok')), 'no GPU on the host, although a policy gives one', j)
with changed('/etc/gpuhelper/policy.d/10-all.conf', 'identity = "caller";\nfolders = ( { path = "/srv"; } );\n'):
    status, j = doctor()
    ok(status == 0 and any(c['check'] == 'gpus' and 'none usable: ' in c['text'] for c in found(j, 'warn')), 'no policy gives a GPU: only a warning', j)
    BUS = W + '/bus'
    for card, class_, vendor in ('0000:01:00.0', '0x030000', '0x1002'), ('0000:02:00.0', '0x020000', '0x8086'):
        os.makedirs(BUS + '/' + card)
        write(BUS + '/%s/class' % card, class_ + '\n')
        write(BUS + '/%s/vendor' % card, vendor + '\n')
    if sh('mount', '--bind', BUS, '/sys/bus/pci/devices').returncode:
        skip('doctor names only vendors that the host has', 'nothing can be mounted over /sys/bus/pci/devices here')
    else:
        text = [c['text'] for c in doctor()[1]['checks'] if c['check'] == 'gpus'][0]
        others = [v for v, m in (('intel', 'i915'), ('intel', 'xe')) if os.path.exists('/sys/module/' + m)]
        ok('amd: ' in text and ('intel: ' in text) == bool(others), 'doctor names only vendors that the host has: a network card of Intel\'s is no GPU', text)
        sh('umount', '/sys/bus/pci/devices')
NOTHING = W + '/nothing'
os.makedirs(NOTHING)
places = ['/sys/bus/pci/devices', '/sys/module', '/proc/driver']
mounted = [p for p in places if sh('mount', '--bind', NOTHING, p).returncode == 0]
if mounted != places:
    skip('a host without a GPU', 'nothing can be mounted over /sys and /proc here')
else:
    c = [c for c in doctor('root')[1]['checks'] if c['check'] == 'gpus'][0]
    ok((c['state'], c['text'], c.get('mend')) == ('fail', 'none usable, but policies grant GPUs: this host has no GPU that gpuhelper knows',
       'gpuhelperctl devices says why'), 'a host without a GPU: doctor names the command that says why', c)
    r = sh(CTL, 'devices')
    ok('no usable nvidia GPU: ' in r.stdout, '  and that says why', r.stdout)
for p in reversed(mounted):
    sh('umount', p)
done()
