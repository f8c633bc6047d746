#!/usr/bin/env python3
"""Speaks to the helper as gpuhelper-runc does (helper/ask/wire.h), or as gpuhelper-runc never would.

As a library: Helper is one run of the helper, with a socket pair as its descriptor 0.  Asker is a process of some
user that starts helpers; its leases live as long as the process.

As a program: client.py [--user NAME] [--set KEY=JSON]... [--no-final] [-- COMMAND ARG...] sends one request and
prints «status=N» and the reply.  COMMAND runs in place of the helper and must exec the helper (launch.c).
"""
import json
import multiprocessing
import os
import pwd
import socket
import struct
import subprocess
import sys
import time

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
from reply import whole

HELPER = "/usr/libexec/gpuhelper/gpuhelper"
SOCKET = "/run/gpuhelper/gpuhelper.sock"
fork = multiprocessing.get_context("fork")


VERSION = 7
VERBS = ("grant", "look", "refused", "plain", "status", "release", "reapply", "created", "exec", "task", "over")
FLAGS = ("systemd_cgroup", "dac_override", "privileged", "no_chores", "is_run", "await_keys", "promises", "look_first")
TEXTS = ("id", "runtime_root", "cgroups_path", "label", "mount_label", "init_path", "token", "team", "pipeline", "job",
         "instance_vars", "gpus", "folders", "cuda_visible", "rocr_visible", "reason")
NONE = 0xffffffff


def header(length, magic=b"GPUH", version=VERSION):
    return magic + struct.pack(">II", version, length)


def encode(r, **head):
    """Encodes a request (helper/ask/request.c); head: overrides numbers of its header."""
    unknown = set(r) - {"verb", "uid", "gid", "uids", "gids", "groups", "shut", "init_file", "waiter", *FLAGS, *TEXTS}
    assert not unknown, unknown
    texts = [None if r.get(t) is None else r[t] if isinstance(r[t], bytes) else r[t].encode("utf-8", "surrogateescape")
             for t in TEXTS]
    ranges = [r["uids"], r["gids"]]
    major, minor, inode = (int(n) for n in r.get("init_file", "0:0:0").split(":"))
    verb = VERBS.index(r["verb"]) if r["verb"] in VERBS else r["verb"]
    waiter, waiter_start = r.get("waiter", (0, 0))
    numbers = {"init_inode": inode, "init_major": major, "init_minor": minor, "verb": verb,
               "flags": sum(1 << i for i, flag in enumerate(FLAGS) if r.get(flag)), "uid": r["uid"], "gid": r["gid"],
               "uid_ranges": NONE if ranges[0] is None else len(ranges[0]),
               "gid_ranges": NONE if ranges[1] is None else len(ranges[1]), "gids": len(r["groups"]), "shut": len(r["shut"]), "waiter_start": waiter_start, "waiter": waiter, "unused": 0,
               **{"len_" + t: NONE if text is None else len(text) for t, text in zip(TEXTS, texts)}}
    assert set(head) <= set(numbers), head
    numbers.update(head)
    return (struct.pack("=Q10IQ%dI" % (len(numbers) - 12), *numbers.values()) +
            b"".join(struct.pack("=III", *range) for m in ranges if m is not None for range in m) +
            b"".join(struct.pack("=I", gid) for gid in r["groups"]) +
            b"".join(key.encode() for key in r["shut"]) + b"".join(text for text in texts if text is not None))


def frame(body):
    """A frame around a request's members, or around any bytes."""
    if isinstance(body, dict):
        body = encode(body)
    return header(len(body)) + body


def request(**fields):
    """A request for one GPU, for a container that runs as the asker.  Fields that are None are left out.  Unless told
    otherwise, the helper looks first who has the GPU open, even for root, whose wrapper has it look beside the runtime."""
    r = {"verb": "grant", "id": "c%d" % os.getpid(), "runtime_root": "", "cgroups_path": "", "systemd_cgroup": False,
         "uids": [[0, os.getuid(), 1]], "gids": [[0, os.getgid(), 1]], "uid": 0, "gid": 0, "groups": [],
         "dac_override": False, "privileged": False, "shut": [], "no_chores": False, "look_first": True,
         "gpus": "1"}
    r.update(fields)
    return {k: v for k, v in r.items() if v is not None or k in ("uids", "gids")}


def become(user):
    """Becomes a user of /etc/passwd with the groups of /etc/group, or a numeric uid without groups."""
    if isinstance(user, int):
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
        return
    p = pwd.getpwnam(user)
    os.initgroups(user, p.pw_gid)
    os.setresgid(p.pw_gid, p.pw_gid, p.pw_gid)
    os.setresuid(p.pw_uid, p.pw_uid, p.pw_uid)


class Helper:
    def __init__(self, command=None, fd0=None, kind=socket.SOCK_STREAM, stdout=subprocess.DEVNULL,
                 stderr=subprocess.PIPE, pass_fds=(), start=None):
        self.sock, theirs = (None, None) if fd0 is not None else socket.socketpair(socket.AF_UNIX, kind)
        self.p = subprocess.Popen(command or ["gpuhelper"], executable=None if command else HELPER,
                                  stdin=fd0 if fd0 is not None else theirs, stdout=stdout, stderr=stderr, env={},
                                  pass_fds=pass_fds, preexec_fn=start)
        if theirs is not None:
            theirs.close()
            self.sock.settimeout(12)
        self.answer = None

    def send(self, data):
        try:
            self.sock.sendall(data)
        except OSError:
            pass
        return self

    def ask(self, **fields):
        return self.send(frame(request(**fields)))

    def _take(self, n):
        data = b""
        while len(data) < n:
            try:
                piece = self.sock.recv(n - len(data))
            except ConnectionResetError:
                piece = b""
            if not piece:
                break
            data += piece
        return data

    def reply(self):
        """The reply, or {} if there was none."""
        head = self._take(12)
        if len(head) < 12:
            self.answer = {}
            return self.answer
        magic, version, length = head[:4], *struct.unpack(">II", head[4:])
        assert magic == b"GPUH" and version == VERSION and length <= 1024 * 1024, head
        self.text = self._take(length)
        self.answer = whole(json.loads(self.text))
        self.answer.pop("nonce", None)	# differs each time
        return self.answer

    def kind(self):
        return self.reply().get("reply", "nothing")

    def final(self, byte=b"W"):
        self.send(byte)
        return self.wait()

    def wait(self, timeout=12):
        return self.p.wait(timeout)

    def said(self):
        """The helper's output on standard error."""
        return self.p.stderr.read().decode(errors="replace")

    def close(self):
        if self.sock is not None:
            self.sock.close()
            self.sock = None

    def result(self):
        """Completes the exchange; returns (status, reply)."""
        kind = self.kind()
        status = self.final() if kind == "grant" else self.wait()
        self.close()
        return status, self.answer


def exchange(command=None, **fields):
    h = Helper(command)
    return h.ask(**fields).result()


class Connection(Helper):
    """The same over a socket; another process starts the helper there."""

    def __init__(self, path=None):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(12)
        self.sock.connect(path or SOCKET)
        self.answer = None

    def wait(self, timeout=12):
        """Waits for the helper's end.  There is no exit status over a socket."""
        self.sock.settimeout(timeout)
        try:
            while self.sock.recv(4096):
                pass
        except ConnectionResetError:
            pass

    def said(self):
        return ""


def exchange_at_socket(**fields):
    """Like exchange(), with the reply's code as the status.  Asks again after a dropped connection, as gpuhelper-runc does."""
    for _ in range(200):
        c = Connection().ask(**fields)
        reply = c.result()[1]
        if reply:
            return reply.get("code", 0), reply
        time.sleep(0.03)
    return None, {}


class Asker:
    """A process of a user that runs functions on request («In the asker» in their comments)."""

    def __init__(self, user):
        self.pipe, theirs = fork.Pipe()
        self.p = fork.Process(target=self._serve, args=(user, theirs), daemon=True)
        self.p.start()
        theirs.close()
        self.pid = self.p.pid

    def _serve(self, user, pipe):
        self.pipe.close()
        become(user)
        while True:
            try:
                function, args, fields = pipe.recv()
            except EOFError:
                os._exit(0)
            try:
                pipe.send((True, function(*args, **fields)))
            except BaseException as e:
                pipe.send((False, "%s: %s" % (type(e).__name__, e)))

    def tell(self, function, *args, **fields):
        self.pipe.send((function, args, fields))

    def hear(self):
        ok, value = self.pipe.recv()
        assert ok, value
        return value

    def call(self, function, *args, **fields):
        self.tell(function, *args, **fields)
        return self.hear()

    def grant(self, **fields):
        """Returns (status, reply).  The lease lasts until end()."""
        return self.call(exchange, **fields)

    def end(self):
        self.p.kill()
        self.p.join()
        self.pipe.close()


def once(user, function, *args, **fields):
    """Runs a function in a new process of the user, which then ends."""
    a = Asker(user)
    try:
        return a.call(function, *args, **fields)
    finally:
        a.end()


def look():
    status, answer = once("root", exchange, verb="look", gpus=None)
    assert (status, answer) == (0, {"reply": "noted"}), (status, answer)


def main(argv):
    fields, user, final, command = {}, None, True, None
    while argv:
        word = argv.pop(0)
        if word == "--":
            command, argv = argv, []
        elif word == "--user":
            user = argv.pop(0)
        elif word == "--set":
            key, value = argv.pop(0).split("=", 1)
            fields[key] = json.loads(value)
        elif word == "--no-final":
            final = False
        else:
            sys.exit("client.py: %s: unknown" % word)
    if user is not None:
        become(user)
    h = Helper(command).ask(**fields)
    kind = h.kind()
    if kind == "grant" and not final:
        h.close()
    status = h.final() if kind == "grant" and final else h.wait()
    print("status=%d %s %s" % (status, json.dumps(h.answer), h.said().strip()))


if __name__ == "__main__":
    main(sys.argv[1:])
