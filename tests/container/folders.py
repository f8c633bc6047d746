#!/usr/bin/env python3
"""Policies with many folders: a container that gets a thousand, and the most that one container may have.

usage: folders.py RUNTIME CGROUP    (in tests/lib/sandbox.sh --gpu nvidia-2gpu)
"""
import ctypes, json, os, time
from lib import *

host, tag = able_host()
host.settings('privileged = "hide-gpus";')         # this container is root without a user namespace
ALL, MOST = 1000, 1024      # folders in a policy; the most that one container gets
MS_BIND, MNT_DETACH = 4096, 2
libc = ctypes.CDLL(None, use_errno=True)
POLICY = 'pipeline = "ml/train"; identity = "claim";\n'
GPU = 'gpus = ( { vendor = "nvidia"; devices = [ "%s" ]; } );\n' % GPU0
TRAIN = ['BUILD_TEAM_NAME=ml', 'BUILD_PIPELINE_NAME=train']
PATHS = ['/srv/customers/customer-%04d/datasets' % i for i in range(MOST + 1)]
for p in PATHS:
    os.makedirs(p)
    write(p + '/x', p[-13:-9] + '\n')


def policy(n, more=''):
    rules = ',\n  '.join('{ path = "%s"; access = "%s"; target = "/data/%s"; }' % (p, 'rw' if i % 2 else 'ro', p[15:28])
                         for i, p in enumerate(PATHS[:n]))
    return POLICY + 'folders = (\n  %s\n);\n' % rules + more


def run(folders, script='cat /data/*/x | wc -l', gpus='none'):
    env = TRAIN + ['GPUHELPER_GPUS=' + gpus] + (['GPUHELPER_FOLDERS=' + folders] if folders else [])
    b = Bundle(host, env=env, args=['/bin/sh', '-c', script])
    began = time.monotonic()
    r = b.run()
    return r, time.monotonic() - began


def as_host_root(spec):
    """Without a user namespace: then the lease contains the path of each writable folder."""
    spec['linux']['namespaces'] = [n for n in spec['linux']['namespaces'] if n['type'] != 'user']
    for maps in 'uidMappings', 'gidMappings':
        spec['linux'].pop(maps, None)
    spec['root']['path'] = host.priv_rootfs


for p in PATHS[1::2]:
    os.chown(p, MAXID, MAXID)
host.policies(t10_train=policy(ALL, GPU))
r = sh('/usr/sbin/gpuhelperctl', 'check')
ok(r.returncode == 0, tag + 'check accepts a policy with a thousand folders', r.stdout)
r, took = run(PATHS[998] + ':ro,' + PATHS[999], 'cat /data/customer-0998/x /data/customer-0999/x && echo w > /data/customer-0999/y && echo wrote')
ok(r.returncode == 0 and r.stdout.split() == ['0998', '0999', 'wrote'], tag + 'the last of a thousand folders is given', r.stdout)
ok(took < 5, tag + 'a grant from a thousand folders takes less than 5 s (%.1f s)' % took)
r, took = run('all', gpus='1')
ok(r.returncode == 0 and without_warning(r.stdout).split() == ['1000'], tag + 'all thousand folders are given (%.1f s)' % took, r.stdout)
b = Bundle(host, env=TRAIN + ['GPUHELPER_GPUS=1', 'GPUHELPER_FOLDERS=' + ','.join(PATHS[:ALL])], edit=as_host_root)
b.start()
size = sum(os.path.getsize('/run/gpuhelper/leases/' + n) for n in leases())
ok(len(leases()) == 1 and size < 896 << 10, tag + 'all by name, to the host\'s root: the lease can be read (%d bytes)' % size, leases())
r = sh('/usr/sbin/gpuhelperctl', 'status', '--json')
ok(r.returncode == 0 and len(json.loads(r.stdout)['leases']) == 1, tag + 'the lease is read', r.stdout)
b.delete()
ok(leases() == [], tag + 'the lease ends', leases())

# a worker has at least one mount for each container
os.makedirs('/srv/m')
for k in range(1500):
    at = b'/srv/m/%d' % k
    os.mkdir(at)
    assert libc.mount(at, at, None, MS_BIND, None) == 0
r, took = run('all')
ok(r.returncode == 0 and r.stdout.split() == ['1000'], tag + 'all thousand folders are given beside 1500 mounts (%.1f s)' % took, r.stdout)
for k in range(1500):
    libc.umount2(b'/srv/m/%d' % k, MNT_DETACH)

host.policies(t10_train=policy(MOST + 1))
r = sh('/usr/sbin/gpuhelperctl', 'check')
ok(r.returncode == 0 and 'warning: this policy lists 1025 folders, and one container gets at most 1024: it must ask for those '
   'that it needs (GPUHELPER_FOLDERS)' in r.stdout, tag + 'check warns that no container gets all of 1025 folders', r.stdout)
r, took = run('all')
ok(r.returncode != 0 and 'more than 1024 folders for one container: name those that it needs in GPUHELPER_FOLDERS' in r.stdout,
   tag + 'a request for all of 1025 folders is refused', r.stdout)
r, took = run(','.join(PATHS[:MOST + 1]))
ok(r.returncode != 0 and 'GPUHELPER_FOLDERS has more than 1024 entries' in r.stdout, tag + 'a request for 1025 folders by name is refused, too', r.stdout)
r, took = run(','.join(PATHS[:MOST]))
ok(r.returncode == 0 and r.stdout.split() == [str(MOST)], tag + '1024 folders by name are given (%.1f s)' % took, r.stdout)

# paths that would make a lease too long to be read; such a lease would stop everybody
long = '/srv/' + '/'.join('x' * 200 for _ in range(4))
deep = ['%s/%04d' % (long, i) for i in range(MOST)]
for p in deep:
    os.makedirs(p)
# several patterns list the same directory
host.policies(t10_train=POLICY + 'folders = ( { path = "/srv/customers/customer-000?"; access = "ro"; target = "/one"; },\n'
              '  { path = "/srv/customers/customer-001?"; access = "ro"; target = "/two"; } );\n')
for p in PATHS[:20]:
    os.chmod(os.path.dirname(p), 0o755)
r, took = run('all', 'echo /one/* /two/*')
ok(r.returncode == 0 and r.stdout.split() == ['/one/customer-%04d' % i for i in range(10)] + ['/two/customer-%04d' % i for i in range(10, 20)],
   tag + 'two patterns in one directory give the folders of both', r.stdout)

host.policies(t10_train=POLICY + 'folders = ( { path = "%s/*"; target = "/data"; } );\n' % long)
r, took = run('all')
ok(r.returncode != 0 and 'KiB, at most 896 are allowed: ask for fewer (GPUHELPER_FOLDERS)' in r.stdout,
   tag + 'a request whose lease would be too long is refused', r.stdout)
ok(leases() == [], tag + 'the refused request leaves no lease', leases())
host.policies(t10_train=policy(10, GPU))
r, took = run('all', gpus='1')
ok(r.returncode == 0 and without_warning(r.stdout).split() == ['10'], tag + 'the refused request does not affect other containers', r.stdout)
done()
