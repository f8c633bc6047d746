"""gpuhelper-read and gpuhelper-judge, taken over: what they say is looked over, and nobody else waits for it."""
import contextlib
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time

import client
from client import exchange, once
from harness import *
from t_token import TOKENS, ask as ask_with, issuer

READER = "/usr/libexec/gpuhelper/gpuhelper-read"
JUDGE = "/usr/libexec/gpuhelper/gpuhelper-judge"


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


FOLDER = {"gpus": None, "folders": "/srv/ro"}


@case("Q1", "gpuhelper-read says what no file may say: nothing is granted, and nothing is left", 60)
def q1():
    with evil("replace", "end", "end"):
        granted(once("victim", exchange, **FOLDER))
    client.look()
    for lie in ("/srv/ro", "/proc/1"), ("/srv/ro", "/etc/gpuhelper"), ("/srv/ro", "/srv/../etc"), ("/srv/ro", "/"), \
            ("choices", "chances"), ("seconds", "second"), ("callers", "caller"), ("end", "end%20"):
        with evil("replace", *lie):
            refused(once("victim", exchange, **FOLDER), 70, "gpuhelper-read")
        assert leases() == [], lie


@case("Q2", "gpuhelper-read answers half, too much, nothing or something else: the same", 60)
def q2():
    for how, code in ("half", 75), ("huge", 75), ("more", 70), ("none", 75), ("garbage", 78):
        with evil(how):
            refused(once("victim", exchange, **FOLDER), code, "gpuhelper-read")
        assert leases() == [], how
    granted(once("victim", exchange, **FOLDER))


@case("Q3", "gpuhelper-read is silent: its helper refuses, and nobody else has waited", 60)
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


# what the judge is asked first, and then
HOST, TOKEN = 0, 1


def bindings():
    return os.listdir(TOKENS) if os.path.isdir(TOKENS) else []


@case("Q4", "gpuhelper-judge says what no token can say: nothing is granted, nothing is bound, and nothing is left", 60)
def q4():
    with issuer() as token:
        t = token()
        with evil("replace", "end", "end", answer=TOKEN, program_of=JUDGE):
            granted(ask_with(t, "a"))
        client.look()
        bound, iat = bindings(), str(int(time.time()) - 5)[:6]
        t = token(job="other")
        # each of them stays where it is once it has answered: more of them than a user has places (CROWD_MAX)
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


@case("Q5", "gpuhelper-judge is silent, or is not there: who wants no GPU and has no token does not need it, nobody else has waited", 60)
def q5():
    with issuer() as token, asker("attacker") as a:
        write(POLICIES + "/20-caller.conf", 'identity = "caller"; callers = [ "victim" ]; gpus = ( { vendor = "nvidia"; } );')
        with evil("silent", answer=TOKEN, program_of=JUDGE):
            a.tell(exchange, id="a", token=token(), gpus=None)
            began = time.monotonic()
            granted(once("victim", exchange, id="v"))
            client.look()
            assert time.monotonic() - began < 2
            assert a.pipe.poll(15)
            refused(a.hear(), 75, "gpuhelper-judge")
        os.rename(JUDGE, JUDGE + ".away")
        try:
            granted(once("victim", exchange, id="v", **FOLDER))
            refused(once("victim", exchange, id="w"), 78, "gpuhelper-judge: No such file or directory: install it (make install)")
            refused(ask_with(token(job="b"), "b"), 78, "gpuhelper-judge: No such file or directory: install it (make install)")
            refused(once("attacker", exchange, team="ml", pipeline="train", instance_vars='{"a":1}'), 78, "gpuhelper-judge")
        finally:
            os.rename(JUDGE + ".away", JUDGE)
        assert bindings() == []


@case("Q6", "many policies and large keys: what root may write is read, and one issuer's keys keep no other's tokens out", 60)
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


@case("Q7", "gpuhelper-judge lets its channel go and stays: it keeps no place of its user's", 60)
def q7():
    with issuer() as token:
        t = token()
        with evil("aside", answer=TOKEN, program_of=JUDGE):
            for _ in range(18):     # more than a user has places (CROWD_MAX)
                granted(ask_with(t, "a"))
                client.look()
        granted(ask_with(t, "a"))


def nodes():
    """What could be done to a device node: its owner, mode, ACL and label; and which there are."""
    found = ["/dev/mem", "/dev/null"] + sorted(os.path.join(d, n) for d, _, names in os.walk("/dev") for n in names
                                               if n.startswith(("nvidia", "render", "card")))
    return [(p, os.lstat(p).st_rdev, os.lstat(p).st_mode, os.lstat(p).st_uid, os.lstat(p).st_gid,
             [(x, os.getxattr(p, x, follow_symlinks=False)) for x in os.listxattr(p, follow_symlinks=False)])
            for p in found if os.path.lexists(p)]


# «~» is a blank (evilread.c)
FIRST, SECOND = "/dev/nvidia0~195~0", "/dev/nvidia1~195~1"


@case("Q8", "gpuhelper-judge, evil from its start, names other nodes as GPUs': nothing is granted, and no node is touched", 60)
def q8():
    with evil("replace", "end", "end", answer=HOST, program_of=JUDGE):
        granted(once("victim", exchange))
    client.look()
    before = nodes()
    for lie in ((FIRST, "/dev/mem~1~1"), (FIRST, "/dev/nvidia0~1~1"), (FIRST, SECOND), (FIRST, "/dev/nvidia0~195~1"),
                (FIRST, "/dev/nvidiactl~195~255"), (FIRST, "/dev/nvidia0/../mem~1~1"), (FIRST, "/dev/nvidia255~195~255"),
                (FIRST, "/dev/null~1~3"), (FIRST, "/dev/dri/renderD232~10~232"), (FIRST, "/dev/dri/renderD3~226~3"),
                (FIRST, "/dev/nvidia00~195~0"), ("/dev/nvidiactl~195~255", SECOND), ("/dev/nvidiactl~195~255", "/dev/mem~1~1"),
                ("gpu~0~0000:3b:00.0", "gpu~0~0000:af:00.0"), ("gpu~0~0000:3b:00.0", "gpu~0~3b:00.0"),
                ("GPU-edfee158", "all")):
        with evil("replace", *lie, answer=HOST, program_of=JUDGE):
            refused(once("victim", exchange, gpus="2"), 70, "gpuhelper-judge reports")
        assert leases() == [] and nodes() == before, (lie, leases())
    # another vendor's GPU with such a node is none of these
    with evil("replace", "gpu~0~0000:3b:00.0", "gpu~1~0000:3b:00.0", answer=HOST, program_of=JUDGE):
        refused(once("victim", exchange, gpus="2"), 69, "this host has 1 of the nvidia GPUs")
    # a node that could be a GPU's and is not there can't be told from one that the driver's own tool would make
    with evil("replace", FIRST, "/dev/dri/renderD200~226~200", answer=HOST, program_of=JUDGE):
        refused(once("victim", exchange, gpus="2"), 69, "/dev/dri/renderD200 is not there")
    assert leases() == [] and nodes() == before, leases()
    for how, code in ("half", 75), ("huge", 75), ("more", 70), ("none", 75), ("garbage", 70):
        with evil(how, answer=HOST, program_of=JUDGE):
            refused(once("victim", exchange), code, "gpuhelper-judge")
        assert leases() == [] and nodes() == before, how
    granted(once("victim", exchange))


@case("Q9", "gpuhelper-judge, evil from its start, has two GPUs the other way round: what is alone somebody's is not given twice", 60)
def q9():
    with asker("victim") as v:
        v.tell(exchange, id="v", gpus="0000:3b:00.0")
        granted(v.hear())
        swap = SECOND, "@@", FIRST, SECOND, "@@", FIRST
        with evil("replace", *swap, answer=HOST, program_of=JUDGE):
            refused(once("attacker", exchange, id="a", gpus="1"), 74, "holds as another GPU's")
            refused(once("attacker", exchange, id="a", gpus="0000:af:00.0"), 74, "holds as another GPU's")
        assert len(leases()) == 1
        granted(once("attacker", exchange, id="a", gpus="1"))


def calls_of(path, act):
    """The system calls of the program that a helper starts meanwhile, from its execve(2) on, as strace writes them."""
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


@case("Q10", "what a token's bytes do to gpuhelper-judge comes after it has told of the host, and it opens nothing then", 60)
def q10():
    with issuer() as token:
        got = calls_of(JUDGE, lambda: granted(ask_with(token(), "a")))
        heard = [i for i, call in enumerate(got) if re.match(r"(read|recvfrom)\(3", call)]
        shut = [i for i, call in enumerate(got) if call.startswith("prctl(PR_SET_SECCOMP")]
        opened = [i for i, call in enumerate(got) if call.startswith("open")]
        assert len(shut) == 2 and len(heard) > 2 and opened, (shut, len(heard), len(opened))
        # the question about the host before the last filter, and nothing else
        assert max(opened) < shut[1] and [i for i in heard if i > shut[1]], (opened, shut)


@case("Q11", "gpuhelper-judge ends before it has told of the host: no later policy, without GPUs, decides instead", 60)
def q11():
    with etc():
        write(ETC + "/gpuhelper.conf", read(ETC + "/gpuhelper.conf") + "grant_unasked = true;\n")
        folder = 'identity = "caller"; callers = [ "victim" ]; folders = ( { path = "/srv/ro"; access = "ro"; } );'
        write(POLICIES + "/10-first.conf", folder + ' gpus = ( { vendor = "nvidia"; } );')
        write(POLICIES + "/20-later.conf", folder)
        with evil("none", answer=HOST, program_of=JUDGE):
            refused(once("victim", exchange, gpus=None), 75, "gpuhelper-judge")
        assert granted(once("victim", exchange, gpus=None))["policy"] == "10-first.conf"
