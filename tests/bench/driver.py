"""A set of driver files and its CDI spec, in the form that nvidia-ctk writes: 8 GPUs, 40 mounts.  The files are the
benchmark's own.
"""
import json, os, re, shutil, subprocess
from stage import W, write

PLACE = '/usr/lib/x86_64-linux-gnu'
LIBRARIES, PROGRAMS, FIRMWARE = 34, 4, 2
OPTIONS = ['ro', 'nosuid', 'nodev', 'rbind', 'rprivate']
HOOK = '/usr/bin/nvidia-cdi-hook'


def make_files():
    """The files' paths: libraries with a SONAME each, programs, firmware."""
    version = re.search(r'(\d{3}\.\d+\.\d+)', open('/proc/driver/nvidia/version').read()).group(1)
    os.makedirs(PLACE, exist_ok=True)
    c = write(W + '/driver.c', 'int driver_version(void); int driver_version(void) { return 1; }\n')
    subprocess.check_call(['cc', '-shared', '-fPIC', '-nostdlib', '-Wl,-soname,libnvidia-bench00.so.1', '-o', W + '/driver.so', c])
    library = open(W + '/driver.so', 'rb').read()
    files = []
    for i in range(LIBRARIES):
        files.append('%s/libnvidia-bench%02d.so.%s' % (PLACE, i, version))
        with open(files[-1], 'wb') as f:
            f.write(library.replace(b'libnvidia-bench00.so.1', b'libnvidia-bench%02d.so.1' % i))
        os.chmod(files[-1], 0o755)
    for i in range(PROGRAMS):
        files.append('/usr/bin/nvidia-bench-%d' % i)
        shutil.copy('/bin/true', files[-1])
    for i in range(FIRMWARE):
        files.append('/usr/lib/firmware/nvidia/%s/gsp_bench%d.bin' % (version, i))
        write(files[-1], 'firmware\n')
    return files, version


def spec(files, version, gpus):
    def hook(*args):
        return {'hookName': 'createContainer', 'path': HOOK, 'args': [os.path.basename(HOOK), *args],
                'env': ['NVIDIA_CTK_DEBUG=false']}
    edits = {'env': ['NVIDIA_VISIBLE_DEVICES=void'],
             'deviceNodes': [{'path': p} for p in ('/dev/nvidiactl', '/dev/nvidia-uvm', '/dev/nvidia-uvm-tools')],
             'hooks': [hook('create-symlinks', '--link', 'libcuda.so.1::%s/libcuda.so' % PLACE),
                       hook('update-ldcache', '--folder', PLACE), hook('enable-cuda-compat', '--host-driver-version=' + version)],
             'mounts': [{'hostPath': f, 'containerPath': f, 'options': OPTIONS} for f in files]}
    devices = [{'name': str(n), 'containerEdits': {'deviceNodes': [{'path': '/dev/nvidia%d' % n}]}} for n in range(gpus)]
    return {'cdiVersion': '0.5.0', 'kind': 'nvidia.com/gpu', 'containerEdits': edits, 'devices': devices}


def block(value, indent=''):
    """YAML in the tool kit's style."""
    if isinstance(value, dict):
        return ''.join('%s%s:%s' % (indent, k, '\n' + block(v, indent + '    ') if isinstance(v, (dict, list)) else
                                    ' %s\n' % json.dumps(v)) for k, v in value.items())
    return ''.join('%s-\n%s' % (indent, block(v, indent + '    ')) if isinstance(v, (dict, list)) else
                   '%s- %s\n' % (indent, json.dumps(v)) for v in value)


def install(form, gpus=8):
    """Writes the spec as JSON or YAML; None: no spec."""
    shutil.rmtree('/etc/cdi', ignore_errors=True)
    if form is None:
        return
    s = spec(*make_files(), gpus)
    write('/etc/cdi/nvidia.' + form, '---\n' + block(s) if form == 'yaml' else json.dumps(s))
