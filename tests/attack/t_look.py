"""gpuhelper-look under an attacker's control: it says false numbers at most.  And what keeps others from it."""
import contextlib
import fcntl
import grp
import json
import os
import pwd
import re
import shutil
import signal
import socket
import subprocess
import struct
import time

import client
from client import exchange, once
from harness import *
from t_acl import Closed, hold_open, mapped, named
from t_engine import AUTHZ, ENGINE, specs
from t_lease import Openable
from t_process import LOOK, hold_final, inside, looker_of, poke
from t_reader import FOLDER, evil, of_another_version, rights, status_of, user_changed

CAPABILITIES = 1 << 2 | 1 << 19 | 1 << 40	# dac_read_search, sys_ptrace, checkpoint_restore
# where the numbers of an answer are (ask/lookquery.h)
VERSION, FORM, NONCE, UNTIL, LEFT, DIRS, YES, BOOT, BLOCKED, SIGHT, DOUBT, PID, HOLDER = \
    0, 16, 24, 32, 40, 44, 48, 52, 56, 60, 64, 68, 72


def word(n):
    return struct.pack("<I", n & 0xffffffff).hex()


def lying(*patch, how="patch"):
    """gpuhelper-look with these numbers in each of its answers; «numbers»: in those that are no lines."""
    return evil(how, *[str(w) for w in patch], answer=-1, program_of=LOOK)


def lookers(pid):
    """The two processes of a helper's looker."""
    watcher = looker_of(pid)
    for _ in range(400):
        found = [int(c) for c in read("/proc/%d/task/%d/children" % (watcher, watcher)).split()]
        if found:
            return watcher, found[0]
        time.sleep(0.005)
    raise AssertionError("the looker has started no process")


@case("Q18", "gpuhelper-look has a user of its own, three capabilities, and no file but its channel; it ends with its helper", 60)
def q18():
    user = pwd.getpwnam("gpuhelper-look")
    assert user.pw_uid != 0 and "gpuhelper-look" not in grp.getgrnam("gpuhelper").gr_mem
    with asker("attacker") as a:
        helper = a.call(hold_final)
        inside(helper)
        both = lookers(helper)
        for pid in both:
            got = status_of(pid)
            assert got["Uid"].split() == [str(user.pw_uid)] * 4 and got["Gid"].split() == [str(user.pw_gid)] * 4, got
            assert got["Groups"].split() == [], got["Groups"]
            assert [int(got["Cap" + k], 16) for k in ("Prm", "Eff")] == [CAPABILITIES] * 2, got
            assert [int(got["Cap" + k], 16) for k in ("Inh", "Bnd", "Amb")] == [0] * 3, got
            assert got["NoNewPrivs"] == "1" and got["Seccomp"] == "2", got
            assert os.stat("/proc/%d/fd" % pid).st_uid == 0, "it can be dumped"
            fds = {int(n): os.readlink("/proc/%d/fd/%s" % (pid, n)) for n in os.listdir("/proc/%d/fd" % pid)}
            assert {n for n, path in fds.items() if path == "/dev/null"} == {0, 1, 2}, fds
            assert fds[3].startswith("socket:") and fds[4].startswith(RUN + "/locks/door-") and fds[5] == "/", fds
            # its own schedstat, and /proc
            assert all(re.fullmatch("/([0-9]+/schedstat)?|/proc.*", path) for n, path in fds.items() if n > 5), fds
        os.kill(helper, signal.SIGKILL)
        assert all(map(gone, both)), both


@case("Q19", "gpuhelper-look answers what no look can find: it counts as if nothing could be seen", 120)
def q19():
    before = rights()
    with asker("attacker") as a:
        granted(a.grant(id="kept", gpus=GPU0))
        held = rights()
        with lying():
            client.look()
        assert len(leases()) == 1
        lies = [(VERSION, "78", 78), (FORM, "ffff", 78), (NONCE, "0102030405060708", 70), (YES, word(2), 70), (BOOT, word(256), 70),
                (LEFT, word(-1), 70), (DIRS, word(-1), 70), (UNTIL, "ffffffffffffff7f", 70), (SIGHT, word(16), 70),
                (DOUBT, word(99), 70), (PID, word(-1), 70), (HOLDER, word(1 << 31), 70), (HOLDER, word((1 << 31) - 1), 70)]
        for at, what, code in lies:
            with lying(at, what):
                once("root", exchange, verb="look", gpus=None)
                refused(once("victim", exchange, id="v", gpus="0000:af:00.0"), code, "gpuhelper-look")
                refused(once("victim", exchange, id="f", **FOLDER), code, "gpuhelper-look")
            client.look()
            assert len(leases()) == 1 and rights() == held, (at, what, leases())
        for how, code in ("half", 75), ("huge", 75), ("more", 70), ("none", 75), ("garbage", 78):
            with evil(how, answer=-1, program_of=LOOK):
                refused(once("root", exchange, verb="look", gpus=None), code, "gpuhelper-look")
                refused(once("victim", exchange, id="v", gpus="0000:af:00.0"), code, "gpuhelper-look")
            assert len(leases()) == 1 and rights() == held, (how, leases())
    client.look()
    assert leases() == [] and rights() == before


@case("Q20", "gpuhelper-look, taken over, says false numbers: the helper does to that lease what it says, and nothing else", 120)
def q20():
    before = rights()
    sentinel = subprocess.Popen(["sleep", "100"])
    try:
        for lie in (YES, word(0)), (BOOT, word(1)):
            with asker("attacker") as a:
                granted(a.grant(id="alive", gpus=GPU0))
                with lying(*lie):
                    client.look()
                assert leases() == [] and rights() == before, (lie, leases())
        with asker("attacker") as a:
            granted(a.grant(id="over", gpus=GPU0))
        # somebody keeps it, looks took a long time, the container's process has no node
        for lie in (YES, word(1)), (BLOCKED, word(-1), YES, word(1)), (SIGHT, word(3), YES, word(1)):
            with lying(*lie):
                client.look()
            assert len(leases()) == 1, lie
        client.look()
        assert leases() == [] and rights() == before
        for lie in (HOLDER, word(sentinel.pid)), (HOLDER, word(-sentinel.pid)), (DOUBT, word(6) + word(sentinel.pid)):
            with lying(*lie, how="numbers"):
                refused(once("victim", exchange, id="v", gpus=GPU0), 75)
            assert sentinel.poll() is None and leases() == [] and rights() == before, lie
    finally:
        sentinel.kill()
        sentinel.wait()
    granted(once("victim", exchange, gpus=GPU0))


def nothing_is_seen(code, *words, seconds=(5, 5, 5)):
    """An exclusive GPU and a folder are refused, in so many seconds at most, and no lease ends."""
    before = sorted(l["id"] for l in leases())
    asks = ("root", {"verb": "look"}), ("victim", {"id": "v", "gpus": "0000:af:00.0"}), ("victim", {"id": "f", **FOLDER})
    for (user, ask), most in zip(asks, seconds):
        began = time.monotonic()
        refused(once(user, exchange, **ask), code, *words)
        assert time.monotonic() - began < most, (ask, time.monotonic() - began)
    assert sorted(l["id"] for l in leases()) == before, leases()


@case("Q21", "gpuhelper-look or its user is missing, it is of another version or silent: no lease ends, and the remedy is told", 120)
def q21():
    with asker("attacker") as a:
        granted(a.grant(id="over", gpus=GPU0))
    with without(LOOK):
        nothing_is_seen(78, "gpuhelper-look: No such file or directory: install it (make install)")
    with user_changed("gpuhelper-look", lambda fields: []):
        nothing_is_seen(78, "has no user gpuhelper-look", "systemd-sysusers")
    with user_changed("gpuhelper-look", lambda fields: fields[:2] + ["0"] + fields[3:]):
        nothing_is_seen(78, "root", "gpuhelper-look")
    with of_another_version(LOOK):
        nothing_is_seen(78, "gpuhelper and gpuhelper-look differ in version: install both again (make install)")
    with evil("silent", answer=0, program_of=LOOK):
        # for folders, nobody else waits meanwhile
        nothing_is_seen(75, "gpuhelper-look", seconds=(6, 10, 10))
    assert len(leases()) == 1, leases()
    client.look()
    assert leases() == [], leases()


def shoot(sig, ms):
    """As root: sends the signal to the first looker that appears, and to its copies, so long afterwards."""
    end = time.monotonic() + 5
    while time.monotonic() < end:
        if next(named("gpuhelper-look"), None) is None:
            continue
        time.sleep(ms / 1000)
        for pid in named("gpuhelper-look"):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, sig)
        return


@case("Q23", "gpuhelper-look is killed or stopped at some moment while a process keeps the GPU of an ended lease: nobody gets it", 120)
def q23():
    with Openable(), asker("attacker") as holder, asker("root") as shooter:
        with asker("attacker") as a:
            granted(a.grant(id="first", gpus=GPU0))
            holder.call(hold_open)
        for n in range(12):
            shooter.tell(shoot, signal.SIGSTOP if n % 3 == 0 else signal.SIGKILL, n)
            began = time.monotonic()
            answer = once("victim", exchange, id="v%d" % n, gpus=GPU0)
            assert answer[1]["reply"] == "refused" and answer[0] in (69, 74, 75), (n, answer)
            assert time.monotonic() - began < 12, n
            shooter.hear()
            assert [l["id"] for l in leases()] == ["first"], leases()
    client.look()


@case("Q22", "Neither the caller nor another program's user can signal, trace or slow down gpuhelper-look", 60)
def q22():
    with asker("attacker") as a:
        helper = a.call(hold_final)
        inside(helper)
        for pid in lookers(helper):
            assert a.call(poke, pid) == [], pid
            for user in "victim", "gpuhelper-read", "gpuhelper-judge":
                with asker(user) as b:
                    assert b.call(poke, pid) == [], (pid, user)
            # one that somebody gave its user all the same: signals, but no memory
            with asker("gpuhelper-look") as b:
                assert not {"ptrace", "mem", "pidfd_getfd"} & set(b.call(poke, pid)), pid


DEEP, SECRET = "/srv/deep", "/srv/secret"


@contextlib.contextmanager
def deep():
    """A folder with folders beneath it, which the victim may name; one of them is everybody's, and has links in it."""
    os.makedirs(DEEP + "/fine")
    os.makedirs(DEEP + "/open/dir")
    os.chmod(DEEP + "/open", 0o777)
    os.mkdir(SECRET, 0o700)
    os.symlink(SECRET, DEEP + "/link")
    os.symlink("/etc", DEEP + "/open/link")
    write(DEEP + "/file", "x")
    try:
        with etc():
            write(POLICIES + "/05-deep.conf", 'identity = "caller"; callers = [ "victim" ]; folders = ( { path = "%s"; access = "ro"; '
                  'subfolders = true; }, { path = "%s/f*"; access = "ro"; } );' % (DEEP, DEEP))
            yield
    finally:
        shutil.rmtree(DEEP)
        os.rmdir(SECRET)


def found(*paths):
    """gpuhelper-look with an answer that has found these: (index of what was sought, path, its place)."""
    return evil("rest", "paths", "paths~0~-~0~0^" + "".join("found~%d~%s~%s^" % (of, path, at.replace(" ", "%20")) for of, path, at in paths) +
                "end^", answer=-1, program_of=LOOK)


@case("Q32", "gpuhelper-look, taken over, says that a folder is fine: root gives none but the policy's, by a path that only root can change", 120)
def q32():
    def ask(folder):
        return once("victim", exchange, id="f", gpus=None, folders=folder)

    with deep():
        granted(ask(DEEP + "/fine"))
        client.look()
        # what an honest one refuses
        for folder in DEEP + "/link", DEEP + "/open/dir", DEEP + "/open/link", DEEP + "/file", DEEP + "/none":
            answer = ask(folder)
            assert answer[1]["reply"] == "refused" and "folder " + folder in answer[1]["text"], answer
            with found((0, folder, "8:1 /x")):
                refused(ask(folder), answer[0], "folder " + folder)
        # what was not asked for
        for of, path, at in ((0, SECRET, "8:1 /x"), (0, DEEP, "8:1 /x"), (0, DEEP + "/fine/../../etc", "8:1 /x"), (1, DEEP + "/fine", "8:1 /x"),
                             (4294967295, DEEP + "/fine", "8:1 /x"), (0, DEEP + "/fine", "8:1"), (0, DEEP + "/fine", "/x"),
                             (0, DEEP + "/fine", "8:1 /%ff"), (0, "-", "8:1 /x")):
            with found((of, path, at)):
                refused(ask(DEEP + "/fine"), 70, "gpuhelper-look")
        # once it may have looked at a process, nobody gets its words
        for answer, words in ((0, True), (1, False)):
            with evil("rest", "paths", "paths~7~SECRET~0~0^end^", answer=answer, program_of=LOOK):
                told = ask(DEEP + "/fine")
            assert told[1]["reply"] == "refused" and ("SECRET" in told[1]["text"]) == words, (answer, told)
        # it may say that the folder lies elsewhere (the wrapper compares that with the mount), or that there is none
        for lie in ((0, DEEP + "/fine", "8:1 /elsewhere"),), ():
            with found(*lie):
                granted(ask(DEEP + "/fine"))
            client.look()
        assert leases() == [], leases()


@case("Q33", "gpuhelper-look, taken over, says of folders and driver files what it was not asked, or other than before: nobody hears it", 60)
def q33():
    # a grant that finds a GPU open begins again: what the looker says by then must be what it said first
    with evil("rest", "paths", "paths~0~-~0~0^found~0~/srv/ro~8:1%20/WHISPER^end^", answer=1, program_of=LOOK):
        told = once("victim", exchange, id="f", gpus=None, folders="/srv/ro")
    assert told[1]["reply"] == "refused" and "WHISPER" not in json.dumps(told[1]) + read(LOG), told
    # a driver's file that nobody found, and one that is not where it was sought
    with specs():
        for lie in "0~-~0~0^end^", "0~-~0~0^found~0~/etc/shadow~8:1%20/x^end^", "7~WHISPER~0~0^end^", "0~-~0~0^found~9~/srv/driver/x~8:1%20/x^end^":
            with evil("rest", "paths", "paths~" + lie, answer=1, program_of=LOOK):
                told = once("victim", exchange, id="d", gpus=GPU1, folders="none")
            assert told[1]["reply"] == "refused" and "gpuhelper-look" in told[1]["text"] and "WHISPER" not in told[1]["text"], (lie, told)
    assert leases() == [], leases()


@case("Q34", "gpuhelper-look, taken over, says where a container's cgroups may be: no lease leads out of /sys/fs/cgroup, none is without", 60)
def q34():
    def told(*cgroups):
        return evil("rest", "paths", "paths~0~-~0~0^" + "".join("cgroup~%s^" % c for c in cgroups) + "end^", answer=0, program_of=LOOK)

    before = rights()
    for cgroup in "/a", "-", "..", "a/../../../etc", "a//b", "a/", "a%0Ab", "a%FF":
        with told("a", cgroup):
            refused(once("victim", exchange, id="c", gpus=GPU1), 70, "gpuhelper-look")
        assert leases() == [] and rights() == before, cgroup
    # without a cgroup, nothing would keep the lease of a container that root's runtime makes
    granted(once("root", exchange, id="c", gpus=GPU1))
    client.look()
    with told():
        refused(once("root", exchange, id="c", gpus=GPU1), 74, "names no cgroup")
    # a cgroup that is not there: the lease ends when its client has gone, and others keep theirs
    with asker("attacker") as a:
        granted(a.grant(id="alive", gpus=GPU0))
        with told("nowhere"):
            granted(once("victim", exchange, id="c", gpus=GPU1))
        client.look()
        assert [l["id"] for l in leases()] == ["alive"], leases()
    client.look()
    assert leases() == [] and rights() == before, leases()


def starts(pid):
    return int(read("/proc/%d/stat" % pid).rsplit(")", 1)[1].split()[19])


@contextlib.contextmanager
def pausing(r, *engine_lies):
    """A container of root's that only pauses, and that was promised a GPU; a process of it waits. Its lease, and how to write that anew."""
    dirs = ["/sys/fs/cgroup/%s/wait-%s" % (c, CGROUP) for c in ("pids", "devices")]
    procs = [subprocess.Popen(["sleep", "100"]) for _ in range(2)]
    try:
        for d in dirs:
            os.mkdir(d)
        write(dirs[1] + "/devices.deny", "a")
        for d in dirs:
            for p in procs:
                write(d + "/cgroup.procs", str(p.pid))
        with evil("replace", *engine_lies, answer=AUTHZ, program_of=ENGINE) if engine_lies else contextlib.nullcontext():
            granted(r.grant(id="h", gpus=GPU0, promises=True, init_path="/tmp/garden-init", cgroups_path="/" + CGROUP, **mapped(600000)))
        held, = leases()
        path, = glob.glob(RUN + "/leases/*")
        waiter, init = procs
        # as «created» would note it
        put_lease(path, held, init=init.pid, init_start=starts(init.pid), cgroups=[d[len("/sys/fs/cgroup/"):] for d in dirs],
                  pausing={**held["pausing"], "gate": dirs[1][len("/sys/fs/cgroup/"):]})
        yield {"verb": "task", "id": "h", "gpus": None, "waiter": [waiter.pid, starts(waiter.pid)]}, init.pid
    finally:
        for p in procs:
            p.kill()
            p.wait()
        for d in dirs:
            os.rmdir(d)
        client.look()


@case("Q35", "gpuhelper-look does not answer, or names another process as the one that waits: the task asks again, or gets nothing", 120)
def q35():
    with Closed(), asker("root") as r, pausing(r) as (task, init):
        for how in "none", "half", "garbage":
            with evil(how, answer=-1, program_of=LOOK):
                answer = r.grant(**task)
            # «busy» is no refusal: the build goes on
            assert answer[1]["reply"] == ("refused" if how == "garbage" else "busy"), (how, answer)
            assert leases()[0]["state"] == "promised", leases()
        for other in init, 1, os.getpid(), 0:
            with evil("patch", str(SIGHT), word(other), answer=0, program_of=LOOK):
                refused(r.grant(**task), 77, "no process")
            assert leases()[0]["state"] == "promised", leases()
        answer = r.grant(**task)
        assert answer[1]["reply"] == "noted" and leases()[0]["state"] == "held", answer
    assert leases() == [], leases()


def started_together():
    """Two processes that started in one tick of the clock, each number 1 of a PID namespace of its own; and what made them."""
    for _ in range(50):
        makers = [subprocess.Popen(["unshare", "--pid", "--fork", "--kill-child", "sleep", "100"], stderr=subprocess.DEVNULL) for _ in range(6)]
        seen = {}
        for m in makers:
            children = "/proc/%d/task/%d/children" % (m.pid, m.pid)
            while not read(children).split():
                time.sleep(0.001)
            pid = int(read(children).split()[0])
            if starts(pid) in seen:
                return (seen[starts(pid)], pid), makers
            seen[starts(pid)] = pid
        end_all(makers)
    raise AssertionError("no two processes start in one tick")


def end_all(processes):
    for p in processes:
        p.kill()
        p.wait()


@case("Q38", "Two processes of a container have the number and the start of the one that waits: neither gets the GPU", 60)
def q38():
    with Closed(), asker("root") as r, pausing(r) as (task, init):
        (one, other), makers = started_together()
        try:
            wanted = {**task, "waiter": [1, starts(one)]}
            for pid in one, other:
                for c in "pids", "devices":
                    write("/sys/fs/cgroup/%s/wait-%s/cgroup.procs" % (c, CGROUP), str(pid))
            refused(r.grant(**wanted), 77, "no process")
            os.kill(other, signal.SIGKILL)
            time.sleep(0.2)
            assert r.grant(**wanted)[1]["reply"] == "noted" and leases()[0]["pausing"]["task"] == one, (one, leases())
        finally:
            end_all(makers)
            # --kill-child: the kernel ends these with them
            time.sleep(0.2)


def early(task, second):
    """In the asker: asks for a task that is not there yet.  Returns what the helper says once it has heard «second»."""
    h = client.Helper()
    h.send(client.frame(client.request(**{**task, "waiter": [0, 0]})))
    until = time.monotonic() + 5
    while [l["state"] for l in leases()] != ["taking"]:
        assert time.monotonic() < until, leases()
        time.sleep(0.01)
    # nobody else gets the GPU meanwhile
    said = subprocess.run(["python3", client.__file__, "--user", "victim", "--set", "gpus=" + json.dumps(GPU0)], stdout=subprocess.PIPE, text=True).stdout
    assert said.startswith("status=75"), said
    if second == "killed":
        h.p.kill()
    elif second == "closed":
        h.sock.shutdown(socket.SHUT_WR)
    elif second is not None:
        h.send(second)
    return h.result()


@case("L41", "A task asks before it is there: silence, garbage, another process, a killed helper leave the GPU free; its own takes it", 120)
def l41():
    with Closed(), asker("root") as r, pausing(r) as (task, init):
        def naming(pid, start):
            return client.frame(client.request(**{**task, "waiter": [pid, start]}))
        before = rights()
        for what, second in ("silent", None), ("closed", "closed"), ("garbage", b"GPUH" + b"x" * 100), \
                ("init", naming(init, starts(init))), ("a stranger", naming(1, starts(1))), ("none", naming(0, 0)), \
                ("another start", naming(task["waiter"][0], 1)), ("another verb", client.frame(client.request(gpus=GPU0))), ("its end", client.frame(client.request(**{**task, "verb": "over"}))):
            began = time.monotonic()
            answer = r.call(early, task, second)
            assert answer[1].get("reply") in ("busy", "refused") and time.monotonic() - began < 8, (what, answer)
            assert [l["state"] for l in leases()] == ["promised"] and rights() == before, (what, leases())
        # as many helpers wait for a runtime already as may
        with contextlib.ExitStack() as slots:
            for n in range(8):
                fcntl.flock(slots.enter_context(open(RUN + "/locks/door-0-%d" % n, "a")), fcntl.LOCK_EX | fcntl.LOCK_NB)
            began = time.monotonic()
            assert r.grant(**{**task, "waiter": [0, 0]})[1]["reply"] == "busy" and time.monotonic() - began < 4
            assert [l["state"] for l in leases()] == ["promised"], leases()
        # nobody knows at once that the helper was killed: after a while, the GPU can be taken
        r.call(early, task, "killed")
        until = time.monotonic() + 15
        while (answer := r.grant(**task))[1]["reply"] == "busy":
            assert time.monotonic() < until, leases()
            time.sleep(0.2)
        assert answer[1]["reply"] == "noted" and leases()[0]["state"] == "held", answer
        # what the container holds now says nothing of a task that is not there
        assert r.grant(**{**task, "waiter": [0, 0]})[1]["reply"] == "busy"
    assert leases() == [], leases()
    with Closed(), asker("root") as r, pausing(r) as (task, init):
        answer = r.call(early, task, client.frame(client.request(**task)))
        assert answer[1]["reply"] == "noted" and leases()[0]["state"] == "held", answer
    assert leases() == [], leases()


begun = []


def begin_early(task):
    """In the asker: asks for a task that is not there yet; returns the helper's PID."""
    begun.append(client.Helper())
    begun[-1].send(client.frame(client.request(**{**task, "waiter": [0, 0]})))
    return begun[-1].p.pid


def end_early(task):
    """In the asker: names the task's process; returns what the helper says."""
    begun[-1].send(client.frame(client.request(**task)))
    return begun[-1].result()


def taken_by(a):
    until = time.monotonic() + 20
    while [(l["state"], l["pausing"]["giver"]) for l in leases()] != [("taking", a.pid)]:
        assert time.monotonic() < until, (a.pid, leases())
        time.sleep(0.05)


def stood_still(r, s, task):
    """True if the second helper keeps the GPU that it took while the first one stood still."""
    first = r.call(begin_early, task)
    taken_by(r)
    os.kill(first, signal.SIGSTOP)
    try:
        # base/times.h, REVOKING_MS
        time.sleep(10.5)
        s.call(begin_early, task)
        taken_by(s)
    finally:
        os.kill(first, signal.SIGCONT)
    answer = r.call(end_early, task)
    assert answer[1].get("reply") in ("busy", "refused"), answer
    state = leases()[0]["state"]
    return (state, s.call(end_early, task)[1]["reply"], leases()[0]["state"]) == ("taking", "noted", "held")


@case("L42", "A task's helper stands still until another one has begun anew: it takes nothing back from that one", 90)
def l42():
    with Closed(), asker("root") as r, asker("root") as s, pausing(r) as (task, init):
        # the second helper waits for five seconds only, which a busy machine may need
        assert any(stood_still(r, s, task) for _ in range(3)), leases()
    assert leases() == [], leases()


@case("Q36", "gpuhelper-engine, taken over, packs another pipeline into a promise's lease than it told: no task is judged by it", 120)
def q36():
    caller, prod = "identity%20caller%20no%20no%20no%20no%0A", "identity%20token%20yes%20main%20yes%20prod%20no%20yes%20https://ci%0A"
    with Closed():
        with asker("root") as r, pausing(r) as (task, _):
            assert r.grant(**task)[1]["reply"] == "noted"
        client.look()
        with asker("root") as r, pausing(r, caller, prod) as (task, _):
            n = len(records())
            refused(r.grant(**task), 77, "does not name its pipeline")
            assert leases()[0]["state"] == "promised", leases()
            refusal, = records()[n:]
            assert refusal["event"] == "refuse" and refusal["identity"] == "caller" and "pipeline" not in refusal, refusal
    assert leases() == [], leases()
