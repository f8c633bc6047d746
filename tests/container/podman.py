#!/usr/bin/env python3
"""podman as the engine, rootless and rootful, with gpuhelper-runc as its runtime and an image from a tarball.

usage: podman.py rootless|rootful    (in tests/lib/sandbox.sh --gpu nvidia-2gpu)

Rootless podman is root of its own user namespace, where a setuid bit has no effect.  So the helper has none, and runs
behind the socket (systemd-socket-activate stands in for systemd).  The GPU is /dev/nvidia9, which has /dev/urandom's
numbers and is closed to everybody but root.
"""
import json, os, pwd, re, shutil, subprocess, sys, time
from lib import *

rootless = sys.argv[1] == 'rootless'
tag = 'podman %s: ' % sys.argv[1]
if not shutil.which('podman'):
    skip(tag + 'all checks', 'there is no podman: sh tests/deps.sh check')
    done()
host = Host('runc', 'v1')
NODE = urandom_gpu()
USERS = {'worker': 300000, 'stranger': 400000} if rootless else {'root': 500000}
for user, first in USERS.items():
    if rootless:
        sh('useradd', '--create-home', '-G', 'gpuhelper', user)
    subordinate(user, first, 65536)
    uid = pwd.getpwnam(user).pw_uid
    for d in '%s/%s' % (W, user), '/run/user/%d' % uid:
        os.makedirs(d)
        os.chmod(d, 0o700)
        os.chown(d, uid, uid)
host.settings('unenforced = "allow";')
with open('/etc/gpuhelper/gpuhelper.conf', 'a') as f:
    f.write('volumes = [ %s ];\n' % ', '.join('"%s/%s/store"' % (W, u) for u in USERS))
text = open('/etc/gpuhelper/gpuhelper.conf').read().replace('volumes = [ "%s/vol" ];\n' % W, '')
write('/etc/gpuhelper/gpuhelper.conf', text)
who = 'worker' if rootless else 'root'
UID = pwd.getpwnam(who).pw_uid
host.policies(t10='identity = "caller"; callers = [ "%s" ];\ngpus = ( { vendor = "nvidia"; devices = [ "0000:3b:00.0" ]; } );\n'
                  'folders = ( { path = "/srv/data"; access = "rw"; } );\n' % who)
os.makedirs('/srv/data')
os.chown('/srv/data', UID, UID)
rootfs = busybox_rootfs(W + '/image', 0)
tar = W + '/image.tar'
assert sh('tar', '-C', rootfs, '-cf', tar, '.').returncode == 0
os.chmod(W, 0o755)
os.chmod(tar, 0o644)
if rootless:
    open_door()


def podman(*words, user=who, bare=False):
    p = pwd.getpwnam(user)
    d = '%s/%s' % (W, user)
    before = ['setpriv', '--reuid', user, '--regid', user, '--init-groups', '--'] if user != 'root' else []
    runtime = [] if bare else ['--runtime', WRAPPER]
    return sh(*before, 'env', '-i', 'HOME=' + d, 'PATH=/usr/sbin:/usr/bin:/sbin:/bin', 'XDG_RUNTIME_DIR=/run/user/%d' % p.pw_uid,
              'podman', '--root', d + '/store', '--runroot', d + '/run', '--storage-driver', 'vfs', '--cgroup-manager', 'cgroupfs',
              '--events-backend', 'file', '--log-level', 'error', *runtime, *words, cwd=d)


def run(*options, user=who, script='true'):
    r = podman('run', '--rm', '--network', 'none', *options, 'image', '/bin/sh', '-c', script, user=user)
    r.stdout = without_warning(r.stdout)
    return r


ASK = ['-e', 'GPUHELPER_GPUS=1', '-e', 'GPUHELPER_FOLDERS=all']
READ = 'head -c 4 %s | /bin/busybox wc -c' % NODE
version = sh('podman', '--version').stdout.split()[-1]
for user in USERS:
    r = podman('import', tar, 'image', user=user)
    assert r.returncode == 0, r.stdout
    # Each podman gives these directories to root, and one with --uidmap to its container's root: the cleanup of an
    # earlier container may do so while a runtime with the other owner is on its way through them.
    for d in 'vfs', 'vfs/dir':
        os.chmod('%s/%s/store/%s' % (W, user, d), 0o711)
r = podman('--runtime', host.runtime, 'run', '--rm', '--network', 'none', 'image', '/bin/sh', '-c', 'echo ran', bare=True)
if 'ran' not in r.stdout:
    skip(tag + 'all checks', 'podman %s by itself says: %s' % (version, r.stdout.strip().replace('\n', ' ')))
    done()
print('# podman %s' % version)


def look():
    sh('/usr/sbin/gpuhelperctl', 'reap')


def nothing_left(text):
    look()
    ok(leases() == [] and ':rw-\n' not in sh('getfacl', '-cnpE', NODE).stdout.replace('user::rw-\n', ''),
       tag + text + ': no lease, no entry', (leases(), sh('getfacl', '-np', NODE).stdout))


r = run(script='echo ran; ls %s' % NODE)
ok('ran' in r.stdout and 'No such file' in r.stdout, tag + 'a plain container runs and has no GPU', r.stdout)
r = run(*ASK, script='%s; echo x > /srv/data/new; cat /srv/data/new; ls /dev/nvidia*' % READ)
ok(r.stdout.split()[:2] == ['4', 'x'] and '/dev/nvidia0' not in r.stdout, tag + 'its root can read the GPU and write the folder', r.stdout)
ok(os.stat('/srv/data/new').st_uid == UID, tag + 'the file belongs to its uid on the host')
nothing_left('when it is over')
r = run(*ASK, '-e', 'GPUHELPER_GPUS=2')
ok(r.returncode != 0 and 'gpuhelper' in r.stdout and '2 GPUs' in r.stdout, tag + 'podman shows the refusal: «%s»' % r.stdout.strip(), r.stdout)
r = run(*ASK, '-v', '/run/gpuhelper:/run/gpuhelper')
ok(r.returncode != 0 and '/run/gpuhelper' in r.stdout, tag + "the socket's directory is not mounted into a container", r.stdout)
if rootless:
    sh('setfacl', '-m', 'u:%d:rwx' % (USERS[who] + 6), '/srv/data')
    r = run(*ASK, '--user', '7:7', script='%s; echo y > /srv/data/seven; cat /srv/data/seven' % READ)
    ok(r.stdout.split() == ['4', 'y'], tag + 'another user of the container has the GPU and the folder, too', r.stdout)
    ok(os.stat('/srv/data/seven').st_uid == USERS[who] + 6, tag + 'the file belongs to that user\'s id in /etc/subuid')
else:
    os.chown('/srv/data', USERS[who], USERS[who])
    r = run(*ASK, '--uidmap', '0:500000:65536', script='%s; echo y > /srv/data/mapped; cat /srv/data/mapped' % READ)
    ok(r.stdout.split() == ['4', 'y'], tag + 'root of a user namespace has the GPU and the folder, too', r.stdout)
    ok(os.path.exists('/srv/data/mapped') and os.stat('/srv/data/mapped').st_uid == USERS[who], tag + 'the file belongs to that root\'s id in /etc/subuid')
nothing_left('when it is over')

# an image's author chooses its WORKDIR and its links: neither may make the runtime write into a folder given for reading
os.makedirs('/srv/ro/there')
os.chown('/srv/ro', UID, UID)       # the caller may write there, and so may its runtime before the mount is read-only
POLICY = open('/etc/gpuhelper/policy.d/t10.conf').read()
host.policies(t10=POLICY, t20='identity = "caller"; callers = [ "%s" ];\nfolders = ( { path = "/srv/ro"; access = "ro"; } );\n' % who)
before = sorted(os.listdir('/srv/ro'))


def image_with(change=(), links=()):
    """An image with these instructions, and links in its root."""
    r = sh('cp', '-a', rootfs, W + '/changed')
    for place, to in links:
        os.makedirs(os.path.dirname(W + '/changed' + place), exist_ok=True)
        if os.path.isdir(W + '/changed' + place):
            os.rmdir(W + '/changed' + place)
        os.symlink(to, W + '/changed' + place)
    r = sh('tar', '-C', W + '/changed', '-cf', W + '/changed.tar', '.')
    os.chmod(W + '/changed.tar', 0o644)
    shutil.rmtree(W + '/changed')
    r = podman('import', *[w for c in change for w in ('--change', c)], W + '/changed.tar', 'changed')
    assert r.returncode == 0, r.stdout


for name, change, links in (('a WORKDIR in the folder', ['WORKDIR /srv/ro/made/by/pr'], ()),
                            ('a WORKDIR through a link of the image', ['WORKDIR /w/pr'], [('/w', '/srv/ro/made')]),
                            ('a link from the folder to /dev', [], [('/srv/ro', '/dev')]),
                            ('a link from the folder to /proc', [], [('/srv/ro', '../proc')])):
    image_with(change, links)
    r = podman('run', '--rm', '--network', 'none', '-e', 'GPUHELPER_FOLDERS=/srv/ro', 'changed', '/bin/sh', '-c', 'echo ran')
    ok('ran' not in r.stdout.split() and 'gpuhelper-runc: ' in r.stdout and sorted(os.listdir('/srv/ro')) == before and os.listdir('/srv/ro/there') == [],
       tag + '%s is refused, and the folder is as it was' % name, (r.stdout, sh('find', '/srv/ro').stdout))
image_with(['WORKDIR /srv/ro/there'])
r = podman('run', '--rm', '--network', 'none', '-e', 'GPUHELPER_FOLDERS=/srv/ro', 'changed', '/bin/sh', '-c', 'pwd; echo ran')
ok('ran' in r.stdout and sorted(os.listdir('/srv/ro')) == before, tag + 'a WORKDIR that is there is allowed', r.stdout)
host.policies(t10=POLICY)
nothing_left('after such images')

# podman injects the granted GPU itself, by the same CDI spec
VERSION = re.search(r'(\d{3}\.\d+\.\d+)', open('/proc/driver/nvidia/version').read()).group(1)
D, HOOK = '/usr/lib/x86_64-linux-gnu', '/usr/bin/nvidia-cdi-hook'
CUDA, PROFILE = '%s/libcuda.so.%s' % (D, VERSION), '/usr/share/nvidia-test'
write(CUDA, 'driver', 0o755)
write(PROFILE + '/profile', 'profile')
write('/srv/other', 'other')
r = sh('cc', '-std=c11', '-D_GNU_SOURCE', '-O1', '-static', '-o', HOOK, TESTS + '/container/hook.c')
assert r.returncode == 0, r.stdout
OPTIONS = ['ro', 'nosuid', 'nodev', 'rbind', 'rprivate']


def cdi(options=OPTIONS, more=(), source='/lib' + CUDA[len('/usr/lib'):]):
    """A spec of both GPUs in nvidia-ctk's form; the library's directory has a link in its path."""
    links = ['--link', 'libcuda.so.1::%s/libcuda.so' % D]
    write('/etc/cdi/nvidia.json', json.dumps({
        'cdiVersion': '0.5.0', 'kind': 'nvidia.com/gpu',
        'containerEdits': {'env': ['NVIDIA_VISIBLE_DEVICES=void'], 'deviceNodes': [{'path': '/dev/nvidiactl'}],
                           'hooks': [{'hookName': 'createContainer', 'path': HOOK, 'args': ['nvidia-cdi-hook', 'create-symlinks'] + links,
                                      'env': ['NVIDIA_CTK_DEBUG=false']}],
                           'mounts': [{'hostPath': source, 'containerPath': CUDA, 'options': options},
                                      {'hostPath': PROFILE, 'containerPath': PROFILE, 'options': OPTIONS}] + list(more)},
        'devices': [{'name': 'mine', 'containerEdits': {'deviceNodes': [{'path': NODE}]}},
                    {'name': 'other', 'containerEdits': {'deviceNodes': [{'path': '/dev/nvidia1'}]}}]}))


LOOK = '%s; ls /dev/nvidia*; cat %s/libcuda.so.1 %s/libcuda.so %s/profile; cat /proc/self/mountinfo' % (READ, D, D, PROFILE)
cdi()
r = podman('--runtime', host.runtime, 'run', '--rm', '--network', 'none', '--device', 'nvidia.com/gpu=mine', 'image', '/bin/cat', CUDA, bare=True)
if r.stdout != 'driver':
    skip(tag + '--device with a CDI name', 'podman %s by itself says: %s' % (version, r.stdout.strip().replace('\n', ' ')))
else:
    for gpus in ['mine'], ['mine', 'other']:
        r = run(*ASK[:2], *[w for g in gpus for w in ('--device', 'nvidia.com/gpu=' + g)], script=LOOK)
        seen = [l.split()[4] for l in r.stdout.splitlines() if ' - ' in l]
        ok(r.stdout.startswith('4\n') and 'driverdriverprofile' in r.stdout, tag + '--device %s and a request: the container has the GPU and its files' % gpus, r.stdout)
        ok(seen.count(CUDA) == seen.count(PROFILE) == 1, tag + '  it has each of them once', seen)
        ok(D + '/libcuda.so' not in seen and D + '/libcuda.so.1' in seen, tag + "  a hook of podman's makes a link in place of the granted name", seen)
        ok('/dev/nvidia1' not in r.stdout, tag + '  it has no other GPU', r.stdout)
    cdi(options=OPTIONS[1:])
    r = run(*ASK[:2], '--device', 'nvidia.com/gpu=mine', script='cat %s; echo >%s' % (CUDA, CUDA))
    ok('driver' in r.stdout and 'Read-only' in r.stdout, tag + '--device with a mount that may be written: the granted one is read-only', r.stdout)
    cdi()
    for why, options in (('another file', ['-v', '/srv/other:%s:ro' % CUDA]), ('the directory above', ['-v', '/srv:%s:ro' % D]),
                         ('the same file, but noexec', ['-v', '%s:%s:ro,noexec' % (CUDA, CUDA)]), ('the same directory, but writable', ['-v', '%s:%s' % (PROFILE, PROFILE)]),
                         ("another GPU's node", ['-v', '/dev/nvidia1:' + NODE])):
        r = run(*ASK[:2], *options, script='echo ran')
        ok(not r.stdout.startswith('ran') and 'gpuhelper-runc: ' in r.stdout and '--device' in r.stdout, tag + 'at a granted place, %s is refused, and the refusal names --device' % why, r.stdout)
    r = run('--device', 'nvidia.com/gpu=mine', script='ls ' + NODE)
    ok('No such file' in r.stdout, tag + '--device without a request gives no GPU', r.stdout)
nothing_left('when it is over')
shutil.rmtree('/etc/cdi')

# if privileged containers are refused, podman's ordinary ones still run
write('/etc/gpuhelper/gpuhelper.conf', text + 'privileged = "deny";\n')
HOSTS_NET = ['--network', 'host']
r = podman('pod', 'create', '--name', 'pod', '--network', 'none', '--infra-image', 'image', '--infra-command', '/bin/sleep 1000')
pod = ['--pod', 'pod'] if r.returncode == 0 else None
for options, name in ((), 'a container'), (['--cgroupns', 'host'], 'a container in the host\'s cgroup namespace'), (['--read-only'], 'a container with a read-only root'), (HOSTS_NET, 'a container in the host\'s network'), (['--init'], 'a container with an init'), (pod, 'a container in a pod'):
    if options is None:
        skip(tag + 'privileged = "deny": a container in a pod', 'podman says: ' + r.stdout.strip().replace('\n', ' '))
        continue
    if options == ['--init'] and not (shutil.which('catatonit') or os.path.exists('/usr/libexec/podman/catatonit')):
        continue
    for ask in ([], ASK) if options in ((), pod) else ([],):
        r = podman('run', '--rm', *([] if options in (pod, HOSTS_NET) else ['--network', 'none']), *options, *ask, 'image', '/bin/sh', '-c', 'echo ran')
        ok('ran' in r.stdout, tag + 'privileged = "deny": %s runs%s' % (name, ', granted' if ask else ''), r.stdout)
made = [(['--privileged'], 'CAP_'), (['--cap-add', 'SYS_PTRACE'], 'CAP_SYS_PTRACE'), (['--pid', 'host'], 'PID namespace')]
if not rootless:
    made += [(['--security-opt', 'unmask=ALL'], 'may write /proc/sys'), (['-v', '/proc:/x:ro'], "the host's proc"), (['-v', '/sys/fs:/x:ro'], 'cgroup'),
             (['-v', '/sys/kernel:/x'], 'may write in /x (sysfs)')]
for options, what in made:
    r = run(*options, script='echo ran')
    ok('ran' not in r.stdout and 'privileged = "deny"' in r.stdout and what in r.stdout, tag + 'privileged = "deny" refuses podman run %s' % ' '.join(options), r.stdout)
podman('pod', 'rm', '--force', 'pod')
write('/etc/gpuhelper/gpuhelper.conf', text)
for source in ['/dev', '/dev/nvidia9'] if rootless else []:
    r = run('-v', source + ':/x', script='ls /x; echo ran')
    ok(('no device cgroup' in r.stdout and 'ran' not in r.stdout) if source == '/dev' else ('No such file' in r.stdout and 'ran' in r.stdout),
       tag + '-v %s is %s' % (source, 'refused' if source == '/dev' else 'left out'), r.stdout)

# podman shows the runtime's warnings only at times, so the record says so, too
write('/etc/gpuhelper/gpuhelper.conf', text + 'audit = { plain = true; };\n')
seen = len(audit())
r = podman('run', '--rm', '--network', 'none', '-v', NODE + ':/x', 'image', '/bin/sh', '-c', 'ls /x; echo ran')
ok('ran' in r.stdout.split() and [a.get('reason') for a in audit()[seen:] if a['event'] == 'plain'] == ['gpuhelper-runc: removed /x: this container has no grant'],
   tag + 'the log says what was taken away', (r.stdout, audit()[seen:]))
write('/etc/gpuhelper/gpuhelper.conf', text)
r = podman('run', '--detach', '--name', 'long', '--network', 'none', *ASK, 'image', '/bin/sleep', '1000')
ok(r.returncode == 0 and len(leases()) == 1 and held_leases()[0]['uid'] == UID,
   tag + "a detached container holds its lease, in its user's name", r.stdout)
r = podman('exec', 'long', '/bin/sh', '-c', READ)
ok(r.stdout.split() == ['4'], tag + 'exec has the GPU', r.stdout)
look()
ok(len(leases()) == 1, tag + 'a look does not end the lease')
r = run(*ASK)
ok(r.returncode != 0 and 'taken' in r.stdout, tag + 'meanwhile nobody else gets the GPU', r.stdout)
if rootless:
    r = sh('setpriv', '--reuid', 'stranger', '--regid', 'stranger', '--init-groups', 'head', '-c', '4', NODE)
    ok('Permission denied' in r.stdout, tag + 'another user of the host cannot open the node', r.stdout)
    r = run(user='stranger', script='echo ran; ls %s /srv' % NODE)
    ok('ran' in r.stdout and 'No such file' in r.stdout and 'data' not in r.stdout, tag + "another user's container has neither node nor folder", r.stdout)
    r = podman('run', '--rm', '--network', 'none', '--device', NODE, 'image', '/bin/sh', '-c', 'head -c 4 %s' % NODE, user='stranger')
    ok(r.returncode != 0, tag + 'another user\'s container has no node with --device, either', r.stdout)
    r = run(*ASK, user='stranger')
    ok(r.returncode != 0 and 'gpuhelper' in r.stdout, tag + 'another user\'s requests are refused', r.stdout)
else:
    r = run(script='ls %s; mknod /n c 1 9; head -c 4 /n' % NODE)
    ok('No such file' in r.stdout, tag + 'another container has no node', r.stdout)
if not rootless:
    # root's podman is asked for the name; here it needs its options, which a script in its place gives
    write('/usr/local/sbin/podman', '#!/bin/sh\nexec /usr/bin/podman --root %s/root/store --runroot %s/root/run --storage-driver vfs "$@"\n' % (W, W), 0o755)
    r = sh('/usr/sbin/gpuhelperctl', 'end', 'long', '--dry-run')
    ok(r.returncode == 0 and 'its processes are killed' in r.stdout, tag + 'end knows a container by the name that podman has for it', r.stdout)
    r = sh('/usr/sbin/gpuhelperctl', 'end', 'nobody', '--dry-run')
    ok(r.returncode == 69 and 'no container "nobody" holds a lease' in r.stdout, tag + '  and refuses a name that podman does not know', r.stdout)
    os.unlink('/usr/local/sbin/podman')
r = podman('kill', 'long')
r2 = podman('rm', '--force', 'long')
ok(r.returncode == 0 and r2.returncode == 0, tag + 'kill and rm', r.stdout + r2.stdout)
nothing_left('then')
done()
