"""Faults at every point of a grant and of a lease's end leave nothing behind, and nothing half done.

faultat.c kills the helper before its Nth system call, or makes that call fail, for every N; nomem.c does the same
with allocations.  Meanwhile one container of the victim's has a GPU and another one waits for it; both must keep what
they have.

With ATTACK_LONG=1 (check.sh --long) each class of calls fails with each of its errors, and no point is skipped.
"""
import collections
import contextlib
import glob
import itertools
import json
import os
import random
import re
import shutil
import subprocess
import time

import client
from client import exchange, once
from harness import *
from t_acl import Closed, hold_open
from t_lease import Openable
from t_token import TOKENS, issuer

LONG = bool(os.environ.get("ATTACK_LONG"))
SLOW = 1200 if LONG else 180	# seconds for a case, on a busy machine
EIO, ENOMEM, EINTR, ENOSPC = 5, 12, 4, 28
KILL = 0
FAILS = [("open", EIO), ("read", EIO), ("write", ENOSPC), ("write", EIO), ("rename", ENOSPC), ("rename", EIO),
         ("make", ENOSPC), ("make", EIO), ("remove", EIO), ("xattr", ENOSPC), ("xattr", EIO), ("xattr", ENOMEM),
         ("memory", ENOMEM), ("lock", EINTR), ("lock", EIO)]
# these errors also last from that call on, as on a full disk or without memory
LASTING = [("write", ENOSPC), ("make", ENOSPC), ("memory", ENOMEM)]
MANY = "open", "read"
if LONG:
    FAILS += [(kind, error) for kind in ("open", "read", "write", "rename", "make", "remove", "memory", "lock")
              for error in (ENOSPC, EIO, ENOMEM) if (kind, error) not in FAILS]
    LASTING += [(kind, EIO) for kind in ("open", "read", "write", "make", "remove", "xattr")]

Outcome = collections.namedtuple("Outcome", "how status calls heard log said hit reply")


class Faults:
    """Runs faultat.c, which has a user send the same request as often as it is told to."""

    def __init__(self, name, user, *options, **fields):
        uid = client.pwd.getpwnam(user).pw_uid
        ids = [[0, 0, 65536]] if user == "root" else [[0, uid, 1]]
        path = "%s/request-%s" % (TEMP, name)
        with open(path, "wb") as f:
            f.write(client.frame(client.request(id=name, uids=ids, gids=ids, **fields)))
        helper = program("gpuhelper-dynamic") if program("nomem.so") in options else client.HELPER
        self.p = subprocess.Popen([program("faultat"), user, path, helper, *options], stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE, text=True)
        self.rate = "%s/rate/%d" % (RUN, uid)
        self.asked = 0
        self.renew = lambda: None

    def _tell(self, line):
        self.p.stdin.write(line + "\n")
        self.p.stdin.flush()
        answer = self.p.stdout.readline()
        assert answer, "faultat is gone, after «%s»" % line
        return answer.rstrip("\n")

    def ask(self, kind="none", n=0, error=KILL, lasting=False):
        self.asked += 1
        if self.asked % 200 == 0:	# a user may not ask so often in a minute
            with contextlib.suppress(OSError):
                os.unlink(self.rate)
        self.renew()
        line = "%s %d %d%s" % (kind, n, error, "+" if lasting else "")
        how, *numbers, reply = self._tell(line).split(" ", 7)
        reply = json.loads(reply) if reply != "-" else {}
        reply.pop("nonce", None)	# differs each time
        return Outcome(how, *map(int, numbers), reply)

    def end(self):
        """Ends the asker, too."""
        self._tell("end")

    def close(self):
        self.p.kill()
        self.p.wait()


@contextlib.contextmanager
def faults(*args, **fields):
    f = Faults(*args, **fields)
    try:
        yield f
    finally:
        f.close()


@contextlib.contextmanager
def policies():
    """The right policy, 10-fault, among others that no fault may let a request reach."""
    some = "gpus = ( { vendor = \"nvidia\"; count = 2; } ); folders = ( { path = \"/srv/m*\"; access = \"%s\"; }%s );"
    with etc(), contextlib.ExitStack() as stack:
        # if its callers were ignored, this policy would cover everybody
        write(POLICIES + "/05-nobody.conf", 'identity = "caller"; callers = [ "daemon" ]; ' + some % ("rw", ""))
        write(POLICIES + "/07-waits.conf", """identity = "claim"; pipeline = "ml/waits"; jobs = [ "one" ];
              callers = [ "victim" ]; gpus = ( { vendor = "nvidia"; wait = 600; } );""")
        write(POLICIES + "/10-fault.conf", """identity = "caller"; callers = [ "attacker", "root", "victim" ];
              env = { FAULT = "1"; };""" + some % ("ro", ", { path = \"/srv/rw\"; access = \"rw\"; }"))
        # this policy covers whoever is not recognized
        write(POLICIES + "/60-anyone.conf", 'identity = "caller"; env = { FAULT = "2"; }; ' + some % ("rw", ""))
        for name in "/srv/m1", "/srv/m2":
            os.mkdir(name)
            stack.callback(os.rmdir, name)
        yield


@contextlib.contextmanager
def bystanders():
    """One container of the victim's has GPU1, and another one waits for it.  Yields a function that keeps the waiter's place."""
    with policies(), asker("victim") as holder, asker("victim") as waiter:
        granted(holder.grant(id="holds", gpus=GPU1))
        status, answer = waiter.grant(id="waits", gpus=GPU1, team="ml", pipeline="waits", job="one")
        assert answer["reply"] == "busy", answer
        place, = glob.glob(RUN + "/queue/*")

        def renew():
            """Acts as if the waiter had asked again.  The time counts from boot."""
            if os.path.exists(place):
                now = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
                os.utime(place, ns=(now, now))
        yield renew
    # the next request for a GPU removes the place of a process that is gone
    granted(once("victim", exchange, gpus=GPU1))


class News:
    """The new records in the log."""
    torn = False		# a partial line, terminated, may be there

    def __init__(self):
        self.f = open(LOG, "rb")
        self.f.seek(0, os.SEEK_END)

    def records(self):
        return [json.loads(line) for line in self.f.read().splitlines() if not (self.torn and line[-1:] != b"}")]


class Trial:
    """A series of points; after each the host must be as before."""

    def __init__(self, name, least, stack):
        self.name, self.least = name, least
        self.renew = stack.enter_context(bystanders())
        self.stack = stack
        self.root = self.faults("look", "root", verb="look", gpus=None)
        subprocess.run(["cp", "-a", RUN, TEMP + "/run"], check=True)
        stack.callback(shutil.rmtree, TEMP + "/run")
        self.news = News()
        self.tally = collections.Counter()
        self.sparse, self.troubles = [], []
        self.point = ""
        self.harmless = ()		# facts that may be left
        self.sweep_first = self.sweep_last = lambda: None
        self.settled = 0
        self.begin()

    def begin(self):
        self.before = snapshot()

    def faults(self, *args, **fields):
        f = self.stack.enter_context(faults(*args, **fields))
        f.renew = self.renew
        return f

    def trouble(self, text):
        self.troubles.append("%s: %s" % (self.point, text))
        if os.environ.get("ATTACK_TIMES"):
            print("# %.400s" % self.troubles[-1])

    def extra(self):
        return [x for x in snapshot() if x not in self.before and x not in self.harmless]

    def look(self):
        o = self.root.ask()
        self.root.end()
        if (o.how, o.status, o.reply) != ("exit", 0, {"reply": "noted"}):
            self.trouble("a look afterwards: %r" % (o,))

    def settle(self):
        """The asker is gone: checks what is left after a look by root."""
        self.sweep_first()
        after = [x for x in snapshot() if x not in self.harmless]
        self.settled += 1
        # if there is nothing to see, every look is the same, and a few are enough
        if after != self.before or self.settled % 20 == 1 or LONG:
            self.look()
            after = [x for x in snapshot() if x not in self.harmless]
        self.sweep_last()
        if after == self.before:
            return
        self.tally["leaks"] += 1
        for x in after:
            if x not in self.before:
                self.trouble("left behind: " + x)
        for x in self.before:
            if x not in after:
                self.trouble("gone: " + x)
        subprocess.run(["sh", "-c", "rm -r %s/*; cp -a %s/run/* %s" % (RUN, TEMP, RUN)], check=True)
        assert snapshot() == self.before, self.troubles[:3]

    def sweep(self, act, kind, error, first=1, lasting=False, stride=1):
        """Tries point after point until no call of the kind is left; with a stride only some points, others in each run."""
        n, missed = first, 0
        if stride > 1 and not LONG:
            n += random.randrange(stride)
            self.sparse.append("%s%s from %d, one in %d" % (kind, ", lasting," if lasting else "", n, stride))
        else:
            stride = 1
        while missed < 2:
            self.point = "%s %d %s%s" % (kind, n, os.strerror(error) if error else "kill", lasting * " lasting")
            o = act(kind, n, error, lasting)
            missed = 0 if o.hit else missed + 1
            self.tally["points"] += o.hit > 0
            n += stride
            assert len(self.troubles) < 100, self.troubles[:3]

    def report(self):
        counts = [(k, self.tally[k]) for k in ("points", *sorted(set(self.tally) - {"points", "leaks"}), "leaks")]
        print("# %s: %s" % (self.name, ", ".join("%d %s" % (v, k) for k, v in counts)))
        if self.sparse:
            print("# %s: not every point (check.sh --long tries all): %s" % (self.name, "; ".join(self.sparse)))
        assert self.tally["points"] >= self.least, "so few points: is faultat.c blind?"
        assert not self.troubles, "%d troubles: %s" % (len(self.troubles), "; ".join(self.troubles[:4]))


@contextlib.contextmanager
def trial(name, least):
    with contextlib.ExitStack() as stack:
        t = Trial(name, least, stack)
        yield t
    t.report()


def differing(got, right):
    """A short description of the difference of two values."""
    if isinstance(got, dict) and isinstance(right, dict):
        return "; ".join("%s: %s" % (k, differing(got.get(k), right.get(k))) for k in {**got, **right}
                         if got.get(k) != right.get(k))
    if isinstance(got, (list, tuple)) and isinstance(right, (list, tuple)):
        pairs = list(itertools.zip_longest(got, right))
        return "; ".join("[%d] %s" % (n, differing(*p)) for n, p in enumerate(pairs) if p[0] != p[1])
    return "%r and not %r" % (got, right)


class Grants:
    """A request for a grant, and its result without a fault."""
    verdict = "grant"
    every = 50		# after so many points a request without a fault must be served

    def __init__(self, t, user, *options, **fields):
        self.t = t
        self.f = t.faults(t.name.lower(), user, *options, **fields)
        self.hangup = "hangup" in options
        self.right = self.f.ask()
        assert self.right.reply.get("reply") == self.verdict, self.right
        self.traces = self.traces_now()
        self.over()

    def over(self):
        self.f.end()
        self.t.settle()
        self.t.news.records()

    def traces_now(self):
        """The traces of the request, without what differs each time (asker and times)."""
        traces = []
        for x in self.t.extra():
            path = x.split(" ", 1)[0]
            if path.startswith(RUN + "/leases/") and "." not in path:
                x = path, {k: v for k, v in lease.read(read(path)).items() if k not in ("pid", "start", "since")}
            elif path.startswith(RUN + "/ledger/") and "." not in path:
                x = path, {k: v for k, v in lease.read_ledger(read(path)).items() if k != "inode"}
            elif x.split()[3] != "0":	# a node that was made has another inode each time, so its inode is left out
                x = path, x.split()[1:4]
            traces.append(x)
        return traces

    def calls(self, kind):
        o = self.f.ask(kind)
        self.over()
        return o

    def check_granted(self, o, events):
        t = self.t
        t.tally["grants"] += 1
        if o.reply != self.right.reply:
            t.trouble("not the same grant: %s" % differing(o.reply, self.right.reply))
        elif self.traces_now() != self.traces:
            t.trouble("a grant that left %s" % differing(self.traces_now(), self.traces))
        if [e["event"] for e in events if e["event"] not in ("end", "made-nodes")] != ["grant"]:
            t.trouble("a grant, and in the log %r" % (events,))

    def check_refused(self, o, events, n, lasting):
        t = self.t
        t.tally["refusals"] += 1
        if o.status != o.reply["code"]:
            t.trouble("exit status %d, %r" % (o.status, o.reply))
        # The refusal itself says why it is not in the log: there was no log yet, or the log failed.  A full disk takes no record.
        told = [e["reason"] for e in events if e["event"] == "refuse"] == [o.reply["text"]]
        if not told and o.log not in (-1, n) and LOG not in o.reply["text"] and not lasting:
            t.trouble("not in the log: %r" % (o.reply,))

    def check_crash(self, o, kind):
        """Before main() the C library may crash if memory is short; the helper has done nothing then."""
        where = "the loader" if kind != "malloc" and o.heard == -1 else "the helper"
        self.t.tally["crashes in " + where] += 1
        if where == "the helper":
            self.t.trouble("ended by signal %d" % o.status)

    def may_leave(self, o, lasting):
        """Whether the helper could not undo its grant: then the lease lasts as long as the asker."""
        return self.hangup or lasting or (o.status, o.reply) == (70, {})

    def check(self, o, kind, n, lasting):
        """While the asker is alive: a complete and logged grant, or no grant and no trace outside of the log."""
        self.events = events = self.t.news.records()
        answer = o.reply.get("reply")
        if (answer, o.how, o.status) == ("grant", "exit", 0):
            self.check_granted(o, events)
            return
        if o.how == "signal":
            self.check_crash(o, kind)
        elif answer == "refused":
            self.check_refused(o, events, n, lasting)
        else:
            self.t.tally["undone" if answer == "grant" else "no reply"] += 1
        if self.t.extra() and not self.may_leave(o, lasting):
            self.t.trouble("no grant (%s %d %r), and left: %r" % (o.how, o.status, o.reply, self.t.extra()))

    def act(self, kind, n, error, lasting=False):
        o = self.f.ask(kind, n, error, lasting)
        if error != KILL:
            self.check(o, kind, n, lasting)
        elif o.hit:
            self.t.tally["kills"] += 1
        self.over()
        if n % self.every == 0:
            if self.f.ask().reply != self.right.reply:
                self.t.trouble("then a good request: %r" % (o,))
            self.over()
        return o


ASK = {"gpus": GPU0, "folders": "all"}


@contextlib.contextmanager
def grants(name, least, user, *options):
    # closed nodes, so that the helper must change their ACLs
    with Closed(), trial(name, least) as t:
        yield t, Grants(t, user, *options, **ASK)


def heard(g, kind):
    """The first point at which the request matters; K1 and K2 cover those before it."""
    return 1 if LONG else g.calls(kind).heard + 1


@case("K1", "A grant is killed before every system call", SLOW)
def k1():
    with grants("K1", 350, "attacker") as (t, g):
        t.sweep(g.act, "any", KILL, stride=3)


@case("K2", "During a grant, every open, read, write, rename, ... and memory mapping fails in turn", SLOW)
def k2():
    with grants("K2", 300, "attacker") as (t, g):
        for kind, error in FAILS:
            t.sweep(g.act, kind, error, stride=3 if kind in MANY else 1)
        for kind, error in LASTING:
            t.sweep(g.act, kind, error, lasting=True)


@case("K3", "The asker abandons a grant, and from the reply on the helper is killed, or one of its calls fails", SLOW)
def k3():
    with grants("K3", 100, "attacker", "hangup") as (t, g):
        for kind, error in [("any", KILL)] + FAILS:
            t.sweep(g.act, kind, error, 1 if LONG else max(g.calls(kind).said - 2, 1), stride=3 if kind == "any" else 1)


class Looks:
    """A look by root after the end of a lease."""

    def __init__(self, g):
        self.g, self.t = g, g.t

    def one_is_over(self):
        assert self.g.f.ask().reply == self.g.right.reply
        self.g.f.end()

    def calls(self, kind):
        self.one_is_over()
        o = self.t.root.ask(kind)
        self.t.root.end()
        assert o.reply == {"reply": "noted"} and self.t.extra() == [], (o, self.t.extra())
        return o

    def act(self, kind, n, error, lasting=False):
        t = self.t
        self.one_is_over()
        o = t.root.ask(kind, n, error, lasting)
        t.root.end()
        left = [x for x in t.extra() if x.startswith((RUN + "/exec", RUN + "/leases"))]
        if left and not [x for x in left if x.startswith(RUN + "/leases")]:
            t.trouble("the lease is gone and its exec record is not: %r" % left)
        if error == KILL:
            t.tally["kills"] += o.hit
        elif o.how == "signal":
            self.g.check_crash(o, kind)
        else:
            t.tally[{"refused": "refusals", "noted": "looks"}.get(o.reply.get("reply"), "no reply")] += 1
        t.settle()
        return o


@case("K4", "The look that ends a lease is killed, or one of its calls fails", SLOW)
def k4():
    with grants("K4", 150, "attacker") as (t, g):
        looks = Looks(g)
        for kind, error in [("any", KILL)] + FAILS:
            t.sweep(looks.act, kind, error, heard(looks, kind), stride=3 if kind == "any" else 1)


class Tokens(Grants):
    """A grant for a token.  The token is unused before each point, and still serves its container afterwards."""
    every = 1

    @staticmethod
    def names():
        return os.listdir(TOKENS) if os.path.isdir(TOKENS) else []

    def free(self):
        for x in self.names():
            os.unlink(TOKENS + "/" + x)

    def calls(self, kind):
        o = super().calls(kind)
        self.free()
        return o

    def check(self, o, kind, n, lasting):
        super().check(o, kind, n, lasting)
        names = self.names()
        # once the grant is logged the token stays bound, whatever fails afterwards
        bound = "grant" in [e["event"] for e in self.events]
        if len(names) > 1 or "." in "".join(names) or (o.reply.get("reply") == "refused" and bool(names) != bound):
            self.t.trouble("%r, and bound: %r" % (o, names))

    def act(self, kind, n, error, lasting=False):
        o = super().act(kind, n, error, lasting)
        if len([x for x in self.names() if "." not in x]) != 1:
            self.t.trouble("bindings: %r" % self.names())
        self.free()
        return o


@case("K5", "A grant with a token is killed, or a call fails: the token still serves its container, and no other", SLOW)
def k5():
    with issuer() as token, trial("K5", 150) as t:
        write(POLICIES + "/06-token.conf", 'pipeline = "ml/train"; gpus = ( { vendor = "nvidia"; } );')
        t.begin()
        ask = {"gpus": GPU0, "token": token()}
        g = Tokens(t, "attacker", **ask)
        assert g.right.reply["policy"] == "06-token.conf", g.right
        refused(once("victim", exchange, id="k5", **ask), 77, "another container")
        g.free()
        t.sweep(g.act, "change", KILL)
        t.sweep(g.act, "any", KILL, heard(g, "any"), stride=9)
        for kind, error in FAILS:
            t.sweep(g.act, kind, error, heard(g, kind), stride=3 if kind in MANY else 1)
        # the binding and its name must be on the disk, or a reboot would free the token
        before = t.tally.copy()
        t.sweep(g.act, "sync", EIO)
        assert t.tally["points"] >= before["points"] + 2, "less is written through than a file and its name"
        # a sweep ends two points after the last call
        assert t.tally["grants"] == before["grants"] + 2, "granted, and the token's binding is not on the disk"


@case("K6", "During a grant every allocation fails, one alone or all from there on", SLOW)
def k6():
    with trial("K6", 700) as t:
        # root's request to a dynamic helper: LD_PRELOAD affects neither a setuid program nor a static one
        g = Grants(t, "root", program("nomem.so"), dac_override=True, **ASK)
        t.sweep(g.act, "malloc", ENOMEM)
        t.sweep(g.act, "malloc", ENOMEM, lasting=True, stride=9)


@case("K7", "A grant makes a missing node: the node is complete, or does not exist", SLOW)
def k7():
    params, node = "/proc/driver/nvidia/params", "/dev/nvidia0"
    with without(node), kept(params), trial("K7", 100) as t:
        # mode and group differ from the defaults for nodes
        write(params, re.sub("DeviceFileGID: .*", "DeviceFileGID: 44", read(params)).replace("DeviceFileMode: 438", "DeviceFileMode: 390"))
        g = Grants(t, "attacker", **ASK)
        t.sweep(g.act, "change", KILL)
        for kind, error in FAILS:
            t.sweep(g.act, kind, error, heard(g, kind), stride=3 if kind in MANY else 1)


class Waits(Grants):
    """A request that has to wait."""
    verdict = "busy"

    def check(self, o, kind, n, lasting):
        t = self.t
        events = t.news.records()
        answer = o.reply.get("reply")
        assert answer != "grant", o
        if o.how == "signal":
            self.check_crash(o, kind)
        elif answer == "refused":
            self.check_refused(o, events, n, lasting)
        else:
            t.tally["waits" if answer else "no reply"] += 1
        # if its reply got lost, its place may stay
        left = t.extra()
        if len(left) > 1 or (left and (answer == "refused" or not left[0].startswith(RUN + "/queue/"))):
            t.trouble("%r, and left %r" % (o, left))


@case("K8", "A request that has to wait is killed, or a call fails: no other request loses its place", SLOW)
def k8():
    with trial("K8", 60) as t:
        write(POLICIES + "/06-waits.conf", """identity = "caller"; callers = [ "attacker" ];
              gpus = ( { vendor = "nvidia"; wait = 600; } );""")
        t.begin()
        next_one = t.faults("next", "root", gpus=GPU0)

        def another_asks():
            if snapshot() != t.before:
                assert next_one.ask().reply["reply"] == "grant"
                next_one.end()
        t.sweep_first = another_asks
        g = Waits(t, "attacker", gpus=GPU1)
        t.sweep(g.act, "change", KILL)
        for kind, error in FAILS:
            t.sweep(g.act, kind, error, heard(g, kind), stride=5 if kind in MANY else 1)


@case("K9", "During a grant by a token each write is cut to half; later writes work, or fail", SLOW)
def k9():
    with issuer() as token, trial("K9", 12) as t:
        write(POLICIES + "/06-token.conf", 'pipeline = "ml/train"; gpus = ( { vendor = "nvidia"; } );')
        t.begin()
        t.news.torn = True
        g = Tokens(t, "attacker", gpus=GPU0, token=token())
        for lasting in False, True:
            t.sweep(g.act, "short", ENOSPC, lasting=lasting)


class Children(Grants):
    """The fault happens in a child of the helper's; the helper still answers."""

    def act(self, kind, n, error, lasting=False):
        if kind == "reader":
            forget_answers()
        o = self.f.ask(kind, n, error, lasting)
        # n counts the child's calls and o.log the helper's, so they cannot be compared
        self.check(o, kind, -2, lasting)
        self.t.tally["kills"] += o.hit > 0 and error == KILL
        self.over()
        return o


@case("K10", "The looker of a grant is killed, or one of its calls fails: a complete grant, or none and nothing left", SLOW)
def k10():
    with Closed(), trial("K10", 20) as t:
        g = Children(t, "attacker", **ASK)
        for error in KILL, EIO, ENOMEM:
            t.sweep(g.act, "looker", error, stride=19)


@case("K12", "gpuhelper-read, gpuhelper-judge or gpuhelper-engine is killed, or one of its calls fails: a complete grant, or none", SLOW)
def k12():
    with Closed(), trial("K12", 100) as t:
        g = Children(t, "attacker", **ASK)
        # the engine makes few calls where no CDI spec is
        for child, stride, least in ("reader", 3, 40), ("judge", 4, 40), ("engine", 1, 20):
            before = t.tally["points"]
            for error in KILL, EIO, ENOMEM:
                t.sweep(g.act, child, error, stride=stride)
            assert t.tally["points"] - before > least, "so few points of the " + child


@case("K11", "The looker fails while a process keeps the GPU of an ended lease open: nobody gets the GPU", SLOW)
def k11():
    with Openable(), asker("attacker") as holder:
        with asker("attacker") as a:
            granted(a.grant(id="first", gpus=GPU0))
            holder.call(hold_open)
        with faults("k11", "victim", gpus=GPU0) as f:
            hits = 0
            # not EIO, which a user's file system may return for an inaccessible file
            for error in KILL, ENOMEM, EINTR:
                n = 1 if LONG else random.randrange(1, 14)
                while True:
                    o = f.ask("looker", n, error)
                    # or the looker, a separate process, cannot
                    assert o.reply.get("reply") == "refused", (n, error, o)
                    assert o.status in (69, 74, 75) or (o.status == 65 and "can't be looked at" in o.reply["text"]), (n, error, o)
                    f.end()
                    if not o.hit:
                        break
                    hits += 1
                    n += 1 if LONG else 13
            print("# K11: %d points" % hits)
            assert hits > 20, "so few points: is faultat.c blind?"
    client.look()
