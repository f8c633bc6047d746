#!/usr/bin/env python3
"""shim.py OUT PIDFILE COMMAND...: runs a runtime's detached exec as containerd's shim does, and prints the status of the
process that it started, or the runtime's."""
import ctypes, os, sys

out, pidfile, argv = sys.argv[1], sys.argv[2], sys.argv[3:]
ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)      # PR_SET_CHILD_SUBREAPER
runtime = os.fork()
if runtime == 0:
    fd = os.open(out, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
    os.dup2(fd, 1)
    os.dup2(fd, 2)
    os.execv(argv[0], argv)
ended, task = {}, None
while True:
    try:
        pid, st = os.wait()
    except ChildProcessError:
        break
    ended[pid] = os.WEXITSTATUS(st) if os.WIFEXITED(st) else 128 + os.WTERMSIG(st)
    if pid == runtime and ended[pid] != 0:
        print(ended[pid], flush=True)
        os._exit(0)
    if runtime in ended:
        task = int(open(pidfile).read())
        if task in ended:
            print(ended[task], flush=True)
            os._exit(0)
