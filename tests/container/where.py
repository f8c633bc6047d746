#!/usr/bin/env python3
"""A lease follows its container: in the engine's namespaces, and when the container is, or goes, somewhere else.

usage: where.py RUNTIME CGROUP    (in tests/lib/sandbox.sh --gpu nvidia-2gpu)

A script in place of the runtime adds an option, to stand in for an option that the wrapper does not see.  The test
itself does to a container's cgroup what a container with CAP_SYS_ADMIN could do.
"""
import fcntl, glob, os, shutil, signal, subprocess, time
from lib import *

host, tag = able_host()
TRAIN = ['BUILD_TEAM_NAME=ml', 'BUILD_PIPELINE_NAME=train', 'GPUHELPER_GPUS=1']
host.policies(t10='''
pipeline = "ml/train";
identity = "claim";
gpus = ( { vendor = "nvidia"; devices = [ "%s" ]; sharing = "exclusive"; } );
''' % GPU0)
OWN = 'where-' + UNIQUE


def hierarchies():
    """The uncovered mount points of cgroups."""
    all = [l.split()[4] for l in open('/proc/self/mountinfo') if l.split(' - ')[1].split()[0] in ('cgroup', 'cgroup2')]
    return [d for d in sorted(set(all)) if os.path.ismount(d)]


def move(pid, name):
    """Moves a process to a cgroup of that name in every hierarchy."""
    for d in hierarchies():
        os.makedirs('%s/%s' % (d, name), exist_ok=True)
        for f in 'cpuset.cpus', 'cpuset.mems':
            if os.path.exists('%s/%s/%s' % (d, name, f)) and not open('%s/%s/%s' % (d, name, f)).read().strip():
                open('%s/%s/%s' % (d, name, f), 'w').write(open('%s/%s' % (d, f)).read())
        open('%s/%s/cgroup.procs' % (d, name), 'w').write(str(pid))


def remove(name):
    for d in hierarchies():
        for p in sorted(glob.glob('%s/%s/**/' % (d, name), recursive=True), reverse=True):
            for _ in range(100):
                try:
                    os.rmdir(p)
                    break
                except OSError:
                    time.sleep(0.02)


def look():
    """A look like that of root's timer."""
    r = sh('gpuhelperctl', 'reap')
    assert r.returncode == 0, r.stdout


def gpu_is_free():
    """Whether a second container gets the GPU; removes it afterwards."""
    b = Bundle(host, env=TRAIN, args=['/bin/true'])
    r = b.create()
    b.delete()
    text = str(b.errors())
    assert r.returncode == 0 or 'are free' in text, text
    return r.returncode == 0, text


def wait_for(what, seconds=10):
    end = time.time() + seconds
    while not what() and time.time() < end:
        time.sleep(0.05)
    return what()


def gone(pid):
    try:
        return open('/proc/%d/stat' % pid).read().rsplit(')', 1)[1].split()[0] in 'ZX'
    except (FileNotFoundError, ProcessLookupError):
        return True


# the usual ways: with both, root sees the container's cgroup
for words in ['create'], ['run', '--detach']:
    b = Bundle(host, env=TRAIN, args=['/bin/sh', '-c', 'sleep 100 & sleep 101'])
    r = subprocess.run([WRAPPER, '--root', W + '/root', '--log', b.log, '--log-format', 'json', *words, '--bundle', b.dir,
                        '--pid-file', b.dir + '/pid', b.id], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, timeout=60)
    ok(r.returncode == 0, tag + '%s: a container is made' % words[0], b.errors())
    pid = int(open(b.dir + '/pid').read())
    lease = held_leases()[0]
    ok(lease['init'] == pid and lease['own_pids'] and all(b.id in c for c in lease['cgroups']),
       tag + '%s: its lease has its first process and its cgroups' % words[0], lease)
    free, out = gpu_is_free()
    ok(not free and 'are free' in out, tag + '%s: nobody else gets its GPU' % words[0], out)
    b.delete()
    ok(leases() == [], tag + '%s: its lease ends with it' % words[0], leases())

# another container's cgroup
b = Bundle(host, env=TRAIN, args=['/bin/sleep', '100'])
pid = b.start()
place = [l.split(':', 2)[2].strip() for l in open('/proc/%d/cgroup' % pid) if b.id in l][0]


def in_its_cgroup(spec):
    spec['linux']['cgroupsPath'] = place


plain = Bundle(host, args=['/bin/true'], edit=in_its_cgroup)
r = plain.run()
ok(r.returncode != 0 and 'has processes in it already' in r.stdout,
   tag + "a plain container is refused in the cgroup of a container with a lease", r.stdout)
r = b.exec(': < /dev/nvidia0')
ok('No such device' in r.stdout, tag + 'that container keeps its GPU', r.stdout)

plain = Bundle(host, args=['/bin/true'], edit=lambda s: s['linux'].update(cgroupsPath=place + '/beneath/it'))
r = plain.run()
ok(r.returncode != 0 and "is beneath another container's" in r.stdout, tag + 'a plain container is refused beneath that cgroup, where it would prolong the lease', r.stdout)
plain.delete()
beside = Bundle(host, args=['/bin/true'], edit=lambda s: s['linux'].update(cgroupsPath=os.path.dirname(place) + '/beside-' + b.id))
r = beside.run()
ok(r.returncode == 0, tag + 'a cgroup beside it is accepted', r.stdout)

# v2 has no directory for each hierarchy: a cgroup may have the name of one of v1's
if host.cgroup == 'v2':
    with open('/tmp/gpuhelper-where.lock', 'w') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        named = Bundle(host, args=['/bin/sleep', '100'], edit=lambda s: s['linux'].update(cgroupsPath='/devices'))
        named.start()
        inner = Bundle(host, args=['/bin/true'], edit=lambda s: s['linux'].update(cgroupsPath='/devices/beneath'))
        r = inner.run()
        ok(r.returncode != 0 and "is beneath another container's" in r.stdout,
           tag + "a container is refused beneath another one's cgroup that is named as a hierarchy", r.stdout)
        inner.delete()
        named.delete()

# the container moves away by itself
move(pid, OWN + '/away')
look()
free, out = gpu_is_free()
ok(not free and leases(), tag + 'a container that moved into another cgroup keeps its lease', out)
b.delete()
wait_for(lambda: gone(pid))
look()
ok(leases() == [], tag + 'its lease ends with the container', leases())
remove(OWN)


# without its own PID namespace: the first process ends, while another one is elsewhere
def without_pids(spec):
    spec['linux']['namespaces'] = [n for n in spec['linux']['namespaces'] if n['type'] != 'pid']
    for m in spec['mounts']:
        if m['type'] == 'proc':     # as engines do
            m.update(type='bind', source='/proc', options=['rbind'])
    spec['linux']['maskedPaths'] = spec['linux']['readonlyPaths'] = []


b = Bundle(host, env=TRAIN, args=['/bin/sh', '-c', 'sleep 1234 & sleep 101'], edit=without_pids)
pid = b.start()
other = [0]


def find_other():
    for p in glob.glob('/proc/[0-9]*/cmdline'):
        try:
            if open(p).read() == 'sleep\x001234\x00' and \
                    os.readlink(os.path.dirname(p) + '/ns/mnt') == os.readlink('/proc/%d/ns/mnt' % pid):
                other[0] = int(p.split('/')[2])
        except OSError:
            pass
    return other[0]


wait_for(find_other)
lease = held_leases()[0]
ok(other[0] and lease['init'] == pid and not lease['own_pids'],
   tag + 'a container without a PID namespace: its lease says so', lease)
move(other[0], OWN + '/away')
os.kill(pid, signal.SIGKILL)
wait_for(lambda: gone(pid))
for p in glob.glob('/proc/[0-9]*/cgroup'):      # processes that the first one left in the container's cgroup (sleep 101)
    try:
        if b.id in open(p).read() and p.split('/')[2] != str(other[0]):
            os.kill(int(p.split('/')[2]), signal.SIGKILL)
    except OSError:
        pass
time.sleep(0.2)
look()
free, out = gpu_is_free()
ok(not free and leases(), tag + 'its process in another cgroup keeps the lease', out)
os.kill(other[0], signal.SIGKILL)
wait_for(lambda: gone(other[0]))
b.delete()
look()
ok(leases() == [], tag + 'the lease ends with that process', leases())
remove(OWN)

# an engine in a cgroup namespace: its paths start elsewhere
b = Bundle(host, env=TRAIN, args=['/bin/sleep', '100'])


def enter_own():
    move(os.getpid(), OWN + '/engine')


r = subprocess.run(['unshare', '--cgroup', WRAPPER, '--root', W + '/root', '--log', b.log, '--log-format', 'json', 'create',
                    '--bundle', b.dir, b.id], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                   timeout=60, preexec_fn=enter_own)
ok(r.returncode != 0 and 'cgroup namespace' in str(b.errors()) and leases() == [],
   tag + 'an engine in a cgroup namespace whose /sys/fs/cgroup is not its own is refused, with the reason', b.errors())
b.delete()
remove(OWN)

# an engine in its own namespaces, with its own /sys/fs/cgroup: its leases count for everybody
ENGINE = r'''
set -e
mount -t proc proc /proc
for f in driver devices; do mount --rbind /run/own-proc/$f /proc/$f; done
# as systemd-nspawn does
mount --bind /run/own-proc/boot_id /proc/sys/kernel/random/boot_id
awk '{ for (i = 7; i <= NF && $i != "-"; i++); if ($(i+1) ~ /^cgroup2?$/) print $5, $(i+1), $(i+3) }' /proc/self/mountinfo |
sort -u -k1,1 | while read -r at type options; do
	mountpoint -q $at || continue
	umount -l $at
	if [ $type = cgroup2 ]; then mount -t cgroup2 cgroup2 $at
	else mount -t cgroup -o "${options#rw,}" cgroup $at; fi
done
"$@" </dev/null >/dev/null 2>&1 && echo made || echo refused
sleep 1000
'''
os.makedirs('/run/own-proc/driver', exist_ok=True)
write('/run/own-proc/devices', '')
write('/run/own-proc/boot_id', '11111111-2222-4333-8444-555555555555\n')
sh('mount', '--rbind', '/proc/driver', '/run/own-proc/driver')
sh('mount', '--bind', '/proc/devices', '/run/own-proc/devices')
b = Bundle(host, env=TRAIN, args=['/bin/sleep', '100'])
engine = subprocess.Popen(['unshare', '--pid', '--fork', '--kill-child', '--mount', '--cgroup', 'sh', '-c', ENGINE, 'sh', WRAPPER, '--root',
                           W + '/root', '--log', b.log, '--log-format', 'json', 'create', '--bundle', b.dir, b.id],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, preexec_fn=enter_own)
said = engine.stdout.readline().strip()
ok(said == 'made' and leases(), tag + 'an engine in its own PID and cgroup namespaces gets a container with a GPU', said + str(b.errors()))
look()
free, out = gpu_is_free()
ok(not free and leases(), tag + 'nobody outside of them gets that GPU', out)
engine.kill()
engine.wait()
remove(OWN)
# only the first PID namespace sees that its processes are gone; this sandbox is in another one
look()
first = os.stat('/proc/self/ns/pid').st_ino == 0xeffffffc
ok((leases() == []) == first, tag + 'only the first PID namespace can see that the container is gone', leases())
for f in glob.glob('/run/gpuhelper/leases/*'):
    os.unlink(f)

# an engine in a time namespace, where start times differ
b = Bundle(host, env=TRAIN, args=['/bin/sleep', '100'])
r = sh('unshare', '--time', '--boottime', '1000', '--fork', 'true')
if r.returncode != 0:
    skip(tag + 'an engine in its own time namespace is refused', r.stdout.strip())
else:
    r = subprocess.run(['unshare', '--time', '--boottime', '1000', '--fork', WRAPPER, '--root', W + '/root', '--log', b.log, '--log-format', 'json',
                        'create', '--bundle', b.dir, b.id], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=60)
    ok(r.returncode != 0 and 'time namespace' in str(b.errors()) and leases() == [], tag + 'an engine in its own time namespace is refused', b.errors())
b.delete()

# a runtime without a device cgroup
if host.name == 'crun':
    script = '#!/bin/sh\nexec %s --cgroup-manager=disabled "$@"\n' % host.runtime
else:
    script = None
if script:
    old = host.runtime
    host.runtime = write('/opt/odd/runtime', script, 0o755)
    host.settings()
    b = Bundle(host, env=TRAIN, args=['/bin/sleep', '100'])
    r = b.create()
    ok(r.returncode != 0 and 'no devices cgroup of its own' in str(b.errors()), tag + 'a container outside of all cgroups is refused',
       b.errors())
    ok(sh(old, '--root', W + '/root', 'state', b.id).returncode != 0 and wait_for(lambda: (look(), leases() == [])[1]),
       tag + 'the container is gone, and so is its lease', leases())
    host.runtime = old
    host.settings()
else:
    skip(tag + 'a container outside of all cgroups is refused', 'runc has no option to make one')

# a runtime that lets the container have every device, after it has set the rules
if host.cgroup == 'v1':
    old = host.runtime
    host.runtime = write('/opt/odd/lax', '''#!/bin/sh
%s "$@" || exit
case " $* " in *" create "*) ;; *) exit 0 ;; esac
while [ $# -gt 1 ] && [ "$1" != --pid-file ]; do shift; done
for d in /sys/fs/cgroup/devices/garden/*; do ! grep -qx "$(cat "$2")" "$d/cgroup.procs" || echo a >"$d/devices.allow"; done
''' % old, 0o755)
    host.settings()
    b = Bundle(host, env=TRAIN, args=['/bin/sleep', '100'])
    r = b.create()
    ok(r.returncode != 0 and 'devices.list lets it open GPUs that it was not granted' in str(b.errors()), tag +
       'a container whose runtime allows every device is refused', b.errors())
    ok(wait_for(lambda: (look(), leases() == [])[1]), tag + 'it leaves no lease', leases())
    host.runtime = old
    host.settings()

# scopes of systemd's that runtimes name differently
for path in 'system.slice::x', ':x', 'system.slice:x', 'a.slice:b:c:d', 'system.slice:b:', 'system.slice:b:c.slice', '/garden/x':
    def scope(spec, path=path):
        spec['linux']['cgroupsPath'] = path
    b = Bundle(host, env=TRAIN, args=['/bin/true'], edit=scope)
    r = b.call('run', '--bundle', b.dir, b.id, globals=('--systemd-cgroup',))
    ok(r.returncode != 0 and 'SLICE.slice:PREFIX:NAME' in r.stdout and leases() == [],
       tag + 'with systemd, cgroupsPath %s is refused' % path, r.stdout)
done()
