#!/usr/bin/env python3
"""cdi_hooks = "allow": a hook of a CDI spec can read the bundle, and nobody else reads a policy's variables there.

usage: hooks.py RUNTIME CGROUP    (in tests/lib/sandbox.sh --gpu nvidia-2gpu)

hook.c stands in for nvidia-cdi-hook.  It reads config.json of the bundle, as OCI hooks may, and makes links in the
container's root.  The GPUs and the driver's library are SIMULATED.
"""
import itertools, json, os, pwd
from lib import *

host, tag = able_host()
host.settings('privileged = "hide-gpus";')         # some containers have no user namespace and a whole /proc
TRAIN = ['BUILD_TEAM_NAME=ml', 'BUILD_PIPELINE_NAME=train', 'GPUHELPER_GPUS=1']
HOOK, LIBRARY = '/usr/libexec/gpu-hook', '/usr/lib/gpu-driver/libcuda.so.580.95.05'
LINK = '/usr/lib/gpu-driver/libcuda.so.1'
OPTIONS = ['ro', 'nosuid', 'nodev', 'rbind', 'rprivate']
ROOT, STRANGER = 100000, 1234       # ids of the host: a container's root, and another user
HOOK_ENV = 'NVIDIA_CTK_DEBUG=false'

r = sh('cc', '-std=c11', '-D_GNU_SOURCE', '-O1', '-static', '-o', HOOK, TESTS + '/container/hook.c')
assert r.returncode == 0, r.stdout
write(LIBRARY, 'driver', 0o755)


def spec(when='createContainer'):
    hook = {'hookName': when, 'path': HOOK, 'args': ['gpu-hook', 'create-symlinks', '--link', os.path.basename(LIBRARY) + '::' + LINK],
            'env': [HOOK_ENV]}
    write('/etc/cdi/nvidia.json', json.dumps({
        'cdiVersion': '0.5.0', 'kind': 'nvidia.com/gpu',
        'containerEdits': {'env': ['NVIDIA_VISIBLE_DEVICES=void', 'DRIVER_IS=here'], 'hooks': [hook],
                           'mounts': [{'hostPath': LIBRARY, 'containerPath': LIBRARY, 'options': OPTIONS}]},
        'devices': [{'name': str(n), 'containerEdits': {'deviceNodes': [{'path': '/dev/nvidia%d' % n}]}} for n in (0, 1)]}))


def policy(secret):
    host.policies(t10='pipeline = "ml/train";\nidentity = "claim";\ngpus = ( { vendor = "nvidia"; capabilities = [ "compute" ]; } );\n' +
                  ('env = { KEY = "secret"; };\n' if secret else ''))


def make(edit=lambda s: None, mode=0o644, owner=None, **kw):
    """A bundle with an image of its own, whose root may write to it."""
    image = '%s/vol/image%d' % (W, Bundle.count)
    b = Bundle(host, env=TRAIN, edit=lambda s: [edit(s), s['root'].update(path=image)],
               args=['/bin/cat', LINK], **kw)
    ids = json.loads(b.text)['linux'].get('uidMappings')
    busybox_rootfs(image, ids[0]['hostID'] if ids else 0)
    os.chmod(b.dir + '/config.json', mode)
    if owner:
        os.chown(b.dir + '/config.json', *owner)
    return b


def mapped(spec):
    """The container's root is another user than in Concourse's containers."""
    for key in 'uidMappings', 'gidMappings':
        spec['linux'][key] = [{'containerID': 0, 'hostID': ROOT, 'size': 65536}]


def may(b, access, uid, gid):
    """Whether a user of the host may read (r) or write (w) the bundle's config.json."""
    r = sh('setpriv', '--reuid', str(uid), '--regid', str(gid), '--clear-groups', 'test', '-' + access, b.dir + '/config.json')
    return r.returncode == 0


def access(b):
    st = os.stat(b.dir + '/config.json')
    return st.st_mode & 0o777, st.st_uid, st.st_gid


def works(name, b, expected):
    r = b.run()
    ok(r.returncode == 0 and r.stdout == 'driver', tag + name + ': the hook makes its link', r.stdout + str(b.errors()))
    ok(access(b) == expected, tag + '  config.json: mode %o, owner %d, group %d' % expected, '%o %d %d' % access(b))
    return r


host.settings('cdi_hooks = "allow"; privileged = "hide-gpus";')
SPACES = {'without a user namespace': ('task-privileged', lambda s: None), 'in a user namespace': ('task', lambda s: None),
          'in a user namespace with other ids': ('task', mapped)}
spec()
for (where, (sample, edit)), secret in itertools.product(SPACES.items(), (False, True)):
    policy(secret)
    b = make(edit, sample=sample)
    ids = json.loads(b.text)['linux'].get('gidMappings')
    name = where + (", with a policy's env" if secret else '')
    works(name, b, (0o644, 0, 0) if not secret else (0o640, 0, ids[0]['hostID']) if ids else (0o600, 0, 0))
    env = json.loads(b.config())['process']['env']
    ok('DRIVER_IS=here' in env and ('KEY=secret' in env) == secret, tag + '  it has the variables of the spec' + (' and of the policy' if secret else ''), env)
    ok(may(b, 'r', STRANGER, STRANGER) != secret, tag + '  another user %s read it' % ('cannot' if secret else 'can'))
    if secret:
        ok(not may(b, 'r', STRANGER, 0), tag + "  nor can a user in root's group")
    if secret and ids:
        root = ids[0]['hostID']
        ok(may(b, 'r', root, root) and not may(b, 'w', root, root), tag + "  the container's root can read it, and not write it")

# what a mode of the engine's allows, and whose file it is
policy(True)
b = make(mapped, mode=0o640, owner=(0, ROOT))
works("with a policy's env, where the engine gave config.json to the group of the container's root", b, (0o640, 0, ROOT))
b = make(mapped, mode=0o600, owner=(ROOT, ROOT))
works("with a policy's env, where the engine gave config.json to the container's root", b, (0o600, ROOT, ROOT))
b = make(mapped, mode=0o600)
r = b.run()
ok(r.returncode != 0 and access(b) == (0o600, 0, 0), tag + 'a config.json that the engine closed to the container\'s root stays closed', r.stdout)
if host.name == 'runc':     # crun 1.8 tells such a hook that its bundle is «/»
    spec('createRuntime')
    works("with a policy's env and a hook that runs as the caller", make(mapped), (0o600, 0, 0))
    spec()

# an engine that injects the device puts such a hook into config.json, whatever gpuhelper.conf says
def hooked(s):
    mapped(s)
    s['hooks'] = {'createContainer': [json.load(open('/etc/cdi/nvidia.json'))['containerEdits']['hooks'][0]]}
    hook = s['hooks']['createContainer'][0]
    hook.pop('hookName')


host.settings('privileged = "hide-gpus";')
b = make(hooked)
r = b.run()
ok(r.returncode == 0 and access(b) == (0o640, 0, ROOT), tag + "with a policy's env, a hook of the engine's can read it, too", (r.stdout, access(b)))
host.settings('cdi_hooks = "allow"; privileged = "hide-gpus";')

# rootless: the caller can give its file to no other user
WORKER, FIRST = 'worker', 300000
host.settings('cdi_hooks = "allow"; privileged = "hide-gpus"; unenforced = "allow";')
sh('useradd', '--create-home', '-G', 'gpuhelper', WORKER)
subordinate(WORKER, FIRST, 1000)
me = pwd.getpwnam(WORKER)


def rootless(root, secret):
    host.policies(t10='identity = "caller"; callers = [ "%s" ];\ngpus = ( { vendor = "nvidia"; capabilities = [ "compute" ]; } );\n%s' %
                  (WORKER, 'env = { KEY = "secret"; };\n' if secret else ''))
    rootless.count += 1
    home, b = W + '/home', 'r%d' % rootless.count
    d = '%s/%s' % (home, b)
    os.makedirs(d)
    busybox_rootfs(d + '/rootfs', root)
    os.chown(home, me.pw_uid, me.pw_gid)
    os.chown(d, me.pw_uid, me.pw_gid)
    as_user = 'setpriv', '--reuid', WORKER, '--regid', WORKER, '--init-groups', '--'
    assert sh(*as_user, host.runtime, 'spec', '--rootless', cwd=d).returncode == 0
    spec = json.load(open(d + '/config.json'))
    spec['process'].update(args=['/bin/cat', LINK], terminal=False)
    spec['process']['env'] += ['GPUHELPER_GPUS=1']
    spec['root']['readonly'] = False
    for kind, own in ('uidMappings', me.pw_uid), ('gidMappings', me.pw_gid):
        spec['linux'][kind] = ([{'containerID': 0, 'hostID': own, 'size': 1}, {'containerID': 1, 'hostID': FIRST, 'size': 1000}]
                               if root != FIRST else [{'containerID': 0, 'hostID': FIRST, 'size': 1000}])
    spec['linux'].pop('resources', None)
    spec['linux'].pop('cgroupsPath', None)
    write(d + '/config.json', json.dumps(spec))
    os.chown(d + '/config.json', me.pw_uid, me.pw_gid)
    r = sh(*as_user, WRAPPER, '--root', home + '/root', 'run', '--bundle', d, b, cwd=d)
    return r, oct(os.stat(d + '/config.json').st_mode & 0o777)


rootless.count = 0
for secret in False, True:
    r, mode = rootless(me.pw_uid, secret)
    ok(r.returncode == 0 and r.stdout == 'driver' and mode == ('0o600' if secret else '0o644'), tag + "rootless%s: the hook makes its link" % (", with a policy's env" if secret else ''), r.stdout + mode)
    # runc itself fails here without a grant as well: it can't give the standard streams to that root
    r, mode = rootless(FIRST, secret)
    ok(('gpuhelper: ' in r.stdout and 'has variables of the policy' in r.stdout and 'remove env' in r.stdout) == secret and mode == '0o644'
       and leases() == [], tag + "rootless, where the container's root is another user than the caller: %s" %
       ("with a policy's env, refused with the reason" if secret else 'not refused'), r.stdout + mode)
done()
