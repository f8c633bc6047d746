#!/usr/bin/env python3
"""Privileged pipelines: privileged = true in a policy.  A real image build (buildah in a privileged task with a token)
beside a pull request's privileged task, which is refused.

usage: builds.py RUNTIME CGROUP    (in tests/lib/sandbox.sh --gpu nvidia-2gpu; needs openssl, buildah)
"""
import json, os, shutil, sys, tempfile, time
from lib import *
sys.path.insert(0, TESTS + '/fixtures/jwt')
import mkvectors as jwt

host, tag = able_host()
URL = 'https://ci.example.org'
KEYS = '/etc/gpuhelper/keys/ci.json'
key = jwt.Key(tempfile.mkdtemp(), 'ec', 'es-1')
write(KEYS, json.dumps({'keys': [key.jwk]}))
ISSUERS = 'issuers = ( { url = "%s"; audience = "gpuhelper"; keys = "%s"; } );' % (URL, KEYS)
# no line «privileged»: the default is what a newcomer has
host.settings(ISSUERS)
BUILDS = 'pipeline = "ml/images";\nprivileged = true;\n'
TRAIN = 'pipeline = "ml/train";\ngpus = ( { vendor = "nvidia"; count = 1; } );\n'
host.policies(t10_builds=BUILDS, t20_train=TRAIN)
DENIED = 'privileged containers are not allowed on this host (privileged = "deny" in gpuhelper.conf)'


def token(pipeline='images'):
    now = int(time.time())
    return jwt.sign(key, jwt.header(key), jwt.claims(iss=URL, iat=now - 5, exp=now + 600, pipeline=pipeline))


def task(env, script='true', sample='task-privileged', **kw):
    return Bundle(host, sample, env=env, args=['/bin/sh', '-c', script], **kw)


def refused(name, b, *texts):
    seen, r = len(audit()), b.run()
    new = audit()[seen:]
    ok(r.returncode == 1 and all(t in r.stdout for t in texts) and [a['event'] for a in new] == ['refuse'] and leases() == [] and
       b.config() == b.text, tag + 'refused: ' + name, (r.stdout, b.errors(), new, leases()))


# the default
refused('a privileged container that asks for nothing', task([]), DENIED, 'and this one is: it has CAP_')
refused('one that claims the pipeline', task(['BUILD_TEAM_NAME=ml', 'BUILD_PIPELINE_NAME=images', 'GPUHELPER_GPUS=none']), DENIED)

# a token of the pipeline
b = task(['GPUHELPER_TOKEN=' + token()], 'grep CapEff /proc/self/status; ls /dev; env')
r = b.run()
ADMIN = 1 << 21        # CAP_SYS_ADMIN
caps = [int(l.split()[1], 16) for l in r.stdout.splitlines() if l.startswith('CapEff')]
ok(r.returncode == 0 and caps and caps[0] & ADMIN and 'nvidia0' not in r.stdout and 'GPUHELPER_TOKEN' not in r.stdout,
   tag + 'a token of a privileged pipeline: the container is privileged, has no GPU and no token', (r.stdout[-600:], b.errors()))
rec = [a for a in audit() if a.get('container') == b.id and a['event'] == 'grant']
ok(len(rec) == 1 and rec[0].get('privileged') is True and rec[0]['policy'] == 't10-builds.conf' and rec[0]['pipeline'] == 'images',
   tag + '  the audit log says that it is privileged, and by which policy', rec)

# other tokens
refused('a token of another pipeline, whose policy does not say so', task(['GPUHELPER_TOKEN=' + token('train')]),
        't20-train.conf: it does not say privileged = true', DENIED, 'and this one is: it has CAP_')
refused('a token of a pipeline without a policy', task(['GPUHELPER_TOKEN=' + token('pr')]), 'no policy covers pipeline ml/pr')
bad = token()
refused('a token with a wrong signature', task(['GPUHELPER_TOKEN=' + bad[:-8] + ('A' * 8 if bad[-8:] != 'A' * 8 else 'B' * 8)]), 'has signed it')
refused('a request for a GPU, which this pipeline does not get', task(['GPUHELPER_TOKEN=' + token(), 'GPUHELPER_GPUS=1']), 't10-builds.conf')

# both together: the next policy that allows all of the request
host.policies(t10_builds=BUILDS, t30_gpu='pipeline = "ml/images";\nprivileged = true;\ngpus = ( { vendor = "nvidia"; count = 1; } );\n')
b = task(['GPUHELPER_TOKEN=' + token(), 'GPUHELPER_GPUS=1'], 'ls /dev')
r = b.run()
ok(r.returncode == 0 and 'nvidia0' in r.stdout and 'nvidia1' not in r.stdout, tag + 'a later policy gives such a container a GPU, too', (r.stdout[-600:], b.errors()))
host.policies(t10_builds='pipeline = "ml/images";\ngpus = ( { vendor = "nvidia"; count = 1; } );\n')
refused('a policy with the GPU and without the privilege gives nothing, not an ordinary container',
        task(['GPUHELPER_TOKEN=' + token(), 'GPUHELPER_GPUS=1']), 'it does not say privileged = true')
for kind in 'claim', 'caller':
    host.policies(t10_builds='identity = "%s";\nprivileged = true;\n%s' % (kind, 'pipeline = "ml/images";\n' if kind == 'claim' else 'callers = [ "root" ];\n'))
    refused('privileged = true with identity = "%s" is no policy at all' % kind,
            task(['GPUHELPER_TOKEN=' + token()]), 'privileged goes with identity = "token"')

# exec: as Concourse starts the task, with the capabilities of the container
host.policies(t10_builds=BUILDS)
STRONG = ['CAP_CHOWN', 'CAP_SYS_ADMIN']


def process(b):
    write(b.dir + '/p.json', json.dumps({'args': ['/bin/grep', 'CapEff', '/proc/self/status'], 'cwd': '/', 'env': ['PATH=/bin'],
                                         'user': {'uid': 0, 'gid': 0}, 'terminal': False,
                                         'capabilities': {k: STRONG for k in ('bounding', 'effective', 'permitted')}}))
    return b.dir + '/p.json'


b = task(['GPUHELPER_TOKEN=' + token()], 'exec sleep 60')
b.start()
r = b.call('exec', '--process', process(b), b.id)
ok(r.returncode == 0 and '0000000000200001' in r.stdout, tag + 'exec with strong capabilities in that container', (r.stdout, b.errors()))
b.delete()
plain = Bundle(host, 'task-privileged', args=['/bin/sleep', '60'], edit=lambda s: ordinary(s, ['CAP_CHOWN']))
plain.start()
r = plain.call('exec', '--process', process(plain), plain.id)
ok(r.returncode == 1 and 'privileged container' in str(plain.errors()), tag + '  not in a plain one beside it', (r.stdout, plain.errors()))
plain.delete()
ok(leases() == [], tag + 'no lease is left', leases())

# a pipeline's granted, unprivileged container may not be made privileged by an exec
b = Bundle(host, 'task-privileged', env=['GPUHELPER_TOKEN=' + token()], args=['/bin/sleep', '60'], edit=lambda s: ordinary(s, ['CAP_CHOWN']))
b.start()
r = b.call('exec', '--process', process(b), b.id)
ok(r.returncode == 1 and 'privileged container' in str(b.errors()), tag + 'exec with strong capabilities is refused in an ordinary container of that pipeline', (r.stdout, b.errors()))
b.delete()

# a real build
if not shutil.which('buildah'):
    skip(tag + 'a real build', 'there is no buildah: sh tests/deps.sh check')
    done()
STORE = W + '/vol/build'
os.makedirs(STORE + '/context')
busybox_rootfs(STORE + '/image', 0)
assert sh('tar', '-C', STORE + '/image', '-cf', STORE + '/context/root.tar', '.').returncode == 0
write(STORE + '/trust.json', '{"default": [{"type": "insecureAcceptAnything"}]}')
write(STORE + '/context/Containerfile', 'FROM scratch\nADD root.tar /\nRUN ["/bin/sh","-c","echo built > /etc/built"]\n')
BUILD = ('mount -t tmpfs none /run && mkdir /run/b && cp -r /build/context /build/trust.json /run/b/ && cd /run/b && '
         'HOME=/run/b TMPDIR=/run/b buildah --root /run/b/store --runroot /run/b/run --storage-driver vfs --registries-conf /dev/null '
         'build --isolation chroot --network host --signature-policy /run/b/trust.json -t made context && echo BUILD-DONE')


def tools(spec):
    """The image: the programs of this machine, read-only, as an image for builds has them."""
    spec['root']['path'] = W + '/vol/tools'
    spec['mounts'] += [{'destination': '/usr', 'type': 'bind', 'source': '/usr', 'options': ['rbind', 'ro']},
                       {'destination': '/build', 'type': 'bind', 'source': STORE, 'options': ['bind', 'ro']}]


tools_root = W + '/vol/tools'
for d in 'usr proc sys dev tmp etc run build var/tmp var/lib'.split():
    os.makedirs(tools_root + '/' + d, exist_ok=True)
for d in 'bin', 'sbin', 'lib', 'lib64':
    os.symlink('usr/' + d, tools_root + '/' + d)
write(tools_root + '/etc/passwd', 'root:x:0:0::/:/bin/sh\n')
write(tools_root + '/etc/group', 'root:x:0:\n')
alone = task([], BUILD, edit=tools)
r = sh(host.runtime, '--root', W + '/root', 'run', '--bundle', alone.dir, alone.id, cwd=alone.dir)
if 'BUILD-DONE' not in r.stdout:
    skip(tag + 'a real build', '%s and buildah by themselves say: %s' % (host.name, r.stdout.strip()[-300:].replace('\n', ' ')))
    done()
b = task(['GPUHELPER_TOKEN=' + token()], BUILD, edit=tools)
r = b.run()
ok(r.returncode == 0 and 'BUILD-DONE' in r.stdout, tag + 'buildah builds an image in a privileged task with a token', (r.stdout[-900:], b.errors()))
refused('the same task of a pull request, with its token', task(['GPUHELPER_TOKEN=' + token('pr')], BUILD, edit=tools), 'no policy covers pipeline ml/pr')
refused('the same task without a token', task([], BUILD, edit=tools), DENIED)
done()
