"""An exclusive GPU never has two users: before a grant the helper searches for processes that have its node open, in
any way.
"""
import contextlib
import ctypes
import fcntl
import glob
import json
import os
import resource
import subprocess
import time

import client
from client import Helper, exchange, once
from harness import *
from t_acl import ALL, Closed, acl, entry, mapped, uid
from t_lease import BUSY, Counted, Openable, SecondOpenable, ask_stayed, held, hand_over, stay
from t_inuse import THREAD, build
from t_policy import HOST_ROOT, IN_NAMESPACE, make_container, released, remove_cgroup, states
from t_process import FUSE_FLUSH, silent_files
from t_token import ask as ask_with, issuer

HOLD = "import os, mmap, sys, time\nfd = os.open(sys.argv[1], os.O_RDWR)\n"
OPEN, MAP = HOLD, HOLD + "m = mmap.mmap(fd, 4096, mmap.MAP_SHARED)\nos.close(fd)\n"
STAY = "print(os.getpid(), flush=True)\ntime.sleep(60)\n"
# its own namespaces, like a container's
CONTAINER = "unshare", "--pid", "--fork", "--kill-child", "--mount-proc"


def holder(how, node, *before, user=None):
    """A process that has the node open or mapped."""
    return background(*before, "python3", "-c", how + STAY, node, user=user)


def end_container(p):
    """Kills unshare(1) and its container, whose processes end after it."""
    inside = subprocess.run(["pgrep", "-P", str(p.pid)], stdout=subprocess.PIPE, text=True).stdout.split()
    p.kill()
    p.wait()
    end = time.monotonic() + 10
    while any(os.path.exists("/proc/" + pid) for pid in inside) and time.monotonic() < end:
        time.sleep(0.01)


def hang_up(door=Helper, node="/dev/nvidia9", **fields):
    """In the asker: gets a grant, has another process open the node, and abandons the grant."""
    h = door().ask(**{"gpus": GPU0, **fields})
    assert h.kind() == "grant", h.answer
    r, w = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.setsid()
        os.open(node, os.O_RDONLY)
        os.write(w, b".")
        time.sleep(60)
        os._exit(0)
    os.read(r, 1)
    h.close()
    h.wait()
    return pid


@case("W1", "A grant is abandoned after its node was opened: nobody gets the GPU while the node is open")
def w1():
    with SecondOpenable():
        with asker("attacker") as a:
            pid = a.call(hang_up)
        try:
            refused(once("victim", exchange, gpus=GPU0), *BUSY)
            granted(once("victim", exchange, gpus=GPU1))
            refused(once("victim", exchange, gpus=GPU0), *BUSY)
        finally:
            os.kill(pid, 9)
            gone(pid)
        granted(once("victim", exchange, gpus=GPU0))


@case("W2", "A grant that is abandoned before anybody opened a node leaves no lease")
def w2():
    with Openable(), asker("attacker") as a:
        a.call(give_up)
        assert leases() == [], leases()


def give_up():
    h = Helper().ask(gpus=GPU0)
    assert h.kind() == "grant", h.answer
    h.close()
    h.wait()


@case("W3", "A container's process has the GPU open without a lease: no exclusive request gets it; another GPU is given")
def w3():
    with SecondOpenable(), holder(OPEN, "/dev/nvidia9", *CONTAINER) as p:
        p.stdout.readline()
        refused(once("victim", exchange, gpus=GPU0), 75, "is open in process", "container")
        answer = once("victim", exchange, gpus="1")
        granted(answer)
        assert nodes(answer) == ["/dev/nvidia5"], nodes(answer)


@case("W4", "A process that has the node only mapped, or has its own root directory or user namespace, counts, too")
def w4():
    with Openable(5):
        with holder(MAP, "/dev/nvidia5", *CONTAINER) as p:
            p.stdout.readline()
            refused(once("victim", exchange, gpus=GPU0), 75, "is open in process")
        with holder(OPEN, "/dev/nvidia5", "unshare", "--map-root-user", user="attacker") as p:
            p.stdout.readline()
            refused(once("victim", exchange, gpus=GPU0), 75, "is open in process")
        with holder(OPEN + "os.chroot('/srv')\n", "/dev/nvidia5") as p:
            p.stdout.readline()
            refused(once("victim", exchange, gpus=GPU0), 75, "is open in process")
        granted(once("victim", exchange, gpus=GPU0))


@case("W5", "The host's own daemons, and a shared use, do not prevent a grant")
def w5():
    with Openable(), holder(OPEN, "/dev/nvidia9", user=999) as p:
        p.stdout.readline()
        granted(once("victim", exchange, gpus=GPU0))
    with Openable(), etc(), holder(OPEN, "/dev/nvidia9", *CONTAINER) as p:
        p.stdout.readline()
        write(POLICIES + "/10-shared.conf", 'identity = "caller"; callers = [ "victim" ];\n'
              'gpus = ( { vendor = "nvidia"; devices = [ "%s" ]; sharing = "shared"; share_limit = 2; } );' % GPU0)
        granted(once("victim", exchange, gpus=GPU0))


@case("W6", "The GPU is requested just after its lease ended, while a container still has the node: never two users", 60)
def w6():
    # 30 times: the lease ends while the next request comes, and its node stays open in a container
    with Openable():
        for _ in range(30):
            with asker("attacker") as a:
                granted(a.grant(gpus=GPU0))
                with holder(OPEN, "/dev/nvidia9", *CONTAINER) as p:
                    a.end()
                    assert p.stdout.readline() != b"", "the control: who has it open is gone"
                    refused(once("victim", exchange, gpus=GPU0), 75)
                    end_container(p)


OPEN_LOOP = r"""
import os, sys, time
print("ready", flush=True)
while True:
    try:
        os.open(sys.argv[1], os.O_RDWR)
    except PermissionError:
        continue
    except OSError:
        pass
    print("opened", flush=True)
    time.sleep(60)
"""


def tries(user):
    return background("python3", "-c", OPEN_LOOP, "/dev/nvidia0", user=user)


def refused_late(a, ident, token):
    """Refused because of the token's binding.  If a process that tries the node seems to have it open, an earlier lease must drain first."""
    for _ in range(50):
        answer = a.grant(id=ident, token=token, gpus=None, **mapped(uid("attacker")))
        if answer[0] != 75:
            break
        client.look()
    refused(answer, 77, "another container")


@case("W7", "A refusal (used token, full log, too many requests) opens no node, not even briefly", 60)
def w7():
    with issuer() as token, Closed(), asker("attacker") as a, tries("attacker") as p:
        p.stdout.readline()
        t = token()
        os.set_blocking(p.stdout.fileno(), False)
        subprocess.run(["rm", "-rf", RUN + "/rate"], check=True)
        # the token belongs to another user's container, so the refusal comes late
        with issuer_other(t):
            for n in range(80):
                refused_late(a, "w%d" % n, t)
                if n % 20 == 19:
                    subprocess.run(["rm", "-rf", RUN + "/rate"], check=True)
        with log_full():
            for n in range(20):
                assert a.grant(id="x%d" % n, gpus="1", **mapped(uid("attacker")))[0] != 0
        with Counted("attacker") as count:
            for n in range(20):
                count.set(written=(0, 0, 3000))
                refused(a.grant(id="z%d" % n, gpus="1", **mapped(uid("attacker"))), 75, "in a minute")
        assert not p.stdout.read(), "the node was opened"
        subprocess.run(["rm", "-rf", RUN + "/rate"], check=True)
        # the control: a grant opens the node
        granted(a.grant(id="w", gpus="1", **mapped(uid("attacker"))))
        for _ in range(100):
            if p.stdout.read():
                return
            time.sleep(0.05)
        raise AssertionError("the node was not opened by a grant")


@contextlib.contextmanager
def issuer_other(t):
    granted(ask_with(t, "first", "victim"))
    yield


@case("W8", "A request that waits longer than its policy allows loses its place, and is told so", 30)
def w8():
    with etc(), asker("root") as has:
        write(POLICIES + "/50-attacker.conf", read(POLICIES + "/50-attacker.conf").replace("count = 2;", "count = 2; wait = 2;"))
        write(POLICIES + "/50-victim.conf", read(POLICIES + "/50-victim.conf").replace("count = 2;", "count = 2; wait = 60;"))
        granted(has.grant(gpus="2"))
        with asker("attacker") as a, asker("victim") as v:
            assert a.grant(id="a", gpus="1")[1]["reply"] == "busy"
            answer = v.grant(id="v", gpus="1")[1]
            assert answer["reply"] == "busy" and answer["ahead"] == 1, answer
            seen, end = set(), time.monotonic() + 3.5
            while time.monotonic() < end:
                seen.add(a.grant(id="a", gpus="1")[1]["reply"])
                answer = v.grant(id="v", gpus="1")[1]
                time.sleep(0.2)
            assert seen == {"busy", "refused"}, seen
            assert answer["ahead"] == 0, answer
            has.end()
            # the waiter that kept to its policy is first now
            a.end()
            granted(v.grant(id="v", gpus="1"))


def take_turns(wait, seconds):
    """Every second a new waiter asks for two GPUs, and continues almost as long as its policy allows."""
    begun, end = {}, time.monotonic() + seconds
    while time.monotonic() < end:
        now = time.monotonic()
        if not begun or now - max(begun.values()) > 1:
            begun["w%d" % len(begun)] = now
        for name, since in begun.items():
            if now - since < wait - 0.3:
                exchange(id=name, gpus="2")
        time.sleep(0.1)


@case("W8c", "Waiters that ask in turn for too many GPUs do not keep a free GPU from another waiter for its whole wait", 40)
def w8c():
    with etc(), asker("root") as has, asker("attacker") as a:
        for user in "attacker", "victim":
            path = "%s/50-%s.conf" % (POLICIES, user)
            write(path, read(path).replace("count = 2;", "count = 2; wait = 6;"))
        granted(has.grant(id="has", gpus="1"))
        a.tell(take_turns, 6, 14)
        time.sleep(2)
        with asker("victim") as v:
            replies, end = [], time.monotonic() + 10
            while time.monotonic() < end and replies[-1:] in ([], ["busy"]):
                replies.append(v.grant(id="v", gpus="1")[1]["reply"])
                time.sleep(0.2)
            # the control: at first the GPU is kept from the victim
            assert replies[0] == "busy" and replies[-1] == "grant", replies
        a.hear()
    # the next request removes the place of a waiter that no longer asks
    time.sleep(2.5)
    granted(once("victim", exchange, gpus="1"))


@case("W8b", "A waiter that cannot be served when its turn comes loses its place, so free GPUs wait for nobody", 30)
def w8b():
    with etc(), asker("root") as has:
        for user in "attacker", "victim":
            path = "%s/50-%s.conf" % (POLICIES, user)
            write(path, read(path).replace("count = 2;", "count = 2; wait = 60;"))
        granted(has.grant(gpus="2"))
        with asker("attacker") as a, asker("victim") as v:
            granted(a.grant(id="a", gpus=None, folders="/srv/ro"))
            assert a.grant(id="a", gpus="1")[1]["reply"] == "busy"
            assert v.grant(id="v", gpus="2")[1]["ahead"] == 1
            has.end()
            refused(a.grant(id="a", gpus="1"), 75, "already has a lease")
            granted(v.grant(id="v", gpus="2"))


CROWD = r"""
import os, signal, sys, time
fds = [os.open("/dev/null", os.O_RDONLY) for _ in range(20)]
for _ in range(int(sys.argv[1])):
    if os.fork() == 0:
        signal.pause()
print("there", flush=True)
time.sleep(120)
"""


def timed(**fields):
    """The reply, and the CPU time in seconds of the helper and its children."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    answer = exchange(**fields)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return answer, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def time_of_grant():
    """CPU time in milliseconds, the least of five, so that the machine's other work does not count.

    On a busy machine the helper cannot always see within 0.2 s that the previous lease is over; then this asks again.
    """
    took, end = [], time.monotonic() + 45
    while len(took) < 5:
        answer, seconds = once("victim", timed, gpus=GPU0)
        if answer[0] == 75 and "taken by" in answer[1]["text"] and time.monotonic() < end:
            time.sleep(0.2)
            continue
        granted(answer)
        took.append(seconds)
    return min(took) * 1000


# takes turns, because the search would find other runs' processes, too
@case("W9", "2000 container processes are searched in a few seconds", 120, shares=fcntl.LOCK_EX)
def w9():
    alone = time_of_grant()
    with background(*CONTAINER, "python3", "-c", CROWD, "2000") as p:
        p.stdout.readline()
        among = time_of_grant()
    print("# a grant takes %.0f ms, and %.0f ms beside 2000 processes of containers with 23 files open each" % (alone, among))
    assert among - alone < 4000


@case("W10", "A user maps a file that its own file system hides from root: nobody's grant is delayed", 20)
def w10():
    where = tempfile.mkdtemp(dir=TEMP)
    os.chmod(where, 0o777)
    with background(program("fusemap"), where, user="nobody") as p:
        if not p.stdout.readline():
            raise Skip("no FUSE in a user namespace here")
        granted(once("victim", exchange, gpus="1"))
    os.rmdir(where)


@case("W19", "A user's root directory is in such a file system, or an open file there is unreadable: no grant is delayed", 30)
def w19():
    for how in "root", "bad":
        where = tempfile.mkdtemp(dir=TEMP)
        os.chmod(where, 0o777)
        with background(program("fusemap"), where, how, user="nobody") as p:
            if not p.stdout.readline():
                raise Skip("no FUSE in a user namespace here")
            granted(once("victim", exchange, gpus="1"))
            granted(once("root", exchange, id="r", gpus="1"))
        os.rmdir(where)


MAPPED = THREAD.replace("if (open(av[2], O_RDONLY) == -1) exit(2);",
                        "int f = open(av[2], O_RDWR); if (mmap(0, 4096, 3, 2, f, 0) == (void *)-1) exit(3); close(f);").replace(
    "#include <fcntl.h>", "#include <fcntl.h>\n#include <sys/mman.h>")


@case("W11", "A process whose first thread has ended is noticed while it has the node open or mapped", 30)
def w11():
    build("thread", THREAD, "-pthread")
    build("mapthread", MAPPED, "-pthread")
    assert MAPPED != THREAD and "mmap(0" in MAPPED
    for minor, name in (9, "thread"), (5, "mapthread"):
        with Openable(minor):
            for how in "plain", "leader":
                with background(*CONTAINER, program(name), how, "/dev/nvidia%d" % minor) as p:
                    p.stdout.readline()
                    time.sleep(0.2)
                    refused(once("victim", exchange, gpus=GPU0), 75, "is open in process")
                # otherwise this rootless lease would be over
                with background(program(name), how, "/dev/nvidia%d" % minor, user="attacker") as p:
                    p.stdout.readline()
                    time.sleep(0.2)
                    granted(once("attacker", exchange, gpus=GPU0))
                    refused(once("victim", exchange, gpus=GPU0), *BUSY)
                client.look()


def again_and_again(verb, times):
    for _ in range(times):
        exchange(verb=verb, gpus=None)


SLOW = r"""
import os, resource, time
resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
try:
    for _ in range(20000):
        os.open("/dev/null", os.O_RDONLY)
except OSError:
    pass
print("there", flush=True)
time.sleep(120)
"""


@case("W12", "reapply does not carry out a lease that is only planned, and its env cannot be read", 60)
def w12():
    with issuer() as token, Closed(), asker("attacker") as a, asker("attacker") as b, tries("attacker") as p, \
            background(*CONTAINER, "python3", "-c", SLOW) as slow:
        slow.stdout.readline()
        p.stdout.readline()
        os.set_blocking(p.stdout.fileno(), False)
        t = token()
        granted(ask_with(t, "first", "victim"))
        records = glob.glob(RUN + "/exec/%d/*" % uid("attacker"))
        for n in range(8):
            b.tell(again_and_again, "reapply", 4)
            a.tell(client.exchange, id="w%d" % n, token=t, gpus=None, **mapped(uid("attacker")))
            end = time.monotonic() + 0.3
            while time.monotonic() < end:
                assert glob.glob(RUN + "/exec/%d/*" % uid("attacker")) == records
            refused(a.hear(), 77, "another container")
            b.hear()
        assert not p.stdout.read(), "the node was opened"


FURTHER, NUMBER = "/dev/dri/card0", (10, 229)	# fuse(4)'s numbers, because that node can be opened


@contextlib.contextmanager
def further(pci):
    """A CDI kind with a further node that belongs to that PCI device by sysfs, and policies that give it."""
    spec = {"cdiVersion": "0.6.0", "kind": "acme.com/card", "containerEdits": {"env": ["A=1"]}, "devices": [
        {"name": "x", "containerEdits": {"deviceNodes": [{"path": "/dev/nvidia0"}, {"path": FURTHER}]}},
        {"name": "y", "containerEdits": {"deviceNodes": [{"path": "/dev/nvidia1"}]}}]}
    there = "/sys/dev/char/%d:%d" % NUMBER
    had = os.path.isdir("/etc/cdi")
    subprocess.run(["mount", "-t", "tmpfs", "char", "/sys/dev/char"], check=True)
    try:
        os.makedirs(there)
        os.makedirs("/sys/dev/char/class/" + pci)
        write("/sys/dev/char/class/%s/class" % pci, "0x030200\n")
        os.symlink("../class/" + pci, there + "/device")
        os.makedirs(os.path.dirname(FURTHER))
        os.mknod(FURTHER, 0o020600, os.makedev(*NUMBER))
        os.makedirs("/etc/cdi", exist_ok=True)
        write("/etc/cdi/acme.json", json.dumps(spec))
        with Closed(), etc():
            for user in "attacker", "victim":
                write(POLICIES + "/50-%s.conf" % user, 'identity = "caller"; callers = [ "%s" ];\n'
                      'gpus = ( { vendor = "acme.com/card"; count = 2; } );' % user)
            yield
            client.look()
        assert [l for l in acl(FURTHER) if "user:" in l] == ["user::rw-"], acl(FURTHER)
    finally:
        subprocess.run(["umount", "/sys/dev/char"], check=True)
        subprocess.run(["rm", "-r", os.path.dirname(FURTHER)], check=True)
        os.unlink("/etc/cdi/acme.json")
        if not had:
            os.rmdir("/etc/cdi")


@case("W13", "A process with only a further node of a GPU open (CDI) has the GPU: during its lease, after it, and without one")
def w13():
    try:
        os.close(os.open("/dev/fuse", os.O_RDWR))
    except OSError as e:
        raise Skip("/dev/fuse can't be opened: %s" % e)
    with further(GPU0):
        with asker("attacker") as a:
            pid = a.call(hang_up, node=FURTHER)
            try:
                assert len(leases()) == 1 and entry("attacker", FURTHER) == [], (leases(), acl(FURTHER))
                refused(once("victim", exchange, gpus=GPU0), *BUSY)
                answer = once("victim", exchange, gpus="1")
                granted(answer)
                assert nodes(answer) == ["/dev/nvidia1"], answer
            finally:
                os.kill(pid, 9)
                gone(pid)
        answer = once("victim", exchange, gpus=GPU0)
        assert FURTHER in [n["path"] for n in granted(answer)["containerEdits"]["deviceNodes"]], answer
        with holder(OPEN, FURTHER, *CONTAINER) as p:
            p.stdout.readline()
            refused(once("victim", exchange, gpus=GPU0), 75, "is open in process", "container")
            answer = once("victim", exchange, gpus="1")
            granted(answer)
            assert nodes(answer) == ["/dev/nvidia1"], answer
def leave_socket(**fields):
    """In the asker: sends a request, and leaves the socket to a process that outlives it."""
    h = Helper(stderr=subprocess.DEVNULL).ask(**fields)
    if os.fork() == 0:
        os.setsid()
        time.sleep(4)
        os._exit(0)
    return h.p.pid


@case("W20", "The asker dies when its lease is written, and another gets the GPU: the first helper opens no node")
def w20():
    with Closed(), Between("attacker") as line:
        with asker("attacker") as a, asker("victim") as v:
            pid = a.call(leave_socket, id="first", gpus=GPU0)
            line.stop()
            for _ in range(100):
                if glob.glob(RUN + "/exec/%d/*" % uid("attacker")):
                    break
                time.sleep(0.002)
            # the helper checks once more whether its asker is alive
            time.sleep(0.02)
            a.end()
            granted(v.grant(id="second", gpus=GPU0))
            line.go_on()
            # an unconfirmed grant lasts for 5 s
            for _ in range(200):
                if entry("attacker") or len(leases()) != 1 or gone(pid, 1):
                    break
            assert [l["id"] for l in leases()] == ["second"], leases()
            assert entry("attacker") == [] and entry("victim") != [], acl()
            assert not glob.glob(RUN + "/exec/%d/*" % uid("attacker"))


@case("W41", "A lease that changed after it was planned: its helper opens no node")
def w41():
    for was, now in ("state held yes", "state draining yes"), ("state held yes", "state passed-on yes"), ("state held yes", "state held no"):
        with Closed(), Between("attacker") as line, asker("attacker") as a:
            a.call(leave_socket, id="first", gpus=GPU0)
            line.stop()
            for _ in range(100):
                if glob.glob(RUN + "/exec/%d/*" % uid("attacker")):
                    break
                time.sleep(0.002)
            path, = [p for p in glob.glob(RUN + "/leases/*") if os.path.isfile(p) and "." not in os.path.basename(p)]
            text = read(path)
            assert was in text, text
            write(path, text.replace(was, now))
            line.go_on()
            time.sleep(0.3)
            assert entry("attacker") == [], (now, acl())
            a.end()
            client.look()
            assert entry("attacker") == [] and leases() == [], (now, acl(), leases())


PEEK = r"""
/* peek NODE OPEN SHUT: has the node open for OPEN ns, and shut for SHUT ns, until it is closed to it while it has it open */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>
static void pass(long ns) { struct timespec t = { 0, ns }; nanosleep(&t, NULL); }
int main(int c, char **v)
{
	prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
	for (;;) {
		int again, fd = open(v[1], O_RDWR);
		if (fd != -1) {
			pass(atol(v[2]));
			again = open(v[1], O_RDWR);
			if (again == -1 && errno == EACCES) { write(1, "kept\n", 5); pause(); }
			close(again);
			close(fd);
		}
		pass(atol(v[3]));
	}
}
"""


@case("W21", "A process that opens and closes the node all the time keeps no node that another user gets after the lease", 30)
def w21():
    build("peek", PEEK)
    with Openable():
        os.chmod("/dev/nvidia9", 0o600)
        end = time.monotonic() + 8
        while time.monotonic() < end:
            subprocess.run(["rm", "-rf", RUN + "/rate"], check=True)
            with background(program("peek"), "/dev/nvidia9", "300000", "100000", user="attacker") as p:
                os.set_blocking(p.stdout.fileno(), False)
                granted(once("attacker", exchange, gpus=GPU0))
                for _ in range(20):
                    answer = once("victim", exchange, gpus=GPU0)
                    if answer[0] == 0:
                        break
                time.sleep(0.01)
                assert not (p.stdout.read() and answer[0] == 0), "granted to one while another has it open"
            client.look()


@case("T8", "An abandoned grant whose GPU is in use does not free its token for another container", 20)
def t8():
    with SecondOpenable(), issuer() as token:
        write(POLICIES + "/10-token.conf", 'pipeline = "ml/train"; gpus = ( { vendor = "nvidia"; count = 1; } );')
        for node in "/dev/nvidia9", "/dev/nvidia5":
            os.chmod(node, 0o600)
        t = token()
        with asker("attacker") as a:
            pid = a.call(hang_up, id="c1", token=t, gpus=None)
            try:
                assert [l["state"] for l in leases()] == ["draining"], leases()
                told = [r for r in records() if r["event"] == "undo"][-1]
                assert told["draining"] is True, told
                refused(ask_with(t, "c2"), 77, "another container")
            finally:
                os.kill(pid, 9)
                gone(pid)
        client.look()
        # meanwhile another process gets the same container's grant, which the first one's end must not undo
        t = token(job="b")
        with asker("attacker") as a, asker("attacker") as b:
            a.call(hand_over, id="d1", token=t, gpus=None)
            a.end()
            granted(b.grant(id="d1", token=t, gpus=None))
            time.sleep(1)
            refused(ask_with(t, "d2"), 77, "another container")
# Processes that change during the search

CHURN = r'''
/* One table of descriptors, which never changes; its first thread has exited, and each of the others lives for microseconds. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <time.h>
#include <unistd.h>
static time_t left;
static void *next(void *x)
{
	pthread_t t; pthread_attr_t a; struct timespec now; static int n;
	if ((++n & 255) == 0 && (clock_gettime(CLOCK_MONOTONIC, &now), now.tv_sec >= left)) _exit(0);
	pthread_attr_init(&a); pthread_attr_setdetachstate(&a, PTHREAD_CREATE_DETACHED); pthread_attr_setstacksize(&a, 16384);
	while (pthread_create(&t, &a, next, NULL) != 0) sched_yield();
	return NULL;
}
static void *decoy(void *x) { unshare(CLONE_FILES); closefrom(3); for (;;) pause(); }
int main(int n, char **v)
{
	struct timespec now; pthread_t t;
	int fd = open(v[2], v[1][0] == 'm' ? O_RDWR : O_RDONLY | O_NONBLOCK);
	if (fd == -1) { perror(v[2]); return 1; }
	if (v[1][0] == 'm' && (mmap(0, 4096, 3, 2, fd, 0) == MAP_FAILED || close(fd))) { perror("mmap"); return 1; }
	if (v[1][0] == 'd') { pthread_create(&t, NULL, decoy, NULL); usleep(50000); }
	if (v[3] != NULL && umount2(v[2], MNT_DETACH)) { perror("umount"); return 1; }
	clock_gettime(CLOCK_MONOTONIC, &now); left = now.tv_sec + 4;
	puts("ready"); fflush(stdout);
	pthread_create(&t, NULL, next, NULL);
	usleep(50000);
	pthread_exit(NULL);
}
'''


def never(n, ask, *words):
    """Repeats the request for one second, at most n times."""
    end = time.monotonic() + 1
    for k in range(n):
        refused(ask(k), 75, *words)
        if time.monotonic() > end:
            break


def soon(user, **fields):
    """A grant, after processes killed a moment ago are gone."""
    end = time.monotonic() + 5
    while True:
        answer = once(user, exchange, **fields)
        if answer[0] != 75 or time.monotonic() > end:
            return answer
        time.sleep(0.05)


@case("W30", "A process with threads that live for microseconds is noticed while it has the node open or mapped", 40)
def w30():
    build("churn", CHURN, "-pthread")
    for minor, how in (9, "open"), (5, "mapped"), (9, "decoy"):
        with Openable(minor):
            with background(*CONTAINER, program("churn"), how, "/dev/nvidia%d" % minor) as p:
                assert p.stdout.readline() == b"ready\n"
                time.sleep(0.1)
                never(30, lambda k: once("victim", exchange, id="w%d" % k, gpus=GPU0))
            # otherwise this rootless lease would be over
            with background(program("churn"), how, "/dev/nvidia%d" % minor, user="attacker") as p:
                assert p.stdout.readline() == b"ready\n"
                time.sleep(0.1)
                granted(soon("attacker", gpus=GPU0))
                never(30, lambda k: once("victim", exchange, id="w%d" % k, gpus=GPU0), BUSY[1])
            client.look()


SHUFFLE = r'''
/* One thread moves what it has open to and fro among its numbers, or what it has mapped among its addresses. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>
int main(int c, char **v)
{
	struct timespec t = { 0, atol(v[3]) * 1000 };
	struct rlimit r;
	int pad = atoi(v[4]), low = open(v[2], O_RDWR), high = low + pad + 1, i;
	getrlimit(RLIMIT_NOFILE, &r); r.rlim_cur = r.rlim_max; setrlimit(RLIMIT_NOFILE, &r);
	if (low == -1) { perror(v[2]); return 1; }
	char *a = mmap(0, 1 << 30, 0, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0), *b = a + (1 << 29);
	if (v[1][0] == 'm') {
		mmap(a, 4096, 3, MAP_PRIVATE | MAP_FIXED, low, 0); close(low);
		for (i = 0; i < pad; i++) { int f = open("/proc/self/exe", O_RDONLY); mmap(a + 8192 * (i + 1), 4096, 1, MAP_PRIVATE | MAP_FIXED, f, 0); close(f); }
	} else for (i = 0; i < pad; i++) open("/dev/null", O_RDONLY);
	puts("ready"); fflush(stdout);
	for (;;)
		if (v[1][0] == 'm') {
			mremap(a, 4096, 4096, MREMAP_MAYMOVE | MREMAP_FIXED, b); nanosleep(&t, NULL);
			mremap(b, 4096, 4096, MREMAP_MAYMOVE | MREMAP_FIXED, a); nanosleep(&t, NULL);
		} else {
			dup2(low, high); close(low); nanosleep(&t, NULL);
			dup2(high, low); close(high); nanosleep(&t, NULL);
		}
}
'''


@case("W31", "A process that moves the open node among its descriptor numbers is noticed", 60)
def w31():
    build("shuffle", SHUFFLE)
    for how, minor, us, pad in ("open", 9, 200, 1500), ("open", 9, 100, 3000), ("open", 9, 50, 100):
        with Openable(minor):
            with background(*CONTAINER, program("shuffle"), how, "/dev/nvidia%d" % minor, str(us), str(pad)) as p:
                assert p.stdout.readline() == b"ready\n"
                never(10, lambda k: once("victim", exchange, id="w%d" % k, gpus=GPU0))
            for n in range(3):
                with background(program("shuffle"), how, "/dev/nvidia%d" % minor, str(us), str(pad), user="attacker") as p:
                    assert p.stdout.readline() == b"ready\n"
                    granted(soon("attacker", gpus=GPU0))
                    refused(once("victim", exchange, gpus=GPU0), *BUSY)
                client.look()


BUSY_FILES = r'''
/* Opens and closes files, and has threads come and go, as programs do. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static void *t(void *x) { int f = open("/dev/null", O_RDONLY); usleep(300); close(f); return x; }
int main(void)
{
	pthread_t p[4];
	puts("ready"); fflush(stdout);
	for (;;) {
		for (int i = 0; i < 4; i++) pthread_create(&p[i], NULL, t, NULL);
		for (int i = 0; i < 4; i++) pthread_join(p[i], NULL);
		usleep(300);
	}
}
'''


@case("W32", "A container's process that opens and closes files, and has short-lived threads, prevents no grant", 40)
def w32():
    build("busy", BUSY_FILES, "-pthread")
    with Openable(), background(*CONTAINER, program("busy")) as p:
        p.stdout.readline()
        got = [once("victim", exchange, id="w%d" % n, gpus=GPU0)[0] for n in range(20)]
    print("# %d of 20 grants beside it" % got.count(0))
    assert got.count(0) >= 18, got


# The node is open only in the queue of a socket: sent, and not received
IN_FLIGHT = r'''
import array, os, socket, sys, time
def send(by, fd):
    by.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [fd]))])
    os.close(fd)
how, node = sys.argv[1:]
fd = os.open(node, os.O_RDWR | os.O_NONBLOCK) if how != "chat" else os.open("/dev/null", os.O_RDWR)
kind = {"datagram": socket.SOCK_DGRAM, "packet": socket.SOCK_SEQPACKET}.get(how, socket.SOCK_STREAM)
a, b = socket.socketpair(socket.AF_UNIX, kind)
if how == "waiting":        # a connection that nobody has accepted
    lis = socket.socket(socket.AF_UNIX)
    lis.bind("\0" + str(os.getpid()))
    lis.listen()
    a = socket.socket(socket.AF_UNIX)
    a.connect(lis.getsockname())
    b.close()
send(a, fd)
if how == "nested":         # the socket with the node is itself in flight
    c, d = socket.socketpair()
    send(c, b.detach())
    a.close()
if how == "closed":         # the sender is gone
    a.close()
print("ready", flush=True)
while how == "chat":        # as programs do: what is sent is received at once
    (m, anc, *_), = [b.recvmsg(1, 64)]
    fd = array.array("i", anc[0][2])[0]
    time.sleep(0.0002)
    send(a, fd)
time.sleep(60)
'''


@case("W40", "A node that is open only in a socket's queue, sent and not received, is noticed", 60)
def w40():
    for how in "stream", "datagram", "packet", "waiting", "nested", "closed":
        with Openable():
            with background(*CONTAINER, "python3", "-c", IN_FLIGHT, how, "/dev/nvidia9") as p:
                assert p.stdout.readline() == b"ready\n", how
                refused(once("victim", exchange, gpus=GPU0), 75, "may be open in process", "keeps a file in flight through a socket")
            granted(once("victim", exchange, id="after", gpus=GPU0))
            client.look()
    with Openable(), background(*CONTAINER, "python3", "-c", IN_FLIGHT, "chat", "/dev/null") as p:
        assert p.stdout.readline() == b"ready\n"
        got = [once("victim", exchange, id="w%d" % n, gpus=GPU0)[0] for n in range(20)]
        print("# %d of 20 grants beside a process that passes descriptors all the time" % got.count(0))
        assert got.count(0) >= 18, got


# What a container passes on

# like docker's: an own root directory, on another file system than the folder; the program is $0
ROOT_OF_ITS_OWN = r'''
set -e
o=/run/ov; mkdir -p $o; mount -t tmpfs ov $o; mkdir $o/u $o/w $o/m
mount -t overlay -o lowerdir=/,upperdir=$o/u,workdir=$o/w overlay $o/m
mkdir -p $o/m/data $o/m/old; mount --bind /srv/tree $o/m/data; mount -t proc proc $o/m/proc
mount -t tmpfs dev $o/m/dev; mknod -m 666 $o/m/dev/null c 1 3; mount -t tmpfs tmp $o/m/media
[ ! -d "$1" ] || mount --bind "$1" $o/m/mnt
cd $o/m; pivot_root . old; umount -l /old; cd /
exec python3 -I -c "$0"
'''
WITH_LIBC = '''
import ctypes, os, socket, sys, threading, time
libc = ctypes.CDLL(None, use_errno=True)
def ck(r):
    assert r >= 0, os.strerror(ctypes.get_errno())
    return r
def ready():
    print("ready", flush=True)
    sys.stdin.read()
'''


@contextlib.contextmanager
def disk():
    """Puts the folder on a file system with a device number of its own, if there is one."""
    with tempfile.TemporaryDirectory(dir="/tmp") as where:
        os.chmod(where, 0o755)
        for d in "dir", "ro", "mine":
            os.mkdir("%s/%s" % (where, d))
        subprocess.run(["mount", "--bind", where, "/srv/tree"], check=True)
        try:
            yield
        finally:
            subprocess.run(["umount", "/srv/tree"], check=True)


def beneath(name):
    """Asks as root, whose own processes do not count, even if their output is in that folder."""
    return once("root", exchange, id=name, folders="/srv/tree/dir:ro", **IN_NAMESPACE)


@contextlib.contextmanager
def leaving(program):
    """A container with the folder at /data.  Its asker ends; what the program keeps is left."""
    with asker("root") as a:
        granted(a.grant(id="a", folders="/srv/tree:rw", **HOST_ROOT))
        # the test's own output and directory may be in the folder's file system
        p = subprocess.Popen(["unshare", "-mp", "--fork", "--propagation", "private", "sh", "-c", ROOT_OF_ITS_OWN, WITH_LIBC + program, TEMP],
                             text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd="/")
        said = p.stdout.readline()
    try:
        assert said == "ready\n", said
        yield
    finally:
        p.stdin.close()
        p.wait()


def keeps(program):
    """The program's object keeps the folder, but only while the program is alive."""
    with disk():
        with leaving(program):
            never(5, lambda k: beneath("v%d" % k), "/srv/tree/dir lies in /srv/tree")
        released(beneath)


@case("V50", "A directory kept by a process with threads that live for microseconds keeps the folders in use")
def v50():
    build("churn", CHURN, "-pthread")
    keeps('os.execv("/mnt/churn", ["churn", "open", "/data", "detach"])')


RING = r'''
/* Its lock is taken nearly all the time, by an update of as many registered files as there may be. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/io_uring.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
#define N 30000
static int ring, n, files[N], skip[N];
static void *hammer(void *x)
{
	struct io_uring_files_update u = { .offset = 1, .fds = (unsigned long)skip };
	for (;;) syscall(SYS_io_uring_register, ring, IORING_REGISTER_FILES_UPDATE, &u, n - 1);
}
int main(int c, char **v)
{
	struct rlimit r; struct io_uring_params p = { 0 }; pthread_t t; char line[8];
	int i, fd = open(v[1], O_RDONLY);
	getrlimit(RLIMIT_NOFILE, &r); r.rlim_cur = r.rlim_max; setrlimit(RLIMIT_NOFILE, &r);
	n = r.rlim_max < N ? (int)r.rlim_max : N;
	for (i = 0; i < N; i++) { files[i] = -1; skip[i] = -2; }
	files[0] = fd;
	if ((ring = (int)syscall(SYS_io_uring_setup, 8, &p)) == -1) { perror("setup"); return 1; }
	if (syscall(SYS_io_uring_register, ring, IORING_REGISTER_FILES, files, n)) { perror("register"); return 1; }
	close(fd);
	if (umount2(v[1], MNT_DETACH)) { perror("umount"); return 1; }
	pthread_create(&t, NULL, hammer, NULL);
	usleep(200000);
	puts("ready"); fflush(stdout);
	return read(0, line, 1) == -1;
}
'''


@case("V51", "A directory kept by an io_uring that is never idle keeps the folders in use")
def v51():
    ring = ctypes.CDLL(None, use_errno=True).syscall(425, 4, (ctypes.c_char * 120)())
    if ring < 0:
        raise Skip("no io_uring here: %s" % os.strerror(ctypes.get_errno()))
    os.close(ring)
    build("ring", RING, "-pthread")
    keeps('os.execv("/mnt/ring", ["ring", "/data"])')


# the program ends, and leaves the container's mount namespace without a process
ALONE = """
if os.fork() > 0:
    time.sleep(0.3)
    ck(libc.umount2(b"/data", 2))
    os.wait()
    os._exit(0)
ck(libc.unshare(0x10020000))
"""


@case("V52", "A mount namespace whose only process is chrooted, even to an unmounted tree, keeps the folders in use")
def v52():
    keeps(ALONE + """
os.chdir("/")
os.chroot("/media")
time.sleep(0.6)
ready()
""")
    # this process has the lower PID, and sees nothing; the other one sees everything
    keeps(ALONE + """
r, w = os.pipe()
if os.fork() == 0:
    os.read(r, 1)
    ck(libc.umount2(b"/media", 2))
    time.sleep(0.6)
    ready()
    os._exit(0)
ck(libc.mount(b"x", b"/media", b"tmpfs", 0, None))
os.chdir("/media")
os.chroot("/media")
os.write(w, b"x")
os.wait()
""")


FROM_ELSEWHERE = """
a, b = socket.socketpair()
if os.fork() == 0:
    ck(libc.unshare(0x10020000))
    %s
    socket.send_fds(a, [b"x"], [fd])
    os._exit(0)
os.wait()
_, got, *_ = socket.recv_fds(b, 1, 1)
ck(libc.umount2(b"/data", 2))
ready()
"""


@case("V53", "A directory from a mount namespace that is gone, or from an unmounted tree, keeps the folders in use")
def v53():
    keeps(FROM_ELSEWHERE % 'fd = os.open("/", os.O_RDONLY)')
    # open_tree(2)
    keeps(FROM_ELSEWHERE % 'fd = ck(libc.syscall(428, -100, b"/", 1 | 0x8000))')


@contextlib.contextmanager
def relay(flag):
    """One process of a container passes the node on, while another one makes whoever looks at it wait."""
    def answers_late(opcode, pid):
        while opcode == FUSE_FLUSH and not os.path.exists(flag):
            time.sleep(0.01)
        return False
    with silent_files("attacker", answers_late) as path:
        p = subprocess.Popen(["python3", os.path.dirname(os.path.abspath(__file__)) + "/relay.py", "/dev/nvidia9", path], text=True,
                             bufsize=1, stdin=subprocess.PIPE, stdout=subprocess.PIPE, preexec_fn=lambda: client.become("attacker"))

        def tell(which, answer=None):
            p.stdin.write(which + "\n")
            assert answer is None or p.stdout.readline() == answer + "\n"
        try:
            assert p.stdout.readline() == "ready\n"
            yield tell
        finally:
            write(flag, "")
            p.stdin.close()
            time.sleep(0.2)
            p.kill()
            p.wait()
            os.unlink(flag)


def pass_on_while_looked_at(user, tell, flag):
    tell("1")
    time.sleep(0.3)
    with asker(user) as v:
        v.tell(exchange, gpus=GPU0)
        time.sleep(0.3)
        tell("2", "passed")
        write(flag, "")
        answer = v.hear()
        tell("0", "read 4 bytes")
        refused(answer, 75)


@case("W34", "A process delays the looker, and passes the node to one that was looked at already: the node is noticed", 60)
def w34():
    for user in "victim", "root":
        for n in range(3):
            flag = "%s/flag-%d" % (TEMP, n)
            with Openable(), relay(flag) as tell:
                refused(once(user, exchange, gpus=GPU0), 75, "is open in process")
                pass_on_while_looked_at(user, tell, flag)


@case("W35", "Such a process is also noticed if its user's lease is over except for that process", 60)
def w35():
    for n in range(3):
        flag = "%s/flag-%d" % (TEMP, n)
        with contextlib.ExitStack() as stack, Openable():
            with asker("attacker") as a:
                granted(a.grant(gpus=GPU0))
                tell = stack.enter_context(relay(flag))
            refused(once("victim", exchange, gpus=GPU0), 75)
            pass_on_while_looked_at("victim", tell, flag)
        client.look()


@contextlib.contextmanager
def crowd(n):
    """So many processes that gpuhelper-look has copies of itself look at a part of them."""
    ps = [subprocess.Popen(["sleep", "120"]) for _ in range(n)]
    try:
        yield
    finally:
        for p in ps:
            p.kill()
            p.wait()


@case("W42", "W3 and W34 among many processes, of which copies of gpuhelper-look look at a part each", 120)
def w42():
    with crowd(600):
        with SecondOpenable():
            for how in OPEN, MAP:
                with holder(how, "/dev/nvidia5", *CONTAINER) as p:
                    p.stdout.readline()
                    for _ in range(8):
                        refused(once("victim", exchange, gpus=GPU1), 75, "is open in process")
                    answer = once("victim", exchange, gpus="1")
                    assert nodes(answer) == ["/dev/nvidia9"], nodes(answer)
            granted(once("victim", exchange, gpus=GPU1))
        for n in range(8):
            flag = "%s/flag-%d" % (TEMP, n)
            with Openable(), relay(flag) as tell:
                refused(once("victim", exchange, gpus=GPU0), 75, "is open in process")
                pass_on_while_looked_at("victim", tell, flag)


def report_created(name, stayed):
    """In the asker: makes a container by hand, and reports it to the helper that stayed or to another; (reply, init, cgroup)."""
    ask = (lambda **fields: ask_stayed(**fields)) if stayed else exchange
    answers = []
    _, init, place = make_container(name, name, lambda **fields: answers.append(ask(**fields)[1]) or (0, None))
    return answers[0], init, place


def leave_last_stayed():
    """In the asker: hangs up on the helper that was asked to stay last."""
    h = held.pop()
    h.close()
    h.wait()


def made_in_vain(a, name, stayed):
    """Reports a container whose GPU is open elsewhere, or was not looked at; its lease ends with it, although its asker lives."""
    reply, init, place = a.call(report_created, name, stayed)
    try:
        assert reply["reply"] == "busy", reply
        l, = [l for l in leases() if l["id"] == name]
        assert l["pid"] == 0 and l["init"] == 0, l
        refused(a.call(exchange, verb="created", id=name, gpus=None), 77, "has no lease that this process requested")
        refused(a.grant(id=name, gpus=GPU0), 65, "has processes in it already")
        refused(once("victim", exchange, gpus=GPU0), 75)
        assert name in [l["id"] for l in leases()]
    finally:
        os.kill(init, 9)
        remove_cgroup(place)


@case("W43", "Root's GPU is looked at beside the runtime: without a good look, «created» is refused and the lease ends", 60)
def w43():
    beside = {"gpus": GPU0, "look_first": False}
    with SecondOpenable():
        with holder(OPEN, "/dev/nvidia9", *CONTAINER) as p, asker("root") as a:
            p.stdout.readline()
            assert a.call(stay, id="x", **beside) == "S"
            made_in_vain(a, "x", True)
            refused(a.grant(id="x", gpus=GPU0), 75, "is open in process")
            assert leases() == [], leases()
        # the helper that looked is gone, and the caller asks one that did not
        with asker("root") as a:
            assert a.call(stay, id="y", **beside) == "S"
            a.call(leave_last_stayed)
            made_in_vain(a, "y", False)
            granted(a.grant(id="y", gpus=GPU0))
        # a look for one container is none for another of the same process
        with asker("root") as a:
            assert a.call(stay, id="z", gpus=GPU1, look_first=False) == "S"
            assert a.call(stay, id="v", **beside) == "S"
            a.call(leave_last_stayed)
            made_in_vain(a, "v", True)
        # the control
        with asker("root") as a:
            assert a.call(stay, id="w", **beside) == "S"
            reply, init, place = a.call(report_created, "w", True)
            try:
                assert reply["reply"] == "noted", reply
            finally:
                os.kill(init, 9)
                remove_cgroup(place)
    # others than root are looked at first
    with Openable(), holder(OPEN, "/dev/nvidia9", *CONTAINER) as p:
        p.stdout.readline()
        refused(once("victim", exchange, **beside), 75, "is open in process")


def watch_looks(pid):
    """In the asker: watches the process in its own view of /proc for looks (inotify(7))."""
    libc = ctypes.CDLL(None, use_errno=True)
    fd = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
    for name in "fd", "fdinfo", "maps", "stat", "task", "ns":
        # IN_ACCESS, IN_OPEN, IN_CLOSE_NOWRITE
        assert libc.inotify_add_watch(fd, ("/proc/%d/%s" % (pid, name)).encode(), 0x31) > 0, os.strerror(ctypes.get_errno())
    return fd


def contained():
    """In the asker: starts a process that counts as a container's; returns its PID."""
    return subprocess.Popen(["unshare", "--user", "sleep", "60"]).pid


def looks_seen(fd):
    try:
        return len(os.read(fd, 65536))
    except BlockingIOError:
        return 0


@case("W36", "A user who sees the host's /proc cannot tell by inotify when the looker looks at the user's processes", 30)
def w36():
    with asker("attacker") as a, Openable():
        pid = a.call(contained)
        try:
            time.sleep(0.5)
            fd = a.call(watch_looks, pid)
            with open("/proc/%d/maps" % pid) as f:
                f.read()
            assert a.call(looks_seen, fd) > 0, "the control: inotify reports no look"
            granted(once("victim", exchange, gpus=GPU0))
            told = a.call(looks_seen, fd)
            assert told == 0, "%d bytes" % told
        finally:
            os.kill(pid, 9)
