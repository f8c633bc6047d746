#!/usr/bin/env python3
"""Answers of gpuhelper-read that are kept: they save its start, and never outlive the files or the program.

usage: kept.py RUNTIME CGROUP    (in tests/lib/sandbox.sh --gpu nvidia-2gpu)
"""
import os, shutil, stat
from lib import *

host, tag = able_host()
TEAM = ['BUILD_TEAM_NAME=ml', 'BUILD_PIPELINE_NAME=train']
KEPT, READ = '/run/gpuhelper/read', '/usr/libexec/gpuhelper/gpuhelper-read'
RULES = 'identity = "caller"; callers = [ "root" ]; gpus = ( { vendor = "nvidia"; devices = [ "%s" ]; } ); '


def ask(env=('GPUHELPER_GPUS=1',)):
    """Runs a task. Returns (its status and output, whether gpuhelper-read was started)."""
    b = Bundle(host, env=TEAM + list(env), args=['/bin/sh', '-c', 'ls /dev/nvidia?; env'])
    log = W + '/strace'
    r = sh('strace', '-f', '-e', 'trace=execveat', '-o', log, WRAPPER, '--root', W + '/root', 'run', '--bundle', b.dir, b.id, cwd=b.dir)
    return r, 'gpuhelper-read' in open(log).read()


def granted(what, gpu, started, r=None):
    r, read = r or ask()
    ok(r.returncode == 0 and '/dev/nvidia%d' % gpu in r.stdout, tag + what, r.stdout)
    ok(read == started, tag + what + (': gpuhelper-read was asked' if started else ': gpuhelper-read was not started'))


def kept(name):
    with open(KEPT + '/' + name, 'rb') as f:
        return f.read()


def spoil(change, name='policies'):
    with open(KEPT + '/' + name, 'r+b') as f:
        text = f.read()
        f.seek(0)
        f.truncate()
        f.write(change(text))


host.policies(t10=RULES % GPU0)
granted('the first request', 0, True)
granted('the second one', 0, False)
st = os.stat(KEPT + '/policies')
ok(stat.S_IMODE(st.st_mode) == 0o600 and (st.st_uid, st.st_gid, st.st_nlink) == (0, 0, 1), tag + 'the kept answer is only for root', st)
ok(stat.S_IMODE(os.stat(KEPT).st_mode) == 0o700, tag + 'only root may look into its directory')
ok(os.listdir(KEPT) == ['policies'], tag + 'nothing else is kept', os.listdir(KEPT))

# the files: any changed byte counts, whatever the file's size and times are
path = '/etc/gpuhelper/policy.d/t10.conf'
times = os.stat(path)
write(path, RULES % GPU1)
os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
ok(os.stat(path).st_size == times.st_size, tag + 'a policy is changed, but not its size and time')
granted('a request after that', 1, True)
granted('the next one', 1, False)
write('/etc/gpuhelper/policy.d/t05.conf', RULES % GPU0)
granted('a request after a policy was added before it', 0, True)
os.unlink('/etc/gpuhelper/policy.d/t05.conf')
granted('a request after that was removed', 1, True)
os.rename(path, '/etc/gpuhelper/policy.d/t11.conf')
granted('a request after the policy was renamed', 1, True)
os.rename('/etc/gpuhelper/policy.d/t11.conf', path)
os.unlink(path)
r, read = ask()
ok(r.returncode != 0 and read, tag + 'no policy is left: the request is refused', r.stdout)
write(path, RULES % GPU1)
granted('a request after the policy came back', 1, True)
host.settings('max_wait = 100;')
granted('a request after the settings changed', 1, True)
granted('the next one', 1, False)

# a policy with an error stops the search; such an answer is not kept, because memory may have been short when it was made
write('/etc/gpuhelper/policy.d/t05.conf', 'identity = ;')
for again in '', ' again':
    r, read = ask()
    ok(r.returncode != 0 and 't05.conf' in r.stdout and read, tag + 'a policy with an error refuses the request' + again, r.stdout)
os.unlink('/etc/gpuhelper/policy.d/t05.conf')
granted('a request after it was removed', 1, False)
os.chmod(path, 0o666)
r, read = ask()
ok(r.returncode != 0 and path in r.stdout, tag + 'a policy that others may write is refused in spite of the kept answer', r.stdout)
os.chmod(path, 0o644)

# the kept file: whatever is wrong with it, no grant follows from it
for what, change in (('empty', lambda t: b''), ('cut off', lambda t: t[:-1]), ('longer', lambda t: t + b'x'),
                     ('of another program', lambda t: t[:8] + bytes([t[8] ^ 1]) + t[9:]), ('only zeros', lambda t: bytes(len(t)))):
    spoil(change)
    granted('a kept answer that is ' + what, 1, True)
    granted('the next one', 1, False)


def malformed(what, change, name='policies'):
    spoil(change, name)
    r, read = ask()
    ok(r.returncode != 0 and '%s/%s was malformed' % (KEPT, name) in r.stdout and not read, tag + what + ' refuses the request', r.stdout)
    ok(not os.path.exists(KEPT + '/' + name), tag + what + ' is removed')
    granted('a request after ' + what, 1, True)


malformed('a malformed kept answer', lambda t: t[:-4] + b'END\n')
malformed('a kept answer of another version', lambda t: t.replace(b'read 0', b'read 9'))
os.unlink(KEPT + '/policies')
os.symlink('/etc/passwd', KEPT + '/policies')
granted('a link in its place', 1, True)
ok(stat.S_ISREG(os.lstat(KEPT + '/policies').st_mode) and open('/etc/passwd').readline().startswith('root:'), tag + 'the link is replaced, not followed')
os.unlink(KEPT + '/policies')
os.makedirs(KEPT + '/policies/x')
granted('a directory in its place', 1, True)
ok(os.listdir(KEPT) == ['policies'], tag + 'nothing unfinished is left', os.listdir(KEPT))
shutil.rmtree(KEPT)
granted('no directory for it', 1, True)
write(KEPT + '/policies.new', 'unfinished', 0o600)
host.settings()
granted('the rest of a writer that was killed', 1, True)
ok(os.listdir(KEPT) == ['policies'], tag + 'that rest is gone', os.listdir(KEPT))

# the program: another file in its place, even with the same bytes, is another program
shutil.copy2(READ, READ + '.new')
os.chmod(READ + '.new', 0o711)
os.rename(READ + '.new', READ)
granted('a request after gpuhelper-read was installed again', 1, True)
granted('the next one', 1, False)
os.rename(READ, READ + '.away')
r, read = ask()
ok(r.returncode != 0, tag + 'without gpuhelper-read no request is granted', r.stdout)
os.rename(READ + '.away', READ)

# CDI specs
SPEC = '''{"cdiVersion":"0.6.0","kind":"nvidia.com/gpu","devices":[{"name":"%s","containerEdits":{"deviceNodes":[{"path":"/dev/nvidia%d"}],
"env":["FROM_SPEC=%s"]}}]}'''
host.policies(t10=RULES % GPU1)
write('/etc/cdi/t.json', SPEC % (GPU1, 1, 'first'))
granted('the first request with a spec', 1, True)
r, read = ask()
ok(not read, tag + 'the second one: gpuhelper-read was not started')
first = kept('specs')
ok(b'FROM_SPEC=first' in first, tag + "the spec's answer is kept", first)
write('/etc/cdi/t.json', SPEC % (GPU1, 1, 'other'))
granted('a request after the spec changed', 1, True)
ok(b'FROM_SPEC=other' in kept('specs') and b'first' not in kept('specs'), tag + 'the new answer is kept', kept('specs'))
malformed('a malformed answer about specs', lambda t: t[:-4] + b'END\n', 'specs')
granted('the next one', 1, False)
# a request that the policies refuse anyhow is refused for that
host.policies(t10='pipeline = "ml/train"; identity = "claim"; gpus = ( { vendor = "nvidia"; devices = [ "%s" ]; } );' % GPU1)
granted('a request of the pipeline', 1, True)
spoil(lambda t: t[:-4] + b'END\n', 'specs')
r = Bundle(host, env=['BUILD_TEAM_NAME=ml', 'BUILD_PIPELINE_NAME=unknown', 'GPUHELPER_GPUS=1'], args=['/bin/true']).run()
ok(r.returncode != 0 and 'no policy' in r.stdout and 'malformed' not in r.stdout, tag + 'a request of a pipeline without a policy is refused for that, whatever is malformed', r.stdout)
ok(not os.path.exists(KEPT + '/specs'), tag + 'the malformed answer is removed all the same')
host.policies(t10=RULES % GPU1)
granted('a request after that', 1, True)
os.unlink('/etc/cdi/t.json')
granted('a request after the spec was removed', 1, False)
done()
