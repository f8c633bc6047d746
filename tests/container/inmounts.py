#!/usr/bin/env python3
"""What a runtime makes, removes or writes beneath a bind mount's target.  None of it may reach a granted folder.

usage: inmounts.py RUNTIME CGROUP    (in tests/lib/sandbox.sh)

From the sources of runc (1.1 to 1.5.1) and crun (1.8 to 1.28).  A runtime mounts in the order of config.json; our
mounts come last.  «ro» says whether a read-only bind mount is read-only by then: runc makes each one so at once, crun
makes all of them so at the very end.

what it makes                      where                                              ro (runc, crun)  forbidden by
mount points of other mounts       runc rootfs_linux.go createMountpoint(),           yes, no          rootfs.c check_pair()
                                   crun linux.c do_mounts()
links for mounts (copy-symlink)    crun linux.c safe_create_symlink()                 -, no            rootfs.c check_pair()
copies for a tmpfs (tmpcopyup)     runc doTmpfsCopyUp(), crun handle_tmpcopyup():     -                nothing: in the tmpfs
cgroup v1: directories and links   runc mountCgroupV1(), crun do_mount_cgroup_v1():   -                rootfs.c check_pair():
                                   in a tmpfs of theirs                                                the tmpfs's target
linux.devices                      runc createDevices(), crun create_missing_devs()   yes, no          createdpaths.c created_paths_check()
default devices and /dev's links,  runc doSetupDev(), crun create_missing_devs()      yes, no          rootfs.c check_standard(),
/dev/ptmx is removed first                                                                             createdpaths.c created_paths_check()
/dev/console                       runc console_linux.go, crun create_missing_devs()  yes, no          the same
process.cwd                        runc prepareRootfs(), crun libcrun_set_mounts()    yes, no          createdpaths.c created_paths_check()
masked and read-only paths         runc finalizeRootfs(), crun                        -                nothing: they mount, and
                                   do_masked_and_readonly_paths()                                      make no mount point
output of hooks                    crun container.c open_hooks_output()               -                annotationkeys.c («run.oci.»)

A folder given for writing is the container's to write: what its own root could do does not count, so «rw» is tried
where the runtime would remove or make device nodes.
"""
import json, os, shutil, stat, subprocess
from lib import *

host, tag = able_host()
RO, RW = '/srv/datasets', '/srv/out'
ASK = ['BUILD_TEAM_NAME=ml', 'BUILD_PIPELINE_NAME=pr']
host.policies(t10='pipeline = "ml/pr"; identity = "claim";\n'
                  'folders = ( { path = "%s"; access = "ro"; }, { path = "%s"; access = "rw"; } );\n' % (RO, RW))
host.settings('privileged = "deny";')
images = 0


def tree(top):
    """All that could change in a folder."""
    found = []
    for d, dirs, files in os.walk(top):
        found += [(p, stat.S_IFMT(os.lstat(p).st_mode), os.lstat(p).st_rdev) for p in (os.path.join(d, n) for n in dirs + files)]
    return sorted(found)


def folders(owner):
    for top in RO, RW:
        shutil.rmtree(top, ignore_errors=True)
        os.makedirs(top + '/there/deep')
        os.symlink('there', top + '/link')
        write(top + '/ptmx', 'data\n')
        for d, dirs, files in os.walk(top):
            for n in [d] + [os.path.join(d, n) for n in dirs + files]:
                os.lchown(n, owner, owner)


def rootful(spec):
    """An engine's container without a user namespace."""
    for key in 'uidMappings', 'gidMappings':
        spec['linux'].pop(key, None)
    spec['linux']['namespaces'] = [n for n in spec['linux']['namespaces'] if n['type'] != 'user']
    spec['linux'].update(readonlyPaths=['/proc/bus', '/proc/fs', '/proc/irq', '/proc/sys', '/proc/sysrq-trigger'],
                         maskedPaths=['/proc/kcore', '/proc/keys', '/proc/timer_list', '/sys/firmware'])
    caps = ['CAP_CHOWN', 'CAP_SETUID', 'CAP_SETGID', 'CAP_KILL']
    spec['process']['capabilities'] = {k: caps for k in ('bounding', 'effective', 'permitted')}


def image(owner, links):
    """An image of its own, with links as a pull request's author would write them."""
    global images
    images += 1
    path = busybox_rootfs('%s/vol/in%d' % (W, images), owner)
    for name, to in links.items():
        at = path + name
        if os.path.isdir(at) and not os.path.islink(at):
            shutil.rmtree(at)
        os.makedirs(os.path.dirname(at), exist_ok=True)
        os.symlink(to, at)
        os.lchown(at, owner, owner)
    return path


def volume(owner, links):
    """A volume whose content the author chose: an input, say."""
    path = '%s/vol/input%d' % (W, images)
    os.makedirs(path)
    os.chown(path, owner, owner)
    for name, to in links.items():
        os.symlink(to, path + '/' + name)
    return path


def bundle(owner, wants, links={}, edit=lambda s: None, script='pwd'):
    def all_edits(spec):
        if owner == 0:
            rootful(spec)
        spec['root']['path'] = image(owner, links)
        edit(spec)
    return Bundle(host, env=ASK + ['GPUHELPER_GPUS=none', 'GPUHELPER_FOLDERS=' + wants], args=['/bin/sh', '-c', script], edit=all_edits)


def bare(owner, wants, **kw):
    """The same container by the runtime alone, with the folder mounted as gpuhelper would.  Returns whether it changed."""
    b = bundle(owner, wants, **kw)
    spec = json.loads(b.text)
    top, _, access = wants.partition(':')
    spec['mounts'].append({'destination': top, 'type': 'bind', 'source': top, 'options': ['rbind', access or 'ro', 'nosuid', 'nodev']})
    write(b.dir + '/config.json', json.dumps(spec))
    before = tree(top)
    sh(host.runtime, '--root', W + '/bare', 'run', '--bundle', b.dir, b.id, cwd=b.dir)
    sh(host.runtime, '--root', W + '/bare', 'delete', '--force', b.id)
    changed = tree(top) != before
    folders(owner)
    return changed


written = []


def refused(what, says, owner, wants, **kw):
    if bare(owner, wants, **kw):
        written.append(what)
    top = wants.partition(':')[0]
    before = tree(top)
    b = bundle(owner, wants, **kw)
    r = b.run()
    ok(r.returncode == 1 and says in r.stdout, tag + 'refused: ' + what, r.stdout)
    ok(tree(top) == before, tag + '  the host\'s folder is as it was', set(tree(top)) ^ set(before))
    folders(owner)


def runs(what, owner, wants, out, **kw):
    top = wants.partition(':')[0]
    before = tree(top)
    r = bundle(owner, wants, **kw).run()
    ok(r.returncode == 0 and out in r.stdout.split(), tag + 'runs: ' + what, r.stdout)
    ok(tree(top) == before, tag + '  the host\'s folder is as it was', set(tree(top)) ^ set(before))
    folders(owner)


def cwd(path):
    return lambda s: s['process'].update(cwd=path)


def both(*edits):
    return lambda s: [e(s) for e in edits]


def binds(target, links):
    return lambda s: s['mounts'].append({'destination': target, 'type': 'bind', 'source': volume(MAXID, links), 'options': ['rbind', 'rw']})


def device(path):
    return lambda s: s['linux'].setdefault('devices', []).append({'path': path, 'type': 'c', 'major': 1, 'minor': 3, 'fileMode': 0o666})


def without_dev(s):
    s['mounts'] = [m for m in s['mounts'] if not m['destination'].startswith('/dev')]


MAKE, BLIND, NOT_THERE, LEADS, MOVE = 'the runtime would make', "can't be seen before it runs", 'is not there', 'links in the image lead', 'move that input'
for owner, whose in (0, 'root'), (MAXID, 'userns'):
    folders(owner)
    w = whose + ': '
    # process.cwd, which an image's WORKDIR becomes
    refused(w + 'WORKDIR in a folder given for reading', MAKE, owner, RO, edit=cwd(RO + '/made/by/pr'))
    refused(w + 'WORKDIR in an existing directory of the folder', MAKE, owner, RO, edit=cwd(RO + '/there/made'))
    refused(w + 'WORKDIR through a link in the folder', MAKE, owner, RO, edit=cwd(RO + '/link/made'))
    refused(w + 'WORKDIR through a link in the image', MAKE, owner, RO, edit=cwd('/w/pr'), links={'/w': RO + '/made'})
    refused(w + 'WORKDIR through a link to a link', MAKE, owner, RO, edit=cwd('/a/pr'), links={'/a': 'b/../b/./c', '/b/c': '../srv/datasets'})
    refused(w + 'WORKDIR through a link in a volume', MAKE, owner, RO, edit=both(cwd('/in/x/made'), binds('/in', {'x': RO})))
    refused(w + 'WORKDIR through a link in the image to one in a volume', MAKE, owner, RO,
            edit=both(cwd('/w/made'), binds('/in', {'x': '../srv/datasets'})), links={'/w': '/in/x', '/in/x': '/tmp'})
    # what a later mount hides is not there
    refused(w + 'WORKDIR through a link in a volume that hides an earlier mount', MAKE, owner, RO, edit=both(cwd('/in/x/made'), lambda s:
            s['mounts'].append({'destination': '/in/x', 'type': 'tmpfs', 'source': 'tmpfs', 'options': ['mode=1777']}), binds('/in', {'x': RO})))
    refused(w + 'WORKDIR that ends for a runtime in C before it ends for us', 'process.cwd', owner, RO, edit=cwd(RO + '/made\0/x'))
    refused(w + 'WORKDIR that leaves the folder again', MAKE, owner, RO, edit=cwd(RO + '/made/../../../tmp'))
    refused(w + 'WORKDIR in a folder given for writing', MAKE, owner, RW + ':rw', edit=cwd(RW + '/made'))
    # /proc and the runtime's own links into it, which lead back to the container's mounts
    for place in '/proc/self/root', '/proc/thread-self/cwd', '/proc/1/root', '/proc/self/task/../root', '/dev/fd/../root':
        refused(w + 'WORKDIR in a folder for writing through %s' % place, BLIND, owner, RW + ':rw', edit=cwd(place + RW + '/made'))
    refused(w + 'WORKDIR through a link in the image to /proc', BLIND, owner, RW + ':rw', edit=cwd('/w/made'), links={'/w': '/proc/self/root' + RW})
    refused(w + 'WORKDIR through a link in a volume to /proc', BLIND, owner, RW + ':rw',
            edit=both(cwd('/in/x/made'), binds('/in', {'x': '/proc/self/root' + RW})))
    runs(w + 'WORKDIR is /proc', owner, RO, '/proc', edit=cwd('/proc'))
    runs(w + 'WORKDIR is an existing directory', owner, RO, RO + '/there/deep', edit=cwd(RO + '/there/deep'))
    runs(w + 'WORKDIR exists behind a link in the folder', owner, RO, RO + '/there/deep', edit=cwd(RO + '/link/deep'))
    runs(w + 'WORKDIR is the folder', owner, RO, RO, edit=cwd(RO))
    runs(w + 'WORKDIR is made in the image', owner, RO, '/made/here', edit=cwd('/made/here'))
    runs(w + 'WORKDIR is made in a volume', owner, RO, '/in/made', edit=both(cwd('/in/made'), binds('/in', {})))
    runs(w + 'WORKDIR is made in a tmpfs, where the image has a link', owner, RO, '/t/x/y', links={'/t/x': RO}, edit=both(cwd('/t/x/y'),
         lambda s: s['mounts'].append({'destination': '/t', 'type': 'tmpfs', 'source': 'tmpfs', 'options': ['mode=1777']})))
    # the folder in the place of what runtimes fill
    for place in '/dev', '/proc', '/sys', '/dev/shm', '/dev/pts', '/sys/fs/cgroup', '/dev/new', '/proc/self':
        for wants in RO, RW + ':rw':
            refused(w + '%s is a link to %s' % (wants, place), LEADS, owner, wants, links={wants.partition(':')[0]: place})
    refused(w + 'a link to a link to /dev', LEADS, owner, RO, links={RO: '/x', '/x': 'y/z', '/y/z': '../dev/.'})
    # what runtimes fill in the folder's place
    for place in '/dev', '/proc', '/sys':
        refused(w + '%s is a link to the folder' % place, '', owner, RO, links={place: RO})
    refused(w + '/dev is a link to the folder, and nothing is mounted there', LEADS, owner, RO, links={'/dev': '..' + RO}, edit=without_dev)
    for wants in RO, RW + ':rw':
        refused(w + '%s, and /dev is a link to one in a volume' % wants, MAKE, owner, wants, links={'/dev': '/in/x'},
                edit=binds('/in', {'x': wants.partition(':')[0]}))
    refused(w + '/dev is a link into the folder for writing', LEADS, owner, RW + ':rw', links={'/dev': RW + '/there'}, edit=without_dev)
    # devices
    refused(w + 'a device in the folder', MAKE, owner, RO, edit=device(RO + '/null'))
    refused(w + 'a device deep in the folder', MAKE, owner, RO, edit=device(RO + '/made/null'))
    refused(w + 'a device behind a link in the image', MAKE, owner, RO, edit=device('/d/null'), links={'/d': RO})
    refused(w + 'a device behind a link in a volume', MAKE, owner, RO, edit=both(device('/in/x/null'), binds('/in', {'x': RO})))
    # the device's own name as a link: crun makes a file behind it in a user namespace
    refused(w + 'a device whose name is a link in the image', MAKE, owner, RO, edit=device('/opt/null'), links={'/opt/null': RO + '/made'})
    refused(w + 'a device whose name is a link in a volume', MAKE, owner, RO, edit=both(device('/in/null'), binds('/in', {'null': RO + '/made'})))
    refused(w + 'a device whose name is a link to a link', MAKE, owner, RO,
            edit=both(device('/opt/null'), binds('/in', {'x': '../srv/datasets'})), links={'/opt/null': '/in/x/made'})
    if owner == 0 or host.name == 'crun':       # runc 1.1 can't make such a device in a user namespace
        runs(w + 'a device whose name is a link elsewhere', owner, RO, '/', edit=device('/opt/null'), links={'/opt/null': '/tmp/made'})
    refused(w + 'a device in the folder for writing', MAKE, owner, RW + ':rw', edit=device(RW + '/null'))
    # other mounts
    refused(w + 'a mount point in the folder', MOVE, owner, RO, edit=binds(RO + '/made', {}))
    refused(w + 'a mount point behind a link in the image', MOVE, owner, RO, edit=binds('/in/made', {}), links={'/in': RO})
    for kind in 'tmpfs', 'cgroup':
        refused(w + 'a %s behind a link in the image' % kind, MOVE, owner, RO, links={'/in': RO},
                edit=lambda s: s['mounts'].append({'destination': '/in/made', 'type': kind, 'source': kind, 'options': ['nosuid', 'noexec', 'nodev']}))
    # what makes nothing
    runs(w + 'masked and read-only paths in the folder', owner, RO, '/', edit=lambda s: (
        s['linux'].setdefault('maskedPaths', []).append(RO + '/made'), s['linux'].setdefault('readonlyPaths', []).append(RO + '/made/too')))
    runs(w + 'a terminal', owner, RO, '/')
print('# the runtime alone changes the folder, where: ' + '; '.join(written))
ok(len(written) > (20 if host.name == 'crun' else 4), tag + 'control: the runtime alone changes folders, in %d cases' % len(written))
for d in os.listdir(W + '/vol'):
    if d.startswith('in'):
        shutil.rmtree(W + '/vol/' + d)
done()
