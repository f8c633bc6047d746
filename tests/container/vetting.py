#!/usr/bin/env python3
"""Forged grants: root's wrapper writes nothing into config.json that no file of root's gives (vet/vet.h).

usage: vetting.py RUNTIME CGROUP    (in tests/lib/sandbox.sh --gpu nvidia-2gpu; cgroup v1)

A script in the helper's place forges the first reply, as a helper that was taken over could: it changes one thing in a
reply that the real helper gave to the same request. Later requests go to the real helper, which records the refusal.
"""
import copy, json, re, struct, sys
from lib import *
sys.path.insert(0, TESTS + '/lib')
from reply import apart, whole

host, tag = able_host()
HELPER, CTL = '/usr/libexec/gpuhelper/gpuhelper', '/usr/sbin/gpuhelperctl'
ENV = ['BUILD_TEAM_NAME=ml', 'BUILD_PIPELINE_NAME=train']

# files of root's, of a driver, and of nobody
for path, mode in ('/opt/driver/lib/libcuda.so.580.95.05', 0o755), ('/opt/driver/bin/hook', 0o755), ('/opt/driver/lib/other.so', 0o755), ('/opt/driver/share/rw', 0o644):
    write(path, IDLE_HOOK, mode)
write('/opt/loose/file', '', 0o666)
os.chmod('/opt/loose', 0o777)
for d in '/srv/datasets/a', '/srv/out/x', '/srv/shared/1', '/srv/shared/2', '/srv/secret', '/srv/loose/in', '/srv/deep':
    os.makedirs(d, exist_ok=True)
    os.chmod(d, 0o777)
os.chmod('/srv/datasets', 0o755), os.chmod('/srv/shared', 0o755), os.chmod('/srv/out', 0o777)
os.chmod('/srv/loose', 0o777)
host.settings('cdi_hooks = "allow";')
SPEC = {'cdiVersion': '0.6.0', 'kind': 'nvidia.com/gpu', 'containerEdits': {
    'env': ['FROM_SPEC=1', 'NVIDIA_VISIBLE_DEVICES=void'],
    'mounts': [{'hostPath': '/opt/driver/lib/libcuda.so.580.95.05', 'containerPath': '/usr/lib/x86_64-linux-gnu/libcuda.so.580.95.05', 'options': ['ro', 'bind']},
               {'hostPath': '/opt/driver/share/rw', 'containerPath': '/usr/share/nvidia/rw', 'options': ['rw', 'bind']},
               {'hostPath': '/opt/loose/file', 'containerPath': '/usr/share/nvidia/loose', 'options': ['ro', 'bind']}],
    'hooks': [{'hookName': 'createContainer', 'path': '/opt/driver/bin/hook', 'args': ['hook', 'a'], 'env': ['A=1'], 'timeout': 5}]},
    'devices': [{'name': '0', 'containerEdits': {'deviceNodes': [{'path': '/dev/nvidia0'}]}}, {'name': '1', 'containerEdits': {'deviceNodes': [{'path': '/dev/nvidia1'}]}}]}
good_spec = copy.deepcopy(SPEC)
good_spec['containerEdits']['mounts'].pop()
POLICY = '''pipeline = "ml/train"; identity = "claim"; gpus = ( { vendor = "nvidia"; count = 1; } );
folders = ( { path = "/srv/datasets"; access = "ro"; subfolders = true; }, { path = "/srv/out"; access = "rw"; target = "/out"; }, { path = "/srv/shared/*"; access = "ro"; target = "/shared"; },
            { path = "/srv/deep"; access = "ro"; submounts = true; } );
env = { FROM_POLICY = "1"; };'''
host.policies(t10=POLICY, t20='pipeline = "ml/other"; identity = "claim"; callers = [ "nobody" ]; folders = ( { path = "/srv/secret"; access = "rw"; } );')
write('/etc/cdi/nvidia.json', json.dumps(good_spec))


def bundle(folders='/srv/datasets:ro,/srv/out:rw', **kw):
    return Bundle(host, env=ENV + ['GPUHELPER_GPUS=1', 'GPUHELPER_FOLDERS=' + folders], args=['/bin/true'], **kw)


# This script stands between the wrapper and the real helper. The real helper takes it for the process that asked, so the
# grant passes, and the created container, which is the wrapper's, does not.
MIDDLE = '''#!%s
import os, socket, struct, subprocess, sys
def frame(read):
    d = b''
    while len(d) < 12 or len(d) < 12 + struct.unpack('>I', d[8:12])[0]:
        b = read(65536)
        if not b:
            break
        d += b
    return d
n = '%s'
first = os.path.exists(n + '/forge')
here, there = socket.socketpair()
p = subprocess.Popen([%r, *sys.argv[1:]], executable=%r, stdin=there)
there.close()
here.sendall(frame(lambda k: os.read(0, k)))
answer = frame(here.recv)
if first:
    os.unlink(n + '/forge')
    open(n + '/reply', 'wb').write(answer)
    if os.path.exists(n + '/forged'):
        answer = open(n + '/forged', 'rb').read()
os.write(0, answer)
while True:
    b = os.read(0, 65536)
    if not b:
        break
    here.sendall(b)
    back = here.recv(65536)
    if not back:
        break
    os.write(0, back)
here.close()
p.wait()
''' % (sys.executable, W, HELPER, HELPER + '.real')
os.rename(HELPER, HELPER + '.real')
write(HELPER, MIDDLE, 0o755)


def ask(b, forged=None):
    """Creates the bundle's container; the reply to the first request is forged. Returns the result, and the real reply."""
    write(W + '/forge', '')
    if os.path.exists(W + '/forged'):
        os.unlink(W + '/forged')
    if forged is not None:
        text = json.dumps(apart(forged)).encode()
        with open(W + '/forged', 'wb') as f:
            f.write(b'GPUH' + struct.pack('>II', WIRE, len(text)) + text)
    r = b.create()
    real = open(W + '/reply', 'rb').read()
    return r, whole(json.loads(real[12:]))


def went_through(b, config):
    """Whether the wrapper wrote config.json, and the runtime made the container."""
    return b.config() != config and ' '.join(b.errors()) == 'gpuhelper: container %s has no lease that this process requested' % b.id


b = bundle()
config = b.config()
r, REAL = ask(b)
ok(REAL['reply'] == 'grant' and went_through(b, config), tag + 'the real reply passes', (b.errors(), REAL))
b.delete()
E = REAL['containerEdits']
ok(len(E['deviceNodes']) >= 2 and len(E['mounts']) >= 4 and len(E['hooks']) == 1 and len(E['env']) >= 2 and REAL['maskedPaths'],
   tag + 'it has a change of each kind that this host can have', json.dumps(REAL))
names = [m['containerPath'] for m in E['mounts']]
ok('/usr/lib/x86_64-linux-gnu/libcuda.so.1' in names and '/usr/lib64/libcuda.so.1' in names, tag + '  a library under its second name', names)


def forge(change):
    reply = copy.deepcopy(REAL)
    change(reply, reply['containerEdits'])
    return reply


# what a wrapper of any user refuses, before root's compares it with the table
FORM = 'gpuhelper-engine reports '


def refused(name, what, change, says="gpuhelper's reply has the ", **kw):
    b = bundle(**kw)
    config = b.config()
    n = len(audit())
    r, _ = ask(b, forge(change))
    text = ' '.join(b.errors())
    ok(r.returncode != 0 and says + what in text and b.config() == config and not any(b.id in l for l in leases()),
       tag + 'refused: ' + name, (r.returncode, text))
    told = [x for x in audit()[n:] if x.get('reason', '').startswith('gpuhelper-runc: ') and says + what in x['reason']]
    ok(len(told) == 1, tag + '  and recorded', audit()[n:])
    b.delete()


def passes(name, **kw):
    b = bundle(**kw)
    config = b.config()
    ask(b)
    ok(went_through(b, config), tag + 'passes: ' + name, b.errors())
    b.delete()


def node(at, **kw):
    st = os.lstat(at)
    return {'path': at, 'type': 'c', 'major': os.major(st.st_rdev), 'minor': os.minor(st.st_rdev), 'fileMode': st.st_mode & 0o666, 'uid': st.st_uid, 'gid': st.st_gid, **kw}


def folder(source, target=None, options=('bind', 'rprivate', 'ro', 'nosuid', 'nodev'), place='8:1 /srv'):
    return {'hostPath': source, 'containerPath': target or source, 'options': list(options), 'place': place}


def file(source, target, *more, access='ro'):
    return {'hostPath': source, 'containerPath': target, 'options': ['bind', 'rprivate', access, 'nosuid', 'nodev', *more]}


def add(key, value):
    return lambda r, e: e[key].append(value)


# nodes
os.mknod('/dev/disk-like', 0o20666, os.makedev(8, 0))
os.chmod('/dev/disk-like', 0o666)
for path in '/dev/mem', '/dev/kmsg', '/dev/fuse', '/dev/disk-like', '/dev/null':
    if os.path.exists(path):
        refused('the node ' + path, 'device ' + path, add('deviceNodes', node(path)))
refused("a GPU's path with another number", 'device /dev/nvidia1', lambda r, e: e['deviceNodes'].__setitem__(0, node('/dev/nvidia1', major=1, minor=1)))
refused("a GPU's number at another path", 'device /dev/x', add('deviceNodes', node('/dev/nvidia1', path='/dev/x')))
os.symlink('nvidia1', '/dev/nvidia7')
refused("a link to a GPU's node", 'device /dev/nvidia7', add('deviceNodes', node('/dev/nvidia1', path='/dev/nvidia7')))
os.unlink('/dev/nvidia7')
os.chmod('/dev/nvidia1', 0o600)
refused('a wider mode than the node has', 'device /dev/nvidia1', add('deviceNodes', node('/dev/nvidia1', fileMode=0o666)))
os.chmod('/dev/nvidia1', 0o666)
refused('another owner than the node has', 'device /dev/nvidia1', add('deviceNodes', node('/dev/nvidia1', uid=1000)))
refused('setuid bits of a node', 'device /dev/nvidia1', add('deviceNodes', node('/dev/nvidia1', fileMode=0o6666)))
os.makedirs('/dev/dri', exist_ok=True)
for name, minor in ('renderD128', 128), ('card0', 0):
    os.path.exists('/dev/dri/' + name) or os.mknod('/dev/dri/' + name, 0o20666, os.makedev(226, minor))
    refused('a node of DRM that is of no GPU of the rules: ' + name, 'device /dev/dri/' + name, add('deviceNodes', node('/dev/dri/' + name)))
refused('modeset, for a rule without displays', 'device /dev/nvidia-modeset', lambda r, e: (os.path.exists('/dev/nvidia-modeset') or os.mknod('/dev/nvidia-modeset', 0o20666, os.makedev(195, 254)),
        os.chmod('/dev/nvidia-modeset', 0o666), e['deviceNodes'].append(node('/dev/nvidia-modeset'))))
refused('a second GPU, for a rule with count = 1', 'GPU 0000:', add('deviceNodes', node('/dev/nvidia1')))
host.policies(t10=POLICY.replace('count = 1;', 'count = 2; devices = [ "0000:3b:00.0" ];'))
refused('a GPU that no rule names', 'device /dev/nvidia1', add('deviceNodes', node('/dev/nvidia1')))
host.policies(t10=POLICY)

# folders
refused('a folder of no policy', 'folder /etc', add('mounts', folder('/etc')))
refused('the folder of a policy that does not list root', 'folder /srv/secret', add('mounts', folder('/srv/secret')))
refused('what is above a folder', 'folder /srv', add('mounts', folder('/srv')))
refused('a folder that only begins like one', 'folder /srv/datasets2', add('mounts', folder('/srv/datasets2')))
refused('a folder that is left with «..»', 'folder /srv/datasets/../secret', add('mounts', folder('/srv/datasets/../secret')))
refused('a folder beneath one without subfolders', 'folder /srv/out/x', add('mounts', folder('/srv/out/x', '/out/x')))
refused('a folder at another place in the container', 'folder /srv/datasets', add('mounts', folder('/srv/datasets', '/etc')))
refused('a folder beside its target', 'folder /srv/out', add('mounts', folder('/srv/out', '/outside')))
refused('a hidden folder of a pattern', 'folder /srv/shared/.x', add('mounts', folder('/srv/shared/.x', '/shared/.x')))
refused('rw where the policy says ro', 'folder /srv/datasets', lambda r, e: [m.update(options=['bind', 'rprivate', 'rw', 'nosuid', 'nodev']) for m in e['mounts'] if m['hostPath'] == '/srv/datasets'])
for options in (['bind', 'rprivate', 'ro', 'suid', 'dev'], ['bind', 'rprivate', 'ro'], ['rbind', 'rprivate', 'ro', 'nosuid', 'nodev'], ['bind', 'rprivate', 'ro', 'nosuid', 'nodev', 'rw'],
                ['bind', 'rshared', 'ro', 'nosuid', 'nodev'], [], ['bind', 'rprivate', 'ro', 'nosuid', 'nodev', 'idmap'], ['nodev', 'nosuid', 'ro', 'rprivate', 'bind']):
    refused('a folder with the options %s' % ','.join(options), 'folder /srv/datasets', lambda r, e: [m.update(options=options) for m in e['mounts'] if m['hostPath'] == '/srv/datasets'])
refused('a folder with submounts left out of its options', 'folder /srv/deep', add('mounts', folder('/srv/deep')))
refused('a folder that is no directory', 'folder /srv/datasets/file', lambda r, e: (write('/srv/datasets/file', ''), e['mounts'].append(folder('/srv/datasets/file'))))
os.symlink('/root', '/srv/datasets/link')
refused('a folder that is a link', 'folder /srv/datasets/link', add('mounts', folder('/srv/datasets/link')))
os.chmod('/srv/datasets', 0o777)
refused('a folder that others can replace', 'folder /srv/datasets/a', add('mounts', folder('/srv/datasets/a')))
os.chmod('/srv/datasets', 0o755)
for asked in '/srv/shared/1:ro', '/srv/datasets/a:ro', '/srv/out:ro', '/srv/deep:ro':
    passes('the real reply with the folder ' + asked, folders=asked)

# the driver's files
refused('a file of no spec', "driver's file /etc/shadow", add('mounts', file('/etc/shadow', '/tmp/s')))
refused("a driver's directory beside the spec", "driver's file /opt/driver", add('mounts', file('/opt/driver', '/opt/driver')))
refused("a driver's file at another place", "driver's file /opt/driver/lib/libcuda", add('mounts', file('/opt/driver/lib/libcuda.so.580.95.05', '/bin/sh')))
refused('another file at the place of a spec', "driver's file /opt/driver/lib/other.so", lambda r, e: [m.update(hostPath='/opt/driver/lib/other.so') for m in e['mounts'] if m['containerPath'] == '/usr/share/nvidia/rw'])
refused('a second name that is none of its library', "driver's file /opt/driver/lib/libcuda", add('mounts', file('/opt/driver/lib/libcuda.so.580.95.05', '/usr/lib/x86_64-linux-gnu/libc.so.6')))
refused('rw where the spec says ro', "driver's file /opt/driver/lib/libcuda", lambda r, e: [m['options'].__setitem__(2, 'rw') for m in e['mounts'] if m['containerPath'].endswith('libcuda.so.580.95.05')])
refused("a driver's file that setuid programs may be in", 'a mount', lambda r, e: [m['options'].__setitem__(3, 'suid') for m in e['mounts'] if m['containerPath'].endswith('libcuda.so.580.95.05')], FORM)
refused("a driver's file in which programs can't be executed", "driver's file /opt/driver/lib/libcuda", lambda r, e: [m['options'].append('noexec') for m in e['mounts'] if m['containerPath'].endswith('libcuda.so.580.95.05')])
write('/etc/cdi/nvidia.json', json.dumps(SPEC))
refused('a file of a spec that others can change', "driver's file /opt/loose/file", add('mounts', file('/opt/loose/file', '/usr/share/nvidia/loose')))
write('/etc/cdi/nvidia.json', json.dumps(good_spec))

# hooks
HOOK = E['hooks'][0]
for name, change in (('another program', dict(path='/bin/sh')), ('other arguments', dict(args=['hook', 'b'])), ('one argument more', dict(args=HOOK['args'] + ['c'])), ('another environment', dict(env=['A=1', 'LD_PRELOAD=/srv/pre.so'])),
                     ('no environment', dict(env=[])), ('another time limit', dict(timeout=0)), ('another moment', dict(hookName='createRuntime'))):
    refused('a hook with ' + name, 'hook /', lambda r, e: e['hooks'][0].update(change))
    refused('a second hook with ' + name, 'hook /', lambda r, e: e['hooks'].append({**HOOK, **change}))
refused('50 copies of a hook', 'hook /', lambda r, e: e['hooks'].extend([HOOK] * 49))
host.settings()
refused('a hook where gpuhelper.conf allows none', 'hook /', lambda r, e: None)
host.settings('cdi_hooks = "allow";')

# groups, variables, masked paths, labels
refused("the host's group 0", 'group ', add('additionalGids', 0))
refused('a group of no granted node', 'group 1234', add('additionalGids', 1234))
for entry in 'LD_PRELOAD=/srv/pre.so', 'FROM_POLICY=2', 'FROM_SPEC=2', 'FROM_SPEC', 'NVIDIA_VISIBLE_DEVICES=all', 'CUDA_VISIBLE_DEVICES=0', 'PATH=/srv', 'GPUHELPER_TOKEN=x':
    refused('the variable ' + entry, 'variable ' + entry.split('=')[0], add('env', entry))
for path in '/proc/kcore', '/proc/driver/nvidia', '/proc/driver/nvidia/../../sys', '/etc/passwd', 'proc/driver/nvidia/x':
    refused('the masked path ' + path, 'a text', lambda r, e: r['maskedPaths'].append(path), FORM)
refused('an SELinux label', 'SELinux label', lambda r, e: r.update(selinuxLabel='system_u:system_r:unconfined_t:s0'))
refused('a label of files alone', 'SELinux label', lambda r, e: r.update(mountLabel='system_u:object_r:container_file_t:s0:c1,c2'))

host.settings('driver_files = "vendor-runtime";')
for entry in 'NVIDIA_VISIBLE_DEVICES=all', 'AMD_VISIBLE_DEVICES=all', 'NVIDIA_DRIVER_CAPABILITIES=all':
    refused('for a vendor\'s runtime, ' + entry, 'variable ' + entry.split('=')[0], lambda r, e: (e['mounts'].__setitem__(slice(None), [m for m in e['mounts'] if 'place' in m]), e['hooks'].clear(),
            e['env'].__setitem__(slice(None), [entry])))
host.settings('cdi_hooks = "allow";')

# specs of other devices, and files that a rule leaves out
FPGA = {'cdiVersion': '0.6.0', 'kind': 'vendor.com/fpga', 'containerEdits': {'env': ['FPGA_KEY=secret'], 'mounts': [{'hostPath': '/opt/driver/lib/other.so', 'containerPath': '/usr/lib/other.so', 'options': ['ro', 'bind']}],
        'hooks': [{'hookName': 'createRuntime', 'path': '/opt/driver/bin/hook', 'args': ['hook'], 'env': ['A=1']}]}, 'devices': [{'name': 'x', 'containerEdits': {'deviceNodes': [{'path': '/dev/fuse'}]}}]}
write('/etc/cdi/fpga.json', json.dumps(FPGA))
refused('a file of a spec whose device is not granted', "driver's file /opt/driver/lib/other.so", add('mounts', file('/opt/driver/lib/other.so', '/usr/lib/other.so')))
refused('a hook of such a spec', 'hook /', lambda r, e: e['hooks'].append({'hookName': 'createRuntime', 'path': '/opt/driver/bin/hook', 'args': ['hook'], 'env': ['A=1'], 'timeout': 0}))
refused('a variable of such a spec', 'variable FPGA_KEY', add('env', 'FPGA_KEY=secret'))
refused('its device', 'device /dev/fuse', add('deviceNodes', node('/dev/fuse')))
os.unlink('/etc/cdi/fpga.json')
refused('files, hooks and variables of a spec without its GPU', "driver's file", lambda r, e: e['deviceNodes'].clear())
over = copy.deepcopy(good_spec)
over['containerEdits']['mounts'] = []
write('/run/cdi/nvidia.json', json.dumps(over))
refused('a file of a spec that another one overrides', "driver's file", lambda r, e: None)
os.unlink('/run/cdi/nvidia.json')
left = copy.deepcopy(good_spec)
left['containerEdits']['mounts'] += [{'hostPath': '/dev/dri', 'containerPath': '/dev/dri', 'options': ['ro', 'bind']},
    {'hostPath': '/opt/driver/lib/other.so', 'containerPath': '/usr/lib/x86_64-linux-gnu/libnvidia-encode.so.580.95.05', 'options': ['ro', 'bind']}]
left['containerEdits']['mounts'] += [{'hostPath': '/opt/driver/share', 'containerPath': '/tmp/nvidia-mps', 'options': ['rw', 'bind']}]
write('/etc/cdi/nvidia.json', json.dumps(left))
refused('a directory in /dev', 'a mount', add('mounts', file('/dev/dri', '/dev/dri')), FORM)
refused('a file for video, for a rule without it', "driver's file /opt/driver/lib/other.so", add('mounts', file('/opt/driver/lib/other.so', '/usr/lib/x86_64-linux-gnu/libnvidia-encode.so.580.95.05')))
refused('the directory of MPS, for a rule without it', "driver's file /opt/driver/share", add('mounts', file('/opt/driver/share', '/tmp/nvidia-mps', access='rw')))
write('/etc/cdi/nvidia.json', json.dumps(good_spec))
host.policies(t10=POLICY.replace('target = "/out"', 'target = "/usr/share/nvidia"'))
refused("a driver's file in a folder for writing", "the driver's /opt/driver/share/rw is mounted at /usr/share/nvidia/rw, where folder /srv/out is",
        lambda r, e: [m.update(containerPath='/usr/share/nvidia') for m in e['mounts'] if m['hostPath'] == '/srv/out'], '')
host.policies(t10=POLICY)
refused('one target twice', 'mount in another one /srv/datasets', add('mounts', folder('/srv/datasets')))

# a privileged container, and a policy's variable in config.json
b = Bundle(host, 'task-privileged', env=ENV + ['GPUHELPER_TOKEN=x.y.z'], args=['/bin/true'])
config = b.config()
ask(b, {'reply': 'grant', 'policy': 't10.conf', 'containerEdits': {'deviceNodes': [], 'mounts': [], 'additionalGids': [], 'hooks': [], 'env': []}, 'maskedPaths': []})
ok(b.config() == config and 'it does not say privileged = true' in ' '.join(b.errors()), tag + 'refused: a privileged container by a policy that does not allow it', b.errors())
b.delete()
b = bundle()
ask(b, forge(lambda r, e: r.update(envSecret=False)))
ok('FROM_POLICY' in b.config() and stat.S_IMODE(os.stat(b.dir + '/config.json').st_mode) & 0o007 == 0, tag + "a policy's variable is a secret, whatever the reply says", oct(os.stat(b.dir + '/config.json').st_mode))
b.delete()

# policies
for name, policy in ('a policy that does not list root', 't20.conf'), ('a policy that is not there', 'x.conf'), ('no policy', ''):
    b = bundle()
    config = b.config()
    ask(b, forge(lambda r, e: r.update(policy=policy)))
    ok(b.config() == config and re.search('gone or broken now|is not among its callers', ' '.join(b.errors())), tag + 'refused: a grant by ' + name, b.errors())
    b.delete()

# without a kept answer, gpuhelper-read answers; a broken policy keeps the helper from keeping one
for f in os.listdir('/run/gpuhelper/read'):
    os.unlink('/run/gpuhelper/read/' + f)
os.chmod('/run/gpuhelper/read', 0o777)
passes('the real reply without a kept answer')
os.path.exists('/run/gpuhelper/read') and os.chmod('/run/gpuhelper/read', 0o700)
host.policies(t10=POLICY, t90='pipeline = ')
passes('the real reply beside a broken policy')
refused('a forged one there', 'folder /etc', add('mounts', folder('/etc')))
os.rename(HELPER + '.real', HELPER)

# exec records: what the helper wrote for later execs must be what was checked
host.policies(t10=POLICY)
b = bundle()
b.text = json.dumps({**json.loads(b.text), 'process': {**json.loads(b.text)['process'], 'args': ['/bin/sleep', '1000']}})
write(b.dir + '/config.json', b.text)
b.start()
record = '/run/gpuhelper/exec/0/' + os.listdir('/run/gpuhelper/exec/0')[0]
note = '/run/gpuhelper/births/exec-' + os.path.basename(record)
text = open(record).read()
process = {'terminal': False, 'user': {'uid': 1000, 'gid': 1000}, 'args': ['/bin/sh', '-c', 'id -G; echo env=$FROM_POLICY'], 'cwd': '/', 'env': []}


def both():
    '''An exec with words, and one with --process.'''
    write(b.dir + '/p.json', json.dumps(process))
    return b.exec('id -G; echo env=$FROM_POLICY'), b.call('exec', '--process', b.dir + '/p.json', b.id)


ok(all(r.returncode == 0 and 'env=1' in r.stdout for r in both()), tag + 'the real exec record is used', [r.stdout for r in both()])
st = os.stat(note)
ok(stat.S_IMODE(st.st_mode) == 0o600 and 'FROM_POLICY' not in open(note).read(), tag + '  and the note about it is root\'s, and holds no secret', oct(st.st_mode))
for name, change in (('another variable', {'env': ['LD_PRELOAD=/tmp/evil.so']}), ('a variable more', {'env': json.loads(text)['env'] + ['PATH=/srv']}), ('a variable less', {'env': json.loads(text)['env'][:-1]}),
                     ('other groups', {'groups': [6, 42]}), ('group 0', {'groups': [0]}), ('a label', {'label': 'system_u:system_r:unconfined_t:s0'}), ('privileged', {'privileged': True}), ('a promise', {'asks': True})):
    write(record, json.dumps({**json.loads(text), **change}))
    n = len(audit())
    ok(all(r.returncode != 0 and 'its exec record is not what gpuhelper-runc checked' in r.stdout for r in both()), tag + 'refused: an exec record with ' + name, [r.stdout for r in both()])
    ok(any('its exec record is not' in x.get('reason', '') for x in audit()[n:]), tag + '  and recorded', audit()[n:])
write(record, text)
write(record, json.dumps({**json.loads(text), 'line': 'x\x1b[2J\nroot: all is well', 'notes': ['n\x1b]0;t\x07']}))
r = b.exec('true')
ok(r.returncode == 0 and '\x1b' not in r.stdout and '\nroot: all' not in r.stdout, tag + 'lines of a record are printed without control characters', r.stdout)
write(record, text)
for name, spoil in (('missing', lambda: os.unlink(note)), ('a link', lambda: (os.rename(note, W + '/note'), os.symlink(W + '/note', note))), ('writable', lambda: os.chmod(note, 0o666)),
                    ("another user's", lambda: os.chown(note, 1000, 0)), ('cut off', lambda: write(note, hashed[:-5], 0o600)), ('a FIFO', lambda: (os.unlink(note), os.mkfifo(note, 0o600)))):
    hashed = open(note).read()
    spoil()
    ok(all(r.returncode != 0 and 'nothing is executed there' in r.stdout for r in both()), tag + 'refused: a note that is ' + name, [r.stdout for r in both()])
    os.path.lexists(note) and os.unlink(note)
    write(note, hashed, 0o600)
ok(all(r.returncode == 0 for r in both()), tag + 'the real record and note work again')
b.delete()
ok(not os.path.exists(note) and not os.path.exists(record), tag + 'the note goes with the container')
write(note, hashed, 0o600), write(record, text, 0o600)
plain = Bundle(host, args=['/bin/sleep', '1000'])
plain.id = b.id
plain.text = json.dumps({**json.loads(plain.text), 'linux': {**json.loads(plain.text)['linux'], 'cgroupsPath': 'garden/' + b.id}})
write(plain.dir + '/config.json', plain.text)
plain.start()
r = plain.exec('echo env=$FROM_POLICY')
ok(r.returncode != 0 and not os.path.exists(note), tag + 'a record and a note of an earlier container give nothing to one of the same name', r.stdout)
os.unlink(record)
plain.delete()
r = bundle().run()
ok(r.returncode == 0 and not [f for f in os.listdir('/run/gpuhelper/births') if f.startswith('exec-')], tag + 'and with a container that «run» made', (r.stdout, os.listdir('/run/gpuhelper/births')))
for early in 'exec-', 'early-':
    write('/run/gpuhelper/births/' + early + 64 * '0', 'x', 0o600)
    sh(CTL, 'reap')
    ok(not os.path.exists('/run/gpuhelper/births/' + early + 64 * '0'), tag + "root's timer removes a note that is left")

# the wrapper is killed when the runtime has made the container, and before anything was checked
real, KILL = host.runtime, W + '/kill'
write(KILL, '''#!/bin/sh
%s "$@"
status=$?
case " $* " in *" create "*) kill -9 $PPID ;; esac
exit $status
''' % real, 0o755)
host.runtime = KILL
host.settings()
b = bundle()
b.text = json.dumps({**json.loads(b.text), 'process': {**json.loads(b.text)['process'], 'args': ['/bin/sleep', '1000']}})
write(b.dir + '/config.json', b.text)
r = b.create()
host.runtime = real
host.settings()
ok(r.returncode == -9 and json.loads(sh(real, '--root', W + '/root', 'state', b.id).stdout)['status'] == 'created', tag + 'control: the wrapper was killed, and the container is there', (r, b.errors()))
r = b.call('start', b.id)
ok(r.returncode != 0 and 'its create did not end' in r.stdout, tag + '  it is not started', r.stdout)
r = b.exec('echo in it')
ok(r.returncode != 0 and 'in it' not in r.stdout and 'nothing is executed there' in r.stdout, tag + '  and nothing is executed there', r.stdout)
b.delete()
sh(CTL, 'reap')
ok(leases() == [] and os.listdir('/run/gpuhelper/births') == [], tag + '  after «delete», no lease and no note is left', (leases(), os.listdir('/run/gpuhelper/births')))

# another request ends the lease of a container that is over, before that is deleted
b = bundle()
b.text = json.dumps({**json.loads(b.text), 'process': {**json.loads(b.text)['process'], 'args': ['/bin/sleep', '1000']}})
write(b.dir + '/config.json', b.text)
b.start()
sh(real, '--root', W + '/root', 'kill', b.id, 'KILL')
for _ in range(500):
    if json.loads(sh(real, '--root', W + '/root', 'state', b.id).stdout)['status'] == 'stopped':
        break
    time.sleep(0.01)
r = bundle().run()
ok(r.returncode == 0 and leases() == [], tag + 'control: another container\'s request ended the lease', (r.stdout, leases()))
r = b.delete()
ok(r.returncode == 0 and os.listdir('/run/gpuhelper/births') == [], tag + '  «delete» leaves no note', (r.stdout, os.listdir('/run/gpuhelper/births')))

# nodes that the helper makes have their group only then
params = open('/proc/driver/nvidia/params').read()
write('/proc/driver/nvidia/params', re.sub(r'DeviceFileGID: \d+', 'DeviceFileGID: 44', re.sub(r'DeviceFileMode: \d+', 'DeviceFileMode: 432', params)), 0o444)
for n in [n for n in os.listdir('/dev') if re.fullmatch(r'nvidia\d|nvidiactl|nvidia-uvm', n)]:
    os.unlink('/dev/' + n)
b = Bundle(host, env=ENV + ['GPUHELPER_GPUS=1'], args=['/bin/sleep', '1000'], edit=lambda s: s['process']['user'].update(uid=1000, gid=1000))
b.start()
r = b.exec('id -G')
ok(r.returncode == 0 and '44' in r.stdout.split(), tag + "an exec has the group of nodes that the helper made", r.stdout)
b.delete()
write('/proc/driver/nvidia/params', params, 0o444)

# engines behind the socket that see less than the host has
host.policies(t10=POLICY)
door = open_door()


def engine(name, *before):
    b = Bundle(host, 'task-privileged', edit=lambda s: ordinary(s, ['CAP_CHOWN', 'CAP_SETUID']), env=ENV + ['GPUHELPER_GPUS=1'], args=['/bin/true'])
    p = subprocess.run([*before, WRAPPER, '--root', W + '/root', '--log', b.log, '--log-format', 'json', 'create', '--bundle', b.dir, '--pid-file', b.dir + '/pid', b.id], stdin=subprocess.DEVNULL,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=60)
    ok(p.returncode == 0, tag + 'passes: an engine ' + name, b.errors())
    b.delete()


write(W + '/dev.sh', """mount -t tmpfs x /mnt; for n in null zero full random urandom tty; do cp -a /dev/$n /mnt/; done; mkdir /mnt/pts /mnt/shm /mnt/mqueue
ln -s pts/ptmx /mnt/ptmx; ln -s /proc/self/fd /mnt/fd; mount --move /mnt /dev; exec "$0" "$@"
""")
engine('with a /dev of its own, without GPUs', 'unshare', '-m', 'sh', '-c', open(W + '/dev.sh').read())
if shutil.which('capsh'):
    engine('without CAP_SYS_PTRACE', 'capsh', '--drop=cap_sys_ptrace', '--', '-c', 'exec "$0" "$@"')
else:
    skip(tag + 'an engine without CAP_SYS_PTRACE', 'capsh is not installed')
door.kill()
door.wait()
done()
