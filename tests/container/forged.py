#!/usr/bin/env python3
"""Forged replies and forged leases: root's timer, root's wrapper and «gpuhelperctl end» touch no process, no cgroup and no
device but those of containers that root's wrapper saw when they were made (user/record/containerrecord.h).

usage: forged.py RUNTIME CGROUP    (in tests/lib/sandbox.sh --gpu nvidia-2gpu; cgroup v1, which shows device rules)

A script in the helper's place answers as a helper that was taken over could; with the real helper, the test writes the
lease.
"""
import json, re, signal, stat, struct, sys, time
from lib import *
sys.path.insert(0, TESTS + '/lib')
import lease
from tasks import *

host, tag = able_host()
prepare(host)
host.policies(t10=POLICY % 20)
HELPER = '/usr/libexec/gpuhelper/gpuhelper'
BOOT = open('/proc/sys/kernel/random/boot_id').read().strip()
RUN = '/run/gpuhelper/'
PAUSING = dict(major=0, minor=0, inode=0, gate='', idle='stop', left_behind=0, asked='', task=0, task_start=0, left_since=0, giver=1, giver_start=7,
               giving_since=0, waited=0, uid=0, gid=0, who='', may=[], nodes=[])


def start_of(pid):
    return int(open('/proc/%d/stat' % pid).read().rsplit(')', 1)[1].split()[19])


class Service:
    """A process of the host's in cgroups of its own, whose device rules deny everything."""

    def __init__(self, name):
        self.p = subprocess.Popen(['sleep', '1000'])
        self.start, self.cgroups = start_of(self.p.pid), []
        for c in 'devices', 'pids', 'memory', 'freezer':
            d = '/sys/fs/cgroup/%s/%s-%s' % (c, name, os.environ['SANDBOX_ID'])
            os.mkdir(d)
            write(d + '/cgroup.procs', str(self.p.pid))
            self.cgroups.append(d[len('/sys/fs/cgroup/'):])
        self.gate = self.cgroups[0]
        write('/sys/fs/cgroup/%s/devices.deny' % self.gate, 'a')

    def rules(self):
        return open('/sys/fs/cgroup/%s/devices.list' % self.gate).read()

    def lives(self):
        time.sleep(0.2)
        return self.p.poll() is None

    def end(self):
        self.p.kill()
        self.p.wait()
        for c in self.cgroups:
            os.rmdir('/sys/fs/cgroup/' + c)


def plant(id, **kw):
    """Writes a lease, and the lock that a chore takes; returns its file's name and key."""
    l = {**lease.NOTHING, 'boot': BOOT, 'id': id, 'state': 'giving-back', **kw, 'pausing': {**PAUSING, **kw.get('pausing', {})}}
    name, key = lease.name(l), lease.key(l)
    write(RUN + 'leases/' + name, lease.write(l), 0o600)
    write(RUN + 'locks/gate-' + key, '', 0o600)
    return name, key


def frame(reply):
    text = json.dumps(reply).encode()
    return b'GPUH' + struct.pack('>II', WIRE, len(text)) + text


def answered(reply, *command):
    """Runs a command, or calls a function, whose helper gives this reply, and then that nothing is left to do."""
    write(W + '/reply1', ''), write(W + '/reply2', '')
    for n, r in (1, reply), (2, {'reply': 'noted'}):
        with open('%s/reply%d' % (W, n), 'wb') as f:
            f.write(frame(r))
    os.rename(HELPER, HELPER + '.real')
    try:
        write(HELPER, '#!%s\nimport os, struct\nd = b""\nwhile len(d) < 12 or len(d) < 12 + struct.unpack(">I", d[8:12])[0]:\n\td += os.read(0, 65536)\nn = "%s/reply1"\nn = n if os.path.exists(n) else "%s/reply2"\n'
              'os.write(0, open(n, "rb").read())\nn.endswith("1") and os.unlink(n)\n' % (sys.executable, W, W), 0o755)
        return command[0]() if callable(command[0]) else sh(*command)
    finally:
        os.rename(HELPER + '.real', HELPER)


def chore(do, key, file, id, service, init, nodes=()):
    return {'do': do, 'lease': key, 'file': file, 'id': id, 'gate': service.gate, 'cgroups': [], 'nodes': [[*n, True] for n in nodes],
            'init': [init[0], str(init[1])], 'by': [1, '7']}


def opened(*numbers):
    return [dict(major=a, minor=b, open=True) for a, b in numbers]


# the directories that the first grant makes
a = container(host)
show(a, 'task')
# until then its agent asks, too, and could get the forged reply
assert soon(lambda: state(a) == 'promised' and agents() == [])
# a task that takes its GPUs
for entry in 'LD_PRELOAD=/tmp/evil.so', 'CUDA_VISIBLE_DEVICES=/tmp/evil.so', 'LD_PRELOAD':
    t = answered({'reply': 'noted', 'env': [entry]}, lambda: [x := Task(a, 'echo env=$LD_PRELOAD$CUDA_VISIBLE_DEVICES'), x.wait(), soon(lambda: agents() == [])][0])
    ok(t.status != 0 and 'env=' not in t.text() and 'has a variable that names no GPU' in t.text(), tag + 'a forged reply gives a task no variable: ' + entry, (t.status, t.text()))
victim = Service('victim')
before = victim.rules()

# a reply about a container that is none
file, key = plant('x1', init=victim.p.pid, init_start=victim.start, pausing=dict(gate=victim.gate))
r = answered({'reply': 'noted', 'chores': [chore('stop', key, file, 'x1', victim, (victim.p.pid, victim.start))]}, CTL, 'reap')
ok(victim.lives() and 'no record of having made it' in r.stdout, tag + 'a forged reply and lease: root\'s timer kills no process of the host', r.stdout)
file, key = plant('x2', state='held', pausing=dict(gate=victim.gate, nodes=opened((1, 1), (21, 0))))
r = answered({'reply': 'noted', 'chores': [chore('open', key, file, 'x2', victim, (0, 0), [(1, 1), (21, 0)])]}, CTL, 'reap')
ok(victim.rules() == before and 'container x2' in r.stdout, tag + 'and opens no device to a cgroup', (victim.rules(), r.stdout))
for name in os.listdir(RUN + 'leases'):
    if name.startswith(lease.key({**lease.NOTHING, 'id': 'x1'})) or name.startswith(lease.key({**lease.NOTHING, 'id': 'x2'})):
        os.unlink(RUN + 'leases/' + name)

# a reply about a real container, with another process, cgroup or device
held = next(l for l in held_leases() if l['id'] == a.id)
name = [n for n in os.listdir(RUN + 'leases') if n.startswith(lease.key(held))][0]
real = dict(do='stop', lease=lease.key(held), file=name, id=a.id, gate=held['pausing']['gate'], cgroups=[], nodes=[], init=[held['init'], str(held['init_start'])], by=[1, '7'])
text = open(RUN + 'leases/' + name).read()
for what, change, leased in (('first process', dict(init=[victim.p.pid, str(victim.start)]), dict(init=victim.p.pid, init_start=victim.start)), ('device cgroup', dict(gate=victim.gate), dict(gate=victim.gate)),
                             ('cgroup', dict(do='clear', cgroups=victim.cgroups[1:2]), {})):
    forged = {**real, **change}
    claimed = {k: leased.pop(k) for k in ('init', 'init_start') if k in leased}
    wants = {**held, **claimed, 'state': 'giving-back', 'pausing': {**held['pausing'], 'idle': 'stop' if forged['do'] == 'stop' else held['pausing']['idle'], 'giver': 1,
                                                         'giver_start': 7, **leased}}
    write(RUN + 'leases/' + name, lease.write(wants), 0o600)
    r = answered({'reply': 'noted', 'chores': [forged]}, CTL, 'reap')
    ok(victim.lives() and victim.rules() == before and 'its %s is not what gpuhelper-runc saw' % what in r.stdout,
       tag + 'a real container with another %s: nothing is done' % what, r.stdout)
write(RUN + 'leases/' + name, lease.write({**held, 'state': 'held', 'pausing': {**held['pausing'], 'nodes': opened((1, 1))}}), 0o600)
r = answered({'reply': 'noted', 'chores': [{**real, 'do': 'open', 'by': [0, '0'], 'nodes': [[1, 1, True]]}]}, CTL, 'reap')
write(RUN + 'leases/' + name, text, 0o600)
ok('1:1' not in open('/sys/fs/cgroup/%s/devices.list' % held['pausing']['gate']).read(), tag + 'a real container gets no device that is no GPU\'s', r.stdout)
ok('its list of devices is not what gpuhelper-runc saw' in r.stdout, tag + '  and the message says so', r.stdout)
write(RUN + 'leases/' + name, lease.write({**held, 'state': 'held', 'pausing': {**held['pausing'], 'nodes': opened((195, 1))}}), 0o600)
r = answered({'reply': 'noted', 'chores': [{**real, 'do': 'open', 'by': [0, '0'], 'nodes': [[195, 1, True]]}]}, CTL, 'reap')
write(RUN + 'leases/' + name, text, 0o600)
ok('195:1 ' not in open('/sys/fs/cgroup/%s/devices.list' % held['pausing']['gate']).read() and 'its list of devices is not' in r.stdout,
   tag + 'nor the node of a GPU that it was never promised', r.stdout)

# the devices were wrong from the beginning
record = RUN + 'births/' + lease.key(held)
good = open(record).read()
write(record, good.replace('end\n', 'node 1 1\nend\n'), 0o600)
write(RUN + 'leases/' + name, lease.write({**held, 'state': 'held', 'pausing': {**held['pausing'], 'nodes': opened((1, 1))}}), 0o600)
r = answered({'reply': 'noted', 'chores': [{**real, 'do': 'open', 'by': [0, '0'], 'nodes': [[1, 1, True]]}]}, CTL, 'reap')
write(RUN + 'leases/' + name, text, 0o600)
write(record, good, 0o600)
ok('1:1' not in open('/sys/fs/cgroup/%s/devices.list' % held['pausing']['gate']).read() and "device 1:1 is no GPU's" in r.stdout,
   tag + 'nor does a record that lists such a device give it', r.stdout)

# the reply is about one container, and the lease that would justify it is another's
b = container(host)
other = next(n for n in os.listdir(RUN + 'leases') if n.startswith(lease.key(next(l for l in held_leases() if l['id'] == b.id))))
write(RUN + 'locks/gate-' + real['lease'], '', 0o600)
r = answered({'reply': 'noted', 'chores': [{**real, 'file': other, 'by': [0, '0']}]}, CTL, 'reap')
ok(state(a) is not None and os.path.exists('/proc/%d' % held['init']), tag + "another container's lease justifies nothing", r.stdout)
b.delete()
# a container whose GPUs are its own, not promised
c = Bundle(host, env=TRAIN, args=['/bin/sleep', '1000'])
c.start()
own = next(l for l in held_leases() if l['id'] == c.id)
gate = next(g for g in own['cgroups'] if g.startswith('devices/'))
file, key = plant(c.id, root=own['root'], init=own['init'], init_start=own['init_start'], pausing=dict(gate=gate))
r = answered({'reply': 'noted', 'chores': [{**real, 'lease': key, 'file': file, 'id': c.id, 'gate': gate, 'init': [own['init'], str(own['init_start'])]}]}, CTL, 'reap')
ok(os.path.exists('/proc/%d/ns' % own['init']) and 'was not promised GPUs' in r.stdout, tag + 'nothing is done to a container that was not promised GPUs', r.stdout)
os.unlink(RUN + 'leases/' + file)

# a lease that someone else wrote, and the real helper
exe = os.stat('/proc/%d/exe' % victim.p.pid)
for r in 'c 195:* rwm', 'c 510:* rwm', 'c 226:* rwm':
    write('/sys/fs/cgroup/%s/devices.deny' % victim.gate, r)
file, _ = plant('x3', policy='p', state='held', pid=victim.p.pid, start=victim.start, init=victim.p.pid, init_start=victim.start,
                pids=os.stat('/proc/self/ns/pid').st_ino, own_pids=True, cgroups=victim.cgroups,
                gpus=[dict(vendor='nvidia', pci='0000:3b:00.0', part='', exclusive=True, limit=0)],
                nodes=[dict(path='/dev/nvidia0', major=195, minor=0, mode=0o666, uid=0, gid=0)],
                pausing=dict(gate=victim.gate, major=os.major(exe.st_dev), minor=os.minor(exe.st_dev), inode=exe.st_ino, giver=0, giver_start=0))
for _ in range(2):
    r = sh(CTL, 'reap')
ok(victim.lives(), tag + 'a forged lease: root\'s timer kills no process', r.stdout)
r = sh(CTL, 'end', '--yes', 'x3')
ok(r.returncode == 77 and victim.lives() and 'no record of having made it' in r.stdout, tag + 'and «gpuhelperctl end» does not', (r.returncode, r.stdout))
os.unlink(RUN + 'leases/' + file)
FORGED = dict(policy='p', state='held', pid=victim.p.pid, start=victim.start, init=victim.p.pid, init_start=victim.start,
              pids=os.stat('/proc/self/ns/pid').st_ino, cgroups=victim.cgroups,
              gpus=[dict(vendor='nvidia', pci='0000:3b:00.0', part='', exclusive=True, limit=0)])
for what, uid, own_pids in (('a forged lease of another user\'s', 1000, True), ('  and one whose container shares a PID namespace', 1000, False),
                            ('  and one of uid -1, which setresuid(2) ignores,', 0xffffffff, True), ('  which shares a PID namespace, too,', 0xffffffff, False)):
    file, _ = plant('x4', **FORGED, uid=uid, own_pids=own_pids)
    r = sh(CTL, 'end', '--yes', 'x4')
    ok(r.returncode != 0 and victim.lives() and 'ended' not in r.stdout.splitlines()[-1].split(), tag + what + ' ends no process of root\'s', (r.returncode, r.stdout))
    os.unlink(RUN + 'leases/' + file)
init = subprocess.Popen(['sleep', '1000'])
file, _ = plant('x5', **{**FORGED, 'pid': init.pid, 'start': start_of(init.pid), 'init': init.pid, 'init_start': start_of(init.pid)}, uid=1000, own_pids=False,
                pauses=True)
r = answered({'reply': 'noted', 'status': {'leases': [], 'waiters': [dict(container='x5', uid=1000, pipeline='', since='x', gpus=1, ahead=0, policy='p', priority=0,
                                                                           task=victim.p.pid)]}}, CTL, 'end', '--yes', 'x5')
ok(victim.lives(), tag + '  nor does one whose task is said to wait', (r.returncode, r.stdout))
init.kill()
init.wait()
os.path.exists(RUN + 'leases/' + file) and os.unlink(RUN + 'leases/' + file)
victim.end()

# records
births = RUN + 'births'
st = os.stat(births)
ok(stat.S_IMODE(st.st_mode) == 0o700 and st.st_uid == 0 and lease.key(own) in os.listdir(births), tag + 'the records are root\'s alone', oct(st.st_mode))
record = births + '/' + lease.key(own)
good = open(record).read()
for what, spoil in (('missing', lambda: os.unlink(record)), ('a link', lambda: (os.rename(record, W + '/record'), os.symlink(W + '/record', record))),
                    ('writable', lambda: os.chmod(record, 0o666)), ('another user\'s', lambda: os.chown(record, 1000, 0)),
                    ('cut off', lambda: write(record, good[:-5], 0o600)), ('a FIFO', lambda: (os.unlink(record), os.mkfifo(record, 0o600)))):
    spoil()
    r = sh(CTL, 'end', '--yes', c.id)
    ok(r.returncode == 77 and 'gpuhelper-runc has no record of having made it' in r.stdout and state(c) == 'held', tag + 'a record that is %s counts for nothing' % what, r.stdout)
    os.path.lexists(record) and os.unlink(record)
    write(record, good, 0o600)
r = sh(CTL, 'end', '--yes', c.id)
ok(r.returncode == 0, tag + 'with its record the container can be ended', r.stdout)
c.delete()
a.delete()
ok(not os.path.exists(record), tag + 'the record goes with the container')
b = container(host)
record = births + '/' + lease.key(next(l for l in held_leases() if l['id'] == b.id))
there = os.path.exists(record)
os.kill(b.pid(), signal.SIGKILL) if hasattr(b, 'pid') else sh(host.runtime, '--root', W + '/root', 'kill', b.id, 'KILL')
ok(there and soon(lambda: sh(CTL, 'reap').returncode == 0 and not os.path.exists(record)), tag + 'the record of a container that nobody deleted goes with root\'s timer', (there, record))
b.delete()
# a container that has ended, whose cgroup another process has now
b = container(host)
held = next(l for l in held_leases() if l['id'] == b.id)
name = next(n for n in os.listdir(RUN + 'leases') if n.startswith(lease.key(held)))
gate = '/sys/fs/cgroup/' + held['pausing']['gate']
os.kill(held['init'], signal.SIGKILL)
ok(soon(lambda: open(gate + '/cgroup.procs').read() == ''), tag + 'a container is killed')
write(RUN + 'locks/gate-' + lease.key(held), '', 0o600)
heir = subprocess.Popen(['sleep', '1000'])
write(gate + '/cgroup.procs', str(heir.pid))
write(RUN + 'leases/' + name, lease.write({**held, 'state': 'held', 'pausing': {**held['pausing'], 'nodes': opened(*((n['major'], n['minor']) for n in held['pausing']['nodes']))}}), 0o600)
r = answered({'reply': 'noted', 'chores': [{**real, 'do': 'open', 'by': [0, '0'], 'lease': lease.key(held), 'file': name, 'id': b.id, 'gate': held['pausing']['gate'],
              'init': [held['init'], str(held['init_start'])], 'nodes': [[n['major'], n['minor'], True] for n in held['pausing']['nodes']]}]}, CTL, 'reap')
ok('195:0' not in open(gate + '/devices.list').read() and 'has ended' in r.stdout, tag + 'another process in the cgroup of one that has ended gets no device', r.stdout)
heir.kill()
heir.wait()
b.delete()
clean()
done()
