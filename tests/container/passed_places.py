#!/usr/bin/env python3
"""Like passed.py, with a folder that is a mount of its own; the link leads to the host's root directory.

usage: passed_places.py RUNTIME CGROUP    (in tests/lib/sandbox.sh --gpu nvidia-2gpu)
"""
import os, re, subprocess, time
from lib import *

host, tag = able_host()
SECONDS = 40     # the time for winning the race
TRAIN = ['BUILD_TEAM_NAME=ml', 'BUILD_PIPELINE_NAME=train']
DOCKER = ['CAP_' + c for c in 'CHOWN DAC_OVERRIDE FSETID FOWNER MKNOD NET_RAW SETGID SETUID SETFCAP SETPCAP NET_BIND_SERVICE '
          'SYS_CHROOT KILL AUDIT_WRITE'.split()]
BOUNDING = int(re.search(r'CapBnd:\s*(\w+)', open('/proc/self/status').read()).group(1), 16)

host.settings('privileged = "deny";')
host.policies(t10='pipeline = "ml/train";\nidentity = "claim";\nfolders = ( { path = "/srv/data"; access = "rw"; }, { path = "/srv/data/sub"; access = "rw"; submounts = true; } );\n')
os.makedirs('/srv/data/sub')
sh('mount', '-t', 'tmpfs', 'x', '/srv/data/sub')
write('/srv/data/sub/mine', 'mine\n')
write('/root/secret', 'the secret of root\n', 0o600)
shared = W + '/vol/shared'
os.makedirs(shared)
park = open(TESTS + '/container/park.c').read().replace('"/root"', '"/"')
subprocess.run(['cc', '-std=c11', '-D_GNU_SOURCE', '-O1', '-static', '-pthread', '-o', host.priv_rootfs + '/bin/park', '-x', 'c', '-'], input=park, text=True, check=True)


def docker(spec):
    """An ordinary Docker container: no user namespace, default capabilities."""
    for key in 'uidMappings', 'gidMappings':
        del spec['linux'][key]
    spec['linux']['namespaces'] = [n for n in spec['linux']['namespaces'] if n['type'] != 'user']
    spec['root']['path'] = host.priv_rootfs
    ordinary(spec, [c for c in DOCKER if c not in missing_caps(BOUNDING)])


def with_shared(spec):
    docker(spec)
    spec['mounts'].append({'destination': '/shared', 'type': 'bind', 'source': shared, 'options': ['bind', 'rw']})


def wait(mark):
    end = time.monotonic() + 15
    while not os.path.exists(shared + '/' + mark) and time.monotonic() < end:
        time.sleep(0.02)
    assert os.path.exists(shared + '/' + mark), mark


def ask():
    c = Bundle(host, env=TRAIN + ['GPUHELPER_FOLDERS=/srv/data/sub:rw'], args=['/bin/sleep', '60'], edit=docker)
    if c.create().returncode != 0:
        return '', (c.errors() or ['?'])[-1]
    read = c.begin().stdout + c.exec('ls /srv/data/sub; cat /srv/data/sub/root/secret').stdout
    c.delete()
    return read, ''


def end():
    for d in '/srv/data/sub', '/srv/data/link':
        # at the end one of the two is a link to «/», which umount(8) would follow
        if not os.path.islink(d):
            sh('umount', '-l', d)
    done()


if '(runc features)' in ask()[1]:
    skip(tag + 'all checks', 'this runtime brings no submounts along, and so is given no such folder')
    end()
b = Bundle(host, args=['/bin/park', 'b'], edit=with_shared)
b.start()
wait('listening')
a = Bundle(host, env=TRAIN + ['GPUHELPER_FOLDERS=/srv/data:rw'], args=['/bin/park', 'a'], edit=with_shared)
a.start()
wait('parked')
time.sleep(0.3)
a.delete()
open(shared + '/go', 'w').close()
wait('swapping')
got, lines = [], []
late = time.monotonic() + SECONDS
while time.monotonic() < late and not any('redirected its path' in l for l in lines):
    read, line = ask()
    lines += [line] if line else []
    got += [] if line else [read]
ok(not any('the secret' in r for r in got), tag + "C never gets the host's root directory, to which B's link leads", got[-1:])
name = tag + 'it is seen in what the runtime mounted, though the folder came along'
if any('redirected its path' in l for l in lines):
    ok(True, name)
else:
    skip(name, 'the race was not won in %d tries and %d s' % (len(got) + len(lines), SECONDS))
ok(all('mine' in r for r in got), tag + 'every folder that C got is the right one', got[:3])
open(shared + '/stop', 'w').close()
b.delete()
end()
