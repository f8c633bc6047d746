#!/usr/bin/env python3
"""The wrapper as a runtime: what it passes on, how it finds the runtime below, how it reports errors.

usage: wrapper.py    (in tests/lib/sandbox.sh --gpu nvidia-2gpu)
"""
import ctypes, hashlib, json, os, signal, subprocess, sys, time
from lib import *

host = Host('runc', 'v1')
# a mount in a volume, so that the wrapper becomes the runtime: no task can write above it
sh('mount', '--bind', host.rootfs, host.rootfs)
DUMP = W + '/bin/runc'
os.makedirs(W + '/bin')
r = sh('cc', '-std=c11', '-D_GNU_SOURCE', '-O1', '-o', DUMP, TESTS + '/container/dump.c')
assert r.returncode == 0, r.stdout
TO = W + '/dumped'
host.runtime = DUMP
host.settings()


def call(argv, env=None, cwd='/', fds=(), **kw):
    e = {'PATH': '/usr/sbin:/usr/bin:/sbin:/bin', 'DUMP_TO': TO, 'ODD': 'a=b', 'LD_LIBRARY_PATH': '/opt/containerd/lib'}
    e.update(env or {})
    if os.path.exists(TO):
        os.unlink(TO)
    r = subprocess.run(argv, env=e, cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                       text=True, pass_fds=fds, timeout=30, **kw)
    return r, (open(TO).read().splitlines() if os.path.exists(TO) else None)


def strip(dump):
    return [l for l in dump if not l.startswith(('pid ', 'ppid ')) and not re.match(r'fd [12] pipe', l)]


# verbs that need no help: same argv, environment, descriptors, directory, process
fd = os.open('/etc/passwd', os.O_RDONLY)
B = '/run/containerd/io.containerd.runtime.v2.task/concourse/H'
G = ['--root', '/run/containerd/runc/concourse', '--log', W + '/g.json', '--log-format', 'json']
for argv in (['--version'], ['--help'], [], ['features'], G + ['start', 'H'], G + ['kill', 'H', '15'], G + ['kill', '--all', 'H', '9'],
             G + ['ps', '--format', 'json', 'H'], G + ['pause', 'H'], G + ['resume', 'H'], G + ['update', '--memory', '1000000', 'H'],
             G + ['delete', 'H'], G + ['delete', '--force', 'H'], ['state', 'H'], ['list'], ['--debug', '--systemd-cgroup', 'events', 'H'],
             G + ['exec', '--process', '/run/t/no-such-file', '--detach', '--pid-file', B + '/task.pid', 'H'],
             ['create', '--help'], ['exec', '-h'], ['help', 'create'], G + ['kill', '--unheard-of', 'H', '9'], G + ['delete', '--unheard-of=1', 'H']):
    direct, want = call([DUMP] + argv, cwd='/tmp', fds=(fd,), env={'DUMP_STATUS': '37'})
    ours, got = call([WRAPPER] + argv, cwd='/tmp', fds=(fd,), env={'DUMP_STATUS': '37'})
    got = got and ['arg ' + DUMP if l == 'arg ' + WRAPPER else l for l in got]
    ok(got is not None and sorted(strip(got)) == sorted(strip(want)) and ours.returncode == direct.returncode == 37 and ours.stdout == '',
       'passed on unchanged: ' + (' '.join(argv[6:] if argv[:6] == G else argv) or '(nothing)'), (want, got, ours.stdout))


# create and run: the same, except for the bundle's config.json
def dead(sig=9):
    ctypes.CDLL(None).prctl(1, sig)


b = Bundle(host)
argv = ['--root', W + '/root', '--log', b.log, '--log-format', 'json', 'create', '--bundle', b.dir, '--pid-file', b.dir + '/p', b.id]
p, want = call([DUMP] + argv, cwd=b.dir, fds=(fd,), preexec_fn=dead)
p, got = call([WRAPPER] + argv, cwd=b.dir, fds=(fd,), preexec_fn=dead)
got = ['arg ' + DUMP if l == 'arg ' + WRAPPER else l for l in got or []]
ok(sorted(strip(got)) == sorted(strip(want)) and 'pdeathsig 9' in got, 'create: argv, environment, descriptors, directory and PDEATHSIG reach the runtime untouched', (want, got, p.stdout))
for sig in (signal.SIGCHLD, signal.SIGPIPE, signal.SIGHUP):
    b = Bundle(host)
    p, got = call([WRAPPER, 'create', '--bundle', b.dir, b.id], preexec_fn=lambda s=sig: signal.signal(s, signal.SIG_IGN))
    ok(got and 'ignored %d' % sig in got, 'an ignored signal %d stays ignored' % sig, got)
b = Bundle(host)
os.chdir(b.dir)
p, got = call([WRAPPER, 'run', '-d', b.id], cwd=b.dir)
ok(p.returncode == 0 and 'void' in b.config(), 'without --bundle, the current directory is the bundle', p.stdout)
os.chdir('/')
for words in (['--bundle', '{}'], ['--bundle={}'], ['-b', '{}'], ['-bundle', '{}'], ['-b{}']):
    b = Bundle(host)
    p, got = call([WRAPPER, 'create'] + [w.format(b.dir) for w in words] + [b.id])
    ok(p.returncode == 0 and 'NVIDIA_VISIBLE_DEVICES=void' in b.config(), 'create ' + ' '.join(words), p.stdout)
for words in (['-b={}'], ['-bundle={}']):
    b = Bundle(host)
    p, got = call([WRAPPER, 'create'] + [w.format(b.dir) for w in words] + [b.id])
    ok(p.returncode == 1 and got is None and 'one thing to runc and another one to crun' in p.stdout, 'create %s: refused, because runc and crun differ' % words[0], p.stdout)
for words, says in ((['unheard-of', 'x'], 'unheard-of is not a verb'), (['--unheard-of', 'kill', 'x', '9'], 'option --unheard-of is not one of'),
                    (['create', '--unheard-of', '--bundle', '/b', 'x'], 'create: option --unheard-of is not one of'), (['init'], 'init is not a verb'),
                    (['mounts', 'add', 'x', '/f'], 'mounts is not supported'), (['exec', '--unheard-of', 'x', 'sh'], 'exec: option --unheard-of is not one of')):
    log = W + '/said.json'
    p, got = call([WRAPPER, '--log', log, '--log-format', 'json'] + words)
    ok(p.returncode == 1 and got is None and says in p.stdout and says in open(log).read(), 'refused, with a line in the log: ' + ' '.join(words), p.stdout)
    os.unlink(log)
# exec's options, for a container with a grant and a label
planted = write_exec_record('/r', 'x', {'version': 1, 'env': ['A=1'], 'groups': [7], 'label': 'u:r:t:s0:c1,c2', 'asks': False})
for words, want in ((['--process-label', 'u:r:spc_t:s0', 'x', 'sh', '-c', '--process-label z'],
                     ['--process-label', 'u:r:t:s0:c1,c2', '--env', 'A=1', '--additional-gids', '7', 'x', 'sh', '-c', '--process-label z']),
                    (['--process-label=u:r:spc_t:s0', '-e', 'GPUHELPER_TOKEN=t', '-e', 'B=2', 'x', 'sh'],
                     ['--process-label', 'u:r:t:s0:c1,c2', '-e', 'B=2', '-e', 'A=1', '--additional-gids', '7', 'x', 'sh']),
                    (['-dtx', '-deGPUHELPER_TOKEN=t', '-deB=2', 'x', 'sh'], ['-dtx', '-d', '-deB=2', '--env', 'A=1', '--additional-gids', '7', 'x', 'sh']),
                    (['-d', '--', 'x', 'sh'], ['-d', '--env', 'A=1', '--additional-gids', '7', '--', 'x', 'sh']),
                    (['--cwd', '--', 'x', 'sh'], ['--cwd', '--', '--env', 'A=1', '--additional-gids', '7', 'x', 'sh'])):
    p, got = call([WRAPPER, '--root', '/r', 'exec'] + words)
    got = [l[4:] for l in got or [] if l.startswith('arg ')][4:]
    ok(got == want, 'exec ' + ' '.join(words), (p.stdout, got))
[os.unlink(path) for path in planted]
b = Bundle(host)
host.settings('privileged = "hide-gpus";')
p, got = call([WRAPPER, 'restore', '--bundle', b.dir, '--image-path', '/tmp', b.id])
ok(p.returncode == 0 and 'NVIDIA_VISIBLE_DEVICES=void' in b.config(), 'restore makes a container too', p.stdout)
b = Bundle(host)
p, got = call([WRAPPER, 'create', '--config', '/tmp/other.json', '--bundle', b.dir, b.id])
ok(p.returncode == 1 and got is None and '--config is not supported' in p.stdout, "crun's --config cannot bring in another spec", p.stdout)
p, got = call([WRAPPER, 'create', '--bundle', '/nonexistent', 'x'])
ok(p.returncode == 1 and got is None and 'bundle /nonexistent' in p.stdout, 'a missing bundle', p.stdout)
p, got = call([WRAPPER, 'create'])
ok(p.returncode == 1 and got is None and 'no container id' in p.stdout, 'no container id', p.stdout)

# run in the foreground: passes status and signals through, and lives no longer than its parent allows
b = Bundle(host)
p, got = call([WRAPPER, 'run', '--bundle', b.dir, b.id], env={'DUMP_STATUS': '42'})
ok(p.returncode == 42, 'run: the exit status is the runtime\'s', p.returncode)
b = Bundle(host)
if os.path.exists(TO):
    os.unlink(TO)
p = subprocess.Popen([WRAPPER, 'run', '--bundle', b.dir, b.id], env={'PATH': '/usr/bin', 'DUMP_TO': TO, 'DUMP_SLEEP': '1'})
for _ in range(100):
    time.sleep(0.05)
    if os.path.exists(TO) and 'fd 2' in open(TO).read():
        break
p.send_signal(signal.SIGTERM)
ok(p.wait(timeout=10) == 128 + 15, 'run: SIGTERM reaches the runtime, and the exit status is a shell\'s', p.returncode)

# an engine that ignores SIGCHLD: grants and their undoing still work, and the runtime inherits the ignored signal
host.policies(t10='pipeline = "ml/train";\nidentity = "claim";\ngpus = ( { vendor = "nvidia"; } );\n')
b = Bundle(host, env=['BUILD_TEAM_NAME=ml', 'BUILD_PIPELINE_NAME=train', 'GPUHELPER_GPUS=1'])
place = device_cgroup('garden/' + b.id)
p, got = call([WRAPPER, 'create', '--bundle', b.dir, b.id], {'DUMP_LEAVES': place + '/cgroup.procs'}, preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))
ok(p.returncode == 0 and got and 'ignored %d' % signal.SIGCHLD in got and 'nvidia0' in b.config(), 'SIGCHLD ignored: a grant is made, and the signal stays ignored for the runtime', (p.stdout, got))

# finding the runtime below
host.runtime = WRAPPER
host.settings()
p, got = call([WRAPPER, 'state', 'x'])
ok(p.returncode == 1 and got is None and 'is gpuhelper-runc itself' in p.stdout and len(p.stdout.splitlines()) == 1, 'runtime = the wrapper: one clear error', p.stdout)
sh('cp', WRAPPER, W + '/bin/copy')
host.runtime = W + '/bin/copy'
host.settings()
p, got = call([WRAPPER, 'state', 'x'])
ok(p.returncode == 1 and 'is gpuhelper-runc itself' in p.stdout, 'runtime = a copy of the wrapper: the same', p.stdout)
write(W + '/bin/script', '#!/bin/sh\nexec %s "$@"\n' % WRAPPER, 0o755)
host.runtime = W + '/bin/script'
host.settings()
p, got = call([WRAPPER, 'state', 'x'])
ok(p.returncode == 1 and 'in a loop' in p.stdout and len(p.stdout.splitlines()) == 1, 'runtime = a script that calls the wrapper: the loop is detected', p.stdout)
write('/etc/gpuhelper/gpuhelper.conf', 'volumes = [ "%s/vol" ];\n' % W)
for d in ('one', 'two'):
    os.makedirs('%s/%s' % (W, d))
os.symlink(WRAPPER, W + '/one/runc')
sh('cp', WRAPPER, W + '/two/runc')
p, got = call([W + '/one/runc', 'state', 'x'], env={'PATH': '%s/one:%s/two:%s/bin' % (W, W, W)})
ok(p.returncode == 0 and got and got[0] == 'arg %s/one/runc' % W, 'the first runc in PATH that is no wrapper is used', (p.stdout, got))
p, got = call([W + '/one/runc', 'state', 'x'], env={'PATH': '%s/one:%s/two' % (W, W)})
ok(p.returncode == 1 and 'but gpuhelper-runc itself' in p.stdout, 'only wrappers in PATH: one clear error', p.stdout)
os.chmod(W + '/bin', 0o777)
host.runtime = DUMP
host.settings()
p, got = call([WRAPPER, 'state', 'x'])
ok(p.returncode == 1 and got is None and 'may be written by others' in p.stdout, 'a runtime in a directory that others can write does not run', p.stdout)
os.chmod(W + '/bin', 0o755)

# broken settings: no container is made, but running ones can be stopped
write('/etc/gpuhelper/gpuhelper.conf', 'runtime = "%s";\nprivilegd = "deny";\n' % DUMP)
b = Bundle(host)
p, got = call([WRAPPER, '--log', b.log, '--log-format', 'json', 'create', '--bundle', b.dir, b.id])
ok(p.returncode == 1 and got is None and 'gpuhelper.conf:2: unknown key "privilegd"; did you mean "privileged"?' in p.stdout, 'a broken gpuhelper.conf: create refuses', p.stdout)
ok('gpuhelper.conf:2' in b.errors()[-1], 'the log says so', b.errors())
for verb in (['kill', 'x', '9'], ['delete', '--force', 'x'], ['state', 'x']):
    p, got = call([WRAPPER] + verb)
    ok(p.returncode == 0 and got is not None, 'a broken gpuhelper.conf: %s is passed on, to the runtime that it names' % verb[0], p.stdout)
os.chmod('/etc/gpuhelper/gpuhelper.conf', 0o666)
p, got = call([WRAPPER, 'create', '--bundle', b.dir, b.id])
ok(p.returncode == 1 and got is None and 'may be written by others' in p.stdout, 'a gpuhelper.conf that others can write: create refuses', p.stdout)
p, got = call([WRAPPER, 'kill', 'x', '9'], env={'PATH': W + '/bin'})
ok(p.returncode == 0 and got is not None, 'kill is passed on, to the runc in PATH', p.stdout)
os.unlink('/etc/gpuhelper/gpuhelper.conf')
b = Bundle(host, edit=lambda s: s['root'].update(path='rootfs'))
os.makedirs(b.dir + '/rootfs')
p, got = call([WRAPPER, 'create', '--bundle', b.dir, b.id], env={'PATH': W + '/bin'})
ok(p.returncode == 0 and got is not None, 'without gpuhelper.conf the defaults apply', p.stdout)

# the log in both formats, with an author's texts made harmless
host.settings()
host.policies(t10='pipeline = "a/b";\nidentity = "claim";\n')
EVIL = 'GPUHELPER_GPUS=x\x1b[2J"}\u202e{"level":"error'
b = Bundle(host, env=[EVIL])
p, got = call([WRAPPER, '--log', b.log, '--log-format', 'json', 'create', '--bundle', b.dir, b.id])
ok(p.returncode == 1 and len(b.errors()) == 1 and '\x1b' not in b.errors()[0] and '\u202e' not in b.errors()[0] and '\x1b' not in p.stdout,
   'control bytes in a request reach no log and no terminal', (p.stdout, b.errors()))
b = Bundle(host, env=['GPUHELPER_GPUS=1'])
p, got = call([WRAPPER, '--log', b.log, 'create', '--bundle', b.dir, b.id])
text = open(b.log).read()
ok(p.returncode == 1 and text.startswith('level=error msg="gpuhelper: ') and text.count('\n') == 1, 'without --log-format the log is text, like runc\'s', text)
b = Bundle(host, env=['GPUHELPER_GPUS=1'])
p, got = call([WRAPPER, '--log=' + b.log, '--log-format=json', 'create', '-b', b.dir, b.id])
rec = json.loads(open(b.log).read())
ok(rec['level'] == 'error' and re.fullmatch(r'\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ', rec['time']), 'a JSON record has level, msg and an RFC 3339 time', rec)

# the helper is missing, or not usable: plain containers still run
os.rename('/usr/libexec/gpuhelper/gpuhelper', '/usr/libexec/gpuhelper/away')
b = Bundle(host)
p, got = call([WRAPPER, 'create', '--bundle', b.dir, b.id])
ok(p.returncode == 0, 'a plain container needs no helper', p.stdout)
b = Bundle(host, env=['GPUHELPER_GPUS=1'])
p, got = call([WRAPPER, 'create', '--bundle', b.dir, b.id])
ok(p.returncode == 1 and got is None and 'is gpuhelper installed?' in p.stdout, 'without the helper a request is refused', p.stdout)
os.rename('/usr/libexec/gpuhelper/away', '/usr/libexec/gpuhelper/gpuhelper')
done()
