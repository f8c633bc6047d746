#!/usr/bin/env python3
"""MIG instances as leases: each container gets its own instance's nodes; an instance and its whole GPU exclude each
other.

usage: mig.py RUNTIME CGROUP    (in tests/lib/sandbox.sh --gpu nvidia-mig)

The GPU is SIMULATED: a /proc/driver/nvidia with two GPU instances of one compute instance each, and nodes without a
driver (ENXIO: the cgroup allows the node; EPERM: it does not).
"""
import json, os, re, sys
from lib import *

host, tag = able_host()
TRAIN = ['BUILD_TEAM_NAME=ml', 'BUILD_PIPELINE_NAME=train']
UUID = 'GPU-edfee158-11c1-52b8-0517-92f30e7fac88'
POLICY = 'pipeline = "ml/train";\nidentity = "claim";\ngpus = ( { vendor = "nvidia"; count = 1; %s } );\n'
SEE = r'''
exec 2>&1
find /dev -name 'nvidia*' -type c | sort
for n in /dev/nvidia0 /dev/nvidia-caps/*; do
	case $( (: < $n) 2>&1 ) in
	*"No such device or address"*) echo $n=ENXIO ;; *"not permitted"*) echo $n=EPERM ;; *) echo $n=other ;; esac
done
mknod /tmp/other c 235 22 2>/dev/null && (: < /tmp/other) 2>&1
ls /proc/driver/nvidia/gpus
'''


def see(b):
    r = b.exec(SEE.replace('find', '/bin/busybox find').replace('| sort', '| /bin/busybox sort'))
    return [l for l in without_warning(r.stdout).split('\n') if not l.startswith('gpuhelper: GPU ')]


def container(asked, **kw):
    return Bundle(host, env=TRAIN + ['GPUHELPER_GPUS=' + asked], **kw)


r = sh('/usr/sbin/gpuhelperctl', 'devices')
ok('MIG instance %s:1:0' % UUID in r.stdout and 'has MIG instances' in r.stdout, tag + 'devices lists instances', r.stdout)
host.policies(t10=POLICY % '')
one, two = container('1'), container('1')
one.start()
two.start()
a, b = see(one), see(two)
ok(a[:5] == ['/dev/nvidia-caps/nvidia-cap12', '/dev/nvidia-caps/nvidia-cap13', '/dev/nvidia-uvm', '/dev/nvidia-uvm-tools', '/dev/nvidia0']
   and b[:2] == ['/dev/nvidia-caps/nvidia-cap21', '/dev/nvidia-caps/nvidia-cap22'], tag + 'two containers get an instance each, with only its nodes', (a, b))
ok('/dev/nvidia0=ENXIO' in a and '/dev/nvidia-caps/nvidia-cap13=ENXIO' in a and not [l for l in a if '=EPERM' in l or '=other' in l],
   tag + 'their cgroup allows these nodes', a)
ok('No such device or address' not in '\n'.join(l for l in a if 'other' in l), tag + "their cgroup denies the other instance's nodes", a)
masked = json.loads(one.config())['linux']['maskedPaths']
ok('/proc/driver/nvidia/capabilities/mig' in masked and '/proc/driver/nvidia/capabilities/gpu0/mig/gi2' in masked and
   '/proc/driver/nvidia/capabilities/gpu0/mig/gi1' not in masked, tag + 'files about the other instance are masked', masked)
third = container('1', args=['/bin/true'])
r = third.run()
ok(r.returncode == 1 and 'taken by' in r.stdout, tag + 'a third container is refused', r.stdout)
host.policies(t10=POLICY % 'mig = "whole";')
r = container('1', args=['/bin/true']).run()
ok(r.returncode == 1 and 'taken by' in r.stdout, tag + 'the whole GPU is not given while an instance is held', r.stdout)
one.delete()
two.delete()
whole = container('1')
whole.start()
w = see(whole)
ok(w[:4] == ['/dev/nvidia-caps/nvidia-cap%d' % n for n in (12, 13, 21, 22)], tag + 'the whole GPU comes with all its instances', w)
host.policies(t10=POLICY % '')
r = container('1', args=['/bin/true']).run()
ok(r.returncode == 1 and 'taken by' in r.stdout, tag + 'no instance is given while the whole GPU is held', r.stdout)
whole.delete()
r = container(UUID, args=['/bin/true']).run()
ok(r.returncode == 1 and 'MIG instances' in r.stdout, tag + 'without a policy for it the whole GPU is refused', r.stdout)
host.policies(t10=POLICY % ('devices = [ "%s:2:0" ];' % UUID))
b = container(UUID + ':2:0')
b.start()
status = json.loads(sh('/usr/sbin/gpuhelperctl', 'status', '--json').stdout)
ok([g['part'] for l in status['leases'] for g in l['gpus']] == ['2:0'], tag + 'an instance by name; status shows it', status)
grant = [x for x in audit() if x['event'] == 'grant'][-1]
ok(grant['gpus'] == ['nvidia 0000:3b:00.0 %s part 2:0' % UUID], tag + 'the audit log shows it, too', grant)
b.delete()

# by its own UUID, which only a CDI spec contains
MIG = 'MIG-11111111-2222-3333-4444-555555555555'
node = lambda *paths: {'deviceNodes': [{'path': p} for p in ('/dev/nvidia0',) + paths]}
caps = lambda *minors: ['/dev/nvidia-caps/nvidia-cap%d' % m for m in minors]
write('/etc/cdi/nvidia.json', json.dumps({'cdiVersion': '0.5.0', 'kind': 'nvidia.com/gpu', 'devices': [
    {'name': n, 'containerEdits': node(*caps(21, 22))} for n in ('0:1', MIG)] + [
    {'name': '0', 'containerEdits': node()}, {'name': 'half', 'containerEdits': node(*caps(12))},
    {'name': 'both', 'containerEdits': node(*caps(12, 13, 21))}]}))
for rule, asked in ('vendor = "nvidia"; devices = [ "%s" ];' % MIG, '1'), ('vendor = "nvidia.com/gpu"; devices = [ "0:1" ];', MIG), \
        ('vendor = "nvidia.com/gpu";', 'nvidia.com/gpu=0:1'):
    host.policies(t10='pipeline = "ml/train";\nidentity = "claim";\ngpus = ( { %s } );\n' % rule)
    b, other = container(asked), container(asked, args=['/bin/true'])
    b.start()
    seen = see(b)
    ok(seen[:2] == caps(21, 22), tag + 'an instance by %s, asked for as %s' % (rule, asked), seen)
    r = other.run()
    ok(r.returncode == 1 and 'taken by' in r.stdout, tag + '  all its names mean the same instance', r.stdout)
    b.delete()
for name in '0', 'half', 'both':
    host.policies(t10='pipeline = "ml/train";\nidentity = "claim";\ngpus = ( { vendor = "nvidia.com/gpu"; devices = [ "%s" ]; mig = "whole"; } );\n' % name)
    r = container('1', args=['/bin/true']).run()
    why = 'nvidia.com/gpu=0 lacks a node of its GPU' if name == '0' else 'nvidia.com/gpu devices'
    ok(r.returncode == 1 and why in r.stdout and leases() == [], tag + 'a device that is neither an instance nor the whole GPU ("%s"): refused' % name, r.stdout)
os.unlink('/etc/cdi/nvidia.json')
host.policies(t10=POLICY % ('devices = [ "%s:2:0" ];' % UUID))
# a fault of this GPU alone: the GPU is unusable, and the message says why
os.chmod('/proc/driver/nvidia/capabilities/gpu0/mig/gi1', 0o111)
r = container('1', args=['/bin/true']).run()
ok(r.returncode == 1 and "its MIG instances can't be known" in r.stdout and leases() == [], tag + 'a GPU whose instances cannot be listed is refused', r.stdout)
os.chmod('/proc/driver/nvidia/capabilities/gpu0/mig/gi1', 0o555)
os.unlink('/dev/nvidia-caps/nvidia-cap22')
r = container('1', args=['/bin/true']).run()
ok(r.returncode == 1 and 'nvidia-cap22 is not there' in r.stdout and leases() == [], tag + "an instance without its capability's node is refused", r.stdout)
done()
