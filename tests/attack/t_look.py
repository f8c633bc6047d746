"""gpuhelper-look under an attacker's control: it says false numbers at most.  And what keeps others from it."""
import contextlib
import grp
import os
import pwd
import re
import shutil
import signal
import subprocess
import struct
import time

import client
from client import exchange, once
from harness import *
from t_acl import hold_open, named
from t_lease import Openable
from t_process import LOOK, hold_final, inside, looker_of, poke
from t_reader import FOLDER, evil, of_another_version, rights, status_of, user_changed

CAPABILITIES = 1 << 2 | 1 << 19 | 1 << 40	# dac_read_search, sys_ptrace, checkpoint_restore
# where the numbers of an answer are (ask/lookask.h)
VERSION, FORM, NONCE, UNTIL, LEFT, DIRS, YES, BOOT, BLOCKED, SIGHT, DOUBT, PID, HOLDER = \
    0, 16, 24, 32, 40, 44, 48, 52, 56, 60, 64, 68, 72


def word(n):
    return struct.pack("<I", n & 0xffffffff).hex()


def lying(*patch):
    """gpuhelper-look with these numbers in each of its answers."""
    return evil("patch", *[str(w) for w in patch], answer=-1, program_of=LOOK)


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
                granted(once("victim", exchange, id="f", **FOLDER))
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
            with lying(*lie):
                refused(once("victim", exchange, id="v", gpus=GPU0), 75)
            assert sentinel.poll() is None and leases() == [] and rights() == before, lie
    finally:
        sentinel.kill()
        sentinel.wait()
    granted(once("victim", exchange, gpus=GPU0))


def nothing_is_seen(code, *words):
    """An exclusive GPU is refused, folders are granted, and no lease ends."""
    refused(once("root", exchange, verb="look"), code, *words)
    before = sorted(l["id"] for l in leases())
    refused(once("victim", exchange, id="v", gpus="0000:af:00.0"), code, *words)
    granted(once("victim", exchange, id="f%d" % len(before), **FOLDER))
    assert sorted(l["id"] for l in leases()) == sorted(before + ["f%d" % len(before)]), leases()


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
        began = time.monotonic()
        nothing_is_seen(75, "gpuhelper-look")
        assert time.monotonic() - began < 14
    assert len(leases()) == 6, leases()
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
