#!/usr/bin/env python3
"""Jobs of GitLab and GitHub Actions by a real docker or podman: two containers a job, aborted jobs, long tokens.

usage: ci.py docker|podman    (in tests/lib/sandbox.sh --gpu nvidia-2gpu; needs openssl)

No CI runs here: the test starts the containers as its runner does, by the engine's own client.  GitLab's makes a helper
container, which it starts before and after the build, and gives both the job's variables; a step of GitHub's says
«docker run».  docker is from Debian's package, without network, and with vfs as its storage (see setup_docker.py).
"""
import contextlib, json, os, shutil, sys, tempfile, time
from setuplib import *
sys.path.insert(0, TESTS + '/fixtures/jwt')
import citokens
import mkvectors as jwt

ENGINE = sys.argv[1]
G, H = citokens.GITLAB, citokens.GITHUB
host = Host('runc', 'v1')
tmp = tempfile.mkdtemp()
keys, entries = {}, []
for ci in G, H:
    keys[ci.name] = jwt.Key(tmp, 'rsa2048', 'k')
    entries.append(ci.settings(write('/etc/gpuhelper/keys/%s.json' % ci.name[:6], json.dumps({'keys': [keys[ci.name].jwk]}))))
os.makedirs('/srv/datasets')
write('/srv/datasets/x', 'data\n')
GIVES = 'gpus = ( { vendor = "nvidia"; devices = [ "%s" ]; } );\nfolders = ( { path = "/srv/datasets"; access = "ro"; } );\n' % GPU0
host.policies(**{'t%d' % i: '%s\nissuer = "%s";\n%s' % (ci.policy, ci.url, GIVES) for i, ci in enumerate((G, H))})


def token(ci, **change):
    now = int(time.time())
    claims = {'iss': ci.url, 'iat': now - 5, 'exp': now + 600, **ci.claims, **change}
    return jwt.sign(keys[ci.name], jwt.header(keys[ci.name]), claims)


def engine(*words, stdin=None):
    before = DOCKER if ENGINE == 'docker' else ['podman', '--log-level', 'error', '--runtime', WRAPPER]
    r = sh(*before, *words, cwd='/', **({'input': stdin} if stdin is not None else {}))
    return r.returncode, r.stdout


def create(name, tok, *options):
    """A container whose shell reads its script from standard input, as GitLab's runner makes it."""
    return engine('create', '--name', name, '--network', 'none', '-i', '-e', 'GPUHELPER_TOKEN=' + tok, *options, 'image', '/bin/sh')


def start(name, script):
    return engine('start', '--attach', '--interactive', name, stdin=script + '\n')


def run(tok, *options, script='ls /dev; cat /srv/datasets/x; env'):
    return engine('run', '--rm', '--network', 'none', '-e', 'GPUHELPER_TOKEN=' + tok, *options, 'image', '/bin/sh', '-c', script)


@contextlib.contextmanager
def docker():
    place_docker()
    with containerd(), dockerd('--storage-driver=vfs', '--add-runtime', 'gpuhelper=' + WRAPPER, '--default-runtime', 'gpuhelper'):
        yield


def podman():
    write('/etc/containers/storage.conf', '[storage]\ndriver = "vfs"\nrunroot = "/run/containers/storage"\ngraphroot = "/var/lib/containers/storage"\n')
    write('/etc/containers/containers.conf', '[engine]\nevents_logger = "file"\ncgroup_manager = "cgroupfs"\n')
    shutil.rmtree('/var/lib/containers', ignore_errors=True)
    return contextlib.nullcontext()


STORAGE = {'docker': '/var/lib/docker/vfs/dir', 'podman': '/var/lib/containers/storage'}
TELLS = 'ls /dev; cat /srv/datasets/x; env; echo end'
BUSY = 'serves one at a time'


def granted(code, text):
    return code == 0 and 'nvidia0' in text.split() and 'data' in text.splitlines()


def no_leases():
    for _ in range(100):
        if leases() == []:
            return True
        time.sleep(0.05)
    return False


def gitlab():
    tok = token(G, groups_direct=['my-group/department-%03d/a-rather-long-name' % i for i in range(200)])
    code, text = create('helper', tok)
    ok(code == 0 and len(tok) > 8192, 'GitLab: the helper container is made, with a token of %d bytes' % len(tok), text)
    code, text = start('helper', TELLS)
    ok(granted(code, text) and 'GPUHELPER_TOKEN' not in text, 'GitLab: the helper runs, and sees no token', text[-500:])
    create('build', tok)
    code, text = start('build', TELLS)
    ok(granted(code, text) and 'GPUHELPER_TOKEN' not in text, 'GitLab: then the build, with the same token', text[-500:])
    code, text = start('helper', TELLS)
    ok(granted(code, text), 'GitLab: then the helper once more', text[-500:])
    # a service, or whoever has the token, beside the running build
    code, text = engine('run', '--detach', '--name', 'long', '--network', 'none', '-e', 'GPUHELPER_TOKEN=' + tok, 'image', '/bin/sleep', '1000')
    ok(code == 0 and len(leases()) == 1, 'GitLab: a build runs', text)
    code, text = engine('exec', 'long', '/bin/sh', '-c', TELLS)
    ok(granted(code, text) and 'GPUHELPER_TOKEN' not in text, 'GitLab: an exec into it sees no token', text[-500:])
    code, text = run(tok)
    ok(code != 0 and BUSY in text, 'GitLab: beside it, another container with its token is refused', text[-500:])
    code, text = run(token(G, job_id='303'), '-e', 'GPUHELPER_FOLDERS=/srv/datasets')
    ok(code == 0 and 'data' in text.splitlines(), "GitLab: another job's container is not", text[-500:])
    code, text = engine('kill', 'long')
    for _ in range(50):
        code, text = run(tok)
        if code == 0:
            break
        time.sleep(0.1)
    ok(granted(code, text), 'GitLab: the job was aborted: its next container has the GPU', text[-500:])
    for what, change in (('of a fork', {'project_path': 'evil/my-project'}), ('of an unprotected ref', {'ref_protected': 'false'}),
                         ('of a job in another project', {'job_project_id': '99'})):
        code, text = run(token(G, job_id='304', **change))
        ok(code != 0 and 'no policy covers' in text, 'GitLab: a token %s is refused' % what, text[-500:])
    engine('rm', '--force', 'helper', 'build', 'long')


def github():
    tok = token(H)
    code, text = run(tok, '-e', 'GPUHELPER_GPUS=1')
    ok(code == 0 and 'nvidia0' in text.split() and 'GPUHELPER_TOKEN' not in text, 'GitHub: a step that says run', text[-500:])
    code, text = run(tok, '-e', 'GPUHELPER_FOLDERS=/srv/datasets:ro')
    ok(code == 0 and 'data' in text.splitlines(), "GitHub: the job's next step", text[-500:])
    for change in {'event_name': 'pull_request_target'}, {'event_name': 'pull_request', 'ref': 'refs/pull/1/merge'}, {'ref': 'refs/tags/main'}, \
            {'repository_owner_id': '666'}:
        code, text = run(token(H, **change))
        ok(code != 0 and ('no policy covers' in text or 'requires "65"' in text), 'GitHub: with %s it is refused' % change, text[-500:])


if ENGINE == 'docker' and not has_docker() or ENGINE == 'podman' and not shutil.which('podman'):
    skip(ENGINE, 'it is not there: sh tests/deps.sh check')
    done()
write(CONF, 'privileged = "deny";\nvolumes = [ "%s" ];\nissuers = ( %s );\n' % (STORAGE[ENGINE], ',\n'.join(entries)))
rootfs = busybox_rootfs(W + '/image', 0)
assert sh('tar', '-C', rootfs, '-cf', W + '/image.tar', '.').returncode == 0
with docker() if ENGINE == 'docker' else podman():
    code, text = engine('import', W + '/image.tar', 'image')
    code, text = engine('run', '--rm', '--network', 'none', 'image', '/bin/sh', '-c', 'echo ran') if code == 0 else (code, text)
    if 'ran' not in text:
        skip(ENGINE, 'a container without a request: ' + text.strip().replace('\n', ' '))
        done()
    gitlab()
    github()
    ok(no_leases(), 'no lease is left', leases())
done()
