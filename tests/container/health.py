#!/usr/bin/env python3
"""gpuhelperctl health: no further container gets a GPU that the kernel reports as broken.

usage: health.py    (in tests/lib/sandbox.sh --gpu nvidia-2gpu)

The GPUs, sysfs's devices and the kernel's log are SIMULATED: files are mounted over them.
"""
from lib import *

CTL = '/usr/sbin/gpuhelperctl'
LIST, SEEN = '/var/lib/gpuhelper/drained', '/var/lib/gpuhelper/health'
host = Host('runc', 'v1')
host.settings()
host.policies(t10='pipeline = "ml/train";\nidentity = "claim";\ngpus = ( { vendor = "nvidia"; count = 2; wait = 0; } );\n')
gpus = lambda: json.loads(sh(CTL, 'status', '--json').stdout)['gpus']
states = lambda: [g['state'] for g in gpus()]
A, B = [g['pci'] for g in gpus()]
xid = lambda pci: pci[:-2]

# the kernel's log, and the devices on the PCI bus
LOG, BUS = W + '/kmsg', W + '/bus'
write(LOG, '6,1,100,-;Linux version\n')
if not os.path.exists('/dev/kmsg'):
    write('/dev/kmsg', '')
assert sh('mount', '--bind', LOG, '/dev/kmsg').returncode == 0
for pci in (A, B):
    os.makedirs(BUS + '/' + pci + '/power')
    open(BUS + '/' + pci + '/config', 'wb').write(b'\xde\x10\x06\x1e' + bytes(60))
    write(BUS + '/' + pci + '/aer_dev_fatal', 'DLP 0\nTOTAL_ERR_FATAL 0\n')
os.makedirs('/sys/bus/pci/devices', exist_ok=True) if not os.path.isdir('/sys/bus/pci/devices') else None
r = sh('mount', '--bind', BUS, '/sys/bus/pci/devices')
if r.returncode:
    skip('gpuhelperctl health', 'nothing can be mounted over /sys/bus/pci/devices here: ' + r.stdout.strip())
    done()
number = 1


def log(*texts, prefix='3'):
    global number
    for t in texts:
        number += 1
        open(LOG, 'a').write('%s,%d,%d,-;%s\n SUBSYSTEM=pci\n' % (prefix, number, number * 100, t))


def mark():
    r = sh(CTL, 'health', '--mark')
    if r.returncode:
        ok(False, 'health --mark works', r.stdout)
    return r.stdout


def run(*env):
    b = Bundle(host, env=['BUILD_TEAM_NAME=ml', 'BUILD_PIPELINE_NAME=train', *env], args=['/bin/sleep', '0'])
    # the kernel lets a container mount a sysfs only if nothing covers the host's
    sh('umount', '/sys/bus/pci/devices')
    b.r = sh(WRAPPER, '--root', W + '/root', '--log', b.log, '--log-format', 'json', 'run', '--bundle', b.dir, b.id, cwd=b.dir)
    b.said = b.r.stdout + (open(b.log).read() if os.path.exists(b.log) else '')
    b.delete()
    sh('mount', '--bind', BUS, '/sys/bus/pci/devices')
    return b


r = sh(CTL, 'health')
ok(r.returncode == 0 and r.stdout.count('no fault found') == 2, 'two healthy GPUs', r.stdout)
ok(mark().count('no fault found') == 2 and not os.path.exists(LIST) and states() == ['free'] * 2, 'health --mark marks nothing')

# lines that are no fault
log('NVRM: Xid (PCI:%s): 31, pid=7, name=NVRM: Xid (PCI:%s): 79,' % (xid(A), xid(A)), 'NVRM: Xid (PCI:0000:ff:00): 79, another')
log('NVRM: Xid (PCI:%s): 79, pid=1, of a process' % xid(A), prefix='12')
ok('further' not in mark() and states() == ['free'] * 2, 'ignored: an application\'s Xid, another GPU\'s Xid, a process\'s log line')

for flag in 'c', '+':     # a part of a line, which may begin with a name that a user chose: a cgroup's in an OOM line
    number += 1
    open(LOG, 'a').write('4,%d,%d,%s;NVRM: Xid (PCI:%s): 79, of a user\n' % (number, number * 100, flag, xid(A)))
ok('further' not in mark() and states() == ['free'] * 2, 'ignored: parts of a line, whose text a local user can choose')
number += 82400
log('ordinary')
ok('82400 kernel messages were lost since the last run: faults may have been missed' in mark(), 'records that were overwritten before they were read are counted')
ok('lost' not in mark() and json.loads(sh(CTL, 'health', '--json').stdout)['lost'] == 0, 'once')

# the log
log('NVRM: Xid (PCI:%s): 79, pid=\'<unknown>\', GPU has fallen off the bus.' % xid(A))
r = sh(CTL, 'health')
ok('nvidia %s: Xid 79, fallen off the bus' % A in r.stdout and states() == ['free'] * 2 and r.returncode == 69, 'health reports the GPU by its exit status, too, and changes nothing', r)
r = sh(CTL, 'health', '--json')
j = json.loads(r.stdout)
ok(r.returncode == 69 and [g.get('finding') for g in j['gpus']] == ['Xid 79, fallen off the bus', None] and j['kernel_log'] is True, 'as JSON', j)
out = mark()
ok('nvidia %s: no further container gets it: Xid 79' % A in out and states() == ['sick', 'free'], 'health --mark takes the GPU out of service', out)
r = sh(CTL, 'health')
ok(r.returncode == 69 and 'nvidia %s: Xid 79' % A in r.stdout, 'health says of a marked GPU that it is sick', r)
g = gpus()[0]
ok(g['sick']['why'] == 'Xid 79, fallen off the bus' and 'drained' not in g, 'status shows the reason', g)
ok('sick since' in sh(CTL, 'status').stdout and 'sick: Xid 79' in sh(CTL, 'devices').stdout, 'status and devices show the reason as text')
d = json.loads(sh(CTL, 'devices', '--json').stdout)
ok(d['gpus'][0]['sick']['why'] == g['sick']['why'] and d['gpus'][0]['rank'] == 0, 'the GPU keeps its rank', d['gpus'][0])
write(W + '/hosts.json', json.dumps({'here': d}))
r = sh(CTL, 'check', '--against', W + '/hosts.json')
ok(r.returncode == 0, 'check --against still accepts that list of devices', r.stdout)
ok('state="sick"} 1' in sh(CTL, 'metrics').stdout, 'the metrics count the GPU')
b = run('GPUHELPER_GPUS=1')
ok(b.r.returncode == 0 and B in audit()[-2].get('gpus', audit()[-1].get('gpus', ['']))[0], 'the other GPU is given', b.said)
b = run('GPUHELPER_GPUS=2')
ok(b.r.returncode != 0 and '%s is sick since 20' % A in b.said and 'Xid 79' in b.said, 'a request for both is refused, and told why', b.said)
before = open(LIST).read()
ok('further' not in mark() and open(LIST).read() == before, 'the next run changes nothing')

# undrain: known faults do not mark a GPU again, new ones do
r = sh(CTL, 'undrain', A)
ok(r.returncode == 0 and states() == ['free'] * 2, 'undrain puts the GPU back into service', r.stdout)
ok('further' not in mark() and states() == ['free'] * 2, 'the same log record does not mark it again')
r = sh(CTL, 'health')
ok(r.returncode == 0 and r.stdout.count('no fault found') == 2, '  and health takes it as dismissed', r)
log('NVRM: Xid (PCI:%s): 95, pid=1' % xid(A))
ok('Xid 95' in mark() and states() == ['sick', 'free'], 'a new log record does')
sh(CTL, 'drain', A, '--why', 'mine')
ok(gpus()[0]['drained']['why'] == 'mine' and states()[0] == 'out-of-service', 'an administrator\'s drain takes the mark over')
log('NVRM: Xid (PCI:%s): 48, pid=1' % xid(A))
mark()
ok(gpus()[0]['drained']['why'] == 'mine', 'the administrator\'s reason stays')
sh(CTL, 'undrain', '--all')

# faults on the bus
write(BUS + '/' + B + '/aer_dev_fatal', 'DLP 2\nTOTAL_ERR_FATAL 2\n')
ok('2 fatal PCIe errors' in mark() and states() == ['free', 'sick'], 'fatal PCIe errors')
sh(CTL, 'undrain', '--all')
ok('further' not in mark() and states() == ['free'] * 2, 'the same number of errors does not mark it again')
write(BUS + '/' + B + '/aer_dev_fatal', 'DLP 3\nTOTAL_ERR_FATAL 3\n')
ok('3 fatal PCIe errors' in mark() and states() == ['free', 'sick'], 'one more error marks the GPU again')
sh(CTL, 'undrain', '--all')
open(BUS + '/' + A + '/config', 'wb').write(b'\xff' * 64)
write(BUS + '/' + A + '/power/runtime_status', 'suspended\n')
ok('further' not in mark(), 'a suspended GPU is not marked')
write(BUS + '/' + A + '/power/runtime_status', 'active\n')
ok('does not answer on the PCI bus' in mark() and states() == ['sick', 'free'], 'a GPU that does not answer is marked')
sh(CTL, 'undrain', '--all')
ok('does not answer' in mark() and states() == ['sick', 'free'], 'undrain does not help as long as the GPU does not answer')
open(BUS + '/' + A + '/config', 'wb').write(b'\xde\x10\x06\x1e' + bytes(60))

# after a reboot the marks are outdated
text = open(LIST).read()
sh(CTL, 'drain', B)
text = re.sub(r'^(gpu .* )\d+( yes .*)$', r'\g<1>1000\2', open(LIST).read(), flags=re.M)
write(LIST, text)
write(SEEN, open(SEEN).read().replace(open('/proc/sys/kernel/random/boot_id').read().strip(), '0' * 8))
open(LOG, 'w').write('6,1,100,-;Linux version\n')
out = mark()
ok('%s: in service again' % A in out and states() == ['free', 'out-of-service'], 'a reboot ends a mark, but not an administrator\'s drain', out)
sh(CTL, 'undrain', '--all')

# damaged files
write(SEEN, 'nonsense')
out = mark()
ok('%s: no further container gets it: 3 fatal' % B in out and out.count('no fault found') == 1, 'if the record of known faults is damaged, every fault is new', out)
sh(CTL, 'undrain', '--all')
sh('useradd', '--no-create-home', '-G', 'gpuhelper', 'worker')
r = sh('setpriv', '--reuid', 'worker', '--init-groups', '--regid', 'worker', CTL, 'health', '--mark')
ok(r.returncode == 77 and 'only root' in r.stdout, 'a user cannot mark a GPU', r.stdout)
r = sh(CTL, 'health', '--mark', '--json')
ok(r.returncode == 64, '--mark and --json', r.stdout)
os.unlink(SEEN)
write(LIST, 'nonsense')
r = sh(CTL, 'health', '--mark')
ok(r.returncode == 78 and 'undrain --all' in r.stdout and not os.path.exists(SEEN), 'an unreadable list is not changed', r.stdout)
sh('umount', '/sys/bus/pci/devices')
sh('umount', '/dev/kmsg')
done()
