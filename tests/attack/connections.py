"""The FUSE connections of this run of the attacks, and how they end.

A request that a FUSE daemon does not answer keeps its process in state D, where no signal reaches it.  Only the end of the
connection frees that process: the daemon dies, or somebody writes to its «abort» file (fusectl).  So each connection is written
into this run's file in /tmp, which is the machine's and not the sandbox's.  Three things end a connection:

- its daemon, which the kernel kills when the test dies (PR_SET_PDEATHSIG);
- the keeper, a process that aborts the run's connections when the test dies, even by SIGKILL;
- the start of a later run, if the keeper was killed too.  The test holds a lock on its file, so a run beside it is left alone.
"""
import atexit
import contextlib
import ctypes
import fcntl
import glob
import os
import signal

CONTROL = "/sys/fs/fuse/connections"
FILES = "/tmp/.gpuhelper-attack-fuse"
PR_SET_PDEATHSIG = 1	# linux/prctl.h

libc = ctypes.CDLL(None, use_errno=True)
file = None		# this run's, open and locked; None without fusectl


def die_with(parent, how=signal.SIGKILL):
    """This process gets that signal when its parent dies."""
    libc.prctl(PR_SET_PDEATHSIG, how)
    if os.getppid() != parent:
        os.kill(os.getpid(), how)


def mount_control():
    """False where it may not be mounted.  Only this mount namespace sees the mount, which ends with the sandbox."""
    with open("/proc/self/mountinfo") as f:
        if any(" %s " % CONTROL in line and " - fusectl " in line for line in f):
            return True
    return libc.mount(b"fusectl", CONTROL.encode(), b"fusectl", 0, None) == 0


def abort(path):
    """path: a run's file, of lines «number uid».  The kernel uses numbers again, so a connection of another uid is left alone."""
    with contextlib.suppress(FileNotFoundError), open(path) as f:
        for line in f:
            number, uid = line.split()
            directory = "%s/%s" % (CONTROL, number)
            with contextlib.suppress(FileNotFoundError):
                if os.stat(directory).st_uid == int(uid):
                    with open(directory + "/abort", "w") as control:
                        control.write("1")
        os.unlink(path)


def abort_left():
    """Aborts the connections of runs that were killed."""
    for path in glob.glob(FILES + "-*"):
        with open(path, "r+", opener=opener) as f:
            if os.fstat(f.fileno()).st_uid != 0:
                continue
            with contextlib.suppress(BlockingIOError):
                fcntl.lockf(f, fcntl.LOCK_EX | fcntl.LOCK_NB)
                abort(path)


def opener(path, flags):
    return os.open(path, flags | os.O_NOFOLLOW, 0o600)


def keep(test):
    """The keeper: it outlives signals for the whole process group, such as Ctrl-C's."""
    os.setsid()
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGINT, signal.SIGHUP})
    die_with(test, signal.SIGUSR1)
    signal.sigwait({signal.SIGUSR1})
    abort(file.name)


def start():
    """Called before the test has descriptors or children, of which the keeper would get copies."""
    global file
    try:
        # loads the kernel's module, without which there is no fusectl
        os.close(os.open("/dev/fuse", os.O_RDWR))
    except OSError:
        return
    if not mount_control():
        print("# no fusectl (%s): a killed run's FUSE connections end only with their daemons" % os.strerror(ctypes.get_errno()))
        return
    with open(FILES, "w", opener=opener) as turn:
        # so that nobody takes the file of a run that starts for one that was left
        fcntl.flock(turn, fcntl.LOCK_EX)
        abort_left()
        # a lock of fcntl(2) is the process's own: its children do not keep it
        file = open("%s-%s-%d" % (FILES, os.environ["SANDBOX_ID"], os.getpid()), "w", opener=opener)
        fcntl.lockf(file, fcntl.LOCK_EX)
    test = os.getpid()
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
    if os.fork() == 0:
        try:
            keep(test)
        finally:
            os._exit(0)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGUSR1})
    atexit.register(os.unlink, file.name)


def note(mount_point, uid):
    """Writes the connection of this mount into the run's file.  A connection's number is that of its device."""
    if file is None:
        return
    with open("/proc/self/mountinfo") as f:
        number = [line.split()[2].split(":")[1] for line in f if line.split()[4] == mount_point][-1]
    file.write("%s %d\n" % (number, uid))
    file.flush()
