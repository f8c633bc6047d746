"""gpuhelper-read and gpuhelper-judge under an attacker's control: the helper checks their answers, and others do not
wait.
"""
import contextlib
import os
import pwd
import re
import shutil
import signal
import subprocess
import tempfile
import time

import client
from client import exchange, once
from harness import *
from t_process import number, poke
from t_token import TOKENS, ask as ask_with, issuer, told_since

READER = "/usr/libexec/gpuhelper/gpuhelper-read"
JUDGE = "/usr/libexec/gpuhelper/gpuhelper-judge"
ENGINE = "/usr/libexec/gpuhelper/gpuhelper-engine"


@contextlib.contextmanager
def evil(*how, answer=0, program_of=READER):
    os.rename(program_of, program_of + ".real")
    try:
        shutil.copy(program("evilread"), program_of)
        os.chmod(program_of, 0o711)
        write("/etc/evil-read", " ".join((str(answer),) + how) + "\n")
        yield
    finally:
        os.rename(program_of + ".real", program_of)
        os.unlink("/etc/evil-read")


@contextlib.contextmanager
def user_changed(user, change):
    """/etc/passwd without that user's line, or with the line's fields as the function changes them."""
    passwd = read("/etc/passwd")
    line = re.search("^%s:.*\n" % user, passwd, re.M).group()
    write("/etc/passwd", passwd.replace(line, ":".join(change(line.split(":")))))
    try:
        yield
    finally:
        write("/etc/passwd", passwd)


@contextlib.contextmanager
def of_another_version(program_of):
    version = subprocess.run([program_of, "--version"], capture_output=True, text=True).stdout.split()[1].encode()
    with open(program_of, "rb") as f:
        other = f.read().replace(version + b"\0", b"9" + version[1:] + b"\0")
    os.rename(program_of, program_of + ".real")
    try:
        with open(program_of, "wb") as f:
            f.write(other)
        os.chmod(program_of, 0o711)
        yield
    finally:
        os.rename(program_of + ".real", program_of)


FOLDER = {"gpus": None, "folders": "/srv/ro"}


@case("Q1", "gpuhelper-read reports what no file may say: nothing is granted, and nothing is left", 60)
def q1():
    with evil("replace", "end", "end"):
        granted(once("victim", exchange, **FOLDER))
    client.look()
    for lie in ("/srv/ro", "/proc/1"), ("/srv/ro", "/etc/gpuhelper"), ("/srv/ro", "/srv/../etc"), ("/srv/ro", "/"), \
            ("choices", "chances"), ("seconds", "second"), ("callers", "caller"), ("end", "end%20"):
        with evil("replace", *lie):
            refused(once("victim", exchange, **FOLDER), 70, "gpuhelper-read")
        assert leases() == [], lie


@case("Q2", "gpuhelper-read answers half, too much, nothing or garbage: nothing is granted, and nothing is left", 60)
def q2():
    for how, code in ("half", 75), ("huge", 75), ("more", 70), ("none", 75), ("garbage", 78):
        with evil(how):
            refused(once("victim", exchange, **FOLDER), code, "gpuhelper-read")
        assert leases() == [], how
    granted(once("victim", exchange, **FOLDER))


@case("Q3", "gpuhelper-read is silent: its helper refuses, and nobody else waits", 60)
def q3():
    with asker("attacker") as a:
        with evil("silent"):
            a.tell(exchange, **FOLDER)
            time.sleep(1)
            began = time.monotonic()
            client.look()
            assert time.monotonic() - began < 1
            assert a.pipe.poll(15)
            refused(a.hear(), 75, "gpuhelper-read")
    granted(once("victim", exchange, **FOLDER))


# the judge's questions: first the host, then a token if there is one, then the verdict
HOST, TOKEN = 0, 1
VERDICT, AFTER_TOKEN = 1, 2


def bindings():
    return os.listdir(TOKENS) if os.path.isdir(TOKENS) else []


@case("Q4", "gpuhelper-judge reports what no token can say: nothing is granted or bound, and nothing is left", 60)
def q4():
    with issuer() as token:
        t = token()
        with evil("replace", "end", "end", answer=TOKEN, program_of=JUDGE):
            granted(ask_with(t, "a"))
        client.look()
        bound, iat = bindings(), str(int(time.time()) - 5)[:6]
        t = token(job="other")
        # each judge stays after its answer; there are more of them than a user has places (SLOTS_MAX)
        for lie in 2 * (("ml", "-"), ("train", "-"), ("token", "vars"), ("end", "end%20"), ("train", "tr%FFain"),
                        (iat, "9" + iat), (iat, "0"), (iat, "1"), ("vars", "bars")):
            with evil("replace", *lie, answer=TOKEN, program_of=JUDGE):
                refused(ask_with(t, "b"), 70, "gpuhelper-judge")
            assert bindings() == bound and leases() == [], (lie, leases())
        for how, code in ("half", 75), ("huge", 75), ("more", 70), ("none", 75), ("garbage", 70):
            with evil(how, answer=TOKEN, program_of=JUDGE):
                refused(ask_with(t, "b"), code, "gpuhelper-judge")
            assert bindings() == bound and leases() == [], how
        granted(ask_with(t, "b"))


@case("Q5", "gpuhelper-judge is silent or missing: nothing is granted, leases still end, and nobody else waits", 60)
def q5():
    with issuer() as token, asker("attacker") as a:
        write(POLICIES + "/20-caller.conf", 'identity = "caller"; callers = [ "victim" ]; gpus = ( { vendor = "nvidia"; } );')
        with evil("silent", answer=TOKEN, program_of=JUDGE):
            a.tell(exchange, id="a", token=token(), gpus=None)
            running(JUDGE + ".real", shut=True)
            time.sleep(0.1)
        began = time.monotonic()
        granted(once("victim", exchange, id="v"))
        client.look()
        assert time.monotonic() - began < 2
        assert a.pipe.poll(15)
        refused(a.hear(), 75, "gpuhelper-judge")
        with asker("victim") as v:
            granted(v.grant(id="v"))
            os.rename(JUDGE, JUDGE + ".away")
        try:
            client.look()
            assert leases() == [], leases()
            refused(once("victim", exchange, id="v", **FOLDER), 78, "gpuhelper-judge: No such file or directory: install it (make install)")
            refused(once("victim", exchange, id="w"), 78, "gpuhelper-judge: No such file or directory: install it (make install)")
            refused(ask_with(token(job="b"), "b"), 78, "gpuhelper-judge: No such file or directory: install it (make install)")
            refused(once("attacker", exchange, team="ml", pipeline="train", instance_vars='{"a":1}'), 78, "gpuhelper-judge")
        finally:
            os.rename(JUDGE + ".away", JUDGE)
        assert bindings() == []


@case("Q6", "Many policies and large keys that root may write are read; one issuer's keys do not block another issuer's tokens", 60)
def q6():
    with issuer() as token:
        conf = read(ETC + "/gpuhelper.conf")
        more = "".join(', { url = "https://%d.example.org"; audience = "x"; keys = "%s/keys/%d.json"; }' % (n, ETC, n) for n in range(8))
        write(ETC + "/gpuhelper.conf", conf.replace("keys/ci.json\"; } )", "keys/ci.json\"; }" + more + " )"))
        for n in range(8):
            write("%s/keys/%d.json" % (ETC, n), " " * (262144 - 12) + '{"keys":[]}')
        os.utime(ETC + "/keys/7.json", (-1000000, -1000000))
        for n in range(2000):
            write("%s/5%04d.conf" % (POLICIES, n), 'pipeline = "other/%d"; env = { A = "%s"; };\n' % (n, "x" * 1000))
        granted(ask_with(token(), "a"))
        refused(ask_with(token(iss="https://3.example.org"), "b"), 78, "3.json")


@case("Q7", "gpuhelper-judge closes its channel and stays: it takes up none of its user's places", 60)
def q7():
    with issuer() as token:
        t = token()
        with evil("aside", answer=AFTER_TOKEN, program_of=JUDGE):
            for _ in range(18):     # more than a user has places (SLOTS_MAX)
                granted(ask_with(t, "a"))
                client.look()
        granted(ask_with(t, "a"))


def rights():
    """The device nodes there are, with owner, mode, ACL and label."""
    found = ["/dev/mem", "/dev/null"] + sorted(os.path.join(d, n) for d, _, names in os.walk("/dev") for n in names
                                               if n.startswith(("nvidia", "render", "card")))
    return [(p, os.lstat(p).st_rdev, os.lstat(p).st_mode, os.lstat(p).st_uid, os.lstat(p).st_gid,
             [(x, os.getxattr(p, x, follow_symlinks=False)) for x in os.listxattr(p, follow_symlinks=False)])
            for p in found if os.path.lexists(p)]


# «~» is a blank (evilread.c)
FIRST, SECOND = "/dev/nvidia0~195~0", "/dev/nvidia1~195~1"


@case("Q8", "gpuhelper-judge, hostile from its start, names other nodes as GPUs' nodes: no grant, and no node is touched", 60)
def q8():
    with evil("replace", "end", "end", answer=HOST, program_of=JUDGE):
        granted(once("victim", exchange))
    client.look()
    before = rights()
    for lie in ((FIRST, "/dev/mem~1~1"), (FIRST, "/dev/nvidia0~1~1"), (FIRST, SECOND), (FIRST, "/dev/nvidia0~195~1"),
                (FIRST, "/dev/nvidiactl~195~255"), (FIRST, "/dev/nvidia0/../mem~1~1"), (FIRST, "/dev/nvidia255~195~255"),
                (FIRST, "/dev/null~1~3"), (FIRST, "/dev/dri/renderD232~10~232"), (FIRST, "/dev/dri/renderD3~226~3"),
                (FIRST, "/dev/nvidia00~195~0"), ("/dev/nvidiactl~195~255", SECOND), ("/dev/nvidiactl~195~255", "/dev/mem~1~1"),
                ("gpu~0~0000:3b:00.0", "gpu~0~0000:af:00.0"), ("gpu~0~0000:3b:00.0", "gpu~0~3b:00.0"),
                ("GPU-edfee158", "all")):
        with evil("replace", *lie, answer=HOST, program_of=JUDGE):
            refused(once("victim", exchange, gpus="2"), 70, "gpuhelper-judge reports")
        assert leases() == [] and rights() == before, (lie, leases())
    # a GPU of another vendor with such a node does not count as an nvidia GPU
    with evil("replace", "gpu~0~0000:3b:00.0", "gpu~1~0000:3b:00.0", answer=HOST, program_of=JUDGE):
        refused(once("victim", exchange, gpus="2"), 69, "this host has 1 of the nvidia GPUs")
    # a missing node that could be a GPU's looks like one that the driver's own tool would make
    with evil("replace", FIRST, "/dev/dri/renderD200~226~200", answer=HOST, program_of=JUDGE):
        refused(once("victim", exchange, gpus="2"), 69, "/dev/dri/renderD200 is not there")
    assert leases() == [] and rights() == before, leases()
    for how, code in ("half", 75), ("huge", 75), ("more", 70), ("none", 75), ("garbage", 70):
        with evil(how, answer=HOST, program_of=JUDGE):
            refused(once("victim", exchange), code, "gpuhelper-judge")
        assert leases() == [] and rights() == before, how
    granted(once("victim", exchange))


@case("Q9", "gpuhelper-judge, hostile from its start, swaps two GPUs: an exclusive GPU is not given twice", 60)
def q9():
    with asker("victim") as v:
        v.tell(exchange, id="v", gpus="0000:3b:00.0")
        granted(v.hear())
        swap = SECOND, "@@", FIRST, SECOND, "@@", FIRST
        with evil("replace", *swap, answer=HOST, program_of=JUDGE):
            refused(once("attacker", exchange, id="a", gpus="1"), 74, "is another GPU's in the lease of")
            refused(once("attacker", exchange, id="a", gpus="0000:af:00.0"), 74, "is another GPU's in the lease of")
        assert len(leases()) == 1
        granted(once("attacker", exchange, id="a", gpus="1"))


def calls_of(path, act):
    """The system calls, as strace prints them, of the program that a helper starts meanwhile, from its execve(2) on."""
    trace = tempfile.mkdtemp(dir=TEMP)
    p = subprocess.Popen(["strace", "-ff", "-qq", "-s", "200", "-o", trace + "/t", "-p", str(os.getpid())])
    try:
        while "TracerPid:\t0\n" in read("/proc/self/status"):
            time.sleep(0.005)
        act()
    finally:
        p.send_signal(signal.SIGINT)
        p.wait()
    for name in os.listdir(trace):
        calls = read(trace + "/" + name).splitlines()
        for i, call in enumerate(calls):
            if call.startswith("execve") and os.path.basename(path) in call and call.endswith("= 0"):
                return calls[i:]
    raise AssertionError("nobody has executed " + path)


@case("Q10", "gpuhelper-judge sees a token only after its report on the host, and opens nothing afterwards", 60)
def q10():
    with issuer() as token:
        got = calls_of(JUDGE, lambda: granted(ask_with(token(), "a")))
        heard = [i for i, call in enumerate(got) if re.match(r"(read|recvfrom)\(3", call)]
        shut = [i for i, call in enumerate(got) if call.startswith("prctl(PR_SET_SECCOMP")]
        opened = [i for i, call in enumerate(got) if call.startswith("open")]
        assert len(shut) == 2 and len(heard) > 2 and opened, (shut, len(heard), len(opened))
        # everything is opened before the last filter; only the question about the host comes before that, too
        assert max(opened) < shut[1] and [i for i in heard if i > shut[1]], (opened, shut)


@case("Q11", "gpuhelper-judge ends before its report on the host: no later policy without GPUs decides instead", 60)
def q11():
    with etc():
        write(ETC + "/gpuhelper.conf", read(ETC + "/gpuhelper.conf") + "grant_unasked = true;\n")
        folder = 'identity = "caller"; callers = [ "victim" ]; folders = ( { path = "/srv/ro"; access = "ro"; } );'
        write(POLICIES + "/10-first.conf", folder + ' gpus = ( { vendor = "nvidia"; } );')
        write(POLICIES + "/20-later.conf", folder)
        with evil("none", answer=HOST, program_of=JUDGE):
            refused(once("victim", exchange, gpus=None), 75, "gpuhelper-judge")
        assert granted(once("victim", exchange, gpus=None))["policy"] == "10-first.conf"


def status_of(pid):
    return dict(line.split(":\t", 1) for line in read("/proc/%d/status" % pid).splitlines() if ":\t" in line)


def running(path, shut=False):
    """The process that executes the file; shut: once its filter is set."""
    for _ in range(1000):
        for pid in map(int, filter(str.isdigit, os.listdir("/proc"))):
            try:
                if os.readlink("/proc/%d/exe" % pid) == path and (not shut or status_of(pid)["Seccomp"] == "2"):
                    return pid
            except OSError:
                pass
        time.sleep(0.002)
    raise AssertionError("nobody executes " + path)


@contextlib.contextmanager
def waiting(path, silent, answer=HOST):
    """
    Inside, a helper of the attacker's runs this program, which waits for a question, and the other program is silent.  Or
    the silent program has this one do the work, and stands between it and the helper.
    """
    forget_answers()
    with evil("silent", answer=answer, program_of=silent), asker("attacker") as a:
        a.tell(exchange)
        if path == silent:
            pid = running(path + ".real", shut=True)
            while status_of(pid).get("Seccomp_filters", "2").strip() != "2":
                time.sleep(0.002)
        pids = pid if path == silent else running(path, shut=True), running(silent)
        # payload.c needs a process that waits in a system call
        time.sleep(0.05)
        try:
            yield pids
        finally:
            for pid in pids:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            assert all(map(gone, pids))
            a.hear()


@case("Q12", "gpuhelper-read and gpuhelper-judge run as users without any rights, and end with their helper if it is killed", 60)
def q12():
    for path, silent in (READER, JUDGE), (JUDGE, READER):
        with waiting(path, silent) as pids:
            for pid, name in zip(pids, (path, silent)):
                user, got = pwd.getpwnam(os.path.basename(name)), status_of(pid)
                assert user.pw_uid != 0 and got["Uid"].split() == [str(user.pw_uid)] * 4, (name, got["Uid"])
                assert user.pw_gid != 0 and got["Gid"].split() == [str(user.pw_gid)] * 4, (name, got["Gid"])
                assert got["Groups"].split() == [], (name, got["Groups"])
                assert [int(got["Cap" + kind], 16) for kind in ("Inh", "Prm", "Eff", "Amb")] == [0] * 4, (name, got)
            assert status_of(pids[0])["NoNewPrivs"] == "1"
            helper = {int(status_of(pid)["PPid"]) for pid in pids}
            assert len(helper) == 1, helper
            os.kill(helper.pop(), signal.SIGKILL)
            assert all(map(gone, pids)), pids
    assert leases() == []


def reach(path):
    """This process's access to a file or a directory."""
    return [name for name, how in (("read", os.R_OK), ("write", os.W_OK)) if os.access(path, how)]


@case("Q13", "The two programs' users have no access to the helper, its state and memory, or to another judge's memory", 60)
def q13():
    ours = client.HELPER, LOG, RUN + "/leases", RUN + "/locks", TOKENS, "/etc/shadow"
    granted(once("victim", exchange))
    client.look()
    there = [path for path in ours if os.path.lexists(path)]
    assert client.HELPER in there and LOG in there, there
    with waiting(JUDGE, READER) as (judge, _):
        helper = int(status_of(judge)["PPid"])
        for name in READER, JUDGE:
            with asker(os.path.basename(name)) as a:
                for path in there:
                    assert a.call(reach, path) == [], (name, path)
                assert a.call(poke, helper) == [], name
                # not signals and limits of a process with the same uid: the filter knows no such call (Y7)
                assert not {"ptrace", "mem", "pidfd_getfd"} & set(a.call(poke, judge)), name


@case("Q14", "One of the two programs' users is missing, or is root: nothing is granted, and the refusal names the remedy", 60)
def q14():
    passwd = read("/etc/passwd")
    try:
        for name in "gpuhelper-read", "gpuhelper-judge":
            line = re.search("^%s:.*$" % name, passwd, re.M).group()
            fields = line.split(":")
            for instead, words in (("", ("has no user " + name, "systemd-sysusers")),
                                   (":".join(fields[:2] + ["0"] + fields[3:]), ("root", name)),
                                   (":".join(fields[:3] + ["0"] + fields[4:]), ("root", name))):
                write("/etc/passwd", passwd.replace(line, instead) if instead else passwd.replace(line + "\n", ""))
                for asked in {}, FOLDER:
                    refused(once("victim", exchange, **asked), 78, *words)
                assert leases() == [], (name, instead)
    finally:
        write("/etc/passwd", passwd)
    granted(once("victim", exchange))


@case("Q15", "gpuhelper-judge, taken over by a task, decides what no policy gives: nothing is granted, no node is touched", 60)
def q15():
    asked = {"gpus": "1", "folders": "/srv/ro"}
    with etc():
        # the second policy asks for a proof; the fourth comes after a broken one
        write(POLICIES + "/60-proven.conf", 'pipeline = "ml/train"; callers = [ "victim" ]; folders = ( { path = "/srv/private"; } );')
        write(POLICIES + "/70-broken.conf", "?")
        write(POLICIES + "/80-late.conf", 'identity = "caller"; callers = [ "victim" ]; folders = ( { path = "/srv/private"; } );')
        q15_lies(asked)


def q15_lies(asked):
    with evil("replace", "gpus~0~1~2~0~1", "gpus~0~1~2~0~1", answer=VERDICT, program_of=JUDGE):
        granted(once("victim", exchange, **asked))
    client.look()
    before = rights()
    gpus, folder = "gpus~0~1~2~0~1", "folder~0~no~-"
    for lie in (("verdict~0", "verdict~1"), ("verdict~0", "verdict~2"), ("verdict~0", "verdict~3"), ("verdict~0", "verdict~4"),
                ("verdict~0", "verdict~4294967295"), (gpus, "gpus~1~1~2~0~1"), (gpus, "gpus~0~3~2~0~1"), (gpus, "gpus~0~1~2~0~7"),
                (gpus, "gpus~0~1~2~0~0"), (gpus, "gpus~0~2~1~0"), (gpus, "gpus~0~0~1~0"), (gpus, "gpus~0~1~65~0"),
                (folder, "folder~0~yes~-"), (folder, "folder~9~no~-"), (folder, "folder~0~no~/srv/private"), (folder, "folder~0~no~/srv/ro/x"),
                (folder, "folder~4~yes~/srv/tree/../private"), (folder, "folder~4~yes~/srv/treefrog"), (folder, "folder~1~yes~/etc"),
                (folder, "folder~4~yes~/srv/tree/*"), ("end", "end%20"), ("grant", "host")):
        with evil("replace", *lie, answer=VERDICT, program_of=JUDGE):
            refused(once("victim", exchange, **asked), 70, "gpuhelper-judge")
        assert leases() == [] and rights() == before, (lie, leases())
    for how, code in ("half", 75), ("huge", 75), ("more", 70), ("none", 75), ("garbage", 70):
        with evil(how, answer=VERDICT, program_of=JUDGE):
            refused(once("victim", exchange, **asked), code, "gpuhelper-judge")
        assert leases() == [] and rights() == before, how
    # a policy without its proof; a policy behind a broken one
    for policy, words in (1, "the container has none"), (3, "it passes over a broken policy"):
        with evil("rest", "verdict", "verdict~%d^folder~0~no~-^end^" % policy, answer=VERDICT, program_of=JUDGE):
            refused(once("victim", exchange, **asked), 70, words)
    # the promise allows this: the caller's own policy gives it, although the caller did not ask for it
    with evil("replace", gpus, "gpus~0~2~2~0~1", answer=VERDICT, program_of=JUDGE):
        answer = once("victim", exchange, **asked)
        granted(answer)
        assert len(nodes(answer)) == 2, answer


@case("Q16", "gpuhelper-judge, taken over, gives GPUs of a host that the helper could not inspect completely: no grant", 60)
def q16():
    big = ["/etc/cdi/%s-%d.json" % (os.environ["SANDBOX_ID"], n) for n in range(17)]
    with evil("rest", "grant~", "grant~0~-^verdict~0^gpus~0~1~2~0~1^end^", answer=VERDICT, program_of=JUDGE):
        granted(once("victim", exchange, gpus="1"))
    client.look()
    os.makedirs("/etc/cdi", exist_ok=True)
    for path in big:
        write(path, " " * (1 << 20))
    try:
        refused(once("victim", exchange, gpus="1"), 74, "more than 16 MiB")
        with evil("rest", "grant~", "grant~0~-^verdict~0^gpus~0~1~2~0~1^end^", answer=VERDICT, program_of=JUDGE):
            refused(once("victim", exchange, gpus="1"), 70, "GPUs of a vendor that was not looked for")
    finally:
        for path in big:
            os.unlink(path)
    assert leases() == []


@case("Q17", "gpuhelper-judge, taken over, reports instance_vars that are no JSON: the record is one line, and no key is forged", 60)
def q17():
    with issuer() as token:
        given, taken = {"branch": "x", "pr": 17}, set()
        for n, lie in enumerate(('%22,%22event%22:%22refuse', '%22}%0A{%22n%22:1,%22event%22:%22end%22}', '%FF%C0%80', '%1B[2J%7F', '}}}', '\\', 'x' * 190)):
            for frm, to in (("var~pr~17", "var~pr~" + lie), ("var~pr~", "var~%s~" % lie)):
                before = len(records())
                with evil("replace", frm, to, answer=TOKEN, program_of=JUDGE):
                    ask_with(token(instance_vars=given, job="j%d" % n), "q%d" % n)
                told = [r for r in told_since(before) if r["event"] in ("grant", "refuse")]
                assert len(told) == 1 and told[0]["identity"] == "token", (lie, told)
                if "pipeline" in told[0]:
                    taken.add(lie)
                    assert told[0]["pipeline"] == "train" and "branch" in told[0]["instance_vars"], told
                else:
                    assert told[0]["event"] == "refuse" and told[0]["code"] == 70 and "instance_vars" not in told[0], told
                client.look()
        assert len(taken) >= 5, taken


@case("Y7", "Code in gpuhelper-read, gpuhelper-judge or gpuhelper-engine writes no file, signals nobody, makes nothing", 120)
def y7():
    there = ETC + "/gpuhelper.conf"     # everybody may read this file
    at = "-100"
    tries = lambda me: [("openat", at, "=" + LOG, os.O_WRONLY, 0), ("openat", at, "=/tmp/new", os.O_CREAT | os.O_WRONLY, 0o600),
             ("openat", at, "=" + there, os.O_WRONLY, 0), ("openat2", at, "=/tmp/new", 0, 24), ("open", "=/tmp/new", os.O_CREAT | os.O_WRONLY, 0o600),
             ("creat", "=/tmp/new", 0o600), ("mkdir", "=/tmp/new", 0o700), ("mkdirat", at, "=/tmp/new", 0o700), ("memfd_create", "=x", 0),
             ("unlinkat", at, "=/tmp/x", 0), ("symlinkat", "=/etc", at, "=/tmp/new"), ("linkat", at, "=" + there, at, "=/tmp/new", 0),
             ("execve", "=/bin/true", 0, 0), ("execveat", at, "=/bin/true", 0, 0, 0), ("clone", 17, 0, 0, 0, 0), ("fork",), ("vfork",), ("clone3", 0, 0),
             ("kill", me, 9), ("kill", -1, 9), ("tkill", me, 9), ("tgkill", me, me, 9), ("rt_sigqueueinfo", me, 9, 0), ("pidfd_open", me, 0),
             ("pidfd_send_signal", 0, 9, 0, 0), ("prlimit64", me, 7, 0, 0), ("setpriority", 0, me, 19), ("sched_setaffinity", me, 8, 0),
             ("ptrace", 16, me, 0, 0), ("process_vm_readv", me, 0, 0, 0, 0, 0), ("socket", 2, 1, 0), ("connect", 0, 0, 0), ("bind", 0, 0, 0),
             ("setns", 0, 0), ("unshare", 0x10000000), ("mount", "=x", "=/tmp", "=tmpfs", 0, 0), ("chdir", "=/tmp"), ("chroot", "=/tmp"),
             ("setuid", 0), ("setresuid", 0, 0, 0), ("setgroups", 0, 0), ("capset", 0, 0), ("prctl", 4, 1, 0, 0, 0), ("seccomp", 0, 0, 0),
             ("mmap", 0, 4096, 7, 0x22, -1, 0), ("mprotect", 0, 4096, 4), ("io_uring_setup", 1, 0), ("bpf", 5, 0, 0), ("keyctl", 0, 0),
             ("shmget", 0, 4096, 0o1600), ("msgget", 0, 0o1600), ("mq_open", "=x", 0o102, 0o600, 0)]
    reading = ("openat", at, "=" + there, os.O_RDONLY, 0), ("readlinkat", at, "=/proc/self/exe", 0, 0), ("faccessat", at, "=/etc", 0)
    for path, silent, answer, more in (READER, JUDGE, HOST, reading), (JUDGE, READER, HOST, ()), (JUDGE, JUDGE, VERDICT, reading), \
            (ENGINE, JUDGE, HOST, ()):
        wrong, left = [], None
        while left is None or left:
            # processes that the kernel would let it signal
            with waiting(path, silent, answer) as (pid, _), asker(os.path.basename(path)) as same:
                if left is None:
                    left = [c for c in tries(str(same.pid)) + list(more) if has_number(c[0])]
                words = [",".join([str(number(c[0])), *map(str, c[1:])]) for c in left[:16]]
                p = subprocess.run([program("payload"), str(pid), *words], capture_output=True, text=True)
                got = p.stdout.split()
                assert p.returncode == 0 and got, (left[0], p.stderr)
            # ENOSYS, or EPERM for prctl(2): the filter's result, not the call's own
            wrong += [(c, g) for c, g in zip(left, got) if g not in ("killed", "-38") and (c[0], g) != ("prctl", "-1")]
            left = left[len(got):]
        assert not wrong and not os.path.lexists("/tmp/new"), (path, wrong)
    # the engine may read; control: so may a judge that has read nothing of a stranger's
    with waiting(JUDGE, READER) as (pid, _):
        p = subprocess.run([program("payload"), str(pid), "%d,%s,=%s,0,0" % (number("openat"), at, there)], capture_output=True, text=True)
        assert int(p.stdout) >= 0, p.stdout


def has_number(call):
    try:
        number(call)
        return True
    except Skip:
        return False
