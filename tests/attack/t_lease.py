"""Attacks on the asker's identity, the lifetime of leases, the audit log, and the time that others wait."""
import contextlib
import ctypes
import fcntl
import glob
import grp
import json
import os
import pwd
import re
import resource
import shutil
import signal
import socket
import struct
import subprocess
import time

import client
from client import NONE, Asker, Helper, encode, exchange, frame, header, once, request
from harness import *
from t_policy import proc_devices
from t_process import cgroup2, held, hold, raw_exchange, write_raw

BUSY = (75, "taken")


# Identity

@case("I1", "A request has no field for a uid, user or groups; its uid 0 means the container's")
def i1():
    good = encode(request(gpus="1"))
    for more in b"\0\0\0\0", b"peer", struct.pack("=I", 0):
        refused(once("attacker", raw_exchange, frame(good + more)), 65, "longer")
    for flag in range(8, 32):
        refused(once("attacker", raw_exchange, frame(encode(request(), flags=1 << flag))), 65, "flags")
    granted(once("attacker", exchange, uid=0, gid=0, uids=None, gids=None))
    r = records()[-1]
    assert r["event"] == "grant" and r["user"] == "attacker", r
    refused(once("attacker", exchange, team="victim", pipeline="victim", gpus=None, folders="/srv/private"), 77)


def orphan():
    """In the asker: the helper's parent ends before the helper starts; somebody else has the socket."""
    def begin():
        if os.fork():
            os._exit(0)
        while os.getppid() != 1:
            time.sleep(0.002)
    h = Helper(start=begin).ask()
    kind = h.kind()
    if kind == "grant":
        h.send(b"W")
    h.close()
    return kind, h.answer


@case("I3", "The asking process is gone before the helper looks at it: refused, and no lease belongs to process 1")
def i3():
    kind, answer = once("attacker", orphan)
    refused(answer, 77, "process that asked")
    client.look()
    assert leases() == [], leases()


def shared_socket():
    """In the asker: a child makes the socket pair; this process only starts the helper."""
    ours, theirs = socket.socketpair()
    pid = os.fork()
    if pid == 0:
        a, b = socket.socketpair()
        socket.send_fds(theirs, [b"x"], [a.fileno(), b.fileno()])
        os._exit(0)
    _, fds, _, _ = socket.recv_fds(ours, 1, 2)
    os.waitpid(pid, 0)
    h = Helper(fd0=fds[1])
    h.sock = socket.socket(fileno=fds[0])
    h.sock.settimeout(10)
    os.close(fds[1])
    h.ask()
    return h.result()


@case("I3b", "A socket that another process made is refused")
def i3b():
    refused(once("attacker", shared_socket), 77, "process that asked")


def ask_and_send(fd, **fields):
    """In the asker: sends a request, and passes our end of its socket through this one."""
    h = Helper().ask(**fields)
    socket.send_fds(socket.socket(fileno=fd), [b"x"], [h.sock.fileno()])


@case("I3c", "Another process has the asker's PID by then: refused, and no lease belongs to that process", 20)
def i3c():
    ours, theirs = socket.socketpair()
    # the first look at the parent comes before the helper's ids are root's; the looker makes the other one
    strace = "-e", "trace=getppid", "-e", "inject=getppid:signal=SIGSTOP:when=1"
    with ours, theirs, asker("attacker") as a, stops(a.pid, *strace) as wait:
        a.call(ask_and_send, theirs.fileno(), id="i3c")
        _, [fd], *_ = socket.recv_fds(ours, 1, 1)
        h = Helper.__new__(Helper)
        h.sock = socket.socket(fileno=fd)
        h.sock.settimeout(12)
        helper = wait()
        try:
            a.end()
            with another_with_pid(a.pid, "victim"):
                os.kill(helper, signal.SIGCONT)
                refused(h.reply(), 77, "process that asked")
                assert leases() == [], leases()
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.kill(helper, signal.SIGCONT)
            h.close()
            assert gone(helper)


@case("I4", "Root of a caller's own user namespace does not count as root")
def i4():
    here = os.path.dirname(os.path.abspath(__file__))
    out = subprocess.run(["unshare", "-Ur", client.HELPER], capture_output=True, text=True, stdin=subprocess.DEVNULL,
                         preexec_fn=lambda: client.become("attacker"))
    assert out.returncode in (77, 126) and "grant" not in out.stdout, out
    if out.returncode == 77:
        assert "user namespace" in out.stderr, out
    out = subprocess.run(["setpriv", "--no-new-privs", client.HELPER], capture_output=True, text=True,
                         stdin=subprocess.DEVNULL, preexec_fn=lambda: client.become("attacker"))
    assert out.returncode == 77 and "no_new_privs" in out.stderr, out


@case("I5", "Uids without a name, nobody's uid, and the uid of a user outside the group are refused")
def i5():
    gid = grp.getgrnam("gpuhelper").gr_gid

    def ask_as(uid, groups):
        pid, status = os.fork(), None
        if pid == 0:
            try:
                os.setgroups(groups)
                os.setresgid(uid, uid, uid)
                os.setresuid(uid, uid, uid)
                status, answer = exchange()
                os._exit(status)
            except PermissionError:
                os._exit(126)
            except BaseException:
                os._exit(99)
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    assert ask_as(40000, []) == 126, "without the group"
    assert ask_as(40000, [gid]) == 77, "a uid without a name"
    assert ask_as(65534, [gid]) == 77, "nobody"
    with etc():
        write(POLICIES + "/10-all.conf", 'identity = "caller"; callers = [ "nobody" ]; gpus = ( { vendor = "nvidia"; } );')
        assert ask_as(65534, [gid]) == 77, "uid 65534 may be any user without a uid in the namespace"
        write(POLICIES + "/10-all.conf", 'identity = "caller"; gpus = ( { vendor = "nvidia"; } );')
        assert ask_as(40000, [gid]) == 0, "a member by the kernel's word"
    client.look()
    os.rmdir(RUN + "/exec/40000")


@case("I6", "Groups in the request make nobody a member; neither does /etc/group if the process lacks the group")
def i6():
    gid = grp.getgrnam("gpuhelper").gr_gid
    def become():
        p = client.pwd.getpwnam("attacker")
        os.setgroups([])
        os.setresgid(p.pw_gid, p.pw_gid, p.pw_gid)
        os.setresuid(p.pw_uid, p.pw_uid, p.pw_uid)
    try:
        subprocess.run([client.HELPER], stdin=subprocess.DEVNULL, preexec_fn=become)
        raise AssertionError("executed without the group")
    except PermissionError:
        pass
    granted(once("attacker", exchange, groups=[gid, 0, 27], gids=[[0, 0, 1], [gid, gid, 1]]))
    refused(once("attacker", exchange, groups=list(range(65))), 65)
    refused(once("attacker", exchange, groups=[4294967295]), 65)
    refused(once("attacker", exchange, uid=4294967295), 65)


# Leases

@case("L2", "The asker dies without a word: the next request gets its GPUs")
def l2():
    with asker("attacker") as a:
        granted(a.grant(gpus="2"))
        refused(once("victim", exchange, gpus="2"), *BUSY)
    granted(once("victim", exchange, gpus="2"))


@case("L4", "Looks by another user, for unknown ids, and repeated, end no live lease")
def l4():
    with asker("attacker") as a, asker("victim") as v:
        granted(v.grant(id="x", gpus="2"))
        for who, fields in (a, {"id": "x"}), (v, {"id": "x"}), (a, {"id": "unknown"}), (a, {"id": "x", "runtime_root": "/r"}):
            for _ in range(2):
                assert who.grant(verb="look", gpus=None, **fields) == (0, {"reply": "noted"})
        refused(a.grant(gpus="1"), *BUSY)
        refused(v.grant(id="x", gpus="1"), 75)
        for who, fields in (a, {"id": "x"}), (a, {"id": "unknown"}), (v, {"id": "x", "runtime_root": "/r"}):
            assert who.grant(verb="release", gpus=None, **fields) == (0, {"reply": "noted"})
        assert leases()[0]["state"] == "held"
        for verb in 11, 12, 255, 0x10000, NONE:
            refused(a.grant(verb=verb, id="x"), 65, "verb")
        assert len(leases()) == 1


@case("L6", "With an unreadable lease nothing is granted; the refusal names the lease, which stays")
def l6():
    name, key = RUN + "/leases/" + lease.name(lease.NOTHING), lease.key(lease.NOTHING)
    whole = lease.write(lease.NOTHING)
    write(name, whole, 0o600)
    granted(once("victim", exchange))
    client.look()
    for text in "", "{", "end\n", '{"version":3}', "\0" * 100, "x" * (2 << 20), whole[:-1], whole + "\n", "\n" + whole, \
            whole.replace("lease %d" % lease.VERSION, "lease 9"), whole.replace("\n", "\r\n"), whole.replace("boot -", "boot  -"):
        write(name, text, 0o600)
        status, answer = once("victim", exchange)
        assert answer["reply"] == "refused" and status in (65, 78) and key in answer["text"], (text[:20], answer)
        assert os.path.exists(name)
        os.unlink(name)
    os.symlink("/etc/shadow", name)
    refused(once("victim", exchange), 78, key)
    os.unlink(name)
    for name in "0" * 64, "x", "held":
        write(RUN + "/leases/" + name, whole, 0o600)
        refused(once("victim", exchange), 78, name, "not a lease's name")
        os.unlink(RUN + "/leases/" + name)


def many(count, prefix):
    """In the asker: starts so many helpers at once; returns how they ended."""
    helpers = [Helper().ask(id="%s%d" % (prefix, n)) for n in range(count)]
    ends = {}
    for h in helpers:
        status, answer = h.result()
        ends[status] = ends.get(status, 0) + 1
    return ends


@case("L8", "60 concurrent requests of two users for two GPUs: two grants")
def l8():
    with asker("attacker") as a, asker("victim") as v:
        a.tell(many, 30, "a")
        v.tell(many, 30, "v")
        ends, other = a.hear(), v.hear()
        total = {k: ends.get(k, 0) + other.get(k, 0) for k in {*ends, *other}}
        assert total == {0: 2, 75: 58}, total
        taken = [g["pci"] for l in leases() for g in l["gpus"]]
        assert sorted(taken) == [GPU0, GPU1], taken


def openable(text):
    """A stand-in GPU that can be opened: /dev/nvidia9 has the numbers of /dev/urandom, /dev/nvidia5 those of /dev/zero."""
    return text.replace("195 nvidia\n", "1 nvidia\n")


class Openable:
    def __init__(self, minor=9):
        self.minor, self.node = minor, "/dev/nvidia%d" % minor

    info = "/proc/driver/nvidia/gpus/%s/information" % GPU0

    def __enter__(self):
        self.devices = proc_devices(openable)
        self.devices.__enter__()
        self.old = read(self.info)
        write(self.info, re.sub(r"(Device Minor:[^0-9]*)0", r"\g<1>%d" % self.minor, self.old))
        os.mknod(self.node, 0o020666, os.makedev(1, self.minor))
        os.chmod(self.node, 0o666)

    def __exit__(self, *e):
        os.unlink(self.node)
        write(self.info, self.old)
        self.devices.__exit__(*e)


class SecondOpenable(Openable):
    """Makes the second GPU openable, too; otherwise its major number would not be the driver's."""
    info1 = Openable.info.replace(GPU0, GPU1)

    def __enter__(self):
        super().__enter__()
        self.old1 = read(self.info1)
        write(self.info1, re.sub(r"(Device Minor:[^0-9]*)1", r"\g<1>5", self.old1))
        os.mknod("/dev/nvidia5", 0o020666, os.makedev(1, 5))
        os.chmod("/dev/nvidia5", 0o666)

    def __exit__(self, *e):
        os.unlink("/dev/nvidia5")
        write(self.info1, self.old1)
        super().__exit__(*e)


@case("L9", "Without a cgroup of its own, a lease stays while a process keeps the GPU open after the asker's end")
def l9():
    with Openable():
        granted(once("attacker", exchange, gpus=GPU0))
        granted(once("victim", exchange, gpus=GPU0))
        with background("sh", "-c", "exec 3</dev/nvidia9; echo; exec sleep 60", user="attacker") as p:
            p.stdout.readline()
            granted(once("attacker", exchange, gpus=GPU0))
            refused(once("victim", exchange, gpus=GPU0), *BUSY)
        granted(once("victim", exchange, gpus=GPU0))


def hidden_holder():
    fd = os.open("/dev/nvidia9", os.O_RDONLY)
    ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)	# PR_SET_DUMPABLE
    return fd


@case("L9b", "A non-dumpable process or a setuid program that keeps the GPU open is noticed")
def l9b():
    with Openable():
        with asker("attacker") as holder:
            holder.call(hidden_holder)
            granted(once("attacker", exchange, gpus=GPU0))
            refused(once("victim", exchange, gpus=GPU0), *BUSY)
        granted(once("victim", exchange, gpus=GPU0))
        # passwd(1) waits for input
        with background("sh", "-c", "exec 3</dev/nvidia9; exec passwd", user="attacker", stdin=subprocess.PIPE) as p:
            for _ in range(200):
                if "\nUid:\t%d\t0\t" % client.pwd.getpwnam("attacker").pw_uid in read("/proc/%d/status" % p.pid):
                    break
                time.sleep(0.01)
            granted(once("attacker", exchange, gpus=GPU0))
            refused(once("victim", exchange, gpus=GPU0), *BUSY)


def hand_over(**fields):
    """In the asker: gets a grant without confirming it; another process keeps the socket open after this process ends."""
    h = Helper().ask(**{"id": "same", "gpus": "2", **fields})
    assert h.kind() == "grant", h.answer
    r, w = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.setsid()
        time.sleep(0.6)
        os._exit(0)
    h.close()
    return pid


@case("L11", "A late undo of a grant leaves another lease of the same name alone")
def l11():
    with asker("attacker") as first:
        first.call(hand_over)
    with asker("attacker") as second:
        granted(second.grant(id="same", gpus="2"))
        time.sleep(1)
        refused(once("victim", exchange), *BUSY)
        assert len(leases()) == 1 and os.listdir(RUN + "/exec/%d" % client.pwd.getpwnam("attacker").pw_uid) != []


def churn(seconds):
    """In the asker: grants that are abandoned at once, one after another."""
    end, n = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        h = Helper().ask(id="u%d" % n, gpus=None, folders="/srv/ro")
        h.reply()
        h.close()
        h.wait()
        n += 1
    return n


def looks(seconds):
    end, bad, n = time.monotonic() + seconds, [], 0
    while time.monotonic() < end:
        status, answer = exchange(verb="look", gpus=None)
        n += 1
        if status != 0:
            bad.append(answer)
    return n, bad


begun = []


def begin_grant(**fields):
    """In the asker: a grant that is not confirmed yet."""
    begun.append(Helper().ask(**fields))
    return begun[-1].kind()


def give_up():
    h = begun.pop()
    h.close()
    return h.wait()


@case("L11b", "A lease of another boot is over, whoever lives; undoing a new grant does not touch it")
def l11b():
    with asker("attacker") as a:
        assert a.call(begin_grant, gpus="2") == "grant"
        path, = glob.glob(RUN + "/leases/*")
        boot = read("/proc/sys/kernel/random/boot_id").strip()
        text = read(path)
        assert boot in text
        # the PID and the start time are the same, so only the boot id tells the leases apart
        write(path, text.replace(boot, "00000000-1111-2222-3333-444444444444"), 0o600)
        assert a.call(give_up) == 74
        assert glob.glob(RUN + "/leases/*") == [path]
        granted(once("victim", exchange, gpus="2"))
        assert not os.path.exists(path)


@case("L12", "Leases that come and go make no other user's request fail")
def l12():
    with asker("attacker") as a, asker("victim") as v, asker("attacker") as b:
        a.tell(churn, 2)
        b.tell(churn, 2)
        n, bad = v.call(looks, 2)
        assert n > 20 and bad == [], (n, len(bad), bad[:1])
        assert a.hear() > 10 and b.hear() > 10


def planted(ident, user, pid=1, start=0, boot=None, **changes):
    """Plants a lease as that user's process would have it; returns its path."""
    now = dict(lease.NOTHING, id=ident, uid=client.pwd.getpwnam(user).pw_uid, pid=pid, start=start,
               boot=boot or read("/proc/sys/kernel/random/boot_id").strip(), **changes)
    path = RUN + "/leases/" + lease.name(now)
    put_lease(path, now)
    return path


def plant_entry(path, minor, lease_path, **entry):
    """Plants an entry of a lease in the ledger."""
    os.makedirs(RUN + "/ledger", 0o700, exist_ok=True)
    write(RUN + "/ledger/195:%d%s" % (minor, path.replace("/", "!")), lease.write_ledger({
        "path": path, "major": 195, "minor": minor, "boot": read("/proc/sys/kernel/random/boot_id").strip(),
        "entries": [{"key": os.path.basename(lease_path)[:64], "uid": 0, "id": 0, **entry}]}), 0o600)


def start(**fields):
    """In the asker: starts a helper with a request; returns its PID."""
    begun.append(Helper().ask(**fields))
    return begun[-1].p.pid


@case("L28", "A planned lease keeps a GPU no longer than its helper could live; a refused helper waits for the lock to undo its lease", 20)
def l28():
    with Openable(), etc(), asker("attacker") as a:
        os.chmod("/dev/nvidia9", 0o600)
        before = snapshot()
        with Between("attacker") as line:
            pid = a.call(start, gpus=GPU0)
            line.stop()
            # as if the user's other helpers, busy with long looks, kept the lock
            os.kill(pid, signal.SIGKILL)
            assert gone(pid)
        assert [l.get("planned") for l in leases()] == [True], leases()
        refused(once("victim", exchange, gpus=GPU0), *BUSY)
        path, = glob.glob(RUN + "/leases/*")
        now, = leases()
        for ago, stays in (20, True), (60, False):
            put_lease(path, now, since=int(time.time()) - ago)
            client.look()
            assert os.path.exists(path) == stays, ago
        granted(once("victim", exchange, gpus=GPU0))
        client.look()
        # the log is full
        with log_full(), Between("attacker") as line:
            pid = a.call(start, id="late", gpus=GPU0)
            line.stop()
            time.sleep(2.5)
            line.go_on()
            assert gone(pid) and leases() == [], leases()
        assert snapshot() == before


@case("L12a", "A label in the ledger is also undone without SELinux, or if the label has changed")
def l12a():
    path = planted("p", "attacker", label="u:r:t:s0")
    for minor, label in (0, "system_u:object_r:gpuhelper_device_t:s0:c1,c2"), (9, "u:object_r:t:s0"):
        plant_entry("/dev/nvidia%d" % minor, minor, path, kind="label", label=label, was="system_u:object_r:xserver_misc_device_t:s0")
    granted(once("victim", exchange, gpus=None, folders="/srv/ro"))
    assert not os.path.exists(path) and os.listdir(RUN + "/ledger") == []


@case("L13", "5000 ended leases do not lock everyone out forever")
def l13():
    for n in range(5000):
        planted("p%d" % n, "attacker")
    granted(once("victim", exchange, gpus="2"))
    # on a busy machine a request ends some of them, and the next requests end the others
    for _ in range(10):
        if len(leases()) > 1:
            client.look()
    assert len(leases()) <= 1, len(leases())


@case("L14", "The number of one user's leases is limited, and leaves room for other users")
def l14():
    with asker("attacker") as a:
        start = read("/proc/%d/stat" % a.pid).rpartition(")")[2].split()[19]
        for n in range(511):
            planted("p%d" % n, "attacker", a.pid, start)
        granted(a.grant(gpus=None, folders="/srv/ro"))
        refused(a.grant(id="more", gpus=None, folders="/srv/ro"), 75, "the most")
        began = time.monotonic()
        granted(once("victim", exchange, gpus="2"))
        assert time.monotonic() - began < 2


class Cgroup:
    """A cgroup with a process in it, beneath the cgroup2 mount or a v1 hierarchy."""

    def __init__(self, name, top=None):
        self.top = top or cgroup2()
        self.dirs = [self.top + "/" + "/".join(name.split("/")[:n + 1]) for n in range(name.count("/") + 1)]

    def __enter__(self):
        for d in self.dirs:
            os.mkdir(d)
        self.p = subprocess.Popen(["sleep", "60"])
        write_raw(self.dirs[-1] + "/cgroup.procs", str(self.p.pid))
        return self

    def __exit__(self, *e):
        self.p.kill()
        self.p.wait()
        for d in reversed(self.dirs):
            for _ in range(100):
                try:
                    os.rmdir(d)
                    break
                except OSError:
                    time.sleep(0.01)


def grant_into(path, cgroup, systemd=False):
    """Grants root a container whose processes are in «cgroup»; then the asker ends.  Returns its exit status."""
    with asker("root") as a:
        status, answer = a.grant(cgroups_path=path, gpus="2", systemd_cgroup=systemd)
        if status != 0:
            return status, answer
        cgroup.__enter__()
    return status, answer


@case("L15", "Every spelling of a cgroup path that the runtime accepts keeps the lease, or is refused")
def l15():
    kept_ones = 0
    # N and S stand for names that no other test on this machine uses
    for spelling in ("/N/x", "N/x"), ("/N/x/", "N/x"), ("//N//x", "N/x"), ("/../N/x", "N/x"), ("/N/./x", "N/x"), ("/N:b:c", "N:b:c"), \
            ("S.slice:N:x", "S.slice/N-x.scope"), ("-.slice:gpuhelper:N", "gpuhelper-N.scope"), ("/N" + "/y" * 600, None), ("N/x", "N/x"):
        path, real = [p and p.replace("N", CGROUP).replace("S", "attack" + os.environ["SANDBOX_ID"]) for p in spelling]
        c = Cgroup(real or CGROUP)
        try:
            status, answer = grant_into(path, c)
            if status == 0:
                refused(once("victim", exchange), *BUSY)
                kept_ones += 1
            else:
                refused((status, answer), 65, "cgroup")
        finally:
            if hasattr(c, "p"):
                c.__exit__()
    assert kept_ones >= 5, kept_ones


def v1_hierarchy():
    for line in read("/proc/mounts").splitlines():
        words = line.split()
        if words[2] == "cgroup" and words[1].endswith("/pids") and os.path.exists(words[1] + "/cgroup.procs"):
            return words[1]
    raise Skip("no cgroup v1 here")


@case("L15b", "A populated cgroup deep in a tree keeps the lease")
def l15b():
    for depth in 10, 40:
        c = Cgroup(CGROUP + "/d" * depth, v1_hierarchy())
        try:
            granted(grant_into("/" + CGROUP, c))
            refused(once("victim", exchange), *BUSY)
        finally:
            if hasattr(c, "p"):
                c.__exit__()


@case("L16", "A cgroup with other processes in it is refused: it would keep the GPU forever")
def l16():
    with Cgroup(CGROUP):
        for path, ident in ("/" + CGROUP, "a"), ("", CGROUP):
            refused(once("root", exchange, cgroups_path=path, id=ident), 65, "cgroup")


@case("L17", "An end record names the holder, not the looker; a user's look covers the user's leases and the GPUs it asks for")
def l17():
    granted(once("attacker", exchange, id="l17", gpus=GPU0))
    once("victim", exchange, verb="look", gpus=None)
    granted(once("victim", exchange, gpus=GPU1))
    granted(once("victim", exchange, gpus=None, folders="/srv/ro"))
    assert [l["id"] for l in leases() if l["id"] == "l17"] == ["l17"], leases()
    granted(once("victim", exchange, gpus=GPU0))
    end = [r for r in records() if r["event"] == "end" and r["container"] == "l17"][-1]
    assert end["uid"] == client.pwd.getpwnam("attacker").pw_uid, end
    assert "pipeline" not in end, end


@case("L17d", "End and undo records name the grant's pipeline; names with quotes or slashes forge nothing", 30)
def l17d():
    def claim(team, pipeline, **more):
        return {"team": team, "pipeline": pipeline, "gpus": GPU0, **more}

    def last(event):
        return [r for r in records() if r["event"] == event][-1]

    with etc():
        write(POLICIES + "/10-any.conf", 'identity = "claim"; pipeline = "*/*"; gpus = ( { vendor = "nvidia"; count = 2; } );')
        for team, pipeline in ("ml", "train"), ("ml", 'x","identity":"token'), ("t" * 200, "\u00fc" * 120):
            granted(once("attacker", exchange, id="l17d", **claim(team, pipeline)))
            client.look()
            end = last("end")
            assert (end["team"], end["pipeline"]) == (team, pipeline) and "identity" not in end, end
        # whose team it is could not be told
        granted(once("attacker", exchange, id="l17d", **claim("a/b", "c")))
        client.look()
        assert not {"team", "pipeline"} & set(last("end")), last("end")
        h = once("attacker", undone, id="l17e", **claim("ml", "train"))
        undo = last("undo")
        assert (undo["container"], undo["team"], undo["pipeline"]) == ("l17e", "ml", "train") and "identity" not in undo, (h, undo)


def undone(**fields):
    """In the asker: takes a grant, and hangs up before it is final."""
    h = Helper().ask(**fields)
    kind = h.kind()
    h.close()
    return kind, h.wait()


@case("L18", "A busy refusal does not name another team's pipelines")
def l18():
    claim = 'identity = "claim"; pipeline = "%s/*"; gpus = ( { vendor = "nvidia"; count = 2; } );'
    with etc():
        for team in "secret", "other":
            write(POLICIES + "/10-%s.conf" % team, claim % team)
        with asker("victim") as v:
            granted(v.grant(team="secret", pipeline="project-x", gpus="2"))
            answer = once("attacker", exchange, team="other", pipeline="p")
            refused(answer, *BUSY)
            assert "secret" not in answer[1]["text"] and "project" not in answer[1]["text"], answer
            answer = once("victim", exchange, id="second", team="secret", pipeline="p")
            assert "secret/project-x" in answer[1]["text"], answer


SHARED = 'identity = "caller"; callers = [ "%s" ]; gpus = ( { vendor = "nvidia"; sharing = "shared"; } ); ' \
         'folders = ( { path = "/srv/ro"; access = "ro"; } );'


class Copies:
    """Copies of a granted lease, for any user, as if the same process had asked for them."""

    def __init__(self, ident, pid):
        held = {n: lease.read(read(RUN + "/leases/" + n)) for n in os.listdir(RUN + "/leases")}
        name = next(n for n, l in held.items() if l["id"] == ident)
        self.lease, self.flags = held[name], name.split("-")[2:]
        self.lease["pid"], self.lease["start"] = pid, int(read("/proc/%d/stat" % pid).rpartition(")")[2].split()[19])
        self.paths, self.fillers = [], {}

    def fill(self, size):
        """Padding that makes a copy that long; computed once, because writing a lease takes time."""
        if size not in self.fillers:
            copy = dict(self.lease, root="/" + "r" * 1000, id=self.lease["id"] + "-0", cgroups=list(self.lease["cgroups"]))
            left = size - len(lease.write(copy))
            while left > 64:
                copy["cgroups"].append("pids/" + "c" * min(900, left - 32))
                left -= len("cgroup %s\n" % copy["cgroups"][-1])
            self.fillers[size] = {"root": copy["root"], "cgroups": copy["cgroups"]}
        return self.fillers[size]

    def plant(self, uid, number, size=0, name=None, flags=None):
        copy = dict(self.lease, uid=uid, id="%s-%d" % (self.lease["id"], number))
        if size:
            copy.update(self.fill(size))
        self.paths.append(RUN + "/leases/" + (name or "-".join([lease.key(copy), str(uid), *(flags or self.flags)])))
        put_lease(self.paths[-1], copy)
        return self.paths[-1]

    def remove(self):
        for path in self.paths:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path)


def grant_times(count, **fields):
    """In the asker: the durations of some grants, each abandoned at once."""
    times = []
    for n in range(count):
        began, h = time.monotonic(), Helper().ask(id="t%d" % n, **fields)
        assert h.kind() == "grant", h.answer
        times.append(time.monotonic() - began)
        h.close()
        h.wait()
    return times


@case("L23", "2048 leases of four other users, each of the largest size, do not slow unrelated requests", 60)
def l23():
    copies = []
    with etc(), asker("attacker") as a, asker("victim") as v:
        write(POLICIES + "/10-shared.conf", SHARED % "attacker")
        before = min(v.call(grant_times, 10, gpus=GPU0))
        granted(a.grant(id="fat", gpus=GPU1))
        granted(a.grant(id="folder", gpus=None, folders="/srv/ro"))
        copies = [Copies(name, a.pid) for name in ("fat", "folder")]
        try:
            for uid in range(40000, 40004):
                for n in range(512):
                    copies[n % 2].plant(uid, n, 4090)
            beside = min(v.call(grant_times, 10, gpus=GPU0))
            folder = min(v.call(grant_times, 10, gpus=None, folders="/srv/ro"))
            began = time.monotonic()
            assert a.grant(verb="status", gpus=None)[1]["reply"] == "noted"
            status = time.monotonic() - began
            assert len(os.listdir(RUN + "/leases")) == 2050
        finally:
            for c in copies:
                c.remove()
    print("# another user's grant: %.0f ms, and %.0f ms beside 2048 leases of four users (a folder's %.0f, a status %.0f)" %
          (before * 1e3, beside * 1e3, folder * 1e3, status * 1e3))
    assert beside - before < 0.02, (before, beside)


def fill_ways(held):
    """As many paths as fit into a lease of 32 KiB."""
    one = {"path": "/srv/elsewhere/of/others/%03d", "writable": False, "at": ["8:1 /srv/elsewhere/of/others/%03d", "8:1 /srv"]}
    held["ways"] = [{**one, "path": one["path"] % n, "at": [one["at"][0] % n, one["at"][1]]} for n in range(380)]
    assert 30000 < len(lease.write(held)) < 32768, len(lease.write(held))


def fill_ledger(paths):
    """In the ledger, each of these leases has what the first one has."""
    for name in os.listdir(RUN + "/ledger"):
        node = lease.read_ledger(read(RUN + "/ledger/" + name))
        node["entries"] += [dict(node["entries"][0], key=os.path.basename(p)[:64], uid=40000) for p in paths]
        write(RUN + "/ledger/" + name, lease.write_ledger(node), 0o600)


def verb_time(verb):
    """In the asker: how long a request about all leases takes."""
    began = time.monotonic()
    status, answer = exchange(verb=verb, gpus=None)
    assert answer["reply"] == "noted", answer
    return time.monotonic() - began


@case("L23b", "The cost of related leases is bounded: of four users' fullest ones, and of 764 that opened the same GPU's node", 90)
def l23b():
    from t_acl import Closed	# here, because t_acl imports from this file
    copies, times = [], {}
    with etc(), Closed(), asker("attacker") as a, asker("victim") as v, asker("root") as r:
        write(POLICIES + "/10-shared.conf", SHARED % 'attacker", "victim')
        writing = dict(uids=None, gids=None, uid=0, gpus=None, folders="/srv/tree:rw")
        try:
            times["folder"] = [min(r.call(grant_times, 5, **writing))]
            granted(a.grant(id="folder", gpus=None, folders="/srv/ro"))
            copies.append(Copies("folder", a.pid))
            fill_ways(copies[-1].lease)
            for n in range(256):
                copies[-1].plant(40000 + n % 4, n)
            times["folder"].append(min(r.call(grant_times, 5, **writing)))
            copies[-1].remove()
            times["node"] = [min(v.call(grant_times, 5, gpus=GPU1))]
            granted(a.grant(id="node", gpus=GPU1))
            copies.append(Copies("node", a.pid))
            for n in range(764):
                copies[-1].plant(40000 + n % 4, n)
            fill_ledger(copies[-1].paths)
            times["node"].append(min(v.call(grant_times, 5, gpus=GPU1)))
            times["looks"] = [0, max(r.call(verb_time, verb) for verb in ("status", "reapply"))]
        finally:
            for c in copies:
                c.remove()
    for what, (alone, beside) in times.items():
        print("# %s: %.0f ms, and %.0f ms beside them" % (what, alone * 1e3, beside * 1e3))
    # with a ledger that is read once for each lease these took seconds
    assert all(beside - alone < (1 if what == "looks" else 0.4) for what, (alone, beside) in times.items()), times


@case("L24", "The size of one user's leases is limited, too; ended leases go first; root has no limit", 40)
def l24():
    uid = pwd.getpwnam("attacker").pw_uid
    folder = {"gpus": None, "folders": "/srv/ro"}
    with asker("attacker") as a, asker("attacker") as b:
        granted(a.grant(id="one", **folder))
        copies = Copies("one", a.pid)
        try:
            for n in range(63):
                copies.plant(uid, n, 32 * 1024)
            granted(b.grant(id="last", **folder))
            copies.plant(uid, 63, 32 * 1024)
            refused(b.grant(id="more", **folder), 75, "2 MiB")
            granted(once("victim", exchange, **folder))
            for n in range(64):
                copies.plant(0, n, 32 * 1024)
            granted(once("root", exchange, **folder))
            a.end()
            granted(b.grant(id="more", **folder))
            assert not [p for p in copies.paths if "-%d-" % uid in p and os.path.exists(p)]
        finally:
            copies.remove()


def spawn_held():
    """In the asker: starts a child to be the container's first process."""
    held.append(subprocess.Popen(["sleep", "60"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
    return held[-1].pid


@case("L27", "A container's long cgroup name does not push a lease over its user's limit", 40)
def l27():
    uid = pwd.getpwnam("attacker").pw_uid
    folder = {"gpus": None, "folders": "/srv/ro"}
    # each of these bytes takes three in a lease
    deep = CGROUP + ("/" + "\x01" * 200) * 12

    def show(a, name):
        pid = a.call(spawn_held)
        with open(cgroup.dirs[-1] + "/cgroup.procs", "w") as f:
            f.write(str(pid))
        try:
            return a.call(exchange, verb="created", id=name, gpus=None)
        finally:
            os.kill(pid, 9)

    def taken():
        return sum(os.path.getsize(p) for p in glob.glob(RUN + "/leases/*-%d-*" % uid))

    with Cgroup(deep) as cgroup, asker("attacker") as a, asker("attacker") as b:
        cgroup.p.kill()
        cgroup.p.wait()
        granted(a.grant(id="one", **folder))
        before = taken()
        answer = show(a, "one")
        assert answer[1].get("reply") == "noted" and taken() > before + 3 * 2300, (answer, before, taken())
        granted(b.grant(id="two", **folder))
        copies = Copies("two", b.pid)
        try:
            for n in range(62):
                copies.plant(uid, n, 32 * 1024)
            while taken() < (2 << 20) - 6000:
                copies.plant(uid, len(copies.paths), 2048)
            before = taken()
            assert before < 2 << 20, before
            refused(show(b, "two"), 75, "2 MiB")
            assert taken() == before, "%d and %d bytes" % (before, taken())
        finally:
            copies.remove()


@case("L27d", "A container's long cgroup name does not make a lease too long to read, which would stop everybody it concerns", 20)
def l27d():
    with asker("attacker") as a:
        granted(a.grant(id="one", gpus=GPU0))
        path, = glob.glob(RUN + "/leases/*")
        now, = leases()
        # «draining» is longer than «held»
        room = (1 << 20) - 2 - len(lease.write(now)) - len("cgroup \n")
        put_lease(path, now, cgroups=now["cgroups"] + ["x" * room])
        assert os.path.getsize(path) == (1 << 20) - 2
        with Openable():
            a.grant(verb="release", id="one", gpus=None)
        assert os.path.getsize(path) <= 1 << 20, os.path.getsize(path)
        refused(once("victim", exchange, gpus=GPU0), *BUSY)
        put_lease(path, now)


def tell_held(**fields):
    """In the asker: sends a request to the helper that hold() started."""
    held[0].ask(**fields)


def hear_held():
    return held.pop(0).result()


def show_child(name):
    """In the asker: reports a child of its own as the first process of this container."""
    spawn_held()
    try:
        return exchange(verb="created", id=name, gpus=None)
    finally:
        held[-1].kill()
        held.pop().wait()


@case("L27b", "Neither another process of the same user nor root can name the first process of a lease's container")
def l27b():
    folder = {"gpus": None, "folders": "/srv/ro"}
    with asker("attacker") as a, asker("attacker") as b, asker("root") as r:
        granted(a.grant(id="x", **folder))
        before = leases()
        for other in b, r:
            refused(other.call(show_child, "x"), 77, "has no lease that this process requested")
            assert leases() == before, leases()
        answer = a.call(show_child, "x")
        assert answer == (0, {"reply": "noted"}) and leases() != before, (answer, leases())


@case("L27e", "A process with the PID of the one that asked, and begun at another time, can't name it either")
def l27e():
    with asker("attacker") as a:
        granted(a.grant(id="x", gpus=None, folders="/srv/ro"))
        path, = [p for p in glob.glob("/run/gpuhelper/leases/*") if os.path.isfile(p) and "." not in os.path.basename(p)]
        text = read(path)
        asked = re.search(r"^asker (\d+) (\d+)$", text, re.M)
        write(path, text.replace(asked.group(), "asker %s %d" % (asked.group(1), int(asked.group(2)) - 1)))
        before = read(path)
        refused(a.call(show_child, "x"), 77, "has no lease that this process requested")
        assert read(path) == before
        write(path, text)
        assert a.call(show_child, "x") == (0, {"reply": "noted"})


def have_number(pid):
    """Starts a process that gets this PID, which must be free."""
    for _ in range(20):
        write_raw("/proc/sys/kernel/ns_last_pid", str(pid - 1))
        p = subprocess.Popen(["sleep", "60"])
        if p.pid == pid:
            return p
        p.kill()
        p.wait()
    raise Skip("no process gets number %d here" % pid)


def bury():
    """In the asker: waits for its child, which has ended."""
    held.pop().wait()


@case("L27c", "A container's first process ends during the check, and its PID is reused: refused", 20)
def l27c():
    if not os.access("/proc/sys/kernel/ns_last_pid", os.W_OK):
        raise Skip("numbers of processes can't be chosen here")
    with asker("attacker") as a:
        granted(a.grant(id="x", gpus=None, folders="/srv/ro"))
        before = leases()
        helper, child = a.call(hold), a.call(spawn_held)
        inside(helper)
        # the helper reads it once for its status, and once for its start time
        with background(program("stopat"), str(helper), str(child), "2", stdin=subprocess.PIPE) as tracer:
            assert tracer.stdout.readline() == b"traced\n"
            a.call(tell_held, verb="created", id="x", gpus=None)
            assert tracer.stdout.readline() == b"at\n"
            os.kill(child, signal.SIGKILL)
            a.call(bury)
            other = have_number(child)
            try:
                tracer.stdin.write(b"\n")
                tracer.stdin.flush()
                refused(a.call(hear_held), 74, "can't find its first process")
            finally:
                other.kill()
                other.wait()
        assert leases() == before, leases()


def stopped_with_lease():
    """Returns (asker, tracer, helper), stopped when the lease of container x is written and not logged yet."""
    for n in range(1, 40):
        a = Asker("attacker")
        helper = a.call(hold)
        inside(helper)
        tracer = subprocess.Popen([program("stopat"), str(helper), "srv", str(n)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert tracer.stdout.readline() == b"traced\n"
        since = len(records())
        a.tell(tell_held, id="x", gpus=GPU0, folders="/srv/ro")
        assert tracer.stdout.readline() == b"at\n", "it opens the folder no more often"
        if leases() and len(records()) == since:
            return a, tracer, helper
        tracer.communicate(b"\n")
        a.end()
        gone(helper)
        client.look()
        assert leases() == [], leases()
    raise AssertionError("it never opens the folder with its lease written")


@case("L30", "An asker ends before its grant is logged, and another one gets the GPU: the log shows one after the other", 30)
def l30():
    a, tracer, helper = stopped_with_lease()
    since = len(records())
    try:
        a.end()
        with asker("victim") as b:
            granted(b.grant(id="y", gpus=GPU0))
            tracer.communicate(b"\n")
            gone(helper)
            told = [(r["event"], r["container"]) for r in records()[since:]]
            assert told == [("end", "x"), ("grant", "y"), ("refuse", "x")], told
    finally:
        tracer.kill()
        tracer.wait()


@case("L25", "An unreadable lease, or one whose name omits a user or GPU, blocks the grants that it may concern, and stays")
def l25():
    uid = pwd.getpwnam("attacker").pw_uid
    with asker("attacker") as a:
        granted(a.grant(id="mine", gpus=GPU0))
        copies = Copies("mine", a.pid)
        flags, signature = copies.flags
        try:
            # the name has another container's key; the name has another user; the name is right, and the content is no lease
            for plant in (lambda: copies.plant(uid, 1, name="-".join(["0" * 64, str(uid), flags, signature])),
                          lambda: copies.plant(uid + 1, 1, name=os.path.basename(copies.plant(uid, 1))),
                          lambda: write(copies.plant(uid, 1), "{}", 0o600)):
                copies.remove()
                plant()
                path = copies.paths[-1]
                refused(once("victim", exchange, gpus=GPU0), 78, os.path.basename(path))
                assert os.path.exists(path)
                granted(once("victim", exchange, gpus=GPU1))
            copies.remove()
            # the name leaves out the GPU: requests of its user, for its container, and of root find it
            path = copies.plant(uid, 1, flags=["0", "0" * 16])
            for user, fields in ("attacker", {"verb": "look", "gpus": None}), ("root", {"verb": "look", "gpus": None}), \
                    ("attacker", {"id": "mine-1", "gpus": GPU1}):
                refused(once(user, exchange, **fields), 78, os.path.basename(path))
            granted(once("victim", exchange, gpus=GPU1))
            copies.remove()
            # a name that says too much is harmless
            copies.plant(uid, 1, flags=["7", "f" * 16])
            granted(once("victim", exchange, gpus=GPU1))
        finally:
            copies.remove()


@case("L39", "A user who names another's container as shut out has its lease neither read nor ended")
def l39():
    with asker("victim") as v:
        granted(v.grant(id="v", gpus=None, folders="/srv/ro"))
        name, = [n for n in os.listdir("/run/gpuhelper/leases") if re.match("[0-9a-f]{64}-", n) and "." not in n]
    # its container is gone: whoever reads the lease ends it
    shut = {"shut": [name[:64]], "gpus": GPU0}
    granted(once("attacker", exchange, id="x", **shut))
    assert os.path.exists("/run/gpuhelper/leases/" + name), "a user's request has ended it"
    granted(once("root", exchange, id="y", uids=None, gids=None, uid=0, gid=0, cgroups_path="/x", **{**shut, "gpus": None, "folders": "/srv/ro"}))
    assert not os.path.exists("/run/gpuhelper/leases/" + name), "the control: root's request has not ended it"
    client.look()


@case("L26", "GPUs are kept for waiting requests even if no lease of the requested GPU is left")
def l26():
    with etc(), asker("root") as first, asker("root") as second, asker("attacker") as a, asker("victim") as v:
        write(POLICIES + "/10-waits.conf", 'identity = "caller"; callers = [ "attacker" ]; '
              'gpus = ( { vendor = "nvidia"; wait = 60; } );')
        granted(first.grant(id="first", gpus=GPU0))
        granted(second.grant(id="second", gpus=GPU1))
        assert a.grant(gpus="1")[1]["reply"] == "busy"
        second.end()
        # the waiter would take GPU 0, too, whose lease is not among those of the requested GPU
        refused(v.grant(gpus=GPU1), 75, "1 waiting before this one")
        granted(a.grant(gpus="1"))
    client.look()


def touch_record(path):
    """In the asker: reads an exec record, from its own user namespace, too; returns what else it could change."""
    changed = []
    for name, act in (("written", lambda: os.open(path, os.O_WRONLY)), ("chmod", lambda: os.chmod(path, 0o666)),
                      ("removed", lambda: os.unlink(path)), ("renamed", lambda: os.rename(path, path + "x")),
                      ("made", lambda: os.mkdir(path + ".dir")), ("opened up", lambda: os.chmod(os.path.dirname(path), 0o777)),
                      ("ACL", lambda: os.removexattr(os.path.dirname(path), "system.posix_acl_access"))):
        try:
            act()
            changed.append(name)
        except OSError:
            pass
    inside = subprocess.run(["unshare", "-Ur", "cat", path], capture_output=True, text=True)
    return read(path), inside.stdout, changed


def see_record(path):
    """In the asker: what it can learn about the record."""
    seen = []
    for name, act in ("listed", lambda: os.listdir(os.path.dirname(path))), ("stat", lambda: os.stat(path)), ("read", lambda: read(path)):
        try:
            act()
            seen.append(name)
        except OSError:
            pass
    return seen


@contextlib.contextmanager
def primary_group(user, group):
    """Some workers are set up like this."""
    before = grp.getgrgid(pwd.getpwnam(user).pw_gid).gr_name
    subprocess.run(["usermod", "-g", group, user], check=True)
    try:
        yield
    finally:
        subprocess.run(["usermod", "-g", before, user], check=True)


def record_of(holder):
    """The directory of the exec record after a grant, made as an older version made it."""
    directory = "%s/exec/%d" % (RUN, holder.call(os.getuid))
    os.chmod(directory, 0o750)
    os.chown(directory, 0, grp.getgrnam("gpuhelper").gr_gid)
    granted(holder.grant())
    record, = glob.glob(directory + "/*")
    return record


@case("L19", "Only the container's user can read a policy's env, whatever group the workers share")
def l19():
    with etc(), primary_group("victim", "gpuhelper"):
        write(POLICIES + "/10-key.conf", 'identity = "caller"; callers = [ "victim", "root" ]; '
              'env = { WANDB_API_KEY = "s3cret"; }; gpus = ( { vendor = "nvidia"; } );')
        with asker("attacker") as a, asker("victim") as v, asker("root") as r:
            for holder in v, r:
                record = record_of(holder)
                assert a.call(see_record, record) == [], record
                assert once("nobody", see_record, record) == [], record
                if holder == v:
                    text, inside, changed = v.call(touch_record, record)
                    assert "s3cret" in text and inside == text and changed == [], (text, inside, changed)


@case("L20", "The holders of GPUs and the waiting requests are shown to the same Unix user only, whatever team a request claims")
def l20():
    with etc():
        write(POLICIES + "/10-secret.conf", 'identity = "claim"; pipeline = "secret/*"; '
              'gpus = ( { vendor = "nvidia"; count = 2; wait = 60; } );')
        write(POLICIES + "/05-now.conf", 'identity = "claim"; pipeline = "secret/now"; gpus = ( { vendor = "nvidia"; count = 2; } );')
        with asker("victim") as v, asker("victim") as w, asker("attacker") as a:
            granted(v.grant(id="hold-er", team="secret", pipeline="project-x", gpus="2"))
            assert w.grant(id="wait-er", team="secret", pipeline="project-y", gpus="1")[1]["reply"] == "busy"
            told = [a.grant(team="secret", pipeline="now"), a.grant(team="secret", pipeline="z"),
                    a.grant(verb="status", gpus=None), a.grant(verb="look", gpus=None), a.grant(verb="reapply", gpus=None)]
            assert [t[1]["reply"] for t in told] == ["refused", "busy", "noted", "noted", "noted"], told
            for word in "project", "-er", str(v.call(os.getuid)):
                assert word not in json.dumps(told), (word, told)
            mine = json.dumps(v.grant(verb="status", gpus=None))
            assert "hold-er" in mine and "wait-er" in mine and "project-y" in mine, mine
        # the next request for a GPU removes the place of a process that is gone
        granted(once("victim", exchange))


class Queue:
    """Plants places in the queue, as if live processes had asked just now."""

    def __init__(self):
        self.planted = {}

    def plant(self, count, uid, pid):
        start = read("/proc/%d/stat" % pid).rpartition(")")[2].split()[19]
        for _ in range(count):
            path = "%s/queue/%064x" % (RUN, len(self.planted))
            turn = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
            self.planted[path] = "waiter 5 p - %d %d %s 0 0 %d 0 600\nby p 0 5 86400\nend\n" % (uid, pid, start, turn)

    def ask(self, who, ident):
        for _ in range(5):
            for path, text in self.planted.items():
                if not os.path.exists(path):
                    write(path, text, 0o600)
            now = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
            for path in glob.glob(RUN + "/queue/*"):
                os.utime(path, ns=(now, now))
            answer = who.grant(id=ident)[1]
            # on a machine that was too busy they have lost their places
            if all(os.path.exists(path) for path in self.planted):
                break
        return answer

    def empty(self):
        for path in glob.glob(RUN + "/queue/*"):
            os.unlink(path)


@case("L22", "One user's places in the queue are limited, and leave room for other users; all places together are limited, too", 40)
def l22():
    queue = Queue()
    with etc(), asker("root") as holder, asker("attacker") as a, asker("victim") as v:
        write(POLICIES + "/10-waits.conf", 'identity = "caller"; callers = [ "attacker", "victim" ]; '
              'gpus = ( { vendor = "nvidia"; wait = 600; } );')
        try:
            granted(holder.grant(gpus="2"))
            queue.plant(255, a.call(os.getuid), a.pid)
            assert queue.ask(a, "first")["reply"] == "busy"
            refused(queue.ask(a, "second"), 75, "too many containers wait")
            assert queue.ask(v, "first")["reply"] == "busy"
            # a waiter keeps its place
            assert queue.ask(a, "first")["reply"] == "busy"
            queue.plant(1024 - 255 - 2 - 1, 40000, a.pid)
            assert queue.ask(v, "second")["reply"] == "busy"
            refused(queue.ask(v, "third"), 75, "too many containers wait")
            assert queue.ask(v, "second")["reply"] == "busy"
        finally:
            queue.empty()


# The log

def new_lines(function):
    start = os.path.getsize(LOG)
    function()
    with open(LOG, "rb") as f:
        f.seek(start)
        return f.read()


@case("G1", "Line breaks, escapes, direction marks, format strings and 64 KiB in each field: each makes one short line of ASCII")
def g1():
    odd = "a\nb\r\x1b[2J\u202e\x9b\x7f%n%s{\"event\":\"grant\"}\u2028\u0085" + "x" * 60000

    def ask():
        for field in "team", "pipeline", "job", "gpus", "folders", "reason", "cgroups_path", "runtime_root", "id", \
                "token", "instance_vars", "label", "mount_label", "init_path", "cuda_visible":
            for value in odd, odd[:300], odd[:40]:
                fields = {field: value}
                if field in ("team", "pipeline", "job"):
                    fields = {"team": "t", "pipeline": "p", field: value}
                status, answer = once("attacker", exchange, **fields)
                assert status in (0, 65, 69, 77, 78) and "\n" not in answer.get("text", ""), (field, status)
                assert all(32 <= ord(c) and c not in "\x7f\x9b\u202e\u2028" for c in answer.get("text", "")), answer
        once("attacker", exchange, verb="refused", reason=odd[:2000], gpus=None)
        once("attacker", exchange, verb="plain", team=odd[:500], gpus=None)
    data = new_lines(ask)
    lines = data.split(b"\n")
    assert lines.pop() == b"" and len(lines) > 10
    for line in lines:
        assert len(line) <= 4096 and all(32 <= c < 127 for c in line), line[:200]
        assert json.loads(line)["uid"] == client.pwd.getpwnam("attacker").pw_uid


@case("G2", "A reason that looks like a record, a field or a grant stays text")
def g2():
    forged = '"}\n{"event":"grant","uid":0,"user":"root","policy":"x"}\nMESSAGE=x\n_UID=0'
    data = new_lines(lambda: once("attacker", exchange, verb="refused", reason=forged, gpus=None, id="g2"))
    lines = [json.loads(l) for l in data.splitlines()]
    assert len(lines) == 1 and lines[0]["event"] == "refuse" and lines[0]["user"] == "attacker", lines
    assert lines[0]["reason"].startswith("gpuhelper-runc: "), lines


@case("G3", "Without a log nothing is granted")
def g3():
    log = os.path.dirname(LOG)
    for spoil in (lambda: os.rename(log, log + ".x"), lambda: os.chmod(log, 0o770),
                  lambda: (os.unlink(LOG), os.symlink("/dev/null", LOG)), lambda: (os.unlink(LOG), os.mkfifo(LOG)),
                  lambda: (os.unlink(LOG), os.mkdir(LOG)), lambda: os.chown(LOG, 1001, 1001), lambda: os.chown(log, 1001, 0)):
        with kept(log):
            spoil()
            try:
                status, answer = once("attacker", exchange)
                assert status in (74, 78) and answer["reply"] == "refused", (status, answer)
            finally:
                if os.path.exists(log + ".x"):
                    os.rename(log + ".x", log)


@case("G3c", "A link to root's file in place of the log: nothing is granted, and nothing is written there")
def g3c():
    log, other = os.path.dirname(LOG), "/etc/gpuhelper/other"
    with kept(log), etc():
        write(other, "root's\n", 0o600)
        os.unlink(LOG)
        os.symlink(other, LOG)
        refused(once("attacker", exchange), 74, LOG)
        refused(once("attacker", exchange, verb="refused", reason="x", gpus=None), 74, LOG)
        assert read(other) == "root's\n", read(other)


@case("L35", "A user who says that tasks can take GPUs gets an ordinary grant: only root's engine is promised any")
def l35():
    with asker("attacker") as a:
        granted(a.grant(id="x", promises=True))
        assert [(l["state"], len(l["gpus"]), "pausing" in l) for l in leases()] == [("held", 1, False)], leases()
        refused(a.grant(verb="task", id="x", gpus=None, waiter=[a.pid, 1]), 77, "was promised no GPU")


@case("L38", "Requests for a task's turn or its end, of strangers or for strangers: nothing is taken, and nothing given back")
def l38():
    with asker("root") as holder, asker("attacker") as a:
        granted(holder.grant(id="h", promises=True))
        before, log = leases(), len(records())
        for who in a, holder:
            for waiter in [a.pid, 1], [holder.pid, 1], [1, 0], [0, 0], [2**31 - 1, 2**64 - 1]:
                for ident in "h", "unknown":
                    refused(who.grant(verb="task", id=ident, gpus=None, waiter=waiter), 77, "was promised no GPU")
                    assert who.grant(verb="over", id=ident, gpus=None, waiter=waiter)[1] == {"reply": "noted"}
        assert leases() == before and os.listdir(RUN + "/queue") == [], leases()
        assert {r["event"] for r in records()[log:]} <= {"refuse"}, records()[log:]


@case("L34", "A state directory that is not root's: nothing is granted, and the helper does not make it root's")
def l34():
    uid = pwd.getpwnam("attacker").pw_uid
    granted(once("attacker", exchange))
    client.look()
    for name in "exec", "exec/%d" % uid, "leases", "queue", "locks", "rate":
        path = RUN + "/" + name
        st = os.stat(path)
        for owner, mode in ((uid, 0o700), (pwd.getpwnam("victim").pw_uid, 0o711)):
            os.chown(path, owner, 0)
            os.chmod(path, mode)
            try:
                refused(once("attacker", exchange), 78, "%s belongs to uid %d and not to root" % (name, owner))
                assert os.stat(path).st_uid == owner, name
            finally:
                os.chown(path, st.st_uid, st.st_gid)
                os.chmod(path, st.st_mode & 0o7777)
            # a lease that could not be undone there has kept its GPU until now
            client.look()
    granted(once("attacker", exchange))


MIB = 1 << 20
REFUSAL, PLAIN, GRANT, EXEC = range(4)


class Counted:
    """A user's counts for the day and the minute, by kind of record (rate.c)."""
    form = "qqQQQQIIIIIII4x"

    def __init__(self, user):
        os.makedirs(RUN + "/rate", mode=0o700, exist_ok=True)
        self.path = "%s/rate/%d" % (RUN, pwd.getpwnam(user).pw_uid)

    def __enter__(self):
        left = 60 - time.time() % 60
        if left < 20:        # so that neither minute nor day ends in between
            time.sleep(left + 0.1)
        return self

    def __exit__(self, *e):
        if os.path.exists(self.path):
            os.unlink(self.path)

    def set(self, total=(), written=(), left_out=0, told=0, looks=0, minutes=0, days=0):
        now = int(time.time())
        total, written = (tuple(v) + (0,) * (EXEC + 1 - len(v)) for v in (total, written))
        with open(self.path, "wb") as f:
            f.write(struct.pack(self.form, now // 86400 + days, now // 60 + minutes, *total, *written, left_out, told, looks))

    @contextlib.contextmanager
    def locked(self):
        """As if another helper of the user's had it."""
        with open(self.path, "rb+") as f:
            fcntl.flock(f, fcntl.LOCK_EX)
            yield

    def get(self):
        with open(self.path, "rb") as f:
            v = struct.unpack(self.form, f.read())
        return {"bytes": v[2:6], "written": v[6:10], "left_out": v[10], "looks": v[12]}


def refusals(count):
    return [once("attacker", exchange, verb="refused", reason="r%d" % i, gpus=None, id="g") for i in range(count)]


@case("G3b", "A log that others own or may write: nothing is granted or written, and the refusal names the log")
def g3b():
    uid = pwd.getpwnam("attacker").pw_uid
    # root needs no CAP_DAC_OVERRIDE to write any of these
    for spoil in (lambda: os.chmod(LOG, 0o660), lambda: os.chmod(LOG, 0o642), lambda: os.chmod(LOG, 0o666),
                  lambda: (os.chown(LOG, uid, 0), os.chmod(LOG, 0o666)), lambda: (os.chown(LOG, uid, 0), os.chmod(LOG, 0o660)),
                  lambda: subprocess.run(["setfacl", "-m", "u:attacker:rw", LOG], check=True)):
        with kept(os.path.dirname(LOG)):
            spoil()
            size = os.path.getsize(LOG)
            refused(once("attacker", exchange), 78, LOG)
            refused(once("attacker", exchange, verb="refused", reason="x", gpus=None), 78, LOG)
            assert os.path.getsize(LOG) == size


@case("G4", "One user cannot flood the log, and delays nobody by trying", 40)
def g4():
    with Counted("attacker") as counted:
        counted.set(written=(599, 600, 3000))
        data = new_lines(lambda: refusals(4))
        assert len(data.splitlines()) == 1, data
        status, answer = once("attacker", exchange)
        assert status == 75 and "in a minute" in answer["text"], (status, answer)
        status, answer = once("attacker", exchange, verb="plain", gpus=None)
        assert status == 75 and "in a minute" in answer["text"], (status, answer)
        status, answer = once("root", exchange)
        assert answer["reply"] == "grant", answer
        counted.set(written=(600, 0, 3000), left_out=7, minutes=-1)
        data = new_lines(lambda: once("attacker", exchange, verb="refused", reason="next", gpus=None, id="g4"))
        assert json.loads(data)["suppressed"] == 7, data


@case("G5", "A user's records have a daily quota: one line says so, the rest is counted and reported, and every grant is logged", 40)
def g5():
    with Counted("attacker") as counted:
        counted.set(total=(16 * MIB - 1, 0, 0))
        lines = [json.loads(l) for l in new_lines(lambda: refusals(5)).splitlines()]
        assert [l["event"] for l in lines] == ["refuse", "quota"], lines
        assert "16 MiB" in lines[1]["reason"] and lines[1]["user"] == "attacker", lines
        lines = [json.loads(l) for l in new_lines(lambda: granted(once("attacker", exchange))).splitlines()]
        assert lines[0]["event"] == "grant" and lines[0]["suppressed"] == 4, lines
        granted(once("victim", exchange))
        assert new_lines(lambda: refusals(2)) == b"" and counted.get()["left_out"] == 2
        # the next record, or root's next look, reports an earlier day's count, once
        counted.set(left_out=7, days=-1)
        lines = [json.loads(l) for l in new_lines(client.look).splitlines() if b"left-out" in l]
        assert [(l["uid"], l["suppressed"]) for l in lines] == [(pwd.getpwnam("attacker").pw_uid, 7)], lines
        assert b"left-out" not in new_lines(client.look)
        counted.set(total=(16 * MIB, 64 * MIB, 256 * MIB), left_out=7, told=7, days=-1)
        lines = [json.loads(l) for l in new_lines(lambda: refusals(1)).splitlines()]
        assert [(l["event"], l["suppressed"]) for l in lines] == [("refuse", 7)], lines


@case("G20", "Execs into a container with a lease are recorded, others not; beyond the limit they go on, and the log counts them", 60)
def g20():
    def execs(count, user="attacker", **more):
        for _ in range(count):
            assert once(user, exchange, verb="exec", gpus=None, **{"id": "x", **more})[1]["reply"] == "noted"

    def told(doing):
        return [json.loads(l) for l in new_lines(doing).splitlines() if b'"event":"end"' not in l]

    with Counted("attacker") as counted, asker("attacker") as a:
        granted(a.grant(id="x"))
        counted.set()
        lines = told(lambda: execs(1))
        assert [(l["event"], l["container"], l["user"], l["policy"], l["gpus"]) for l in lines] == [
            ("exec", "x", "attacker", "50-attacker.conf", ["nvidia 0000:3b:00.0"])], lines
        assert "reason" not in lines[0] and counted.get()["written"] == (0, 0, 0, 1), (lines, counted.get())
        # no container, another user's container, another runtime's
        assert told(lambda: (execs(1, id="none"), execs(1, "victim"), execs(1, runtime_root="/other"))) == []
        # the request's own claims are not in the record
        lines = told(lambda: execs(1, folders="/etc", team="ml", pipeline="train", instance_vars='{"a":1}', reason="r", privileged=True))
        assert len(lines) == 1 and not {"asked_folders", "team", "pipeline", "instance_vars", "reason", "privileged"} & set(lines[0]), lines
        counted.set(written=(0, 0, 0, 2999))
        assert [l["event"] for l in told(lambda: execs(5))] == ["exec"] and counted.get()["left_out"] == 4
        counted.set(written=(0, 0, 0, 3000), left_out=4, minutes=-1)
        lines = told(lambda: execs(1))
        assert [(l["event"], l["suppressed"]) for l in lines] == [("exec", 4)], lines
        counted.set(total=(0, 0, 0, 64 * MIB))
        lines = told(lambda: execs(3))
        assert [l["event"] for l in lines] == ["quota"] and "64 MiB" in lines[0]["reason"] and counted.get()["left_out"] == 3, lines
        # execs and refusals have separate counts
        assert [l["event"] for l in told(lambda: refusals(1))] == ["refuse"]
        counted.set()
        with log_full():
            answer = once("attacker", exchange, verb="exec", gpus=None, id="x")[1]
            assert answer["reply"] == "noted" and "not in " + LOG in str(answer), answer
        # another helper of the user's has the count for too long: the log does not tell of that, so the user is told
        with counted.locked():
            answer = once("attacker", exchange, verb="exec", gpus=None, id="x")[1]
            assert answer["reply"] == "noted" and "not in " + LOG in str(answer), answer


@case("G20c", "The record of an exec names the pipeline of the container's grant, whatever the exec claims", 30)
def g20c():
    def exec_of(verb):
        claim = {"team": "ml", "pipeline": "other", "gpus": None}
        return [json.loads(l) for l in new_lines(lambda: once("attacker", exchange, verb=verb, id="x", **claim)).splitlines()]

    with etc():
        write(POLICIES + "/10-any.conf", 'identity = "claim"; pipeline = "*/*"; gpus = ( { vendor = "nvidia"; count = 2; } );')
        with asker("attacker") as a:
            granted(a.grant(id="x", team="ml", pipeline="train"))
            lines = exec_of("exec")
            assert [(l["event"], l["team"], l["pipeline"]) for l in lines] == [("exec", "ml", "train")], lines
            assert "identity" not in lines[0], lines
            # only what was promised can be taken, and only root's engine is promised anything
            for verb in "task", "over":
                answer = once("attacker", exchange, verb=verb, id="x", gpus=None, waiter=[os.getpid(), 1])[1]
                assert answer["reply"] == ("refused" if verb == "task" else "noted"), answer


@case("G6", "A grant that could not be recorded is refused; the size counted for a grant covers its end record", 40)
def g6():
    with Counted("attacker") as counted:
        counted.set(total=(0, 64 * MIB, 256 * MIB))
        lines = [json.loads(l) for l in new_lines(lambda: refused(once("attacker", exchange), 75, "256 MiB")).splitlines()]
        assert [l["event"] for l in lines if l["event"] != "end"] == ["quota", "refuse"], lines
        assert leases() == [], leases()
        refused(once("attacker", exchange, verb="plain", gpus=None), 75, "64 MiB")
        granted(once("victim", exchange))
        counted.set()
        data = new_lines(lambda: (granted(once("attacker", exchange, id="x" * 250, gpus=None, folders="/srv/ro")), client.look()))
        assert b'"end"' in data and len(data) <= counted.get()["bytes"][GRANT], (len(data), counted.get())


def rotate():
    """Rotates as the daily timer does, with the installed configuration."""
    state = "/run/rotated"
    with open(state, "w") as f:        # yesterday's state, because logrotate waits until a day is over
        f.write('logrotate state -- version 2\n"%s" 2020-1-1-0:0:0\n' % LOG)
    r = subprocess.run(["logrotate", "-v", "-s", state, "/etc/logrotate.d/gpuhelper"], stdout=subprocess.PIPE,
                       stderr=subprocess.STDOUT, text=True)
    assert r.returncode == 0 and "error" not in r.stdout, r.stdout
    return [p for p in glob.glob(LOG + "-*") if not p.endswith(".gz")]


def is_roots(path):
    st = os.stat(path)
    return st.st_uid == 0 and st.st_gid == grp.getgrnam("gpuhelper").gr_gid and st.st_mode & 0o7777 == 0o640


@case("G9", "logrotate loses no record, the new log is root's with the same mode, and the quota continues")
def g9():
    if not shutil.which("logrotate"):
        raise Skip("there is no logrotate: sh tests/deps.sh check")
    with kept(os.path.dirname(LOG)), Counted("attacker") as counted:
        counted.set(total=(16 * MIB - 1, 0, 0))
        once("root", exchange, id="before")
        halfway = Helper().ask(id="halfway")
        assert halfway.kind() == "grant", halfway.answer
        refusals(1)
        old, = rotate()
        assert not os.path.exists(LOG) and is_roots(old), os.listdir(os.path.dirname(LOG))
        halfway.close()
        halfway.wait()
        assert is_roots(LOG)
        refusals(2)
        events = [[(r["event"], r.get("container")) for r in map(json.loads, read(p).splitlines())] for p in (old, LOG)]
        for wanted in ("grant", "before"), ("end", "before"), ("grant", "halfway"), ("refuse", "g"):
            assert wanted in events[0], (wanted, events)
        assert events[1] == [("undo", "halfway"), ("quota", None)] and counted.get()["left_out"] == 2, events


@case("G10", "An administrator decides who reads the log: mode and group stay, and a new log gets its directory's group")
def g10():
    folder, ours = os.path.dirname(LOG), grp.getgrnam("gpuhelper").gr_gid
    auditors = pwd.getpwnam("victim").pw_gid

    def facts(path):
        st = os.stat(path)
        return st.st_uid, st.st_gid, st.st_mode & 0o7777

    def reads(user):
        try:
            return once(user, read, LOG) != ""
        except AssertionError:
            return False

    with kept(folder):
        assert reads("attacker") and facts(folder) == (0, ours, 0o750), facts(folder)
        for group, mode in (auditors, 0o750), (0, 0o700), (ours, 0o700):
            os.chown(folder, 0, group)
            os.chmod(folder, mode)
            os.chown(LOG, 0, group)
            os.chmod(LOG, 0o600)
            granted(once("attacker", exchange, gpus="1"))
            assert facts(folder) == (0, group, mode) and facts(LOG) == (0, group, 0o600), (facts(folder), facts(LOG))
            os.rename(LOG, LOG + "-old")
            granted(once("attacker", exchange, gpus="1"))
            assert facts(folder) == (0, group, mode) and facts(LOG) == (0, group, 0o640), (facts(folder), facts(LOG))
            assert not reads("attacker")
            assert reads("victim") == (group == auditors)


@case("G8", "Looks, status requests and reapplies are refused beyond 600 a minute", 40)
def g8():
    verbs = "look", "status", "reapply"
    with Counted("attacker") as counted:
        counted.set()
        for verb in verbs:
            assert once("attacker", exchange, verb=verb, gpus=None)[1]["reply"] == "noted"
        assert counted.get()["looks"] == 3 and counted.get()["written"] == (0, 0, 0, 0), counted.get()
        counted.set(looks=599)
        assert once("attacker", exchange, verb="status", gpus=None)[1]["reply"] == "noted"
        for verb in verbs:
            data = new_lines(lambda: refused(once("attacker", exchange, verb=verb, gpus=None), 75, "600", "in a minute"))
            assert data == b"", data
        assert counted.get()["looks"] == 600 and counted.get()["left_out"] == 0, counted.get()
        # release, grants, other users and root are not limited
        with asker("attacker") as a:
            granted(a.grant(id="g8", gpus=None, folders="/srv/ro"))
            assert a.grant(verb="release", id="g8", gpus=None) == (0, {"reply": "noted"})
            # the asker is alive, so the lease is released and still in use
            assert [l["state"] for l in leases()] == ["draining"], leases()
        for user in "victim", "root":
            assert once(user, exchange, verb="look", gpus=None)[1]["reply"] == "noted"
        counted.set(looks=600, minutes=-1)
        assert once("attacker", exchange, verb="look", gpus=None)[1]["reply"] == "noted"
        assert counted.get()["looks"] == 1


def many_refusals(count):
    """In the asker: so many refusals, at most as many at once as a user has places (SLOTS_MAX, with the asker's own helper)."""
    said = []
    while len(said) < count:
        helpers = [Helper().ask(verb="refused", reason="r", gpus=None) for _ in range(min(15, count - len(said)))]
        said += [h.result()[0] for h in helpers]
    return said


@case("G9b", "If a user's records cannot be counted, that user is granted nothing, and told why; ending leases still works", 40)
def g9():
    uid = pwd.getpwnam("attacker").pw_uid
    count, gone = "%s/rate/%d" % (RUN, uid), {"verb": "look", "gpus": None}
    with asker("attacker") as a:
        granted(a.grant(id="g9", gpus=GPU0))
        with spoilt(count):
            new = new_lines(lambda: refused(once("attacker", exchange, gpus=GPU1), 74, count, "can't be counted"))
            assert b'"grant"' not in new and len(leases()) == 1, (new, leases())
            # the refusal says that it is not in the log
            refused(once("attacker", exchange, gpus="9"), 77, "9 GPUs asked for", LOG, count)
            refused(once("attacker", exchange, verb="plain", gpus=None), 74, count)
            for verb in "status", "reapply":
                refused(once("attacker", exchange, verb=verb, gpus=None), 74, count)
            assert once("attacker", exchange, **gone)[1]["reply"] == "noted" and len(leases()) == 1
            granted(once("victim", exchange, gpus=GPU1))
            granted(once("root", exchange, gpus=GPU1))
            a.end()
            assert once("attacker", exchange, **gone)[1]["reply"] == "noted"
            assert [l for l in leases() if l["uid"] == uid] == [], leases()
    # a file that can be opened but not written, as on a full file system
    if not os.path.exists(count):
        granted(once("attacker", exchange))
    with nearly_full(RUN + "/rate"):
        refused(once("attacker", exchange), 74, count, "can't be counted")
        assert once("attacker", exchange, **gone)[1]["reply"] == "noted"
        granted(once("root", exchange))


@contextlib.contextmanager
def nearly_full(path):
    """Mounts a file system of one page on this directory, and fills it."""
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4k,mode=700", "full", path], check=True)
    try:
        write(path + "/all", "x" * 4096)
        yield
    finally:
        subprocess.run(["umount", path], check=True)


@case("G7", "Every one of many concurrent helpers is counted", 40)
def g7():
    with Counted("attacker") as counted, asker("attacker") as a:
        counted.set()
        for n in 1, 2, 3:
            data = new_lines(lambda: a.call(many_refusals, 60))
            count = counted.get()
            assert data.count(b"\n") == 60 and count["written"] == (60 * n, 0, 0, 0), (data.count(b"\n"), count)


# Delaying others

def slow():
    """In the asker: sends a byte every 0.2 s until the helper ends; returns how long that took."""
    began, h = time.monotonic(), Helper()
    data = frame(request())
    for byte in data:
        if h.p.poll() is not None:
            break
        h.send(bytes([byte]))
        time.sleep(0.2)
    return h.wait(), time.monotonic() - began


def half_open(data):
    began, h = time.monotonic(), Helper()
    h.send(data)
    return h.wait(), time.monotonic() - began


@case("X3", "A byte now and then, half a request, or nothing: the helper ends after 2 s; others are served meanwhile")
def x3():
    body = frame(request())
    with asker("attacker") as a, asker("attacker") as b, asker("attacker") as c, asker("victim") as v:
        a.tell(slow)
        b.tell(half_open, body[:-1])
        c.tell(half_open, b"")
        began = time.monotonic()
        granted(v.grant(gpus="2"))
        assert time.monotonic() - began < 1
        for x in a, b, c:
            status, seconds = x.hear()
            assert status == 65 and 1.8 < seconds < 3, (status, seconds)


@case("X4", "Wrong lengths, other magic, other versions, too long a request, no request")
def x4():
    good, whole = frame(request()), encode(request())
    many, key = [[0, 0, 1]] * 1000, "0" * 64

    def lie(**head):
        return frame(encode(request(gpus="2", uids=[[0, 0, 1]], groups=[1], shut=[key]), **head))
    for data, word in ((header(0), "shorter than its head"), (header(0, magic=b"HTTP"), "no message"), (header(0, version=255), "versions"),
                       (header(0, version=0), "versions"), (header(0, version=2), "versions"),
                       (header(272 * 1024 + 1), "too long"), (header(0xffffffff), "too long"), (header(0x80000000), "too long"),
                       (frame(json.dumps(request()).encode()), ""), (frame(b"\xff\xfe"), "shorter than its head"),
                       (frame(whole[:64]), "shorter than its head"), (frame(whole[:-1]), "shorter"), (frame(whole + b"x"), "longer"),
                       (lie(verb=11), "verb 11"), (lie(verb=NONE), "verb"), (lie(flags=256), "flags"),
                       (lie(waiter=0x80000000), "waiter"), (lie(unused=1), "waiter"), (lie(flags=NONE), "flags"),
                       (lie(uid=NONE), "uid"), (lie(gid=NONE), "uid or gid"), (lie(uid_ranges=0), ""),
                       (lie(uid_ranges=341), "ranges"), (lie(gid_ranges=0x80000000), "ranges"), (lie(gids=65), "groups"),
                       (lie(gids=NONE), "groups"), (lie(shut=65), "leases"), (lie(shut=0), ""), (lie(len_gpus=2), "shorter"),
                       (lie(len_gpus=0), "longer"), (lie(len_id=NONE), "id is missing"), (lie(len_id=256), "id is longer"),
                       (lie(len_folders=0xfffffffe), "folders is longer"), (lie(len_folders=131072), "shorter"),
                       (frame(request(id="a\0b")), "id is not UTF-8"), (frame(request(id=b"a\xff")), "id is not UTF-8"),
                       (frame(request(id="x" * 256)), "id is longer"), (frame(request(uids=many)), "ranges"),
                       (frame(request(shut=["x" * 64])), "shut lease is malformed"), (frame(request(init_file="0:0:1")), "init_path"),
                       (b"GET / HTTP/1.1\r\n\r\n", "no message"), (good[:12] + b"\0" * (len(good) - 12), ""),
                       (frame(b" " * (272 * 1024)), ""), (frame(b"[" * (272 * 1024 + 1)), "too long")):
        refused(once("attacker", raw_exchange, data), 65, word)
    # too long: the bytes after the request do not count as the last byte
    status, answer = once("attacker", raw_exchange, good + good)
    assert status == 74, (status, answer)


def die(when):
    """In the asker, which dies at some point of an exchange."""
    h = Helper().ask(gpus="2")
    if when == "reply":
        h.reply()
    if when == "wait":
        time.sleep(0.02)
    os.kill(os.getpid(), signal.SIGKILL)


def leave(when):
    """In the asker, which stays alive: closes its end, or sends something else."""
    h = Helper().ask(gpus="2")
    if when == "before":
        h.close()
        return h.wait()
    h.reply()
    if when == "after":
        h.close()
    elif when == "shutdown":
        h.sock.shutdown(socket.SHUT_WR)
    else:
        h.send(when.encode())
    return h.wait()


@case("X6", "A peer dies or leaves before the last byte: no lease, no exec record, no lost GPU")
def x6():
    uid = client.pwd.getpwnam("attacker").pw_uid
    for when in "before", "after", "shutdown", "X", "w", "\0":
        with asker("attacker") as a:
            status = a.call(leave, when)
            assert status == 74, (when, status)
            assert leases() == [] and os.listdir(RUN + "/exec/%d" % uid) == [], when
            granted(once("victim", exchange, gpus="2"))
            client.look()
    for when in "now", "wait", "reply":
        with asker("attacker") as a:
            a.tell(die, when)
            a.p.join()
        time.sleep(0.05)
        granted(once("victim", exchange, gpus="2"))
        client.look()
        assert leases() == [], when
        for _ in range(100):
            if os.listdir(RUN + "/exec/%d" % uid) == []:
                break
            time.sleep(0.02)
        assert os.listdir(RUN + "/exec/%d" % uid) == [], when


def leave_to_confirm(go, told):
    """In the asker: gets a grant; another process confirms it when told to, and reports the helper's reply."""
    h = Helper(stderr=subprocess.DEVNULL).ask(id="late", gpus=GPU0)
    assert h.kind() == "grant", h.answer
    if os.fork() == 0:
        os.setsid()
        os.read(go, 1)
        h.send(b"W")
        with contextlib.suppress(ConnectionResetError):
            os.write(told, b"heard:" + h.sock.recv(1))
        os._exit(0)


@case("X6c", "Somebody else confirms a grant after the asker's death: the grant is undone, and not confirmed")
def x6c():
    go, told = os.pipe(), os.pipe()
    try:
        with asker("attacker") as a:
            a.call(leave_to_confirm, go[0], told[1])
        os.close(told[1])
        assert [l["id"] for l in leases()] == ["late"], leases()
        os.write(go[1], b".")
        # the pipe ends with the process that has the socket and sees the helper's end
        heard = os.read(told[0], 16)
        assert heard in (b"", b"heard:"), heard
        assert leases() == [] and os.listdir(RUN + "/exec/%d" % pwd.getpwnam("attacker").pw_uid) == [], leases()
    finally:
        for fd in *go, told[0]:
            os.close(fd)


def never_read():
    """In the asker: a reply longer than the socket's buffer, never read."""
    ours, theirs = socket.socketpair()
    theirs.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1)
    began, h = time.monotonic(), Helper(fd0=theirs.fileno())
    h.sock = ours
    h.ask(gpus=None, folders=",".join("/srv/tree/" + "long" * 60 + "/%d:ro" % n for n in range(200)))
    status = h.wait(9)
    return status, time.monotonic() - began


def never_final():
    began = time.monotonic()
    h = Helper().ask(gpus="2")
    h.reply()
    return h.wait(9), time.monotonic() - began


@case("X6b", "A peer that never reads, and a grant that is never confirmed: undone after 2 and 5 s")
def x6b():
    base = "/srv/tree/" + "long" * 60
    os.mkdir(base)
    for n in range(200):
        os.mkdir("%s/%d" % (base, n))
    try:
        with asker("attacker") as a, asker("attacker") as b, asker("victim") as v:
            a.tell(never_final)
            b.tell(never_read)
            for x, least, most in (b, 1.8, 3.5), (a, 4.5, 6.5):
                status, seconds = x.hear()
                assert status == 74 and least < seconds < most, (status, seconds)
            assert leases() == [], leases()
            granted(v.grant(gpus="2"))
    finally:
        subprocess.run(["rm", "-r", base], check=True)


def fuse_stall(path):
    """A file system whose daemon never answers, so that stat(2) of an open file there waits forever."""
    fd = os.open("/dev/fuse", os.O_RDWR)
    uid = client.pwd.getpwnam("attacker").pw_uid
    os.mkdir(path)
    libc = ctypes.CDLL(None, use_errno=True)
    options = "fd=%d,rootmode=40000,user_id=%d,group_id=%d,allow_other" % (fd, uid, uid)
    if libc.mount(b"stall", path.encode(), b"fuse", 0, options.encode()) == -1:
        os.close(fd)
        os.rmdir(path)
        raise Skip("no FUSE here")
    return fd


def hold_path(path):
    held.append(os.open(path, os.O_PATH))


@case("X9", "A caller's process has a file of a dead FUSE daemon open: nobody waits for that file under the lock")
def x9():
    path = TEMP + "/stall"
    fd = fuse_stall(path)
    try:
        with asker("attacker") as holder:
            holder.call(hold_path, path)
            granted(once("attacker", exchange, gpus="2"))
            began = time.monotonic()
            granted(once("victim", exchange, gpus="2"))
            assert time.monotonic() - began < 1
    finally:
        os.close(fd)
        subprocess.run(["umount", "-l", path], check=True)
        os.rmdir(path)


def flood(count):
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    fd = os.open("/dev/null", os.O_RDONLY)
    for _ in range(count):
        try:
            os.dup(fd)
        except OSError:
            break


@case("X10", "A million open files of the caller's do not delay others")
def x10():
    askers = [client.Asker("attacker") for _ in range(4)]
    try:
        for a in askers:
            a.tell(flood, 250000)
        for a in askers:
            a.hear()
        granted(once("attacker", exchange, gpus=GPU0))
        began = time.monotonic()
        answer = once("victim", exchange, gpus=GPU1)
        seconds = time.monotonic() - began
        granted(answer)
        assert seconds < 0.7, "%.1f s" % seconds
    finally:
        for a in askers:
            a.end()


def crowd(count, seconds):
    """In the asker: keeps so many helpers running."""
    end, running, n = time.monotonic() + seconds, [], 0
    while time.monotonic() < end:
        running = [h for h in running if h.p.poll() is None or h.close()]
        while len(running) < count:
            running.append(Helper(stderr=subprocess.DEVNULL).ask(verb="look", gpus=None))
            n += 1
        time.sleep(0.001)
    for h in running:
        h.wait()
    return n


@case("X1", "A crowd of one user's helpers: another user's request is served")
def x1():
    with asker("attacker") as a, asker("victim") as v:
        a.tell(crowd, 60, 3)
        time.sleep(0.5)
        worst = 0
        for n in range(3):
            began = time.monotonic()
            granted(v.grant(id="x%d" % n, gpus=None, folders="/srv/ro"))
            worst = max(worst, time.monotonic() - began)
        assert worst < 2, "%.1f s" % worst
        assert a.hear() > 60


def stay(**fields):
    """In the asker: takes a grant whose helper is asked to stay; returns the byte that the helper answers."""
    h = Helper().ask(**fields)
    assert h.kind() == "grant", h.answer
    held.append(h.send(b"S"))
    return h.sock.recv(1).decode()


def ask_stayed(**fields):
    """In the asker: a second request to the helper that stayed longest; (status, reply)."""
    h = held.pop(0)
    h.ask(**fields)
    h.reply()
    status = h.wait()
    h.close()
    return status, h.answer


def leave_stayed(seconds):
    """In the asker: hangs up, or waits so long if that is not 0; seconds until the helper has ended, and its status."""
    h, began = held.pop(0), time.monotonic()
    if seconds == 0:
        h.close()
    status = h.wait(seconds or 5)
    return time.monotonic() - began, status


def children_of_stayed():
    pid = held[-1].p.pid
    return open("/proc/%d/task/%d/children" % (pid, pid)).read().split()


@case("X30", "A helper that stays after a grant accepts only VERB_CREATED, has no children, and ends by itself", 40)
def x30():
    with asker("attacker") as a:
        assert a.call(stay, id="x", gpus=GPU0) == "S"
        time.sleep(1)
        assert a.call(children_of_stayed) == []
        before = leases()
        for verb in "release", "grant", "exec", "look":
            refused(a.call(ask_stayed, verb=verb, id="x", gpus=None), 65, "may only report that its container was made")
            assert leases() == before
            assert a.call(stay, id="y-" + verb, gpus=None, folders="/srv/ro") == "S"
            before = leases()
        took, status = a.call(leave_stayed, 0)
        assert took < 1 and status == 0, (took, status)
        assert leases() == before
        assert a.call(stay, id="z", gpus=None, folders="/srv/ro") == "S"
        took, status = a.call(leave_stayed, 14)
        assert 9 < took < 12 and status == 0, (took, status)


@case("X30b", "Helpers that stay hold no lock, and at most half of their user's places", 30)
def x30b():
    with asker("attacker") as a, asker("victim") as v:
        words = [a.call(stay, id="x%d" % n, gpus=None, folders="/srv/ro") for n in range(10)]
        assert words == ["S"] * 8 + ["W"] * 2, words
        began = time.monotonic()
        granted(a.grant(id="more", gpus=None, folders="/srv/ro"))
        granted(v.grant(id="x", gpus=GPU0))
        assert time.monotonic() - began < 2
        for _ in words:
            assert a.call(leave_stayed, 0)[1] == 0


@case("X30c", "At most eight helpers stay for root", 30)
def x30c():
    with asker("root") as r:
        words = [r.call(stay, id="x%d" % n, gpus=None, folders="/srv/ro") for n in range(9)]
        assert words == ["S"] * 8 + ["W"], words
        for _ in words:
            assert r.call(leave_stayed, 0)[1] == 0


@case("L29", "Only root may say that its container runs as the host's root, for whose folders all leases are read")
def l29():
    folder = {"gpus": None, "folders": "/srv/tree/open:rw"}
    for maps in {"uids": None, "gids": None}, {"uids": [[0, 0, 1]]}:
        refused(once("attacker", exchange, **folder, **maps), 77, "the host's root")
    with asker("attacker") as a:
        granted(a.grant(**folder))
        assert [l["host_root"] for l in leases()] == [False], leases()
    # nor for a GPU, because the paths of the driver's files matter in the same way
    spec = {"cdiVersion": "0.6.0", "kind": "nvidia.com/gpu", "devices": [
        {"name": str(n), "containerEdits": {"deviceNodes": [{"path": "/dev/nvidia%d" % n}]}} for n in range(2)],
        "containerEdits": {"mounts": [{"hostPath": "/srv/driver/libcuda.so.1", "containerPath": "/usr/lib/libcuda.so.1",
                                       "options": ["ro"]}]}}
    os.makedirs("/srv/driver")
    os.makedirs("/etc/cdi", exist_ok=True)
    write("/srv/driver/libcuda.so.1", "x")
    write("/etc/cdi/nvidia.json", json.dumps(spec))
    try:
        refused(once("attacker", exchange, gpus="1", uids=None, gids=None), 77, "the host's root")
        granted(once("attacker", exchange, gpus="1"))
    finally:
        os.unlink("/etc/cdi/nvidia.json")
        shutil.rmtree("/srv/driver")


def create_with_helper():
    """In the asker: reports another helper of its own, which waits for the last byte, as a container's first process."""
    h = Helper().ask(id="y", gpus=None, folders="/srv/ro")
    h.reply()
    status, answer = exchange(verb="created", id="x", gpus=None)
    h.close()
    h.wait()
    return status, answer


@case("L33", "Another helper as a container's first process: the lease records none of the helpers' cgroups, and ends")
def l33():
    with asker("attacker") as a:
        granted(a.grant(id="x", gpus=GPU0))
        a.call(create_with_helper)
    granted(once("victim", exchange, gpus=GPU0))
