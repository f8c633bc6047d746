#!/usr/bin/env python3
"""Specs of many hosts: which of the driver's names a program loads in a container.

usage: ctkmatrix.py RUNTIME CGROUP    (in tests/lib/sandbox.sh --gpu nvidia-2gpu)

The specs have the forms of nvidia-ctk 1.14 to 1.20, for drivers 535 to 615, in the layouts of several systems
(ctkforms.py, driverhost.py).  With ATTACK_LONG each form is tried with each driver in each layout; else each pair of a form, a driver and
a layout occurs.  At the end gpuhelperctl writes the specs of the same hosts.  The GPUs and the driver's files are
SIMULATED.
"""
import itertools, os, re
from ctkforms import FORMS, Form
from driverhost import DRIVERS, LAYOUTS, Maker
from lib import *
from loads import *

host, tag = able_host()
loads = Loads(host, tag)
make = Maker(W + '/made')
LONG = bool(os.environ.get('ATTACK_LONG'))

for (l, layout), (d, driver) in itertools.product(enumerate(LAYOUTS), enumerate(DRIVERS)):
    forms = [f for n, f in enumerate(FORMS) if LONG or (n + l) % len(DRIVERS) == d]
    installed = install(make, driver, layout)
    for form in forms:
        name = '%s, driver %d, nvidia-ctk %s' % (layout, driver, form)
        spec = Form(installed, form)
        path = only_spec(spec.write)
        loads.finds(name, spec.names)
        r = sh(CTL, 'cdi', 'validate', '--host', path)
        ok(r.returncode == 0 and not re.search('is no hook|is of no GPU driver', r.stdout), tag + '  validate accepts it',
           r.stdout)
    installed.remove()

# Each capability has the libraries that its programs need, and no others.
GIVES = {'compute': 'libcuda.so.1 libcuda.so libcudadebugger.so.1 libnvidia-ptxjitcompiler.so.1 libnvidia-nvvm.so.4 '
                    'libnvidia-nvvm70.so.4 libnvidia-opencl.so.1',
         'utility': 'libnvidia-ml.so.1 libnvidia-cfg.so.1',
         'video': 'libnvidia-encode.so.1 libnvcuvid.so.1 libnvidia-opticalflow.so.1 libnvidia-opticalflow.so',
         'graphics': 'libGLX_nvidia.so.0 libEGL_nvidia.so.0 libGLESv2_nvidia.so.2 libnvoptix.so.1 libnvidia-egl-gbm.so.1',
         'ngx': 'libnvidia-ngx.so.1'}
installed = install(make, 615, 'RHEL')
spec = Form(installed, '1.20.2')
only_spec(spec.write)
for (capability, gives), image in itertools.product(GIVES.items(), IMAGES):
    loads.policy('capabilities = [ "%s" ];' % capability)
    files = spec.names(IMAGES[image])
    found, said = loads.load(image, ' '.join(GIVES.values()).split())
    ok([n for n in found if found[n] == files[n]] == gives.split(),
       tag + 'an image like %s: %s alone gives its own libraries, with what they need' % (image, capability), said)
installed.remove()
loads.policy()

# gpuhelperctl's own specs
CONF = '/etc/ld.so.conf.d/test-driver.conf'
for layout in LAYOUTS:
    installed = install(make, 595, layout)
    write(CONF, installed.lib + '\n' if installed.is_cached else '')
    sh('ldconfig')
    r = only_spec(lambda where: sh(CTL, 'cdi', 'generate', '--vendor', 'nvidia', '--output', where + '/'))
    if ok(r.returncode == 0, tag + '%s, driver 595: gpuhelperctl makes a spec' % layout, r.stdout):
        loads.finds('  all names are found', Form(installed, '1.20.2 --disable-hook=all').names)
    installed.remove()
done()
