#!/usr/bin/env python3
"""Which judge the helper starts: gpuhelper-judge-udev where the kernel has a GPU's DRM or accel node, whoever's it is, and
gpuhelper-judge, without libudev, elsewhere. A driver that is loaded in between costs one refusal and no GPU.

usage: judges.py RUNTIME CGROUP    (in tests/lib/sandbox.sh --gpu nvidia-2gpu)
"""
import os, shutil
from lib import *

host, tag = able_host()
PLAIN, UDEV = ('/usr/libexec/gpuhelper/gpuhelper-judge' + end for end in ('', '-udev'))
host.policies(t10='identity = "caller"; callers = [ "root" ]; gpus = ( { vendor = "nvidia"; devices = [ "%s" ]; } );' % GPU0)


def devices(*paths):
    """Lets /sys/class have these devices, and no other."""
    sh('umount', '/sys/class')
    r = sh('mount', '-t', 'tmpfs', '-o', 'mode=755', 'tmpfs', '/sys/class')
    assert r.returncode == 0, r.stdout
    for p in paths:
        os.makedirs('/sys/class/' + p)


def ask():
    """Runs a task. Returns its result and the judges that were started."""
    b = Bundle(host, env=['GPUHELPER_GPUS=1'], args=['/bin/sh', '-c', 'ls /dev/nvidia?'])
    log = W + '/strace'
    r = sh('strace', '-f', '-y', '-e', 'trace=execveat', '-o', log, WRAPPER, '--root', W + '/root', 'run', '--bundle', b.dir, b.id, cwd=b.dir)
    text = open(log).read()
    return r, [p for p in (PLAIN, UDEV) if '<%s>' % p in text]


def granted(what, judge):
    r, started = ask()
    ok(r.returncode == 0 and '/dev/nvidia0' in r.stdout, tag + what + ': the GPU is granted', r.stdout)
    ok(started == [judge], tag + what + ': ' + os.path.basename(judge) + ' starts, and no other judge', started)


def refused(what, *why):
    r, _ = ask()
    ok(r.returncode == 1 and all(w in r.stdout for w in why) and leases() == [], tag + 'refused: ' + what, r.stdout)


# the kernel lets a container's user namespace mount /sys only if it sees a /sys that nothing covers
os.mkdir(W + '/sys')
sh('mount', '-t', 'sysfs', 'sysfs', W + '/sys')
devices()
granted('without DRM', PLAIN)
devices('drm/card0', 'drm/card0-VGA-1', 'drm/version')
granted('a screen without a render node', PLAIN)
devices('drm/card0', 'drm/renderD129')
granted('a render node', UDEV)
os.rename(UDEV, UDEV + '.away')
refused('a render node, and no gpuhelper-judge-udev', 'gpuhelper-judge-udev: No such file or directory: install it (make install)')
# as if the driver had been loaded between the choice and the look
shutil.copy(PLAIN, UDEV)
os.chmod(UDEV, 0o711)
refused('a render node that gpuhelper-judge finds', 'the driver of GPU renderD129 has just been loaded: try again')
devices('accel/accel0')
refused('an NPU that gpuhelper-judge finds', 'the driver of GPU accel0 has just been loaded: try again')
os.rename(UDEV + '.away', UDEV)
granted('an NPU', UDEV)
devices()
os.rename(UDEV, UDEV + '.away')
granted('without DRM and without gpuhelper-judge-udev', PLAIN)
os.rename(UDEV + '.away', UDEV)
sh('mount', '-t', 'tmpfs', '-o', 'mode=755', 'tmpfs', '/sys/dev/char')
os.mkdir('/sys/dev/char/195:255')
granted('nvidiactl that udev may know', UDEV)
sh('umount', '/sys/dev/char')
done()
