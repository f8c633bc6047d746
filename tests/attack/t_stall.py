"""A user stalls a listing of a directory, and with it the kernel's lock of that directory.

The listing writes into mapped memory of a FUSE file whose daemon never answers.  Whoever then makes or removes a name
in the directory waits, and no signal ends that wait.  Also: root directories on mounts that are no longer attached
anywhere.
"""
import contextlib
import os
import re
import signal
import stat
import struct
import subprocess
import time

import client
from client import exchange, once
from harness import *
from t_lease import Openable
from t_process import roots_helpers, silent_files

# linux/fuse.h: what the kernel asks a daemon for, and the version and sizes that this daemon knows
FUSE_LOOKUP, FUSE_FORGET, FUSE_GETATTR, FUSE_OPEN, FUSE_READ, FUSE_INIT, FUSE_OPENDIR, FUSE_INTERRUPT = 1, 2, 3, 14, 15, 26, 27, 36
FUSE_IN_HEADER = "<IIQQIII"     # len, opcode, unique, nodeid, uid, gid, pid
FUSE_OUT_HEADER = "<IiQ"        # len, error, unique
FUSE_INIT_OUT = "<IIIIHHIIHHI28x"   # major, minor, max_readahead, flags, max_background, congestion_threshold, max_write, …
FUSE_ATTR = "<QQQQQQIIIIIIIIII"     # ino, size, blocks, atime, mtime, ctime, their nanoseconds, mode, nlink, uid, gid, rdev, blksize, flags
VERSION, ROOT_NODE, FILE_NODE, HANDLE, CACHE_S = (7, 31), 1, 2, 1, 3600

STALL = r"""
import ctypes, os, sys, threading, time
PROT_READ_WRITE, MAP_PRIVATE = 3, 2     # mmap(2)
SYS_read, SYS_getdents64 = {"x86_64": (0, 217), "aarch64": (63, 61)}[os.uname().machine]
# the directory is listed into memory of a file that never provides its pages; then a thread makes a name in it
path, directory, how = sys.argv[1:]
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
fd = os.open(path, os.O_RDWR)
at = libc.mmap(None, 65536, PROT_READ_WRITE, MAP_PRIVATE, fd, 0)
assert at not in (None, ctypes.c_void_p(-1).value), ctypes.get_errno()
if how == "read":
    d = os.open(directory, os.O_RDONLY | os.O_DIRECT)
    threading.Thread(target=lambda: libc.syscall(SYS_read, d, ctypes.c_void_p(at), 4096), daemon=True).start()
else:
    d = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    threading.Thread(target=lambda: libc.syscall(SYS_getdents64, d, ctypes.c_void_p(at), 65536), daemon=True).start()
time.sleep(0.3)
def make():
    try:
        os.mkdir(directory + "/.x")
    except OSError as e:
        print("mkdir:", e, flush=True)
if how == "mkdir":
    threading.Thread(target=make, daemon=True).start()
    time.sleep(0.3)
print("stalled", flush=True)
time.sleep(600)
"""


def begun(p):
    lines = []
    while not lines or lines[-1] not in (b"stalled\n", b""):
        lines.append(p.stdout.readline())
    assert lines[-1] == b"stalled\n", lines


@contextlib.contextmanager
def stalled(directory, how="mkdir", user="attacker"):
    with contextlib.ExitStack() as stack:
        files = contextlib.ExitStack()
        path = files.enter_context(silent_files(user, lambda opcode, pid: opcode == FUSE_READ, serve_sized))
        p = stack.enter_context(background("python3", "-c", STALL, path, directory, how, user=user))
        # on exit the daemon ends first
        stack.push(files)
        begun(p)
        yield p


def serve_sized(fd, is_silent):
    def attributes(node, mode):
        return struct.pack(FUSE_ATTR, node, 65536, 128, 0, 0, 0, 0, 0, 0, mode, 1, 0, 0, 0, 4096, 0)

    file, directory = attributes(FILE_NODE, stat.S_IFREG | 0o666), attributes(FILE_NODE, stat.S_IFDIR | 0o777)
    # lets everybody go on after a while, even if the test fails
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(70)
    while True:
        data = os.read(fd, 1 << 17)
        _, opcode, unique, node, _, _, pid = struct.unpack_from(FUSE_IN_HEADER, data)
        if is_silent(opcode, pid):
            continue
        if opcode == FUSE_INIT:
            body = struct.pack(FUSE_INIT_OUT, *VERSION, 0, 0, 8, 8, 65536, 1, 0, 0, 0)
        elif opcode == FUSE_LOOKUP:
            body = struct.pack("<QQQQII", FILE_NODE, 0, CACHE_S, CACHE_S, 0, 0) + file
        elif opcode == FUSE_GETATTR:
            body = struct.pack("<QII", CACHE_S, 0, 0) + (directory if node == ROOT_NODE else file)
        elif opcode in (FUSE_OPEN, FUSE_OPENDIR):
            body = struct.pack("<QII", HANDLE, 0, 0)
        elif opcode in (FUSE_FORGET, FUSE_INTERRUPT):
            continue
        else:
            body = b""
        os.write(fd, struct.pack(FUSE_OUT_HEADER, struct.calcsize(FUSE_OUT_HEADER) + len(body), 0, unique) + body)


def answered(v, seconds=8, **fields):
    """The reply to a request, which must come within that time."""
    v.tell(exchange, **(fields or {"gpus": None, "folders": "/srv/ro"}))
    assert v.pipe.poll(seconds), "no answer: %r" % roots_helpers()
    return v.hear()


def lists(a, directory):
    """Whether the asker's user can list the directory."""
    try:
        return a.call(os.listdir, directory) is not None
    except Exception as e:
        assert "Permission denied" in str(e), e
        return False


def read_bytes(path):
    with open(path, "rb") as f:
        return f.read()


@case("S25", "Nobody can list root's directories in /run, nor the directory of their own exec records, which they read by name", 60)
def s25():
    with asker("attacker") as a:
        granted(a.grant(gpus=GPU0))
        own = "%s/exec/%d" % (RUN, client.pwd.getpwnam("attacker").pw_uid)
        name, = os.listdir(own)
        assert len(a.call(read_bytes, own + "/" + name)) > 0
        assert lists(a, "/run")
        for directory in RUN, RUN + "/exec", own, RUN + "/leases", RUN + "/locks":
            assert not lists(a, directory), directory


@contextlib.contextmanager
def cgroup_beside(others, name):
    path = "%s/%s-%s" % (others, os.environ["SANDBOX_ID"], name)
    os.mkdir(path)
    try:
        yield path[len(others):]
    finally:
        os.rmdir(path)


# a container's own cgroup, made by its runtime, is further down
@case("S26", "Everybody may list the top of a cgroup hierarchy; a stalled listing blocks nobody", 60)
def s26():
    pids = "/sys/fs/cgroup/pids"
    with asker("victim") as v, cgroup_beside(pids, "above") as above:
        def grant(name):
            granted(answered(v, id=name, cgroups_path=above + "/" + name, gpus=None, folders="/srv/ro"))
        grant("first")
        # a new cgroup clears the kernel's cache of missing names
        with cgroup_beside(pids, "new"), stalled(pids):
            grant("second")


OWN_TOP = r'''
set -e
mkdir -p /run/hierarchies && mount -t tmpfs -o mode=755 hierarchies /run/hierarchies
for d in /sys/fs/cgroup/*/; do
	[ -e "$d/cgroup.procs" ] || continue
	mkdir "/run/hierarchies/$(basename "$d")"
	mount --bind "$d" "/run/hierarchies/$(basename "$d")"
done
mount --move /run/hierarchies /sys/fs/cgroup
rmdir /run/hierarchies
'''


@case("S28", "A stalled listing of the directory where the hierarchies are mounted blocks nobody", 60)
def s28():
    if os.path.exists("/sys/fs/cgroup/cgroup.procs"):
        raise Skip("v2 alone is mounted here: its top is S26's")
    subprocess.run(["sh", "-c", OWN_TOP], check=True)
    try:
        with asker("victim") as v, cgroup_beside("/sys/fs/cgroup/pids", "above") as above, stalled("/sys/fs/cgroup"):
            granted(answered(v, id="one", cgroups_path=above + "/one", gpus=None, folders="/srv/ro"))
    finally:
        subprocess.run(["umount", "-R", "/sys/fs/cgroup"], check=True)


early = []


def start_early():
    """In the asker: starts a helper without a request; returns its PID."""
    early.append(client.Helper())
    return early[-1].p.pid


def ask_early(**fields):
    return early.pop().ask(**fields).result()


@case("S29", "A caller who stalls a listing of its helper's directory in /proc blocks nobody, least of all under the lease lock", 60)
def s29():
    with Openable(), asker("attacker") as a:
        pid = a.call(start_early)
        time.sleep(0.4)
        with stalled("/proc/%d" % pid):
            a.tell(ask_early, id="x", gpus=GPU0)
            assert a.pipe.poll(8), "no answer: %r" % roots_helpers()
            granted(a.hear())
            granted(once("victim", exchange, gpus=None, folders="/srv/ro"))


def roots_left(besides):
    """Helpers whose ids are root's, and lookers.  Does not look at the process that makes readers hang."""
    found = []
    for n in os.listdir("/proc"):
        with contextlib.suppress(OSError):
            if n.isdigit() and int(n) != besides and re.search(r"\(gpuhelper(-look)?\)", read("/proc/%s/stat" % n)):
                found.append(n)
    return found


@case("S27", "A process that keeps its own directory in /proc locked leaves no root process behind, however many looks there are", 60)
def s27():
    own = STALL.replace("path, directory, how = sys.argv[1:]", 'path, directory, how = sys.argv[1], "/proc/%d" % os.getpid(), "mkdir"')
    with contextlib.ExitStack() as stack, asker("attacker") as a:
        granted(a.grant(gpus=GPU0))
        files = contextlib.ExitStack()
        path = files.enter_context(silent_files("attacker", lambda opcode, pid: opcode == FUSE_READ, serve_sized))
        p = stack.enter_context(background("unshare", "--map-root-user", "python3", "-c", own, path, user="attacker"))
        stack.push(files)
        begun(p)
        a.end()
        with asker("attacker") as b, asker("victim") as v:
            for n in range(6):
                assert b.grant(verb="look", gpus=None)[1]["reply"] == "noted"
                v.grant(id="v%d" % n, gpus=GPU1)
        time.sleep(3)
        assert roots_left(p.pid) == [], roots_left(p.pid)
    client.look()


BOUND = r"""
import ctypes, os, socket, sys, threading, time
libc = ctypes.CDLL(None, use_errno=True)
def ck(r):
    assert r != -1, os.strerror(ctypes.get_errno())
node, decoys, how = sys.argv[1], int(sys.argv[2]), sys.argv[3]
uid, gid = os.getuid(), os.getgid()
ck(libc.unshare(0x10000000 | 0x20000))
for f, t in ("setgroups", "deny"), ("uid_map", "0 %d 1" % uid), ("gid_map", "0 %d 1" % gid):
    with open("/proc/self/" + f, "w") as out:
        out.write(t)
ck(libc.mount(b"none", b"/", None, 0x4000 | 0x40000, None))
ck(libc.mount(b"x", b"/media", b"tmpfs", 0, None))
open("/media/gpu", "w").close()
ck(libc.mount(node.encode(), b"/media/gpu", None, 0x1000, None))
# Decoys: processes whose root directory is on an unmounted file system.  Their namespaces make it, so that the container
# needs only CAP_SYS_CHROOT.
for _ in range(decoys):
    r, w = os.pipe()
    if os.fork() == 0:
        a, b = socket.socketpair()
        if os.fork() == 0:
            ck(libc.unshare(0x10000000 | 0x20000))
            for f, t in ("setgroups", "deny"), ("uid_map", "0 0 1"), ("gid_map", "0 0 1"):
                with open("/proc/self/" + f, "w") as out:
                    out.write(t)
            ck(libc.mount(b"none", b"/", None, 0x4000 | 0x40000, None))
            ck(libc.mount(b"x", b"/mnt", b"tmpfs", 0, None))
            socket.send_fds(a, [b"x"], [os.open("/mnt", os.O_RDONLY)])
            ck(libc.umount2(b"/mnt", 2))
            os._exit(0)
        _, (fd,), *_ = socket.recv_fds(b, 1, 1)
        os.wait()
        os.fchdir(fd)
        os.chroot(".")
        os.write(w, b"x")
        time.sleep(600)
    os.read(r, 1)
media = os.open("/media", os.O_RDONLY)
if how == "hides":	# hides itself, too: it keeps only a directory in which the node is mounted
    ck(libc.mount(b"x", b"/mnt", b"tmpfs", 0, None))
    os.chdir("/mnt")
    ck(libc.umount2(b"/mnt", 2))
    os.chroot(".")
def flip():
    while True:
        for d in side, whole:
            os.fchdir(d)
            os.chroot(".")
if how == "flips":	# switches its root directory between one mount, without the node, and the whole namespace
    ck(libc.mount(b"x", b"/mnt", b"tmpfs", 0, None))
    side, whole = os.open("/mnt", os.O_RDONLY), os.open("/", os.O_RDONLY)
    threading.Thread(target=flip, daemon=True).start()
print("ready", flush=True)
for line in sys.stdin:
    try:
        fd = os.open("gpu", os.O_RDWR, dir_fd=media)
        print("opened, reads %d" % len(os.read(fd, 4)), flush=True)
    except OSError as e:
        print(e, flush=True)
"""


@contextlib.contextmanager
def bound(decoys, how="-"):
    p = subprocess.Popen(["python3", "-c", BOUND, "/dev/nvidia9", str(decoys), how], text=True, bufsize=1, stdin=subprocess.PIPE,
                         stdout=subprocess.PIPE, preexec_fn=lambda: (client.become("attacker"), os.setpgid(0, 0)))
    try:
        assert p.stdout.readline() == "ready\n"
        yield p
    finally:
        os.killpg(p.pid, signal.SIGKILL)
        p.wait()


@case("W37", "A container with a bind mount of the node keeps its lease, though others in it have an unmounted root directory", 60)
def w37():
    with Openable():
        for decoys, how in (0, "-"), (20, "-"), (20, "-"), (20, "-"), (0, "hides"):
            with asker("attacker") as a:
                granted(a.grant(gpus=GPU0))
                with bound(decoys, how) as p:
                    a.end()
                    answer = once("victim", exchange, gpus=GPU0)
                    p.stdin.write("?\n")
                    assert p.stdout.readline().startswith("opened"), "the control: the node can't be opened"
                    refused(answer, 75, "taken")
            client.look()
        granted(once("victim", exchange, gpus=GPU0))


@case("W37b", "A container that switches its root directory all the time keeps its lease", 60)
def w37b():
    with Openable():
        with asker("attacker") as a:
            granted(a.grant(gpus=GPU0))
            with bound(0, "flips") as p:
                a.end()
                for _ in range(40):
                    refused(once("victim", exchange, gpus=GPU0), 75, "taken")
                p.stdin.write("?\n")
                assert p.stdout.readline().startswith("opened"), "the control: the node can't be opened"
        client.look()
        granted(once("victim", exchange, gpus=GPU0))
