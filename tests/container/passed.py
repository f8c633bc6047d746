#!/usr/bin/env python3
"""A folder that its container passed on: its new holder cannot redirect the path of another container's folder.

usage: passed.py RUNTIME CGROUP    (in tests/lib/sandbox.sh --gpu nvidia-2gpu)

Real containers, each the host's root.  A has /srv/data, passes a descriptor of it to B, and ends.  B hides the
descriptor where no table shows it (park.c), and then swaps /srv/data/sub with a link to /root, while C asks for
/srv/data/sub.
"""
import os, re, subprocess, time
from lib import *

host, tag = able_host()
TRIES = 200
TRAIN = ['BUILD_TEAM_NAME=ml', 'BUILD_PIPELINE_NAME=train']
DOCKER = ['CAP_' + c for c in 'CHOWN DAC_OVERRIDE FSETID FOWNER MKNOD NET_RAW SETGID SETUID SETFCAP SETPCAP NET_BIND_SERVICE '
          'SYS_CHROOT KILL AUDIT_WRITE'.split()]
BOUNDING = int(re.search(r'CapBnd:\s*(\w+)', open('/proc/self/status').read()).group(1), 16)

host.settings('privileged = "deny";')
host.policies(t10='pipeline = "ml/train";\nidentity = "claim";\nfolders = ( { path = "/srv/data"; access = "rw"; subfolders = true; } );\n')
os.makedirs('/srv/data/sub')
write('/srv/data/sub/mine', 'mine\n')
write('/root/secret', 'the secret of root\n', 0o600)
shared = W + '/vol/shared'
os.makedirs(shared)
subprocess.check_call(['cc', '-std=c11', '-D_GNU_SOURCE', '-O1', '-static', '-pthread', '-o', host.priv_rootfs + '/bin/park', TESTS + '/container/park.c'])


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
    """What C reads in its folder, and the line of its refusal."""
    c = Bundle(host, env=TRAIN + ['GPUHELPER_FOLDERS=/srv/data/sub:ro'], args=['/bin/sleep', '60'], edit=docker)
    if c.create().returncode != 0:
        return '', (c.errors() or ['?'])[-1]
    with open('/proc/%s/mountinfo' % open(c.dir + '/pid').read()) as f:
        where = [l.split()[3] for l in f if l.split()[4] == '/srv/data/sub']
    read = c.begin().stdout + c.exec('cat /srv/data/sub/*').stdout
    c.delete()
    return read + str(where), ''


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
while len(got) + len(lines) < TRIES and not any('redirected its path' in l for l in lines):
    read, line = ask()
    lines += [line] if line else []
    got += [] if line else [read]
ok(not any('the secret' in r for r in got), tag + "C never gets root's directory, to which B's link leads", got[-1:])
ok(any('redirected its path' in l for l in lines) or not got,
   tag + 'the wrapper notices the redirected mount, after %d correct ones' % len(got), set(lines))
ok(all('mine' in r for r in got), tag + 'every folder that C got is the right one', got[:3])
# the last refused request's lease ends with its process
sh('/usr/sbin/gpuhelperctl', 'reap')
held = [l['id'] for l in held_leases()]
ok(all(i == a.id for i in held), tag + 'the refused requests left no lease', held)
open(shared + '/stop', 'w').close()
b.delete()
if os.path.islink('/srv/data/sub'):
    os.unlink('/srv/data/sub')
    os.rename('/srv/data/link', '/srv/data/sub')
# with «run» the task starts at once, so the mounts cannot be checked before its start
os.makedirs('/srv/alias')
sh('mount', '--bind', '/srv/data', '/srv/alias')
host.policies(t10='pipeline = "ml/train";\nidentity = "claim";\nfolders = ( { path = "/srv/data"; access = "rw"; subfolders = true; }, '
              '{ path = "/srv/alias"; access = "ro"; subfolders = true; } );\n')
for asked, good in ('/srv/data/sub:ro', False), ('/srv/alias/sub:ro', False), ('/srv/data:ro', True), ('/srv/alias:ro', True):
    c = Bundle(host, env=TRAIN + ['GPUHELPER_FOLDERS=' + asked], args=['/bin/true'], edit=docker)
    for _ in range(100):
        r = c.run()
        # until the helper sees that nobody has the folder any more
        if 'could redirect the path' not in r.stdout:
            break
        time.sleep(0.1)
    ok((r.returncode == 0) == good and ('use create' in r.stdout) != good, tag + 'run: %s is %s' % (asked, 'given' if good else 'refused, for a policy gives what it lies in for writing'), r.stdout)
done()
