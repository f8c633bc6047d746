#!/usr/bin/env python3
"""gpuhelperctl doctor on a host that is well, and on one that is not, by one thing at a time.

usage: doctor.py    (in tests/lib/sandbox.sh --gpu nvidia-2gpu)
"""
import contextlib, json, os, pwd, shutil, sys, time
from lib import *

CTL, SOCK, HELPER = '/usr/sbin/gpuhelperctl', '/run/gpuhelper/gpuhelper.sock', '/usr/libexec/gpuhelper/gpuhelper'
host = Host('runc', 'v1')
for user in 'worker', 'outsider':
    sh('useradd', '--create-home', user)
sh('usermod', '--append', '--groups', 'gpuhelper', 'worker')
CONF = 'runtime = "%s";\n' % host.runtime
PARAMS = '/proc/driver/nvidia/params'
well = {'/etc/gpuhelper/gpuhelper.conf': CONF + 'unenforced = "allow";\n', '/etc/gpuhelper/policy.d/10-all.conf':
        'identity = "caller";\ngpus = ( { vendor = "nvidia"; } );\n'}
for p, t in well.items():
    write(p, t)
os.makedirs('/opt/containerd/bin')
os.symlink(WRAPPER, '/opt/containerd/bin/runc')
os.makedirs('/etc/systemd/system/timers.target.wants', exist_ok=True)
os.symlink('/usr/lib/systemd/system/gpuhelper-reap.timer', '/etc/systemd/system/timers.target.wants/gpuhelper-reap.timer')
params = open(PARAMS).read()
closed = ''.join({'DeviceFileMode': 'DeviceFileMode: 432\n', 'ModifyDeviceFiles': 'ModifyDeviceFiles: 0\n'}.get(l.split(':')[0], l)
                 for l in params.splitlines(True))
write(PARAMS, closed, 0o444)


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
    """Of this check it says so, and nothing else is of that state."""
    status, j = doctor(user, options)
    bad = found(j, state)
    ok(len(bad) >= 1 and all(c['check'] == check for c in bad) and any(all(w in c['text'] for w in words) for c in bad) and
       (mend is None or any(mend in c.get('mend', c['text']) for c in bad)) and status == (78 if state == 'fail' else 0) and
       (state == 'fail' or found(j, 'fail') == []), '%s: %s %s' % (text, state, [c['text'] for c in bad][:1]), (status, j))


@contextlib.contextmanager
def changed(path, text=None, mode=None, owner=None):
    """A file or directory that is otherwise in here; text None with neither of the others: that is not there."""
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


checks = {c['check'] for c in is_well('a host that is well, as the worker: nothing but ok, exit status 0')['checks']}
ok(checks == {'wrapper', 'engine', 'runtime', 'group', 'door', 'helper', 'settings', 'policies', 'keys', 'gpus', 'nodes', 'links', 'cdi', 'udev',
              'units', 'selinux', 'audit', 'state', 'cgroups'}, 'every step has its line', checks)
is_well('as root', 'root')
is_well('as root, of the worker', 'root', ['--user', 'worker'])
status, text = doctor(json_=False)
ok(status == 0 and all(l.startswith('ok   ') for l in text.splitlines()) and len(text.splitlines()) >= 16, 'one line each', text)
before = snapshot('/etc/gpuhelper')
doctor()
ok(snapshot('/etc/gpuhelper') == before, 'it changes nothing')
status, text = doctor('root', ['--user', 'nobody-at-all'], json_=False)
ok(status == 64, 'a user that there is not: 64', (status, text))

with changed(WRAPPER):
    says('no wrapper', 'fail', 'wrapper', ['No such file'], 'make install')
with changed(WRAPPER, mode=0o775):
    says('a wrapper that a group may write', 'fail', 'wrapper', ['0775'], 'chmod 0755')
with changed('/opt/containerd/bin/runc'):
    says('containerd not told', 'warn', 'engine', ['/opt/containerd/bin/runc'], 'ln -s')
with changed('/opt/containerd/bin/runc', 'x'):
    says('containerd has another', 'warn', 'engine', ['is not gpuhelper-runc'], 'ln -sf')
with changed('/etc/gpuhelper/gpuhelper.conf', 'runtime = "/nowhere/runc";\nunenforced = "allow";\n'):
    says('no runtime', 'fail', 'runtime', ['/nowhere/runc'])
says('not in the group, as himself', 'fail', 'group', ['outsider'], 'usermod -aG gpuhelper outsider', 'root', ['--user', 'outsider'])
status, j = doctor('outsider')
ok(status == 78 and {c['check'] for c in found(j, 'fail')} == {'group', 'door'}, 'not in the group: neither door', found(j, 'fail'))
with changed(HELPER, mode=0o755):
    says('no bit and no socket', 'fail', 'door', ['has no setuid bit', 'there is no ' + SOCK], 'systemctl enable --now gpuhelper.socket')
    says('no bit and no socket, of the worker as root', 'fail', 'door', ['no socket, and no setuid bit'], 'gpuhelper.socket', 'root', ['--user', 'worker'])
with changed('/etc/gpuhelper/policy.d/10-all.conf'):
    says('no policy', 'warn', 'policies', ['nothing is granted'])
with changed('/etc/gpuhelper/policy.d/10-all.conf', 'identity = "caler";\n'):
    status, j = doctor()
    ok(status == 78 and {c['check'] for c in found(j, 'fail')} <= {'policies', 'helper'} and 'policies' in
       {c['check'] for c in found(j, 'fail')}, 'a policy that does not parse', found(j, 'fail'))
with changed('/etc/gpuhelper/policy.d/10-all.conf', mode=0o666):
    says('a policy that anyone may write', 'fail', 'policies', ['10-all.conf', '0666'], 'gpuhelperctl check')
with changed('/etc/gpuhelper/policy.d/10-all.conf', 'pipeline = "a/b";\ngpus = ( { vendor = "nvidia"; } );\n'):
    says('a policy that asks for a token, and no issuer', 'fail', 'policies', ['no issuers'])
with changed('/etc/gpuhelper/gpuhelper.conf', 'privilegd = "deny";\n'):
    says('settings that do not parse', 'fail', 'settings', ['privilegd'], 'gpuhelperctl check')

KEYS = '/etc/gpuhelper/keys/ci.json'
with changed('/etc/gpuhelper/gpuhelper.conf', well['/etc/gpuhelper/gpuhelper.conf'] +
             'issuers = ( { url = "https://ci.example.com"; audience = "gpuhelper"; keys = "%s"; } );\n' % KEYS):
    os.symlink('/usr/lib/systemd/system/gpuhelper-keys.timer', '/etc/systemd/system/timers.target.wants/gpuhelper-keys.timer')
    says('an issuer without keys', 'fail', 'keys', ['ci.example.com', 'No such file'], 'gpuhelperctl keys fetch')
    shutil.copy(TESTS + '/fixtures/jwt/jwks.json', KEYS)
    os.chmod(KEYS, 0o644)
    is_well('with keys')
    for age, state, words, mend in ((7200, 'warn', ['120 min old'], 'gpuhelper-keys.timer'), (49 * 3600, 'fail', ['49 h old'], 'keys fetch')):
        os.utime(KEYS, (time.time() - age, time.time() - age))
        says('keys that are %d h old' % (age // 3600), state, 'keys', words, mend)
    write(KEYS, '{}')
    says('keys that are none', 'fail', 'keys', [KEYS], 'gpuhelperctl keys fetch')
    shutil.copy(TESTS + '/fixtures/jwt/jwks.json', KEYS)
    os.unlink('/etc/systemd/system/timers.target.wants/gpuhelper-keys.timer')
    says('the keys\' timer is off', 'warn', 'units', ['gpuhelper-keys.timer is not enabled'], 'systemctl enable --now gpuhelper-keys.timer')
    os.unlink(KEYS)

write(PARAMS, params, 0o444)
says('nodes that are open to everyone, for a rootless worker', 'warn', 'nodes', ['open to everyone', 'no device cgroup'], 'NVreg_DeviceFileMode=0660')
is_well('and for root', 'root')
write(PARAMS, closed.replace('ModifyDeviceFiles: 0', 'ModifyDeviceFiles: 1').replace('DeviceFileMode: 432', 'DeviceFileMode: 384'), 0o444)
says('a driver that sets nodes back', 'warn', 'nodes', ['0600'], 'NVreg_ModifyDeviceFiles=0')
write(PARAMS, closed, 0o444)
version = re.search(r'Kernel Module\D*(\d+\.\d+(\.\d+)?)', open('/proc/driver/nvidia/version').read()).group(1) \
    if os.path.exists('/proc/driver/nvidia/version') else None
SPEC = ('{"cdiVersion": "0.6.0", "kind": "nvidia.com/gpu", "devices": [{"name": "0", "containerEdits": {"mounts": [{"hostPath": '
        '"/usr/lib/x86_64-linux-gnu/libcuda.so.%s", "containerPath": "/usr/lib/libcuda.so.%s", "options": ["ro", "nosuid", "nodev", "bind"]}]}}]}\n')
if version is None:
    skip('CDI specs and the loaded driver', 'the fixture names no version of the driver')
else:
    with changed('/etc/cdi/nvidia.json', SPEC % (version, version)):
        is_well('a CDI spec of the loaded driver (%s)' % version)
    with changed('/etc/cdi/nvidia.json', SPEC % ('111.22.33', '111.22.33')):
        says('a CDI spec of another driver', 'fail', 'cdi', ['111.22.33', version, 'is loaded'], 'cdi generate')
# systemd's way to a device by its number; systemd does not run in here, so what says that it does is made
os.makedirs('/run/systemd/system')
for missing in 'all', 'one', 'one is another device':
    with contextlib.ExitStack() as stack:
        if missing != 'all':
            os.mkdir('/dev/char')
            stack.callback(shutil.rmtree, '/dev/char')
            for node in ['nvidia0', 'nvidia1', 'nvidiactl', 'nvidia-uvm', 'nvidia-uvm-tools', 'nvidia-modeset']:
                if os.path.exists('/dev/' + node) and (missing == 'one is another device' or node != 'nvidia1'):
                    rdev = os.stat('/dev/' + node).st_rdev
                    os.symlink('../' + node, '/dev/char/%d:%d' % (os.major(rdev), os.minor(rdev)))
        if missing == 'one is another device':
            is_well('links of /dev/char to all nodes', 'root')
            os.unlink('/dev/char/195:1')
            os.symlink('../null', '/dev/char/195:1')
        says('links of /dev/char: %s missing' % missing, 'warn', 'links', ['/dev/char/195:1', 'systemctl daemon-reload'],
             'ln -sfn ../nvidia1 /dev/char/195:1', 'root')
        status, j = doctor('root')
        text = found(j, 'warn')[0]
        ok(('195:0' in text['text']) == (missing == 'all') and ('nvidia0' in text['mend']) == (missing == 'all'), 'and of no other', text)
        is_well('no links are needed for a user without a device cgroup')
        if missing == 'one':
            status, j = doctor('root')
            sh('sh', '-c', found(j, 'warn')[0]['mend'])
            is_well('the command that it says mends it', 'root')
os.rmdir('/run/systemd/system')
os.rmdir('/run/systemd')
with changed('/etc/cdi/nvidia.json', '{'):
    says('a CDI spec that does not parse', 'warn', 'cdi', ['/etc/cdi/nvidia.json is not used'], 'cdi validate')
with changed('/usr/lib/udev/rules.d/60-gpuhelper.rules'):
    says('no udev rule', 'warn', 'udev', ['60-gpuhelper.rules'], 'make install')
with changed('/etc/systemd/system/timers.target.wants/gpuhelper-reap.timer'):
    says('the timer is off', 'warn', 'units', ['gpuhelper-reap.timer is not enabled'], 'systemctl enable --now gpuhelper-reap.timer')
with changed('/var/log/gpuhelper'):
    status, j = doctor()
    ok(status == 78 and 'audit' in {c['check'] for c in found(j, 'fail')}, 'no directory for the audit log', found(j, 'fail'))
with changed('/var/log/gpuhelper', mode=0o770):
    status, j = doctor()
    ok(status == 78 and 'audit' in {c['check'] for c in found(j, 'fail')}, 'one that a group may write', found(j, 'fail'))
LOG = '/var/log/gpuhelper/audit.jsonl'
worker = pwd.getpwnam('worker').pw_uid
with changed(LOG, ''):
    os.chmod(LOG, 0o640)
    is_well('a log of root\'s', 'root')
    os.chown(LOG, worker, -1)
    says('a log of another\'s', 'fail', 'audit', [LOG, 'uid %d' % worker], 'chown root:gpuhelper ' + LOG, 'root')
    os.chown(LOG, 0, -1)
    os.chmod(LOG, 0o660)
    says('a log that a group may write', 'fail', 'audit', [LOG, '0660'], 'chmod 0640 ' + LOG, 'root')
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
        ok(status == 78 and len(bad) == 1 and d in bad[0]['text'] and 'full' in bad[0]['text'], 'no more %s in %s' % (how, d), j)
        sh('umount', d)
with changed('/etc/gpuhelper/gpuhelper.conf', CONF):
    says('no device cgroup for the worker', 'warn', 'cgroups', ['exclusive GPUs are refused'], 'unenforced = "allow"')
    is_well('and one for root', 'root')
write('/proc/driver/nvidia/gpus/0000:3b:00.0/information', '', 0o444)
status, j = doctor()
ok(found(j, 'fail') == [] and [c['check'] for c in found(j, 'warn')][:1] == ['gpus'], 'a GPU that can\'t be given', j)

open_door()
status, j = doctor()
ok(found(j, 'fail') == [] and any(c['check'] == 'door' and c['text'] == 'the socket, ' + SOCK for c in j['checks']), 'the socket', j)
status, j = doctor('root', ['--user', 'worker'])
ok(found(j, 'fail') == [] and any(c['check'] == 'door' and '0660' in c['text'] for c in j['checks']), 'the socket, of the worker as root', j)
os.chmod('/run/gpuhelper', 0o775)
status, j = doctor()
ok(status == 78 and 'door' in {c['check'] for c in found(j, 'fail')}, 'a socket that can\'t be trusted, and no bit', found(j, 'fail'))
done()
