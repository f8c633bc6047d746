#!/usr/bin/env python3
"""Containers with and without a grant: what each sees from inside.

usage: grants.py RUNTIME CGROUP    (in tests/lib/sandbox.sh --gpu nvidia-2gpu)
"""
import fcntl, json, os, subprocess, threading, time
from lib import *

host, tag = able_host()
DENY_ALL = {'allow': False, 'type': 'a', 'access': 'rwm'}
TRAIN = ['BUILD_TEAM_NAME=ml', 'BUILD_PIPELINE_NAME=train']
POLICY = '''
pipeline = "ml/train";
identity = "claim";
gpus = ( { vendor = "nvidia"; devices = [ "%s" ]; } );
folders = ( { path = "/srv/datasets"; access = "ro"; },
            { path = "/srv/outputs/train"; access = "rw"; target = "/srv/outputs"; } );
env = { FROM_POLICY = "yes"; };
''' % GPU0
host.policies(t10_train=POLICY)
os.makedirs('/srv/datasets/sub')
os.makedirs('/srv/outputs/train')
write('/srv/datasets/x', 'data\n')
os.chown('/srv/outputs/train', MAXID, MAXID)

# what a container can see and do, as «name=value» lines
PROBE = r'''
for n in /dev/nvidia*; do [ -e $n ] && echo node=$n; done
for n in nvidia0 nvidia1 nvidiactl nvidia-uvm; do
	[ -e /dev/$n ] || continue
	case $( (: < /dev/$n) 2>&1 ) in
	*"No such device or address"*) echo open_$n=ENXIO ;; *"not permitted"*) echo open_$n=EPERM ;;
	*denied*) echo open_$n=EACCES ;; *) echo open_$n=other ;; esac
done
mknod /tmp/made c 195 1 2>/dev/null || echo made=EPERM
[ -c /tmp/made ] && case $( (: < /tmp/made) 2>&1 ) in
	*"No such device or address"*) echo made=ENXIO ;; *"not permitted"*) echo made=EPERM ;; *) echo made=other ;; esac
rm -f /tmp/made
(echo t > /srv/datasets/new) 2>/dev/null && echo wrote_ro=yes
(echo t > /srv/outputs/new) 2>/dev/null && echo wrote_rw=yes
cat /srv/datasets/x 2>/dev/null | head -1
env
cat /proc/self/mountinfo
'''
probe = ['/bin/sh', '-c', PROBE]


def lines(r):
    return r.stdout.splitlines()


def values(r, key):
    return sorted(l.split('=', 1)[1] for l in lines(r) if l.startswith(key + '='))


# a task that requests what its pipeline may have
def big_numbers(spec):
    spec['process']['rlimits'] = [{'type': 'RLIMIT_CORE', 'hard': 'BIG', 'soft': 'BIG'}]
    spec['annotations']['precise'] = 'x'


b = Bundle(host, env=TRAIN + ['GPUHELPER_GPUS=1', 'GPUHELPER_FOLDERS=/srv/datasets:ro,/srv/outputs/train:rw'], args=probe,
           edit=big_numbers, raw=lambda t: t.replace('"BIG"', '18446744073709551615'))
before = b.config()
r = b.run()
ok(r.returncode == 0, tag + 'a granted task runs', r.stdout + str(b.errors()))
ok(values(r, 'node') == ['/dev/nvidia-uvm', '/dev/nvidia-uvm-tools', '/dev/nvidia0', '/dev/nvidiactl'],
   tag + 'its /dev has the granted GPU and no other', values(r, 'node'))
ok(values(r, 'open_nvidia0') == ['ENXIO'] and values(r, 'open_nvidia-uvm') == ['ENXIO'],
   tag + 'its cgroup allows the granted node', r.stdout[:600])
ok('data' in lines(r) and not values(r, 'wrote_ro'), tag + 'the ro folder can be read, but not written')
ok(values(r, 'wrote_rw') == ['yes'] and os.path.exists('/srv/outputs/train/new'), tag + 'the rw folder can be written')
ok(not os.path.exists('/srv/datasets/new'), tag + 'nothing was written into the ro folder')
info = {l.split()[4]: l.split()[5] for l in lines(r) if ' - ' in l and len(l.split()) > 6}
for target, access in (('/srv/datasets', 'ro'), ('/srv/outputs', 'rw')):
    flags = info.get(target, '').split(',')
    ok({access, 'nosuid', 'nodev'} <= set(flags), tag + '%s is mounted %s,nosuid,nodev' % (target, access), flags)
ok(values(r, 'FROM_POLICY') == ['yes'], tag + "the policy's environment is set")
ok(values(r, 'NVIDIA_VISIBLE_DEVICES') == ['void'], tag + 'NVIDIA_VISIBLE_DEVICES is set once, to «void»')

# only the expected parts of config.json changed
after = b.config()
allowed = {'.process.env', '.mounts', '.linux.devices', '.linux.resources.devices', '.linux.maskedPaths', '.annotations.gpuhelper.added'}
SELINUX = os.path.exists('/sys/fs/selinux/enforce')
if SELINUX:
    allowed |= {'.process.selinuxLabel', '.linux.mountLabel'}
# with SELinux crun gets the nodes as mounts
BOUND = SELINUX and host.name == 'crun'
if BOUND:
    allowed -= {'.linux.devices'}
diff = set(differences(exact(before), exact(after)))
ok(diff == allowed, tag + 'only env, mounts, devices, rules, maskedPaths and our mark changed', diff)
ok(after.count('18446744073709551615') == 2, tag + 'numbers above 2^63 are kept')
old, new = json.loads(before), json.loads(after)
for m in old['mounts']:
    # runtimes cannot label a cgroup2 mount; they treat the two types alike
    if SELINUX and m['type'] == 'cgroup2':
        m['type'] = 'cgroup'
ok(new['mounts'][:len(old['mounts'])] == old['mounts'] and
   len([m for m in new['mounts'] if not (BOUND and m['destination'].startswith('/dev/nvidia'))]) == len(old['mounts']) + 2,
   tag + 'the old mounts keep their order, and ours follow')
ok(new['linux']['resources']['devices'] == [DENY_ALL] + old['linux']['resources']['devices'] +
   [{'allow': True, 'type': 'c', 'major': m, 'minor': n, 'access': 'rw'} for m, n in ((195, 0), (195, 255), (510, 0), (510, 1))],
   tag + 'the device rules are a denial of all, the old rules, and exact new ones', new['linux']['resources']['devices'])
ok(new['linux']['maskedPaths'] == ['/proc/driver/nvidia/gpus/0000:af:00.0'], tag + 'the other GPU is masked in /proc')
ok(os.stat(b.dir + '/config.json').st_mode & 0o777 == 0o600, tag + "only the owner can read config.json, which has the policy's environment")
ok([f for f in os.listdir(b.dir) if f.startswith('.')] == [], tag + 'no temporary file is left in the bundle')
rec = [a for a in audit() if a.get('container') == b.id]
ok([a['event'] for a in rec] == ['grant', 'end'] and rec[0]['policy'] == 't10-train.conf' and
   rec[0]['gpus'] == ['nvidia 0000:3b:00.0 ' + GPU0] and rec[0]['pipeline'] == 'train' and
   rec[1]['team'] == 'ml' and rec[1]['pipeline'] == 'train' and 'identity' not in rec[1] and
   [f['access'] for f in rec[0]['folders']] == ['ro', 'rw'], tag + 'the audit log has the grant and its end', rec)
ok(leases() == [], tag + 'the lease ends with the container', leases())

# containers without a request
for sample in ('task', 'get', 'put', 'check', 'task-forged-env', 'task-allowed-device'):
    b = Bundle(host, sample, args=probe)
    before = b.config()
    r = b.run()
    ok(r.returncode == 0, tag + 'plain %s runs' % sample, r.stdout + str(b.errors()))
    ok(os.stat(b.dir + '/config.json').st_mode & 0o777 == 0o644, tag + 'plain %s: config.json keeps its mode' % sample)
    nodes = [n for n in values(r, 'node') if n != '/dev/nvidia0' or sample != 'task-forged-env']
    ok(nodes == [] and 'ENXIO' not in values(r, 'open_nvidia0') + values(r, 'made'), tag + 'plain %s has no GPU' % sample, r.stdout[:500])
    ok(values(r, 'NVIDIA_VISIBLE_DEVICES') == ['void'], tag + 'plain %s: NVIDIA_VISIBLE_DEVICES=void' % sample)
    diff = set(differences(exact(before), exact(b.config())))
    ok(diff == {'.process.env', '.linux.resources.devices'}, tag + 'plain %s: only env and device rules changed' % sample, diff)
    rules = [r for r in json.loads(before)['linux']['resources']['devices'] if r['major'] != 195]
    ok(json.loads(b.config())['linux']['resources']['devices'] == [DENY_ALL] + rules, tag + 'plain %s: a denial of all, then its own rules without GPUs' % sample)
ok(not [a for a in audit() if a['event'] == 'plain'], tag + 'plain containers are not recorded by default')

# The task's own volume over /dev/nvidia0 and /srv: harmless in a plain container, refused if it would cover a grant.
b = Bundle(host, 'task-forged-env', env=['GPUHELPER_GPUS=1'])
r = b.run()
ok(r.returncode == 1 and 'would cover' in r.stdout and leases() == [], tag + 'a task\'s own mounts at /srv and /dev/nvidia0 are refused beside a grant', r.stdout)

# privileged
os.environ.pop('X', None)
host.settings('privileged = "hide-gpus";')
b = Bundle(host, 'task-privileged', args=probe)
r = b.run()
ok(r.returncode == 0 and values(r, 'node') == [] and values(r, 'made') == ['EPERM'],
   tag + 'privileged, plain: no node; opening one that it makes gives EPERM', r.stdout[:500] + str(b.errors()))
b = Bundle(host, 'task-privileged', env=TRAIN + ['GPUHELPER_GPUS=1'], args=probe)
r = b.run()
ok(r.returncode == 0 and values(r, 'open_nvidia0') == ['ENXIO'] and values(r, 'made') == ['EPERM'],
   tag + 'privileged, granted: the granted GPU opens; the other one, made with mknod, does not', r.stdout[:500] + str(b.errors()))


def everything(spec):
    spec['linux']['resources']['devices'] = [{'allow': True, 'access': 'rwm'}]


def wildcard(spec):
    spec['linux']['resources']['devices'] = [{'allow': False, 'access': 'rwm'}, {'allow': True, 'type': 'c', 'access': 'rwm'}]


OTHERS = 'mknod /tmp/z c 1 5; head -c 1 /tmp/z >/dev/null && echo zero=open; '
for name, edit in (('all devices', everything), ('every character device', wildcard)):
    for env in ([], TRAIN + ['GPUHELPER_GPUS=1']):
        b = Bundle(host, 'task-privileged', env=env, args=['/bin/sh', '-c', OTHERS + PROBE], edit=edit)
        r = b.run()
        kind = 'granted' if env else 'plain'
        good = values(r, 'made') == ['EPERM'] and values(r, 'zero') == ['open'] and values(r, 'open_nvidia0') == (['ENXIO'] if env else [])
        ok(r.returncode == 0 and good, tag + 'privileged with a rule for %s, %s: only the GPUs are removed' % (name, kind), r.stdout[:500] + str(b.errors()))
host.settings('privileged = "deny";')
b = Bundle(host, 'task-privileged')
r = b.run()
ok(r.returncode == 1 and 'privileged' in r.stdout, tag + 'privileged = "deny" refuses a privileged container', r.stdout)
# nor does an exec make a container privileged
WEAK = ['CAP_CHOWN', 'CAP_KILL', 'CAP_MKNOD']


def as_root(spec, caps=WEAK):
    ordinary(spec, caps)


def process_file(b, caps):
    write(b.dir + '/p.json', json.dumps({'args': ['/bin/true'], 'cwd': '/', 'env': ['PATH=/bin'], 'user': {'uid': 0, 'gid': 0}, 'terminal': False,
                                         'capabilities': {k: caps for k in ('bounding', 'effective', 'permitted')}}))
    return b.dir + '/p.json'


for sample, denied in (('task-privileged', True), ('task', False)):
    b = Bundle(host, sample, args=['/bin/sleep', '60'], edit=as_root)
    b.start()
    where = 'without a user namespace' if denied else 'with one of its own'
    for words in (('--cap', 'CAP_SYS_ADMIN'), ('-c', 'CAP_SYS_PTRACE'), ('--cap=CAP_BPF',)):
        r = b.call('exec', *words, b.id, '/bin/true')
        ok((r.returncode == 1 and 'privileged = "deny"' in b.errors()[-1]) if denied else r.returncode == 0, tag + 'exec %s, %s' % (' '.join(words), where), (r.stdout, b.errors()))
    r = b.call('exec', '--process', process_file(b, WEAK + ['CAP_SYS_ADMIN']), b.id)
    ok((r.returncode == 1 and 'privileged = "deny"' in b.errors()[-1]) if denied else r.returncode == 0, tag + 'exec --process with CAP_SYS_ADMIN, %s' % where, (r.stdout, b.errors()))
    r = b.call('exec', '--cap', 'CAP_KILL', b.id, '/bin/true')
    ok(r.returncode == 0, tag + 'exec with other capabilities works, %s' % where, r.stdout)
    r = b.call('exec', '--process', process_file(b, WEAK), b.id)
    ok(r.returncode == 0, tag + '  from a file, too, %s' % where, r.stdout)
    b.delete()


def hosts_ids(spec):
    as_root(spec)
    spec['root']['path'] = host.priv_rootfs
    spec['linux'].update({k: [{'containerID': 0, 'hostID': 0, 'size': 65536}] for k in ('uidMappings', 'gidMappings')})


b = Bundle(host, args=['/bin/sleep', '60'], edit=hosts_ids)
b.start()
r = b.call('exec', '--cap', 'CAP_SYS_ADMIN', b.id, '/bin/true')
ok(r.returncode == 1 and 'privileged = "deny"' in b.errors()[-1], tag + 'exec --cap CAP_SYS_ADMIN is refused in a user namespace whose root is the host\'s', (r.stdout, b.errors()))
r = b.call('exec', '--cap', 'CAP_KILL', b.id, '/bin/true')
ok(r.returncode == 0, tag + '  exec with other capabilities works there', r.stdout)
b.delete()
host.settings('privileged = "allow";')
b = Bundle(host, 'task-privileged', args=probe, edit=everything)
r = b.run()
ok(r.returncode == 0 and values(r, 'made') == ['ENXIO'], tag + 'privileged = "allow" keeps a container\'s own devices', r.stdout[:300] + str(b.errors()))
host.settings('privileged = "hide-gpus";')

# an exec into a container that does not pause needs the helper only for its record
b = Bundle(host, env=TRAIN + ['GPUHELPER_GPUS=1'], args=['/bin/sleep', '1000'])
b.start()
r = b.exec('(: < /dev/nvidia0) 2>&1')
ok('No such device or address' in r.stdout, tag + 'a task that exec starts has the GPU', r.stdout)
told = [e for e in audit() if e.get('container') == b.id and e['event'] == 'exec']
ok(len(told) == 1 and told[0]['policy'] and len(told[0]['gpus']) == 1 and told[0]['uid'] == 0 and 'gpuhelper' not in r.stdout,
   tag + 'the exec is in the audit log, without a message', (told, r.stdout))

def exec_while_locked(seconds):
    """What an exec says, and how many records it has, while another request has the leases locked for so long."""
    before = len(audit())
    with open('/run/gpuhelper/lock') as f:
        fcntl.flock(f, fcntl.LOCK_EX)
        timer = threading.Timer(seconds, lambda: fcntl.flock(f, fcntl.LOCK_UN))
        timer.start()
        said = b.exec('echo goes on').stdout
        timer.cancel()
    return said, len([e for e in audit()[before:] if e.get('container') == b.id and e['event'] == 'exec'])


ok(exec_while_locked(2) == ('goes on\n', 1), tag + 'an exec waits up to 2 s for the lock, and is recorded')
said, records = exec_while_locked(7)
ok('goes on' in said and 'not in the audit log' in said and records == 0, tag + 'after some seconds the exec goes on, and says that it is not recorded', (said, records))
os.rename('/usr/libexec/gpuhelper/gpuhelper', '/usr/libexec/gpuhelper/away')
r = b.exec('echo goes on')
os.rename('/usr/libexec/gpuhelper/away', '/usr/libexec/gpuhelper/gpuhelper')
ok(r.returncode == 0 and 'goes on' in r.stdout and 'not in the audit log' in r.stdout, tag + 'without the helper an exec goes on, with a message', r.stdout)
b.delete()
plain = Bundle(host, args=['/bin/sleep', '1000'])
plain.start()
r = plain.exec('true')
ok(r.returncode == 0 and [e for e in audit() if e.get('container') == plain.id] == [], tag + 'an exec into a plain container does not call the helper', r.stdout)
plain.delete()

# create, start, exec, delete, as an engine does
b = Bundle(host, env=TRAIN + ['GPUHELPER_GPUS=1'])
pid = b.start()
ok(len(leases()) == 1, tag + 'a created container holds a lease')
r = b.exec('(: < /dev/nvidia0) 2>&1; (: < /dev/nvidia1) 2>&1')
ok('No such device or address' in r.stdout and 'nonexistent' in r.stdout.lower() or "can't open /dev/nvidia1" in r.stdout,
   tag + 'a process that exec starts has the GPU', r.stdout)
b2 = Bundle(host, env=TRAIN + ['GPUHELPER_GPUS=1'])
r = b2.run()
ok(r.returncode == 1 and 'taken by' in r.stdout and 'ml/train' in r.stdout, tag + 'the GPU is exclusive: a second container is refused, and told the holder', r.stdout)
r = b.call('kill', b.id, 'KILL')
ok(r.returncode == 0, tag + 'kill is passed on', r.stdout)
time.sleep(0.2)
r = b.delete()
ok(r.returncode == 0 and leases() == [], tag + 'delete ends the lease', r.stdout + str(leases()))
r = b.delete()
direct = sh(host.runtime, '--root', W + '/root', 'delete', '--force', b.id)
ok(r.returncode == direct.returncode, tag + 'delete of an unknown id does what the runtime does', (r.returncode, direct.returncode))

# the container dies without a delete: the next request notices
b = Bundle(host, env=TRAIN + ['GPUHELPER_GPUS=1'])
os.kill(b.start(), 9)
time.sleep(0.2)
b2 = Bundle(host, env=TRAIN + ['GPUHELPER_GPUS=1'], args=['/bin/true'])
r = b2.run()
ok(r.returncode == 0, tag + 'after a container was killed, its GPU is free at the next request', r.stdout + str(b2.errors()))
b.delete()

# the runtime's state is lost, but the container lives on
b = Bundle(host, env=TRAIN + ['GPUHELPER_GPUS=1'])
pid = b.start()
shutil.rmtree('%s/root/%s' % (W, b.id))
r = b.delete()
states = [l['state'] for l in json.loads(sh('/usr/sbin/gpuhelperctl', 'status', '--json').stdout)['leases']]
ok(states == ['draining' if r.returncode == 0 else 'held'], tag + 'its state is removed, then «delete», while it runs: %s' % states, r.stdout)
b2 = Bundle(host, env=TRAIN + ['GPUHELPER_GPUS=1'], args=['/bin/true'])
r = b2.run()
ok(r.returncode == 1 and 'taken by' in r.stdout, tag + 'nobody else gets its GPU', r.stdout)
r = b2.call('--root', W + '/root2', 'delete', '--force', b.id)
ok(len(leases()) == 1, tag + 'a delete with another --root does not end the lease', r.stdout)
os.kill(pid, 9)
time.sleep(0.2)
b2 = Bundle(host, env=TRAIN + ['GPUHELPER_GPUS=1'], args=['/bin/true'])
r = b2.run()
ok(r.returncode == 0 and leases() == [], tag + 'the lease ends when the container is gone', r.stdout)

# closed nodes are opened to the container's root, in addition to its device cgroup
for n in '/dev/nvidia0', '/dev/nvidia1', '/dev/nvidiactl':
    os.chmod(n, 0o600)
b = Bundle(host, env=TRAIN + ['GPUHELPER_GPUS=1'])
b.start()
acl = sh('getfacl', '-npE', '/dev/nvidia0', '/dev/nvidiactl').stdout
r = b.exec('(: < /dev/nvidia0) 2>&1')
ok(acl.count('user:%d:rw-' % MAXID) == 2 and 'No such device or address' in r.stdout,
   tag + "a node of mode 0600 is opened to the container's root (uid %d here)" % MAXID, (acl, r.stdout))
b.delete()
acl = sh('getfacl', '-npE', '/dev/nvidia0', '/dev/nvidia1', '/dev/nvidiactl').stdout
ok('user:%d' % MAXID not in acl and 'mask' not in acl and 'group::---' in acl, tag + 'the end of the lease closes the node', acl)
for n in '/dev/nvidia0', '/dev/nvidia1', '/dev/nvidiactl':
    os.chmod(n, 0o666)

# shared, with a limit
host.policies(t10=POLICY.replace('devices = ', 'sharing = "shared"; share_limit = 2; devices = '))
held = [Bundle(host, env=TRAIN + ['GPUHELPER_GPUS=1']) for _ in range(2)]
for h in held:
    h.start()
b = Bundle(host, env=TRAIN + ['GPUHELPER_GPUS=1'])
r = b.run()
ok(len(leases()) == 2 and r.returncode == 1 and 'taken by' in r.stdout, tag + 'share_limit = 2: the third container is refused', r.stdout)
for h in held:
    h.delete()
ok(leases() == [], tag + 'both leases end', leases())

# waiting
host.policies(t10=POLICY.replace('devices = ', 'wait = 5; devices = '))
first = Bundle(host, env=TRAIN + ['GPUHELPER_GPUS=1'])
first.start()
second = Bundle(host, env=TRAIN + ['GPUHELPER_GPUS=1'], args=['/bin/true'])
p = subprocess.Popen([WRAPPER, '--root', W + '/root', '--log', second.log, '--log-format', 'json', 'run', '--bundle', second.dir, second.id],
                     stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, text=True)
time.sleep(0.7)
waiting = p.poll() is None
first.delete()
out = p.communicate(timeout=20)[0]
ok(waiting and p.returncode == 0, tag + 'wait = 5: the second container waits and then runs', out)
ok(second.errors() == [], tag + 'waiting writes no error into the log', second.errors())

# records of plain containers are optional; with them, plain containers need the log
host.settings('audit = { plain = true; };')
b = Bundle(host, args=['/bin/true'])
r = b.run()
ok(r.returncode == 0 and [a['event'] for a in audit() if a.get('container') == b.id] == ['plain'], tag + 'audit.plain records plain containers', r.stdout)


# what an engine's options bring is taken away, but not in silence
def with_nodes(*names, mount=None, hook=None):
    def edit(spec):
        spec['linux'].setdefault('devices', []).extend({'path': '/dev/' + n, 'type': 'c', 'major': os.major(os.stat('/dev/' + n).st_rdev),
                                                        'minor': os.minor(os.stat('/dev/' + n).st_rdev)} for n in names)
        if mount:
            spec['mounts'].append({'destination': mount, 'type': 'bind', 'source': mount, 'options': ['bind']})
        if hook:
            spec['hooks'] = {'prestart': [{'path': hook, 'args': ['x', 'prestart']}]}
    return edit


hook = write('/usr/bin/nvidia-container-runtime-hook', IDLE_HOOK, 0o755)
NONE = ': this container has no grant'
for name, edit, env, says in (
        ('--device /dev/nvidia0', with_nodes('nvidia0'), [], ['removed /dev/nvidia0' + NONE]),
        ('--device nvidia.com/gpu=0', with_nodes('nvidia0', 'nvidiactl', 'nvidia-uvm', 'nvidia-uvm-tools'), [], ['removed /dev/nvidia0, /dev/nvidiactl, /dev/nvidia-uvm and 1 more' + NONE]),
        ('-v /dev/nvidia1:/dev/nvidia1', with_nodes(mount='/dev/nvidia1'), [], ['removed /dev/nvidia1' + NONE]),
        ("docker's --gpus all", with_nodes(hook=hook), [], ['removed nvidia-container-runtime-hook' + NONE]),
        ('a node that a grant does not have', with_nodes('nvidia0', 'nvidia1'), TRAIN + ['GPUHELPER_GPUS=1'], ['removed /dev/nvidia1: the grant of this container does not have that']),
        ('nothing', None, [], []),
        ('a granted node', with_nodes('nvidia0'), TRAIN + ['GPUHELPER_GPUS=1'], []),
        ('GPUHELPER_GPU', None, ['GPUHELPER_GPU=1'], ['GPUHELPER_GPU has no effect: did you mean GPUHELPER_GPUS?']),
        ('GPUHELPER_GPUs', None, ['GPUHELPER_GPUs=1'], ['GPUHELPER_GPUs has no effect: did you mean GPUHELPER_GPUS?']),
        ('GPUHELPER_FOLDER', None, ['GPUHELPER_FOLDER=/srv'], ['GPUHELPER_FOLDER has no effect: did you mean GPUHELPER_FOLDERS?']),
        ('an annotation', lambda s: s.setdefault('annotations', {}).update(GPUHELPER_TOKENS='x'), [], ['GPUHELPER_TOKENS has no effect: did you mean GPUHELPER_TOKEN?']),
        ('a variable that is far from ours', None, ['GPUHELPER_REQUEST=1', 'NVIDIA_VISIBLE_DEVICES=all'], [])):
    b = Bundle(host, env=env, args=['/bin/true'], edit=edit)
    seen, r = len(audit()), b.run()
    told = [l[len('gpuhelper: warning: '):] for l in r.stdout.splitlines() if l.startswith('gpuhelper: warning: ') and 'image' not in l]
    logged = [json.loads(l)['msg'] for l in open(b.log)] if os.path.exists(b.log) else []
    why = [a.get('reason') for a in audit()[seen:] if a['event'] == 'plain']
    ok(r.returncode == 0 and told == says and all(any(s in l for l in logged) for s in says) and
       (why == (['gpuhelper-runc: ' + says[0]] if says and 'removed' in says[0] else [None]) if not env or TRAIN[0] not in env else why == []),
       tag + '%s: %s' % (name, says[0] if says else 'no warning'), (r.returncode, r.stdout, logged, why))
os.unlink(hook)
os.chmod('/var/log/gpuhelper', 0o777)
b = Bundle(host, args=['/bin/true'])
r = b.run()
ok(r.returncode == 1 and '/var/log/gpuhelper' in r.stdout, tag + 'audit.plain: with an untrusted log no plain container is made', r.stdout)
b = Bundle(host, env=TRAIN + ['GPUHELPER_GPUS=1'], args=['/bin/true'])
r = b.run()
ok(r.returncode == 1 and leases() == [], tag + 'without an audit log there is no grant', r.stdout)
os.chmod('/var/log/gpuhelper', 0o750)
host.settings()

# grant_unasked: only a «caller» policy gives something to a container without a request
CALLER = 'identity = "caller";\ncallers = [ "root" ];\nfolders = ( { path = "/srv/datasets"; access = "ro"; } );\n'
host.policies(t10=CALLER)
r = Bundle(host, args=probe).run()
ok(r.returncode == 0 and 'data' not in lines(r), tag + 'a caller policy alone gives nothing to a silent container', r.stdout[:300])
host.settings('grant_unasked = true;')
r = Bundle(host, args=probe).run()
ok(r.returncode == 0 and 'data' in lines(r), tag + 'grant_unasked: a silent container gets everything in its policy', r.stdout[:300])
host.policies(t10=POLICY)
r = Bundle(host, env=TRAIN, args=probe).run()
ok(r.returncode == 0 and 'data' not in lines(r) and values(r, 'node') == [], tag + 'grant_unasked: a claim alone gives a silent container nothing', r.stdout[:300])
host.settings()
# A grant without GPUs hides those of the host, too, where they were looked for.
host.settings('grant_unasked = true;')
host.policies(t10='identity = "caller"; folders = ( { path = "/srv/datasets"; } );', t90='identity = "caller"; gpus = ( { vendor = "nvidia"; } );')
b = Bundle(host, env=[], args=['/bin/true'])
b.run()
hidden = [p for p in json.loads(b.config())['linux'].get('maskedPaths') or [] if p.startswith('/proc/driver/nvidia')]
ok(hidden == ['/proc/driver/nvidia/gpus/0000:%s:00.0' % n for n in ('3b', 'af')], tag + 'a container that is granted a folder alone does not see which GPUs there are', hidden)
host.settings('')

# Without gpuhelper-engine nothing is granted; the record of the refusal says who claimed to ask.
ENGINE = '/usr/libexec/gpuhelper/gpuhelper-engine'
host.policies(t10='pipeline = "ml/train"; identity = "claim"; gpus = ( { vendor = "nvidia"; } );')
os.rename(ENGINE, ENGINE + '.off')
r = Bundle(host, env=TRAIN + ['GPUHELPER_GPUS=1'], args=['/bin/true']).run()
os.rename(ENGINE + '.off', ENGINE)
last = audit()[-1]
ok(r.returncode != 0 and 'gpuhelper-engine' in r.stdout and (last['event'], last.get('identity'), last.get('team'), last.get('pipeline')) == ('refuse', 'claim', 'ml', 'train'),
   tag + 'without gpuhelper-engine nothing is granted, and the record of the refusal has the claimed pipeline', (r.stdout, last))
done()
