"""The measured items: their names, the commands that are compared, and the targets.

Each function prepares the host, and yields (item, label, base command, commands to compare with it).  Results and
targets use the same key for an item.
"""
import json, os, shutil, subprocess, sys, tempfile, time
import driver
from stage import BIN, DEVICES, ENV, ROOT, ROOTFS, RUNTIME, TEAM, W, WRAPPER, asked, create, crowd, end_processes, folder_rules, verb
from lib import TESTS, open_door, write

GPUS = 'gpus = ( { vendor = "nvidia"; count = 8; } );\n'
CALLER = 'identity = "caller"; callers = [ "root" ];\n'
URL = 'https://ci.example.org'
SHELL = os.path.dirname(os.path.abspath(__file__)) + '/shell-wrapper.sh'
SHELL_ENV = {'BENCH_RUNTIME': RUNTIME}
FLOOR = {'FLOOR_RUNTIME': RUNTIME}


def peers():
    """The vendors' runtimes installed here, {name: (program, environment)}, and the missing ones."""
    write(W + '/nvidia/nvidia-container-runtime/config.toml',
          '[nvidia-container-runtime]\nmode = "cdi"\nruntimes = ["%s"]\n' % RUNTIME)
    found, absent = {}, []
    for name, env in (('nvidia-container-runtime', {'XDG_CONFIG_HOME': W + '/nvidia'}),
                      ('amd-container-runtime', {'PATH': W + '/bin:/usr/bin:/bin'})):
        if shutil.which(name):
            found[name] = (shutil.which(name), env)
        else:
            absent.append(name)
    return found, absent


def beside(found, make):
    return {name: make(program, env) for name, (program, env) in found.items()}


def empty(stage, found):
    yield 'empty', 'an empty static program', dict(arg=[RUNTIME], env=ENV), {'empty': dict(arg=[BIN + '/empty'], env=ENV)}


def passed(stage, found):
    for v in ('state', 'start', 'kill'):
        yield v, '`%s`' % v, verb(RUNTIME, v, 'bench-x'), {'gpuhelper': verb(WRAPPER, v, 'bench-x'),
            **beside(found if v == 'state' else {}, lambda p, e: verb(p, v, 'bench-x', env=e))}


def plain(stage, found):
    t = stage.template(TEAM)
    yield 'plain', '`create`, plain', create(RUNTIME, t, granted=True), {
        'gpuhelper': create(WRAPPER, t, granted=True), 'floor': create(BIN + '/floor', t, env=FLOOR, granted=True),
        'bash + jq': create(SHELL, t, env=SHELL_ENV, granted=True),
        **beside(found, lambda p, e: create(p, t, env=e, granted=True))}
    # Concourse's own choice where the kernel has overlayfs: each volume is a mount
    t = stage.template(TEAM, edit=lambda s: s['root'].update(path=stage.overlay()))
    yield 'plain-overlay', '`create`, plain, root.path is an overlay', create(RUNTIME, t, granted=True, root=stage.overlay()), {
        'gpuhelper': create(WRAPPER, t, granted=True, root=stage.overlay())}


def grants(stage, found):
    """One GPU, with folders or without."""
    driver.install(None)
    paths, space = stage.folders(2)
    stage.host.policies(t10=CALLER + GPUS + folder_rules(paths))
    t = stage.template(TEAM + ['GPUHELPER_GPUS=1'])
    yield 'gpu', '1 GPU', create(RUNTIME, t, granted=True), {'gpuhelper': create(WRAPPER, t, granted=True)}
    t = stage.template(TEAM + ['GPUHELPER_GPUS=1', asked(paths)])
    more = dict(granted=True, space=space)
    yield 'gpu-2-folders', '1 GPU, 2 folders', create(RUNTIME, t, **more), {
        'gpuhelper': create(WRAPPER, t, **more),
        'floor, and one program': create(BIN + '/floor', t, env=dict(FLOOR, FLOOR_STARTS=BIN + '/libraries'), **more),
        'bash + jq': create(SHELL, t, env=SHELL_ENV, **more)}
    t = stage.template(TEAM + ['GPUHELPER_GPUS=8'])
    yield '8-gpus', '8 GPUs', create(RUNTIME, t, granted=True), {'gpuhelper': create(WRAPPER, t, granted=True)}


def door(stage, found):
    driver.install(None)
    paths, space = stage.folders(2)
    stage.host.policies(t10=CALLER + GPUS + folder_rules(paths))
    stage.host.settings('door = "socket";')
    service = open_door(bit=True)
    t = stage.template(TEAM + ['GPUHELPER_GPUS=1', asked(paths)])
    more = dict(granted=True, space=space)
    yield 'socket', 'the same, over the socket', create(RUNTIME, t, **more), {'gpuhelper': create(WRAPPER, t, **more)}
    service.terminate()
    service.wait()
    os.unlink('/run/gpuhelper/gpuhelper.sock')
    stage.host.settings()


TOKENS = 150
OTHERS = 400


def token(stage, found):
    sys.path.insert(0, TESTS + '/fixtures/jwt')
    import mkvectors as jwt
    tmp = tempfile.mkdtemp()
    key = jwt.Key(tmp, 'ec', 'es-1')
    write('/etc/gpuhelper/keys/ci.json', json.dumps({'keys': [key.jwk]}))
    stage.host.settings('issuers = ( { url = "%s"; audience = "gpuhelper"; keys = "/etc/gpuhelper/keys/ci.json"; } );' % URL)
    paths, space = stage.folders(2)
    stage.host.policies(t10='pipeline = "ml/train";\n' + GPUS + folder_rules(paths))
    now = int(time.time())
    for i in range(TOKENS):
        body = jwt.claims(iss=URL, iat=now - 5, exp=now + 3000, **{'jti': str(i)})
        stage.template(TEAM + ['GPUHELPER_TOKEN=' + jwt.sign(key, jwt.header(key), body), 'GPUHELPER_GPUS=1', asked(paths)],
                       name='%s/token/%d.json' % (W, i))
    more = dict(granted=True, space=space)
    t = W + '/token/%.json'
    yield 'token', 'the same, by token', create(RUNTIME, t, **more), {'gpuhelper': create(WRAPPER, t, **more)}
    stage.host.settings()


def driver_files(stage, found):
    stage.host.policies(t10=CALLER + GPUS)
    t = stage.template(TEAM + ['GPUHELPER_GPUS=1'])
    cdi = stage.template(TEAM + ['NVIDIA_VISIBLE_DEVICES=nvidia.com/gpu=0'])
    for form in 'json', 'yaml':
        driver.install(form)
        yield 'cdi-' + form, '1 GPU, 40 driver files (%s)' % form.upper(), create(RUNTIME, t, granted=True), {
            'gpuhelper': create(WRAPPER, t, granted=True),
            **beside({k: v for k, v in found.items() if k.startswith('nvidia')}, lambda p, e: create(p, cdi, env=e, granted=True))}
    driver.install(None)


def folders(stage, found):
    for n in 32, 1000:
        paths, space = stage.folders(n)
        stage.host.policies(t10=CALLER + folder_rules(paths))
        t = stage.template(TEAM + ['GPUHELPER_FOLDERS=all'])
        shell = stage.template(TEAM + [asked(paths)])
        more = dict(granted=True, space=space)
        others = {'bash + jq': create(SHELL, shell, env=SHELL_ENV, **more)} if n == 32 else {}
        yield '%d-folders' % n, '%s folders' % format(n, ','), create(RUNTIME, t, **more), {
            'gpuhelper': create(WRAPPER, t, **more), **others}


def one_alive(stage, template, ident, space=None):
    """A container with a grant and a live first process; call the result to end it."""
    bundle, group = '%s/alive/%s' % (W, ident), '%s/garden/%s' % (DEVICES, ident)
    os.makedirs(bundle)
    os.makedirs(group)
    shutil.copy(template, bundle + '/config.json')
    env = dict(ENV, BENCH_CGROUP=group + '/cgroup.procs', BENCH_ROOT=ROOTFS)
    if space:
        env['BENCH_MOUNTS'] = space
    subprocess.run([WRAPPER, '--root', ROOT, 'create', '--bundle', bundle, ident], env=env, check=True, timeout=60,
                   stdin=subprocess.DEVNULL)

    def end():
        end_processes(group)
        subprocess.run([WRAPPER, '--root', ROOT, 'delete', ident], env=ENV, check=True, stdin=subprocess.DEVNULL, timeout=60)
        os.rmdir(group)
        shutil.rmtree(bundle)
    return end


def pauses_by_runtime(spec):
    """The runtime's stand-in, which stays, is the process 1 that pauses."""
    for m in spec['mounts']:
        if m['destination'] == '/tmp/gdn-init':
            m['source'] = RUNTIME


def beside_processes(stage, found):
    """Plain, and one GPU, while 400 other processes run, each of which may have the GPU open or the root directory mounted."""
    driver.install(None)
    stage.host.policies(t10=CALLER + GPUS)
    plain, gpu = (stage.template(TEAM + more) for more in ([], ['GPUHELPER_GPUS=1']))
    with crowd() as grow:
        grow(OTHERS)
        for key, label, t in ('plain-processes', '`create`, plain, beside %d processes', plain), ('gpu-processes', '1 GPU, beside %d processes', gpu):
            yield key, label % OTHERS, create(RUNTIME, t, granted=True), {'gpuhelper': create(WRAPPER, t, granted=True)}


def execs(stage, found):
    driver.install(None)
    stage.host.policies(t10=CALLER + GPUS)
    process = json.load(open(TESTS + '/fixtures/oci/exec-task.process.json'))
    process.update(terminal=False)
    process.pop('consoleSize', None)
    p = write(W + '/process.json', json.dumps(process))
    for item, label, settings in (
            ('exec', '`exec` in a container with a GPU', 'placeholder_init = [];'),
            ('exec-idle', '`exec` where process 1 only pauses (Concourse)', 'placeholder_init = [ "/tmp/gdn-init" ];')):
        stage.host.settings(settings)
        t = stage.template(TEAM + ['GPUHELPER_GPUS=1'], edit=pauses_by_runtime)
        end = one_alive(stage, t, item)
        yield item, label, verb(RUNTIME, 'exec', '--process', p, item), {'gpuhelper': verb(WRAPPER, 'exec', '--process', p, item)}
        end()
    stage.host.settings()


ALL = (empty, passed, plain, grants, door, token, driver_files, folders, beside_processes, execs)
