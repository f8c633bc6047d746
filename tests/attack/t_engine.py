"""gpuhelper-engine under an attacker's control: root opens no node that the kernel does not show to be fit, and others do
not wait.  And what keeps others from it.
"""
import contextlib
import ctypes
import grp
import json
import os
import pwd
import re
import shutil
import signal
import subprocess
import time

import client
from client import Helper, exchange, once
from harness import *
from t_cgroup import Owned, at_each_window, membership, tops
from t_process import held, poke
from t_reader import FOLDER, evil, of_another_version, rights, running, status_of, user_changed

ENGINE = "/usr/libexec/gpuhelper/gpuhelper-engine"
CHANNELS = "/dev/nvidia-caps-imex-channels"
CHANNEL, GDRDRV = CHANNELS + "/channel5", "/dev/gdrdrv"
MOUNT = "/srv/driver/libcuda.so.1", "/usr/lib/libcuda.so.1"
MASKED = "/proc/driver/nvidia/gpus/0000:af:00.0"
# what it says in a grant by a policy for a caller, in that order: two questions for the judge, and two answers
HOST, VERDICT, AUTHZ, EDITS = range(4)
# more than the helper waits for an answer (times.h), and less than it lives
MOST = 14


def spec():
    return {"cdiVersion": "0.6.0", "kind": "nvidia.com/gpu",
            "devices": [{"name": str(n), "containerEdits": {"deviceNodes": [{"path": "/dev/nvidia%d" % n}, {"path": GDRDRV}, {"path": CHANNEL}]}} for n in range(2)],
            "containerEdits": {"env": ["FROM_SPEC=1"], "mounts": [{"hostPath": MOUNT[0], "containerPath": MOUNT[1], "options": ["ro", "bind"]}],
                               "hooks": [{"hookName": "createContainer", "path": "/srv/driver/hook", "args": ["hook", "a"], "env": ["A=1"]}]}}


def policy(user, devices=""):
    write("%s/10-%s-kind.conf" % (POLICIES, user), 'identity = "caller"; callers = [ "%s" ]; gpus = ( { vendor = "nvidia.com/gpu"; %s '
          'nodes = [ "gdrdrv", "imex=5" ]; } ); folders = ( { path = "/srv/ro"; access = "ro"; } );' % (user, devices))


@contextlib.contextmanager
def specs():
    """CDI specs with further nodes, a driver's file and a hook; the two users' policies are by that kind."""
    devices = read("/proc/devices")
    os.makedirs("/srv/driver")
    os.makedirs("/etc/cdi", exist_ok=True)
    write(MOUNT[0], "x")
    write("/srv/driver/hook", "#!/bin/sh\n", 0o755)
    write("/etc/cdi/attack.json", json.dumps(spec()))
    others = "".join(l for l in devices.partition("Block")[0].splitlines(True) if "gdrdrv" not in l and "imex" not in l and l.strip())
    write("/proc/devices", others + "242 gdrdrv\n508 nvidia-caps-imex-channels\n\nBlock" + devices.partition("Block")[2], 0o444)
    os.mkdir(CHANNELS)
    for path, major, minor in (GDRDRV, 242, 0), (CHANNEL, 508, 5), (CHANNELS + "/channel6", 508, 6):
        os.mknod(path, 0o20600, os.makedev(major, minor))
    try:
        with etc():
            write(ETC + "/gpuhelper.conf", read(ETC + "/gpuhelper.conf") + 'cdi_hooks = "allow";\n')
            for user in "attacker", "victim", "root":
                policy(user)
            yield
    finally:
        os.unlink("/etc/cdi/attack.json")
        os.unlink(GDRDRV)
        shutil.rmtree(CHANNELS)
        shutil.rmtree("/srv/driver")
        write("/proc/devices", devices, 0o444)
        forget_answers()


def all_rights():
    """Those of the further nodes, too."""
    return rights() + [(p, os.lstat(p).st_rdev, os.lstat(p).st_mode, os.lstat(p).st_uid,
                        [(x, os.getxattr(p, x)) for x in os.listxattr(p)]) for p in (GDRDRV, CHANNEL, CHANNELS + "/channel6")]


def lying(question, *how):
    return evil(*how, answer=question, program_of=ENGINE)


def paths(answer):
    return sorted(n["path"] for n in answer[1]["containerEdits"]["deviceNodes"])


def targets(answer):
    return sorted(m["containerPath"] for m in answer[1]["containerEdits"].get("mounts", []))


def whole(answer):
    """A grant of one GPU with all that the spec gives."""
    granted(answer)
    assert GDRDRV in paths(answer) and CHANNEL in paths(answer) and MOUNT[1] in targets(answer), answer
    assert "FROM_SPEC=1" in answer[1]["containerEdits"]["env"] and answer[1]["containerEdits"]["hooks"], answer
    return answer


def patiently(user, **fields):
    """Asks again while another helper, whose engine is silent, has the lock (ENGINE_MS), as the wrapper does."""
    began = time.monotonic()
    while True:
        answer = once(user, exchange, **fields)
        assert time.monotonic() - began < 8, answer
        if answer[1].get("reply") != "busy":
            return answer


def look_patiently():
    """As root's timer does, which comes again."""
    began = time.monotonic()
    while (answer := patiently("root", verb="look", gpus=None))[0] == 75 and time.monotonic() - began < 8:
        continue
    assert answer[0] == 0, answer


def hold_gpu():
    """In the asker: keeps the helper, which was granted a GPU, waiting for the last byte."""
    h = Helper().ask(id="e%d" % len(held), gpus=GPU0)
    held.append(h)
    assert h.kind() == "grant", h.answer
    return h.p.pid


def engine_of(helper):
    pid = running(ENGINE, shut=True)
    assert int(status_of(pid)["PPid"]) == helper, pid
    return pid


@case("Q24", "gpuhelper-engine has a user of its own, no right, and no file but its channel; it ends with its helper", 60)
def q24():
    user = pwd.getpwnam("gpuhelper-engine")
    assert user.pw_uid != 0 and user.pw_gid != 0 and not [g.gr_name for g in grp.getgrall() if user.pw_name in g.gr_mem]
    with specs(), asker("attacker") as a:
        helper = a.call(hold_gpu)
        pid = engine_of(helper)
        got = status_of(pid)
        assert got["Uid"].split() == [str(user.pw_uid)] * 4 and got["Gid"].split() == [str(user.pw_gid)] * 4, got
        assert got["Groups"].split() == [], got["Groups"]
        assert [int(got["Cap" + k], 16) for k in ("Inh", "Prm", "Eff", "Amb")] == [0] * 4, got
        assert got["NoNewPrivs"] == "1" and got["Seccomp"] == "2", got
        assert os.stat("/proc/%d/fd" % pid).st_uid == 0, "it can be dumped"
        fds = {int(n): os.readlink("/proc/%d/fd/%s" % (pid, n)) for n in os.listdir("/proc/%d/fd" % pid)}
        assert {n for n, path in fds.items() if path == "/dev/null"} >= {0, 1, 2}, fds
        assert fds[3].startswith("socket:") and fds[4].startswith(RUN + "/locks/door-"), fds
        assert all(path == "/dev/null" or path.startswith("/proc") or path == "/" for n, path in fds.items() if n > 4), fds
        os.kill(helper, signal.SIGKILL)
        assert gone(pid), pid


# «~» is a blank (evilread.c).  The further nodes' numbers as the engine says them:
GDR, IMEX = GDRDRV + "~242~0", CHANNEL + "~508~5"
NODE_LIES = [(GDR, to) for to in (
    "/dev/nvidia1~195~1", "/dev/gdrdrv~195~1", "/dev/mem~1~1", "/dev/gdrdrv~1~1", "/dev/nvidiactl~1~1", "/dev/fuse~10~229",
    "/dev/kmsg~1~11", "/dev/sda~8~0", "/dev/gdrdrv~8~0", "/srv/gdrdrv~242~0", "/dev/../srv/x~242~0", "/dev~242~0", "/dev/%FF~242~0",
    "/dev/nvidia-fs0~241~0", "/dev/dri/renderD129~226~129", "/dev/nvidia-modeset~195~254")] + [
    (IMEX, to) for to in (CHANNELS + "/channel6~508~6", CHANNEL + "~508~6", CHANNELS + "/channel0~508~0")]
# of the GPUs and the policy that it has chosen
AUTHZ_LIES = [
    ("/srv/ro~", to) for to in ("/proc/1~", "/etc/gpuhelper~", "/~", "/srv/../etc~", "srv/ro~")] + [
    ("policy~10-", to) for to in ("policy~%FF10-", "police~10-")] + [
    ("quota~0", "quota~9999"), ("given~0~no~-", "given~1~no~-"), ("given~0~no~-", "given~0~yes~-"), ("given~0~no~-", "given~0~no~/etc"),
    ("want~0~1~2~0~1", "want~0~3~2~0~1"), ("want~0~1~2~0~1", "want~0~1~2~0~2"), ("want~0~1~2~0~1", "want~0~1~2~0~4294967295"), ("want~0~1~2~0~1", "want~1~1~2~0~1"), ("want~0~1~2~0~1", "want~0~0~2~0~1"),
    ("grant~0", "grant~99999"), ("authz~", "auth~"), ("identity~caller", "identity~token")]
# the question about the host, which gpuhelper-judge hears first: no word of a stranger's may be in it
HOST_LIES = [("host~", to) for to in ("host~9", "host~x", "host~0~", "host~%41", "token~x~")] + [("ask~", "ask~x"), ("^end", "^x^end"), ("end^", "end^x^")]
PICK_LIES = [("takes~0~0", to) for to in ("takes~0~7", "takes~3~0", "takes~0~0^takes~0~1", "takes~0~0^takes~0~0", "take~0~0")] + [("picked~yes", "picked~no")]
# what the helper reads of the rest: paths that it must look at, and that the text for the wrapper is one
EDIT_LIES = PICK_LIES + [(MOUNT[0], to) for to in ("srv/x", "/srv/../etc/shadow", "%FF")] + [("/srv/driver/hook", to) for to in ("hook", "%FF")] + [
    (what, "%FF") for what in (MOUNT[1], "createContainer", "A=1", "FROM_SPEC=1", MASKED, "/etc/cdi/attack.json")] + [
    ("mounted~", "mount~"), ("specs~", "spec~"), ("driver~", "drive~"), ("process~", "proces~"), ("driver~", "driver~-~"), ("driver~", "driver~-^driver~")]
# what it passes on unread: gpuhelper-runc refuses that, whoever runs it
TEXT_LIES = [(MOUNT[1], to) for to in ("/", "/proc", "/proc/sys", "/dev/x", "/sys/x", "usr/lib", "/usr/../dev/x")] + [
    ("nosuid", "suid"), ("nosuid", "exec"), ("nodev", "dev"), ("nodev", "remount"), ('"bind"', '"rbind"'), ('"ro"', '"rshared"'),
    ("createContainer", "createNothing"), ('"args":["hook","a"]', '"args":["hook",1]'), ('"timeout":0', '"timeout":-1'),
    ("FROM_SPEC=1", "GPUHELPER_GPUS=all"), ("FROM_SPEC=1", "FROM_SPEC"), ("FROM_SPEC=1", "=1"), (MASKED, "/proc/1"), (MASKED, "/etc"), (MASKED, "/proc/driver/nvidia"),
    ("driver~{", "driver~{{"), ("driver~{", 'driver~{"mounts":[],'), ("process~{", "process~{{"), ("process~{", 'process~{"env":[],'), ("driver~", "driver~x"), ('"mounts":[{', '"mounts":[{"place":"8:1/",'),
    # of which it did not tell the helper
    ('"hostPath":"' + MOUNT[0], '"hostPath":"/etc/shadow'), ('"path":"/srv/driver/hook', '"path":"/usr/bin/dash'), ("mounted~" + MOUNT[0], "mounted"), ("run~/srv/driver/hook", "run"),
    ("mounted~" + MOUNT[0], "mounted~" + MOUNT[0] + "~/srv/driver/hook"), ("run~/srv/driver/hook", "run~/usr/bin/dash")]


def bundle(user):
    """A bundle of the user's, as a rootless engine makes one, with a request for a GPU."""
    p, path = pwd.getpwnam(user), "%s/scratch/bundle-%s" % (os.environ["ATTACK_TEMP"], user)
    one = [{"containerID": 0, "hostID": n, "size": 1} for n in (p.pw_uid, p.pw_gid)]
    shutil.rmtree(path, ignore_errors=True)
    os.makedirs(path + "/rootfs")
    write(path + "/config.json", json.dumps({
        "ociVersion": "1.0.2", "process": {"user": {"uid": 0, "gid": 0}, "args": ["/bin/true"], "cwd": "/", "env": ["GPUHELPER_GPUS=1"]}, "root": {"path": "rootfs"}, "mounts": [],
        "linux": {"namespaces": [{"type": t} for t in ("user", "mount", "pid")], "uidMappings": one[:1], "gidMappings": one[1:]}}))
    for name in path, path + "/config.json":
        os.chown(name, p.pw_uid, p.pw_gid)
    return path


def wrapper(user, *words):
    """gpuhelper-runc, with a runtime that does nothing; returns what it says."""
    return subprocess.run(["/usr/bin/gpuhelper-runc", "--root", "/run/attack", *words], env={"PATH": "/usr/bin"}, text=True, capture_output=True, timeout=30,
                          preexec_fn=lambda: client.become(user)).stderr


def created(user):
    """config.json, if gpuhelper-runc, run by that user, wrote a grant into it; and what it says."""
    path = bundle(user)
    was = read(path + "/config.json")
    said = wrapper(user, "create", "--bundle", path, "wrapped")
    return "" if read(path + "/config.json") == was else read(path + "/config.json"), said


@case("Q25", "gpuhelper-engine, taken over, says what no CDI spec can give: nothing is granted, no node is touched", 300)
def q25():
    with specs():
        for says in HOST, VERDICT, AUTHZ, EDITS:
            with lying(says, "replace", "end", "end"):
                whole(once("victim", exchange))
        client.look()
        before = all_rights()
        for says, lie in [(HOST, l) for l in HOST_LIES] + [(AUTHZ, l) for l in AUTHZ_LIES] + [(EDITS, l) for l in NODE_LIES + EDIT_LIES]:
            with lying(says, "replace", *lie):
                answer = once("victim", exchange, folders="/srv/ro")
            assert answer[1]["reply"] == "refused", (lie, answer)
            refused(answer, 70, "gpuhelper-engine")
            assert leases() == [] and all_rights() == before, (lie, leases())
        # a node's own number under another name: the node there has another number
        for path in "/dev/mem", "/dev/nvidia1", "/dev/nvidiactl", "/dev/null":
            with lying(EDITS, "replace", GDRDRV, path):
                answer = once("victim", exchange)
            assert answer[1]["reply"] == "refused" and path in answer[1]["text"], (path, answer)
            assert leases() == [] and all_rights() == before, (path, leases())
        whole(once("victim", exchange))


@case("Q25d", "gpuhelper-engine, taken over, lies to gpuhelper-runc in what the helper passes on unread: no such container is made", 300)
def q25d():
    with specs():
        write(ETC + "/gpuhelper.conf", read(ETC + "/gpuhelper.conf") + 'runtime = "/usr/bin/true";\n')
        before = all_rights()
        for user in "victim", "root":
            config, said = created(user)
            assert all(text in config for text in ("/dev/nvidia0", *MOUNT, "/srv/driver/hook", "FROM_SPEC=1", MASKED)), (user, said)
            client.look()
        for lie in TEXT_LIES:
            with lying(EDITS, "replace", *lie):
                config, said = created("victim")
                assert config == "" and "gpuhelper-engine" in said, (lie, config, said)
            assert leases() == [] and all_rights() == before, (lie, leases())
            assert records()[-1]["event"] == "refuse" and "gpuhelper-engine" in records()[-1]["reason"], (lie, records()[-1])
        # in agreement with what it tells the helper: a caller that is not root mounts and runs what its own rights give it
        for to, lie in ("/etc/shadow", ("mounted~" + MOUNT[0], "mounted~/etc/shadow", '"hostPath":"' + MOUNT[0], '"hostPath":"/etc/shadow')), (
                "/usr/bin/dash", ("run~/srv/driver/hook", "run~/usr/bin/dash", "/srv/driver/hook", "/usr/bin/dash")), ("LD_PRELOAD=/srv/x.so", ("FROM_SPEC=1", "LD_PRELOAD=/srv/x.so")):
            with lying(EDITS, "replace", *lie):
                config, said = created("victim")
                assert to in config, (lie, said)
            client.look()
            assert leases() == [] and all_rights() == before, lie
            # root's wrapper has its table (vet/vet.h)
            with lying(EDITS, "replace", *lie):
                config, said = created("root")
                assert config == "" and "gpuhelper's reply has the" in said, (lie, said)
            client.look()
        # a grant for which no wrapper asked: what is kept for its execs is checked, too
        for lie, says in (("FROM_SPEC=1", "GPUHELPER_TOKEN=x"), "a variable that no CDI spec can give"), (("process~{", "process~{{"), "gpuhelper-engine's edits"):
            with asker("victim") as v:
                with lying(EDITS, "replace", *lie):
                    v.grant(id="kept", runtime_root="/run/attack")
                said = wrapper("victim", "exec", "kept", "/bin/true")
                assert says in said, (lie, said)
            client.look()
        # variables where gpuhelper.conf allows no file of a driver
        write(ETC + "/gpuhelper.conf", read(ETC + "/gpuhelper.conf") + 'driver_files = "none";\n')
        assert "FROM_SPEC" not in created("victim")[0]
        client.look()
        with lying(EDITS, "replace", '"env":[]', '"env":["LD_PRELOAD=/srv/x.so"]'):
            config, said = created("victim")
            assert config == "" and "variables that gpuhelper.conf does not allow" in said, said
        assert leases() == [] and all_rights() == before


@case("Q25b", "gpuhelper-engine, taken over, lies about what root cannot check: the caller gets no right of another's", 120)
def q25b():
    with specs():
        before = all_rights()
        # a caller that is not root mounts what its own rights give; the helper opens nothing for it
        for frm, to in ((MOUNT[0], "/etc/shadow"), (MOUNT[0], "/"), ("FROM_SPEC=1", "LD_PRELOAD=/srv/x.so"), ("/srv/driver/hook", MOUNT[0]),
                        ('["' + MASKED + '"]', "[]"), ("driver~{", "driver~{{")):
            with asker("victim") as v:
                with lying(EDITS, "replace", frm, to):
                    answer = v.grant()
                assert granted(answer)["policy"] == "10-victim-kind.conf" and nodes(answer) == ["/dev/nvidia0"], answer
                facts = {p: (os.lstat(p).st_mode, os.lstat(p).st_uid, os.listxattr(p)) for p in ("/etc/shadow", "/", "/bin/sh")}
                assert not any("acl" in x for f in facts.values() for x in f[2]), facts
            client.look()
            assert leases() == [] and all_rights() == before, (frm, to)
        # the other GPU: it chooses who gets which, but nobody else may have that one meanwhile
        policy("victim", 'devices = [ "0" ];')
        assert nodes(whole(once("victim", exchange))) == ["/dev/nvidia0"]
        client.look()
        with asker("attacker") as a:
            granted(a.grant(id="a", gpus="0000:af:00.0"))
            taken = all_rights()
            with lying(AUTHZ, "replace", "want~0~1~1~0", "want~0~1~1~1"):
                answer = once("victim", exchange, id="v")
            assert answer[1]["reply"] == "refused", answer
            policy("victim")
            with lying(EDITS, "replace", "takes~0~0", "takes~0~1"):
                refused(once("victim", exchange, id="v"), 70, "a GPU that another container has")
            assert len(leases()) == 1 and all_rights() == taken
        client.look()
        assert all_rights() == before


HOOK = '"hooks":[{"hookName":"createContainer","path":"/srv/driver/hook","args":["hook"],"env":[],"timeout":0}'


def mount_fuse(fd):
    data = b"fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other" % fd
    if ctypes.CDLL(None, use_errno=True).mount(b"fuse", b"/srv/fuse", b"fuse", 0, data) != 0:
        raise OSError(ctypes.get_errno(), "mount fuse")


def mount_tmpfs(path="/srv/fuse"):
    subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=755", "over", path], check=True)


@contextlib.contextmanager
def fuse():
    """A directory whose file system never answers: nobody reads /dev/fuse."""
    os.makedirs("/srv/fuse")
    fd = os.open("/dev/fuse", os.O_RDWR)
    try:
        mount_fuse(fd)
        yield "/srv/fuse/x"
    finally:
        os.close(fd)
        subprocess.run(["umount", "-l", "/srv/fuse"])
        os.rmdir("/srv/fuse")


@contextlib.contextmanager
def numbers_reversed(silent_on_top):
    """The same, and a tmpfs in the same place; what is on top has the lower mount number."""
    os.makedirs("/srv/fuse")
    os.makedirs("/srv/low")
    fd = os.open("/dev/fuse", os.O_RDWR)
    try:
        mount_tmpfs("/srv/low")
        mount_tmpfs() if silent_on_top else mount_fuse(fd)
        subprocess.run(["umount", "/srv/low"], check=True)
        for _ in range(50):
            time.sleep(0.05)	# until the kernel has freed the number
            mount_fuse(fd) if silent_on_top else mount_tmpfs()
            below, top = [int(l.split()[0]) for l in read("/proc/self/mountinfo").splitlines() if l.split()[4] == "/srv/fuse"]
            if top < below:
                break
            subprocess.run(["umount", "-l", "/srv/fuse"], check=True)
            if silent_on_top:
                os.close(fd)
                fd = os.open("/dev/fuse", os.O_RDWR)
        else:
            raise Skip("this kernel does not use a mount's number again")
        yield "/srv/fuse/x"
    finally:
        os.close(fd)
        subprocess.run("umount -l /srv/fuse; umount -l /srv/fuse; umount -l /srv/low; rmdir /srv/fuse /srv/low", shell=True, stderr=subprocess.DEVNULL)


@case("Q25c", "gpuhelper-engine, taken over, names a closed folder, a silent file system, a hook that the settings deny: refused at once", 120)
def q25c():
    with specs():
        before = all_rights()
        os.makedirs("/srv/closed/beneath", 0o755)
        os.chmod("/srv/closed", 0o700)
        try:
            for closed in "/srv/closed/x", "/srv/closed/beneath/x", "/srv/closed/none/x":
                with lying(EDITS, "replace", MOUNT[0], closed):
                    refused(once("victim", exchange), 78, "not open to all")
                assert leases() == [] and all_rights() == before, closed
        finally:
            shutil.rmtree("/srv/closed")
        with fuse() as silent, lying(EDITS, "replace", MOUNT[0], silent):
            began = time.monotonic()
            refused(once("victim", exchange), 78, "may never answer")
            assert time.monotonic() - began < 3
            # as where autofs has mounted a file system: what is on top counts
            subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=755", "over", "/srv/fuse"], check=True)
            granted(once("victim", exchange))
            client.look()
            subprocess.run(["umount", "/srv/fuse"], check=True)
        # the kernel uses the numbers of mounts again: what is on top can have the lower one
        for silent_on_top in False, True:
            with numbers_reversed(silent_on_top) as silent, lying(EDITS, "replace", MOUNT[0], silent):
                began = time.monotonic()
                answer = once("victim", exchange)
                assert time.monotonic() - began < 3
                if silent_on_top:
                    refused(answer, 78, "may never answer")
                else:
                    granted(answer)
                client.look()
        assert leases() == [] and all_rights() == before
        # the same, as a further node through a user's directory and link: its owner chooses where that leads
        with fuse():
            os.makedirs("/dev/shm/of-user")
            os.symlink("/srv/fuse", "/dev/shm/of-user/l")
            os.chown("/dev/shm/of-user", pwd.getpwnam("attacker").pw_uid, -1)
            try:
                with lying(EDITS, "replace", GDRDRV, "/dev/shm/of-user/l/x"):
                    began = time.monotonic()
                    answer = once("victim", exchange)
                    assert answer[1]["reply"] == "refused" and "/dev/shm" in answer[1]["text"], answer
                    assert time.monotonic() - began < 3
            finally:
                shutil.rmtree("/dev/shm/of-user")
        assert leases() == [] and all_rights() == before
        with lying(EDITS, "replace", '"hooks":[', HOOK + ",", "run~", "run~/srv/driver/hook~"):
            assert len(whole(once("victim", exchange))[1]["containerEdits"]["hooks"]) == 2
        conf = read(ETC + "/gpuhelper.conf")
        client.look()
        for setting in "", 'driver_files = "vendor-runtime";\n':
            write(ETC + "/gpuhelper.conf", conf.replace('cdi_hooks = "allow";\n', setting))
            granted(once("victim", exchange))
            client.look()
            with lying(EDITS, "replace", '"hooks":[', HOOK, "^run", "^run~/srv/driver/hook"):
                refused(once("victim", exchange), 70, "does not allow")
            assert leases() == [] and all_rights() == before, setting


@case("Q26", "gpuhelper-engine answers half, too much, garbage or nothing: nothing is granted; leases end, others get the lock", 300)
def q26():
    with specs():
        before = all_rights()
        for question in HOST, VERDICT, AUTHZ, EDITS:
            for how, codes in ("half", (75,)), ("huge", (75,)), ("more", (70,)), ("none", (75,)), ("garbage", (70, 78)):
                with lying(question, how):
                    answer = once("victim", exchange)
                    # what is too much of a question for the judge, the judge refuses
                    refused(answer, answer[0], "gpuhelper-judge" if how == "more" and question == VERDICT else "gpuhelper-engine")
                    assert answer[0] in codes, (question, how, answer)
                client.look()
                assert leases() == [] and all_rights() == before, (question, how, leases())
            with asker("attacker") as a, asker("root") as r:
                granted(r.grant(id="over", **FOLDER))
                r.end()
                with lying(question, "silent"):
                    a.tell(exchange, id="a")
                    began = time.monotonic()
                    time.sleep(0.5)
                    look_patiently()
                    assert [l for l in leases() if l["id"] == "over"] == [], leases()
                    assert a.pipe.poll(MOST), question
                    refused(a.hear(), 75, "gpuhelper-engine")
                    assert time.monotonic() - began < MOST, question
                assert leases() == [] and all_rights() == before, (question, leases())
        whole(once("victim", exchange))


def nothing(code, *words):
    """GPUs and folders are refused, and leases end."""
    refused(once("victim", exchange, id="v"), code, *words)
    refused(once("victim", exchange, id="f", **FOLDER), code, *words)
    client.look()
    assert leases() == [], leases()


@case("Q27", "gpuhelper-engine or its user is missing, the user is root, it is of another version: nothing is granted, the remedy is told", 60)
def q27():
    with specs():
        with without(ENGINE):
            nothing(78, "gpuhelper-engine: No such file or directory: install it (make install)")
        with user_changed("gpuhelper-engine", lambda fields: []):
            nothing(78, "has no user gpuhelper-engine", "systemd-sysusers")
        for n in 2, 3:
            with user_changed("gpuhelper-engine", lambda fields: fields[:n] + ["0"] + fields[n + 1:]):
                nothing(78, "root", "gpuhelper-engine")
        with of_another_version(ENGINE):
            nothing(78, "gpuhelper and gpuhelper-engine differ in version: install both again (make install)")
        whole(once("victim", exchange))


def engines():
    for pid in map(int, filter(str.isdigit, os.listdir("/proc"))):
        with contextlib.suppress(OSError):
            if os.readlink("/proc/%d/exe" % pid) == ENGINE:
                yield pid


def shoot(sig, ms):
    """As root: sends the signal to the first engine that appears, so long afterwards. None: it saw none, which lives for milliseconds."""
    end = time.monotonic() + 2
    while time.monotonic() < end:
        for pid in engines():
            time.sleep(ms / 1000)
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, sig)
            return pid
    return None


@case("Q28", "gpuhelper-engine is killed or stopped at some moment of a grant, while others ask: a complete grant, or none", 240)
def q28():
    with specs(), asker("root") as shooter:
        before, hits = all_rights(), 0
        for n in range(12):
            forget_answers()
            shooter.tell(shoot, signal.SIGSTOP if n % 3 == 0 else signal.SIGKILL, n / 2)
            with asker("attacker") as a:
                a.tell(exchange, id="a%d" % n)
                # the other one's engine may be hit as well
                others = patiently("victim", id="f%d" % n, **FOLDER)
                assert a.pipe.poll(MOST), n
                answer = a.hear()
                for got in answer, others:
                    if got[0] != 0:
                        refused(got, 75, "gpuhelper-engine")
                if answer[0] == 0:
                    whole(answer)
                else:
                    assert [l["id"] for l in leases()] == ["f%d" % n] * (others[0] == 0) and all_rights() == before, (n, leases())
            shot = shooter.hear()
            hits += shot is not None
            assert shot is None or gone(shot), (n, shot)
            look_patiently()
            assert leases() == [] and all_rights() == before, (n, leases())
        assert hits >= 8, hits


@case("Q29", "Neither the caller nor another program's user can signal, trace, slow down or freeze gpuhelper-engine", 240)
def q29():
    with specs():
        with asker("attacker") as a:
            helper = a.call(hold_gpu)
            pid = engine_of(helper)
            # where the helper is, which X11 looks at
            assert membership(pid) == membership(helper), (membership(pid), membership(helper))
            assert a.call(poke, pid) == []
            for user in "victim", "gpuhelper-read", "gpuhelper-judge", "gpuhelper-look":
                with asker(user) as b:
                    assert b.call(poke, pid) == [], user
            # one that somebody gave its user all the same: signals, but no memory
            with asker("gpuhelper-engine") as b:
                assert not {"ptrace", "mem", "pidfd_getfd"} & set(b.call(poke, pid))
        client.look()
        for kind in sorted(c for c in ("", "freezer") if c in tops()):
            owned = Owned(kind)
            waits = at_each_window(owned, owned.freeze, varies=True, gpus=GPU0)
            assert len(waits) > 20, waits


@case("Q30", "A node of the ledger that cannot be read is given to nobody, even if everyone may open the node")
def q30():
    with specs():
        os.chmod(GDRDRV, 0o666)
        whole(once("victim", exchange))
        client.look()
        write(RUN + "/ledger/242:0!dev!gdrdrv", "torn", 0o600)
        try:
            refused(once("victim", exchange), 78, "242:0!dev!gdrdrv")
            assert leases() == [], leases()
        finally:
            os.unlink(RUN + "/ledger/242:0!dev!gdrdrv")
            client.look()


@case("Q37", "gpuhelper-engine, taken over, refuses a token of an issuer that gpuhelper.conf does not have: the helper reads no such issuer", 60)
def q37():
    import t_token
    with t_token.issuer() as token:
        # no policy covers «ml/other»; with a token, the answer comes after one question more
        os.unlink(POLICIES + "/50-attacker.conf")
        for number in 0, 1, 100000, 4294967295:
            before = len(records())
            with evil("replace", "yes~yes~yes~yes~0", "yes~yes~yes~yes~%d" % number, answer=AUTHZ + 1, program_of=ENGINE):
                refused(t_token.ask(token(pipeline="other", team="ml"), "q37"), 77, "no policy covers")
            record, = records()[before:]
            assert record["event"] == "refuse" and record["pipeline"] == "other", record
    assert leases() == []
