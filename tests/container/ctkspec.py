#!/usr/bin/env python3
"""Specs in the form of nvidia-ctk 1.14 to 1.20: which driver libraries a container's own loader finds without any hook.

usage: ctkspec.py RUNTIME CGROUP    (in tests/lib/sandbox.sh --gpu nvidia-2gpu)

The test builds the specs in the tool kit's form (pkg/nvcdi, internal/discover/hooks.go); neither the tool kit nor its
hooks are installed.  The GPUs and the driver's libraries are SIMULATED, as in driver.py.
"""
import json, os, re, shutil, subprocess
from lib import *

host, tag = able_host()
TRAIN = ['BUILD_TEAM_NAME=ml', 'BUILD_PIPELINE_NAME=train', 'GPUHELPER_GPUS=1']
VERSION = re.search(r'(\d{3}\.\d+\.\d+)', open('/proc/driver/nvidia/version').read()).group(1)
DEBIAN, RHEL = '/usr/lib/x86_64-linux-gnu', '/usr/lib64'
# the names that programs load, and what follows ".so." in the SONAME
LIBRARIES = {'libcuda': '1', 'libnvidia-ml': '1', 'libnvidia-ptxjitcompiler': '1', 'libnvidia-opencl': '1', 'libnvidia-cfg': '1',
             'libnvidia-allocator': '1', 'libnvidia-nvvm': '4', 'libnvidia-gpucomp': VERSION}
NAMES = ['%s.so.%s' % l for l in LIBRARIES.items()] + ['libcuda.so']
OPTIONS = ['ro', 'nosuid', 'nodev', 'rbind', 'rprivate']


def make_library(stem, number, path):
    c = write(W + '/lib.c', 'const char *driver_says(void); const char *driver_says(void) { return "%s"; }\n' % stem)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    subprocess.check_call(['cc', '-shared', '-fPIC', '-Wl,-soname,%s.so.%s' % (stem, number), '-o', path, c])


def ctk_edits(where, form, files=None):
    """The edits for every container; the libraries are in that directory, on the host and in the container."""
    files = ['%s/%s' % (where, f) for f in files or ['%s.so.%s' % (stem, VERSION) for stem in LIBRARIES]]
    ctk = form == '1.14'
    path = '/usr/bin/nvidia-ctk' if ctk else '/usr/bin/nvidia-cdi-hook'

    def hook(*args):
        h = {'hookName': 'createContainer', 'path': path, 'args': [os.path.basename(path)] + ['hook'] * ctk + list(args)}
        return h if ctk else dict(h, env=['NVIDIA_CTK_DEBUG=false'])
    hooks = [hook('create-symlinks', '--link', 'libcuda.so.1::%s/libcuda.so' % where, '--link',
                  '../libnvidia-allocator.so.1::%s/gbm/nvidia-drm_gbm.so' % where),
             hook('update-ldcache', '--folder', where)]
    if form != '1.14':
        hooks += [hook('enable-cuda-compat', '--host-driver-version=' + VERSION)]
    if form in ('1.20', '1.20.2'):
        hooks += [hook('disable-device-node-modification'), hook('update-application-profile')]
    if form == '1.20.2':
        hooks += [hook('apply-cuda-memory-limits', '--driver-root', '', '--gpu-id', GPU0)]
    edits = {'env': ['NVIDIA_VISIBLE_DEVICES=void'], 'deviceNodes': [{'path': '/dev/nvidiactl'}, {'path': '/dev/nvidia-uvm'}],
             'mounts': [{'hostPath': f, 'containerPath': f, 'options': OPTIONS} for f in files]}
    if form == '1.20.2':    # tells NVIDIA's runtime that the devices are there already
        edits['mounts'].append({'hostPath': '/dev/null', 'containerPath': '/var/run/nvidia-container-devices/void', 'options': OPTIONS})
    return edits if form == 'disable-hook=all' else dict(edits, hooks=hooks)


def block(value, indent=''):
    """YAML in the tool kit's style."""
    if isinstance(value, dict):
        return ''.join('%s%s:%s' % (indent, k, '\n' + block(v, indent + '    ') if isinstance(v, (dict, list)) else ' %s\n' % json.dumps(v))
                       for k, v in value.items())
    return ''.join('%s-\n%s' % (indent, block(v, indent + '    ')) if isinstance(v, (dict, list)) else '%s- %s\n' % (indent, json.dumps(v))
                   for v in value)


def spec(edits, yaml, bom=False):
    for d in '/etc/cdi', '/run/cdi':
        shutil.rmtree(d, ignore_errors=True)
    s = {'cdiVersion': '0.7.0' if 'additionalGids' in edits else '0.5.0', 'kind': 'nvidia.com/gpu', 'containerEdits': edits,
         'devices': [{'name': str(n), 'containerEdits': {'deviceNodes': [{'path': '/dev/nvidia%d' % n}]}} for n in (0, 1)]}
    return write('/etc/cdi/nvidia.' + ('yaml' if yaml else 'json'), '\ufeff' * bom + ('---\n' + block(s) if yaml else json.dumps(s)))


def lacks(image, names=NAMES):
    """The names that the container's loader does not find; None if there is no container."""
    b = Fresh(host, env=TRAIN, image=image, args=['/bin/prog'] + names)
    r = b.run()
    found = dict(re.findall(r'(?m)^(\S+\.so\S*): (.*)', r.stdout))
    return [n for n in names if found.get(n) != n.split('.so')[0]], r.stdout


host.policies(t10='pipeline = "ml/train";\nidentity = "claim";\ngpus = ( { vendor = "nvidia"; capabilities = [ "compute", "utility" ]; } );\n')
for stem, number in LIBRARIES.items():
    make_library(stem, number, '%s/%s.so.%s' % (DEBIAN, stem, VERSION))
    make_library(stem, number, '/opt/driver/lib/%s.so.%s' % (stem, VERSION))
glibc_image(W + '/vol/glibc')
glibc_image(W + '/vol/glibc-rhel', rhel=True)
for form in '1.14', '1.17', '1.20', '1.20.2', 'disable-hook=all':
    for yaml in False, True:
        spec(ctk_edits(DEBIAN, form), yaml)
        for image in None, W + '/vol/glibc-rhel':
            missing, said = lacks(image)
            ok(missing == [], tag + "a spec of %s in %s: an image like %s's loads %d names" %
               (form, 'YAML' if yaml else 'JSON', 'RHEL' if image else 'Debian', len(NAMES)), said)
        r = sh('/usr/sbin/gpuhelperctl', 'cdi', 'validate', '--host', '/etc/cdi/nvidia.' + ('yaml' if yaml else 'json'))
        ok(not re.search('is no hook|is of no GPU driver', r.stdout), tag + '  validate knows its hooks and mounts', r.stdout)
spec(ctk_edits(DEBIAN, '1.17'), True, bom=True)
missing, said = lacks(None)
ok(missing == [], tag + 'YAML with a byte order mark is read', said)

# Files that have their SONAME as their name, which newer tool kits list, say nothing about the names of others.
host.policies(t10='pipeline = "ml/train";\nidentity = "claim";\ngpus = ( { vendor = "nvidia"; capabilities = '
              '[ "compute", "utility", "graphics", "display", "video", "ngx" ]; } );\n')
CORE = ['libcuda.so.' + VERSION, 'libnvidia-ml.so.' + VERSION]
for where in DEBIAN, RHEL:
    for own in None, 'libnvidia-nvvm70.so.4', 'libnvidia-api.so.1', 'libnvidia-egl-wayland.so.1', 'libnvidia-nvvm.so.4':
        files = CORE + ([own] if own else [])
        for f in files:
            make_library(f.split('.so.')[0], f.split('.so.')[1] if f == own else '1', '%s/%s' % (where, f))
        spec(ctk_edits(where, '1.20', files), True)
        names = ['libcuda.so.1', 'libcuda.so', 'libnvidia-ml.so.1'] + ([own] if own else [])
        for image in None, W + '/vol/glibc-rhel':
            missing, said = lacks(image, names)
            ok(missing == [] and 'warning' not in said, tag + "a spec with %s in %s: an image like %s's loads all names" %
               (own or 'no such library', where, 'RHEL' if image else 'Debian'), said)

# All libraries of driver 615 as tool kit 1.20 lists them on Fedora.  SIMULATED: the version is that of the loaded driver.
ALL = {s: '1' for s in ('libcuda libcudadebugger libnvcuvid libnvidia-allocator libnvidia-cfg libnvidia-encode libnvidia-fbc libnvidia-ml '
                        'libnvidia-ngx libnvidia-opencl libnvidia-opticalflow libnvidia-ptxjitcompiler libnvidia-sandboxutils '
                        'libnvidia-vksc-core libnvoptix libGLESv1_CM_nvidia').split()}
ALL.update({s: VERSION for s in ('libnvidia-eglcore libnvidia-glcore libnvidia-glsi libnvidia-glvkspirv libnvidia-gpucomp libnvidia-gtk3 '
                                 'libnvidia-pkcs11-openssl3 libnvidia-present libnvidia-rtcore libnvidia-tileiras libnvidia-tls '
                                 'libnvidia-wayland-client').split()})
ALL.update({'libEGL_nvidia': '0', 'libGLX_nvidia': '0', 'libGLESv2_nvidia': '2', 'libnvidia-nvvm': '4'})
OWN = {'libnvidia-nvvm70.so.4': '4', 'libnvidia-egl-gbm.so.1.1.2': '1', 'libnvidia-egl-wayland2.so.1.0.2': '1'}
files = ['%s.so.%s' % (stem, VERSION) for stem in ALL] + list(OWN)
for f in files:
    stem = f.split('.so.')[0]
    make_library(stem, OWN.get(f, ALL.get(stem)), '%s/%s' % (RHEL, f))
edits = ctk_edits(RHEL, '1.20', files)
edits['hooks'][0]['args'] += ['--link', 'libcuda.so.%s::%s/libcuda.so.1' % (VERSION, RHEL)]
edits['additionalGids'] = [44, 993]
spec(edits, True)
names = ['%s.so.%s' % l for l in ALL.items()] + ['%s.so.%s' % (f.split('.so.')[0], n) for f, n in OWN.items()]
for image in None, W + '/vol/glibc-rhel':
    missing, said = lacks(image, names)
    ok(missing == [] and 'warning' not in said, tag + "driver 615 on Fedora: an image like %s's loads %d libraries by their SONAMEs" %
       ('RHEL' if image else 'Debian', len(names)), said)
r = sh('/usr/sbin/gpuhelperctl', 'explain', '--identity', 'claim', '--pipeline', 'ml/train', '--gpus', '1')
listed = dict(re.findall(r'(?m)^  libraries for (\w+): (.*)$', r.stdout))
ok(set(', '.join(listed.values()).split(', ')) == set(names) and 'libcuda.so.1' in listed['compute'].split(', ') and
   'libnvidia-ml.so.1' in listed['utility'].split(', ') and 'libnvidia-encode.so.1' in listed['video'].split(', ') and
   'libGLX_nvidia.so.0' in listed['graphics'].split(', '), tag + '  explain lists all of them, by capability', r.stdout)
host.policies(t10='pipeline = "ml/train";\nidentity = "claim";\ngpus = ( { vendor = "nvidia"; capabilities = [ "compute", "utility" ]; } );\n')
r = json.loads(sh('/usr/sbin/gpuhelperctl', 'explain', '--json', '--identity', 'claim', '--pipeline', 'ml/train', '--gpus', '1').stdout)
ok(set(r['gives'].get('libraries', ())) == {'compute', 'utility'} and 'libcuda.so.1' in r['gives']['libraries']['compute'] and
   'libnvidia-encode.so.1' not in str(r), tag + '  only those of the policy\'s capabilities, as JSON', r)

# In a directory that no loader searches, known libraries are still found by their names; check warns of unknown ones.
write('/opt/driver/lib/libmakers-own.so.1', 'no library, and none that is known', 0o644)
edits = ctk_edits('/opt/driver/lib', '1.17')
edits['mounts'].append({'hostPath': '/opt/driver/lib/libmakers-own.so.1', 'containerPath': '/opt/driver/lib/libmakers-own.so.1', 'options': OPTIONS})
spec(edits, True)
missing, said = lacks(None)
ok(missing == [], tag + 'libraries in a directory of their own are found by name', said)
r = sh('/usr/sbin/gpuhelperctl', 'check')
ok('/opt/driver/lib/libmakers-own.so.1' in r.stdout and 'no loader looks in its directory' in r.stdout and 'cdi generate' in r.stdout,
   tag + 'check names the library that is not found, and a command that helps', r.stdout)

# a spec with hooks that do not run is accepted; a spec with hooks that would run is refused
host.settings('cdi_hooks = "allow";')
spec(ctk_edits(DEBIAN, '1.14'), False)
missing, said = lacks(None)
ok('not safe to run' in said and leases() == [], tag + 'cdi_hooks = "allow": a hook without an environment does not run', said)

# Allowed hooks make the names that they are for; all others are still added.  SIMULATED: these hooks make nothing.
write('/usr/bin/nvidia-cdi-hook', IDLE_HOOK, 0o755)
spec(dict(edits, hooks=ctk_edits(DEBIAN, '1.17')['hooks']), True)
r = sh('/usr/sbin/gpuhelperctl', 'check')
ok('libmakers-own' not in r.stdout, tag + 'cdi_hooks = "allow": check trusts the hook that updates the loader\'s cache', r.stdout)
spec(ctk_edits(DEBIAN, 'disable-hook=all'), True)
for image in None, W + '/vol/glibc-rhel':
    missing, said = lacks(image)
    ok(missing == [], tag + 'cdi_hooks = "allow": a spec without hooks, an image like %s\'s' % ('RHEL' if image else 'Debian'), said)
BY_CACHE = {n for n in NAMES if n != 'libcuda.so' and VERSION not in n}
for kept, want in (('update-ldcache create-symlinks', BY_CACHE | {'libcuda.so'}), ('update-ldcache', BY_CACHE), ('create-symlinks', {'libcuda.so'})):
    edits = ctk_edits(DEBIAN, '1.17')
    edits['hooks'] = [h for h in edits['hooks'] if h['args'][1] in kept.split()]
    spec(edits, True)
    missing, said = lacks(None)
    ok(set(missing) == want and 'warning' not in said, tag + '  a spec with %s: those names are left to the hook, and there is no warning' % kept, (missing, said))
done()
