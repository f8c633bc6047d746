#!/usr/bin/env python3
"""A worker whose own device cgroup lacks the GPUs, as in a container of Docker or Kubernetes: nothing beneath opens them.

usage: nested.py RUNTIME CGROUP    (in tests/lib/sandbox.sh --gpu nvidia-2gpu)

The outer cgroup denies NVIDIA's major, with cgroup v1 by its list, with v2 by a BPF program as an engine attaches it.
"""
import ctypes, json, os, platform, struct, subprocess, sys
from lib import *

host, tag = able_host()
V1 = sys.argv[2] == 'v1'
TOP = '/sys/fs/cgroup' + ('/devices' if V1 else '')
NEST, WORKER = 'nest' + UNIQUE, 'nest%s/worker' % UNIQUE
NODES = '/dev/nvidia0 and 3 other nodes'
OPTIONS = "start the worker's own container with --device-cgroup-rule='c 195:* rwm'"
DENIED = 'gpuhelper: the device rules of this worker\'s cgroup deny %s to all containers beneath it: %s' % (NODES, OPTIONS)
ASKS = ['BUILD_TEAM_NAME=ml', 'BUILD_PIPELINE_NAME=train', 'GPUHELPER_GPUS=1']
LOOK = ['/bin/sh', '-c', 'head -c 1 /dev/nvidia0']
OPEN = 'No such device or address'      # the device cgroup let open(2) through, and no driver answers
host.policies(a='pipeline = "ml/train";\nidentity = "claim";\ngpus = ( { vendor = "nvidia"; } );\n')


def deny_by_program(place, *majors):
    """Attaches a BPF program that denies these majors, whatever the access (bpf(2); linux/bpf.h)."""
    libc = ctypes.CDLL(None, use_errno=True)

    def bpf(command, attr):
        text = ctypes.create_string_buffer(attr, 128)
        r = libc.syscall({'x86_64': 321, 'aarch64': 280}[platform.machine()], command, text, 128)
        if r == -1:
            raise OSError(ctypes.get_errno(), 'bpf(%d): %s' % (command, os.strerror(ctypes.get_errno())))
        return r

    insn = lambda code, dst=0, src=0, off=0, imm=0: struct.pack('<BBhi', code, dst | src << 4, off, imm)
    code = insn(0x61, 3, 1, 4) + insn(0xb7, 0)                  # r3 = major; r0 = 0
    for i, major in enumerate(majors):                          # if r3 == major: return 0
        code += insn(0x15, 3, off=len(majors) - i, imm=major)
    code += insn(0xb7, 0, imm=1) + insn(0x95)                   # return 1
    text, license = ctypes.create_string_buffer(code), ctypes.create_string_buffer(b'MIT')
    program = bpf(5, struct.pack('<IIQQ', 15, len(code) // 8, ctypes.addressof(text), ctypes.addressof(license)))
    d = os.open(place, os.O_RDONLY)
    bpf(8, struct.pack('<IIII', d, program, 6, 2))              # attach: BPF_CGROUP_DEVICE, BPF_F_ALLOW_MULTI
    os.close(d)
    os.close(program)


def make_nest():
    place = '%s/%s' % (TOP, NEST)
    os.mkdir(place)
    if V1:
        with open(place + '/devices.deny', 'w') as f:
            f.write('a')
        for rule in 'c 1:* rwm', 'c 5:* rwm', 'c 136:* rwm', 'c 10:* rwm', 'b *:* m', 'c *:* m':
            with open(place + '/devices.allow', 'w') as f:
                f.write(rule)
    else:
        deny_by_program(place, 195, 510)
    os.mkdir('%s/%s' % (TOP, WORKER))


class Nested(Bundle):
    """A bundle whose container's cgroup is at this path, and whose wrapper runs in the cgroup of a worker.

    With «top», that cgroup is the top of the worker's cgroup namespace, as in a container of Docker on a v2 host.
    """
    def __init__(self, path, place=WORKER, top=False, own_mounts=False, **kw):
        super().__init__(host, edit=lambda s: s['linux'].update(cgroupsPath=path), **kw)
        self.place, self.top, self.own_mounts = place, top, own_mounts

    def enter(self):
        if self.place:
            with open('%s/%s/cgroup.procs' % (TOP, self.place), 'w') as f:
                f.write('0')
        if self.own_mounts:
            libc = ctypes.CDLL(None, use_errno=True)
            if libc.unshare(0x00020000) or libc.mount(b'', b'/', None, 0x44000, None):      # CLONE_NEWNS; MS_PRIVATE, MS_REC
                raise OSError(ctypes.get_errno(), 'no mounts of its own')
        if self.top:
            libc, top = ctypes.CDLL(None, use_errno=True), TOP.encode()
            kind = (b'cgroup', b'devices') if V1 else (b'cgroup2', None)
            if (libc.unshare(0x02020000) or                             # CLONE_NEWCGROUP, CLONE_NEWNS
                    libc.mount(b'', b'/', None, 0x44000, None) or       # MS_PRIVATE, MS_REC
                    libc.umount(top) or libc.mount(b'top', top, kind[0], 0, kind[1])):
                raise OSError(ctypes.get_errno(), 'no cgroup namespace')

    def call(self, *words, **kw):
        return super().call(*words, preexec_fn=self.enter, **kw)

    def make(self):
        """Creates the container, starts it if there is one, and deletes it.  Returns what its task and the engine saw."""
        out = open(self.dir + '/out', 'w+')
        r = subprocess.run([WRAPPER, '--root', W + '/root', '--log', self.log, '--log-format', 'json', 'create', '--bundle', self.dir,
                            '--pid-file', self.dir + '/pid', self.id], stdin=subprocess.DEVNULL, stdout=out, stderr=out,
                           timeout=60, preexec_fn=self.enter)
        self.created = r.returncode == 0
        self.held = len(leases())
        if self.created:
            self.begin()
            for _ in range(100):
                if '"stopped"' in self.call('state', self.id).stdout:
                    break
                time.sleep(0.05)
        self.delete()
        out.seek(0)
        return out.read()


def nothing_held():
    """Whether no lease is left.  On a busy machine, a container's end may not be complete when the runtime returns."""
    for _ in range(50):
        if leases() == []:
            return True
        sh('/usr/sbin/gpuhelperctl', 'reap')
        time.sleep(0.1)
    return False


def refused(text, b, last=DENIED, before=True):
    """No container, the reason where engines look for it, and nothing left."""
    seen = b.make()
    ok(not b.created and b.errors() and b.errors()[-1].startswith(last) and last in seen and (not before or len(b.errors()) == 1),
       tag + text, (seen, b.errors()))
    ok(nothing_held() and (not before or b.held == 0), tag + text + ': nothing stays granted', (b.held, leases()))


def given(text, b):
    seen = b.make()
    ok(b.created and OPEN in seen and 'gpuhelper' not in ' '.join(b.errors()) and nothing_held(), tag + text, (seen, b.errors()))


make_nest()
unique = iter(range(1000))
beneath = lambda: '/%s/c%d' % (NEST, next(unique))
b = Nested(beneath(), args=['/bin/sh', '-c', 'echo ran'])
ok('ran' in b.make(), tag + 'a container without a GPU runs in such a worker', b.errors())
refused('no cgroup that the runtime could make allows the GPU: refused while the grant is not final', Nested(beneath(), env=ASKS, args=LOOK))
b = Nested(beneath(), env=ASKS, args=LOOK)
r = b.run()
ok(r.returncode != 0 and r.stdout.startswith(DENIED) and len(r.stdout.splitlines()) == 1 and nothing_held(),
   tag + 'run is refused the same way', r.stdout)

# runc takes a relative path from its own cgroup (v1) or the one above (v2), crun from the top
relative = Nested('garden/r%d%s' % (next(unique), UNIQUE), env=ASKS, args=LOOK)
if host.name == 'crun':
    given('a relative cgroupsPath, which crun takes from the top', relative)
elif V1:
    refused('a relative cgroupsPath: the last error says why runc failed', relative, before=False)
else:
    refused('a relative cgroupsPath: the created container is deleted before its task starts', relative, before=False,
            last=DENIED.replace('this worker\'s cgroup', 'a cgroup above the container\'s'))
refused('a relative cgroupsPath, in a worker that sees its own cgroup as the top',
        Nested('garden/r%d%s' % (next(unique), UNIQUE), top=True, env=ASKS, args=LOOK))
b = Nested('/far%s-%d' % (UNIQUE, next(unique)), env=ASKS, args=['/no/such/program'])
b.make()
ok(not b.created and b.errors() and 'gpuhelper' not in b.errors()[-1], tag + 'a runtime that fails for another reason: its own error is the last one',
   b.errors())
given('a container whose cgroup is elsewhere gets its GPU in spite of the worker\'s own rules',
      Nested('/far%s-%d' % (UNIQUE, next(unique)), env=ASKS, args=LOOK))
given('a worker without such rules', Nested('/far%s-%d' % (UNIQUE, next(unique)), env=ASKS, args=LOOK, place=None))
b = Nested(beneath(), env=ASKS, args=LOOK, place=None)
refused('a container beneath such rules, of a worker that is not', b, before=False,
        last=DENIED.replace('this worker\'s cgroup', 'a cgroup above the container\'s'))

if not V1:
    # a manager makes the cgroup, and the worker itself may not write in the hierarchy: nobody can ask from inside
    other = '%s/other%s' % (TOP, UNIQUE)
    os.mkdir(other)
    deny_by_program(other, 4095)
    write(W + '/ro/' + host.name, '#!/bin/sh\n%s "$@"; r=$?\n'
          'case " $* " in *" create "*) mount -o remount,bind,ro /sys/fs/cgroup ;; esac; exit $r\n' % host.runtime, 0o755)
    write('/etc/gpuhelper/gpuhelper.conf', open('/etc/gpuhelper/gpuhelper.conf').read().replace(host.runtime, W + '/ro/' + host.name))
    given('a container elsewhere whose rules can\'t be asked counts as one that may open its GPU',
          Nested('/other%s/c%d' % (UNIQUE, next(unique)), own_mounts=True, env=ASKS, args=LOOK))
    host.settings()
    os.rmdir(other)


def doctor(place):
    r = sh('/usr/sbin/gpuhelperctl', 'doctor', '--json', preexec_fn=Nested(beneath(), place=place).enter)
    return [c for c in json.loads(r.stdout)['checks'] if c['check'] == 'worker-cgroup']


for place, state in (None, 'ok'), (WORKER, 'fail'):
    found = doctor(place)
    ok(len(found) == 1 and found[0]['state'] == state and (state == 'ok' or (
        '/dev/nvidia0 and 5 other nodes' in found[0]['text'] and found[0]['mend'].startswith(OPTIONS))),
       tag + 'doctor in %s' % ('that cgroup' if place else 'another one'), found)

for d, _, _ in os.walk('%s/%s' % (TOP, NEST), topdown=False):
    os.rmdir(d)
done()
