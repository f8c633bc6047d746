"""Attacks on the audit log's chain, by writers that die, stall or fill the disk, and by changes to the files."""
import contextlib
import fcntl
import gzip
import hashlib
import json
import os
import shutil
import struct
import subprocess
import threading
import time

import client
from client import exchange, once
from harness import *
from t_cgroup import Owned, at_each_window, killat, read_only, tell_points, tops

HEAD = "/var/lib/gpuhelper/audit.head"
CTL = "/usr/sbin/gpuhelperctl"
FOLDER = dict(gpus=None, folders="/srv/ro")


def verify(*words):
    r = subprocess.run([CTL, "audit", "verify", "--json", *words], capture_output=True, text=True)
    return json.loads(r.stdout)


def status(*words):
    return subprocess.run([CTL, "audit", "verify", *words], stdout=subprocess.DEVNULL).returncode


def whole():
    v = verify()
    assert v["ok"] and v["compared"] and v["count"] > 0, v
    return v


@contextlib.contextmanager
def fresh_log():
    """Starts a new chain, so that earlier cases do not count."""
    kept = [p for p in (LOG, HEAD) if os.path.exists(p)]
    for p in kept:
        os.rename(p, os.path.dirname(p) + "/.kept-" + os.path.basename(p))
    try:
        yield
    finally:
        for p in (LOG, HEAD):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(p)
        for p in kept:
            os.rename(os.path.dirname(p) + "/.kept-" + os.path.basename(p), p)


def a_grant(user="victim"):
    return granted(once(user, exchange, **FOLDER))


def append_many(count):
    """Appends records to the chain without updating the head."""
    v = verify()
    n, prev = v["last"], v["hash"]
    with open(LOG, "a") as f:
        for n in range(n + 1, n + count + 1):
            line = '{"n":%d,"prev":"%s","time":"2026-11-20T23:06:00Z","event":"refuse","reason":"%s"}' % (n, prev, "x" * 400)
            prev = hashlib.sha256(line.encode()).hexdigest()
            f.write(line + "\n")


@contextlib.contextmanager
def chain_held():
    # in another process, because forked askers would inherit the lock
    hold = "import fcntl, sys, time; f = open(sys.argv[1], 'r+'); fcntl.flock(f, fcntl.LOCK_EX); print(flush=True); time.sleep(60)"
    p = subprocess.Popen(["python3", "-c", hold, HEAD], stdout=subprocess.PIPE)
    p.stdout.readline()
    try:
        yield
    finally:
        p.kill()
        p.wait()


@case("H1", "Helpers of several users write at once: one chain, with every record once and none outside it", 40)
def h1():
    def ask(user, count, answers):
        for i in range(count):
            answers.append(once(user, exchange, id="h%d" % i, gpus="9" if i % 3 == 0 else None, folders="/srv/ro"))

    with fresh_log():
        answers = []
        threads = [threading.Thread(target=ask, args=(u, 8, answers)) for u in ("victim", "attacker", "root", "victim", "root")]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        v = whole()
        told = [r["event"] for r in records()]
        assert v["outside"] == 0 and v["torn"] == 0 and v["first"] == 1 and v["last"] == v["count"] == len(told), v
        for event, reply in ("grant", "grant"), ("refuse", "refused"):
            assert told.count(event) == len([a for a in answers if a[1].get("reply") == reply]), (event, told, answers)
        assert told.count("grant") > 0 and told.count("refuse") > 0, told


@case("H2", "A helper is killed between writing the record and the head: the next record continues the chain")
def h2():
    with fresh_log():
        a_grant()
        before = read(HEAD)
        a_grant()
        write(HEAD, before, 0o600)
        a_grant()
        assert len(records()) == whole()["count"]
        # without any head: the helper finds the place in the log
        os.unlink(HEAD)
        a_grant()
        whole()
        for spoilt in "", "x" * 256, before[:40], "\0" * 256:
            write(HEAD, spoilt, 0o600)
            a_grant()
            whole()


@case("H3", "A partly written record is skipped: the next record has a line of its own and continues the chain")
def h3():
    with fresh_log():
        a_grant()
        with open(LOG, "a") as f:
            f.write('{"n":2,"prev":"%s","time":"20' % hashlib.sha256(read(LOG).rstrip("\n").encode()).hexdigest())
        a_grant()
        v = whole()
        assert v["torn"] == 1 and v["last"] == v["count"], v


@case("H4", "After rotation the chain continues in the new log, even if the helper had the old one open")
def h4():
    with fresh_log():
        a_grant()
        os.rename(LOG, LOG + "-1")
        try:
            a_grant()
            v = whole()
            assert v["files"] == 2 and v["first"] == 1, v
            # a helper has opened the log, and waits for the chain's lock
            answers = []
            with chain_held():
                t = threading.Thread(target=lambda: answers.append(once("victim", exchange, **FOLDER)))
                t.start()
                time.sleep(0.5)
                os.rename(LOG, LOG + "-2")
            t.join()
            granted(answers[0])
            assert len(records()) == 1, "it wrote to the old one"
            v = whole()
            assert v["files"] == 3 and v["count"] == v["last"], v
        finally:
            for n in "-1", "-2":
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(LOG + n)


@case("H5", "Verification detects changed, removed and reordered records, and a log that was cut short")
def h5():
    with fresh_log():
        for _ in range(6):
            a_grant()
        text, head = read(LOG), whole()["hash"]
        lines = text.splitlines(keepends=True)
        for name, changed in (("changed", text.replace('"uid"', '"uiD"', 1)), ("removed", "".join(lines[:2] + lines[3:])),
                              ("moved", "".join(lines[:1] + [lines[2], lines[1]] + lines[3:])), ("cut off", "".join(lines[:-1])),
                              ("the last one changed", text[:-100] + text[-100:].replace(":", ";", 1)), ("emptied", "")):
            write(LOG, changed, 0o600)
            assert not verify()["ok"], name
        write(LOG, text, 0o600)
        assert verify("--head", head)["asked"] == len(lines)


@case("H5b", "A log whose first records are gone is not intact, unless the administrator says that they were rotated away")
def h5b():
    with fresh_log():
        for _ in range(4):
            a_grant()
        lines = open(LOG).read().splitlines(True)
        with open(LOG, "w") as f:
            f.write("".join(lines[len(lines) // 2:]))
        v = verify()
        assert not v["ok"] and v["findings"][0]["message"].startswith("records 1 to "), v
        assert status() == 65 and verify("--partial")["ok"] and status("--partial") == 0 and status(LOG) == 0, v
        # the whole log was removed; the next record goes on where the chain ended
        os.unlink(LOG)
        assert status() != 0 and status("--partial") != 0, (status(), status("--partial"))
        a_grant()
        assert status() == 65 and status("--partial") == 0


@case("H6", "Only root can open the head, which is the chain's lock; if the head is not root's, nothing is granted")
def h6():
    with fresh_log():
        a_grant()
        st = os.stat(HEAD)
        assert (st.st_uid, st.st_mode & 0o7777) == (0, 0o600), st
        os.chmod(os.path.dirname(HEAD), 0o777)
        try:
            refused(once("victim", exchange, **FOLDER), 78, "/var/lib/gpuhelper")
        finally:
            os.chmod(os.path.dirname(HEAD), 0o700)
        os.rename(HEAD, HEAD + ".away")
        os.symlink("/etc/passwd", HEAD)
        try:
            refused(once("victim", exchange, **FOLDER), 74, HEAD)
        finally:
            os.unlink(HEAD)
            os.rename(HEAD + ".away", HEAD)
        a_grant()
        whole()


@case("H7", "Another helper holds the chain's lock and hangs: a waiter is refused within a second, and may ask again", 20)
def h7():
    with fresh_log():
        a_grant()
        with chain_held():
            began = time.monotonic()
            refused(once("victim", exchange, **FOLDER), 75, HEAD, "try again")
            assert time.monotonic() - began < 3.5
        a_grant()
        whole()


@case("H8", "A helper that its owner freezes while it records a refusal or the wrapper's message does not hold the chain's lock", 60)
def h8():
    with fresh_log():
        for fields in dict(verb="refused", gpus=None, reason="x"), dict(gpus="9"):
            owned = Owned(*[c for c in ("", "freezer") if c in tops()])
            waits = at_each_window(owned, owned.freeze, **fields)
            tell_points("frozen, %s" % fields.get("verb", "refused by the policy"), waits)
        whole()


@case("H9", "Records of a caller who could stall other helpers stand outside the chain; verification raises no false alarm", 20, fcntl.LOCK_SH)
def h9():
    uid = client.pwd.getpwnam("attacker").pw_uid
    count = "%s/rate/%d" % (RUN, uid)
    with fresh_log():
        a_grant()
        with Owned(*[c for c in ("", "freezer") if c in tops()]) as owned, asker("attacker") as a:
            owned.put(a.pid, "/helper")
            with read_only():
                assert a.call(exchange, verb="plain", gpus=None)[1] == {"reply": "noted"}
                refused(a.call(exchange, **FOLDER), 77, "can't leave")
                # the user has used up the daily quota of refusals (rate.h)
                now = int(time.time())
                with open(count, "wb") as f:
                    f.write(struct.pack("=2q4Q8I", now // 86400, now // 60, 16 << 20, *[0] * 11))
                try:
                    refused(a.call(exchange, **FOLDER), 77, "can't leave")
                finally:
                    os.unlink(count)
        a_grant()
        assert [r["event"] for r in records()] == ["grant", "plain", "refuse", "quota", "grant"], records()
        v = whole()
        assert v["outside"] == 3 and v["count"] == 2, v


@case("H10", "Verification reports a missing or damaged head; the next record makes a new one")
def h10():
    with fresh_log():
        for spoil in (lambda: os.unlink(HEAD), lambda: write(HEAD, "", 0o600), lambda: write(HEAD, read(HEAD)[:40], 0o600)):
            for _ in range(2):
                a_grant()
            whole()
            text = read(LOG)
            write(LOG, "".join(text.splitlines(keepends=True)[:-1]), 0o600)
            spoil()
            v = verify()
            assert not v["ok"] and any(HEAD in f["message"] for f in v["findings"]), v
            write(LOG, text, 0o600)
            a_grant()
            whole()


@case("H11", "With a head that is far behind, the chain continues at the end of the log; a cut is found, however long the log", 20)
def h11():
    with fresh_log():
        a_grant()
        append_many(3000)
        assert os.path.getsize(LOG) > 1 << 20
        a_grant()
        assert whole()["count"] == 3002
        # also in a new file, as an editor would write it
        write(LOG + ".new", "".join(read(LOG).splitlines(keepends=True)[:-1]), 0o600)
        os.rename(LOG + ".new", LOG)
        a_grant()
        v = verify()
        assert not v["ok"] and "record 3002 is missing" in v["findings"][0]["message"], v


@case("H12", "Rotation and compression during verification raise no false alarm", 60)
def h12():
    stop, trouble = threading.Event(), []

    def rotate():
        try:
            n = 0
            while not stop.is_set():
                n += 1
                old = "%s-%04d" % (LOG, n)
                os.rename(LOG, old)
                a_grant()
                with open(old, "rb") as f, gzip.open(old + ".gz", "wb") as z:
                    shutil.copyfileobj(f, z)
                os.unlink(old)
        except BaseException as e:
            trouble.append(e)

    with fresh_log():
        try:
            a_grant()
            append_many(1500)
            a_grant()
            # gzip was interrupted, or is still running
            os.rename(LOG, LOG + "-0000")
            a_grant()
            write(LOG + "-0000.gz", "")
            with open(LOG + "-0000.gz", "wb") as f:
                f.write(gzip.compress(read(LOG + "-0000").encode())[:2000])
            whole()
            t = threading.Thread(target=rotate)
            t.start()
            try:
                for _ in range(25):
                    whole()
            finally:
                stop.set()
                t.join()
            assert not trouble, trouble
        finally:
            for p in os.listdir(os.path.dirname(LOG)):
                if p.startswith("audit.jsonl-"):
                    os.unlink(os.path.dirname(LOG) + "/" + p)


@case("H13", "The end of a lease that could not be recorded, because the chain was locked, is recorded by the next look", 20)
def h13():
    def ends():
        return [r for r in records() if r["event"] == "end"]

    client.look()
    with fresh_log():
        with asker("victim") as a:
            granted(a.grant(id="late", **FOLDER))
        with chain_held():
            client.look()
        assert ends() == []
        client.look()
        assert [r["container"] for r in ends()] == ["late"], records()
        whole()


@case("H14", "A grant and a refusal are killed before each call that changes something: the next record makes the chain whole", 60)
def h14():
    def kill_at(n, fields):
        return subprocess.run(killat(**fields) + [str(n), "changes"], capture_output=True, text=True).stdout

    with fresh_log():
        a_grant()
        for fields in FOLDER, dict(gpus="9"):
            total = int(kill_at(0, fields).split()[0])
            assert total > 5, total
            for n in range(1, total + 1):
                assert kill_at(n, fields) == "killed\n", n
                a_grant()
                v = whole()
                assert v["torn"] == 0 and v["outside"] == 0 and v["count"] == len(records()), (n, v)
            print("# killed at %d points" % total)
