#!/usr/bin/env python3
"""gpuhelperctl setup podman: real podman, for root and for a user, by files in containers.conf.d.

usage: setup_podman.py    (in tests/lib/sandbox.sh --gpu nvidia-2gpu)

The storage is vfs, because a sandbox's /var is already an overlay.
"""
import os, pwd, re, shutil, subprocess, sys, time
from setuplib import *

DIR, CLIENT = '/etc/containers/containers.conf.d', '/usr/local/sbin/podman'
DROP_IN = DIR + '/90-gpuhelper.conf'
POLICY = policy('root', 'worker')
if not shutil.which('podman'):
    skip('setup podman', 'podman is not there: sh tests/deps.sh check')
    done()
host = Host('runc', 'v1')
host.policies(t10=POLICY)
write(CONF, ADMINS)
write('/etc/containers/storage.conf', '[storage]\ndriver = "vfs"\nrunroot = "/run/containers/storage"\ngraphroot = "/var/lib/containers/storage"\n')
write('/etc/containers/containers.conf', '[engine]\nevents_logger = "file"\ncgroup_manager = "cgroupfs"\nruntime = "runc"\n')
shutil.rmtree('/var/lib/containers', ignore_errors=True)
sh('useradd', '--create-home', '-G', 'gpuhelper', 'worker')
subordinate('worker', 300000, 65536)
rootfs = busybox_rootfs(W + '/image', 0)
assert sh('tar', '-C', rootfs, '-cf', W + '/image.tar', '.').returncode == 0
os.chmod(W, 0o755)
worker = pwd.getpwnam('worker')
os.makedirs('/run/user/%d' % worker.pw_uid, mode=0o700)
os.chown('/run/user/%d' % worker.pw_uid, worker.pw_uid, worker.pw_gid)


def podman(*words, user='root'):
    before = ['setpriv', '--reuid', user, '--regid', user, '--init-groups', '--', 'env', '-i', 'HOME=/home/' + user, 'PATH=' + os.environ['PATH'],
              'XDG_RUNTIME_DIR=/run/user/%d' % pwd.getpwnam(user).pw_uid] if user != 'root' else []
    r = sh(*before, 'podman', '--log-level', 'error', *words, cwd='/')
    return r.returncode, r.stdout


def run(script, *options, user='root'):
    return podman('run', '--rm', '--network', 'none', *options, 'image', '/bin/sh', '-c', script, user=user)


def state():
    found = [(p, open(p).read() if os.path.exists(p) else None) for p in (CONF, DROP_IN)]
    return found, sorted(os.listdir(DIR)) if os.path.isdir(DIR) else None, podman('images', '-q')[1], [n for n in os.listdir('/run') if 'setup' in n]


setup = Setup('podman', state)
unchanged = setup.unchanged
ASK = '-e', 'GPUHELPER_GPUS=1'
LOOK = 'ls /dev'
code, text = podman('import', W + '/image.tar', 'image')
assert code == 0, text
code, text = run('echo ran')
if 'ran' not in text:
    skip('setup podman', 'podman by itself says: ' + text.strip().replace('\n', ' '))
    done()
podman('create', '--name', 'old', '--network', 'none', 'image', '/bin/true')
host.policies(t10='?')
unchanged('a broken policy: nothing is switched on', 78, 't10.conf:1: ')
host.policies(t10=POLICY)
os.makedirs(DIR, exist_ok=True)
write(DIR + '/95-site.conf', '[engine]\nruntime = "crun"\n')
unchanged('a later file names another runtime: refused, and nothing is left', 78, 'podman would still call', DIR + '/95-site.conf', 'removed its own file again')
os.unlink(DIR + '/95-site.conf')
write(DROP_IN, '# mine\n')
unchanged("the administrator's own file with the name of setup's file", 78, DROP_IN + ' is there, and is not as setup writes it')
os.unlink(DROP_IN)
write('/usr/local/sbin/runc', '#!/bin/sh\necho no such container >&2\nexit 1\n', 0o755)
write(CONF, ADMINS + 'runtime = "/usr/local/sbin/runc";\n')
unchanged('a runtime that runs nothing', 78, 'could not be run', 'no such container')
write('/usr/local/sbin/runc', '#!/bin/sh\nfor i in 1 2 3 4 5; do echo "time=now level=warning msg=\\"a warning of no matter, which is long enough to fill a line\\"" >&2; done\n'
      'for i in 1 2 3 4 5 6 7 8; do echo "step $i of many, none of which is the reason why it fails" >&2; done\necho this is the reason >&2\nexit 1\n', 0o755)
unchanged('the reason comes after many lines', 78, 'could not be run', 'this is the reason')
code, text = setup()
ok('of no matter' not in text, 'and warnings are left out', text)
os.unlink('/usr/local/sbin/runc')
write(CONF, ADMINS + 'volumes = [ "/srv" ];\n')
unchanged("volumes of the administrator that lack podman's storage", 78, '"volumes"')
write(CONF, ADMINS)
with client(CLIENT, LEAVES_CONTAINER, shutil.which('podman')):
    unchanged('a client that fails after it started a container', 78, 'could not be run by podman')
ok(podman('ps', '-a', '--format', '{{.Names}}')[1].split() == ['old'], 'the trial\'s container is removed', podman('ps', '-a'))

fresh = state()
code, text = setup('--dry-run')
ok(code == 0 and 'would write ' + DROP_IN in text and '    runtime = "/usr/bin/runc";' in text and state() == fresh, '--dry-run reports everything, and changes nothing', text)
code, text = setup()
ok(code == 0 and 'trial: podman ran a container' in text and 'existing containers (1) keep' in text and 'runtime = "gpuhelper"' in open(DROP_IN).read(), 'setup', text)
ok(open(CONF).read().startswith(ADMINS) and 'volumes' not in open(CONF).read(), "gpuhelper.conf has the runtime, and the administrator's lines", open(CONF).read())
ok(state()[2:] == fresh[2:], 'the trial leaves neither image nor directory', state())
code, text = run(LOOK, *ASK)
ok(code == 0 and 'nvidia0' in text.split() and 'nvidia1' not in text.split(), 'a container gets what its policy gives', text)
code, text = run(LOOK)
ok(code == 0 and 'nvidia0' not in text.split(), 'a container without a request gets no GPU', text)
code, text = run(LOOK, '-e', 'GPUHELPER_GPUS=2')
ok(code != 0 and '2 GPUs asked for' in text, 'a request for more is refused', text)
before = state()
code, text = setup()
ok(code == 0 and DROP_IN + ' is there' in text and state() == before, 'a second run changes nothing', text)
r = sh(CTL, 'doctor')
ok('ok   engine: podman calls it, by ' + DROP_IN in r.stdout and 'warn engine' not in r.stdout, 'doctor finds no fault', r.stdout)
write(DIR + '/95-site.conf', '[engine]\nruntime = "crun"\n')
r = sh(CTL, 'doctor')
ok('warn engine: podman calls crun, by %s/95-site.conf' % DIR in r.stdout, 'a later file that overrides setup\'s file: doctor names it', r.stdout)
os.unlink(DIR + '/95-site.conf')
write('/home/worker/.config/containers/containers.conf', '[engine]\nruntime = "crun"\n')
r = sh(CTL, 'doctor', '--user', 'worker')
ok('warn engine: podman calls crun, by /home/worker/.config/containers/containers.conf' in r.stdout, "a user's own file: doctor --user names it", r.stdout)
shutil.rmtree('/home/worker/.config')
code, text = setup('--undo', '--dry-run')
ok(code == 0 and text.count('would ') == 2 and state() == before, '--undo --dry-run', text)
code, text = setup('--undo')
ok(code == 0 and state() == fresh, '--undo restores everything', (text, state(), fresh))
code, text = run('ls /dev; echo ran', '-e', 'GPUHELPER_GPUS=2')
ok(code == 0 and 'ran' in text and 'nvidia0' not in text.split(), 'afterwards gpuhelper does not decide any more', text)
ok(setup('--undo')[0] == 0, 'a second --undo is no error')

# containers that outlive gpuhelper
REST = '[engine.runtimes]\ngpuhelper = [ "/usr/bin/runc" ]\n'
HOLD = '--network', 'none', 'image', '/bin/sleep', '1000'


def lives(name):
    pid = podman('container', 'inspect', '--format', '{{.State.Pid}}', name)[1].strip()
    return pid.isdigit() and int(pid) > 0 and os.path.exists('/proc/' + pid)


def begin(name, *options):
    code, text = podman('run', '--detach', '--name', name, *options, *HOLD)
    assert code == 0 and lives(name), text


def soon(test):
    for _ in range(50):
        if test():
            return True
        time.sleep(0.1)


ok(setup()[0] == 0, 'setup again')
begin('holds', *ASK)
begin('second')
podman('create', '--name', 'made', *HOLD)
before = state()
code, text = setup('--undo', '--dry-run')
made = re.search('podman: would remove the default from %s; it stays, so that podman can end the containers that gpuhelper-runc made: (.*)' % DROP_IN, text)
ok(code == 0 and made and sorted(made.group(1).split(', ')) == ['holds', 'made', 'second'] and state() == before,
   '--undo --dry-run names the containers that gpuhelper-runc made', text)
code, text = setup('--undo')
ok(code == 0 and 'podman: removed the default from %s; it stays, ' % DROP_IN in text and 'gpuhelperctl reap frees what they held' in text and
   open(DROP_IN).read().endswith('\n' + REST) and open(CONF).read() == ADMINS, '--undo leaves a file for them that is no default', (text, state()))
r = sh(CTL, 'doctor')
ok('podman calls' not in r.stdout, '  of which doctor says nothing', r.stdout)
code, text = run('ls /dev; echo ran', '-e', 'GPUHELPER_GPUS=2')
ok(code == 0 and 'ran' in text and 'nvidia0' not in text.split(), '  and gpuhelper does not decide any more', text)
before = state()
code, text = setup('--undo')
ok(code == 0 and 'podman: %s is no default; it stays, ' % DROP_IN in text and state() == before, 'a second --undo leaves it, too', text)
code, text = podman('stop', '--time', '0', 'holds')
ok(code == 0 and not lives('holds') and podman('rm', 'holds')[0] == 0, 'podman stops a container that has a GPU, and removes it', text)
ok(len(leases()) == 1 and sh(CTL, 'reap').returncode == 0 and leases() == [], '  and reap frees the GPU', leases())
code, text = podman('kill', 'second')
ok(code == 0 and soon(lambda: not lives('second')), 'podman kills one', text)
ok(podman('start', 'second')[0] == 0 and podman('exec', 'second', '/bin/true')[0] == 0, '  and starts it again', podman('ps', '-a'))
pid = podman('container', 'inspect', '--format', '{{.State.Pid}}', 'second')[1].strip()
ok(podman('rm', '--force', '--time', '0', 'second')[0] == 0 and soon(lambda: not os.path.exists('/proc/' + pid)), '  and removes it while it runs', podman('ps', '-a'))
begin('plain')
code, text = setup()
ok(code == 0 and 'runtime = "gpuhelper"' in open(DROP_IN).read(), 'setup replaces the file', text)
begin('holds', *ASK)
setup('--undo')
write(DIR + '/95-site.conf', '[engine]\nruntime = "crun"\n')
unchanged('a setup that fails puts the file back', 78, 'podman would still call', 'removed its own file again')
os.unlink(DIR + '/95-site.conf')
ok(setup()[0] == 0 and podman('stop', '--time', '0', 'holds')[0] == 0 and leases() == [], 'after setup, gpuhelper sees such a container end', leases())
ok(podman('rm', 'holds', 'made')[0] == 0, 'the last ones that it made go')
code, text = setup('--undo')
ok(code == 0 and state() == fresh, '--undo restores everything, although another container runs', (text, state(), fresh))
podman('rm', '--force', '--time', '0', 'plain')
with client(CLIENT, 'case "$*" in ps*) echo no list >&2; exit 125;; esac; exec %s "$@"', shutil.which('podman')):
    setup()
    code, text = setup('--undo')
    ok(code == 0 and 'podman: left %s for containers that gpuhelper-runc may have made: podman ps: no list' % DROP_IN in text and
       open(DROP_IN).read().endswith('\n' + REST), 'a podman that lists nothing: the file stays', text)
code, text = setup('--undo')
ok(code == 0 and state() == fresh, '  and goes when podman does', (text, state()))
write(CONF, '')
os.unlink(CONF)
code, text = setup()
ok(code == 0 and '\nprivileged = "deny";\n# begin: ' in open(CONF).read() and '    privileged = "deny";\n' in text and 'hide-gpus' not in text,
   'without a gpuhelper.conf, setup makes the file, and says what privileged containers may', text)
write(CONF, open(CONF).read().replace('privileged = "deny"', 'privileged = "allow"'))
code, text = setup('--undo')
ok(code == 0 and open(CONF).read().endswith('privileged = "allow";\n'), 'what the administrator changed in it stays', text)
os.unlink(CONF)
setup()
code, text = setup('--undo')
ok(code == 0 and not os.path.exists(CONF) and '    privileged = "deny";\n' in text, '--undo removes the gpuhelper.conf that setup made', text)
write(CONF, '# of a new host\n')
code, text = setup()
ok(code == 0 and 'privileged' not in open(CONF).read() and 'privileged' not in text and 'hide-gpus' not in text,
   "to the administrator's file setup adds no word on privileged containers, and warns of none", (text, open(CONF).read()))
setup('--undo')
write(CONF, ADMINS)

# another engine of the host needs the settings as well
os.makedirs('/opt/containerd/bin')
os.symlink(WRAPPER, '/opt/containerd/bin/runc')
code, text = setup()
ok(code == 0 and 'runtime: containers of concourse will use it too' in text, 'setup reports another engine without a configured runtime', text)
code, text = setup('--undo')
ok(code == 0 and 'need' in text and 'runtime = ' in open(CONF).read() and not os.path.exists(DROP_IN), '--undo keeps setup\'s lines in gpuhelper.conf while another engine calls the wrapper', text)
os.unlink('/opt/containerd/bin/runc')
write(CONF, ADMINS)

# a user of podman
shutil.copy(W + '/image.tar', '/home/worker/image.tar')
code, text = podman('import', '/home/worker/image.tar', 'image', user='worker')
code2, text2 = run('echo ran', user='worker') if code == 0 else (code, text)
if 'ran' not in text2:
    skip('setup podman --rootless', 'podman of a user by itself says: ' + text2.strip().replace('\n', ' '))
    done()
STORE = '/home/worker/.local/share/containers/storage'
unchanged('a user whose containers would be refused: setup demands --rootless', 78, 'a user keeps images in ' + STORE, '--rootless')
code, text = setup('--rootless')
ok(code == 0 and '"%s" ];' % STORE in open(CONF).read() and '"/var/lib/containers/storage/vfs/dir", ' in open(CONF).read() and 'gpuhelper.socket' in text and
   'usermod -aG gpuhelper' in text, 'setup --rootless adds the storage, and reports what else is needed', (text, open(CONF).read()))
code, text = run('echo ran', user='worker')
ok(code == 0 and 'ran' in text, "the user's containers run", text)
code, text = run('echo ran', *ASK, user='worker')
ok(code != 0 and 'gpuhelper' in text, 'gpuhelper decides on the user\'s containers', text)
ok(text.count('gpuhelper: ') == 1, '  and podman says so once: its name of the runtime is gpuhelper', text)
code, text = setup()
ok(code == 0, 'a second run does not need --rootless', text)
code, text = podman('create', '--name', 'theirs', '--network', 'none', 'image', '/bin/true', user='worker')
ok(code == 0, 'the user keeps a container', text)
code, text = setup('--undo')
ok(code == 0 and ' made: those of user worker\n' in text and open(DROP_IN).read().endswith('\n' + REST), '--undo leaves the file for that, too', text)
code, text = podman('rm', 'theirs', user='worker')
ok(code == 0, '  the user removes it', text)
code, text = setup('--undo')
ok(code == 0 and not os.path.exists(DROP_IN), '  and the next --undo the file', text)
ok(setup('--rootless')[0] == 0, 'setup --rootless works again')
for d in '.local', '.local/share':
    os.chmod('/home/worker/' + d, 0o775)
code, text = run('echo ran', user='worker')
ok(code == 0 and 'ran' in text, 'the user\'s containers still run if a group may write to the directories above the storage', text)


# a user's storage counts for that user alone, even if the user replaces it by a link
def roots_container(path):
    """What becomes of a container of root's with this root filesystem, as rootfs_uri of a Concourse task can name it."""
    b = Bundle(host, edit=lambda spec: spec['root'].update(path=path), args=['/bin/true'])
    code = b.create().returncode
    b.delete()
    return code, str(b.errors())


def refused(code, text):
    return code != 0 and 'is not beneath the bundle or one of the volumes' in text


def others_container(path):
    """The same for a container of another user's, whose engine takes a directory as the root filesystem."""
    code, text = podman('run', '--rm', '--network', 'none', '--rootfs', path, '/bin/true', user='other')
    return code, text


sh('useradd', '--create-home', '-G', 'gpuhelper', 'other')
other = pwd.getpwnam('other')
subordinate('other', 400000, 65536)
os.makedirs('/run/user/%d' % other.pw_uid, mode=0o700)
os.chown('/run/user/%d' % other.pw_uid, other.pw_uid, other.pw_gid)
lines = open(CONF).read()
write(CONF, lines.replace('" ];', '", "%s/vol" ];' % W))
for d in '/home/worker', '/home/worker/.local', '/home/worker/.local/share', '/home/worker/.local/share/containers', STORE:
    os.chmod(d, 0o755)
busybox_rootfs(STORE + '/mine', worker.pw_uid)
code, text = roots_container(STORE + '/mine')
ok(refused(code, text), "a container of root may not have its root filesystem in a user's storage", text)
os.rename(STORE, STORE + '.away')
busybox_rootfs('/srv/secret/root', MAXID)
os.symlink('/srv/secret', STORE)
os.lchown(STORE, worker.pw_uid, worker.pw_gid)
code, text = roots_container('/srv/secret/root')
ok(refused(code, text), "a container of root may not have its root filesystem behind a user's link", text)
code, text = roots_container(W + '/vol/rootfs')
ok(code == 0, "root's own volume counts for root", text)
os.unlink(STORE)
busybox_rootfs('/home/other/secret/root', other.pw_uid)
os.chmod('/home/other', 0o755)
os.chown('/home/other/secret', other.pw_uid, other.pw_gid)
code, text = others_container('/home/other/secret/root')
ok(refused(code, text), "a user's own directory that gpuhelper.conf does not name: refused", text)
os.symlink('/home/other/secret', STORE)
os.lchown(STORE, worker.pw_uid, worker.pw_gid)
code, text = others_container('/home/other/secret/root')
ok(refused(code, text), "another user's link to it does not make it a volume", text)
os.unlink(STORE)
os.makedirs(STORE)
os.chown(STORE, worker.pw_uid, worker.pw_gid)
busybox_rootfs(STORE + '/theirs', other.pw_uid)
code, text = others_container(STORE + '/theirs')
ok(refused(code, text), "a container may not have its root filesystem in another user's storage", text)
write(CONF, lines.replace('" ];', '", "/home/other/secret" ];'))
code, text = others_container('/home/other/secret/root')
ok('is not beneath the bundle' not in text, "a user's own directory that gpuhelper.conf names is a volume", (code, text))
shutil.rmtree(STORE)
os.rename(STORE + '.away', STORE)
write(CONF, lines)
code, text = setup('--undo')
ok(code == 0 and open(CONF).read() == ADMINS, 'undo', open(CONF).read())

# users' storages that would count for nobody
os.rename(STORE, '/home/worker/storage')
shutil.rmtree('/home/other/.local', ignore_errors=True)
os.makedirs('/home/other/.local/share/containers')
os.symlink('/home/worker/storage', '/home/other/.local/share/containers/storage')
code, text = setup('--rootless')
ok(code == 0 and 'gpuhelper will refuse the containers of other: ' in text and '/home/other' not in open(CONF).read(),
   "a user's link into another user's directory is not added, and setup says so", (text, open(CONF).read()))
setup('--undo')

# storage drivers that setup does not know.  A script stands in for a podman with another driver: no file system for one is here
with client(CLIENT, """%s "$@" | sed 's/"graphDriverName": "vfs"/"graphDriverName": "zfs"/'""", shutil.which('podman')):
    unchanged('a storage driver that setup does not know: refused by its name', 78, 'zfs', 'drivers overlay and vfs')
    write(CONF, ADMINS + 'volumes = [ "/var/lib/containers/storage/zfs/graph" ];\n')
    code, text = setup('--dry-run')
    ok(code == 0, 'an unknown storage driver is accepted if gpuhelper.conf names its directory', text)
write(CONF, ADMINS)

# su(1) without - keeps the PATH of the user who calls it
write(W + '/bin/runc', '#!/bin/sh\nexit 1\n', 0o755)
code, text = setup()
write(CONF, ADMINS)
code, text = setup('--dry-run', env={'PATH': W + '/bin:' + os.environ['PATH']})
ok(code == 0 and re.search('    runtime = "/usr/s?bin/runc";', text), 'setup ignores a runc in the caller\'s PATH', text)
setup('--undo')
done()
