"""The socket door: who the peer is, and what a peer can do to the helper through its connection."""
import contextlib
import ctypes
import functools
import grp
import os
import resource
import select
import signal
import socket
import struct
import subprocess
import tempfile
import time

import client
from client import VERSION, Asker, Connection, encode, exchange, exchange_at_socket, frame, header, request, once
from harness import *

DOOR = int(os.environ["DOOR"])	# systemd-socket-activate
libc = ctypes.CDLL(None, use_errno=True)
UID = {u: client.pwd.getpwnam(u).pw_uid for u in ("attacker", "victim", "outsider")}


def figure(text):
    print("# " + text, flush=True)


def helpers():
    """Processes that the activator has started and that are still running."""
    out = subprocess.run(["ps", "--ppid", str(DOOR), "-o", "pid=,stat="], stdout=subprocess.PIPE, text=True).stdout
    return [int(l.split()[0]) for l in out.splitlines() if not l.split()[1].startswith("Z")]


def all_gone(seconds=8):
    end = time.monotonic() + seconds
    while helpers():
        assert time.monotonic() < end, "helpers that do not end: %s" % helpers()
        time.sleep(0.02)


def descriptors():
    return len(os.listdir("/proc/%d/fd" % DOOR))


def served(limit=1.0):
    """The duration of another user's grant, in seconds."""
    began = time.monotonic()
    granted(once("victim", exchange_at_socket, gpus=None, folders="all"))
    took = time.monotonic() - began
    assert took < limit, "another user waited %.2f s" % took
    return took


@contextlib.contextmanager
def closed_nodes():
    names = [p for p in glob.glob("/dev/nvidia*") if not os.path.isdir(p)]
    modes = {p: os.stat(p).st_mode & 0o7777 for p in names}
    for p in names:
        os.chmod(p, 0o600)
    try:
        yield
    finally:
        # after removal of the ACL, which changes the mode
        client.look()
        for p in names:
            os.chmod(p, modes[p])


# Who asks

@case("W1", "A member of the group is served without a setuid bit anywhere, as the user that the kernel reports")
def w1():
    assert os.stat(client.HELPER).st_mode & 0o6000 == 0
    a = Asker("attacker")
    try:
        granted(a.call(exchange_at_socket, id="w1", gpus="1"))
        l = leases()[0]
        assert (l["uid"], l["pid"], l["id"]) == (UID["attacker"], a.pid, "w1"), l
    finally:
        a.end()
    last = [r for r in records() if r["event"] == "grant" and r.get("container") == "w1"][-1]
    assert (last["user"], last["pid"]) == ("attacker", a.pid), last


@case("W2", "A user outside the group cannot connect; a process with the group, but without an entry in /etc/group, is refused")
def w2():
    try:
        once("outsider", exchange_at_socket)
        raise AssertionError("connected")
    except AssertionError as e:
        assert "Permission denied" in str(e), e

    def with_group():
        os.setgroups([grp.getgrnam("gpuhelper").gr_gid])
        os.setresuid(UID["outsider"], UID["outsider"], UID["outsider"])
        return exchange_at_socket()
    refused(in_child(with_group), 77, "not in group gpuhelper")


def in_child(function):
    """Runs the function in a child process, as root."""
    r, w = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(r)
        try:
            value = (True, function())
        except BaseException as e:
            value = (False, "%s: %s" % (type(e).__name__, e))
        os.write(w, json.dumps(value).encode())
        os._exit(0)
    os.close(w)
    with os.fdopen(r) as f:
        text = f.read()
    os.waitpid(pid, 0)
    ok, value = json.loads(text)
    assert ok, value
    return value


def in_namespace(function, maps, inside=0, maker=None):
    """Runs the function in a user namespace that «maker» (or root) made, as a uid there."""
    ready, mapped = os.pipe(), os.pipe()

    def child():
        if maker is not None:
            client.become(maker)
        if libc.unshare(0x10000000) != 0:
            raise OSError(ctypes.get_errno(), "unshare")
        os.write(ready[1], b"x")
        os.read(mapped[0], 1)
        os.setresgid(inside, inside, inside)
        os.setresuid(inside, inside, inside)
        return function()

    r, w = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            value = (True, child())
        except BaseException as e:
            value = (False, "%s: %s" % (type(e).__name__, e))
        os.write(w, json.dumps(value).encode())
        os._exit(0)
    os.close(w)
    os.read(ready[0], 1)
    for kind in "uid", "gid":
        write_map = subprocess.run(["new%smap" % kind, str(pid), *[str(n) for m in maps for n in m]],
                                   preexec_fn=(lambda: client.become(maker)) if maker else None,
                                   stderr=subprocess.PIPE, text=True)
        assert write_map.returncode == 0 or maker is None, write_map.stderr
    if maker is None:
        for kind in "uid", "gid":
            with contextlib.suppress(PermissionError):
                with open("/proc/%d/%s_map" % (pid, kind), "w") as f:
                    f.write("".join("%d %d %d\n" % m for m in maps))
    os.write(mapped[1], b"x")
    with os.fdopen(r) as f:
        text = f.read()
    os.waitpid(pid, 0)
    for fd in (*ready, *mapped):
        os.close(fd)
    ok, value = json.loads(text)
    assert ok, value
    return value


@case("W3", "From the caller's own user namespace (newuidmap), the host's ids are leased, opened and recorded")
def w3():
    u = UID["attacker"]

    def ask(uid):
        answer = exchange_at_socket(id="w3", uids=[[0, 0, 1], [1, 1, 1000]], gids=[[0, 0, 1], [1, 1, 1000]], uid=uid,
                                    gpus="1")
        return answer, subprocess.run(["getfacl", "-np", nodes(answer)[0]], stdout=subprocess.PIPE, text=True).stdout
    with closed_nodes():
        for inside in 0, 7:
            answer, acl = in_namespace(lambda: ask(inside), [(0, u, 1), (1, 300000, 65536)], maker="attacker")
            granted(answer)
            # the socket's owner as the namespace sees it; root would be 65534 there
            assert "user:%d:rw" % inside in acl, acl
            client.look()
    last = [r for r in records() if r["event"] == "grant" and r.get("container") == "w3"][-1]
    assert (last["uid"], last["user"]) == (u, "attacker"), last


@case("W4", "Another user of that namespace has another uid on the host, and is refused")
def w4():
    maps = [(0, UID["attacker"], 1), (1, 300000, 65536)]
    refused(in_namespace(exchange_at_socket, maps, inside=5, maker="attacker"), 77, "uid 300004 asks from a user namespace that uid %d made" % UID["attacker"])


@case("W5", "The caller's uid in a user namespace that somebody else made (a container's) is refused")
def w5():
    u = UID["attacker"]

    os.setgroups([grp.getgrnam("gpuhelper").gr_gid])
    try:
        answer = in_namespace(exchange_at_socket, [(0, 0, 1), (u, u, 1)], inside=u)
    finally:
        os.setgroups([])
    refused(answer, 77, "a user namespace that uid 0 made")


def deeper(function, inside, outside):
    """Runs the function in one more user namespace, which this process makes."""
    # since the ids were changed, /proc/self belongs to root
    libc.prctl(4, 1, 0, 0, 0)
    if libc.unshare(0x10000000) != 0:
        raise OSError(ctypes.get_errno(), "unshare")
    for file, text in ("setgroups", "deny"), *((kind + "_map", "%d %d 1" % (inside, outside)) for kind in ("uid", "gid")):
        with open("/proc/self/" + file, "w") as f:
            f.write(text)
    return function()


@case("W5b", "The caller's namespace inside somebody else's does not count as the caller's: every level counts")
def w5b():
    u = UID["attacker"]

    os.setgroups([grp.getgrnam("gpuhelper").gr_gid])
    try:
        answer = in_namespace(lambda: deeper(exchange_at_socket, 0, u), [(0, 0, 1), (u, u, 1)], inside=u)
    finally:
        os.setgroups([])
    refused(answer, 77, "a user namespace that uid 0 made")


@case("W5c", "The caller's own nested user namespaces count as the caller's")
def w5c():
    def ask():
        return exchange_at_socket(gpus=None, folders="all")
    granted(in_namespace(lambda: deeper(ask, 5, 0), [(0, UID["attacker"], 1), (1, 300000, 65536)], maker="attacker"))


def ask_from(jail):
    there = os.open(RUN, os.O_PATH | os.O_DIRECTORY)
    os.chroot(jail)
    os.fchdir(there)
    return Connection("gpuhelper.sock").ask(gpus=None, folders="all").reply()


def from_jail(jail):
    """The reply to a process of root's with this root directory, which the helper does not have."""
    if os.path.dirname(jail) == "/" and os.statvfs("/").f_flag & os.ST_RDONLY:
        raise Skip("/ can't be written here")
    os.mkdir(jail)
    assert (os.stat(jail).st_dev == os.stat("/").st_dev) == (os.path.dirname(jail) == "/")
    try:
        return in_child(lambda: ask_from(jail))
    finally:
        os.rmdir(jail)


@case("W6", "A process with another root directory is refused, even root's")
def w6():
    refused(from_jail("/run/jail"), 77, "another root directory")


@case("W6b", "A process whose other root directory lies in the same file system is refused")
def w6b():
    # if «/» is the machine's own, another run may make such a directory at the same time
    refused(from_jail("/jail-" + os.urandom(4).hex()), 77, "another root directory")


def jail_numbered(number, base):
    """A directory with this inode number, in a file system of its own."""
    subprocess.run(["mount", "-t", "tmpfs", "numbers", base], check=True)
    for n in range(20000):
        path = "%s/%d" % (base, n)
        os.mkdir(path)
        there = os.stat(path).st_ino
        if there >= number:
            break
        os.rmdir(path)
    return path if there == number else None


@case("W6c", "A process whose other root directory has the same inode number in another file system is refused")
def w6c():
    host, base = os.stat("/proc/1/root/"), tempfile.mkdtemp(dir="/run")
    try:
        if (jail := jail_numbered(host.st_ino, base)) is None:
            raise Skip("the root directory is inode %d: no tmpfs here has one of that number soon" % host.st_ino)
        st = os.stat(jail)
        assert st.st_ino == host.st_ino and st.st_dev != host.st_dev, (st, host)
        refused(in_child(lambda: ask_from(jail)), 77, "another root directory")
    finally:
        subprocess.run(["umount", base], check=True)
        os.rmdir(base)


@contextlib.contextmanager
def door_stopped():
    os.kill(DOOR, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(DOOR, signal.SIGCONT)


@case("W7", "A connection that its maker passed to another process is refused")
def w7():
    a = Asker("attacker")
    with door_stopped():
        a.tell(heir_of_connection)
        time.sleep(0.5)
    answer = a.hear()
    a.end()
    refused(answer, 77, "gone")


@case("W7b", "A connection whose maker has changed its uid before the helper looks is refused")
def w7b():
    def become_effectively(uid):
        os.seteuid(0)
        os.seteuid(uid)

    def turncoat(uid):
        user = client.pwd.getpwnam("attacker")
        os.initgroups(user.pw_name, user.pw_gid)
        os.setegid(user.pw_gid)
        os.kill(DOOR, signal.SIGSTOP)
        try:
            become_effectively(UID["attacker"])
            own = [[0, UID["attacker"], 1]]
            c = Connection().ask(gpus=None, folders="all", uids=own, gids=own)
            become_effectively(uid)
        finally:
            os.kill(DOOR, signal.SIGCONT)	# allowed by the real uid, which is root's
        return c.reply()
    granted((0, in_child(lambda: turncoat(UID["attacker"]))))
    for uid in UID["victim"], 0:
        refused(in_child(lambda: turncoat(uid)), 77, "another user's")


def heir_of_connection():
    ours, theirs = socket.socketpair()
    pid = os.fork()
    if pid == 0:
        c = Connection()
        socket.send_fds(theirs, [b"x"], [c.sock.fileno()])
        os._exit(0)
    _, fds, _, _ = socket.recv_fds(ours, 1, 1)
    os.waitpid(pid, 0)
    c = Connection.__new__(Connection)
    c.sock, c.answer = socket.socket(fileno=fds[0]), None
    c.sock.settimeout(8)
    return c.ask().reply()


@case("W8", "Only root may use --socket, with the setuid bit or without")
def w8():
    def run_it():
        client.become("attacker")
        return exchange([client.HELPER, "--socket"])
    gid = os.stat(client.SOCKET).st_gid
    os.chown(client.HELPER, 0, gid)
    os.chmod(client.HELPER, 0o4750)
    try:
        refused(tuple(in_child(run_it)), 77, "only root may use --socket")
    finally:
        os.chown(client.HELPER, 0, 0)
        os.chmod(client.HELPER, 0o755)
    refused(tuple(in_child(run_it)), 77, "not running as root")


@case("W9", "A listening socket, a datagram socket, a pipe and a file are refused as connections")
def w9():
    def status(fd):
        return subprocess.run([client.HELPER, "--socket"], stdin=fd, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True)
    with socket.socket(socket.AF_UNIX) as listening, socket.socket(socket.AF_UNIX) as alone:
        listening.bind("\0" + CGROUP)
        listening.listen()
        a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
        r, w = os.pipe()
        with open("/etc/passwd") as f:
            for fd in listening, a, r, f:
                p = status(fd)
                assert p.returncode == 65 and "is not a connection" in p.stderr, (p.returncode, p.stderr)
            p = status(alone)
            assert p.returncode == 77, (p.returncode, p.stderr)


@case("W10", "Without SO_PEERPIDFD (Linux before 6.5), start time and uid identify the peer", 20)
def w10():
    # SO_PEERPIDFD is the sixth getsockopt(2): the helper asks for the domain, the type, whether the socket listens, and twice
    # for SO_PEERCRED (for the filter, and for the peer).  strace replaces the call with getpid(2), which the filter allows.
    strace = ("strace", "-qq", "-o", TEMP + "/peer", "-e", "trace=getsockopt", "-e", "inject=getsockopt:error=ENOPROTOOPT:syscall=getpid:when=6")
    with limited_door(*strace):
        a = Asker("attacker")
        try:
            granted(a.call(exchange_at_socket, id="w10", gpus="1"))
            injected = [l for l in read(TEMP + "/peer").splitlines() if "INJECTED" in l]
            assert len(injected) == 1 and ("SO_PEERPIDFD" in injected[0] or "0x4d" in injected[0]), injected
            assert (leases()[0]["uid"], leases()[0]["pid"]) == (UID["attacker"], a.pid), leases()
            client.look()
            with door_stopped():
                a.tell(heir_of_connection)
                time.sleep(0.5)
            refused(a.hear(), 77, "gone")
        finally:
            a.end()


def send_ends(fd):
    """In the asker: passes both ends of its own connection through this socket."""
    ours, theirs = socket.socketpair()
    socket.send_fds(socket.socket(fileno=fd), [b"x"], [ours.fileno(), theirs.fileno()])


def serve(fd):
    """In a process of root's: starts what systemd would start for this connection."""
    global served_by
    served_by = subprocess.Popen([client.HELPER, "--socket"], stdin=fd, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    os.close(fd)


def answer_after(meanwhile, *strace, inside=False):
    """The reply to the attacker if meanwhile(asker, helper) runs while the helper is stopped.

    «inside»: in a user namespace of the attacker's own.
    """
    ours, theirs = socket.socketpair()
    with ours, theirs, asker("attacker") as a:
        send = functools.partial(send_ends, theirs.fileno())
        a.call(deeper, send, 0, UID["attacker"]) if inside else a.call(send)
        _, fds, *_ = socket.recv_fds(ours, 1, 2)
        c = Connection.__new__(Connection)
        c.sock = socket.socket(fileno=fds[0])
        c.sock.settimeout(12)
        own = [[0, 0 if inside else UID["attacker"], 1]]
        c.ask(gpus=None, folders="all", uids=own, gids=own)
        with asker("root") as root, stops(root.pid, *strace) as wait:
            root.call(serve, fds[1])
            os.close(fds[1])
            helper = wait()
            try:
                with meanwhile(a, helper) or contextlib.nullcontext():
                    os.kill(helper, signal.SIGCONT)
                    return c.result()[1]
            finally:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(helper, signal.SIGCONT)
                c.close()
                assert gone(helper)


def start_of(pid):
    return int(read("/proc/%d/stat" % pid).rpartition(")")[2].split()[19])


# as in W10
NO_PIDFD = "inject=getsockopt:error=ENOPROTOOPT:syscall=getpid:when=6"


@contextlib.contextmanager
def reborn(a, helper):
    a.end()
    # process start times have a resolution of 10 ms
    time.sleep(0.05)
    with another_with_pid(a.pid, "attacker"):
        assert start_of(a.pid) > start_of(helper), (start_of(a.pid), start_of(helper))
        yield


@case("W10b", "Without SO_PEERPIDFD, a process that took over the peer's PID, and is younger than its helper, is refused", 20)
def w10b():
    strace = "-e", "trace=getsockopt", "-e", NO_PIDFD + ":signal=SIGSTOP"
    refused(answer_after(reborn, *strace), 77, "gone, or has become")
    granted((0, answer_after(lambda a, helper: None, *strace)))


# for a caller in its own user namespace each look makes two of these ioctls: for the owner, and for the parent
FIRST_LOOK, SECOND_LOOK = ("inject=ioctl:signal=SIGSTOP:when=%d" % n for n in (2, 4))


@case("W10c", "Without SO_PEERPIDFD, a process that takes over the peer's PID after the id maps were read is refused", 20)
def w10c():
    strace = "-e", "trace=getsockopt,ioctl", "-e", NO_PIDFD, "-e", SECOND_LOOK
    refused(answer_after(reborn, *strace, inside=True), 77, "gone")
    granted((0, answer_after(lambda a, helper: None, *strace, inside=True)))


@case("W5d", "A process that enters another namespace of its own during the check is refused: the maps could be from either", 20)
def w5d():
    strace = "-e", "trace=ioctl", "-e", FIRST_LOOK
    refused(answer_after(lambda a, helper: a.call(deeper, int, 0, 0) or None, *strace, inside=True), 77, "changed its user namespace")
    granted((0, answer_after(lambda a, helper: None, *strace, inside=True)))


# What the other end does

@case("X1", "A slow writer is disconnected after 2 s; other callers are served meanwhile", 15)
def x1():
    a = Asker("attacker")
    a.tell(write_slowly)
    time.sleep(0.3)
    took = served()
    seconds, answer = a.hear()
    a.end()
    assert 1.8 < seconds < 3.5, seconds
    figure("slow writer: cut off after %.2f s; another user's grant meanwhile in %.0f ms" % (seconds, took * 1000))
    refused(answer, 65, "broke off")
    all_gone()


def write_slowly():
    c, began = Connection(), time.monotonic()
    data = frame(request(gpus="1"))
    with contextlib.suppress(OSError):
        for byte in data:
            c.sock.sendall(bytes([byte]))
            time.sleep(0.05)
            if select.select([c.sock], [], [], 0)[0]:
                break
    answer = c.reply()
    return time.monotonic() - began, answer


@case("X2", "Silent connections: the helper waits for 16 of one user, and closes the others at once", 20)
def x2():
    before = descriptors()
    a = Asker("attacker")
    a.tell(open_many, 100)
    time.sleep(1.0)
    alive = len(helpers())
    took = served()
    closed, seconds = a.hear()
    a.end()
    all_gone()
    figure("100 silent connections: %d helpers after 1 s; another user's grant in %.0f ms; all closed after %.1f s" %
           (alive, took * 1000, seconds))
    assert alive <= 16, alive
    assert closed == 100 and seconds < 6, (closed, seconds)
    assert descriptors() == before, (before, descriptors())


def open_many(count, hold=True):
    """Opens so many connections at once; returns how many the other end closed, and in how many seconds."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (4096, 4096))
    began, made = time.monotonic(), []
    for _ in range(count):
        c = socket.socket(socket.AF_UNIX)
        c.settimeout(12)
        c.connect(client.SOCKET)
        made.append(c)
    closed = 0
    for c in made:
        with contextlib.suppress(ConnectionResetError):
            while c.recv(4096):
                pass
        closed += 1
    return closed, time.monotonic() - began


@case("X3", "1000 connections at once: other callers are served within a second, and nothing is left", 40)
def x3():
    with limited_door():
        assert crowd("1000 connections, limited as by gpuhelper.socket")[0] < 1.0


@case("X9", "1000 connections at once without systemd's limits: the helper's own limits suffice", 40)
def x9():
    assert crowd("1000 connections, unlimited but by the helper")[0] < 10


def crowd(text):
    """The duration of another user's grants, in seconds, while 1000 connections are open."""
    before = descriptors()
    a = Asker("attacker")
    a.tell(open_many, 1000)
    most, times = 0, []
    time.sleep(0.05)
    for _ in range(3):
        times.append(served(limit=30))
        most = max(most, len(helpers()))
    closed, seconds = a.hear()
    a.end()
    all_gone()
    figure("%s: all closed after %.1f s, at most %d helpers seen; another user's grants in %s ms" %
           (text, seconds, most, ", ".join("%.0f" % (t * 1000) for t in times)))
    assert closed == 1000, closed
    assert descriptors() == before, (before, descriptors())
    return times


@contextlib.contextmanager
def limited_door(*before):
    """A stand-in for systemd (inetd.py) on a path of its own; «before» is a command that starts the helper."""
    global DOOR
    here = os.path.dirname(os.path.abspath(__file__))
    path, usual, usual_door = RUN + "/limited.sock", client.SOCKET, DOOR
    p = subprocess.Popen([here + "/inetd.py", here + "/../../helper/systemd/gpuhelper.socket", path, *before,
                          client.HELPER, "--socket"])
    try:
        for _ in range(200):
            if os.path.exists(path) and os.stat(path).st_mode & 0o777 == 0o660:
                break
            time.sleep(0.02)
        client.SOCKET, DOOR = path, p.pid
        yield
    finally:
        client.SOCKET, DOOR = usual, usual_door
        p.kill()
        p.wait()
        os.unlink(path)


def answer_to(data, shut=True):
    c = Connection().send(data)
    if shut:
        with contextlib.suppress(OSError):
            c.sock.shutdown(socket.SHUT_WR)
    r = c.reply()
    c.close()
    return r


@case("X4", "Oversized, wrong and missing lengths, another version, another protocol")
def x4():
    body = encode(request(gpus="1"))
    for data in (header(272 * 1024 + 1), header(0xffffffff) + body, header(0x80000000) + body, header(0), header(len(body) - 1)
                 + body, header(len(body) + 1) + body, header(5, version=VERSION + 1) + b"12345", header(5, magic=b"HTTP") + b"12345",
                 b"GET / HTTP/1.0\r\n\r\n", b"", b"GPUH", header(4) + b"\0\0\0\0", header(272 * 1024) + b"[" * 272 * 1024):
        refused(once("attacker", answer_to, data), 65)
    began = time.monotonic()
    refused(once("attacker", answer_to, header(200 * 1024) + body, False), 65, "broke off")
    assert time.monotonic() - began < 3.5


def send_with_pipe(where):
    """Sends a request with a pipe's end attached to its header or body; returns the reply, and whether the helper closed that end."""
    r, w = os.pipe()
    data = frame(request(gpus="1"))
    c = Connection()
    parts = [data[:12], data[12:]]
    for i, part in enumerate(parts):
        if i in where:
            socket.send_fds(c.sock, [part], [w] * 200)
        else:
            c.sock.sendall(part)
    answer = c.reply()
    os.close(w)
    c.close()
    readable, _, _ = select.select([r], [], [], 3)
    return (answer.get("code"), answer), bool(readable) and os.read(r, 1) == b""


@case("X5", "File descriptors sent along (SCM_RIGHTS) are refused, and closed")
def x5():
    for where in (0,), (1,), (0, 1):
        answer, is_closed = once("attacker", send_with_pipe, where)
        refused(answer, 65, "descriptors were sent along")
        assert is_closed, "a descriptor sent with part %s was kept" % (where,)
        all_gone()
    assert leases() == []


def connect_and_go(count):
    for _ in range(count):
        pid = os.fork()
        if pid == 0:
            with contextlib.suppress(OSError):
                socket.socket(socket.AF_UNIX, socket.SOCK_STREAM).connect(client.SOCKET)
            os._exit(0)
        os.waitpid(pid, 0)


@case("X5c", "A peer that connects and leaves puts no line into the journal", 30)
def x5c():
    before = len(read(TEMP + "/log"))
    once("attacker", connect_and_go, 100)
    time.sleep(1)
    said = [l for l in read(TEMP + "/log")[before:].splitlines() if l.startswith("gpuhelper:")]
    assert said == [], (len(said), said[:2])


def send_with_lingering():
    """Sends a byte with a TCP socket attached that takes 30 s to close (SO_LINGER, socket(7)); returns how long the reply takes."""
    # an address in bytes: a string would need a codec, which this user may not be able to read
    listening, here = socket.socket(), socket.socket()
    listening.bind((b"127.0.0.1", 0))
    listening.listen()
    here.connect((b"127.0.0.1", listening.getsockname()[1]))
    here.setblocking(False)
    with contextlib.suppress(BlockingIOError):
        while True:
            here.send(b"x" * 65536)
    here.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 30))
    here.setblocking(True)
    c = Connection()
    c.sock.settimeout(40)
    socket.send_fds(c.sock, [b"G"], [here.fileno()])
    here.close()
    began = time.monotonic()
    return c.reply(), time.monotonic() - began


@case("X5b", "A descriptor that takes long to close does not delay a helper", 60)
def x5b():
    answer, took = once("attacker", send_with_lingering)
    refused(answer, 65)
    assert took < 3.5, took


@case("X6", "The peer leaves before the reply, or before the last byte: no lease, no open node", 30)
def x6():
    with closed_nodes():
        for how in "closes", "hears nothing", "shuts its writing end", "sends another byte", "dies":
            a = Asker("attacker")
            a.tell(ask_and, how)
            if how == "dies":
                time.sleep(0.2)
            else:
                a.hear()
            a.end()
            all_gone()
            assert leases() == [], (how, leases())
            acl = subprocess.run(["getfacl", "-cpn", "/dev/nvidia0", "/dev/nvidia1"], stdout=subprocess.PIPE, text=True).stdout
            assert "user:%d" % UID["attacker"] not in acl, (how, acl)


def ask_and(how):
    c = Connection().ask(gpus="1")
    if how == "closes":
        c.close()
    elif how == "hears nothing":
        time.sleep(5.5)
    elif how == "shuts its writing end":
        c.sock.shutdown(socket.SHUT_WR)
        assert c.kind() == "grant", c.answer
        c.wait()
    elif how == "sends another byte":
        assert c.kind() == "grant", c.answer
        c.final(b"X")
    else:
        os.kill(os.getpid(), signal.SIGKILL)


@case("X7", "A second request on a connection is not read")
def x7():
    once("attacker", second_request)
    all_gone()
    assert [l for l in leases() if l["id"] == "two"] == []


def second_request():
    c = Connection().ask(id="one", gpus="1")
    assert c.kind() == "grant", c.answer
    c.send(b"W" + frame(request(id="two", gpus="1")))
    c.wait()


@case("X8", "The caller has no power over its helper: no signal, no limit, no trace, no access to its /proc", 15)
def x8():
    a = Asker("attacker")
    a.tell(half_open)
    for _ in range(100):
        if helpers():
            break
        time.sleep(0.02)
    pid = helpers()[0]
    inside(pid)
    out = once("attacker", poke, pid)
    a.hear()
    a.end()
    assert out == ["kill: 1", "prlimit: 1", "fd: 13", "mem: 13"], out


def half_open():
    c = Connection()
    time.sleep(1)
    c.close()


def poke(pid):
    out = []
    for name, what in (("kill", lambda: os.kill(pid, signal.SIGSTOP)),
                       ("prlimit", lambda: resource.prlimit(pid, resource.RLIMIT_FSIZE, (0, 0))),
                       ("fd", lambda: os.listdir("/proc/%d/fd" % pid)), ("mem", lambda: open("/proc/%d/mem" % pid, "rb"))):
        try:
            what()
            out.append(name + ": done")
        except OSError as e:
            out.append("%s: %d" % (name, e.errno))
    return out


@case("X10", "50 concurrent requests of two users: each gets its answer", 40)
def x10():
    askers = [Asker(u) for u in ("attacker", "victim") * 25]
    began = time.monotonic()
    for i, a in enumerate(askers):
        a.tell(exchange_at_socket, id="x10-%d" % i, gpus=None, folders="all")
    times = []
    for a in askers:
        granted(a.hear())
        times.append(time.monotonic() - began)
        a.end()
    figure("50 grants of folders at once: the last after %.2f s" % times[-1])
