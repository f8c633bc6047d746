"""Attacks on root's steps of gpuhelper-metrics.service, by someone who took over the step between, or the exporter.

vm/jobs/udev.sh has the unit itself, container/metrics.py what a legitimate page needs.
"""
import contextlib
import fcntl
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time

import client
from harness import *

CTL = "/usr/sbin/gpuhelperctl"
PAGE = "gpuhelper.prom"
MOST = 1 << 20


@contextlib.contextmanager
def places():
    """The attacker's directory, the exporter's with an old page, and a directory with a file that root alone can read."""
    top = tempfile.mkdtemp(dir=TEMP)
    try:
        os.chmod(top, 0o755)
        mine, out, secret = top + "/mine", top + "/out", top + "/secret"
        for d, mode in (mine, 0o700), (out, 0o755), (secret, 0o755):
            os.mkdir(d, mode)
        own(mine)
        write(out + "/" + PAGE, "old\n")
        write(secret + "/key", "SECRET\n", 0o600)
        yield mine, out, secret
    finally:
        shutil.rmtree(top)


def own(path):
    p = pwd.getpwnam("attacker")
    os.chown(path, p.pw_uid, p.pw_gid, follow_symlinks=False)


def place(mine, out):
    began = time.time()
    r = subprocess.run([CTL, "metrics", "place", "--from", mine, "--output", out + "/" + PAGE], capture_output=True, text=True, timeout=8)
    assert time.time() - began < 3, "root waited"
    return r


def as_before(mine, out, *words):
    r = place(mine, out)
    assert r.returncode != 0 and r.stderr.startswith("gpuhelperctl: "), r
    for w in words:
        assert w in r.stderr, r.stderr
    assert os.listdir(out) == [PAGE] and read(out + "/" + PAGE) == "old\n", (os.listdir(out), read(out + "/" + PAGE)[:200])


def legitimate_page(mine, out):
    """The same directories with a page of the attacker's own: root copies it."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(mine + "/" + PAGE)
    write(mine + "/" + PAGE, "own\n")
    own(mine + "/" + PAGE)
    r = place(mine, out)
    assert r.returncode == 0 and read(out + "/" + PAGE) == "own\n", r


@contextlib.contextmanager
def attacking(function):
    """Runs it as the attacker, again and again."""
    pid = os.fork()
    if pid == 0:
        try:
            client.become("attacker")
            while True:
                with contextlib.suppress(OSError):
                    function()
        finally:
            os._exit(1)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


@case("M1", "The user that makes the metrics puts a link, a second name of root's file, a directory, a socket or a device in "
      "its page's place")
def _():
    def hard(p, secret):
        os.link(secret + "/key", p)

    def bind(p, secret):
        with socket.socket(socket.AF_UNIX) as s:
            s.bind(p)

    for make, words in ((lambda p, s: os.symlink(s + "/key", p), "symbolic link"), (lambda p, s: os.symlink("/etc/passwd", p), "symbolic link"),
                        (lambda p, s: os.symlink("/proc/self/environ", p), "symbolic link"), (hard, "uid 0"),
                        (lambda p, s: os.mkdir(p), "not a regular file"), (bind, PAGE),
                        (lambda p, s: os.mknod(p, 0o666 | stat.S_IFCHR, os.makedev(1, 5)), "not a regular file")):
        with places() as (mine, out, secret):
            make(mine + "/" + PAGE, secret)
            as_before(mine, out, mine + "/" + PAGE, words)
    with places() as (mine, out, secret):
        shutil.rmtree(mine)
        write(secret + "/" + PAGE, "SECRET\n", 0o600)
        os.symlink(secret, mine)
        as_before(mine, out, mine)
        os.unlink(mine)
        os.mkdir(mine)
        own(mine)
        legitimate_page(mine, out)


@case("M2", "It changes its page for a link or another file while root looks at it", seconds=30)
def _():
    with places() as (mine, out, secret):
        p = mine + "/" + PAGE

        def swap():
            with contextlib.suppress(FileExistsError):
                os.symlink(secret + "/key", mine + "/a")
            os.rename(mine + "/a", p)
            write(mine + "/b", "own\n")
            os.rename(mine + "/b", p)

        tries = {0: 0}
        with attacking(swap):
            end = time.time() + 4
            while time.time() < end:
                status = place(mine, out).returncode
                tries[status] = tries.get(status, 0) + 1
                assert os.listdir(out) == [PAGE] and read(out + "/" + PAGE) in ("old\n", "own\n"), read(out + "/" + PAGE)
        # the case has seen the race on both sides
        assert tries[0] > 0 and len(tries) > 1, tries


@case("M3", "It makes root wait or copy without end: a pipe, a lease on its page, a page of a terabyte, one that grows", seconds=30)
def _():
    with places() as (mine, out, secret):
        p = mine + "/" + PAGE
        os.mkfifo(p)
        own(p)
        as_before(mine, out, "not a regular file")
        os.unlink(p)
        for size in MOST + 1, 1 << 40:
            with open(p, "w") as f:
                f.truncate(size)
            own(p)
            as_before(mine, out, "1048576")
        os.unlink(p)
        write(p, "own\n")
        own(p)
        fd = os.open(p, os.O_RDWR)
        before = signal.signal(signal.SIGIO, signal.SIG_IGN)
        try:
            fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_WRLCK)
            as_before(mine, out, p)
        finally:
            os.close(fd)
            signal.signal(signal.SIGIO, before)

        def grow():
            with open(p, "a") as f:
                for _ in range(MOST // 1024):
                    f.write("own\n" * 256)
                    f.flush()
            os.truncate(p, 0)

        with attacking(grow):
            for _ in range(100):
                r = place(mine, out)
                page = read(out + "/" + PAGE)
                assert len(page) <= MOST and set(page.split("\n")) <= {"old", "own", "ow", "o", ""}, (r, len(page))
        legitimate_page(mine, out)


@case("M4", "The exporter's user puts a link in the place of its directory, or of the page there: root writes nowhere else", seconds=30)
def _():
    with places() as (mine, out, secret):
        write(mine + "/" + PAGE, "own\n")
        own(mine + "/" + PAGE)
        theirs = os.path.dirname(out) + "/theirs"
        os.mkdir(theirs)
        own(theirs)
        os.mkdir(theirs + "/real")
        os.symlink(secret, theirs + "/link")
        r = place(mine, theirs + "/link")
        assert r.returncode != 0 and theirs + "/link" in r.stderr and os.listdir(secret) == ["key"], r
        os.symlink(secret + "/key", theirs + "/real/" + PAGE)
        r = place(mine, theirs + "/real")
        assert r.returncode != 0 and PAGE in r.stderr and read(secret + "/key") == "SECRET\n", r
        os.unlink(theirs + "/real/" + PAGE)

        def swap():
            os.rename(theirs + "/real", theirs + "/to")
            os.rename(theirs + "/link", theirs + "/aside")
            time.sleep(0.0002)
            os.rename(theirs + "/aside", theirs + "/real")
            time.sleep(0.001)
            os.rename(theirs + "/real", theirs + "/link")
            os.rename(theirs + "/to", theirs + "/real")
            time.sleep(0.001)

        tries = {0: 0}
        with attacking(swap):
            end = time.time() + 4
            while time.time() < end:
                status = place(mine, theirs + "/real").returncode
                tries[status] = tries.get(status, 0) + 1
                assert os.listdir(secret) == ["key"], os.listdir(secret)
        assert tries[0] > 0 and len(tries) > 1, tries
