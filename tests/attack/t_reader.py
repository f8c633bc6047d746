"""gpuhelper-read, taken over: what it says is looked over, and what it does not say is waited for by nobody else."""
import contextlib
import os
import shutil
import time

import client
from client import exchange, once
from harness import *

READER = "/usr/libexec/gpuhelper/gpuhelper-read"


@contextlib.contextmanager
def evil(*how):
    os.rename(READER, READER + ".real")
    try:
        shutil.copy(program("evilread"), READER)
        os.chmod(READER, 0o711)
        write("/etc/evil-read", " ".join(how) + "\n")
        yield
    finally:
        os.rename(READER + ".real", READER)
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
