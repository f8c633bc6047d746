#!/usr/bin/env python3
"""What makes a container privileged.  privileged = "deny" refuses such containers, plain and granted ones, but not
engines' defaults.

usage: privileged.py RUNTIME CGROUP    (in tests/lib/sandbox.sh --gpu nvidia-2gpu)
"""
import json, os, shutil
from lib import *

host, tag = able_host()
host.promises = True    # what Concourse's containers run is known by its name
ASK = ['BUILD_TEAM_NAME=ml', 'BUILD_PIPELINE_NAME=train', 'GPUHELPER_GPUS=1']
host.policies(t10='pipeline = "ml/train";\nidentity = "claim";\n'
                  'gpus = ( { vendor = "nvidia"; count = 1; sharing = "shared"; share_limit = 9; } );\n')
host.settings('privileged = "deny";')
READONLY = ['/proc/bus', '/proc/fs', '/proc/irq', '/proc/sys', '/proc/sysrq-trigger']
MASKED = ['/proc/acpi', '/proc/asound', '/proc/kcore', '/proc/keys', '/proc/latency_stats', '/proc/timer_list', '/proc/timer_stats',
          '/proc/sched_debug', '/sys/firmware', '/proc/scsi']


def of(kind, file=None, pid=None):
    return {'type': kind, 'path': '/proc/%s/ns/%s' % (pid or pause, file or kind)}


def rootful(spec):
    """Like docker's, podman's and containerd's containers without a user namespace: default capabilities, a read-only /proc/sys."""
    for key in 'uidMappings', 'gidMappings':
        del spec['linux'][key]
    spec['root']['path'] = host.priv_rootfs
    spec['linux'].update(readonlyPaths=list(READONLY), maskedPaths=list(MASKED))
    namespaces(spec, user=None)


def namespaces(spec, **changes):
    """Removes this namespace; with kind={...}, sets it to that."""
    kept = [n for n in spec['linux']['namespaces'] if n['type'] not in changes]
    spec['linux']['namespaces'] = kept + [n for n in changes.values() if n]


def mount_at(spec, target):
    return next(m for m in spec['mounts'] if m['destination'] == target)


def writable(spec, target):
    m = mount_at(spec, target)
    m['options'] = [o for o in m.get('options', []) if o != 'ro']


def bind(spec, source, target, *options, kind='bind'):
    spec['mounts'].append({'destination': target, 'type': kind, 'source': source, 'options': list(options)})


def both(edit, sample='task', before=rootful):
    def change(spec):
        before(spec)
        edit(spec)
    for env, kind in ([], 'plain'), (ASK, 'granted'):
        yield Bundle(host, sample, env=env, args=['/bin/true'], edit=change), kind


def refused(name, edit, what, remedy, before=rootful, cause='privileged = "deny"'):
    for b, kind in both(edit, before=before):
        seen = len(audit())
        r = b.run()
        lines, new = r.stdout.strip().splitlines(), audit()[seen:]
        ok(r.returncode == 1 and len(lines) == 1 and cause in r.stdout and what in r.stdout and remedy in r.stdout and
           [a['event'] for a in new] == ['refuse'] and leases() == [] and b.config() == b.text,
           tag + 'refused, %s: %s' % (kind, name), (r.stdout, b.errors(), new, leases()))
        b.delete()


def refused_at_all(name, edit, what, remedy):
    """Refused without and with a user namespace."""
    refused(name, edit, what, remedy, cause='gpuhelper: ')
    refused(name + ', in a user namespace', edit, what, remedy, before=nothing, cause='gpuhelper: ')


def runs(name, edit, sample='task', before=rootful):
    for b, kind in both(edit, sample, before):
        r = b.run()
        ok(r.returncode == 0, tag + 'runs, %s: %s' % (kind, name), (r.stdout, b.errors()))
        b.delete()


def nothing(spec):
    pass


# other containers: a pod's, and one with a user namespace
pods, others = Bundle(host, args=['/bin/sleep', '1000'], edit=rootful), Bundle(host, args=['/bin/sleep', '1000'])
pause, other = pods.start(), others.start()

# what engines make by default
for sample in 'task', 'get', 'put', 'check':
    runs('a %s of Concourse' % sample, nothing, sample, before=nothing)
# Concourse's own privileged ones: whoever wrote the pipeline is told where to remove it
for step, place in (lambda s: None, "the task's step"), (lambda s: s.update(mounts=[m for m in s['mounts'] if not m['destination'].startswith('/tmp/build/')]), 'the resource type'):
    b = Bundle(host, 'task-privileged', edit=step)
    r = b.run()
    ok(r.returncode == 1 and 'in Concourse: remove «privileged: true» from ' + place in r.stdout, tag + 'refused: a privileged container of Concourse, by ' + place, r.stdout)
runs('a container of docker\'s, with a cgroup namespace', nothing)
runs('a container without a cgroup namespace, whose cgroups are read-only', lambda s: namespaces(s, cgroup=None))
runs('a pod\'s container, which shares network, IPC and host name with the pause container', lambda s: namespaces(s, network=of('network', 'net'), ipc=of('ipc'), uts=of('uts')))
runs('a container that shares the host\'s network', lambda s: (namespaces(s, network=None), bind(s, '/etc/hosts', '/etc/hosts', 'bind', 'ro')))
runs('writable cgroups in a cgroup namespace, as for systemd', lambda s: writable(s, '/sys/fs/cgroup'))
runs('a /proc that is read-only as a whole', lambda s: (s['linux'].update(readonlyPaths=[]), mount_at(s, '/proc')['options'].append('ro')))
os.makedirs(W + '/vol/data')
os.symlink(W + '/vol/data', W + '/link')
runs('a recursive bind of a folder of the host', lambda s: bind(s, W + '/link', '/vol', 'rbind', 'rw'))
runs('a bind of the volumes that is not recursive', lambda s: bind(s, W + '/vol', '/vol', 'bind', 'rw'))
runs('the host\'s sysfs, read-only', lambda s: bind(s, '/sys/class', '/host/class', 'bind', 'ro'))
os.makedirs(W + '/spec')
sh(host.runtime, 'spec', cwd=W + '/spec')
samples = {'%s spec' % host.name: open(W + '/spec/config.json').read()}
if shutil.which('ctr'):
    samples['ctr oci spec'] = sh('ctr', 'oci', 'spec').stdout
else:
    skip(tag + 'runs: the spec that «ctr oci spec» writes', 'there is no ctr: sh tests/deps.sh check')
for writer, sample in samples.items():
    def written(spec):
        spec.clear()
        spec.update(json.loads(sample))
        spec['root'] = {'path': host.priv_rootfs}
        spec['process'].update(terminal=False, args=['/bin/true'])
        spec['linux']['cgroupsPath'] = '/garden/%s-spec' % UNIQUE
        if host.name == 'crun':
            spec['ociVersion'] = '1.0.2'

    b = Bundle(host, edit=written)
    r = b.run()
    ok(r.returncode == 0, tag + 'runs: what «%s» writes' % writer, (r.stdout, b.errors()))

# capabilities that the wrapper sees
refused('CAP_SYS_ADMIN', lambda s: [c.append('CAP_SYS_ADMIN') for c in [s['process']['capabilities']['bounding']]], 'CAP_SYS_ADMIN', 'leave')

# a seccomp profile that makes the runtime believe that it dropped them
def profile(names, number, default='SCMP_ACT_ALLOW', held=False, **more):
    def edit(spec):
        rule = dict({'names': names, 'action': 'SCMP_ACT_ERRNO', 'errnoRet': number}, **more)
        spec['linux']['seccomp'] = {'defaultAction': default, 'syscalls': [rule]}
        spec['process']['noNewPrivileges'] = held
    return edit


DROP = {'args': [{'index': 0, 'value': 24, 'op': 'SCMP_CMP_EQ'}]}
refused('capset and prctl return 0', profile(['capset', 'prctl'], 0), 'seccomp profile that fakes the result of capset', 'allow that call')
refused('PR_CAPBSET_DROP returns EINVAL', profile(['prctl'], 22, **DROP), 'fakes the result of prctl', 'EPERM')
refused('PR_CAPBSET_DROP returns EINVAL, with noNewPrivileges, which an exec may lack', profile(['prctl'], 22, held=True, **DROP), 'fakes the result of prctl', 'EPERM')
refused('the container stays root', profile(['setuid', 'setresuid'], 0), 'fakes the result of setuid', 'EPERM')
runs('a profile that refuses calls', profile(['mount', 'ptrace'], 1))
runs('a profile that answers ENOSYS', profile(['bpf'], 38))
if os.path.exists('/usr/share/containers/seccomp.json'):
    default = json.load(open('/usr/share/containers/seccomp.json'))
    default = {'defaultAction': default['defaultAction'], 'defaultErrnoRet': default['defaultErrnoRet'], 'syscalls': [
        {k: c[k] for k in ('names', 'action', 'args', 'errnoRet') if c.get(k)} for c in default['syscalls'] if not c.get('excludes') and set(c.get('includes') or {}) <= {'arches'}]}
    runs("podman's default profile", lambda s: s['linux'].update(seccomp=default))
else:
    skip(tag + "runs: podman's default profile", 'there is no /usr/share/containers/seccomp.json: sh tests/deps.sh check')

# Whatever makes a runtime leave capabilities: the wrapper checks after create, before the start.  A mock: the runtime gets
# another config.json than the wrapper wrote, in place of a trick that would make it drop nothing.
mock, real = W + '/mock/' + host.name, host.runtime
write(mock, """#!/usr/bin/python3
import json, os, sys
if 'create' in sys.argv:
    path = sys.argv[sys.argv.index('--bundle') + 1] + '/config.json'
    spec = json.load(open(path))
    for caps in spec['process']['capabilities'].values():
        caps += os.path.exists('%s/give') * ['CAP_SYS_ADMIN']
    json.dump(spec, open(path, 'w'))
os.execv('%s', ['%s'] + sys.argv[1:])
""" % (W, real, real), 0o755)
host.runtime = mock
host.settings('privileged = "deny";')
for give in False, True:
    write(W + '/give', '') if give else None
    for env, kind in ([], 'plain'), (ASK, 'granted'):
        b = Bundle(host, env=env, args=['/bin/sleep', '100'], edit=rootful)
        r = b.create()
        there = sh(real, '--root', W + '/root', 'state', b.id).returncode == 0
        last = (b.errors() or [''])[-1]
        ok((r.returncode, there) == ((1, False) if give else (0, True)) and ('the runtime left it CAP_SYS_ADMIN (CapBnd)' in last) == give,
           tag + 'create, %s: a runtime that %s' % (kind, 'leaves CAP_SYS_ADMIN: the container is deleted' if give else 'leaves none'), (r.returncode, there, b.errors()))
        b.delete()
host.runtime = real
host.settings('privileged = "deny";')
ok(leases() == [], tag + 'no lease is left', leases())

# namespaces
refused('no PID namespace', lambda s: namespaces(s, pid=None), 'no PID namespace of its own', 'give it one')
refused('the PID namespace of another container (shareProcessNamespace)', lambda s: namespaces(s, pid=of('pid')), 'joins the PID namespace /proc/%s/ns/pid' % pause, 'give it one')
refused('the host\'s PID namespace by its path', lambda s: namespaces(s, pid={'type': 'pid', 'path': '/proc/1/ns/pid'}), 'joins the PID namespace', 'give it one')
refused('the mount namespace of another container', lambda s: namespaces(s, mount=of('mount', 'mnt')), 'joins the mount namespace', 'give it one')
refused('no mount namespace', lambda s: namespaces(s, mount=None), 'no mount namespace of its own', 'give it one')
refused('the cgroup namespace of another container', lambda s: namespaces(s, cgroup=of('cgroup')), 'joins the cgroup namespace', 'give it one')
refused('the user namespace of another container', lambda s: namespaces(s, user=of('user', pid=other)), 'joins the user namespace', 'give it one')
refused('a user namespace in which root is the host\'s', lambda s: (namespaces(s, user={'type': 'user'}), namespaces(s, pid=None),
        s['linux'].update({k: [{'containerID': 0, 'hostID': 0, 'size': 65536}] for k in ('uidMappings', 'gidMappings')})), 'no PID namespace', 'give it one')
def ids(spec, uid, gid):
    spec['linux'].update({kind + 'Mappings': [{'containerID': 0, 'hostID': host, 'size': 65536}] for kind, host in (('uid', uid), ('gid', gid))})


refused('a user namespace in which root\'s group is the host\'s', lambda s: (namespaces(s, user={'type': 'user'}), ids(s, 100000, 0), writable(s, '/sys')), 'may write in /sys', 'read-only')
grouped = Bundle(host, args=['/bin/sleep', '100'], edit=lambda s: (rootful(s), namespaces(s, user={'type': 'user'}), ids(s, 100000, 0)))
grouped.start()
r = grouped.call('exec', '--cap', 'CAP_SYS_ADMIN', grouped.id, '/bin/true')
ok(r.returncode != 0 and 'privileged = "deny"' in (grouped.errors() or [''])[-1], tag + 'exec --cap in such a container is refused', (r.stdout, grouped.errors()))
told = audit()[-1]
ok((told['event'], told['container']) == ('refuse', grouped.id) and 'exec in container' in told['reason'] and 'CAP_SYS_ADMIN' in told['reason'],
   tag + 'the audit log says so', told)
grouped.delete()
for extra in {'options': ['bind', 'idmap']}, {'options': ['rbind', 'ridmap']}, {'options': ['bind'], 'uidMappings': [{'containerID': 0, 'hostID': 0, 'size': 1}]}:
    refused('a user namespace with an id-mapped mount, %s' % extra, lambda s: (s['linux'].pop('readonlyPaths', None),
            s['mounts'].append(dict({'destination': '/vol', 'type': 'bind', 'source': W + '/vol'}, **extra))), 'may write /proc/sys', 'linux.readonlyPaths', before=nothing)
refused('a user namespace without ids', lambda s: (namespaces(s, user={'type': 'user'}), s['linux'].update(readonlyPaths=[])), '/proc/sys', 'linux.readonlyPaths')

# cgroups
refused('writable cgroups without a cgroup namespace', lambda s: (namespaces(s, cgroup=None), writable(s, '/sys/fs/cgroup')), 'may write in /sys/fs/cgroup (cgroup', 'read-only')
refused('«rw» after «ro»', lambda s: (namespaces(s, cgroup=None), mount_at(s, '/sys/fs/cgroup')['options'].append('rw')), '/sys/fs/cgroup', 'read-only')
refused('a second cgroup mount elsewhere', lambda s: (namespaces(s, cgroup=None), bind(s, 'cgroup', '/cg', 'nosuid', kind='cgroup')), 'may write in /cg', 'read-only')
refused('a bind of the host\'s cgroups', lambda s: bind(s, '/sys/fs/cgroup' + ('' if host.cgroup == 'v2' else '/pids'), '/cg', 'bind', 'rw'), 'may write in /cg', 'read-only')
refused('a recursive bind of the directory above the host\'s cgroups', lambda s: bind(s, '/sys/fs', '/fs', 'rbind', 'ro'), '/sys/fs/cgroup', 'leave')
refused('a mount that a later remount makes writable', lambda s: (namespaces(s, cgroup=None), bind(s, 'cgroup', '/sys/fs/cgroup', 'remount', 'rw', kind='cgroup')), 'remount', 'leave')

# /proc and /sys
for path in '/proc/sys', '/proc/sysrq-trigger', '/proc/bus':
    refused('a writable %s' % path, lambda s, p=path: s['linux']['readonlyPaths'].remove(p), 'may write %s' % path, 'linux.readonlyPaths')
refused('no readonlyPaths', lambda s: s['linux'].pop('readonlyPaths'), 'may write /proc/sys', 'linux.readonlyPaths')
refused('readonlyPaths that do not contain /proc/sys', lambda s: s['linux'].update(readonlyPaths=['/proc/sysx', '/proc/sys/net', '/', '/proc/bus', '/proc/sysrq-trigger']), 'may write /proc/sys', 'linux.readonlyPaths')
refused('a second /proc', lambda s: bind(s, 'proc', '/tmp/../proc2/', kind='proc'), 'may write /proc2/sys', 'linux.readonlyPaths')
refused('the host\'s /proc', lambda s: bind(s, '/proc', '/host/proc', 'rbind', 'ro'), "the host's proc", 'leave')
refused('a writable part of the host\'s /proc', lambda s: bind(s, '/proc/sys/kernel', '/k', 'bind'), "the host's proc", 'leave')
refused('a writable sysfs', lambda s: writable(s, '/sys'), 'may write in /sys (sysfs)', 'read-only')
refused('a bind of the host\'s sysfs', lambda s: bind(s, '/sys/kernel', '/k', 'bind'), 'may write in /k (sysfs)', 'read-only')
# lists and options that the runtime understands differently
SETTINGS = 'sys', 'sysrq-trigger', 'bus'
for key in 'maskedPaths', 'readonlyPaths':
    refused('%s with ".." behind a link of the image' % key, lambda s: s['linux'].update({'readonlyPaths': [], key: ['/l/../proc/' + n for n in SETTINGS]}),
            'may write /proc/sys', 'linux.readonlyPaths')
refused('a /proc whose destination contains ".."', lambda s: bind(s, 'proc', '/l/../proc', kind='proc'), 'may write /proc/sys', 'linux.readonlyPaths')
refused('a /proc whose destination may lie behind a link', lambda s: (bind(s, 'proc', '/a/p', kind='proc'), s['linux']['readonlyPaths'].extend('/a/p/' + n for n in SETTINGS)),
        'may write /a/p/sys', 'linux.readonlyPaths')
refused('a /proc that is «rro»', lambda s: (s['linux'].update(readonlyPaths=[]), mount_at(s, '/proc')['options'].append('rro')), 'may write /proc/sys', 'linux.readonlyPaths')
refused('a sysfs that is «rro»', lambda s: mount_at(s, '/sys').update(options=['nosuid', 'rro']), 'may write in /sys (sysfs)', 'read-only')
refused('a devtmpfs', lambda s: bind(s, 'devtmpfs', '/d', kind='devtmpfs'), 'may write in /d (devtmpfs)', 'read-only')
for kind in 'ext4', 'sysfs.x', 'hugetlbfs', '':
    refused('a mount of the type «%s»' % kind, lambda s, k=kind: bind(s, 'x', '/d', 'ro', kind=k), 'mounts a file system of the type «%s» at /d' % kind, 'leave')
os.makedirs(W + '/devtmpfs')
if sh('mount', '-t', 'devtmpfs', 'x', W + '/devtmpfs').returncode == 0:
    refused('a bind of the host\'s devtmpfs', lambda s: bind(s, W + '/devtmpfs', '/d', 'bind'), 'may write in /d (devtmpfs)', 'read-only')
    runs('a bind of a single node of a devtmpfs', lambda s: bind(s, W + '/devtmpfs/null', '/node', 'bind'))
    sh('umount', W + '/devtmpfs')
else:
    skip(tag + 'refused: a bind of the host\'s devtmpfs', 'it can\'t be mounted here')
refused('a file of /proc, read-only', lambda s: bind(s, '/proc/kmsg', '/k', 'bind', 'ro'), "the host's proc", 'leave')

# sources that the runtime resolves to another place
os.symlink('/proc', host.priv_rootfs + '/evil')
for path in '/proc/%d/environ' % other, '/proc/self/cwd/evil', '/proc/thread-self', '/dev/fd/3', W + '/to-fd', '/proc/mounts':
    os.path.lexists(W + '/to-fd') or os.symlink('../../proc/self/fd/5', W + '/to-fd')
    refused_at_all('a bind of %s' % path, lambda s, p=path: bind(s, p, '/h', 'bind', 'ro'), 'a source may not lead through a process', 'name the place')
refused_at_all('/proc/self/cwd beneath an overlay', lambda s: bind(s, 'overlay', '/h', 'lowerdir=/usr:/proc/self/cwd/evil', kind='overlay'), 'a process', 'name the place')
os.makedirs(W + '/vol/data/v')
os.symlink('/proc', W + '/vol/data/v/p')
os.symlink('priv-rootfs/m', W + '/vol/way')
for rootfs in host.priv_rootfs, host.rootfs:
    os.makedirs(rootfs + '/m/p')
for path in '/proc', '/m/p', '':
    refused_at_all('a second bind of root.path%s' % path, lambda s, p=path: (bind(s, W + '/vol/data/v', '/m', 'bind'), bind(s, s['root']['path'] + p, '/h', 'rbind', 'nosuid')),
                   'may not lead through root.path', 'from elsewhere')
refused('a bind of a link into root.path', lambda s: bind(s, W + '/vol/way/p', '/h', 'bind'), 'may not lead through root.path', 'from elsewhere', cause='gpuhelper: ')
refused('a recursive bind of the directory above root.path', lambda s: bind(s, W + '/vol', '/h', 'rbind'), 'gets its own root.path by the recursive bind of', 'leave')
refused_at_all('a source that is not there', lambda s: bind(s, W + '/vol/none', '/h', 'bind'), "its source can't be followed: No such file or directory", 'make it')
refused_at_all('a device whose path leads through /proc/self', lambda s: s['linux'].setdefault('devices', []).append({'path': '/proc/self/cwd/x', 'type': 'c', 'major': 1, 'minor': 3}),
               'linux.devices: the path /proc/self/cwd/x', 'process')
runs('in a user namespace of its own, a container without readonlyPaths and with a writable /sys', lambda s: (s['linux'].pop('readonlyPaths', None), writable(s, '/sys')), before=nothing)

# the control: what a container could do if it were not refused
host.settings('privileged = "hide-gpus";')
granted = Bundle(host, env=ASK, args=['/bin/sleep', '100'], edit=rootful)
pid = granted.start()


# opens the file for writing without writing
MAY_WRITE = '(: >>/proc/sys/kernel/core_pattern) 2>/dev/null && echo able'


def able(edit, script):
    b = Bundle(host, args=['/bin/sh', '-c', script], edit=lambda s: (rootful(s), edit(s)))
    r = b.run()
    b.delete()
    return r.stdout.strip()


ok(able(nothing, MAY_WRITE) == '', tag + 'control: an ordinary container cannot write core_pattern')
ok(able(lambda s: (s['linux'].pop('readonlyPaths'), s['process'].update(capabilities={})), MAY_WRITE) == 'able',
   tag + 'control: without readonlyPaths, a container without capabilities can')
os.symlink('/x/y', host.priv_rootfs + '/l')
os.makedirs(host.priv_rootfs + '/x/y')
ok(able(lambda s: s['linux'].update(readonlyPaths=[], maskedPaths=['/l/../proc/' + n for n in SETTINGS]), MAY_WRITE) == 'able',
   tag + 'control: with a link in the image, maskedPaths do not mask /proc/sys')
ok(able(lambda s: bind(s, W + '/vol', '/vol', 'rbind'), MAY_WRITE.replace('/proc', '/vol/priv-rootfs/proc')) == 'able',
   tag + 'control: the directory above root.path brings a new, writable /proc')
r = able(lambda s: namespaces(s, pid=None), 'ls /proc/%d/root/dev' % pid)
ok('nvidia0' in r, tag + 'control: without a PID namespace, a container sees another container\'s /dev', r)
granted.delete()
pods.delete()
others.delete()
done()
