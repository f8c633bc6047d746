#!/usr/bin/env python3
"""Joined GPUs stay together: which GPUs containers get on a host of four pairs.

usage: packing.py    (in tests/lib/sandbox.sh --gpu nvidia-8gpu)

The runtime below the wrapper is hold.c, as in leases.py.  What joins the GPUs is simulated as the GPUs are: links in
/sys/bus/pci/devices as the kernel makes them, and the directory of the driver of NVSwitches.
"""
import json, os, signal, time
from lib import *

CTL = '/usr/sbin/gpuhelperctl'
ADDRESSES = sorted(os.listdir('/proc/driver/nvidia/gpus'))
host = Host('runc', 'v1')
host.use_hold()
host.policies(t10='pipeline = "ml/x"; identity = "claim"; gpus = ( { vendor = "nvidia"; count = 8; wait = 60; } );')
r = sh('mount', '-t', 'tmpfs', '-o', 'mode=755', 'simulated', '/sys/bus/pci/devices')
assert r.returncode == 0, r.stdout


def above(bridges):
    """Lets /sys say which bridges are above each GPU: one text for each, in the order of their addresses."""
    for address, b in zip(ADDRESSES, bridges):
        path = '/sys/bus/pci/devices/' + address
        if os.path.lexists(path):
            os.unlink(path)
        os.symlink('../../../devices/pci0000:00/%s/%s' % (b, address), path)


def start(gpus):
    return Bundle(host, env=['BUILD_TEAM_NAME=ml', 'BUILD_PIPELINE_NAME=x', 'GPUHELPER_GPUS=%d' % gpus]).hold(60000)


def status():
    return json.loads(sh(CTL, 'status', '--json').stdout)


def held():
    """The numbers of the GPUs, by the order of their addresses, of each container."""
    out = {}
    for g in status()['gpus']:
        for h in g['holders']:
            out.setdefault(h['container'], []).append(ADDRESSES.index(g['pci']))
    return out


def soon(test, seconds=15):
    until = time.time() + seconds
    while not test() and time.time() < until:
        time.sleep(0.05)
    return test()


def gets(gpus):
    b = start(gpus)
    soon(lambda: b.id in held())
    return b, held().get(b.id)


def end(*bundles):
    for b in bundles:
        os.killpg(b.p.pid, signal.SIGKILL)
        b.p.wait()
    gone = {b.id for b in bundles}
    assert soon(lambda: not gone & {l['container'] for l in (sh(CTL, 'reap'), status())[1]['leases']}), status()


def devices():
    return {g['pci']: g for g in json.loads(sh(CTL, 'devices', '--json').stdout)['gpus']}


# without anything that joins them, GPUs go by address
above(['0000:00:0%d.0' % n for n in range(8)])
ok(all(g['joined'] == [] for g in devices().values()), 'devices: on root ports of their own, no GPUs are joined', devices())
a, got = gets(1)
b, two = gets(2)
ok(got == [0] and two == [1, 2], 'they go by address', (got, two, a.errors(), b.errors()))
end(a, b)

# four switches
above(['0000:00:0%d.0/0000:0%d:00.0/0000:0%d:0%d.0' % (n // 2, n // 2 + 1, n // 2 + 5, n) for n in range(8)])
d = devices()
ok(d[ADDRESSES[0]]['joined'] == [{'by': 'PCI switch', 'pci': [ADDRESSES[1]]}], 'devices: two GPUs beneath each switch are joined', d)
ok('    joined by PCI switch: %s\n' % ADDRESSES[0] in sh(CTL, 'devices').stdout, '  in words, too', sh(CTL, 'devices').stdout)
a, got = gets(1)
b, two = gets(2)
c, rest = gets(1)
e, four = gets(4)
ok((got, two, rest, four) == ([0], [2, 3], [1], [4, 5, 6, 7]),
   'two get a pair, one gets the rest of the broken pair, and four get the two pairs that stayed whole', (got, two, rest, four))
end(a, b, c, e)

# earlier requests keep their pairs
a, first = gets(7)
w = start(2)
ok(soon(lambda: [x['container'] for x in status()['waiters']] == [w.id]), 'one that wants two waits', (first, status()))
end(a)
ok(soon(lambda: w.id in held()) and held()[w.id] in ([0, 1], [2, 3], [4, 5], [6, 7]), '  and gets a pair', held())
end(w)

# drained GPUs belong to no whole pair
sh(CTL, 'drain', ADDRESSES[1])
a, got = gets(2)
b, one = gets(1)
ok(got == [2, 3] and one == [0], 'a pair with a drained GPU is not whole', (got, one))
end(a, b)
sh(CTL, 'undrain', ADDRESSES[1])

# NVSwitches join all, so that switches decide
os.makedirs('/proc/driver/nvidia-nvswitch/devices/0000:c5:00.0')
d = devices()
ok(d[ADDRESSES[0]]['joined'] == [{'by': 'NVLink', 'pci': ADDRESSES[1:]}], 'devices: NVSwitches join all GPUs', d[ADDRESSES[0]])
a, got = gets(1)
b, two = gets(2)
ok(got == [0] and two == [2, 3], '  and pairs beneath a PCI switch stay together', (got, two))
end(a, b)
done()
