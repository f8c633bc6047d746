"""Attacks on a lease's ACL entries and on nodes made for it: whose ids they may name, when they end, what else stays
unchanged.
"""
import ctypes
import contextlib
import glob
import grp
import hashlib
import json
import os
import pwd
import random
import signal
import subprocess
import time

import client
import lease
from client import Helper, exchange, frame, once, request
from harness import *
from t_lease import Openable, begun, new_lines, primary_group, start

LIBC = ctypes.CDLL(None, use_errno=True)
CLONE_NEWNS = 0x20000	# sched.h
NODE = "/dev/nvidia0"
ALL = "/dev/nvidia0", "/dev/nvidia1", "/dev/nvidiactl", "/dev/nvidia-uvm"
SUBUID = "attacker:300000:1000\n%d:400000:10\nvictim:500000:1000\nroot:600000:1000\n"


def uid(name):
    return pwd.getpwnam(name).pw_uid


def setfacl(*argv):
    subprocess.run(["setfacl", *argv], check=True)


def acl(path=NODE):
    """The lines of getfacl, without the file's name, comments and empty lines."""
    out = subprocess.run(["getfacl", "-npE", path], check=True, capture_output=True, text=True).stdout
    return [l for l in out.splitlines() if l and not l.startswith("#")]


def entry(name, path=NODE, kind="user"):
    ident = uid(name) if isinstance(name, str) else name
    return [l for l in acl(path) if l.startswith("%s:%d:" % (kind, ident))]


def chmods(mode, paths=ALL):
    for p in paths:
        os.chmod(p, mode)


class Closed:
    """Shuts the nodes to everybody but root, and sets subordinate ids; restores both afterwards."""

    def __init__(self, mode=0o600, text=None):
        self.mode, self.text = mode, text

    def __enter__(self):
        self.old = [os.stat(p).st_mode & 0o7777 for p in ALL]
        chmods(self.mode)
        text = (self.text or SUBUID) % uid("attacker") if "%d" in (self.text or SUBUID) else self.text
        for f in "/etc/subuid", "/etc/subgid":
            os.rename(f, f + ".away") if os.path.exists(f) else None
            write(f, text)
        self.before = [acl(p) for p in ALL]
        return self

    def __exit__(self, kind, *e):
        client.look()
        after = [acl(p) for p in ALL]
        for p, mode in zip(ALL, self.old):
            setfacl("-b", p)
            os.chmod(p, mode)
        for f in "/etc/subuid", "/etc/subgid":
            os.unlink(f)
            os.rename(f + ".away", f) if os.path.exists(f + ".away") else None
        assert kind or after == self.before, ("ACLs afterwards", self.before, after)


def mapped(outside, user=0, size=1):
    """The request's fields for a container whose process has uid «user» inside and «outside» on the host."""
    return {"uids": [[user, outside, size]], "uid": user}


def status():
    answer = once("root", exchange, verb="status", gpus=None)[1]
    return {l["container"]: l for l in answer["status"]["leases"]}


@case("N1", "A node that the caller cannot use is opened to the caller's uid until the lease ends")
def a1():
    with Closed():
        with asker("attacker") as a:
            granted(a.grant(gpus=GPU0))
            for p in "/dev/nvidia0", "/dev/nvidiactl", "/dev/nvidia-uvm":
                assert entry("attacker", p) == ["user:%d:rw-" % uid("attacker")], (p, acl(p))
                assert "mask::rw-" in acl(p) and "group::---" in acl(p) and "other::---" in acl(p), acl(p)
            assert entry("attacker", "/dev/nvidia1") == []
            assert status().popitem()[1]["trouble"] == []
        client.look()
        assert entry("attacker") == []


@case("N2", "A caller may use its ids in /etc/subuid and /etc/subgid, and no others")
def a2():
    with Closed():
        for own in 300000, 300999, 400009:
            with asker("attacker") as a:
                granted(a.grant(gpus=GPU0, **mapped(own)))
                assert entry(own) == ["user:%d:rw-" % own], acl()
                assert entry("attacker") == []
            client.look()
        for other in uid("victim"), 299999, 301000, 400010, 500000, 600000, 4294967294, 65534:
            refused(once("attacker", exchange, gpus=GPU0, **mapped(other)), 77, "does not let")
            assert entry(other) == [], acl()
        refused(once("attacker", exchange, gpus=GPU0, uids=[[1, uid("attacker"), 1]]), 77, "is not mapped to a user")
        # the process's own uid counts, not the other mapped ids
        with asker("attacker") as a:
            granted(a.grant(gpus=GPU0, uids=[[0, uid("attacker"), 1], [1, 300000, 1000]], uid=7))
            assert entry(300006) != [] and entry("attacker") == []
        # root may use the ids of root's range, and the id to which Concourse maps its containers' root
        with asker("root") as a:
            granted(a.grant(gpus=GPU0, cgroups_path="/" + CGROUP, **mapped(4294967294)))
            assert entry(4294967294) != []
        client.look()
        refused(once("root", exchange, gpus=GPU0, cgroups_path="/" + CGROUP, **mapped(uid("victim"))), 77, "does not let")
        # without a user namespace runc makes its own node in the container, so an entry on the host's node has no effect
        refused(once("root", exchange, gpus=GPU0, cgroups_path="/" + CGROUP, uids=None, gids=None, uid=600000), 77,
                "does not let")


@case("N2b", "Malformed lines in /etc/subuid, and lines that would give root's id, grant nothing")
def a2b():
    me = uid("attacker")
    for text in "attacker:0:4294967295\n", "attacker:%d\n" % uid("victim"), "attacker:+%d:1\n" % uid("victim"), \
            "attacker:%d:1:1\n" % uid("victim"), ":%d:1\n" % uid("victim"), "attacker2:%d:1\n" % uid("victim"), \
            "attacke:%d:1\n" % uid("victim"), "0%d:%d:1\n" % (me, uid("victim")), "attacker:4294967295:2\n", \
            "#attacker:%d:1\n" % uid("victim"), "attacker:%d:0\n" % uid("victim"), "\n" * 1000, "x" * 100000:
        with Closed(text=text):
            refused(once("attacker", exchange, gpus=GPU0, **mapped(uid("victim"))), 77, "does not let")


def crowd(numbers, prefix, **fields):
    """Starts one helper each, all at once.  Repeats requests that were dropped without a reply, as gpuhelper-runc does."""
    ends, todo = {}, numbers
    while todo:
        helpers = [(n, Helper().ask(id=prefix + str(n), **{k: v(n) if callable(v) else v for k, v in fields.items()})) for n in todo]
        ends.update((n, h.result()) for n, h in helpers)
        todo = [n for n in todo if ends[n] == (75, {})]
    return [ends[n][0] for n in numbers]


def sixty():
    return crowd(range(60), "n", gpus="1", uids=lambda n: mapped(300000 + n)["uids"], uid=0)


@case("N3", "60 concurrent grants on one node add 60 ACL entries; none is left afterwards")
def a3():
    with Closed(), etc():
        write(POLICIES + "/10-shared.conf", 'identity = "caller"; callers = [ "attacker" ];\n'
              'gpus = ( { vendor = "nvidia"; devices = [ "%s" ]; sharing = "shared"; share_limit = 100; } );' % GPU0)
        with asker("attacker") as a:
            ends = a.call(sixty)
            assert ends == [0] * 60, ends
            have = sorted(l for l in acl() if l.startswith("user:3"))
            assert have == ["user:%d:rw-" % (300000 + n) for n in range(60)], have
            print("# 60 grants at once: %d entries on %s, %d on /dev/nvidiactl" % (
                len(have), NODE, sum(l.startswith("user:3") for l in acl("/dev/nvidiactl"))))
            # releasing half of them keeps the others' entries
            for n in random.sample(range(60), 30):
                a.call(exchange, verb="release", id="n%d" % n, gpus=None)
            assert len([l for l in acl() if l.startswith("user:3")]) == 30
        client.look()
        assert not [l for l in acl() if l.startswith("user:3")]


def twenty(first):
    return crowd(range(20), "m", gpus="1", uids=lambda n: mapped(first + n)["uids"], uid=0)


@case("N3b", "Two users' concurrent grants and releases on one node lose no ACL entry and leave none", 30)
def a3b():
    # grants of the same user wait for each other under that user's own lock, so this takes two users
    users = {"attacker": 300000, "victim": 500000}
    with Closed(), etc():
        write(POLICIES + "/10-shared.conf", 'identity = "caller"; callers = [ "attacker", "victim" ];\n'
              'gpus = ( { vendor = "nvidia"; devices = [ "%s" ]; sharing = "shared"; share_limit = 100; } );' % GPU0)
        for _ in range(3):
            askers = {u: client.Asker(u) for u in users}
            for u, a in askers.items():
                a.tell(twenty, users[u])
            for u, a in askers.items():
                assert a.hear() == [0] * 20, u
            have = sorted(l for l in acl() if l.startswith(("user:3", "user:5")))
            assert have == ["user:%d:rw-" % (f + n) for f in (300000, 500000) for n in range(20)], have
            for a in askers.values():
                a.tell(release_twenty)
            for a in askers.values():
                a.hear()
            left = [l for l in acl() if l.startswith(("user:3", "user:5"))]
            assert left == [], left
            for a in askers.values():
                a.end()
            client.look()


def release_twenty():
    return crowd(range(20), "m", verb="release", gpus=None)


@case("N4", "An administrator's ACL entries and mask do not change during a lease or after it")
def a4():
    for spec in ["u:bin:r"], ["u:bin:rw,g:daemon:r"], ["u:bin:r,m::r"], ["m::r"], ["g::r"], ["u:bin:rw,m::rwx"], \
            ["u:bin:---"], ["g::rw,u:daemon:r"]:
        with Closed():
            setfacl("-m", spec[0], NODE)
            before = acl()
            with asker("attacker") as a:
                granted(a.grant(gpus=GPU0))
                now = acl()
                others = [l for l in now if not l.startswith(("mask:", "user:%d:" % uid("attacker")))]
                assert others == [l for l in before if not l.startswith("mask:")], (spec, before, now)
                assert entry("attacker") != [] and [l for l in now if l.startswith("mask::rw")], now
            client.look()
            assert acl() == before, (spec, before, acl())
            setfacl("-b", NODE)
            os.chmod(NODE, 0o600)


@case("N4b", "A mask that keeps another user out is not raised; the request is refused")
def a4b():
    for spec in "u:bin:rw,m::r", "g::rw,m::r", "g:daemon:rw,m::---", "u:bin:rw,m::---":
        with Closed():
            setfacl("-m", spec, NODE)
            before = acl()
            refused(once("attacker", exchange, gpus=GPU0), 77, "mask", NODE)
            assert acl() == before, (spec, before, acl())
            setfacl("-b", NODE)
            os.chmod(NODE, 0o600)


@case("N4c", "A lease's ACL entry that somebody changes meanwhile stays when the lease ends")
def a4c():
    for bits in "r--", "rwx":
        with Closed():
            with asker("attacker") as a:
                granted(a.grant(gpus=GPU0))
                setfacl("-m", "u:attacker:" + bits, NODE)
            client.look()
            assert leases() == [] and entry("attacker") == ["user:%d:%s" % (uid("attacker"), bits)], (bits, leases(), acl())
            # the unchanged entry is gone
            assert entry("attacker", "/dev/nvidiactl") == [], acl("/dev/nvidiactl")
            setfacl("-b", NODE)
            os.chmod(NODE, 0o600)


@case("N5", "An administrator's ACL entry for the caller decides: with rw nothing is added, with less the request is refused")
def a5():
    with Closed():
        setfacl("-m", "u:attacker:r", NODE)
        before = acl()
        refused(once("attacker", exchange, gpus=GPU0), 77, "ACL entry")
        assert acl() == before
        setfacl("-m", "u:attacker:rw", NODE)
        before = acl()
        granted(once("attacker", exchange, gpus=GPU0))
        client.look()
        assert acl() == before, acl()
        setfacl("-m", "m::r", NODE)
        before = acl()
        refused(once("attacker", exchange, gpus=GPU0), 77, "ACL entry")
        assert acl() == before, acl()
        setfacl("-b", NODE)
        os.chmod(NODE, 0o600)


@case("N6", "Two leases share one ACL entry: the entry goes when the second lease ends, in either order")
def a6():
    with Closed(), etc():
        write(POLICIES + "/10-shared.conf", 'identity = "caller"; callers = [ "attacker" ];\n'
              'gpus = ( { vendor = "nvidia"; devices = [ "%s" ]; sharing = "shared"; } );' % GPU0)
        for first in 0, 1:
            askers = [client.Asker("attacker"), client.Asker("attacker")]
            for n, a in enumerate(askers):
                granted(a.grant(id="same%d" % n))
            askers[first].end()
            client.look()
            assert entry("attacker") != [] and len(leases()) == 1
            askers[1 - first].end()
            client.look()
            assert entry("attacker") == []


@case("N6b", "One user's lease entitles no other user to ask for the ids in its ACL entry")
def a6b():
    with Closed(), asker("attacker") as a:
        granted(a.grant(gpus=GPU0))
        # nvidiactl has the attacker's entry now; the victim claims that its container runs as the attacker
        refused(once("victim", exchange, gpus=GPU1, **mapped(uid("attacker"))), 77, "does not let")


@case("N6c", "Nor does an ACL entry on the nodes that all GPUs share, and no lease keeps such an entry too long")
def a6c():
    with Closed():
        os.chmod("/dev/nvidia1", 0o666)
        before = [acl(p) for p in ALL]
        with asker("attacker") as a, asker("victim") as v:
            granted(a.grant(gpus=GPU0))
            for p in "/dev/nvidiactl", "/dev/nvidia-uvm":
                assert entry("attacker", p) != [], (p, acl(p))
            refused(v.grant(gpus=GPU1, **mapped(uid("attacker"))), 77, "does not let")
            # the attacker's own second lease gets the entry
            granted(a.grant(id="second", gpus=GPU1))
            a.end()
            client.look()
            assert [acl(p) for p in ALL] == before, [acl(p) for p in ALL]
        os.chmod("/dev/nvidia1", 0o600)


RESETS = {
    "chmod 0666": (lambda: os.chmod(NODE, 0o666), "open to every user"),
    "chmod 0600": (lambda: os.chmod(NODE, 0o600), "is masked"),
    "chmod 0400": (lambda: os.chmod(NODE, 0o400), "is masked"),
    "setfacl -b": (lambda: setfacl("-b", NODE), "is gone"),
    "uaccess": (lambda: setfacl("-x", "u:attacker", NODE), "is gone"),
    "rm and mknod": (lambda: (os.unlink(NODE), os.mknod(NODE, 0o020600, os.makedev(195, 0))), "is gone"),
    "rm": (lambda: os.unlink(NODE), "is not there"),
}


@case("N7", "Something resets a leased node: status reports it, reapply opens it again, and the end of the lease leaves nothing")
def a7():
    for name, (reset, said) in RESETS.items():
        with Closed(), asker("attacker") as a:
            granted(a.grant(id="held", gpus=GPU0))
            reset()
            lines = status()["held"]["trouble"]
            assert [l for l in lines if said in l and NODE in l], (name, lines)
            done = once("root", exchange, verb="reapply", gpus=None)
            if name == "rm":
                refused(done, 69, NODE)
                os.mknod(NODE, 0o020600, os.makedev(195, 0))
                done = once("root", exchange, verb="reapply", gpus=None)
            assert done == (0, {"reply": "noted"}), (name, done)
            assert entry("attacker") == ["user:%d:rw-" % uid("attacker")] and "mask::rw-" in acl(), (name, acl())
            lines = status()["held"]["trouble"]
            # a node that was opened to everybody is for the administrator to close
            assert bool(lines) == (name == "chmod 0666" or name == "chmod 0400"), (name, lines)
            if name == "chmod 0666":
                os.chmod(NODE, 0o660)
            os.chmod(NODE, os.stat(NODE).st_mode & 0o070 | 0o600)
            a.end()
            client.look()
            assert acl() == ["user::rw-", "group::---", "other::---"], (name, acl())


@case("N7b", "A chmod 0600 that shuts the owning group out is undone neither by reapply nor by the end of the lease")
def a7b():
    with Closed(0o660), asker("attacker") as a:
        granted(a.grant(id="held", gpus=GPU0))
        assert "group::rw-" in acl()
        os.chmod(NODE, 0o600)
        assert once("root", exchange, verb="reapply", gpus=None)[0] == 0
        assert entry("attacker") != [] and "group::---" in acl() and "mask::rw-" in acl(), acl()
        a.end()
        client.look()
        assert acl() == ["user::rw-", "group::---", "other::---"], acl()
        os.chmod(NODE, 0o660)


@case("N7c", "An administrator's ACL entry that allows less, made during a lease, is neither widened by reapply nor doubled")
def a7c():
    with Closed(), asker("attacker") as a:
        granted(a.grant(id="held", gpus=GPU0))
        setfacl("-m", "u:attacker:r", NODE)
        done = once("root", exchange, verb="reapply", gpus=None)
        refused(done, 77, "someone set it on purpose")
        assert entry("attacker") == ["user:%d:r--" % uid("attacker")], acl()
        a.end()
        client.look()
        assert entry("attacker") == ["user:%d:r--" % uid("attacker")], acl()
        setfacl("-b", NODE)


def hold_open():
    global held_fd
    held_fd = os.open("/dev/nvidia9", os.O_RDONLY)


def opened(path):
    """Openable's node is one that the kernel has, so udev may have a say in it, and the entry is for the attacker's group."""
    return entry("attacker", path) + entry(pwd.getpwnam("attacker").pw_gid, path, "group")


@case("N8", "A lease is released while its GPU is in use: the entry goes at once, and the GPU is free when its use ends")
def a8():
    with Openable():
        os.chmod("/dev/nvidia9", 0o600)
        with asker("attacker") as a, asker("attacker") as other:
            granted(a.grant(id="d", gpus=GPU0))
            a.call(hold_open)
            assert opened("/dev/nvidia9"), acl("/dev/nvidia9")
            for _ in range(2):
                assert a.call(exchange, verb="release", id="d", gpus=None) == (0, {"reply": "noted"})
            assert not opened("/dev/nvidia9") and status()["d"]["state"] == "draining", (acl("/dev/nvidia9"), status())
            refused(once("victim", exchange, gpus=GPU0), 75, "taken")
            # reapply does not restore the entry
            once("root", exchange, verb="reapply", gpus=None)
            assert entry("attacker", "/dev/nvidia9") == []
            refused(a.grant(id="d", gpus=GPU0), 75)
            assert [r["event"] for r in records()][-2:].count("draining") <= 1 and "draining" in [r["event"] for r in records()]
        granted(once("victim", exchange, gpus=GPU0))
        client.look()


def hear_begun():
    """In the asker: the result of the request that start() sent."""
    return begun.pop().result()


@case("N8d", "A lease is released while its helper is still planning it: that helper opens no node", 30)
def n8d():
    with Openable(), asker("attacker") as a, asker("attacker") as other, Between("attacker") as line:
        # through the permission before this, because the node is shut now
        other.call(hold_open)
        os.chmod("/dev/nvidia9", 0o600)
        pid = a.call(start, id="d", gpus=GPU0)
        line.stop()
        # as if other processes had the CPUs meanwhile
        os.kill(pid, signal.SIGSTOP)
        try:
            # the helper holds no lock only once it has stopped
            while read("/proc/%d/stat" % pid).rpartition(")")[2].split()[0] != "T":
                time.sleep(0.001)
            line.go_on()
            answer = a.call(exchange, verb="release", id="d", gpus=None)
            assert answer == (0, {"reply": "noted"}), answer
            assert [(l["state"], l.get("planned")) for l in leases()] == [("draining", True)], leases()
        finally:
            os.kill(pid, signal.SIGCONT)
        answer = a.call(hear_begun)
        assert entry("attacker", "/dev/nvidia9") == [], acl("/dev/nvidia9")
        refused(answer, 75, "its lease is ending already")
        refused(once("victim", exchange, gpus=GPU0), 75, "taken")


def children_of(comm, uid):
    """Processes with this name whose parent has the same name, and whose real uid is this one."""
    for name in os.listdir("/proc"):
        with contextlib.suppress(OSError, StopIteration, ValueError):
            lines = dict(l.split(":", 1) for l in read("/proc/%d/status" % int(name)).splitlines())
            parent = read("/proc/%s/comm" % lines["PPid"].strip())
            if lines["Name"].strip() == comm and parent == comm + "\n" and int(lines["Uid"].split()[0]) == uid:
                yield int(name)


def named(comm):
    """The processes with this name."""
    for name in os.listdir("/proc"):
        with contextlib.suppress(OSError, ValueError):
            if read("/proc/%d/comm" % int(name)) == comm + "\n":
                yield int(name)


def shoot_lookers(seconds):
    """Attacks lookers for some seconds; returns how many there were, and how many attacks succeeded."""
    met, hit, end = 0, 0, time.monotonic() + seconds
    while time.monotonic() < end:
        for pid in named("gpuhelper-look"):
            met += 1
            for what in (lambda: os.kill(pid, signal.SIGSTOP), lambda: os.kill(pid, signal.SIGKILL),
                         lambda: os.setpriority(os.PRIO_PROCESS, pid, 19),
                         lambda: os.sched_setscheduler(pid, os.SCHED_IDLE, os.sched_param(0)),
                         lambda: os.sched_setaffinity(pid, {0})):
                with contextlib.suppress(OSError):
                    what()
                    hit += 1
    return met, hit


@case("N8c", "A user can neither kill, stop nor slow down the looker of the user's helper, and no GPU is given twice", 60)
def a8c():
    with Openable(), asker("attacker") as holder, asker("attacker") as shooter:
        with asker("attacker") as a:
            granted(a.grant(id="first", gpus=GPU0))
            holder.call(hold_open)
        shooter.tell(shoot_lookers, 3.0)
        for n in range(10):
            with asker("attacker") as a:
                refused(a.grant(id="again%d" % n, gpus=GPU0), 75)
        met, hit = shooter.hear()
        assert met > 0 and hit == 0, (met, hit)
    granted(once("victim", exchange, gpus=GPU0))
    client.look()


@case("N8b", "A user cannot release another user's lease")
def a8b():
    with Closed(), asker("attacker") as a, asker("victim") as v:
        granted(v.grant(id="x", gpus=GPU0))
        for fields in {"id": "x"}, {"id": "x", "runtime_root": "/r"}:
            a.grant(verb="release", **dict(fields, gpus=None))
        assert entry("victim") != [] and status()["x"]["state"] == "held"


@case("N9", "A missing node is made for the leases that need it, and removed with the last of them")
def a9():
    with Closed(), without("/dev/nvidiactl"):
        with asker("attacker") as a, asker("victim") as v:
            granted(a.grant(gpus=GPU0))
            st = os.stat("/dev/nvidiactl")
            assert (st.st_mode, st.st_rdev) == (0o020666, os.makedev(195, 255))
            granted(v.grant(gpus=GPU1))
            a.end()
            client.look()
            assert os.path.exists("/dev/nvidiactl")
            v.end()
            client.look()
            assert not os.path.exists("/dev/nvidiactl")
            # a node that somebody else made in its place stays
            with asker("attacker") as b:
                granted(b.grant(gpus=GPU0))
                os.mknod("/dev/other", 0o020600, os.makedev(195, 255))
                os.rename("/dev/other", "/dev/nvidiactl")
            client.look()
            assert os.path.exists("/dev/nvidiactl")


@contextlib.contextmanager
def by_uaccess():
    """GPU0's node looks like one that udev's uaccess manages, and only root may open it so far."""
    if not os.path.exists("/sys/dev/char/1:9"):
        raise Skip("this machine's sysfs does not know device 1:9")
    with Openable(), etc():
        os.chmod("/dev/nvidia9", 0o600)
        os.makedirs("/run/udev/data", exist_ok=True)
        os.makedirs("/run/udev/tags/uaccess", exist_ok=True)
        write("/run/udev/data/c1:9", "I:1\nG:uaccess\nQ:uaccess\nV:1\n")
        try:
            yield
        finally:
            os.unlink("/run/udev/data/c1:9")
            os.removedirs("/run/udev/tags/uaccess")


@case("N10", "A node under udev's uaccess, which drops users' entries, gets an entry for a group that only the caller is in")
def a10():
    with by_uaccess():
        gid = pwd.getpwnam("attacker").pw_gid
        with asker("attacker") as a:
            granted(a.grant(gpus=GPU0))
            assert entry(gid, "/dev/nvidia9", "group") != [] and entry("attacker", "/dev/nvidia9") == [], acl("/dev/nvidia9")
        client.look()
        assert entry(gid, "/dev/nvidia9", "group") == []
        # a primary group with another member is not the caller's alone
        subprocess.run(["usermod", "-a", "-G", "attacker", "victim"], check=True)
        refused(once("attacker", exchange, gpus=GPU0), 77, "group", "/etc/subgid")
        subprocess.run(["gpasswd", "-d", "victim", "attacker"], check=True, capture_output=True)
        granted(once("attacker", exchange, gpus=GPU0))


@case("N10b", "A group that is another user's primary group, with no members listed, does not count as the caller's own")
def n10b():
    with by_uaccess():
        with primary_group("victim", "attacker"):
            gid = pwd.getpwnam("victim").pw_gid
            assert gid == pwd.getpwnam("attacker").pw_gid and grp.getgrgid(gid).gr_mem == []
            refused(once("attacker", exchange, gpus=GPU0), 77, "group", "/etc/subgid")
            assert entry(gid, "/dev/nvidia9", "group") == [], acl("/dev/nvidia9")
        granted(once("attacker", exchange, gpus=GPU0))


@case("N11", "A container that has the node bind-mounted, without opening it, keeps its lease")
def n11():
    with Openable():
        for command, holds in (("mount --bind /dev/nvidia9 \"$0\"", True), ("mount -t tmpfs none /mnt", False),
                               ("mount --bind /dev/nvidia1 \"$0\"", False)):
            target = TEMP + "/scratch/node"
            write(target, "", 0o666)
            with background("unshare", "-Urm", "sh", "-c", command + " && echo && exec sleep 60", target, user="attacker") as p:
                assert p.stdout.readline() == b"\n", command
                granted(once("attacker", exchange, gpus=GPU0))
                if holds:
                    refused(once("victim", exchange, gpus=GPU0), 75, "taken")
                    os.rename("/dev/nvidia9", "/dev/away")
                    os.rename("/dev/away", "/dev/nvidia9")
                    refused(once("victim", exchange, gpus=GPU0), 75, "taken")
                else:
                    granted(once("victim", exchange, gpus=GPU0))
            granted(once("victim", exchange, gpus=GPU0))
            os.unlink(target)


def leave_zombie():
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    time.sleep(0.2)


@case("N11b", "A zombie of the caller's keeps no lease")
def n11b():
    with asker("attacker") as z:
        z.call(leave_zombie)
        granted(once("attacker", exchange, gpus=GPU0))
        granted(once("victim", exchange, gpus=GPU0))


@case("N12", "After a reboot (another boot id) earlier leases are over, and what they changed is undone")
def n12():
    with Closed(), asker("attacker") as a:
        granted(a.grant(gpus=GPU0))
        path = glob.glob(RUN + "/leases/*")[0]
        boot = read("/proc/sys/kernel/random/boot_id").strip()
        text = read(path)
        assert boot in text and entry("attacker") != []
        # the asker is alive, so only the boot id shows that the lease is from another boot
        write(path, text.replace(boot, "00000000-1111-2222-3333-444444444444"), 0o600)
        assert status().popitem()[1]["state"] == "over"
        with asker("victim") as v:
            granted(v.grant(gpus=GPU0))
            assert entry("attacker") == [] and entry("victim") != []


# A container with its own cgroup, which is removed when the lease ends.  The last error of a system call is then ENOENT.
IN_CGROUP = {"cgroups_path": "/" + CGROUP, **mapped(600000)}


@case("N13", "With a /dev that others may write, a lease that cannot be undone there stays until it can be")
def n13():
    old = os.stat("/dev")
    for user, ident, fields in ("attacker", uid("attacker"), {}), ("root", 600000, IN_CGROUP):
        for spoil in lambda: os.chmod("/dev", 0o777), lambda: os.chown("/dev", uid("attacker"), 0):
            with Closed(), without("/dev/nvidiactl"):
                with asker(user) as a:
                    granted(a.grant(gpus=GPU0, **fields))
                try:
                    spoil()
                    for _ in range(2):
                        client.look()
                        assert len(leases()) == 1 and entry(ident) != [], (leases(), acl())
                        assert os.path.exists("/dev/nvidiactl")
                finally:
                    os.chown("/dev", old.st_uid, old.st_gid)
                    os.chmod("/dev", old.st_mode & 0o7777)
                client.look()
                assert leases() == [] and entry(ident) == [], (leases(), acl())
                assert not os.path.exists("/dev/nvidiactl")


@case("N14", "Root's own group is given to no container, even if it would open the node")
def n14():
    plain = {"uids": None, "gids": None, "uid": 1000, "gid": 1000, "cgroups_path": "/" + CGROUP}
    with Closed(0o660):
        for group, given in (pwd.getpwnam("attacker").pw_gid, True), (0, False):
            for p in ALL:
                os.chown(p, 0, group)
            try:
                answer = once("root", exchange, gpus=GPU0, **plain)
                if given:
                    assert granted(answer)["containerEdits"]["additionalGids"] == [group], answer
                else:
                    refused(answer, 77, "does not let")
            finally:
                client.look()
                for p in ALL:
                    os.chown(p, 0, 0)


@case("N14b", "A group that may only read the node, or nothing, is given to no container")
def n14b():
    plain = {"uids": None, "gids": None, "uid": 1000, "gid": 1000, "cgroups_path": "/" + CGROUP}
    group = pwd.getpwnam("attacker").pw_gid
    for mode in 0o640, 0o620, 0o600:
        with Closed(mode):
            for p in ALL:
                os.chown(p, 0, group)
            try:
                refused(once("root", exchange, gpus=GPU0, **plain), 77, "does not let")
            finally:
                client.look()
                for p in ALL:
                    os.chown(p, 0, 0)


@case("N15", "Links in /dev/char: only for root's containers under systemd, in root's directory, and without replacing files")
def n15():
    def ask(user="root", systemd=True):
        granted(once(user, exchange, gpus=GPU0, systemd_cgroup=systemd, cgroups_path="system.slice:gpuhelper:" + CGROUP,
                     **({"uids": None, "gids": None, "uid": 0} if user == "root" else {})))
        client.look()
        return sorted(os.listdir("/dev/char")) if os.path.isdir("/dev/char") else None

    ours = sorted("%d:%d" % (os.major(r), os.minor(r)) for r in (os.stat(p).st_rdev for p in ALL if p != "/dev/nvidia1"))
    elsewhere = TEMP + "/scratch/char"
    assert not os.path.lexists("/dev/char"), "the sandbox has a /dev/char"
    try:
        assert ask() is None, "/dev/char is not the helper's to make"
        os.mkdir("/dev/char", 0o755)
        assert ask(systemd=False) == ask("attacker") == []
        got = ask()
        assert set(ours) <= set(got) and "195:1" not in got, (got, ours)
        for name in got:
            assert os.readlink("/dev/char/" + name).startswith("../nvidia"), name
            assert os.stat("/dev/char/" + name).st_rdev == os.makedev(*map(int, name.split(":"))), name
            os.unlink("/dev/char/" + name)
        write("/dev/char/195:0", "")
        os.symlink("/nowhere", "/dev/char/195:255")
        assert set(ours) <= set(ask()) and os.path.isfile("/dev/char/195:0") and os.readlink("/dev/char/195:255") == "/nowhere"
        subprocess.run(["rm", "-r", "/dev/char"], check=True)
        for mode, owner in (0o777, 0), (0o755, uid("attacker")):
            os.mkdir("/dev/char")
            os.chmod("/dev/char", mode)
            os.chown("/dev/char", owner, 0)
            assert ask() == [], (mode, owner)
            os.rmdir("/dev/char")
        os.mkdir(elsewhere, 0o755)
        os.symlink(elsewhere, "/dev/char")
        assert ask() == []
    finally:
        subprocess.run(["rm", "-rf", "/dev/char", elsewhere], check=True)


def elsewhere(user, commands, function, *args, **fields):
    """Calls the function as a user whose mounts root has changed by these commands, like a service's or pam_namespace's."""
    def there():
        subprocess.run(["sh", "-ec", "mount --make-rprivate /\n" + commands], check=True)
        return once(user, function, *args, **fields)
    r, w = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            assert LIBC.unshare(CLONE_NEWNS) == 0
            said = there()
        except BaseException as e:
            said = repr(e)
        os.write(w, json.dumps(said).encode())
        os._exit(0)
    os.close(w)
    with os.fdopen(r) as f:
        said = json.loads(f.read())
    os.waitpid(pid, 0)
    return said


OWN = "mount -t tmpfs -o mode=755 own %s\n"
OWN_DEV = OWN % "/dev" + "mknod -m 666 /dev/null c 1 3\nmknod -m 666 /dev/urandom c 1 9\n"


@case("N18", "Root gave the caller its own mounts on /dev, /run, /var/lib or /var/log: refused; no lease ends, no GPU is given twice")
def n18():
    with Closed(), asker("attacker") as a:
        granted(a.grant(gpus=GPU0))
        held = len(leases()), acl()
        for commands in OWN_DEV, OWN % "/run", OWN % "/run/gpuhelper", OWN % "/var/lib", OWN % "/var/log":
            for fields in {"verb": "look", "gpus": None}, {"gpus": GPU0}, {"verb": "status", "gpus": None}:
                refused(elsewhere("victim", commands, exchange, **fields), 77, "is not the host's")
            assert (len(leases()), acl()) == held, (commands, leases(), acl())
        a.end()
        refused(elsewhere("attacker", OWN_DEV, exchange, verb="look", gpus=None), 77, "is not the host's")
        assert (len(leases()), acl()) == held, (leases(), acl())
        client.look()
        assert leases() == [] and entry("attacker") == []
        # mounts that show the host's own directories are allowed
        same = "".join("mount --bind %s %s\n" % (d, d) for d in ("/dev", RUN, "/var/lib", "/var/log"))
        granted(elsewhere("victim", same + OWN % "/mnt", exchange, gpus=GPU0))


# what may cover the node: InaccessiblePaths= of a service, a node with the same numbers, a file
COVERS = "mknod -m 000 $T c 0 0", "mknod -m 666 $T c 195 0", "touch $T"


@case("N19", "A file is mounted over a node for the caller alone: the lease's change to the node does not count as undone")
def n19():
    cover = TEMP + "/cover"
    for how in COVERS:
        commands = "T=%s\nrm -f $T\n%s\nmount --bind $T %s\nrm $T\n" % (cover, how, NODE)
        with Closed():
            with asker("attacker") as a:
                granted(a.grant(gpus=GPU0))
                held = entry("attacker")
                assert held != []
            for user in "attacker", "victim", "root":
                elsewhere(user, commands, exchange, verb="look", gpus=None)
                assert len(leases()) == 1 and entry("attacker") == held, (how, user, leases(), acl())
            refused(elsewhere("victim", commands, exchange, gpus=GPU0), 75)
            client.look()
            assert leases() == [] and entry("attacker") == [], (how, acl())
            refused(elsewhere("victim", commands, exchange, gpus=GPU0), 74, NODE, "is not the host's")
            assert leases() == []
            # nothing of another boot is left to undo
            with asker("attacker") as a:
                granted(a.grant(gpus=GPU0))
                [path] = glob.glob(RUN + "/leases/*")
                now, = leases()
                put_lease(path, now, boot="0" * 8 + now["boot"][8:])
                setfacl("-b", *ALL)
                chmods(0o600)
            elsewhere("victim", commands, exchange, verb="look", gpus=None)
            client.look() if leases() else None
            assert leases() == [], (how, leases())
def begin(**fields):
    """In the asker: starts a helper and sends a request, without waiting for the reply."""
    global begun
    begun = Helper().ask(**fields)


def finish():
    return begun.result()


def pid_begun():
    return begun.p.pid


@case("N16", "A lease ends while another one is planned: the planned one is refused, and the mask is restored", 20)
def n16():
    for spec, killed in (None, False), ("u:bin:r,m::r", False), (None, True):
        with Closed(), asker("attacker") as a:
            if spec:
                setfacl("-m", spec, "/dev/nvidiactl")
            before = acl("/dev/nvidiactl")
            with asker("victim") as v, contextlib.ExitStack() as stack:
                granted(v.grant(id="lives", gpus=GPU0))
                stack.enter_context(log_full())
                line = stack.enter_context(Between("attacker"))
                a.call(begin, id="planned", gpus=GPU1)
                line.stop()
                v.end()
                client.look()
                assert entry("attacker") == [] and entry("victim") == [] and len(leases()) == 1, leases()
                if killed:
                    pid = a.call(pid_begun)
                    os.kill(pid, 9)
                    assert gone(pid)
                    a.end()
                    client.look()
                else:
                    line.go_on()
                    assert a.call(finish)[0] != 0
            assert leases() == [] and acl("/dev/nvidiactl") == before, (spec, killed, acl("/dev/nvidiactl"))
            setfacl("-b", "/dev/nvidiactl")
            os.chmod("/dev/nvidiactl", 0o600)


@case("N17", "Two leases plan to make the same node: the node stays until both have ended")
def n17():
    for first in "victim", "attacker":
        with Closed(), without("/dev/nvidiactl"), asker("attacker") as a, asker("victim") as v:
            with Between("attacker") as line:
                a.call(begin, gpus=GPU1)
                line.stop()
                granted(v.grant(gpus=GPU0))
                line.go_on()
                granted(a.call(finish))
            for who, there in ((v, True), (a, False)) if first == "victim" else ((a, True), (v, False)):
                who.end()
                client.look()
                assert os.path.exists("/dev/nvidiactl") == there, first


# The ledger

LEDGER = RUN + "/ledger"


def ledger(name="195:0!dev!nvidia0"):
    return lease.read_ledger(read("%s/%s" % (LEDGER, name)))


def in_ledger():
    return sorted(os.listdir(LEDGER)) if os.path.exists(LEDGER) else []


@case("N20", "What was done to a node is in the ledger; when its lease's file is removed by hand, root's timer undoes and records that")
def a20():
    with Closed(), asker("attacker") as a:
        granted(a.grant(gpus=GPU0))
        assert in_ledger() == ["195:0!dev!nvidia0", "195:255!dev!nvidiactl", "510:0!dev!nvidia-uvm"], in_ledger()
        node = ledger()
        assert (node["path"], node["mask"], [(e["uid"], e["kind"], e["id"]) for e in node["entries"]]) == (
            "/dev/nvidia0", "none", [(uid("attacker"), "allow-user", uid("attacker"))]), node
        path, = glob.glob(RUN + "/leases/*")
        # with the record for its execs, which would stay
        for f in path, *glob.glob(RUN + "/exec/%d/*" % uid("attacker")):
            os.unlink(f)
        # a user's look undoes nothing of others, root's timer does
        a.grant(verb="look", gpus=None)
        assert entry("attacker") != []
        lines = [json.loads(l) for l in new_lines(client.look).splitlines()]
        assert entry("attacker") == [] and in_ledger() == [], (acl(), in_ledger())
        told = [(l["uid"], l["reason"]) for l in lines if l["event"] == "orphan"]
        assert len(told) == 3 and (uid("attacker"), "/dev/nvidia0: «allow user %d», for a lease that is gone, was undone" % uid("attacker")) in told, told
        assert new_lines(client.look) == b""


@case("N21", "A node of the ledger that cannot be read: no GPU with that node is granted, and none is opened; others are")
def a21():
    with Closed(), etc():
        with asker("attacker") as a:
            granted(a.grant(gpus=GPU0))
            whole = read(LEDGER + "/195:0!dev!nvidia0")
            a.end()
            client.look()
        good = whole.split("\n")
        for text in ("", "{", whole[:-1], whole + "\n", whole.replace("ledger 1", "ledger 2"), whole.replace("195 0", "195 1"),
                     whole.replace("allow-user", "allow-all"), "\0" * 50, "x" * (9 << 20), "\n".join(good[:2])):
            write(LEDGER + "/195:0!dev!nvidia0", text, 0o600)
            status, answer = once("attacker", exchange, gpus=GPU0)
            assert answer["reply"] == "refused" and status in (65, 78) and "195:0" in answer["text"], (text[:60], answer)
            assert entry("attacker") == [] and leases() == [] and os.path.exists(LEDGER + "/195:0!dev!nvidia0"), (text[:60], acl(), leases())
            with asker("attacker") as a:
                granted(a.grant(gpus=GPU1))
            client.look()
            os.unlink(LEDGER + "/195:0!dev!nvidia0")
            client.look()
        os.symlink("/etc/shadow", LEDGER + "/195:0!dev!nvidia0")
        refused(once("attacker", exchange, gpus=GPU0), 78, "195:0")
        os.unlink(LEDGER + "/195:0!dev!nvidia0")
        # another path
        write(LEDGER + "/195:0!dev!nvidia0", whole.replace("/dev/nvidia0", "/dev/nvidia7"), 0o600)
        refused(once("attacker", exchange, gpus=GPU0), 78, "not a node of this version's ledger")
        # another path whose file has the same name
        other = whole.replace("/dev/nvidia0", "/dev!nvidia0")
        write(LEDGER + "/195:0!dev!nvidia0", other, 0o600)
        refused(once("attacker", exchange, gpus=GPU0), 78, "have one name in")
        assert read(LEDGER + "/195:0!dev!nvidia0") == other and entry("attacker") == [], acl()
        os.unlink(LEDGER + "/195:0!dev!nvidia0")


@case("N22", "A node of the ledger of another boot is forgotten, and its entries are undone on no node; a torn file holds nothing")
def a22():
    with Closed():
        setfacl("-m", "u:games:rw", NODE)
        write(LEDGER + "/195:0!dev!nvidia0", lease.write_ledger({
            "path": NODE, "major": 195, "minor": 0, "boot": "11111111-2222-3333-4444-555555555555",
            "entries": [{"key": "a" * 64, "uid": uid("games"), "kind": "allow-user", "id": uid("games")}]}), 0o600)
        write(LEDGER + "/195:1!dev!nvidia1.new", "ledger 1\n", 0o600)
        client.look()
        assert in_ledger() == [] and entry("games") != [], (in_ledger(), acl())
        setfacl("-b", NODE)
        os.chmod(NODE, 0o600)


@case("N23", "The disk is full: nothing is opened that is not in the ledger, a lease ends all the same, and root's timer forgets the rest")
def a23():
    with Closed(), etc():
        write(POLICIES + "/10-shared.conf", 'identity = "caller"; callers = [ "attacker" ];\n'
              'gpus = ( { vendor = "nvidia"; devices = [ "%s" ]; sharing = "shared"; } );' % GPU0)
        with asker("attacker") as a, asker("attacker") as b:
            granted(a.grant(id="one"))
            granted(b.grant(id="two"))
            with full(LEDGER):
                a.end()
                client.look()
                assert [l["id"] for l in leases()] == ["two"] and entry("attacker") != []
                refused(once("attacker", exchange, id="three"), 74, "195:")
                assert [l["id"] for l in leases()] == ["two"]
            b.end()
            client.look()
            client.look()
        assert entry("attacker") == [] and in_ledger() == [], (acl(), in_ledger())


# The record of a grant

def hashed(**fields):
    """In the asker: the reply, and the hash of its text."""
    h = Helper()
    return h.ask(**fields).result(), hashlib.sha256(h.text).hexdigest()


@case("N24", "A grant's record has the acts and the hash of the reply; if missing nodes were made, another record has what they changed")
def a24():
    with Closed(), without("/dev/nvidiactl"), asker("attacker") as a, asker("victim") as v:
        got = []
        lines = [json.loads(l) for l in new_lines(lambda: got.append(a.call(hashed, gpus=GPU0))).splitlines()]
        (answer, text_hash), = got
        granted(answer)
        allow = "allow user %d " % uid("attacker")
        grant, made = lines
        assert (grant["event"], grant["acts"]) == ("grant", ["make node /dev/nvidiactl", allow + "/dev/nvidia0", allow + "/dev/nvidia-uvm"]), grant
        assert grant["reply_sha256"] != text_hash and "/dev/nvidiactl" not in grant["nodes"], grant
        # made by the driver's parameters: everyone may use the node
        assert (made["event"], made["reply_sha256"], made["nodes"]) == (
            "made-nodes", text_hash, [n["path"] for n in answer[1]["containerEdits"]["deviceNodes"]]), (made, text_hash)
        assert "/dev/nvidiactl" in made["nodes"] and made["acts"] == grant["acts"], made
        grant, = [json.loads(l) for l in new_lines(lambda: got.append(v.call(hashed, gpus=GPU1))).splitlines()]
        assert (grant["event"], grant["reply_sha256"]) == ("grant", got[1][1]), (grant, got[1])
        assert grant["acts"][0] == "make node /dev/nvidiactl" and len(grant["acts"]) == 3, grant


SHARED_0 = ('identity = "caller"; callers = [ "attacker", "victim" ];\n'
            'gpus = ( { vendor = "nvidia"; devices = [ "%s" ]; sharing = "shared"; } );' % GPU0)


def forget_lease(user, ident):
    """Removes a lease's file by hand, with the record for its execs."""
    key = lease.key({"uid": uid(user), "root": "", "id": ident})
    for f in glob.glob(RUN + "/leases/%s*" % key) + glob.glob(RUN + "/exec/%d/*" % uid(user)):
        os.unlink(f)


@case("N25", "An entry that a full disk left in the ledger opens nothing to a later lease of the same name, nor by reapply")
def a25():
    with Closed(), etc(), asker("victim") as v:
        write(POLICIES + "/10-shared.conf", SHARED_0)
        with asker("attacker") as a:
            granted(a.grant(id="one", gpus=GPU0))
            granted(v.grant(id="two", gpus=GPU0))
            with full(LEDGER):
                a.end()
                client.look()
                assert len(ledger()["entries"]) == 2, ledger()
                # the name's next lease is refused as long as the entry cannot be removed
                refused(once("attacker", exchange, id="one", gpus=GPU0), 74, "No space left")
        os.unlink(POLICIES + "/10-shared.conf")
        with asker("attacker") as a:
            granted(a.grant(id="one", gpus=GPU1))
            assert [e["uid"] for e in ledger()["entries"]] == [uid("victim")], ledger()
            v.end()
            client.look()
            with asker("victim") as other:
                granted(other.grant(id="alone", gpus=GPU0))
                a.grant(verb="reapply", gpus=None)
                assert entry("attacker") == [] and entry("victim") != [], acl()
            client.look()


@case("N26", "An entry whose lease was removed by hand goes with the next lease of that name, or counts for no other lease")
def a26():
    with Closed(), etc():
        with asker("attacker") as a, asker("victim") as v:
            granted(a.grant(id="one", gpus=GPU0))
            forget_lease("attacker", "one")
            with asker("attacker") as again:
                granted(again.grant(id="one", gpus=GPU1))
                assert entry("attacker") == [] and entry("attacker", "/dev/nvidia1") != [], acl()
                granted(v.grant(id="x", gpus=GPU0))
                assert entry("attacker") == [] and entry("victim") != [], acl()
        client.look()
        write(POLICIES + "/10-shared.conf", SHARED_0)
        with asker("attacker") as a, asker("attacker") as looks, asker("victim") as v:
            granted(a.grant(id="one", gpus=GPU0))
            forget_lease("attacker", "one")
            with asker("attacker") as b:
                granted(b.grant(id="two", gpus=GPU0))
            looks.grant(verb="look", gpus=None)
            assert leases() == [] and entry("attacker") == [], (leases(), acl())
            os.unlink(POLICIES + "/10-shared.conf")
            granted(v.grant(id="alone", gpus=GPU0))
            assert entry("attacker") == [], acl()
        client.look()


@case("N27", "If another lease has the act of a lease that was removed by hand, its entry stays, and no record says that it is undone")
def a27():
    with Closed(), etc(), asker("attacker") as a, asker("attacker") as b:
        write(POLICIES + "/10-shared.conf", SHARED_0)
        granted(a.grant(id="one", gpus=GPU0))
        granted(b.grant(id="two", gpus=GPU0))
        forget_lease("attacker", "one")
        lines = [json.loads(l)["event"] for l in new_lines(client.look).splitlines()]
        assert "orphan" not in lines and entry("attacker") != [] and len(ledger()["entries"]) == 1, (lines, acl(), ledger())


@case("N28", "The hash of a reply in the log, which a group can read, does not let anybody guess a secret of another's policy")
def a28():
    with etc():
        text = read(POLICIES + "/50-victim.conf")
        write(POLICIES + "/50-victim.conf", text + 'env = { PIN = "4711"; };\n', 0o600)
        with asker("victim") as v:
            assert "PIN=4711" in granted(v.call(hashed, gpus=GPU1)[0])["containerEdits"]["env"]
            again = v.call(hashed, id="other", gpus=None, folders="/srv/ro")
            twice = v.call(hashed, id="other2", gpus=None, folders="/srv/ro")
            assert again[0][1] == twice[0][1] and again[1] != twice[1], (again, twice)


@case("N29", "A promise is not planned any more once it is granted, and lasts as long as its asker")
def a29():
    with Closed(), asker("root") as r:
        got = granted(r.grant(id="h", gpus=GPU0, promises=True, init_path="/tmp/garden-init", cgroups_path="/" + CGROUP, **mapped(600000)))
        held, = leases()
        assert got["promise"] and held["state"] == "promised" and not held["planned"], held
        path, = glob.glob(RUN + "/leases/*")
        put_lease(path, held, since=held["since"] - 400)
        client.look()
        assert len(leases()) == 1, leases()
    client.look()
