#!/usr/bin/env python3
"""Measures how gpuhelper's cost grows: one curve for each kind of thing that can be numerous.

usage: growth.py OUT.json [CURVE...]    (bench.sh runs it in tests/lib/sandbox.sh --gpu nvidia-8gpu)

A point is [N, median, least, most, by minima, user + system], in ms more than the bare runtime, or [N, the refusal's
message].
"""
import json, os, re, shutil, sys, time, uuid
import items
from stage import RUNTIME, TEAM, WRAPPER, Stage, asked, create, crowd, folder_rules, load, measure, pairs_of
from lib import lease, leases, write

POLICY_D = '/etc/gpuhelper/policy.d'
LOG = '/var/log/gpuhelper/audit.jsonl'


def point(n, base, c):
    try:
        o = pairs_of(base, c, 20, 4)
    except RuntimeError as e:
        said = str(e).splitlines()
        return [n, next((l for l in said if l.startswith('gpuhelper')), said[0])]
    return [n, o['wall'], o['least'], o['most'], o['minima'], o['cpu']]


def one_folder(stage):
    """The cheapest grant: a folder."""
    paths, space = stage.folders(1)
    more = dict(granted=True, space=space)
    t = stage.template(TEAM + [asked(paths)])
    return create(RUNTIME, t, **more), create(WRAPPER, t, **more), items.CALLER + folder_rules(paths)


def policies(stage):
    """Policy files for other pipelines, before the one that grants."""
    base, c, policy = one_folder(stage)
    other = ''.join('# line %d of what an administrator writes about it\n' % i for i in range(18)) + (
        'pipeline = "team/pipeline-%05d";\nidentity = "token";\njobs = [ "fit", "eval-*" ];\n'
        'gpus = (\n  { vendor = "nvidia";\n    count = 1;\n    wait = 120;\n  }\n);\nfolders = (\n'
        '  { path = "/srv/data/%05d"; access = "ro"; },\n  { path = "/srv/outputs/%05d"; access = "rw"; }\n);\n')
    for n in 1, 10, 100, 1000, 4000, 10000:
        stage.host.policies(zz=policy)
        for i in range(n - 1):
            write('%s/t%05d.conf' % (POLICY_D, i), other % (i, i, i))
        yield point(n, base, c)
    stage.host.policies()


def make_gpus(n):
    """Simulates so many GPUs: the driver's information in /proc, and the nodes."""
    top = '/proc/driver/nvidia/gpus'
    have = sorted(os.listdir(top))
    text = open('%s/%s/information' % (top, have[0])).read()
    own = re.search(r'GPU-[0-9a-f-]+', text).group()
    for d in have:
        shutil.rmtree('%s/%s' % (top, d))
    for i in range(n):
        pci = '%04x:%02x:00.0' % (i // 32, 16 + i % 32)
        t = text.replace(own, 'GPU-' + str(uuid.UUID(int=(7 << 100) + i, version=4)))
        t = re.sub(r'(Bus Location:\s*)\S+', r'\g<1>' + pci, re.sub(r'(Device Minor:\s*)\d+', r'\g<1>%d' % i, t))
        write('%s/%s/information' % (top, pci), t)
        if not os.path.exists('/dev/nvidia%d' % i):
            os.mknod('/dev/nvidia%d' % i, 0o020666, os.makedev(195, i))
            os.chmod('/dev/nvidia%d' % i, 0o666)


COUNTS = (1, 2, 4, 8, 16, 32, 64)


def gpus(stage, ask=None):
    """GPUs of the host, of which a container gets one."""
    stage.host.policies(t10=items.CALLER + 'gpus = ( { vendor = "nvidia"; count = 64; } );\n')
    for n in COUNTS:
        make_gpus(n)
        t = stage.template(TEAM + ['GPUHELPER_GPUS=%d' % (n if ask == 'all' else 1)])
        yield point(n, create(RUNTIME, t, granted=True), create(WRAPPER, t, granted=True))
    make_gpus(8)


def granted_gpus(stage):
    """GPUs that one container gets: all of the host's."""
    yield from gpus(stage, 'all')


def folders(stage):
    """Folders that one container gets."""
    for n in 1, 4, 16, 64, 256, 1000:
        paths, space = stage.folders(n)
        stage.host.policies(t10=items.CALLER + folder_rules(paths))
        t = stage.template(TEAM + ['GPUHELPER_FOLDERS=all'])
        more = dict(granted=True, space=space)
        yield point(n, create(RUNTIME, t, **more), create(WRAPPER, t, **more))


def at_once(stage):
    """Concurrent creates, each for a GPU that they share; milliseconds and CPU time for each."""
    stage.host.policies(t10=items.CALLER + 'gpus = ( { vendor = "nvidia"; count = 1; sharing = "shared"; share_limit = 64; } );\n')
    t = stage.template(TEAM + ['GPUHELPER_GPUS=1'])
    for n in 1, 2, 4, 8, 16, 32:
        base, c = create(RUNTIME, t, granted=True), create(WRAPPER, t, granted=True)
        base['at_once'] = c['at_once'] = n
        p = point(n, base, c)
        yield p if len(p) == 2 else [n] + [v / n for v in p[1:]]


def audit(stage):
    """Records in the audit log before the next one."""
    base, c, policy = one_folder(stage)
    stage.host.policies(t10=policy)
    measure({'c': c}, 1, warmup=0)
    last = open(LOG).read().splitlines()[-1] + '\n'
    pad = ('{"n":%d,"prev":"' + '0' * 64 +
           '","time":"2026-01-01T00:00:00Z","event":"end","uid":0,"pid":1,"container":"x","policy":"p"}\n')
    for n in 1, 1000, 100000, 1000000:
        with open(LOG, 'w') as f:
            for i in range(n - 1):
                f.write(pad % i)
            f.write(last)
        yield point(n, base, c)
    open(LOG, 'w').close()


def held(stage):
    """Live leases of other users' containers: copies of a real lease, all of the same live process."""
    base, c, policy = one_folder(stage)
    # in another mount namespace, because a lease lives as long as any process in its container's
    paths, space = stage.folders(2)
    stage.host.policies(t10=policy, t20=items.CALLER + folder_rules(paths))
    end = items.one_alive(stage, stage.template(TEAM + [asked(paths)]), 'alive', space)
    name, = leases()
    one = lease.read(open('/run/gpuhelper/leases/' + name).read())
    marks = name.split('-', 2)[2]
    made = []
    for n in 1, 10, 100, 1000, 4000, 10000:
        for i in range(len(made), n - 1):
            # one user may have 512
            copy = dict(one, id='held-%05d' % i, uid=10000 + i // 400)
            made.append('/run/gpuhelper/leases/%s-%d-%s' % (lease.key(copy), copy['uid'], marks))
            write(made[-1], lease.write(copy), 0o600)
        yield point(n, base, c)
    for path in made:
        if os.path.exists(path):
            os.unlink(path)
    end()


def beside_processes(base, c):
    """One curve: other processes on the host, each of which may have the GPU open or the folders mounted."""
    with crowd() as grow:
        for n in 1, 10, 100, 400, 1000:
            grow(n)
            yield point(n, base, c)


def processes(stage):
    """Other processes, while one GPU is granted: it is made sure that none of them has the GPU open."""
    stage.host.policies(t10=items.CALLER + items.GPUS)
    t = stage.template(TEAM + ['GPUHELPER_GPUS=1'])
    yield from beside_processes(create(RUNTIME, t, granted=True), create(WRAPPER, t, granted=True))


def processes_plain(stage):
    """The same for a plain container, whose root directory lies in a folder that containers may have mounted."""
    t = stage.template(TEAM)
    yield from beside_processes(create(RUNTIME, t, granted=True), create(WRAPPER, t, granted=True))


CURVES = (('policies', policies, 'policy files'), ('gpus', gpus, 'GPUs of the host, one is granted'),
          ('granted-gpus', granted_gpus, 'GPUs granted to one container'), ('folders', folders, 'folders granted to one container'),
          ('at-once', at_once, 'creates at once, time divided by their number'), ('audit', audit, 'records in the audit log'),
          ('leases', held, 'leases of other containers'),
          ('processes', processes, 'other processes on the host, one GPU is granted'),
          ('processes-plain', processes_plain, 'other processes on the host, plain container'))


def main():
    out, wanted = sys.argv[1], sys.argv[2:]
    stage = Stage()
    result = {'curves': {}, 'load': [load()], 'began': time.time()}
    for key, curve, label in CURVES:
        if wanted and key not in wanted:
            continue
        points = []
        for p in curve(stage):
            points.append(p)
            said = p[1] if len(p) == 2 else '%.2f ms (%.2f to %.2f; by minima %.2f), user + system %.2f' % tuple(p[1:])
            print('%-32s %8d  %s' % (label, p[0], said), flush=True)
        result['curves'][key] = {'label': label, 'points': points}
    result['load'].append(load())
    result['took'] = time.time() - result['began']
    with open(out, 'w') as f:
        json.dump(result, f, indent=1)


main()
