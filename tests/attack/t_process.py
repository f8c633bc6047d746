"""Attacks through the process state in which a user starts the helper: environment, arguments, descriptors, limits,
signals.
"""
import array
import contextlib
import ctypes
import fcntl
import grp
import os
import pty
import pwd
import re
import resource
import signal
import socket
import stat
import struct
import subprocess
import sys
import termios
import threading
import time

import client
import connections
from client import Helper, exchange, once
from harness import *


def plain(*options, user="attacker"):
    """Sends a request through launch.c, which must be granted like any other."""
    answer = once(user, exchange, launch(*options))
    granted(answer)
    return answer


def traced(calls, *options):
    """The helper's system calls of these kinds, traced under these conditions; the request must be granted."""
    out = TEMP + "/trace"
    strace = subprocess.run(["strace", "-f", "-o", out, "-e", "trace=execve," + calls, "python3", "-I",
                             os.path.dirname(os.path.abspath(__file__)) + "/client.py", "--user", "attacker", "--",
                             *launch(*options)], stdout=subprocess.PIPE, text=True)
    assert strace.stdout.startswith("status=0"), strace.stdout
    lines, pid = [], None
    for line in read(out).splitlines():
        if "execve(\"%s\"" % client.HELPER in line and line.endswith("= 0"):
            pid = line.split()[0]
        if pid is not None and line.startswith(pid + " "):
            lines.append(line)
    assert lines, "the helper was not seen in the trace"
    return lines


# Environment

@case("E1", "LD_PRELOAD and LD_AUDIT with a path are not loaded")
def e1():
    mark = TEMP + "/marks/mark"
    with contextlib.suppress(OSError):
        os.unlink(mark)
    library = TEMP + "/preload.so"
    plain("-e", "LD_PRELOAD=" + library, "-e", "LD_AUDIT=" + library)
    assert not os.path.exists(mark), "the library was loaded into the helper"
    subprocess.run(["/bin/true"], env={"LD_PRELOAD": library}, check=True)
    assert os.path.exists(mark), "the test's library does not work: it leaves no mark even in a program that loads it"
    os.unlink(mark)


@case("E2", "LD_PRELOAD without a slash, LD_LIBRARY_PATH, LD_DEBUG_OUTPUT: no file of the caller's is mapped or made")
def e2():
    plain("-e", "LD_PRELOAD=preload.so", "-e", "LD_LIBRARY_PATH=" + TEMP, "-e", "LD_DEBUG=all",
          "-e", "LD_DEBUG_OUTPUT=%s/scratch/debug" % TEMP, "-e", "LD_PROFILE=libc.so.6",
          "-e", "LD_PROFILE_OUTPUT=%s/scratch" % TEMP)
    assert not os.path.exists(TEMP + "/marks/mark"), "the library was loaded into the helper"
    assert os.listdir(TEMP + "/scratch") == [], os.listdir(TEMP + "/scratch")


@case("E3", "GLIBC_TUNABLES, long and malformed")
def e3():
    name = "glibc.malloc.mxfast="
    for value in name + name + "A", name + "x" * 5000, "A" * 60000, "=", name * 2000, ":::::", name:
        plain("-e", "GLIBC_TUNABLES=" + value)


@case("E4", "Files named by TZ, LANG, LC_ALL, LANGUAGE, NLSPATH and LOCPATH are not opened")
def e4():
    names = ("TZ=:/etc/shadow", "LANG=../../../tmp/x", "LC_ALL=" + TEMP, "LANGUAGE=evil", "NLSPATH=/tmp/%N",
             "LOCPATH=/tmp/evil", "HOSTALIASES=/etc/shadow", "RES_OPTIONS=debug", "GCONV_PATH=" + TEMP, "TERMINFO=/tmp/evil")
    lines = traced("openat,openat2,open,stat,access,readlink", *[w for n in names for w in ("-e", n)])
    opened = [l for l in lines if any(w in l for w in ("shadow", "evil", TEMP, "/tmp/", "locale"))
              and "execve" not in l]
    assert not opened, opened[:3]


@case("E5", "PATH, IFS, ENV, BASH_ENV: no other program is executed")
def e5():
    forget_answers()
    lines = traced("execveat,clone,clone3,fork,vfork", "-e", "PATH=" + TEMP, "-e", "IFS=/", "-e",
                   "ENV=%s/evil" % TEMP, "-e", "BASH_ENV=%s/evil" % TEMP)
    assert [l for l in lines if "exec" in l] == lines[:1], lines
    # those that become gpuhelper-look, gpuhelper-engine, gpuhelper-read and gpuhelper-judge when a request comes
    assert len([l for l in lines if ("clone" in l or "fork" in l) and "resumed>" not in l]) == 4, lines


@case("E6", "LISTEN_FDS, NOTIFY_SOCKET and JOURNAL_STREAM are ignored in setuid mode")
def e6():
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as s:
        path = TEMP + "/notify"
        s.bind(path)
        os.chmod(path, 0o777)
        plain("-e", "LISTEN_FDS=1", "-e", "LISTEN_PID=%d" % os.getpid(), "-e", "NOTIFY_SOCKET=" + path, "-e",
              "JOURNAL_STREAM=1:1")
        s.settimeout(0.05)
        try:
            said = s.recv(1000)
        except TimeoutError:
            said = b""
        os.unlink(path)
        assert said == b"", said


@case("E7", "UDEV_LOG, MALLOC_TRACE, ASAN_OPTIONS, GCOV_PREFIX and the like make no file")
def e7():
    d = TEMP + "/scratch"
    plain(*[w for n in ("UDEV_LOG=debug", "SYSTEMD_LOG_LEVEL=debug", "SYSTEMD_LOG_TARGET=console",
                        "SYSTEMD_DEVICE_VERIFY_SYSFS=0", "MALLOC_TRACE=%s/malloc" % d,
                        "ASAN_OPTIONS=log_path=%s/asan" % d, "UBSAN_OPTIONS=log_path=%s/ubsan" % d,
                        "GCOV_PREFIX=" + d, "LLVM_PROFILE_FILE=%s/llvm" % d, "SELINUX_ROOT=" + d, "TMPDIR=" + d,
                        "RESOLV_HOST_CONF=/etc/shadow", "MALLOC_CHECK_=3") for w in ("-e", n)])
    assert os.listdir(d) == [], os.listdir(d)


@case("E8", "No environment, 10000 variables, entries without a name, a megabyte: a normal result")
def e8():
    plain("-E")
    plain("-v", "10000")
    plain("-e", "nothing", "-e", "=x", "-e", "", "-e", "==", "-e", "PATH")
    plain("-w", "1000000")


@case("E9", "GPUHELPER_*, SUDO_UID, USER, CONTAINER_ID: the identity comes from the kernel")
def e9():
    plain("-e", "SUDO_UID=0", "-e", "USER=victim", "-e", "LOGNAME=victim", "-e", "GPUHELPER_USER=victim", "-e",
          "GPUHELPER_GPUS=all", "-e", "GPUHELPER_POLICY_DIR=" + TEMP, "-e", "container=docker", "-e", "CONTAINER_ID=x")
    last = [r for r in records() if r["event"] == "grant"][-1]
    assert last["user"] == "attacker" and last["asked_gpus"] == "1" and last["policy"] == "50-attacker.conf", last


# Arguments

@case("A1", "An empty argument vector: granted, or a clean refusal")
def a1():
    status, answer = once("attacker", exchange, launch("-Z"))
    assert (status, answer.get("reply")) in ((0, "grant"), (64, None)), (status, answer)


@case("A2", "argv[0] empty, 64 KiB long, with an escape sequence or a line break: it is printed nowhere")
def a2():
    start = os.path.getsize(LOG)
    for name in "", "A" * 65536, "\x1b[2J", "gpuhelper\nroot ok", "%n%s":
        plain("-z", name)
        refused(once("attacker", exchange, launch("-z", name), folders="/etc"), 77)
    with open(LOG) as f:
        f.seek(start)
        new = f.read()
    assert "AAAA" not in new and "root ok" not in new and "2J" not in new and "%n" not in new
    usage = subprocess.run(launch("-z", "\x1b[2J", "-a", "x"), capture_output=True, text=True)
    assert usage.returncode == 64 and usage.stderr.startswith("usage: do not run gpuhelper by hand: "), usage


def usage(*options):
    def start():
        client.become("attacker")
    p = subprocess.run(launch(*options), stdin=subprocess.DEVNULL, capture_output=True, text=True, preexec_fn=start)
    assert p.returncode == 64, (options[:4], p.returncode)
    assert p.stderr.startswith("usage: ") and p.stderr.count("\n") == 1 and p.stdout == "", p.stderr


@case("A3", "No option takes a path: --config, --policy-dir")
def a3():
    for o in "--config=/tmp/x", "--config-dir=/tmp/x", "--policy-dir", "-C", "--root=/":
        usage("-a", o)
    usage("-a", "--config", "-a", "/tmp/x")


@case("A4", "200000 arguments: the usage message, at once")
def a4():
    began = time.monotonic()
    usage("-n", "200000")
    assert time.monotonic() - began < 2


@case("A5", "--, -, repeated, abbreviated and unknown options: usage in one line")
def a5():
    for o in "--", "-", "", "--vers", "-v", "-V", "--version=1", "--help", "--socket=", "\x1b[2J", "-" * 4000:
        usage("-a", o)
    usage("-a", "--version", "-a", "--version")


@case("A8", "Root asks and no policy names root: denied")
def a8():
    granted(once("root", exchange))
    with without(POLICIES + "/50-root.conf"):
        refused(once("root", exchange), 77, "no policy covers a container of user root")
        refused(once("root", exchange, gpus=None, folders="/srv/ro"), 77)


# Descriptors

def fds_of(pid):
    """The open files of a helper that waits for its caller."""
    time.sleep(0.1)
    return {int(n): os.readlink("/proc/%d/fd/%s" % (pid, n)) for n in os.listdir("/proc/%d/fd" % pid)}


def ours(fds):
    """The numbers of the helper's descriptors, without those that it opens itself: its place in the crowd (slots.h); the sockets of
    gpuhelper-look, gpuhelper-engine, gpuhelper-read and gpuhelper-judge; files in its own directory in /proc (enter.c); the directory of its programs
    (host/own/ownprogram.c); and "/" (host/file.c), /proc (host/process/procdir.c) and /run/gpuhelper (state.c), once each."""
    places = [n for n, path in fds.items() if path.startswith(RUN + "/locks/door-")]
    asked = [n for n, path in fds.items() if n > 2 and path.startswith("socket:")]
    names = [n for n, path in fds.items() if re.fullmatch("/proc/[0-9]+/(fd|fdinfo|mountinfo)", path)]
    programs = [n for n, path in fds.items() if path == "/usr/libexec/gpuhelper"]
    once = [n for n, path in fds.items() if path in ("/", "/proc", RUN)]
    assert len(places) == 1 and len(asked) == 4 and len(names) == 3 and len(programs) == 1, fds
    assert len({fds[n] for n in once}) == len(once), fds
    return set(fds) - set(places + asked + names + programs + once)


@case("F1", "Descriptors 0, 1 and 2 closed: no file that the helper opens gets their numbers")
def f1():
    with asker("attacker") as a:
        granted(a.grant(command=launch("-c", "1", "-c", "2")))
    p = subprocess.run(launch("-c", "0", "-c", "1", "-c", "2"), preexec_fn=lambda: client.become("attacker"))
    assert p.returncode == 65, p.returncode
    forget_answers()
    with asker("attacker") as a:
        pid = a.call(hold, launch("-c", "1", "-c", "2"))
        inside(pid)
        fds = fds_of(pid)
        assert ours(fds) == {0, 1, 2} and "socket" in fds[0], fds
        assert all(fds[k] in ("/dev/null", "/dev/full") for k in (1, 2)), fds


held = []


def hold(command=None, **how):
    """In the asker: starts a helper, and keeps it waiting for a request."""
    h = Helper(command, **how)
    held.append(h)
    return h.p.pid


def hold_ask(**fields):
    return held[-1].ask(**fields).result()


def hold_final(command=None):
    """In the asker: sends a request, and keeps the helper waiting for the last byte."""
    h = Helper(command).ask(id="h%d" % len(held), gpus=None, folders="/srv/ro")
    held.append(h)
    assert h.kind() == "grant", h.answer
    return h.p.pid


def leave_after_reply(**fields):
    """In the asker: gets a grant without confirming it."""
    h = Helper().ask(**fields)
    assert h.kind() == "grant", h.answer
    h.close()
    return h.wait()


def hold_finish():
    return held[-1].final()


def fd0(fd):
    """In the asker: runs the helper with this as its descriptor 0; returns status, stderr, seconds."""
    began = time.monotonic()
    h = Helper(fd0=fd)
    status = h.wait(6)
    return status, h.said(), time.monotonic() - began


def fd0_file(path, flags):
    return fd0(os.open(path, flags))


def fd0_pty():
    return fd0(pty.openpty()[1])


def fd0_socket(family, kind, listening=False, connect=None):
    with socket.socket(family, kind) as s:
        if listening:
            s.bind("\0%s-%d" % (CGROUP, os.getpid()))
            s.listen()
        if connect:
            s.connect(connect)
        return fd0(s.fileno())


def fd0_pair(kind):
    a, b = socket.socketpair(socket.AF_UNIX, kind)
    result = fd0(b.fileno())
    a.setblocking(False)
    try:
        heard = a.recv(4096)
    except (BlockingIOError, ConnectionResetError):
        heard = b""
    return result, heard


@case("F2", "Descriptor 0 is a file, directory, FIFO, terminal, O_PATH, another socket: status 65 and one line within 2 s")
def f2():
    fifo = TEMP + "/fifo"
    os.mkfifo(fifo)
    os.chmod(fifo, 0o666)
    tries = [(fd0_file, ("/etc/passwd", os.O_RDONLY)), (fd0_file, ("/etc", os.O_RDONLY)),
             (fd0_file, (fifo, os.O_RDWR)), (fd0_file, ("/etc/passwd", os.O_PATH)),
             (fd0_file, ("/dev/zero", os.O_RDWR)), (fd0_pty, ()),
             (fd0_socket, (socket.AF_INET, socket.SOCK_STREAM)), (fd0_socket, (socket.AF_INET, socket.SOCK_DGRAM)),
             (fd0_socket, (socket.AF_UNIX, socket.SOCK_STREAM, True)), (fd0_socket, (socket.AF_NETLINK, socket.SOCK_RAW))]
    for function, args in tries:
        status, said, seconds = once("attacker", function, *args)
        assert status == 65, (function.__name__, args, status, said)
        assert said.startswith("gpuhelper: ") and said.count("\n") == 1 and seconds < 2, (args, said, seconds)
    os.unlink(fifo)
    for kind in socket.SOCK_DGRAM, socket.SOCK_SEQPACKET:
        (status, said, seconds), heard = once("attacker", fd0_pair, kind)
        assert status == 65 and seconds < 2, (kind, status, said)
        assert heard == b"", "root wrote to a socket that is none of ours: %r" % heard


@case("F3", "A thousand inherited descriptors are closed first; the helper has 0, 1, 2 and those that it opened")
def f3():
    forget_answers()
    with asker("attacker") as a:
        pid = a.call(hold, launch("-o", "900:/etc/passwd"))
        inside(pid)
        assert ours(fds_of(pid)) == {0, 1, 2}, fds_of(pid)
        granted(a.call(hold_ask))


@case("F4", "Standard output is full, closed or without a reader: no partial grant, no crash")
def f4():
    def run(out, *args):
        return subprocess.run(launch(*args), stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.DEVNULL,
                              timeout=5, preexec_fn=lambda: client.become("attacker")).returncode
    with open("/dev/full", "w") as full:
        assert run(full, "-a", "--version") == 0
    r, w = os.pipe()
    os.close(r)
    assert run(w, "-a", "--version") in (0, -signal.SIGPIPE)
    os.close(w)
    with asker("attacker") as a:
        granted(a.call(exchange_to, "/dev/full"))
        granted(a.call(exchange_to, None, id="b"))


def exchange_to(path, **fields):
    """In the asker: runs the helper with a full device as its standard output and error, or with pipes whose readers are gone."""
    if path is not None:
        out = err = os.open(path, os.O_WRONLY)
    else:
        (r, out), (q, err) = os.pipe(), os.pipe()
        os.close(r)
        os.close(q)
    h = Helper(stdout=out, stderr=err).ask(**fields)
    status = h.final() if h.kind() == "grant" else h.wait()
    h.close()
    return status, h.answer


def full_pipe():
    r, w = os.pipe()
    os.set_blocking(w, False)
    with contextlib.suppress(BlockingIOError):
        while True:
            os.write(w, b"x" * 4096)
    os.set_blocking(w, True)
    return r, w


def complain_to_full_pipe():
    r, w = full_pipe()
    h = Helper(fd0=os.open("/dev/null", os.O_RDWR), stderr=w)
    try:
        return h.wait(4)
    except subprocess.TimeoutExpired:
        return "still there"


@case("F5", "Standard error is a full pipe that nobody drains: the helper still ends")
def f5():
    with asker("attacker") as a:
        status = a.call(complain_to_full_pipe)
        assert status == 65, status


@case("F6", "Descriptors sent with the request or with the last byte are refused, and none is kept")
def f6():
    for part in range(3):
        with asker("attacker") as a:
            status, answer = a.call(send_fds, part)
            if part < 2:
                refused((status, answer), 65, "descriptors were sent along")
            else:
                assert status == 74 and leases() == [], (status, answer, leases())


def send_fds(part):
    h = Helper()
    data = client.frame(client.request())
    for n, piece in enumerate((data[:4], data[4:], b"W")):
        if n == 2 and h.kind() != "grant":
            break
        # the helper may have refused before it reads all
        with contextlib.suppress(BrokenPipeError):
            h.sock.sendmsg([piece], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [1, 2] * 50))] if n == part else [])
    return h.wait(), h.answer


@case("F7", "An inherited descriptor of the lock: its holder keeps the lock, and the helper gives up after 2 s")
def f7():
    lock = os.open(RUN + "/lock", os.O_RDWR)
    fcntl.flock(lock, fcntl.LOCK_EX)
    began = time.monotonic()
    h = Helper(pass_fds=(lock,)).ask()
    status, answer = h.result()
    seconds = time.monotonic() - began
    other = os.open(RUN + "/lock", os.O_RDWR)
    try:
        # the wrapper would ask again for some seconds (user/ask/lease.c)
        assert (status, answer["reply"], answer["wait"]) == (75, "busy", 0) and "another gpuhelper has held /run/gpuhelper/lock " in answer["text"], answer
        assert 1.5 < seconds < 4, seconds
        fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
        assert False, "the helper let go of a lock that was not its own"
    except BlockingIOError:
        pass
    finally:
        os.close(other)
        os.close(lock)
    once("attacker", lock_is_closed)


def lock_is_closed():
    for path in RUN + "/lock", RUN + "/leases":
        try:
            os.open(path, os.O_RDONLY)
        except PermissionError:
            continue
        raise AssertionError("%s can be opened by anyone" % path)


# Limits

def sweep(name, values, clean):
    """Tries each value: the request is granted, or ends cleanly without a grant.  Returns the counts of both."""
    seen = {"granted": 0, "ended": 0}
    client.look()	# an earlier value's lease is over, and must not matter
    with asker("attacker") as a:
        for n, v in enumerate(values):
            status, answer = a.grant(command=launch("-r", "%s=%s" % (name, v)), id="r%d" % n, gpus=None, folders="/srv/ro")
            if status == 0:
                assert answer["reply"] == "grant", (v, answer)
                seen["granted"] += 1
                continue
            assert answer.get("reply") != "grant" or status < 0, (v, status, answer)
            assert status in clean, (name, v, status, answer)
            seen["ended"] += 1
        live = len(leases())
    assert live <= seen["granted"] + sum(s < 0 for s in clean), "%d leases for %d grants" % (live, seen["granted"])
    return seen


def may_raise_limits():
    bounding = dict(l.split(":\t") for l in read("/proc/self/status").splitlines())["CapBnd"]
    return int(bounding, 16) >> 24 & 1      # CAP_SYS_RESOURCE


# 127: the loader could not start the helper; 125: launch.c failed
LOADER = (127, 125, -signal.SIGKILL, -signal.SIGSEGV)


@case("R1", "No file may grow: status 75, nothing granted")
def r1():
    assert sweep("FSIZE", [0, 1, 4096], (75,)) in ({"granted": 0, "ended": 3}, {"granted": 3, "ended": 0})


@case("R2", "4 to 40 open files: granted, or a clean refusal")
def r2():
    assert sweep("NOFILE", range(3, 41, 1), (75, *LOADER))["granted"] > 0


@case("R3", "A small stack: granted, or a clean refusal; deeply nested JSON is still refused")
def r3():
    sweep("STACK", [1 << n for n in range(14, 24)], (75, *LOADER))
    deep = client.request(team="t", pipeline="p", instance_vars='{"a":' * 10000)
    status, answer = once("attacker", raw_exchange, client.frame(deep), launch("-r", "STACK=1048576"))
    refused((status, answer), 65, "deep")


def raw_exchange(data, command=None, **how):
    return Helper(command, **how).send(data).result()


@case("R4", "1 to 96 MiB of address space: granted, or a clean refusal")
def r4():
    assert sweep("AS", [n << 20 for n in range(1, 96, 5)], (75, 70, 74, *LOADER))["ended"] > 0


@case("R5", "0 and 1 seconds of CPU time: granted, or a clean refusal")
def r5():
    sweep("CPU", [0, 1], (75, *LOADER))


@case("R6", "No more processes allowed, while other helpers' programs run: the helper needs none of the caller's")
def r6():
    others = [subprocess.Popen(["setpriv", "--reuid", user, "--regid", user, "--clear-groups", "sleep", "60"])
              for user in ("gpuhelper-look", "gpuhelper-engine", "gpuhelper-read", "gpuhelper-judge")]
    try:
        # without CAP_SYS_RESOURCE, as in some containers, root can't raise a hard limit either
        granted = sweep("NPROC", [0, 1], () if may_raise_limits() else (75,))["granted"]
        assert granted == 2 or not may_raise_limits(), granted
    finally:
        for p in others:
            p.kill()
            p.wait()


@case("R7", "Unlimited core size: the helper dumps no core")
def r7():
    with asker("attacker") as a:
        pid = a.call(hold, launch("-r", "CORE=unlimited"))
        inside(pid)
        line = [l for l in read("/proc/%d/limits" % pid).splitlines() if l.startswith("Max core file size")][0]
        assert line.split()[4] == "0", line
        assert os.stat("/proc/%d/fd" % pid).st_uid == 0
        os.kill(pid, signal.SIGSEGV)
        assert gone(pid)


@case("R8", "Small limits on data, locked memory, message queues, pending signals and locks")
def r8():
    for name, values, clean in (("DATA", [0, 1 << 20, 16 << 20, 40 << 20], (75, 70, *LOADER)), ("MEMLOCK", [0], ()),
                                ("MSGQUEUE", [0], ()), ("SIGPENDING", [1], ()), ("LOCKS", [0], ()), ("RTTIME", [1], ())):
        sweep(name, values, clean)
    # The helper's time limit needs a pending signal.  With the right to raise limits the helper makes room for it; else it refuses.
    raised = may_raise_limits()
    assert sweep("SIGPENDING", [0], () if raised else (75,)) == {"granted": raised, "ended": 1 - raised}


# Signals

@case("S2", "A running interval timer does not end the helper")
def s2():
    with asker("attacker") as a:
        pid = a.call(hold, launch("-t", "30"))
        inside(pid)
        time.sleep(0.1)
        granted(a.call(hold_ask))


@case("S3", "Every signal blocked and ignored, SIGCHLD included, and umask 777: granted as usual")
def s3():
    plain("-b", "-i", "-u")


def terminal(keys, error=False):
    """In the asker: makes a session with a terminal, and presses its keys while the helper waits for the last byte."""
    pid, master = pty.fork()
    if pid == 0:
        attributes = termios.tcgetattr(0)
        attributes[3] |= termios.TOSTOP
        termios.tcsetattr(0, termios.TCSANOW, attributes)
        for s in signal.SIGINT, signal.SIGQUIT, signal.SIGTSTP, signal.SIGHUP, signal.SIGTTOU:
            signal.signal(s, signal.SIG_IGN)

        def shield():
            for s in signal.SIGINT, signal.SIGQUIT, signal.SIGTSTP, signal.SIGHUP, signal.SIGTTOU:
                signal.signal(s, signal.SIG_DFL)
            if error:
                os.setpgid(0, 0)
        try:
            if error:
                h = Helper(fd0=os.open("/dev/null", os.O_RDWR), stderr=2, start=shield)
                os._exit(h.wait(5))
            h = Helper(start=shield).ask()
            assert h.kind() == "grant"
            os.write(1, b"READY")
            time.sleep(0.3)
            os._exit(h.final())
        except BaseException:
            os._exit(99)
    seen = b""
    while True:
        try:
            piece = os.read(master, 1000)
        except OSError:
            break
        if not piece:
            break
        seen += piece
        if keys and b"READY" in seen:
            os.write(master, keys)
            keys = b""
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


@case("S4", "Ctrl-C, Ctrl-\\, Ctrl-Z at the caller's terminal: the grant is completed")
def s4():
    status = once("attacker", terminal, b"\x03\x1c\x1a")
    assert status == 0, status
    # a background process that heeds SIGTTOU stops when it writes to its terminal; a process group leader is refused
    status = once("attacker", terminal, b"", True)
    assert status == 77, status


def cgroup2():
    """Where cgroup2 is mounted; skips the case if it is not."""
    for line in read("/proc/mounts").splitlines():
        words = line.split()
        if words[2] == "cgroup2" and os.path.exists(words[1] + "/cgroup.controllers"):
            return words[1]
    raise Skip("no cgroup2 here")


@case("S5", "The owner of its cgroup cannot freeze a helper that waits for the lock or holds it", shares=fcntl.LOCK_SH)
def s5():
    lock = os.open(RUN + "/lock", os.O_RDWR)
    d = cgroup2() + "/" + CGROUP
    uid = client.pwd.getpwnam("attacker").pw_uid
    os.mkdir(d)
    try:
        for n in "", "/cgroup.procs", "/cgroup.freeze":
            os.chown(d + n, uid, uid)
        with asker("attacker") as a:
            write_raw(d + "/cgroup.procs", str(a.pid))
            pid = a.call(hold)
            inside(pid)
            write_raw(os.path.dirname(d) + "/cgroup.procs", str(a.pid))
            fcntl.flock(lock, fcntl.LOCK_EX)
            a.tell(hold_ask)
            time.sleep(0.3)
            once("attacker", write_raw, d + "/cgroup.freeze", "1")
            fcntl.flock(lock, fcntl.LOCK_UN)
            granted(a.hear())
    finally:
        os.close(lock)
        write_raw(d + "/cgroup.freeze", "0")
        time.sleep(0.05)
        os.rmdir(d)


def write_raw(path, text):
    fd = os.open(path, os.O_WRONLY)
    try:
        os.write(fd, text.encode())
    finally:
        os.close(fd)


@case("S6", "Inherited scheduling (SCHED_IDLE, nice 19, one CPU) is reset")
def s6():
    with asker("attacker") as a:
        pid = a.call(hold, ["taskset", "-c", "0", *launch("-s")])
        inside(pid)
        # on a busy CPU this takes some time
        for _ in range(300):
            got = os.sched_getscheduler(pid), os.getpriority(os.PRIO_PROCESS, pid), len(os.sched_getaffinity(pid))
            if got == (os.SCHED_OTHER, 0, len(os.sched_getaffinity(0))):
                return
            time.sleep(0.01)
        raise AssertionError(got)


@case("S8", "The helper's own state after its start: ids, capabilities, seccomp, environment, directory, umask")
def s8():
    with asker("attacker") as a:
        pid = a.call(hold, launch("-e", "A=b", "-u"))
        inside(pid)
        time.sleep(0.05)
        s = dict(l.split(":\t", 1) for l in read("/proc/%d/status" % pid).splitlines())
        assert s["Uid"] == s["Gid"] == "0\t0\t0\t0" and s["Groups"].strip() == "", s
        # chown, dac_read_search, fowner, kill (its own children alone, see Y2), setuid (to the caller alone), ipc_lock, sys_ptrace, mknod, checkpoint_restore
        allowed = 1 << 0 | 1 << 2 | 1 << 3 | 1 << 5 | 1 << 7 | 1 << 14 | 1 << 19 | 1 << 27 | 1 << 40
        assert int(s["CapEff"], 16) & ~allowed == 0 and s["CapEff"] == s["CapPrm"], s["CapEff"]
        assert int(s["CapBnd"], 16) == int(s["CapInh"], 16) == int(s["CapAmb"], 16) == 0, s
        assert (s["NoNewPrivs"], s["Seccomp"], s["Umask"]) == ("1", "2", "0077"), s
        assert os.readlink("/proc/%d/cwd" % pid) == "/"
        granted(a.call(hold_ask))


@case("S9", "A /proc with hidepid hides neither the asker nor a holder")
def s9():
    if subprocess.run(["mount", "-o", "remount,hidepid=2", "/proc"]).returncode != 0:
        raise Skip("no hidepid here")
    try:
        hidden = once("attacker", os.path.exists, "/proc/1")
        assert not hidden, "hidepid does not work"
        with asker("attacker") as a:
            granted(a.grant(gpus="2"))
            refused(once("victim", exchange), 75, "taken")
        granted(once("victim", exchange))
    finally:
        subprocess.run(["mount", "-o", "remount,hidepid=0", "/proc"], check=True)


# Time that the caller lets pass, and the number of helpers

YEARS = 1 << 61		# nanoseconds
DEADLINE = 30		# enter.c


class Deaf(Helper):
    """A helper whose socket is full before it speaks, and whose reply is never read."""

    def __init__(self, command=None):
        self.sock, theirs = socket.socketpair()
        theirs.setblocking(False)
        with contextlib.suppress(BlockingIOError):
            while True:
                theirs.send(b"x" * 65536)
        with contextlib.suppress(BlockingIOError):
            while True:
                theirs.send(b"x")
        theirs.setblocking(True)
        self.p = subprocess.Popen(command or launch("-l", str(YEARS)), stdin=theirs, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL, env={})
        theirs.close()
        self.answer = None


def deaf(**fields):
    """In the asker: how long a helper stays whose reply nobody reads; None: longer than 8 s."""
    h, began = Deaf(), time.monotonic()
    h.ask(**fields)
    try:
        h.wait(8)
    except subprocess.TimeoutExpired:
        return None
    return time.monotonic() - began


@case("S10", "A timer slack of years, and an answer that nobody reads: the helper ends, and undoes its grant", 40)
def s10():
    for fields in {"gpus": "9"}, {"gpus": "1"}, {"verb": "look", "gpus": None}:
        with asker("attacker") as a:
            seconds = a.call(deaf, **fields)
            assert seconds is not None and seconds < 5, (fields, seconds)
            assert leases() == [], leases()


@case("S11", "A helper's lifetime is limited; a stop, blocked or ignored signals, timer slack and limits do not extend it", DEADLINE + 20)
def s11():
    with asker("attacker") as a:
        pids = []
        for options in (), ("-b", "-i"), ("-l", str(YEARS)), ("-r", "SIGPENDING=100"):
            pids.append(a.call(hold, launch(*options)))
            inside(pids[-1])
        began = time.monotonic()
        for pid in pids:
            os.kill(pid, signal.SIGSTOP)
        time.sleep(DEADLINE - 5)
        # only a helper that is still stopped shows that the deadline ends it
        assert [read("/proc/%d/stat" % p).rpartition(")")[2].split()[0] for p in pids] == ["T"] * len(pids)
        while not all(gone(p) for p in pids):
            assert time.monotonic() - began < DEADLINE + 3, "there still: %s" % [p for p in pids if not gone(p)]


def many_deaf(count):
    """In the asker: starts so many helpers, under a limit of 40 processes; waits until each has been started."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (4096, 4096))
    resource.setrlimit(resource.RLIMIT_NPROC, (40, 40))
    made, tries = [], 0
    while len(made) < count and tries < 20 * count:
        tries += 1
        try:
            made.append(Deaf())
            held.append(made[-1])
        except BlockingIOError:
            for h in made:
                h.p.poll()
            time.sleep(0.005)
    return len(made)


def roots_helpers():
    """Helpers, without lookers, whose ids are all root's, so that no limit of their user's applies."""
    found = []
    for status in glob.glob("/proc/[0-9]*/status"):
        with contextlib.suppress(OSError):
            text = read(status)
            if text.startswith("Name:\tgpuhelper\n") and "\nUid:\t0\t0\t0\t0\n" in text and "\tZ (" not in text:
                parent = re.search(r"\nPPid:\t(\d+)", text).group(1)
                if read("/proc/%s/comm" % parent) != "gpuhelper\n":
                    found.append(status.split("/")[2])
    return found


@case("S12", "300 helpers of a user who is limited to 40 processes: at most 16 exist at once, and another user is served", 40)
def s12():
    with asker("attacker") as a:
        a.tell(many_deaf, 300)
        most, worst, end = 0, 0, time.monotonic() + 4
        while time.monotonic() < end:
            began = time.monotonic()
            granted(once("victim", exchange, gpus=None, folders="/srv/ro"))
            worst = max(worst, time.monotonic() - began)
            most = max(most, len(roots_helpers()))
        made = a.hear()
        print("# %d helpers at once: at most %d seen; another user's grant in %.2f s at worst" % (made, most, worst), flush=True)
        assert made == 300, made
        # the test proves nothing unless there was a crowd
        assert 8 <= most <= 16, most
        assert worst < 2, "%.1f s" % worst
        end = time.monotonic() + 8
        while roots_helpers():
            assert time.monotonic() < end, "%d are left" % len(roots_helpers())
            time.sleep(0.05)


def leave_dead(count):
    """In the asker: leaves so many ended helpers unwaited for, under a limit of 60 processes; returns how many there are."""
    resource.setrlimit(resource.RLIMIT_NPROC, (60, 60))
    for n in range(count):
        try:
            h = Helper().ask(id="dead%d" % n, gpus="9")
        except BlockingIOError:
            return n
        assert h.kind() == "refused", h.answer
        held.append(h)
        h.close()
        # the helper ends a moment after its reply
        while read("/proc/%d/stat" % h.p.pid).rpartition(")")[2].split()[0] != "Z":
            time.sleep(0.001)
    return count


@case("S12b", "If a parent does not wait for its helpers, no more of them become zombies than the user may have processes", 40)
def s12b():
    with asker("attacker") as a:
        made = a.call(leave_dead, 120)
        print("# %d helpers ended and not waited for" % made, flush=True)
        assert 16 < made <= 60, made
        granted(once("victim", exchange))


@case("S13", "In a crowd each helper answers, or ends silently with status 75; other users' helpers do not count")
def s13():
    with asker("attacker") as a, asker("victim") as v:
        held_pids = [a.call(hold) for _ in range(16)]
        for pid in held_pids:
            inside(pid)
        assert a.call(exchange) == (75, {}), "a seventeenth"
        granted(v.grant())
        granted(once("root", exchange, gpus=None, folders="/srv/ro"))
        os.kill(held_pids[3], signal.SIGKILL)
        assert gone(held_pids[3])
        # its children, which die with it, hold its place a moment longer
        end = time.monotonic() + 5
        while (answer := a.call(exchange, gpus=None, folders="/srv/ro")) == (75, {}) and time.monotonic() < end:
            time.sleep(0.02)
        granted(answer)


@case("S16", "If a user's helpers cannot be counted, that user is served one at a time or not at all; others and root are served", 30)
def s16():
    uid = client.pwd.getpwnam("attacker").pw_uid
    places = ["%s/locks/door-%d-%d" % (RUN, uid, i) for i in range(16)]
    with asker("attacker") as a:
        granted(a.grant(gpus="1"))
        with spoilt(*places):
            refused(once("attacker", exchange, gpus=None, folders="/srv/ro"), 74, places[0], "can't be counted")
            granted(once("victim", exchange, gpus="1"))
            client.look()
            # the lease lasts as long as the container
            assert len(leases()) == 1, leases()
            a.end()
            client.look()
            assert leases() == [], leases()
    with spoilt(*places[1:]), asker("attacker") as a:
        inside(a.call(hold))
        assert once("attacker", exchange) == (75, {}), "a second one, which is not counted"
    with without(RUN + "/locks"):
        write(RUN + "/locks", "")
        refused(once("attacker", exchange), 74, "/locks", "can't be counted")
        client.look()


def as_subordinate(uid, gid, *groups):
    """In root's asker: takes a subordinate id, with the user's groups, as a setuid program of that id would."""
    os.setgroups(groups)
    os.setresgid(gid, gid, gid)
    os.setresuid(uid, uid, uid)


@case("S15", "A user's subordinate ids are not further users with their own helpers and leases")
def s15():
    user = client.pwd.getpwnam("attacker")
    group = grp.getgrnam("gpuhelper").gr_gid
    with Subids("attacker:100000:65536\n"):
        for uid, is_his in (100000, True), (165535, True), (165536, False):
            with asker("root") as a:
                a.call(as_subordinate, uid, user.pw_gid, group)
                status, answer = a.call(exchange)
                assert status != 0 and ("/etc/subuid" in answer.get("text", "")) == is_his, (uid, status, answer)
                began = time.monotonic()
                pid = a.call(hold)
                # the helper does not wait for a request
                assert not is_his or (gone(pid) and time.monotonic() - began < 1), uid
                # and takes no place of its own, which nobody would ever remove
                assert bool(glob.glob(RUN + "/locks/door-%d-*" % uid)) != is_his, uid


FUSE_FLUSH = 25			# linux/fuse.h
CLONE_NEWUSER = 0x10000000	# linux/sched.h


def of_helper(opcode, pid):
    with contextlib.suppress(OSError):
        return pid != 0 and read("/proc/%d/comm" % pid) == "gpuhelper\n"


def serve_files(fd, is_silent):
    """Serves a FUSE file system with one file, /f, and never answers some requests, chosen by opcode and PID (fuse(4))."""
    attributes = struct.pack("<QQQQQQIIIIIIIIII", 2, 0, 0, 0, 0, 0, 0, 0, 0, 0o100666, 1, 0, 0, 0, 4096, 0)
    directory = attributes.replace(struct.pack("<I", 0o100666), struct.pack("<I", 0o40777))
    while True:
        data = os.read(fd, 1 << 17)
        _, opcode, unique, node, _, _, pid = struct.unpack_from("<IIQQIII", data)
        if is_silent(opcode, pid):
            continue
        if opcode == 26:	# INIT
            body = struct.pack("<IIIIHHIIHHI28x", 7, 31, 0, 0, 8, 8, 65536, 1, 0, 0, 0)
        elif opcode == 1:	# LOOKUP
            body = struct.pack("<QQQQII", 2, 0, 3600, 3600, 0, 0) + attributes
        elif opcode == 3:	# GETATTR
            body = struct.pack("<QII", 3600, 0, 0) + (directory if node == 1 else attributes)
        elif opcode in (14, 27):	# OPEN, OPENDIR
            body = struct.pack("<QII", 1, 0, 0)
        elif opcode in (2, 36):	# FORGET, INTERRUPT
            continue
        else:	# FLUSH, RELEASE
            body = b""
        os.write(fd, struct.pack("<IiQ", 16 + len(body), 0, unique) + body)


def serve_dirty(fd, _):
    """The same, but it never answers writes, so that the file's dirty pages stay (FUSE_WRITEBACK_CACHE)."""
    attributes = struct.pack("<QQQQQQIIIIIIIIII", 2, 4096, 8, 0, 0, 0, 0, 0, 0, 0o100666, 1, 0, 0, 0, 4096, 0)
    directory = attributes.replace(struct.pack("<I", 0o100666), struct.pack("<I", 0o40777))
    while True:
        data = os.read(fd, 1 << 17)
        _, opcode, unique, node = struct.unpack_from("<IIQQ", data)
        if opcode == 16:	# WRITE
            continue
        if opcode == 26:	# INIT
            body = struct.pack("<IIIIHHIIHHI28x", 7, 31, 0, 1 << 16, 8, 8, 65536, 1, 0, 0, 0)
        elif opcode == 1:	# LOOKUP
            body = struct.pack("<QQQQII", 2, 0, 3600, 3600, 0, 0) + attributes
        elif opcode in (3, 4):	# GETATTR, SETATTR
            body = struct.pack("<QII", 3600, 0, 0) + (directory if node == 1 else attributes)
        elif opcode in (14, 27):	# OPEN (keep what is cached), OPENDIR
            body = struct.pack("<QII", 1, 0, 2)
        elif opcode == 15:	# READ
            body = b"\0" * 4096
        elif opcode in (2, 36, 42):	# FORGET, INTERRUPT, BATCH_FORGET
            continue
        elif opcode in (18, 25, 29):	# RELEASE, FLUSH, RELEASEDIR
            body = b""
        else:
            os.write(fd, struct.pack("<IiQ", 16, -38, unique))
            continue
        os.write(fd, struct.pack("<IiQ", 16 + len(body), 0, unique) + body)


@contextlib.contextmanager
def silent_files(user, is_silent=of_helper, serve=serve_files):
    """A file in that user's FUSE file system, whose daemon leaves some requests unanswered."""
    d, uid = TEMP + "/silent-" + user, client.pwd.getpwnam(user).pw_uid
    os.makedirs(d, exist_ok=True)
    try:
        fd = os.open("/dev/fuse", os.O_RDWR)
    except OSError as e:
        raise Skip("/dev/fuse: %s" % e)
    options = "fd=%d,rootmode=40000,user_id=%d,group_id=%d" % (fd, uid, client.pwd.getpwnam(user).pw_gid)
    libc = ctypes.CDLL(None, use_errno=True)
    assert libc.mount(b"silent", d.encode(), b"fuse", 6, options.encode()) == 0, os.strerror(ctypes.get_errno())
    connections.note(d, uid)
    test, pid = os.getpid(), os.fork()
    if pid == 0:
        try:
            connections.die_with(test)
            serve(fd, is_silent)
        finally:
            os._exit(0)
    os.close(fd)
    try:
        yield d + "/f"
    finally:
        # the daemon's death ends the connection, and with it every wait
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        libc.umount2(d.encode(), 2)


def with_silent(path, numbers):
    """In the asker: starts a helper with that file as these descriptors; returns its PID."""
    fd = os.open(path, os.O_RDWR)
    if 0 in numbers:
        h = Helper(fd0=fd)
    else:
        h = Helper(stdout=fd if 1 in numbers else subprocess.DEVNULL, stderr=fd if 2 in numbers else subprocess.DEVNULL)
    held.append(h)
    return h.p.pid


@case("S14", "A silent FUSE file as descriptor 0, 1 or 2 keeps no root process alive", 30)
def s14():
    with silent_files("attacker") as path:
        with asker("attacker") as a:
            pids = [a.call(with_silent, path, numbers) for numbers in ((0,), (1,), (2,))]
            # silent helpers end after 2 s
            time.sleep(4)
            assert roots_helpers() == [], [(p, read("/proc/%s/wchan" % p)) for p in roots_helpers()]
            # the caller's own processes stay, or the attack did not work
            assert all(not gone(p) for p in pids), [gone(p) for p in pids]


def ask_with_file(path, count):
    """In the asker: prepares requests with that file attached; only the socket has the file open."""
    for n in range(count):
        ours, theirs = socket.socketpair()
        fd = os.open(path, os.O_RDWR)
        socket.send_fds(ours, [client.frame(client.request(gpus=None, folders="/srv/ro", id="f%d" % n))], [fd])
        os.close(fd)
        held.append((ours, theirs))


def make_dirty(path):
    held.append(os.open(path, os.O_RDWR))
    os.write(held[-1], b"x" * 4096)


def start_helpers_with_files():
    pids = []
    for ours, theirs in held:
        p = subprocess.Popen(["gpuhelper"], executable=client.HELPER, stdin=theirs, stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL, env={}, close_fds=True)
        pids.append(p.pid)
    # The last process to close the file hangs, and that may be this one: so a thread closes it, after the children have started.
    for _, theirs in held:
        threading.Thread(target=theirs.close, daemon=True).start()
    return pids


@case("S23", "A FUSE file that cannot be closed (its dirty pages are never written), sent along, keeps no root process alive", 30)
def s23():
    with asker("attacker") as a, asker("attacker") as b, silent_files("attacker", serve=serve_dirty) as path:
        a.call(ask_with_file, path, 12)
        # in another process, because whoever closes the file hangs
        b.call(make_dirty, path)
        pids = a.call(start_helpers_with_files)
        time.sleep(4)
        # the control: whoever drops the file hangs
        assert any(not gone(p) for p in pids) or len(os.listdir("/proc/%d/task" % a.pid)) > 1, pids
        assert roots_helpers() == [], [(p, read("/proc/%s/wchan" % p)) for p in roots_helpers()]
        granted(once("attacker", exchange, gpus=None, folders="/srv/ro"))


def exec_with(path, flags):
    """A process that executes another program and never finishes: the kernel, with a lock held, waits for the close of the file."""
    pid = os.fork()
    if pid == 0:
        os.setpgid(0, 0)
        if ctypes.CDLL(None).unshare(flags) == 0:
            os.open(path, os.O_RDWR | os.O_CLOEXEC)
            os.execv("/bin/sleep", ["sleep", "60"])
        os._exit(1)
    return pid


@contextlib.contextmanager
def unseeable(flags=0, user="attacker"):
    """A process of that user's whose memory nobody can inspect: whoever tries hangs."""
    with asker(user) as a, silent_files(user, lambda opcode, pid: opcode == FUSE_FLUSH) as path:
        pid = a.call(exec_with, path, flags)
        try:
            for _ in range(50):
                time.sleep(0.1)
                p = subprocess.Popen(["cat", "/proc/%d/maps" % pid], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                try:
                    p.wait(0.5)
                except subprocess.TimeoutExpired:
                    break
                finally:
                    p.kill()
                    p.wait()
            else:
                raise Skip("this kernel lets look at who executes")
            yield pid
        finally:
            os.killpg(pid, signal.SIGKILL)


def timed(user, **fields):
    began = time.monotonic()
    return once(user, exchange, **fields), time.monotonic() - began


@case("S20", "A caller's process blocks everybody who looks at it: its leases stay, and nobody waits under the lock", 30)
def s20():
    with contextlib.ExitStack() as stack:
        with asker("attacker") as a:
            granted(a.grant(gpus=GPU0))
            stack.enter_context(unseeable())
        answer, seconds = timed("victim", gpus=GPU0)
        refused(answer, 75, "taken")
        assert seconds < 3, seconds
        answer, seconds = timed("victim", gpus=None, folders="/srv/ro")
        granted(answer)
        assert seconds < 3, seconds
    granted(once("victim", exchange, gpus=GPU0))


@case("S20c", "An asker with a lease blocks everybody who looks at it: other requests that meet the lease do not wait", 30)
def s20c():
    # this ends last: nothing can end it before its file system's daemon ends
    with asker("attacker") as a, silent_files("attacker", lambda opcode, pid: opcode == FUSE_FLUSH) as path:
        granted(a.grant(gpus=GPU0))
        a.call(os.open, path, os.O_RDWR | os.O_CLOEXEC)
        a.tell(os.execv, "/bin/sleep", ["sleep", "60"])
        time.sleep(0.5)
        for fields in {"gpus": GPU0}, {"gpus": None, "folders": "/srv/ro"}:
            answer, seconds = timed("victim", **fields)
            assert seconds < 3, (fields, seconds)
        refused(once("victim", exchange, gpus=GPU0), 75, "taken")
    client.look()
    granted(once("victim", exchange, gpus=GPU0))


@case("S20b", "A container's process blocks whoever looks at it: an exclusive request names it; others are served meanwhile", 60)
def s20b():
    with unseeable(CLONE_NEWUSER) as pid:
        with asker("victim") as v:
            began = time.monotonic()
            v.tell(exchange, gpus=GPU0)
            for _ in range(5):
                answer, seconds = timed("attacker", gpus=None, folders="/srv/ro")
                granted(answer)
                assert seconds < 3, seconds
            answer, seconds = v.hear(), time.monotonic() - began
        refused(answer, 75, "/proc/%d:" % pid, "blocks its readers")
        assert seconds < 10, seconds
    granted(once("victim", exchange, gpus=GPU0))


def many_leases(count):
    return sum(exchange(id="m%d" % n, gpus=None, folders="/srv/ro")[1].get("reply") == "grant" for n in range(count))


def ask_until(end, **fields):
    """Looks repeatedly, as fast as the limit on looks allows."""
    while time.monotonic() < end:
        exchange(**fields)
        time.sleep(0.1)


@case("S21", "A process blocks four helpers that look at its user's 200 leases, or wait for a GPU: others are served soon", 90)
def s21():
    waits, lost = [], []
    with contextlib.ExitStack() as stack:
        with asker("attacker") as a:
            assert a.call(many_leases, 200) == 200
            granted(a.grant(id="gpu", gpus=GPU0))
            stack.enter_context(unseeable())
        askers = [stack.enter_context(asker(user)) for user in ("attacker", "attacker", "root", "root")]
        end = time.monotonic() + 8
        for a, fields in zip(askers, ({"verb": "look", "gpus": None}, *[{"gpus": GPU0}] * 3)):
            a.tell(ask_until, end, **fields)
        while time.monotonic() < end:
            answer, seconds = timed("victim", gpus=None, folders="/srv/ro")
            # a request that waits for the lock is not refused: the wrapper asks again (user/ask/lease.c)
            if answer[1].get("reply") == "busy" and answer[1].get("wait") == 0:
                answer, more = timed("victim", gpus=None, folders="/srv/ro")
                seconds += more
            waits.append(seconds)
            if answer[0]:
                lost.append(answer)
            time.sleep(0.1)
        for a in askers:
            a.hear()
    waits.sort()
    print("# asked %d times: %.2f s, at most %.2f s" % (len(waits), waits[len(waits) // 2], waits[-1]))
    # the first look waits longer, once, and so do requests behind it
    assert lost == [] and waits[len(waits) // 2] < 0.5 and waits[-1] < 4, (lost[:3], waits[-3:])
    client.look()


@case("S24", "Two users' processes block the looker: root's timer still ends other users' leases", 60)
def s24():
    with contextlib.ExitStack() as stack:
        with asker("attacker") as a, asker("victim") as v:
            granted(a.grant(gpus=GPU0))
            granted(v.grant(gpus=GPU1))
            stack.enter_context(unseeable())
            stack.enter_context(unseeable(user="victim"))
        # eight, because leases are looked at in any order
        with asker("root") as a:
            for n in range(8):
                granted(a.grant(id="over%d" % n, gpus=None, folders="/srv/ro"))
        began = time.monotonic()
        client.look()
        seconds = time.monotonic() - began
        assert sorted(l["uid"] for l in leases()) == sorted(pwd.getpwnam(u).pw_uid for u in ("attacker", "victim")), leases()
        assert seconds < 10, seconds
    client.look()
    assert leases() == [], leases()


# What an attacker's code could do in the helper, if a bug let it in

NUMBERS = {}


def number(name):
    """The number of a system call on this machine."""
    if not NUMBERS:
        listing = subprocess.run([os.environ.get("CC", "cc"), "-E", "-dM", "-include", "sys/syscall.h", "-xc", "/dev/null"],
                                 capture_output=True, text=True, check=True).stdout
        for line in listing.splitlines():
            words = line.split()
            if len(words) == 3 and words[1].startswith("__NR_") and words[2].isdigit():
                NUMBERS[words[1][5:]] = int(words[2])
    if name not in NUMBERS:
        raise Skip("no %s here" % name)
    return NUMBERS[name]


LOOK = "/usr/libexec/gpuhelper/gpuhelper-look"


def looker_of(pid):
    """The helper's child that inspects other processes, once it waits for a question."""
    for _ in range(400):
        for looker in read("/proc/%d/task/%d/children" % (pid, pid)).split():
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):	# another child may end meanwhile
                if os.readlink("/proc/%s/exe" % looker) == LOOK and "\nSeccomp:\t2\n" in read("/proc/%s/status" % looker):
                    return int(looker)
        time.sleep(0.005)
    raise AssertionError("the helper has no looker")


def payload(*calls, of=None):
    """Makes a helper that waits for its request do these calls; returns their results, ending with «killed» if it died.

    of: gets another process of the helper's, which then waits for the last byte, because the looker confines itself
    only during a request.
    """
    with asker("attacker") as a:
        pid = a.call(hold_final if of else hold)
        inside(pid)
        pid = of(pid) if of else pid
        for _ in range(200):
            if "\nSeccomp:\t2\n" in read("/proc/%d/status" % pid):
                break
            time.sleep(0.005)
        time.sleep(0.02)
        words = [",".join([str(c[0] if c[0][:1].isdigit() or ":" in c[0] else number(c[0]))] + [x if isinstance(x, str) else "%d" % x for x in c[1:]]) for c in calls]
        p = subprocess.run([program("payload"), str(pid), *words], capture_output=True, text=True)
        assert p.returncode == 0 and p.stdout, (calls, p.returncode, p.stderr)
        assert gone(pid)
        return [w if w == "killed" else int(w) for w in p.stdout.split()]


AT, CLOEXEC = -100, os.O_CLOEXEC
REG, CHR, BLK, FIFO = stat.S_IFREG, stat.S_IFCHR, stat.S_IFBLK, stat.S_IFIFO


@case("Y1", "Code in the helper makes no setuid file and no node but a driver's character device, in any way", 60)
def y1():
    d = RUN + "/locks"	# the payload may write here
    new, there = "=%s/new" % d, d + "/there"
    write(there, "x")
    sda, null, nvidia = os.makedev(8, 0), os.makedev(1, 3), os.stat("/dev/nvidia0").st_rdev
    tries = [("openat", AT, new, os.O_CREAT | os.O_WRONLY, 0o4755), ("openat", AT, new, os.O_CREAT | os.O_WRONLY, 0o2755),
             ("openat", AT, new, os.O_CREAT | os.O_WRONLY, 0o666), ("openat", AT, "=" + d, os.O_TMPFILE | os.O_RDWR, 0o4755),
             ("mkdirat", AT, new, 0o2755), ("mkdirat", AT, new, 0o777), ("fchmodat", AT, "=" + there, 0o4755),
             ("fchmodat", AT, "=" + there, 0o2755), ("fchmodat", AT, "=" + there, 0o666),
             ("mknodat", AT, new, BLK | 0o600, sda), ("mknodat", AT, new, REG | 0o4755, 0), ("mknodat", AT, new, FIFO | 0o600, 0),
             ("mknodat", AT, new, CHR | 0o4600, nvidia), ("mknodat", AT, new, CHR | 0o600, null),
             ("mknodat", AT, new, 0o4755, 0), ("fchownat", AT, "=" + there, 1000, 1000, 0), ("fchownat", AT, "=" + there, 1000, 0, 0),
             ("fchownat", AT, "=" + there, 0, 1000, 0),
             ("openat2", AT, new, 0, 24), ("fchmodat2", AT, "=" + there, 0o4755, 0), ("mknod", new, BLK | 0o600, sda),
             ("open", new, os.O_CREAT | os.O_WRONLY, 0o4755), ("creat", new, 0o4755), ("chmod", "=" + there, 0o4755),
             ("mkdir", new, 0o2755), ("chown", "=" + there, 1000, 1000), ("lchown", "=" + there, 1000, 1000),
             ("link", "=" + there, new), ("linkat", AT, "=" + there, AT, new, 0), ("symlink", "=/etc", new), ("symlinkat", "=/etc", AT, new)]
    wrong = []
    for c in tries:
        try:
            got = payload(c)
        except Skip:
            continue
        st = os.stat(there)
        if got[-1] != "killed" and got[-1] >= 0 or os.path.lexists(d + "/new") or (st.st_mode & 0o7777, st.st_uid, st.st_gid) != (0o644, 0, 0):
            wrong.append((c, got))
            for path in glob.glob(d + "/new"):
                subprocess.run(["rm", "-r", path], check=True)
            os.chown(there, 0, 0)
            os.chmod(there, 0o644)
    # fchmod(2) and fchown(2) on an open file
    for c in ("fchmod", "@0", 0o4755), ("fchmod", "@0", 0o666), ("fchown", "@0", 1000, 1000):
        got = payload(("openat", AT, "=" + there, os.O_RDONLY, 0), c)
        if got[-1] != "killed":
            wrong.append((c, got))
            os.chown(there, 0, 0)
            os.chmod(there, 0o644)
    os.unlink(there)
    assert not wrong, wrong
    y1_mapped(d)


def y1_mapped(d):
    """write(2) clears the setuid bit of a file; writing to a page of a shared mapping does not."""
    shared, private, validate = 1, 2, 3
    suid, evil = d + "/suid", d + "/evil"
    open_both = ("openat", AT, "=" + suid, os.O_RDWR, 0), ("openat", AT, "=" + evil, 0, 0)
    fill = "read", "@1", "@2", 4096
    write(evil, "E" * 4096)
    # the control: the preparation works
    got = payload(("openat", AT, "=" + evil, 0, 0), ("mmap", 0, 4096, 3, private, "@0", 0), ("read", "@0", "@1", 4096))
    assert got[-1] == 4096, got
    wrong = []
    for calls in ((("mmap", 0, 4096, 3, shared, "@0", 0), fill), (("mmap", 0, 4096, 2, shared, "@0", 0), fill),
                  (("mmap", 0, 4096, 3, validate, "@0", 0), fill), (("mmap", 0, 4096, 3, shared | 1 << 32, "@0", 0), fill),
                  (("mmap", 0, 4096, 1, shared, "@0", 0), ("mprotect", "@2", 4096, 3), fill)):
        write(suid, "A" * 4096, 0o4755)
        got = payload(*open_both, *calls)
        if read(suid) != "A" * 4096 or got[-1] == 4096:
            wrong.append((calls[0], got, "%o" % os.stat(suid).st_mode, read(suid)[:4]))
    os.unlink(suid)
    os.unlink(evil)
    assert not wrong, wrong


@case("Y2", "Code in the helper makes no program, process, trace, mount, module, namespace or socket, reaches no other memory, and lives no longer", 60)
def y2():
    me, own = str(os.getpid()), client.pwd.getpwnam("attacker").pw_uid
    tries = [("execve", "=/bin/true", 0, 0), ("execveat", AT, "=/bin/true", 0, 0, 0), ("clone", 17, 0, 0, 0, 0), ("fork",), ("vfork",),
             ("clone3", 0, 0), ("ptrace", 16, me, 0, 0), ("process_vm_readv", me, 0, 0, 0, 0, 0),
             ("process_vm_writev", me, 0, 0, 0, 0, 0), ("mount", "=x", "=/tmp", "=tmpfs", 0, 0), ("umount2", "=/tmp", 2),
             ("open_tree", AT, "=/", 1), ("move_mount", AT, "=/tmp", AT, "=/mnt", 0), ("fsopen", "=tmpfs", 0), ("mount_setattr", AT, "=/", 0, 0, 0),
             ("pivot_root", "=/tmp", "=/tmp"), ("chroot", "=/tmp"), ("setns", 0, 0), ("unshare", 0x20000), ("init_module", 0, 0, "=x"),
             ("finit_module", 0, "=x", 0), ("delete_module", "=x", 0), ("kexec_load", 0, 0, 0, 0), ("bpf", 5, 0, 0),
             ("io_uring_setup", 1, 0), ("userfaultfd", 0), ("perf_event_open", 0, 0, 0, 0, 0), ("keyctl", 0, 0), ("add_key", "=user", "=x", "=x", 1, 0),
             ("socket", 2, 1, 0), ("socketpair", 1, 1, 0, 0), ("connect", 0, 0, 0), ("kill", 4194000, 9), ("kill", 4194000, 19), ("tgkill", me, me, 0), ("pidfd_open", me, 0),
             ("pidfd_send_signal", 0, 0, 0, 0), ("pidfd_getfd", 0, 0, 0), ("prctl", 4, 1, 0, 0, 0), ("prctl", 29, 1 << 61, 0, 0, 0), ("seccomp", 0, 0, 0),
             ("setuid", 0), ("setresuid", 0, 0, 0), ("setresuid", own, own, 0), ("setresuid", 0, own, own), ("setresuid", own, 0, own),
             ("setuid", own), ("setgroups", 0, 0), ("capset", 0, 0), ("prlimit64", me, 7, 0, 0), ("setrlimit", 7, 0),
             ("timer_delete", 0), ("timer_settime", 0, 0, 0, 0), ("setpriority", 0, 0, 1), ("sched_setscheduler", 0, 0, 0),
             ("open_by_handle_at", AT, 0, 0), ("iopl", 3), ("ioperm", 0, 1, 1), ("reboot", 0, 0, 0, 0), ("sethostname", "=x", 1),
             ("swapon", "=/x", 0), ("quotactl", 0, 0, 0, 0), ("acct", "=/x"), ("settimeofday", 0, 0), ("clock_settime", 0, 0), ("syslog", 10, 0, 0), ("personality", 0),
             # arguments that cannot do harm: no such process, no such address
             ("tgkill", 4194000, 4194000, 6), ("prlimit64", 0, 7, 4096, 0), ("prlimit64", 0, 7, 1 << 32, 0),
             ("ioctl", 0, 0x5412, "=x"), ("fcntl", 0, 8, me), ("fcntl", 0, 10, 9), ("fcntl", 0, 15, "=x"), ("fcntl", 0, 4, 0o20000), ("fcntl", 0, 1024, 1), ("fcntl", 0, 1026, 2),
             ("mmap", 0, 4096, 7, 0x22, -1, 0), ("mprotect", 0, 4096, 4), ("landlock_create_ruleset", 0, 0, 1),
             ("memfd_create", "=x", 0), ("no_such_call_of_today", )]
    NUMBERS_OF_TOMORROW = 500
    wrong = []
    for c in tries:
        try:
            number(c[0])
        except Skip:
            if c[0] != "no_such_call_of_today":
                continue
            NUMBERS[c[0]] = NUMBERS_OF_TOMORROW
        got = payload(c)[-1]
        if got != "killed" and got not in (-1, -38):	# EPERM, ENOSYS: results of the filter, not of the call itself
            wrong.append((c, got))
    got = payload(("getpid",), ("tgkill", "@0", "@0", 0))
    if got[-1] != "killed":
        wrong.append(("tgkill", got))
    assert not wrong, wrong


@case("Y4", "Code in the helper makes no system calls by the numbers of another architecture of the machine", 20)
def y4():
    if os.uname().machine != "x86_64":
        raise Skip("one table here")
    # getpid(2) of i386, and of x32 with its bit; the filter sees the call even if the kernel lacks that table
    i386, x32 = "i386:20", str(0x40000000 | 39)
    with background("/bin/sleep", "60") as p:
        time.sleep(0.1)
        there = subprocess.run([program("payload"), str(p.pid), i386], capture_output=True, text=True).stdout == "%d\n" % p.pid
    assert payload((x32,)) == ["killed"], payload((x32,))
    if not there:
        raise Skip("this kernel has no table of i386")
    assert payload((i386,)) == ["killed"], payload((i386,))


@case("Y5", "On a kernel without seccomp the helper reads no request and grants nothing")
def y5():
    granted(once("root", exchange, launch()))
    answer = once("root", exchange, launch("-k"))
    assert answer[0] != 0 and answer[1].get("reply") != "grant", answer
    assert answer[1] == {} or "seccomp" in answer[1]["text"], answer


@case("Y3", "Code in the helper can do what the helper does", 20)
def y3():
    got = payload(("openat", AT, "=" + RUN + "/locks/payload", os.O_CREAT | os.O_RDWR | CLOEXEC, 0o600), ("flock", "@0", 2), ("close", "@0"),
                  ("unlinkat", AT, "=" + RUN + "/locks/payload", 0), ("getpid",), ("openat", AT, "=/proc/self/mountinfo", 0, 0))
    assert "killed" not in got and min(got) >= 0, got
    got = payload(("mknodat", AT, "=/dev/.payload", CHR | 0o600, os.stat("/dev/nvidia0").st_rdev), ("unlinkat", AT, "=/dev/.payload", 0),
                  ("openat", AT, "=" + LOG, os.O_WRONLY | os.O_APPEND | CLOEXEC, 0))
    assert "killed" not in got and min(got) >= 0, got


@case("Y6", "Code in the looker, also root, opens files only for reading, and makes no process but copies of itself", 60)
def y6():
    there, new = RUN + "/locks/there", RUN + "/locks/new"
    write(there, "x" * 64)
    got = payload(("openat", AT, "=" + there, os.O_RDONLY, 0), ("getpid",), of=looker_of)
    assert len(got) == 2 and min(got) >= 0, got
    opened = os.O_WRONLY, os.O_RDWR, os.O_TRUNC, os.O_APPEND, os.O_WRONLY | os.O_APPEND
    tries = [(("openat", AT, "=" + there), flags) for flags in opened] + [(("open", "=" + there), flags) for flags in opened]
    tries += [(call, flags) for call in (("openat", AT, "=" + new), ("open", "=" + new)) for flags in (os.O_CREAT, os.O_CREAT | os.O_EXCL)]
    tries += [(call, os.O_TMPFILE | os.O_RDWR) for call in (("openat", AT, "=" + RUN), ("open", "=" + RUN))]
    # only a plain fork(2) is allowed: no shared memory, no other parent, no new user namespace
    clones = [flags | signal.SIGCHLD for flags in (0x100, 0x200, 0x400, 0x8000, 0x00020000, 0x10000000, 0x20000000)]
    wrong = []
    try:
        for c in [(*call, flags, 0o600) for call, flags in tries] + [("clone", f, 0, 0, 0, 0) for f in (*clones, 0, signal.SIGUSR1)]:
            try:
                got = payload(c, of=looker_of)
            except Skip:
                continue
            if got != ["killed"] or os.path.lexists(new) or read(there) != "x" * 64:
                wrong.append((c, got))
                write(there, "x" * 64)
    finally:
        for path in there, new:
            if os.path.lexists(path):
                os.unlink(path)
    assert not wrong, wrong


@case("S7", "The caller cannot reach the helper's ptrace, memory, descriptors, signals or limits")
def s7():
    with asker("attacker") as a:
        own = a.call(poke_own)
        assert {"ptrace", "mem", "pidfd_getfd", "stop", "term", "prlimit", "kill"} <= set(own), own
        for function in hold, hold_final:
            pid = a.call(function)
            inside(pid)
            time.sleep(0.05)
            assert a.call(poke, pid) == [], "the caller may: %s" % a.call(poke, pid)
            a.call(hold_ask if function is hold else hold_finish)
        # the attack begins with the helper's first instruction
        for _ in range(10):
            assert a.call(poke_early) == []


def poke(pid, *more):
    return subprocess.run([program("poke"), str(pid), *more], capture_output=True, text=True).stdout.split()


def poke_own():
    p = subprocess.Popen(["/bin/sleep", "60"])
    done = poke(p.pid)
    p.wait()
    return done


def poke_early():
    """Until it executes the helper the child belongs to the caller; only acts after that count."""
    h = Helper()
    done = poke(h.p.pid, "30")
    h.ask(verb="look", gpus=None).result()
    return done
