"""gpuhelper-read and gpuhelper-judge, taken over: what they say is looked over, and nobody else waits for it."""
import contextlib
import os
import shutil
import time

import client
from client import exchange, once
from harness import *
from t_token import TOKENS, ask as ask_with, issuer

READER = "/usr/libexec/gpuhelper/gpuhelper-read"
JUDGE = "/usr/libexec/gpuhelper/gpuhelper-judge"


@contextlib.contextmanager
def evil(*how, program_of=READER):
    os.rename(program_of, program_of + ".real")
    try:
        shutil.copy(program("evilread"), program_of)
        os.chmod(program_of, 0o711)
        write("/etc/evil-read", " ".join(how) + "\n")
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


def bindings():
    return os.listdir(TOKENS) if os.path.isdir(TOKENS) else []


@case("Q4", "gpuhelper-judge says what no token can say: nothing is granted, nothing is bound, and nothing is left", 60)
def q4():
    with issuer() as token:
        t = token()
        with evil("replace", "end", "end", program_of=JUDGE):
            granted(ask_with(t, "a"))
        client.look()
        bound, iat = bindings(), str(int(time.time()) - 5)[:6]
        t = token(job="other")
        # each of them stays where it is once it has answered: more of them than a user has places (CROWD_MAX)
        for lie in 2 * (("ml", "-"), ("train", "-"), ("token", "vars"), ("end", "end%20"), ("train", "tr%FFain"),
                        (iat, "9" + iat), (iat, "0"), (iat, "1"), ("vars", "bars")):
            with evil("replace", *lie, program_of=JUDGE):
                refused(ask_with(t, "b"), 70, "gpuhelper-judge")
            assert bindings() == bound and leases() == [], (lie, leases())
        for how, code in ("half", 75), ("huge", 75), ("more", 70), ("none", 75), ("garbage", 70):
            with evil(how, program_of=JUDGE):
                refused(ask_with(t, "b"), code, "gpuhelper-judge")
            assert bindings() == bound and leases() == [], how
        granted(ask_with(t, "b"))


@case("Q5", "gpuhelper-judge is silent, or is not there: who has no token does not need it, and nobody else has waited", 60)
def q5():
    with issuer() as token, asker("attacker") as a:
        write(POLICIES + "/20-caller.conf", 'identity = "caller"; callers = [ "victim" ]; gpus = ( { vendor = "nvidia"; } );')
        with evil("silent", program_of=JUDGE):
            a.tell(exchange, id="a", token=token(), gpus=None)
            began = time.monotonic()
            granted(once("victim", exchange, id="v"))
            client.look()
            assert time.monotonic() - began < 2
            assert a.pipe.poll(15)
            refused(a.hear(), 75, "gpuhelper-judge")
        os.rename(JUDGE, JUDGE + ".away")
        try:
            granted(once("victim", exchange, id="v"))
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
        with evil("aside", program_of=JUDGE):
            for _ in range(18):     # more than a user has places (CROWD_MAX)
                granted(ask_with(t, "a"))
                client.look()
        granted(ask_with(t, "a"))
