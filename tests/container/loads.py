"""What a program loads in a granted container, by name, and which of the host's files answers.

The driver's libraries are those of driverhost.py.  The images have a real C library (lib.py): one is like Debian's, and the
other one's loader searches RHEL's directories.
"""
import os, re, shutil, subprocess
import driverhost
from lib import *

# What the loaders search without a cache; programs open plug-ins in the last of these directories.
IMAGES = {'Debian': ['/lib/x86_64-linux-gnu', '/lib', '/usr/lib', '/usr/lib/x86_64-linux-gnu'],
          'RHEL': ['/lib64', '/usr/lib64']}
CTL = '/usr/sbin/gpuhelperctl'
TRAIN = ['BUILD_TEAM_NAME=ml', 'BUILD_PIPELINE_NAME=train', 'GPUHELPER_GPUS=1']
LOADED = open('/proc/driver/nvidia/version').read()


def install(make, driver, layout):
    """Installs a driver, and has the kernel's module be of its version."""
    installed = driverhost.Installed(make, driver, layout)
    write('/proc/driver/nvidia/version', re.sub(r'\d{3}\.\d+\.\d+', installed.version, LOADED), 0o444)
    return installed


def only_spec(write_spec):
    """Leaves no other spec than the one that this function writes into a directory."""
    for d in '/etc/cdi', '/run/cdi':
        shutil.rmtree(d, ignore_errors=True)
    return write_spec('/etc/cdi')


class Loads:
    """Containers on this host.  The checks' names begin with «tag»."""

    def __init__(self, host, tag):
        self.host, self.tag = host, tag
        for name in IMAGES:
            glibc_image('%s/vol/image-%s' % (W, name), rhel=name == 'RHEL')
        self.policy()

    def policy(self, rule='capabilities = [ "all" ];', rest=''):
        self.host.policies(t10='pipeline = "ml/train";\nidentity = "claim";\ngpus = ( { vendor = "nvidia"; %s } );\n%s\n' %
                           (rule, rest))

    def run(self, image, *args):
        """Runs a command in a container.  Returns its output."""
        path = '%s/vol/loads%d' % (W, Bundle.count)
        subprocess.check_call(['cp', '-al', '%s/vol/image-%s' % (W, image), path])     # the runtime makes mount points in it
        b = Fresh(self.host, env=TRAIN, image=path, args=args)
        said = b.run().stdout
        shutil.rmtree(path)
        shutil.rmtree(b.dir)
        return said

    def load(self, image, names):
        """Loads these names in a container.  Returns what each of them gave, and the whole output."""
        said = self.run(image, '/bin/prog', *names)
        return dict(re.findall(r'(?m)^(\S+): (.*)$', said)), said

    def finds(self, name, names_in):
        """A program in each image loads each name from the host's file, and nothing warns of missing ones.

        names_in(the loader's directories) returns the names and their files.
        """
        wrong = []
        for image in IMAGES:
            names = names_in(IMAGES[image])
            found, said = self.load(image, names)
            lacks = ['%s: %s, not %s' % (n, found.get(n), f) for n, f in names.items() if found.get(n) != f]
            messages = [l for l in said.splitlines() if re.match('gpuhelper: (?!GPU )', l)]
            if lacks or messages:
                wrong += ['an image like %s: %d of %d names are wrong' % (image, len(lacks), len(names))]
                wrong += messages + lacks[:12]
        ok(wrong == [], self.tag + name, '\n'.join(wrong))

    def refused(self, name, *words, without=()):
        """A container is refused with these words, and without those; no lease is left."""
        said = self.run('Debian', '/bin/echo', 'it runs')
        ok('it runs' not in said and all(w in said for w in words) and not any(w in said for w in without) and leases() == [],
           self.tag + name, said)
