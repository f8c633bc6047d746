"""A container of three processes that pass a node on: relay.py NODE FILE

P2 has the node open.  On «1», P1 executes another program with FILE open; whoever looks at P1 then waits as long as
FILE's file system likes.  On «2», P2 passes the node to P0.  On «0», P0 reads from the node.
"""
import array
import ctypes
import os
import socket
import sys

CLONE_NEWUSER = 0x10000000      # linux/sched.h


def child(function):
    r, w = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(w)
        try:
            function(r)
        finally:
            os._exit(0)
    os.close(r)
    return w, pid


def reader(r):
    theirs.close()
    _, ancillary, _, _ = ours.recvmsg(1, 100)
    fd = array.array("i", ancillary[0][2])[0]
    print("passed", flush=True)
    while os.read(r, 1):
        print("read %d bytes" % len(os.read(fd, 4)), flush=True)


def waiting(r):
    os.read(r, 1)
    os.open(sys.argv[2], os.O_RDWR | os.O_CLOEXEC)
    os.execv("/bin/sleep", ["sleep", "600"])


def holder(r):
    ours.close()
    fd = os.open(sys.argv[1], os.O_RDONLY)
    print("ready", flush=True)
    os.read(r, 1)
    theirs.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [fd]))])
    os.close(fd)
    os.read(r, 1)


assert ctypes.CDLL(None).unshare(CLONE_NEWUSER) == 0
ours, theirs = socket.socketpair()
pipes, pids = zip(*[child(function) for function in (reader, waiting, holder)])
ours.close()
theirs.close()
for line in sys.stdin:
    os.write(pipes[int(line)], b".")
for pid in pids:
    os.kill(pid, 9)
