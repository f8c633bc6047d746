#!/usr/bin/env python3
"""Refused containers: one clear line, exit status 1, an audit record, and no change on disk.

usage: refusals.py RUNTIME CGROUP    (in tests/lib/sandbox.sh --gpu nvidia-2gpu)
"""
import json, os
from lib import *

host, tag = able_host()
TRAIN = ['BUILD_TEAM_NAME=ml', 'BUILD_PIPELINE_NAME=train']
ASK = TRAIN + ['GPUHELPER_GPUS=1']
os.makedirs('/srv/datasets/deep')
os.makedirs('/srv/open/inner')
os.makedirs('/srv/rw')
os.makedirs('/srv/locked')
for d in 'one', 'two', 'inner':
    os.makedirs('/srv/' + d)
os.makedirs('/srvx/datasets') if not os.path.isdir('/srvx') else None
os.chown('/srv/rw', MAXID, MAXID)
os.chmod('/srv/open', 0o777)
os.symlink('/etc', '/srv/link')
write('/srv/file', 'x')
POLICY = '''
pipeline = "ml/train";
identity = "claim";
gpus = ( { vendor = "nvidia"; count = 1; devices = [ "%s" ]; } );
folders = ( { path = "/srv/datasets"; access = "ro"; subfolders = true; },
            { path = "/srv/rw"; access = "rw"; }, { path = "/srv/locked"; access = "rw"; },
            { path = "/srv/link"; access = "ro"; }, { path = "/srv/file"; access = "ro"; },
            { path = "/srv/open/inner"; access = "ro"; }, { path = "/srv/gone"; access = "ro"; },
            { path = "/srv/one"; target = "/data"; }, { path = "/srv/two"; target = "/data"; },
            { path = "/srv/inner"; target = "/srv/datasets/new"; } );
''' % GPU0
host.policies(t10=POLICY)


def refused(name, want, b, how='run'):
    """Runs the wrapper on the bundle, and checks everything that must hold for a refusal."""
    tree, state, records = snapshot(b.dir), leases(), len(audit())
    r = b.run() if how == 'run' else b.create()
    text = (r.stdout or '').strip()
    left = {p: v for p, v in snapshot(b.dir).items() if p != b.log}
    seen = b.errors()
    new = audit()[records:]
    good = (r.returncode == 1 and want in (text or seen[-1]) and seen and want in seen[-1] and left == tree and leases() == state and
            [a['event'] for a in new] in (['refuse'], ['grant', 'undo', 'refuse']) and want in new[-1]['reason'])
    if how == 'run':
        good = good and len(text.splitlines()) == 1 and text.startswith('gpuhelper: ')
    gone = sh(host.runtime, '--root', W + '/root', 'state', b.id).returncode != 0
    ok(good and gone, tag + 'refused: ' + name, 'status %s\nsaid %s\nlog %s\naudit %s\nchanged %s\nleases %s' %
       (r.returncode, text, seen, new, [p for p in set(left) | set(tree) if left.get(p) != tree.get(p)], leases()))


def bundle(env=ASK, **kw):
    return Bundle(host, env=env, args=['/bin/true'], **kw)


# the bundle
b = bundle()
os.unlink(b.dir + '/config.json')
refused('config.json is missing', 'No such file', b)
b = bundle()
os.rename(b.dir + '/config.json', b.dir + '/real.json')
os.symlink('real.json', b.dir + '/config.json')
refused('config.json is a symbolic link', 'symbolic link', b)
b = bundle()
os.unlink(b.dir + '/config.json')
os.mkfifo(b.dir + '/config.json')
refused('config.json is a FIFO', 'not a regular file', b)
b = bundle(raw=lambda t: t + ' ' * (4 * 1024 * 1024))
refused('config.json is over 4 MiB', 'larger than 4 MiB', b)
b = bundle(raw=lambda t: t[:-1])
refused('config.json is not JSON', 'line 1 column', b)
b = bundle(raw=lambda t: t + 'x')
refused('more after the end of config.json', 'more after the end', b)
b = bundle(raw=lambda t: t.replace('"linux":', '"linux":{},"linux":', 1) if '"linux":' in t else t.replace('"linux": ', '"linux":{},"linux": ', 1))
refused('a duplicate key', 'appears twice', b)
b = bundle(raw=lambda t: t.replace('"hostname"', '"l\\u0069nux":{},"hostname"', 1))
refused('a duplicate key in another spelling', 'appears twice', b)
b = bundle(raw=lambda t: t.replace('"linux"', '"Linux"', 1))
refused('a key that runc would read and we would not', 'must be spelt', b)
b = bundle(edit=lambda s: s.update(linux=[]))
refused('linux is a list', 'linux is not an object', b)
b = bundle(edit=lambda s: s['linux'].update(devices=[None]))
refused('linux.devices holds null', 'linux.devices[0] is not an object', b)
b = bundle(edit=lambda s: s['process'].update(env=[1]))
refused('process.env holds a number', 'process.env[0] is not a string', b)
b = bundle(edit=lambda s: s.update(ociVersion='2.0.0'))
refused('ociVersion 2', 'ociVersion', b)
refused('a create is refused like a run', 'ociVersion', bundle(edit=lambda s: s.update(ociVersion='2.0.0')), how='create')

# requests
for name, env, want in (
        ('a folder outside the policy', ['GPUHELPER_FOLDERS=/etc'], 'does not give folder /etc'),
        ('/srvx where /srv is given', ['GPUHELPER_FOLDERS=/srvx/datasets'], 'does not give folder /srvx/datasets'),
        ('/srv/datasetsx where /srv/datasets is given', ['GPUHELPER_FOLDERS=/srv/datasetsx'], 'does not give folder'),
        ('.. in a folder', ['GPUHELPER_FOLDERS=/srv/datasets/../../etc'], '".."'),
        ('a folder with a slash at its end', ['GPUHELPER_FOLDERS=/srv/datasets/'], 'empty component'),
        ('rw of a ro folder', ['GPUHELPER_FOLDERS=/srv/datasets:rw'], 'read-only, and rw was asked for'),
        ('a folder that is a symbolic link', ['GPUHELPER_FOLDERS=/srv/link'], 'symbolic link'),
        ('a folder that is a file', ['GPUHELPER_FOLDERS=/srv/file'], 'not a directory'),
        ('a folder that is not there', ['GPUHELPER_FOLDERS=/srv/gone'], 'No such file'),
        ('a folder beneath one that others may write', ['GPUHELPER_FOLDERS=/srv/open/inner'], 'may be written by others'),
        ('a writable folder whose mode denies the container\'s user', ['GPUHELPER_FOLDERS=/srv/locked'], 'setfacl -m u:%d:rwx /srv/locked' % MAXID),
        ('two folders with the same target', ['GPUHELPER_FOLDERS=/srv/one,/srv/two'], 'would both be at /data in the container'),
        ('a folder in another one that is read-only', ['GPUHELPER_FOLDERS=/srv/datasets,/srv/inner'],
         'folder /srv/inner would be at /srv/datasets/new in the container, where /srv/datasets is read-only and has no directory new'),
        ('a GPU that does not exist', ['GPUHELPER_GPUS=GPU-99999999-0000-0000-0000-000000000000'], 'no GPU "GPU-99999999'),
        ('a GPU that the policy does not give', ['GPUHELPER_GPUS=' + GPU1], 'does not give GPU'),
        ('more GPUs than the policy gives', ['GPUHELPER_GPUS=2'], '2 GPUs asked for, and it gives a container at most 1'),
        ('GPUs of another vendor', ['GPUHELPER_GPUS=amd:1'], '1 amd GPU asked for, and it gives a container at most 0'),
        ('a word that is no GPU', ['GPUHELPER_GPUS=0;rm'], 'is not a count'),
        ('a negative count', ['GPUHELPER_GPUS=-1'], 'is not a count'),
        ('an empty request', ['GPUHELPER_GPUS='], 'GPUHELPER_GPUS is empty'),
        ('a variable given twice', ['GPUHELPER_GPUS=1', 'GPUHELPER_GPUS=all'], 'GPUHELPER_GPUS is given 2 times'),
        ('an invalid token', ['GPUHELPER_TOKEN=e30.e30.AAAA', 'GPUHELPER_GPUS=1'], 'GPUHELPER_TOKEN')):
    refused(name, want, bundle(env=TRAIN + env))
for name, want, env in (('another pipeline', 'no policy covers pipeline ml/other', ['BUILD_TEAM_NAME=ml', 'BUILD_PIPELINE_NAME=other']),
                        ('no pipeline at all', 'proves no pipeline', [])):
    b = bundle(env=env + ['GPUHELPER_GPUS=1'])
    refused(name, want, b)
    command = re.search('see (gpuhelperctl explain .*)', b.errors()[0]).group(1)
    r = sh('sh', '-c', command)
    ok(r.returncode == 77 and want in r.stdout, tag + '  and «%s» says why' % command, r.stdout)

# where a grant would be mounted
refused('a mount at a granted folder', 'would cover or lie in /srv/datasets', bundle(env=TRAIN + ['GPUHELPER_FOLDERS=/srv/datasets'],
        edit=lambda s: s['mounts'].append({'destination': '/srv/datasets', 'type': 'bind', 'source': W + '/vol', 'options': ['bind']})))
refused('a mount above a granted folder', 'would cover or lie in', bundle(env=TRAIN + ['GPUHELPER_FOLDERS=/srv/datasets'],
        edit=lambda s: s['mounts'].append({'destination': '/srv', 'type': 'bind', 'source': W + '/vol', 'options': ['bind']})))
refused('a mount beneath a granted folder', 'would cover or lie in', bundle(env=TRAIN + ['GPUHELPER_FOLDERS=/srv/datasets'],
        edit=lambda s: s['mounts'].append({'destination': '/srv/datasets/deep', 'type': 'bind', 'source': W + '/vol', 'options': ['bind']})))
refused('a mount at a granted node', 'would cover or lie in /dev/nvidia0', bundle(
        edit=lambda s: s['mounts'].append({'destination': '/dev/nvidia0', 'type': 'bind', 'source': W + '/init', 'options': ['bind']})))
linked = busybox_rootfs(W + '/vol/linked', MAXID)
os.rmdir(linked + '/srv')
os.symlink('/data', linked + '/srv')
os.makedirs(linked + '/data')
refused("a mount that a link of the image leads to a granted folder", 'would cover or lie in', bundle(
        env=TRAIN + ['GPUHELPER_FOLDERS=/srv/datasets'], edit=lambda s: (s['root'].update(path=linked),
        s['mounts'].append({'destination': '/data/datasets', 'type': 'bind', 'source': W + '/vol', 'options': ['bind']}))))
os.rmdir(linked + '/data')
os.symlink('/vol/x/../y', linked + '/data')
refused("a mount that a dangling link of the image leads above a granted folder", 'would cover or lie in', bundle(
        env=TRAIN + ['GPUHELPER_FOLDERS=/srv/datasets'], edit=lambda s: (s['root'].update(path=linked),
        s['mounts'].append({'destination': '/vol', 'type': 'bind', 'source': W + '/vol', 'options': ['bind']}))))
for other in 'datasets', 'rw':
    refused('a mount where the image\'s link leads one of two folders in a missing directory (%s)' % other, 'would cover or lie in /srv/' + other,
            bundle(env=TRAIN + ['GPUHELPER_FOLDERS=/srv/datasets,/srv/rw'], edit=lambda s: (s['root'].update(path=linked),
            s['mounts'].append({'destination': '/vol/y/' + other, 'type': 'bind', 'source': W + '/vol', 'options': ['bind']}))))
# a link to what is not there says nothing of what lies beside it
for n, (to, want) in enumerate((('/srv/datasets/deep', 'links in the image lead the granted /srv/rw'), ('/input/x', 'would cover or lie in /srv/rw'))):
    beside = busybox_rootfs('%s/vol/beside-%d' % (W, n), MAXID)
    os.symlink('/nope/nope/a', beside + '/srv/datasets')
    os.symlink(to, beside + '/srv/rw')
    refused('a folder that a link leads to %s, beside a folder with a dangling link' % to, want,
            bundle(env=TRAIN + ['GPUHELPER_FOLDERS=/srv/datasets,/srv/rw'], edit=lambda s: (s['root'].update(path=beside),
            s['mounts'].append({'destination': '/input', 'type': 'bind', 'source': W + '/vol', 'options': ['bind']}))))
os.unlink(linked + '/data')
os.symlink('data2', linked + '/data')
os.symlink('data', linked + '/data2')
refused('links without end', 'can\'t be followed', bundle(env=TRAIN + ['GPUHELPER_FOLDERS=/srv/datasets'], edit=lambda s: s['root'].update(path=linked)))
os.unlink(linked + '/data')
os.makedirs(linked + '/data')
os.chown(linked + '/data', MAXID, MAXID)
os.symlink('../run/stub', linked + '/etc/resolv.conf')
b = Bundle(host, env=TRAIN + ['GPUHELPER_FOLDERS=/srv/datasets'], args=['/bin/ls', '/srv/datasets'], edit=lambda s: s['root'].update(path=linked))
r = b.run()
ok(r.returncode == 0, tag + 'a dangling link elsewhere in the image (/etc/resolv.conf) does no harm', r.stdout + str(b.errors()))
refused('a mount with .. in it, next to a grant', '".."', bundle(env=TRAIN + ['GPUHELPER_FOLDERS=/srv/datasets'],
        edit=lambda s: s['mounts'].append({'destination': '/x/../srv/datasets', 'type': 'bind', 'source': W + '/vol', 'options': ['bind']})))

# checks on every container, plain ones included
for name, path in (('the host', '/'), ("the host's /etc", '/etc'), ('a folder that policies grant', '/srv/datasets')):
    refused('root.path is ' + name, 'is not beneath the bundle or one of the volumes', bundle(env=[], edit=lambda s, p=path: s['root'].update(path=p)))
os.symlink('/', W + '/vol/escape')
refused('root.path is a link out of the volumes', 'is not beneath', bundle(env=[], edit=lambda s: s['root'].update(path=W + '/vol/escape')))
os.unlink(W + '/vol/escape')
refused('root.path climbs out with ..', 'is not beneath', bundle(env=[], edit=lambda s: s['root'].update(path=W + '/vol/../../../etc')))
refused('root.path is a volume itself', 'is not beneath', bundle(env=[], edit=lambda s: s['root'].update(path=W + '/vol')))

# podman 5 mounts the root filesystem again, in /var/tmp; but others may mount there, too
again = '/var/tmp/intermediate-mountpoint-%s' % UNIQUE
os.makedirs(again)
for source, good in (host.rootfs, True), ('/etc', False), (host.rootfs + '/bin', True), (W + '/vol', False):
    sh('mount', '--bind', source, again)
    b = bundle(env=[], edit=lambda s: s['root'].update(path=again))
    if source != host.rootfs and good:      # a directory inside an image: only the runtime fails, because it finds nothing to run there
        b.create()
        ok('volumes in gpuhelper.conf' not in str(b.errors()), tag + 'root.path that is a mount of a directory in an image: accepted', b.errors())
    elif good:
        r = b.create()
        ok(r.returncode == 0, tag + "root.path that is a mount of a volume's directory: created", b.errors())
    else:
        refused('root.path that is a mount of %s' % source, 'is not beneath', b)
    b.delete()
    sh('umount', again)
os.rmdir(again)

# a task may write above root.path: the wrapper checks what the runtime mounted before anything runs there
above = W + '/vol/above'
inner, secret = busybox_rootfs(above + '/image/rootfs', MAXID), busybox_rootfs(W + '/secret/rootfs', MAXID)
for d in above, above + '/image':
    os.chown(d, MAXID, MAXID)
for env, text in (([], 'plain'), (TRAIN + ['GPUHELPER_FOLDERS=/srv/datasets'], 'granted')):
    b = Bundle(host, env=env, edit=lambda s: s['root'].update(path=inner))
    r = b.create()
    ok(r.returncode == 0, tag + 'root.path in a task\'s directory, %s: created if nobody moves it' % text, b.errors())
    b.call('delete', '--force', b.id)
refused('run, where a task may write above root.path', 'may write above it', bundle(env=[], edit=lambda s: s['root'].update(path=inner)))
# By the modes nobody else may write there.  But root in another container can, if it has the volume and no user namespace.
for d in above, above + '/image':
    os.chown(d, 0, 0)
r = Bundle(host, env=[], edit=lambda s: (s['root'].update(path=inner), s['process'].update(args=['/bin/true']))).run()
ok(r.returncode == 0, tag + 'run, if nobody may write above root.path', r.stdout)
for d, mode in (above, 0o777), (above + '/image', 0o775), (above, 0o757):
    os.chmod(d, mode)
    refused('run, where a directory above root.path has mode %o' % mode, 'may write above it', bundle(env=[], edit=lambda s: s['root'].update(path=inner)))
    os.chmod(d, 0o755)
os.chmod(above, 0o1777)
r = Bundle(host, env=[], edit=lambda s: (s['root'].update(path=inner), s['process'].update(args=['/bin/true']))).run()
ok(r.returncode == 0, tag + 'run, where it has mode 1777, as /tmp has', r.stdout)
os.chmod(above, 0o755)
HIDES = {
    'plain': 'echo ready && read x',
    # a chrooted process does not see its mount namespace's mounts
    'behind a chrooted process': 'mkdir -p /run/jail/bin && cp /bin/busybox /run/jail/bin/ && { sleep 60 & } && echo ready && exec chroot /run/jail /bin/busybox sleep 60',
    # nor does one with an unmounted root directory; and its mounts are not the first process's
    'behind a process that is chrooted to an unmounted tree': 'exec unshare -m --propagation private sh -c "mount --bind %s /mnt && mkdir -p /run/jail && '
    'mount -t tmpfs jail /run/jail && mkdir /run/jail/bin && cp /bin/busybox /run/jail/bin/ && exec chroot /run/jail /bin/busybox sh -c '
    '\'/bin/busybox umount -l / && echo ready && exec /bin/busybox sleep 60\'"' % above,
}
# a volume may be a mount, too (overlay)
sh('mount', '--bind', above, above)
for how, script in HIDES.items():
    writer = subprocess.Popen(['unshare', '-mp', '--fork', 'sh', '-c', script if 'unshare' in script else 'mount --bind %s /mnt && %s' % (above, script)],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    ok(writer.stdout.readline() == b'ready\n', tag + 'control: a container can write the volume, ' + how)
    refused('run, where a container has the volume writable, ' + how, 'may write above it', bundle(env=[], edit=lambda s: s['root'].update(path=inner)))
    # a mount on a directory of the volume can be moved along with that directory
    sh('mount', '--bind', inner, inner)
    refused('run, where root.path is a mount in such a volume, ' + how, 'may write above it', bundle(env=[], edit=lambda s: s['root'].update(path=inner)))
    sh('umount', inner)
    sh('pkill', '-9', '-P', str(writer.pid))
    writer.wait()
# A service or a container that is starting has the host's root writable for a moment.  Of many, there is one at each look for longer.
crowd = [subprocess.Popen(['unshare', '-mp', '--fork', 'sh', '-c', 'mount --bind %s /mnt && echo ready && sleep %s' % (above, seconds)], stdout=subprocess.PIPE)
         for seconds in (0.8, 1.6, 2.2)]
for writer in crowd:
    writer.stdout.readline()
r = Bundle(host, env=[], edit=lambda s: (s['root'].update(path=inner), s['process'].update(args=['/bin/true']))).run()
ok(r.returncode == 0, tag + 'run, where containers that are starting have the volume writable for two seconds', r.stdout)
for writer in crowd:
    writer.wait()
sh('umount', above)
writer = subprocess.Popen(['unshare', '-mp', '--fork', 'sh', '-c', 'mount --bind %s /mnt && echo ready && read x' % above],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE)
writer.stdout.readline()
# the same just before the runtime opens the path
real, SWAP = host.runtime, W + '/swap'
write(SWAP, '''#!/bin/sh
cd %s
case " $* " in *" create "*) mv image away && ln -s %s image ;; esac
cd "$OLDPWD"
exec %s "$@"
''' % (above, W + '/secret', real))
os.chmod(SWAP, 0o755)


def swapped(env, text, owner):
    for d in above, above + '/image':
        os.chown(d, owner, owner)
    host.runtime = SWAP
    host.settings()
    b = Bundle(host, env=env, edit=lambda s: s['root'].update(path=inner))
    r = b.create()
    # runc refuses a path with a link, crun accepts it
    ok(r.returncode == 1 and ('led elsewhere' if host.name == 'crun' else 'invalid rootfs') in b.errors()[-1], tag + 'a task swaps root.path for a link, %s: no container' % text, b.errors())
    host.runtime = real
    host.settings()
    sh('/usr/sbin/gpuhelperctl', 'reap')
    ok(sh(real, '--root', W + '/root', 'state', b.id).returncode != 0 and leases() == [], tag + '  no container and no lease is left', leases())
    b.delete()
    os.unlink(above + '/image')
    os.rename(above + '/away', above + '/image')


swapped([], 'plain', MAXID)
swapped(TRAIN + ['GPUHELPER_FOLDERS=/srv/datasets'], 'granted', MAXID)
swapped([], "the host's root", 0)
writer.stdin.close()
writer.wait()
swapped([], "the host's root in a container that has only a descriptor of the volume", 0)
writer.wait()
subprocess.call(['rm', '-rf', above, W + '/secret'])
# annotations that a runtime takes for its engine's orders, from whoever may write annotations
for key, value in (('run.oci.hooks.stdout', '/etc/gpuhelper/policy.d/00-mine.conf'), ('run.oci.hooks.stderr', W + '/hook'), ('run.oci.systemd.subgroup', '../../other'),
                   ('run.oci.seccomp.plugins', W + '/plugin.so'), ('run.oci.unknown', '1'), ('org.systemd.property.Slice', "'user.slice'"),
                   ('org.systemd.property.PIDs', '[@au [1]]'), ('org.criu.config', W + '/criu.conf'), ('run.oci.hooks.stdout\0', W + '/hook')):
    for env, text in (([], 'a plain container'), (TRAIN, 'a container with a request')):
        refused('annotation %r of %s' % (key, text), 'annotation', bundle(env=env, edit=lambda s, k=key, v=value: s.update(annotations={'user': 'root', k: v})))
ok(not os.path.exists('/etc/gpuhelper/policy.d/00-mine.conf') and not os.path.exists(W + '/hook'), tag + 'none of those files was written')
for key, value in (('org.systemd.property.TimeoutStopUSec', 'uint64 1000'), ('run.oci.mount_context_type', 'rootcontext'), ('io.podman.annotations.init', 'FALSE')):
    r = Bundle(host, env=[], edit=lambda s, k=key, v=value: (s.update(annotations={k: v}), s['process'].update(args=['/bin/true']))).run()
    ok(r.returncode == 0, tag + 'annotation %s is passed to the runtime' % key, r.stdout)
for source in ('/', '/etc', '/etc/gpuhelper', '/etc/gpuhelper/policy.d', '/run', '/run/gpuhelper', '/var/run/gpuhelper', '/var/lib/gpuhelper', '/var/lib', '/var/log/gpuhelper',
               '/var/log', W + '/../gpuhelper'):
    os.makedirs('/run/gpuhelper', exist_ok=True)
    if source.startswith('/var/run') and not os.path.exists('/var/run/gpuhelper'):
        continue
    refused('a mount of %s' % source, 'into the container', bundle(env=[],
            edit=lambda s, p=source: s['mounts'].append({'destination': '/mnt', 'type': 'bind', 'source': p, 'options': ['rbind']})))
os.makedirs(W + '/alias', exist_ok=True)
sh('mount', '--bind', '/etc/gpuhelper', W + '/alias')
refused('a mount of a bind mount of /etc/gpuhelper', 'into the container', bundle(env=[],
        edit=lambda s: s['mounts'].append({'destination': '/mnt', 'type': 'none', 'source': W + '/alias', 'options': ['bind']})))
sh('umount', W + '/alias')

# programs of the helper's that others may change
for program in 'gpuhelper-look', 'gpuhelper-read', 'gpuhelper-judge':
    path = '/usr/libexec/gpuhelper/' + program
    for mode in 0o775, 0o757:
        os.chmod(path, mode)
        refused('%s of mode %o' % (program, mode), 'may be written by others', bundle())
    os.chmod(path, 0o711)
    os.chown(path, 1000, 0)
    refused(program + ' of another owner', 'belongs to uid 1000', bundle())
    os.chown(path, 0, 0)

# root of a system container with a part of the host's ids is not the host's root: its runtime enforces no device rules
space = system_container(65536)
b = bundle()
r = sh('nsenter', '-t', str(space), '-U', '-m', '-p', '--preserve-credentials', WRAPPER, '--root', W + '/root', 'create', '--bundle', b.dir, b.id, cwd=b.dir)
ok(r.returncode == 1 and 'unenforced = "allow"' in r.stdout and leases() == [], tag + 'refused: an exclusive GPU for root of a part of the host\'s ids', r.stdout)
os.kill(space, 9)

# policies that cannot be trusted
d = '/etc/gpuhelper/policy.d'
os.chmod(d, 0o777)
refused('a policy directory that others can write', 'may be written by others', bundle())
os.chmod(d, 0o755)
os.chmod(d + '/t10.conf', 0o666)
refused('a policy file that others can write', 'may be written by others', bundle())
os.chmod(d + '/t10.conf', 0o744)
refused('a policy file that is executable', 'is executable', bundle())
os.chmod(d + '/t10.conf', 0o644)
os.chmod('/etc/gpuhelper/gpuhelper.conf', 0o755)
r = bundle().run()
ok(r.returncode == 1 and 'is executable' in r.stdout, tag + 'refused: settings that are executable', r.stdout)
os.chmod('/etc/gpuhelper/gpuhelper.conf', 0o644)
os.chown(d + '/t10.conf', 1000, 0)
refused("a policy file that another user owns", 'belongs to uid 1000', bundle())
os.chown(d + '/t10.conf', 0, 0)
os.symlink('/etc/passwd', d + '/05-link.conf')
refused('a policy file that is a link', 'symbolic link', bundle())
os.unlink(d + '/05-link.conf')
write(d + '/05-broken.conf', 'pipelin = "ml/train";\n')
refused('a broken file before the one that grants', 'did you mean "pipeline"', bundle())
os.rename(d + '/05-broken.conf', d + '/50-broken.conf')
r = Bundle(host, env=ASK, args=['/bin/true'])
os.rename(d + '/t10.conf', d + '/10.conf')
ok(r.run().returncode == 0, tag + 'a broken file after the one that grants is not reached', r.errors())
os.rename(d + '/50-broken.conf', d + '/05-broken.conf.off')
os.rename(d + '/10.conf', d + '/t10.conf')
os.unlink(d + '/05-broken.conf.off')
write('/etc/gpuhelper/gpuhelper.conf', 'volumes = [ "%s/vol" ]\nruntim = "/bin/x";\n' % W)
b = bundle(env=[])
tree = snapshot(b.dir)
r = b.run()
ok(r.returncode == 1 and 'gpuhelper.conf:2' in r.stdout and {p: v for p, v in snapshot(b.dir).items() if p != b.log} == tree,
   tag + 'a broken gpuhelper.conf refuses even plain containers', r.stdout)
host.settings()

# the command in the refusal's message solves the problem
os.mkdir('/srv/datasets/new')
b = Bundle(host, env=TRAIN + ['GPUHELPER_FOLDERS=/srv/datasets,/srv/inner'], args=['/bin/ls', '/srv/datasets'])
r = b.run()
ok(r.returncode == 0 and 'new' in r.stdout.split(), tag + 'the advice in that refusal helps', r.stdout + str(b.errors()))
os.rmdir('/srv/datasets/new')
r = sh('setfacl', '-m', 'u:%d:rwx' % MAXID, '/srv/locked')
if r.returncode != 0:
    skip(tag + 'the setfacl command of the refusal helps', 'setfacl: ' + r.stdout.strip())
else:
    b = Bundle(host, env=TRAIN + ['GPUHELPER_FOLDERS=/srv/locked'], args=['/bin/touch', '/srv/locked/new'])
    r = b.run()
    ok(r.returncode == 0 and os.path.exists('/srv/locked/new'), tag + 'the setfacl command of the refusal helps', r.stdout + str(b.errors()))

# mounts beneath a granted folder
os.makedirs('/srv/datasets/below', exist_ok=True)
sh('mount', '-t', 'tmpfs', '-o', 'mode=777', 'below', '/srv/datasets/below')
write('/srv/datasets/below/here', 'x')
SEE = 'ls /srv/datasets/below; echo y > /srv/datasets/below/new'
refused('a folder with a mount beneath it, for a user namespace', 'say submounts = true', bundle(env=TRAIN + ['GPUHELPER_FOLDERS=/srv/datasets']))
host.settings('privileged = "hide-gpus";')
b = Bundle(host, 'task-privileged', env=TRAIN + ['GPUHELPER_FOLDERS=/srv/datasets'], args=['/bin/sh', '-c', SEE])
r = b.run()
host.settings()
ok('here' not in r.stdout and 'Read-only' in r.stdout and not os.path.exists('/srv/datasets/below/new'), tag + 'a mount beneath a ro folder is not mounted along with it', r.stdout)
host.policies(t10=POLICY.replace('subfolders = true;', 'subfolders = true; submounts = true;'))
b = Bundle(host, env=TRAIN + ['GPUHELPER_FOLDERS=/srv/datasets'], args=['/bin/sh', '-c', SEE])
r = b.run()
features = sh(host.runtime, 'features')
if features.returncode == 0 and '"rro"' in features.stdout:
    ok('here' in r.stdout and 'Read-only' in r.stdout and not os.path.exists('/srv/datasets/below/new'), tag + 'submounts = true: the mount comes along, read-only', r.stdout + str(b.errors()))
else:
    ok(r.returncode == 1 and 'does not say that it can' in r.stdout and leases() == [], tag + 'submounts = true: refused, because this runtime does not report the feature', r.stdout)
sh('umount', '/srv/datasets/below')
host.policies(t10=POLICY)
b = Bundle(host, env=TRAIN + ['GPUHELPER_FOLDERS=/srv/datasets/deep'], args=['/bin/sh', '-c', 'ls -d /srv/datasets/deep && ls /srv/datasets'])
r = b.run()
ok(r.returncode == 0 and r.stdout.split() == ['/srv/datasets/deep', 'deep'], tag + 'subfolders = true: a folder beneath can be requested', r.stdout + str(b.errors()))

os.makedirs('/srv/datasets/closed/inner')
os.chmod('/srv/datasets/closed', 0o700)
refused('a folder beneath one that the ids may not pass', '/srv/datasets/closed does not let', bundle(env=TRAIN + ['GPUHELPER_FOLDERS=/srv/datasets/closed/inner']))

# nodes
os.unlink('/dev/nvidia-uvm')
b = Bundle(host, env=ASK, args=['/bin/sleep', '60'])
b.start()
st = os.lstat('/dev/nvidia-uvm') if os.path.exists('/dev/nvidia-uvm') else None
ok(st and (st.st_mode, st.st_uid, os.major(st.st_rdev), os.minor(st.st_rdev)) == (0o20666, 0, 510, 0),
   tag + 'a missing nvidia-uvm is made as nvidia-modprobe would make it', (b.errors(), st))
b.delete()
ok(not os.path.exists('/dev/nvidia-uvm'), tag + 'the node goes with the lease')
os.mknod('/dev/nvidia-uvm', 0o20666, os.makedev(510, 0))
os.chmod('/dev/nvidia-uvm', 0o666)
for name, make, want in (
        ('a link', lambda: os.symlink('/dev/null', '/dev/nvidia0'), 'symbolic link'),
        ('a file', lambda: write('/dev/nvidia0', ''), 'not a character device'),
        ('another device', lambda: os.mknod('/dev/nvidia0', 0o20666, os.makedev(1, 3)), 'should be 195:0')):
    os.unlink('/dev/nvidia0')
    make()
    refused('/dev/nvidia0 is ' + name, want, bundle())
os.unlink('/dev/nvidia0')
os.mknod('/dev/nvidia0', 0o20666, os.makedev(195, 0))
os.chmod('/dev/nvidia0', 0o600)


def another(spec):
    spec['linux']['uidMappings'] = [{'containerID': 0, 'hostID': 12345, 'size': 1}]


refused('a node that lets the ids in by no right, and ids that are not the caller\'s', 'setfacl -m u:12345:rw /dev/nvidia0',
        Bundle(host, env=ASK, edit=another))
os.chown('/dev/nvidia0', 0, 44)
os.chmod('/dev/nvidia0', 0o660)
b = Bundle(host, env=ASK, args=['/bin/id'])
r = b.run()
ok(r.returncode == 0 and 44 in json.loads(b.config())['process']['user']['additionalGids'] and '44' in r.stdout, tag + 'a node of mode 0660: its group is added', r.stdout + str(b.errors()))
b.delete()

# without a device cgroup a container can open a node that it makes
for words in (('--cgroup-manager', 'disabled'), ('--cgroup-manager=disabled',), ('--rootless', 'true'), ('--rootless=1',)):
    b = Bundle(host, env=[], args=['/bin/true'])
    r = b.call('run', '--bundle', b.dir, b.id, globals=words)
    ok(r.returncode == 1 and 'may open every device' in r.stdout, tag + '%s is refused to root' % ' '.join(words), r.stdout)
if host.name == 'runc':
    b = Bundle(host, env=[], args=['/bin/true'])
    r = b.call('run', '--bundle', b.dir, b.id, globals=('--rootless', 'auto'))
    ok(r.returncode == 0, tag + '--rootless auto is not refused', r.stdout)

# A container's limits may change; its device rules and its cgroup may not.
b = Bundle(host, env=[], args=['/bin/sleep', '60'])
b.start()
LIMITS = W + '/limits.json'
RULE = {'allow': True, 'type': 'c', 'major': 195, 'minor': 0, 'access': 'rwm'}


def of_cgroup(controller, name):
    for line in open('/proc/%d/cgroup' % int(open(b.dir + '/pid').read())):
        _, controllers, path = line.strip().split(':', 2)
        if host.cgroup != 'v1' and controllers == '':
            return open('/sys/fs/cgroup/%s/%s' % (path, name)).read()
        if host.cgroup == 'v1' and controller in controllers.split(','):
            return open('/sys/fs/cgroup/%s/%s/%s' % (controller, path, name)).read()


def may_open():
    """Whether the device rule is there; only cgroup v1 shows its rules."""
    return '195:0 rwm' in of_cgroup('devices', 'devices.list')


for n, (words, data) in enumerate(((('--resources', LIMITS), None), (('--resources=' + LIMITS,), None), (('-r', '-'), True))):
    want = 1000 + n
    # cgroup v2 may have no such controller here
    text = json.dumps({'devices': [RULE], **({'pids': {'limit': want}} if host.cgroup == 'v1' else {})}).replace('"devices"', '"device\\u0073"' if n else '"devices"')
    write(LIMITS, text)
    r = b.call('update', *words, b.id, **({'input': text} if data else {}))
    ok(r.returncode == 0 and (host.cgroup != 'v1' or of_cgroup('pids', 'pids.max').strip() == str(want)), tag + 'update %s: the limits are changed' % words[0], r.stdout)
    ok(host.cgroup != 'v1' or not may_open(), tag + '  the devices are not changed')
    ok(open(LIMITS).read() == text, tag + '  the file is not changed')
for text, want in (('[]', 'is not an object'), ('{', 'update --resources'), (None, 'No such file')):
    write(LIMITS, text) if text is not None else os.unlink(LIMITS)
    r = b.call('update', '--resources', LIMITS, b.id)
    ok(r.returncode == 1 and want in b.errors()[-1], tag + 'update with %s is refused' % (text or 'no file'), (r.stdout, b.errors()))
write(LIMITS, json.dumps({'devices': [RULE]}))
r = b.call('update', '--resources', LIMITS, '--resources', LIMITS, b.id)
ok(r.returncode == 1 and 'more than one' in b.errors()[-1], tag + 'a second --resources is refused')
for path in ('..', '../..', 'a/../../x', 'devices:../x'):
    r = b.call('exec', '--cgroup', path, b.id, '/bin/true')
    ok(r.returncode == 1 and "leads out of the container's own cgroup" in b.errors()[-1], tag + 'exec --cgroup %s is refused' % path, r.stdout)
if host.name == 'crun' and host.cgroup == 'v1':
    sh(host.runtime, '--root', W + '/root', 'update', '--resources', LIMITS, b.id)
    ok(may_open(), tag + 'control: crun without the wrapper changes the devices')
b.delete()
done()
