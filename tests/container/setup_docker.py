#!/usr/bin/env python3
"""gpuhelperctl setup docker: the changes to daemon.json, and a real dockerd that reloads it.

usage: setup_docker.py    (in tests/lib/sandbox.sh --gpu nvidia-2gpu)

dockerd is from Debian's package, which tests/deps.sh unpacks without installing it (an installed one would start, and
change the host's network).  Here it has no network, and its storage is vfs, because a sandbox's /var is already an
overlay.
"""
import contextlib, json, os, shutil, signal, time
from setuplib import *

JSON, CLIENT = '/etc/docker/daemon.json', '/usr/local/sbin/docker'
POLICY = policy('root')
OURS = {'path': WRAPPER}
host = Host('runc', 'v1')
host.policies(t10=POLICY)
write(CONF, ADMINS)
shutil.rmtree('/etc/docker', ignore_errors=True)


def read(path):
    return open(path).read() if os.path.exists(path) else None


def state():
    images = sh(*DOCKER, 'images', '-q') if os.path.exists('/run/docker.sock') else None
    return read(CONF), read(JSON), images and images.stdout, [n for n in os.listdir('/run') if 'setup' in n]


setup = Setup('docker', state)
unchanged = setup.unchanged
unchanged('there is no docker: refused, and nothing is changed', 78, 'there is no docker on this host')

# without a running docker, setup changes only daemon.json; any program named dockerd counts as an installed docker
write('/usr/local/sbin/dockerd', '#!/bin/sh\nexit 1\n', 0o755)
for text, why in ('{ "debug": true, }', 'daemon.json'), ('[]', 'is no JSON object'), ('{"a": 1, "a": 2}', 'daemon.json'), ('// mine\n{}', 'daemon.json'), \
        ('{"runtimes": []}', '"runtimes" is no object'), ('{"default-runtime": "nvidia"}', '"default-runtime" is "nvidia"'), \
        ('{"runtimes": {"gpuhelper": {"path": "/usr/bin/other"}}}', 'is not as setup writes it'), \
        ('{"runtimes": {"gpuhelper": {"path": "%s", "runtimeArgs": ["--debug"]}}}' % WRAPPER, 'is not as setup writes it'):
    write(JSON, text)
    unchanged('%s: refused' % text.replace('\n', ' '), 65 if 'gpuhelper' not in text and 'nvidia' not in text else 78, why)
for text in None, '{}', '{}\n', '{\n    "debug": true,\n    "data-root": "/srv/docker"\n}\n', '{"x":1.0e400,"big":123456789012345678901234567890}', \
        '{ "runtimes": { "other": { "path": "/x" } }, "debug": false }\n', '{\n  "runtimes": {\n    "other": {\n      "path": "/x"\n    }\n  }\n}\n', \
        '{\t"a": [ 1,\n2 ] }', '{"runtimes": {}}', '{"default-runtime": "runc", "debug": true}':
    name = str(text).replace('\n', '').replace('\t', '')
    if text is None:
        shutil.rmtree('/etc/docker')
    else:
        write(JSON, text)
    unchanged('%s: --dry-run' % name, 0, 'would name gpuhelper-runc as the default runtime', args=['--dry-run'])
    code, said = setup()
    now = json.loads(read(JSON))
    before = json.loads(text or '{}')
    wants = {**before, 'runtimes': {**before.get('runtimes', {}), 'gpuhelper': OURS}, 'default-runtime': 'gpuhelper'}
    ok(code == 0 and now == wants and 'does not run' in said, '%s: the wrapper is a runtime, and the default one' % name, (said, read(JSON)))
    unchanged('%s: a second time changes nothing' % name, 0)
    code, said = setup('--undo')
    back = read(JSON)
    same = back == text if text not in ('{}', '{}\n', '{"runtimes": {}}') and 'runc' not in str(text) else \
        {k: v for k, v in before.items() if k not in ('default-runtime', 'runtimes')} == json.loads(back or '{}')
    ok(code == 0 and same and read(CONF) == ADMINS, '%s: --undo restores it' % name, (said, back))
    unchanged('%s: a second --undo is no error' % name, 0, args=['--undo'])
r = sh(CTL, 'setup', 'docker')
ok('volumes' not in read(CONF), "docker's usual storage is among the defaults", read(CONF))
setup('--undo')
write(JSON, '{"data-root": "/srv/docker", "storage-driver": "btrfs"}')
code, text = setup()
ok(code == 0 and '"/srv/docker/btrfs/subvolumes" ];' in read(CONF), 'another storage directory is added to volumes', read(CONF))
r = sh(CTL, 'doctor')
ok('ok   engine: docker calls it, by ' + JSON in r.stdout, 'doctor finds no fault', r.stdout)
write(JSON, read(JSON).replace('"default-runtime": "gpuhelper"', '"default-runtime": "runc"'))
r = sh(CTL, 'doctor')
ok('warn engine: docker calls runc' in r.stdout, 'another default runtime: doctor reports it', r.stdout)
setup('--undo')
# files of containers as docker writes them; further on, a real dockerd has such containers
write(JSON, '{"data-root": "/srv/docker"}')
setup()
ID = '0123456789abcdef' * 4
for i, runtime in enumerate(('gpuhelper', 'runc', 'gpuhelper')):
    write('/srv/docker/containers/%s%d/hostconfig.json' % (ID[1:], i), '{"Runtime": "%s"}' % runtime)
write('/srv/docker/containers/%s0/config.v2.json' % ID[1:], '{"Name": "/old"}')
write('/srv/docker/containers/odd', 'no directory')
code, text = setup('--undo')
ok(code == 0 and 'made: old, %s2\n' % ID[1:] in text and json.loads(read(JSON)) == {'data-root': '/srv/docker', 'runtimes': {'gpuhelper': {'path': '/usr/sbin/runc', 'runtimeArgs': []}}},
   'containers that need the runtime: --undo keeps its name for them', (text, read(JSON)))
shutil.rmtree('/srv/docker/containers')
write('/srv/docker/containers', 'no directory')
code, text = setup('--undo')
ok(code == 0 and 'made: /srv/docker/containers: Not a directory\n' in text and 'runtimes' in json.loads(read(JSON)), '  also if they can\'t be listed', (text, read(JSON)))
os.unlink('/srv/docker/containers')
code, text = setup('--undo')
ok(code == 0 and json.loads(read(JSON)) == {'data-root': '/srv/docker'}, '  and removes it when they are gone', (text, read(JSON)))
write(CONF, ADMINS)
# a link would be replaced by a file
write('/srv/shared/daemon.json', '{"debug": true}')
os.unlink(JSON)
os.symlink('/srv/shared/daemon.json', JSON)
unchanged('daemon.json is a link: refused', 78, JSON + ' is a symbolic link')
ok(os.path.islink(JSON), 'daemon.json is still a link')
write('/srv/shared/daemon.json', json.dumps({'runtimes': {'gpuhelper': OURS}, 'default-runtime': 'gpuhelper'}))
unchanged('daemon.json is a link: --undo is refused', 78, JSON + ' is a symbolic link', args=['--undo'])
r = sh(CTL, 'doctor')
ok('ok   engine: docker calls it, by ' + JSON in r.stdout, 'doctor reads a daemon.json that is a link', r.stdout)
os.unlink(JSON)
shutil.rmtree('/etc/docker')
os.symlink('/srv/shared', '/etc/docker')
unchanged('a link in the path of daemon.json: refused', 78, JSON + ' is a symbolic link, or lies behind one')
os.unlink('/etc/docker')
os.unlink('/usr/local/sbin/dockerd')
write(CONF, ADMINS)

if not has_docker():
    skip('setup docker, with a dockerd', '%s is not there: sh tests/deps.sh check' % UNPACKED)
    done()
place_docker()


def docker(*words):
    r = sh(*DOCKER, *words)
    return r.returncode, r.stdout


def run(script, *options):
    return docker('run', '--rm', '--network', 'none', *options, 'image', '/bin/sh', '-c', script)


stack = contextlib.ExitStack()
stack.enter_context(containerd())
OTHERS = '{\n    "debug": false,\n    "storage-driver": "vfs",\n    "runtimes": { "other": { "path": "/usr/bin/true" } }\n}\n'
SITES = '{\n    "debug": false,\n    "storage-driver": "vfs"\n}\n'
write(JSON, SITES)
rootfs = busybox_rootfs(W + '/image', 0)
assert sh('tar', '-C', rootfs, '-cf', W + '/image.tar', '.').returncode == 0
with dockerd() as p:
    code, text = docker('import', W + '/image.tar', 'image')
    code, text = run('echo ran') if code == 0 else (code, text)
    if 'ran' not in text:
        skip('setup docker, with a dockerd', 'dockerd by itself says: %s %s' % (text.strip().replace('\n', ' '), open(W + '/dockerd.log').read()[-300:].replace('\n', ' ')))
        p.terminate()
        stack.close()
        done()
    print('# docker', docker('version', '--format', '{{.Server.Version}}')[1].strip())
    host.policies(t10='?')
    unchanged('a broken policy: nothing is switched on', 78, 't10.conf:1: ')
    host.policies(t10=POLICY)
    write('/usr/local/bin/runc', '#!/bin/sh\necho no such container >&2\nexit 1\n', 0o755)
    write(CONF, ADMINS + 'runtime = "/usr/local/bin/runc";\n')
    unchanged('a runtime that runs nothing', 78, 'could not be run', 'no such container')
    os.unlink('/usr/local/bin/runc')
    write(CONF, ADMINS)
    fresh = state()
    write(JSON, OTHERS)
    p.send_signal(signal.SIGHUP)
    # a client with false answers stands in for a dockerd that does not take the default runtime in time
    with client(CLIENT, """%s "$@" | sed 's/"DefaultRuntime":"gpuhelper"/"DefaultRuntime":"other"/'"""):
        unchanged('a dockerd that does not take the default runtime', 78, 'did not make "gpuhelper" its default runtime')
    time.sleep(1)
    code, text = docker('info', '--format', '{{.DefaultRuntime}}')
    ok(code == 0 and text.strip() == 'runc' and read(JSON) == OTHERS, 'dockerd has runc as its default again', (text, read(JSON)))
    code, text = docker('info', '--format', '{{json .Runtimes}}')
    ok(code == 0 and 'gpuhelper' not in text, 'dockerd no longer has the wrapper as a runtime', text)
    code, text = run('echo ran')
    ok(code == 0 and 'ran' in text, 'dockerd still runs containers', text)
    with client(CLIENT, LEAVES_CONTAINER):
        code, text = setup()
    ok(code == 78 and 'could not be run by docker' in text and docker('ps', '-a', '-q') == (0, ''), 'the container of a client that failed is removed', (text, docker('ps', '-a')))
    # the trial has put the wrapper into the file, and then somebody names another default
    before = state()
    with client(CLIENT, """%s "$@"
s=$?
case "$*" in *" rmi "*) sed 's/^{/{ "default-runtime": "other",/' JSON >JSON.new && mv JSON.new JSON ;; esac
exit $s""".replace('JSON', JSON)):
        code, text = setup()
    ok(code == 78 and '"default-runtime" is "other"' in text and state() == before, 'a failure between trial and switching on: daemon.json is as it was',
       (code, text, before, state()))
    write(JSON, SITES)
    p.send_signal(signal.SIGHUP)
    code, text = setup('--dry-run')
    ok(code == 0 and 'docker: PID %d, with its storage in /var/lib/docker (vfs)' % p.pid in text and state() == fresh, '--dry-run reports everything, and changes nothing', text)
    code, text = setup()
    ok(code == 0 and 'trial: docker ran a container' in text and 'from now on' in text, 'setup', text)
    ok(read(JSON).startswith(SITES[:-3]) and json.loads(read(JSON))['default-runtime'] == 'gpuhelper', "daemon.json has the administrator's lines, and ours", read(JSON))
    ok('"/var/lib/docker/vfs/dir" ];' in read(CONF), 'gpuhelper.conf has the storage', read(CONF))
    ok(state()[2:] == fresh[2:], 'the trial leaves no image', state())
    ok(p.poll() is None, 'dockerd was not restarted')
    code, text = run('ls /dev', '-e', 'GPUHELPER_GPUS=1')
    ok(code == 0 and 'nvidia0' in text.split() and 'nvidia1' not in text.split(), 'a container gets what its policy gives', text)
    code, text = run('ls /dev')
    ok(code == 0 and 'nvidia0' not in text.split(), 'a container without a request gets no GPU', text)
    code, text = run('ls /dev', '-e', 'GPUHELPER_GPUS=2')
    ok(code != 0 and '2 GPUs asked for' in text, 'a request for more is refused', text)
    unchanged('a second run changes nothing', 0)
with dockerd() as p:
    code, text = run('ls /dev', '-e', 'GPUHELPER_GPUS=2')
    ok(code != 0 and '2 GPUs asked for' in text, 'dockerd starts with that file, and gpuhelper still decides', (text, open(W + '/dockerd.log').read()[-500:]))
    code, text = setup('--undo')
    ok(code == 0 and state() == fresh, '--undo restores everything', (text, state(), fresh))
    code, text = run('ls /dev; echo ran', '-e', 'GPUHELPER_GPUS=2')
    ok(code == 0 and 'ran' in text and p.poll() is None, 'afterwards gpuhelper does not decide any more, without a restart', text)

# containers that outlive gpuhelper: docker knows each one's runtime by name
REST = {'path': '/usr/sbin/runc', 'runtimeArgs': []}
HOLD = '--network', 'none', 'image', '/bin/sleep', '1000'
STAYS = 'docker: %s the default from %s; the runtime gpuhelper stays there, as %s, for the containers that gpuhelper-runc made: '
STAYS_ON = 'docker: the runtime gpuhelper stays in %s, for the containers that gpuhelper-runc made: '


def begin(name, *options):
    code, text = docker('run', '--detach', '--name', name, *options, *HOLD)
    assert code == 0, text


def lives(name):
    pid = docker('container', 'inspect', '--format', '{{.State.Pid}}', name)[1].strip()
    return pid.isdigit() and int(pid) > 0 and os.path.exists('/proc/' + pid)


def named(text, did):
    """The containers that an undo names."""
    begins = STAYS_ON % JSON if did == 'stays' else STAYS % (did, JSON, REST['path'])
    return [sorted(l[len(begins):].split(', ')) for l in text.splitlines() if l.startswith(begins)]


with dockerd() as p:
    ok(setup()[0] == 0, 'setup again')
    begin('holds', '-e', 'GPUHELPER_GPUS=1')
    begin('serves', '--restart', 'unless-stopped')
    docker('create', '--name', 'made', *HOLD)
    before = state()
    code, text = setup('--undo', '--dry-run')
    ok(code == 0 and named(text, 'would remove') == [['holds', 'made', 'serves']] and state() == before, '--undo --dry-run names the containers that gpuhelper-runc made', text)
    code, text = setup('--undo')
    ok(code == 0 and named(text, 'removed') == [['holds', 'made', 'serves']] and read(CONF) == ADMINS and
       json.loads(read(JSON)) == {**json.loads(SITES), 'runtimes': {'gpuhelper': REST}}, '--undo leaves a runtime for them that is no default', (text, state()))
    r = sh(CTL, 'doctor')
    ok('docker calls' not in r.stdout, '  of which doctor says nothing', r.stdout)
    code, text = run('ls /dev; echo ran', '-e', 'GPUHELPER_GPUS=2')
    ok(code == 0 and 'ran' in text, '  and gpuhelper does not decide any more', text)
    before = state()
    code, text = setup('--undo')
    ok(code == 0 and named(text, 'stays') == [['holds', 'made', 'serves']] and state() == before, 'a second --undo leaves it, too', text)
    ok(': would remove ' not in setup('--undo', '--dry-run')[1], '  so that «make uninstall» does not wait for that', text)
    ok(len(leases()) == 1 and docker('stop', '--time', '0', 'holds')[0] == 0 and leases() == [], 'docker stops a container that has a GPU, which is free then', leases())
    ok(docker('start', 'holds')[0] == 0 and lives('holds') and leases() == [], '  and starts it again, without gpuhelper', docker('ps', '-a'))
    ok(docker('rm', '--force', 'holds')[0] == 0, '  and removes it while it runs')
# as after a restart of the host
with dockerd() as p:
    for _ in range(100):
        if lives('serves'):
            break
        time.sleep(0.1)
    ok(lives('serves'), 'a container that is to run always does so when docker starts again', docker('ps', '-a'))
    code, text = setup()
    ok(code == 0 and json.loads(read(JSON))['runtimes'] == {'gpuhelper': OURS} and json.loads(read(JSON))['default-runtime'] == 'gpuhelper', 'setup replaces the runtime', (text, read(JSON)))
    code, text = docker('restart', '--time', '0', 'serves')
    ok(code == 0 and lives('serves'), '  with which such a container starts again', text)
    ok(docker('rm', '--force', 'serves')[0] == 0, '  and goes')
# docker does not run: its files tell
code, text = setup('--undo')
ok(code == 0 and 'made: made\n' in text and 'runtimes' in json.loads(read(JSON)), 'without a running docker, --undo finds the containers, too', text)
with dockerd() as p:
    ok(docker('start', 'made')[0] == 0 and docker('rm', '--force', 'made')[0] == 0, 'the last one starts, and goes')
    begin('plain')
    code, text = setup('--undo')
    ok(code == 0 and state() == fresh, 'a further --undo restores everything, although another container runs', (text, state(), fresh))
    docker('rm', '--force', 'plain')
with dockerd('--default-runtime', 'runc') as p:
    unchanged('a default runtime on the command line, with which dockerd would not start again: refused', 78, '--default-runtime on its command line')
write('/srv/daemon.json', SITES)
with dockerd('--config-file', '/srv/daemon.json') as p:
    unchanged('another file of settings: refused', 78, 'dockerd (PID %d) reads /srv/daemon.json' % p.pid)
stack.close()
done()
