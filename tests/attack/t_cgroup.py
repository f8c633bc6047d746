"""A caller owns the cgroup in which its helper starts.  It tries to freeze, kill or starve the helper there, and so
delay others.
"""
import contextlib
import fcntl
import os
import random
import select
import signal
import subprocess
import time

import client
import harness
from client import Helper, exchange, once
from harness import *
from t_lease import Cgroup, planted, spawn_held
from t_process import cgroup2, hold, hold_final, looker_of, write_raw

OWN = "/gpuhelper"
V1 = "freezer", "memory", "pids", "cpu"
HIERARCHIES = "", *V1
MOST = 2.0		# the longest time in seconds for which one user may delay another
FOLDER = {"gpus": None, "folders": "/srv/ro"}


def case(*args, shares=fcntl.LOCK_SH):
    """The whole machine has only one cgroup gpuhelper, and X18 changes it for a moment; so these cases take turns."""
    return harness.case(*args, shares=shares)


def membership(pid="self"):
    """The process's cgroup in each hierarchy, by its list of controllers («» is v2)."""
    return {line.split(":", 2)[1]: line.split(":", 2)[2] for line in read("/proc/%s/cgroup" % pid).splitlines()}


def top(controller):
    """The mount point of this controller's hierarchy («»: v2's).  Skips the case if there is none."""
    if controller == "":
        return cgroup2()
    for controllers in membership():
        path = "/sys/fs/cgroup/" + controllers
        if controller in controllers.split(",") and os.path.exists(path + "/cgroup.procs"):
            return path
    raise Skip("no cgroup v1 with %s here" % controller)


def tops():
    """Every trace of a helper."""
    found = {}
    for c in HIERARCHIES:
        with contextlib.suppress(Skip):
            found[c] = top(c)
    if not found:
        raise Skip("no cgroups here")
    return found


class Owned:
    """A cgroup that the attacker owns in each of these hierarchies, and one in it for the attacker's helper."""

    def __init__(self, *controllers):
        self.parents = [top(c) + "/" + CGROUP for c in controllers]
        self.dirs = [p + "/helper" for p in self.parents]

    def __enter__(self):
        uid = client.pwd.getpwnam("attacker").pw_uid
        for d in self.parents + self.dirs:
            os.mkdir(d)
            for name in ".", *os.listdir(d):
                if not os.path.isdir(d + "/" + name) or name == ".":
                    os.chown(d + "/" + name, uid, uid)
        return self

    def __exit__(self, *e):
        self.thaw()
        for d in self.dirs + self.parents:
            # a failed case may have left a stopped helper here, which would disturb the next cases
            for pid in read(d + "/cgroup.procs").split() if any(e) else ():
                send(int(pid), signal.SIGKILL)
            for _ in range(400):
                try:
                    os.rmdir(d)
                    break
                except OSError:
                    time.sleep(0.005)

    def put(self, pid, beneath=""):
        """Moves a process as root, who may do so from anywhere."""
        for p in self.parents:
            write_raw(p + beneath + "/cgroup.procs", str(pid))

    def set(self, **values):
        """The paths of those files that exist, with «__» for a dot."""
        for d in self.dirs:
            for name, value in values.items():
                path = d + "/" + name.replace("__", ".")
                if os.path.exists(path):
                    write_raw(path, value)

    def freeze(self):
        self.set(cgroup__freeze="1", freezer__state="FROZEN")

    def thaw(self):
        self.set(cgroup__freeze="0", freezer__state="THAWED", memory__limit_in_bytes="-1", cpu__cfs_quota_us="-1")

    def kill(self):
        self.set(cgroup__kill="1")

    def join(self):
        """Called in the attacker's process before it executes the helper."""
        for d in self.dirs:
            write_raw(d + "/cgroup.procs", "0")


def victim():
    """Sends another user's request, which must be granted; returns its duration."""
    signal.alarm(SECONDS)		# a new alarm each time, because a case calls this often
    began = time.monotonic()
    granted(once("victim", exchange, **FOLDER))
    seconds = time.monotonic() - began
    assert seconds < MOST, "another user waited for %.1f s" % seconds
    return seconds


def tell_points(what, waits):
    print("# %s: %d points, another user waited for %.3f s at most" % (what, len(waits), max(waits)), flush=True)


def killat(**fields):
    """The command line of killat.c, without the point."""
    path, uid = TEMP + "/request", client.pwd.getpwnam("attacker").pw_uid
    with open(path, "wb") as f:
        f.write(client.frame(client.request(id="window", uids=[[0, uid, 1]], gids=[[0, uid, 1]], **fields)))
    return [program("killat"), "attacker", path, client.HELPER]


def some(total):
    """The points of a sweep: all of them with ATTACK_LONG, else every third, with a random start."""
    return range(1, total + 1) if os.environ.get("ATTACK_LONG") else range(random.randint(1, 3), total + 1, 3)


def at_each_window(owned, act, survives=False, varies=False, **fields):
    """Stops a helper before each system call that it makes under the lock, acts on its cgroup, and lets it go on.

    varies: another run may make some calls fewer, such as those that wait for an answer.
    """
    command = killat(**fields)
    total = int(subprocess.run(command + ["0", "locked"], capture_output=True, text=True).stdout.split()[0])
    assert total > 5, total
    waits = []
    with owned, asker("attacker") as a:
        for n in some(total):
            before = len(records())
            p = subprocess.Popen(command + [str(n), "locked", *owned.dirs], text=True, stdin=subprocess.PIPE,
                                 stdout=subprocess.PIPE)
            try:
                said = p.stdout.readline().split()
                if varies and said[1:] == ["calls"] and n > total * 0.7:
                    break
                assert said[0] == "at", (n, said)
                a.call(act)
                p.stdin.write("\n")
                p.stdin.flush()
                waits.append(victim())
                if survives:
                    assert gone(int(said[1])), n
                    assert [r for r in records()[before:] if r["event"] == "grant" and r["container"] == "window"], \
                        "killed with the lock, at call %d" % n
            finally:
                a.call(owned.thaw)
                p.stdin.close()
                p.wait()
    return waits


late = []


def at(delay, owned, act):
    """In the asker: starts a request, and acts on its helper after this delay."""
    h = Helper(start=owned.join).ask(id="late", **FOLDER)
    late.append(h)
    time.sleep(delay)
    return act(h.p.pid, owned)


def send(pid, sig):
    try:
        os.kill(pid, sig)
        return True
    except OSError:
        return False


def stop_and_freeze(pid, owned):
    sent = send(pid, signal.SIGSTOP)
    owned.freeze()
    return sent


def kill_both_ways(pid, owned):
    sent = send(pid, signal.SIGKILL)
    owned.kill()
    return sent


def let_go(owned):
    """In the asker: undoes the act as far as the asker may; returns the helper's PID."""
    owned.thaw()
    late[-1].close()
    send(late[-1].p.pid, signal.SIGCONT)
    return late[-1].p.pid


def ended():
    return late.pop().wait()


def over(a, owned):
    """Ends the helper.  A stop may take effect only after the helper became root, when only root may continue it;
    otherwise it would stay until its 30 s are over."""
    send(a.call(let_go, owned), signal.SIGCONT)
    a.call(ended)


def how_long(owned):
    """In the asker: the time from the request to the reply."""
    began = time.monotonic()
    h = Helper(start=owned.join).ask(id="late", **FOLDER)
    assert h.kind() == "grant", h.answer
    seconds = time.monotonic() - began
    h.close()
    h.wait()
    return seconds


def at_delays(owned, act, points=60):
    """Acts on a running helper at many points of its life; returns another user's waiting times, and the acts' results."""
    waits, answers = [], []
    with owned, asker("attacker") as a:
        owned.put(a.pid)
        length = max(a.call(how_long, owned) for _ in range(5))
        try:
            for n in range(points):
                answers.append(a.call(at, length * n / points, owned, act))
                waits.append(victim())
                over(a, owned)
        finally:
            owned.thaw()
            a.end()
    return waits, answers


# the IDs continue t_lease.py's

@case("X11", "A helper with a request moves to cgroup gpuhelper of v2 and of v1's freezer, memory, pids and cpu; root's stays")
def x11():
    with asker("attacker") as a:
        before = membership(a.pid)
        inside = membership(a.call(hold_final))
        for controllers, path in before.items():
            moved = any(c in tops() for c in controllers.split(","))
            assert inside[controllers] == (OWN if moved else path), (controllers, inside)
    with asker("root") as a:
        assert membership(a.call(hold_final)) == membership(a.pid)


@case("X12", "The owner of the helper's v2 cgroup freezes that cgroup while the helper has the lock: nobody else waits")
def x12():
    owned = Owned("")
    waits = at_each_window(owned, owned.freeze, **FOLDER)
    tell_points("frozen, v2", waits)


@case("X12b", "The owner of the helper's cgroup freezes it by v1's freezer while the helper has the lock: nobody else waits")
def x12b():
    owned = Owned("freezer")
    waits = at_each_window(owned, owned.freeze, **FOLDER)
    tell_points("frozen, v1", waits)


@case("X12c", "The helper's cgroup is frozen while the helper looks for ended leases or reports the status: nobody else waits")
def x12c():
    for verb in "look", "status":
        owned = Owned(*[c for c in ("", "freezer") if c in tops()])
        waits = at_each_window(owned, owned.freeze, verb=verb, gpus=None)
        tell_points("frozen, verb " + verb, waits)


@case("X13", "A helper is frozen and stopped at any point of its life: nobody else waits")
def x13():
    owned = Owned(*[c for c in ("", "freezer") if c in tops()])
    waits, stopped = at_delays(owned, stop_and_freeze)
    tell_points("frozen, and SIGSTOP, which the kernel let through %d times" % sum(stopped), waits)


@case("X14", "Killing through the cgroup in each window with the lock: the helper has left that cgroup")
def x14():
    owned = Owned("")
    if not os.path.exists(top("") + OWN + "/cgroup.kill"):
        raise Skip("no cgroup.kill here (Linux 5.14)")
    waits = at_each_window(owned, owned.kill, survives=True, **FOLDER)
    tell_points("cgroup.kill", waits)


@case("X14b", "A helper is killed by SIGKILL and cgroup.kill at any point of its life: nobody else waits")
def x14b():
    owned = Owned("")
    waits, killed = at_delays(owned, kill_both_ways)
    tell_points("cgroup.kill, and SIGKILL, which the kernel let through %d times" % sum(killed), waits)


def killed_at(n):
    """Kills the helper as root does, or as the kernel does if memory is short."""
    return subprocess.run(killat(**FOLDER) + [str(n), "locked"], capture_output=True, text=True).stdout


@case("X14c", "The kernel kills the helper in each window with the lock: the lock is free at once")
def x14c():
    waits = []
    total = int(killed_at(0).split()[0])
    for n in some(total):
        assert killed_at(n) == "killed\n", n
        waits.append(victim())
    tell_points("SIGKILL by root", waits)


@contextlib.contextmanager
def many_leases():
    """Makes the helper read much, and keep much in memory, under the lock."""
    with asker("victim") as v:
        start = read("/proc/%d/stat" % v.pid).rpartition(")")[2].split()[19]
        for n in range(300):
            planted("p%d" % n, "victim", v.pid, start)
        yield


def starve(owned, patience=0.05):
    """In the asker: stops giving memory to a helper from some point on.  True if the helper did not answer."""
    # a shell needs less memory than this process before it executes the helper
    h = Helper(["sh", "-c", "echo 0 >%s/cgroup.procs && exec %s" % (owned.dirs[0], client.HELPER)])
    h.ask(id="late", **FOLDER)
    late.append(h)
    return not select.select([h.sock], [], [], patience)[0]


@case("X15", "A helper must wait for memory of its v1 cgroup, which gets less and less: nobody else waits")
def x15():
    owned = Owned("memory")
    waits, hung = [], 0
    with many_leases(), owned, asker("attacker") as a:
        if not os.path.exists(owned.dirs[0] + "/memory.oom_control"):
            raise Skip("no memory.oom_control here")
        owned.put(a.pid)
        assert not a.call(starve, owned, patience=5)
        over(a, owned)
        enough = int(read(owned.dirs[0] + "/memory.max_usage_in_bytes"))
        owned.set(memory__oom_control="1")
        try:
            for limit in range(enough, 0, -8192):
                try:
                    owned.set(memory__limit_in_bytes=str(limit))
                except OSError:        # so much memory is in use without a helper
                    break
                hung += a.call(starve, owned)
                waits.append(victim())
                over(a, owned)
        finally:
            owned.thaw()
            a.end()
    if hung == 0:
        raise Skip("no helper ran out of memory")
    tell_points("out of memory, %d times before it answered" % hung, waits)


def throttle(pid, owned):
    """One millisecond of CPU time a second, the lowest possible limit."""
    owned.set(cpu__cfs_period_us="1000000", cpu__cfs_quota_us="1000")


@case("X15b", "A helper gets almost no CPU time in its v1 cgroup, from any point of its life on: nobody else waits")
def x15b():
    with many_leases():
        waits, _ = at_delays(Owned("cpu"), throttle)
    tell_points("throttled", waits)


def memory_of(pid):
    """The locked and the total memory of a process, in kB."""
    status = dict(line.split(":", 1) for line in read("/proc/%d/status" % pid).splitlines())
    return [int(status[name].split()[0]) for name in ("VmLck", "VmRSS")]


@case("X15c", "The helper's memory, still charged to the caller's cgroup, is locked, so no limit there can swap it out")
def x15c():
    with asker("attacker") as a:
        locked, resident = memory_of(a.call(hold_final, launch("-r", "MEMLOCK=0")))
        assert locked > resident / 2 > 0, (locked, resident)


@contextlib.contextmanager
def mounted(*argv):
    """Mounts something, and unmounts it afterwards."""
    subprocess.run(["mount", *argv], check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", argv[-1]], check=True)


@contextlib.contextmanager
def read_only():
    """Makes the cgroups read-only."""
    with contextlib.ExitStack() as stack:
        for path in tops().values():
            stack.enter_context(mounted("--bind", "-o", "ro", path, path))
        yield


def at_top(pid):
    for path in tops().values():
        write_raw(path + "/cgroup.procs", str(pid))


def stays_out(user="attacker", **how):
    """For a helper that waits for the last byte: whether it is still in its asker's cgroups."""
    with asker(user) as a:
        return membership(a.call(hold_final)) == membership(a.pid)


@case("X16", "With read-only cgroups, callers who own their cgroup are refused, by each verb; others and root are served")
def x16():
    for c in tops():
        owned = Owned(c)
        with owned, asker("attacker") as a, asker("attacker") as other, asker("root") as root:
            owned.put(a.pid, "/helper")
            owned.put(root.pid, "/helper")
            with read_only():
                for fields in FOLDER, {"verb": "look", "gpus": None}, {"verb": "status", "gpus": None}:
                    refused(a.grant(**fields), 77, "can't leave", "mount %s writable" % top(c), owned.dirs[0],
                            "not root's alone", "Read-only")
                granted(other.grant(**FOLDER))
                granted(root.grant(**FOLDER))
            granted(a.grant(**FOLDER))


@case("X16b", "Callers are also refused if somebody else owns or may write a parent of their cgroup, or one of its files", 40)
def x16b():
    def spoil(path, mode=None, user=None, back=(0o644, 0)):
        with Owned(c) as o, asker("attacker") as a:
            for d in o.parents + o.dirs:
                for name in ".", *os.listdir(d):
                    os.chown(d + "/" + name, 0, 0)
            o.put(a.pid, "/helper")
            with read_only():
                granted(a.grant(**FOLDER))
            if mode is not None:
                os.chmod(o.dirs[0] + path, mode)
            if user is not None:
                os.chown(o.dirs[0] + path, client.pwd.getpwnam(user).pw_uid, 0)
            with read_only():
                refused(a.grant(id="again", **FOLDER), 77, "can't leave", "not root's alone")
    for c in tops():
        spoil("/..", user="attacker")
        spoil("", mode=0o777)
        spoil("", mode=0o775)
        spoil("", user="victim")
        spoil("/cgroup.procs", mode=0o666)
        spoil("/cgroup.procs", user="attacker")
    c = ""
    spoil("/cgroup.freeze", user="attacker")
    spoil("/cgroup.kill", mode=0o664)


@case("X16c", "Callers are also refused for a file at the top of a cgroup namespace, which has files that a real top lacks", 40)
def x16c():
    for controller, name in ("", "cgroup.freeze"), ("", "cgroup.kill"), ("freezer", "freezer.state"), ("memory", "memory.limit_in_bytes"), \
            ("cpu", "cpu.cfs_quota_us"):
        path = top(controller) + "/" + name
        if not os.path.exists(path):
            raise Skip("%s is not there: the machine's own hierarchy is mounted, or an older kernel runs" % path)
        os.chown(path, client.pwd.getpwnam("attacker").pw_uid, 0)
        try:
            refused(once("attacker", exchange, gpus=None, folders="/srv/ro"), 77, "can't leave", name, "not root's alone")
        finally:
            os.chown(path, 0, 0)


@case("X17", "Without visible cgroups, a caller in the topmost cgroup is served; others are refused, root too")
def x17():
    for c in tops():
        with contextlib.ExitStack() as stack:
            d = top(c) + "/" + CGROUP
            os.mkdir(d)
            stack.callback(os.rmdir, d)
            low, high, root = [stack.enter_context(asker(u)) for u in ("attacker", "attacker", "root")]
            for a in low, high, root:
                at_top(a.pid)
            for a in low, root:
                write_raw(d + "/cgroup.procs", str(a.pid))
            with mounted("-t", "tmpfs", "none", "/sys/fs/cgroup"):
                refused(low.grant(**FOLDER), 77, "is not mounted", "/" + CGROUP)
                granted(high.grant(**FOLDER))
                refused(root.grant(cgroups_path="/x", **FOLDER), 74, "names a cgroup that /sys/fs/cgroup does not have")


@case("X17b", "Another part of the hierarchy is mounted: a cgroup with the same name does not pass for the caller's")
def x17b():
    for c in tops():
        other = top(c) + "/other-" + CGROUP
        owned = Owned(c)
        with owned, asker("attacker") as a:
            owned.put(a.pid)
            os.makedirs(other + "/" + CGROUP)
            try:
                with mounted("--bind", "-o", "ro", other, top(c)):
                    refused(a.grant(**FOLDER), 77, "can't leave", "is not the cgroup that")
            finally:
                os.rmdir(other + "/" + CGROUP)
                os.rmdir(other)


@case("X18", "The cgroup gpuhelper is used if root made cgroups in it, made if missing, and not used if it is not root's alone", shares=fcntl.LOCK_EX)
def x18():
    for c in tops():
        own = top(c) + OWN
        os.mkdir(own + "/of root's")
        try:
            assert not stays_out()
        finally:
            os.rmdir(own + "/of root's")
        uid = client.pwd.getpwnam("attacker").pw_uid
        for path, mode, owner in (own, 0o755, uid), (own, 0o757, 0), (own + "/cgroup.procs", 0o644, uid), \
                (own + "/cgroup.procs", 0o664, 0):
            before = os.stat(path)
            os.chmod(path, mode)
            os.chown(path, owner, 0)
            try:
                with asker("attacker") as a:
                    inside = membership(a.call(hold_final))
                    assert [k for k in inside if c in k.split(",")] and all(
                        inside[k] == v for k, v in membership(a.pid).items() if c in k.split(",")), (c, inside)
                owned = Owned(c)
                with owned, asker("attacker") as a:
                    owned.put(a.pid)
                    refused(a.grant(**FOLDER), 77, "can't leave", own, "not root's alone")
            finally:
                os.chown(path, 0, 0)
                os.chmod(path, before.st_mode & 0o7777)
        with contextlib.suppress(OSError):    # other runs' helpers may be in it
            os.rmdir(own)
            assert not stays_out()
            st = os.stat(own)
            assert (st.st_uid, st.st_gid, st.st_mode & 0o7777) == (0, 0, 0o711), st


@case("X19", "Plain files that imitate a populated cgroup delay no grant and keep no lease")
def x19():
    fields = {"cgroups_path": "/plain-" + CGROUP, "uids": None, "gids": None}
    places = ["/sys/fs/cgroup/plain-" + CGROUP] + ["/sys/fs/cgroup/%s/plain-%s" % (c, CGROUP) for c in membership() if c]
    tried = 0
    for place in places:
        if not os.path.isdir(os.path.dirname(place)):
            continue
        try:
            os.mkdir(place)
        except OSError:
            continue
        try:
            with mounted("-t", "tmpfs", "none", place):
                write(place + "/cgroup.procs", "1\n")
                with asker("root") as a:
                    granted(a.grant(gpus="1", **fields))
                client.look()
                assert leases() == [], leases()
                # how v2 reports it
                write(place + "/cgroup.events", "populated 1\nfrozen 0\n")
                with asker("root") as a:
                    granted(a.grant(gpus="1", **fields))
                client.look()
                assert leases() == [], leases()
                tried += 1
        finally:
            os.rmdir(place)
    if tried == 0:
        raise Skip("no cgroups here in which a directory can be made")
    print("# in %d places" % tried)


@contextlib.contextmanager
def plain_over(cgroup, pid):
    """Puts plain files in the place of a process's cgroup, which claim that only this process is in it."""
    with mounted("-t", "tmpfs", "none", cgroup):
        write(cgroup + "/cgroup.procs", "%d\n" % pid)
        write(cgroup + "/cgroup.events", "populated 1\nfrozen 0\n")
        yield


def of_rules():
    """The hierarchy with the device rules: v2 if there is no other."""
    return cgroup2() if cgroup2() == "/sys/fs/cgroup" else top("devices")


@case("X19b", "A directory with such plain files does not pass for the cgroup of root's asker")
def x19b():
    with Cgroup(CGROUP, of_rules()) as cgroup, asker("root") as a:
        write_raw(cgroup.dirs[0] + "/cgroup.procs", str(a.pid))
        fields = {"cgroups_path": "/x-" + CGROUP, "uids": None, "gids": None, **FOLDER}
        granted(a.grant(**fields))
        with plain_over(cgroup.dirs[0], a.pid):
            refused(a.grant(**fields), 74, "names a cgroup that /sys/fs/cgroup does not have")


@case("X19c", "A directory with such plain files does not pass for the container's cgroup: the lease keeps its cgroups")
def x19c():
    for c in tops():
        with Cgroup(CGROUP, top(c)) as cgroup, asker("attacker") as a:
            granted(a.grant(id="x", **FOLDER))
            guesses = leases()[0]["cgroups"]
            pid = a.call(spawn_held)
            write_raw(cgroup.dirs[0] + "/cgroup.procs", str(pid))
            try:
                with plain_over(cgroup.dirs[0], pid):
                    assert a.call(exchange, verb="created", id="x", gpus=None)[1] == {"reply": "noted"}
                    assert leases()[0]["cgroups"] == guesses, (c, leases()[0]["cgroups"], guesses)
                # once nobody else is in it, the real cgroup counts as the container's
                cgroup.p.kill()
                cgroup.p.wait()
                assert a.call(exchange, verb="created", id="x", gpus=None)[1] == {"reply": "noted"}
                assert leases()[0]["cgroups"] != guesses, (c, guesses)
            finally:
                os.kill(pid, 9)
        client.look()


@case("X19d", "A cgroup with somebody else in it does not count as a container's own, whoever came first")
def x19d():
    for c in tops():
        with Cgroup(CGROUP, top(c)) as cgroup, asker("attacker") as a:
            granted(a.grant(id="x", **FOLDER))
            guesses = leases()[0]["cgroups"]
            pid = a.call(spawn_held)
            # in all orders: a lower or higher PID, joining before or after the container's process
            with background("sleep", "60") as later:
                try:
                    for first, second in (cgroup.p.pid, pid), (pid, cgroup.p.pid), (later.pid, pid), (pid, later.pid):
                        for who in first, second:
                            write_raw(cgroup.dirs[0] + "/cgroup.procs", str(who))
                        assert sorted(map(int, read(cgroup.dirs[0] + "/cgroup.procs").split())) == sorted((first, second))
                        assert a.call(exchange, verb="created", id="x", gpus=None)[1] == {"reply": "noted"}
                        assert leases()[0]["cgroups"] == guesses, (c, leases()[0]["cgroups"], guesses)
                        for who in first, second:
                            write_raw(os.path.dirname(cgroup.dirs[0]) + "/cgroup.procs", str(who))
                    write_raw(cgroup.dirs[0] + "/cgroup.procs", str(pid))
                    assert a.call(exchange, verb="created", id="x", gpus=None)[1] == {"reply": "noted"}
                    assert leases()[0]["cgroups"] != guesses, (c, guesses)
                finally:
                    os.kill(pid, 9)
        client.look()


def has_place(uid):
    """Whether the first of the user's places in the crowd (crowd.h) is taken."""
    with contextlib.suppress(FileNotFoundError), open("%s/locks/door-%d-0" % (RUN, uid)) as f:
        try:
            fcntl.flock(f, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


@case("X20", "A looker that cannot be killed keeps its helper's place, so a user has no more lookers than places", 20)
def x20():
    uid = client.pwd.getpwnam("attacker").pw_uid
    # SIGKILL does not end a process that v1 has frozen, nor one that waits for some locks of the kernel
    with Owned("freezer") as owned:
        with asker("attacker") as a:
            assert not has_place(uid)
            # a helper that waits for the last byte has a looker at work
            helper = a.call(hold_final)
            looker = looker_of(helper)
            owned.put(looker, "/helper")
            owned.freeze()
            os.kill(helper, signal.SIGKILL)
            assert gone(helper) and not gone(looker, 20), "the looker has ended, frozen"
            assert has_place(uid), "nobody has the place, and the looker is there"
        owned.thaw()
        assert gone(looker)
        for _ in range(200):
            if not has_place(uid):
                return
            time.sleep(0.005)
        raise AssertionError("nobody is there, and the place is taken")


halves = []


def begin(owned, verb):
    """In the asker: sends only as much of a request as names the verb."""
    h = Helper(start=owned.join)
    data = client.frame(client.request(verb=verb, gpus=None, folders="/srv/ro"))
    halves.append((h, data[40:]))
    h.send(data[:40])
    return h.p.pid


def finish():
    """In the asker: sends the rest, and keeps the connection open."""
    h, rest = halves[-1]
    h.send(rest)
    return h.reply().get("reply")


def children(pid):
    return [int(c) for c in read("/proc/%d/task/%d/children" % (pid, pid)).split()]


@case("X35", "No process that looks is in its caller's cgroup, where the caller could stop the look", 20)
def x35():
    controller = "freezer" if "freezer" in tops() else ""
    with Owned(controller) as owned, asker("attacker") as a:
        for verb in "look", "status":
            pid = a.call(begin, owned, verb)
            looker = looker_of(pid)
            time.sleep(0.3)
            assert membership(looker)[controller].endswith("/helper"), "the looker has left its caller's cgroup before the request"
            # the helper moves the looker itself, and not its children
            assert children(looker) == [], (verb, children(looker))
            assert a.call(finish) in ("noted", "status"), verb
        pid = a.call(begin, owned, "grant")
        assert a.call(finish) == "grant"
        looker = looker_of(pid)
        # the reply to a grant of folders does not wait for the looker
        for _ in range(400):
            if children(looker):
                break
            time.sleep(0.005)
        assert children(looker) != [] and not [p for p in (looker, *children(looker)) if membership(p)[controller].endswith("/helper")]


def take(owned):
    """In the asker: gets a grant of folders, and gives it back."""
    h = Helper(start=owned.join).ask(id="kept", gpus=None, folders="/srv/ro")
    reply = h.kind()
    h.close()
    h.wait()
    return reply


@case("X36", "What the helper keeps for everybody is not charged to its caller's cgroup", 20)
def x36():
    forget_answers()
    with etc(), Owned("memory") as owned, asker("attacker") as a:
        write(POLICIES + "/60-long.conf", 'identity = "caller"; callers = [ "root" ]; gpus = ( { vendor = "nvidia"; } ); /* %s */' % ("x" * 250000))
        assert a.call(take, owned) == "grant"
        assert os.stat(RUN + "/read/policies").st_size > 250000
        charged = {k: int(v) for k, v in (line.split() for line in read(owned.dirs[0] + "/memory.stat").splitlines())}
        assert charged["shmem"] < 100000, charged
