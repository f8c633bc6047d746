"""Runs the cases.  After each case nothing may be left behind, and a legitimate request must be served.  TAP.

A case is a function that asserts.  The harness compares the state with the one before the first case, from outside: the
files in /run/gpuhelper and /etc/gpuhelper, and the rights of the GPUs' nodes.
"""
import contextlib
import fcntl
import glob
import hashlib
import json
import os
import pwd
import re
import shutil
import signal
import stat
import subprocess
import tempfile
import time
import traceback

import client
import connections
import lease

TEMP = os.environ.get("ATTACK_TEMP", "/tmp")	# for programs and scratch files; every user may use it
RUN, ETC, LOG = "/run/gpuhelper", "/etc/gpuhelper", "/var/log/gpuhelper/audit.jsonl"
POLICIES = ETC + "/policy.d"
GPU0, GPU1 = "0000:3b:00.0", "0000:af:00.0"
SECONDS = 10
# cgroups and abstract sockets are visible to other runs, so their names include this (lib/sandbox.sh)
CGROUP = "gpuhelper-attack-" + os.environ["SANDBOX_ID"]

cases = []


class Skip(Exception):
    pass


def case(name, text, seconds=SECONDS, shares=None):
    """shares: how the case takes turns with other runs (turn()); None: it touches nothing that they share."""
    def add(function):
        cases.append((name, text, function, seconds, shares))
        return function
    return add


def program(name):
    return TEMP + "/" + name


def launch(*options):
    """The command that starts the helper through launch.c."""
    return [program("launch"), *options, client.HELPER]


def write(path, text, mode=0o644):
    with open(path, "w") as f:
        f.write(text)
    os.chmod(path, mode)


def read(path):
    with open(path) as f:
        return f.read()


@contextlib.contextmanager
def kept(path):
    """Restores a tree afterwards, with modes and owners."""
    copy = tempfile.mkdtemp(dir=TEMP) + "/kept"
    subprocess.run(["cp", "-a", path, copy], check=True)
    try:
        yield
    finally:
        if os.path.islink(path) or not os.path.isdir(path):
            os.unlink(path)
        else:
            shutil.rmtree(path)
        subprocess.run(["cp", "-a", copy, path], check=True)
        subprocess.run(["rm", "-r", os.path.dirname(copy)], check=True)


def etc():
    return kept(ETC)


TURNS = [os.open("/tmp/.gpuhelper-attack-%s" % n, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600) for n in ("next", "now")]


@contextlib.contextmanager
def turn(kind):
    """Takes turns with the other runs on this machine: a LOCK_EX case disturbs what they share, and a LOCK_SH case needs it intact."""
    fcntl.flock(TURNS[0], fcntl.LOCK_EX)
    fcntl.flock(TURNS[1], kind)
    fcntl.flock(TURNS[0], fcntl.LOCK_UN)
    try:
        yield
    finally:
        fcntl.flock(TURNS[1], fcntl.LOCK_UN)


@contextlib.contextmanager
def without(*paths):
    """Moves these files away, and back afterwards; removes whatever took their place."""
    for p in paths:
        os.rename(p, p + ".away")
    try:
        yield
    finally:
        for p in paths:
            if os.path.isdir(p) and not os.path.islink(p):
                shutil.rmtree(p)
            elif os.path.lexists(p):
                os.unlink(p)
            os.rename(p + ".away", p)


@contextlib.contextmanager
def spoilt(*paths):
    """Puts a non-empty directory in place of each file, which nobody can write, or replace with a file."""
    for p in paths:
        os.rename(p, p + ".away") if os.path.lexists(p) else None
        os.makedirs(p + "/x")
    try:
        yield
    finally:
        for p in paths:
            shutil.rmtree(p)
            os.rename(p + ".away", p) if os.path.lexists(p + ".away") else None


@contextlib.contextmanager
def log_full():
    """Puts the audit log on a full file system."""
    os.rename(LOG, LOG + ".kept")
    directory = os.path.dirname(LOG)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4k,mode=755", "none", directory], check=True)
    try:
        write(LOG, "x" * 4096, 0o600)
        yield
    finally:
        subprocess.run(["umount", directory], check=True)
        os.rename(LOG + ".kept", LOG)


@contextlib.contextmanager
def full(directory):
    """Puts a directory's files on a full file system; afterwards takes back what is left of them."""
    with tempfile.TemporaryDirectory() as kept:
        subprocess.run(["cp", "-a", directory + "/.", kept], check=True)
        pages = sum(-(-os.path.getsize(os.path.join(kept, n)) // 4096) for n in os.listdir(kept))
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=%dk,mode=700" % (4 * pages), "none", directory], check=True)
        try:
            subprocess.run(["cp", "-a", kept + "/.", directory], check=True)
            yield
        finally:
            subprocess.run("rm -f %s/*; cp -a %s/. %s && umount %s && rm -f %s/* && cp -a %s/. %s" % (
                kept, directory, kept, directory, directory, kept, directory), shell=True, check=True)


@contextlib.contextmanager
def asker(user):
    a = client.Asker(user)
    try:
        yield a
    finally:
        a.end()


@contextlib.contextmanager
def background(*argv, user=None, stdin=None):
    p = subprocess.Popen(argv, stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                         preexec_fn=(lambda: client.become(user)) if user else None)
    try:
        yield p
    finally:
        p.kill()
        p.wait()


class Read:
    """The log as it was when it was last read: its bytes, its lines, and the records in them."""
    text, lines, records = b"", [], []


def log_lines():
    """The log's whole lines: another process may have written only part of the last one."""
    with open(LOG, "rb") as f:
        text = f.read()
    text = text[:text.rfind(b"\n") + 1]
    if not text.startswith(Read.text):
        Read.text, Read.lines, Read.records = b"", [], []
    Read.lines += text[len(Read.text):].split(b"\n")[:-1]
    Read.text = text
    return Read.lines


def records():
    """The records in the log."""
    lines = log_lines()
    for n in range(len(Read.records), len(lines)):
        try:
            Read.records.append(json.loads(lines[n]))
        except ValueError:
            raise AssertionError("line %d of %d is no record: %r" % (n + 1, len(lines), lines[max(0, n - 1):n + 2]))
    return list(Read.records)


def refused(answer, code, *words):
    """Asserts that the reply is a refusal with this code, and that its text contains these words."""
    got = answer if isinstance(answer, dict) else answer[1]
    assert got.get("reply") == "refused" and got.get("code") == code, "not refused with %d: %r" % (code, answer)
    for w in words:
        assert w in got["text"], "no «%s» in «%s»" % (w, got["text"])
    if not isinstance(answer, dict):
        assert answer[0] == code, "exit status %d and code %d" % (answer[0], code)


def granted(answer):
    assert answer[0] == 0 and answer[1].get("reply") == "grant", "not granted: %r" % (answer,)
    return answer[1]


def nodes(answer):
    """The nodes in a grant that belong to single GPUs."""
    return sorted(n["path"] for n in answer[1]["containerEdits"]["deviceNodes"]
                  if n["path"][len("/dev/nvidia"):].isdigit())


def leases():
    return [lease.read(read(p)) for p in glob.glob(RUN + "/leases/*")]


def put_lease(path, now, **changes):
    """Writes a lease's file with some members changed."""
    write(path, lease.write({**now, **changes}), 0o600)


def inside(pid):
    """Waits until the helper has set its ids to root's."""
    for _ in range(400):
        with contextlib.suppress(OSError):
            if "\nUid:\t0\t0\t0\t0\n" in read("/proc/%d/status" % pid):
                return
        time.sleep(0.005)
    raise AssertionError("the helper did not become root")


class Subids:
    """Sets lines in /etc/subuid and /etc/subgid, and restores the files afterwards."""
    files = "/etc/subuid", "/etc/subgid"

    def __init__(self, text):
        self.text = text

    def __enter__(self):
        for f in self.files:
            if os.path.exists(f):
                os.rename(f, f + ".away")
            write(f, self.text)

    def __exit__(self, *e):
        for f in self.files:
            os.unlink(f)
            if os.path.exists(f + ".away"):
                os.rename(f + ".away", f)


class Between:
    """Stops a user's next helper when its lease is written: it then waits in a line before it takes the lock again
    (leaselist.h), behind this test.  The helper gives up after 4 s.
    """

    def __init__(self, user):
        self.path = RUN + "/locks/user-%d-again" % pwd.getpwnam(user).pw_uid

    def __enter__(self):
        self.fd = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600)
        fcntl.flock(self.fd, fcntl.LOCK_EX)
        return self

    def stop(self):
        """Call this after the request was sent."""
        inode = ":%d " % os.fstat(self.fd).st_ino
        for _ in range(2000):
            if any("-> FLOCK" in line and inode in line for line in read("/proc/locks").splitlines()):
                return
            time.sleep(0.002)
        raise AssertionError("no helper came as far as that")

    def go_on(self):
        fcntl.flock(self.fd, fcntl.LOCK_UN)

    def __exit__(self, *e):
        os.close(self.fd)


@contextlib.contextmanager
def stops(pid, *options):
    """Stops a helper that this process starts, or this process itself, at a point given by strace's options (signal=SIGSTOP).

    Yields a function that waits for the stop and returns the PID.  SIGCONT continues the process; strace has detached by then.
    """
    path = tempfile.mktemp(dir=TEMP)
    p = subprocess.Popen(["strace", "-f", "-qq", "-o", path, "-p", str(pid), *options])

    def until(what):
        for _ in range(1000):
            with contextlib.suppress(OSError):
                if found := what():
                    return found
            time.sleep(0.005)
        raise AssertionError("strace: %s" % (read(path) if os.path.exists(path) else "nothing"))

    def wait():
        stopped = until(lambda: re.search("(?m)^([0-9]+) .*--- stopped by SIGSTOP ---$", read(path)))
        p.terminate()
        p.wait()
        return int(stopped.group(1))

    try:
        until(lambda: "\nTracerPid:\t%d\n" % p.pid in read("/proc/%d/status" % pid))
        yield wait
    finally:
        p.terminate()
        p.wait()
        if os.path.exists(path):
            os.unlink(path)


@contextlib.contextmanager
def another_with_pid(pid, user):
    """Starts a process of this user with a PID that has become free."""
    for _ in range(200):
        try:
            with open("/proc/sys/kernel/ns_last_pid", "w") as f:
                f.write(str(pid - 1))
        except OSError as e:
            raise Skip("which PID comes next is not to be chosen here: %s" % e)
        child = os.fork()
        if child == 0:
            try:
                if os.getpid() == pid:
                    client.become(user)
                    os.kill(pid, signal.SIGSTOP)
            finally:
                os._exit(0)
        # the process with the right PID stops after it has become that user
        _, ended = os.waitpid(child, os.WUNTRACED)
        assert os.WIFSTOPPED(ended) == (child == pid), (child, pid, ended)
        if child == pid:
            break
    else:
        raise Skip("others took PID %d each time" % pid)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def gone(pid, times=400):
    for _ in range(times):
        try:
            if read("/proc/%d/stat" % pid).rpartition(")")[2].split()[0] == "Z":
                return True
        except OSError:
            return True
        time.sleep(0.005)
    return False


def _facts(path):
    st = os.lstat(path)
    content = ""
    if stat.S_ISREG(st.st_mode):
        with open(path, "rb") as f:
            content = hashlib.sha256(f.read()).hexdigest()[:12]
    elif stat.S_ISLNK(st.st_mode):
        content = os.readlink(path)
    try:
        acl = os.getxattr(path, "system.posix_acl_access", follow_symlinks=False).hex()
    except OSError:
        acl = ""
    return "%s %o %d:%d %x %s %s" % (path, st.st_mode, st.st_uid, st.st_gid, st.st_rdev, content, acl)


def snapshot():
    paths = glob.glob("/dev/*nvidia*") + glob.glob("/dev/.*")
    for top in RUN, ETC:
        paths.append(top)
        for root, dirs, files in os.walk(top):
            # the locks are empty files that stay, rate/ only counts requests (rate.h), and read/ has answers (container/kept.py)
            dirs[:] = [d for d in dirs if os.path.join(root, d) not in (RUN + "/rate", RUN + "/locks", RUN + "/read")]
            paths += [os.path.join(root, n) for n in dirs + files if not n.startswith("lock")]
    return sorted(_facts(p) for p in paths if not p.endswith(("/.", "/..")))


def forget_answers():
    """Has the next helper start gpuhelper-read, whatever it answered before (kept.h)."""
    shutil.rmtree(RUN + "/read", ignore_errors=True)


def legitimate():
    """Asks for both GPUs exclusively, so neither may be under a lease; also shows that the client works."""
    answer = client.once("victim", client.exchange, gpus="2")
    granted(answer)
    assert nodes(answer) == ["/dev/nvidia0", "/dev/nvidia1"], nodes(answer)
    client.look()


def _way(e):
    """The lines of the tests through which an exception came."""
    return ", ".join("%s:%d" % (os.path.basename(f.filename), f.lineno) for f in traceback.extract_tb(e.__traceback__)[1:])


def _helpers():
    """All helpers: state, what each waits for in the kernel, cgroups."""
    found = []
    for path in glob.glob("/proc/[0-9]*"):
        with contextlib.suppress(OSError):
            if os.readlink(path + "/exe") == client.HELPER:
                state = read(path + "/stat").rpartition(")")[2].split()[0]
                found.append("helper %s, %s, at %s, %s" % (os.path.basename(path), state, read(path + "/wchan") or "-",
                                                           read(path + "/cgroup").replace("\n", " ")))
    return found


def _limit(seconds):
    def late(sig, stack):
        raise AssertionError("longer than %d s; %s" % (seconds, "; ".join(_helpers()) or "no helper is there"))
    signal.signal(signal.SIGALRM, late)
    signal.alarm(seconds)


def _is_among(c, only):
    """Selects a case by its name, by its file («t_fault»), or by not being in a file («!t_fault»)."""
    name, file = c[0], c[2].__module__
    return "!" + file not in only if any(w.startswith("!") for w in only) else not only or name in only or file in only


def run(only=()):
    # an abandoned test would go on using what the machine's tests share
    connections.die_with(os.getppid(), signal.SIGTERM)
    connections.start()
    # a user's first grant makes files that stay, so they belong to no case
    for user in "attacker", "victim", "root":
        for _ in range(20):
            answer = client.once(user, client.exchange, gpus="1")
            if answer[0] == 0:
                break
            time.sleep(0.5)
        granted(answer)
    client.look()
    before = snapshot()
    todo = [c for c in cases if _is_among(c, only)]
    print("1..%d" % len(todo), flush=True)
    failed = 0
    for number, (name, text, function, seconds, shares) in enumerate(todo, 1):
        trouble, skip, began = [], "", time.monotonic()
        stack = contextlib.ExitStack()
        if shares is not None:
            stack.enter_context(turn(shares))
        # records of the previous case must not count (rate.h)
        for path in glob.glob(RUN + "/rate/*"):
            os.unlink(path)
        _limit(seconds)
        try:
            function()
        except Skip as e:
            skip = " # SKIP %s" % e
        except Exception as e:
            if isinstance(e, AssertionError):
                trouble.append("%s (%s)" % (e, _way(e)))
            else:
                trouble += traceback.format_exc().splitlines()
        _limit(SECONDS)
        try:
            client.look()
            after = snapshot()
            trouble += ["left behind: " + x for x in after if x not in before]
            trouble += ["gone: " + x for x in before if x not in after]
            legitimate()
        except Exception as e:
            trouble.append("afterwards: %s: %s" % (type(e).__name__, e))
        if trouble:
            # this case's leases must not disturb the next one
            for path in glob.glob(RUN + "/leases/*") + glob.glob(RUN + "/exec/*/*"):
                os.unlink(path)
            for path in glob.glob(RUN + "/exec/*"):
                if not any(line.startswith(path + " ") for line in before):
                    os.rmdir(path)
        signal.alarm(0)
        stack.close()
        failed += bool(trouble)
        print("%sok %d - %s %s%s" % ("not " if trouble else "", number, name, text, skip), flush=True)
        for line in trouble[:12]:
            print("# " + line)
        if os.environ.get("ATTACK_TIMES"):
            print("# %.2f s" % (time.monotonic() - began))
    return 1 if failed else 0
