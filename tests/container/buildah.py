#!/usr/bin/env python3
"""GPUs in image builds: real buildah and «podman build» with gpuhelper-runc as their runtime.

usage: buildah.py    (in tests/lib/sandbox.sh --gpu nvidia-2gpu)

Shows each statement of gpuhelper-runc(1), IMAGE BUILDS.  The GPU is /dev/nvidia9, which has /dev/urandom's numbers.
"""
import json, os, shutil
from lib import *

host = Host('runc', 'v1')
NODE = urandom_gpu()
HOME = W + '/builder'
STORE, TMP, CONTEXT = HOME + '/store', HOME + '/tmp', HOME + '/context'
for d in STORE, TMP, CONTEXT:
    os.makedirs(d)
# the root of a RUN lies beneath its bundle in TMPDIR, which needs no entry here
CONF = 'runtime = "%s";\nvolumes = [ "%s" ];\n' % (host.runtime, STORE)
host.policies(t10='identity = "caller"; callers = [ "root" ];\ngpus = ( { vendor = "nvidia"; devices = [ "0000:3b:00.0" ]; } );\n')
busybox_rootfs(HOME + '/image', 0)
assert sh('tar', '-C', HOME + '/image', '-cf', CONTEXT + '/root.tar', '.').returncode == 0
TRUST = write(HOME + '/trust.json', '{"default": [{"type": "insecureAcceptAnything"}]}')
LOOK = 'RUN ["/bin/sh","-c","ls %s; head -c 4 %s | /bin/busybox wc -c"]\n' % (NODE, NODE)
ARG = 'ARG GPUHELPER_GPUS\n'
FROM = 'FROM scratch\nADD root.tar /\n'
ENV = ['env', '-i', 'HOME=' + HOME, 'TMPDIR=' + TMP, 'PATH=/usr/sbin:/usr/bin:/sbin:/bin']
STORAGE = ['--root', STORE, '--runroot', HOME + '/run', '--storage-driver', 'vfs']


def buildah(*words):
    return sh(*ENV, 'buildah', *STORAGE, *words, cwd=HOME)


def podman(*words):
    return sh(*ENV, 'podman', *STORAGE, '--cgroup-manager', 'cgroupfs', '--events-backend', 'file', '--log-level', 'error', *words, cwd=HOME)


def build(tool, text, *options, runtime=WRAPPER):
    """Builds an image from this file; returns the result, and what «inspect» says of the image."""
    write(CONTEXT + '/Containerfile', text)
    rest = ['--isolation', 'oci', '--network', 'none', '--no-cache', '--signature-policy', TRUST, *options, '-t', 'x', '-f', CONTEXT + '/Containerfile', CONTEXT]
    if tool is podman:
        r = podman('--runtime', runtime, 'build', *rest)
    else:
        r = buildah('--registries-conf', '/dev/null', 'build', '--runtime', runtime, *rest)
    known = buildah('inspect', '--type', 'image', 'x').stdout if r.returncode == 0 else '{}'
    return r, json.loads(known)


# with cgroup v1, a RUN's container counts as privileged (below)
def settings(text='privileged = "hide-gpus";\n'):
    write('/etc/gpuhelper/gpuhelper.conf', CONF + text)


settings()
tools = []
for tool in buildah, podman:
    if not shutil.which(tool.__name__):
        skip(tool.__name__ + ': all checks', 'there is no %s: sh tests/deps.sh check' % tool.__name__)
        continue
    version = tool('--version').stdout.strip()
    r, _ = build(tool, FROM + 'RUN ["/bin/sh","-c","echo ran"]\n', runtime=host.runtime)
    if r.returncode == 0 and 'ran' in r.stdout:
        tools.append((tool, version))
        print('# ' + version)
    else:
        skip(tool.__name__ + ': all checks', '%s by itself says: %s' % (version, r.stdout.strip()[-300:].replace('\n', ' ')))

for tool, version in tools:
    tag = {'buildah': 'buildah build: ', 'podman': 'podman build: '}[tool.__name__]

    def gives(name, text, *options, gpu, stored=False):
        """Checks whether the RUN has the GPU, and whether the image's environment keeps the request."""
        r, known = build(tool, text, *options)
        ok(r.returncode == 0 and ('\n4\n' in r.stdout) == gpu and leases() == [],
           tag + name + (': the RUN has the GPU' if gpu else ': the RUN has no GPU'), r.stdout[-1500:])
        ok(known.get('OCIv1', {}).get('config') is not None and ('GPUHELPER_GPUS' in str(known['OCIv1']['config'].get('Env'))) == stored,
           tag + '  the environment of the image %s the request' % ('keeps' if stored else 'does not keep'), known)
        return known

    BUILD_ARG = '--build-arg', 'GPUHELPER_GPUS=1'
    gives('no request', FROM + LOOK, gpu=False)
    known = gives('ARG and --build-arg', FROM + ARG + LOOK, *BUILD_ARG, gpu=True)
    ok('GPUHELPER_GPUS=1' in str(known['OCIv1'].get('history')), tag + '  the history of the image does, so a token must not come so', known)
    gives('ARG without --build-arg', FROM + ARG + LOOK, gpu=False)
    gives('--build-arg without ARG', FROM + LOOK, *BUILD_ARG, gpu=False)
    gives('ARG before FROM', ARG + FROM + LOOK, *BUILD_ARG, gpu=False)
    gives('ARG after the RUN', FROM + LOOK + ARG, *BUILD_ARG, gpu=False)
    gives('ENV', FROM + 'ENV GPUHELPER_GPUS=1\n' + LOOK, gpu=True, stored=True)
    gives('--env', FROM + LOOK, '--env=GPUHELPER_GPUS=1', gpu=tool is podman, stored=True)
    gives('a variable in the command', FROM + LOOK.replace('"ls', '"GPUHELPER_GPUS=1 ls'), gpu=False)
    before = len(audit())
    r, _ = build(tool, FROM + ARG + 'RUN ["/bin/sh","-c","echo ran"]\n', *BUILD_ARG, '--isolation', 'chroot', '--network', 'host')
    ok('ran' in r.stdout and len(audit()) == before, tag + '--isolation chroot: nobody asks gpuhelper', r.stdout[-800:])
    r, _ = build(tool, FROM + ARG + LOOK, '--build-arg', 'GPUHELPER_GPUS=2')
    ok(r.returncode != 0 and 'gpuhelper: ' in r.stdout and '2 GPUs' in r.stdout and leases() == [], tag + 'a request for more than the policy gives: the build shows the refusal', r.stdout[-800:])
    if not os.path.exists('/sys/fs/cgroup/devices'):
        skip(tag + 'privileged = "deny"', 'the machine has no cgroup v1')
        continue
    settings('privileged = "deny";\n')
    r, _ = build(tool, FROM + ARG + LOOK, *BUILD_ARG)
    ok(r.returncode != 0 and 'privileged = "deny"' in r.stdout and 'cgroup namespace' in r.stdout, tag + 'privileged = "deny" with cgroup v1: refused', r.stdout[-800:])
    gives('  --cgroupns=private', FROM + ARG + LOOK, *BUILD_ARG, '--cgroupns=private', gpu=True)
    settings()
done()
