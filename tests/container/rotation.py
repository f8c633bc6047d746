#!/usr/bin/env python3
"""The issuer signs with a new key: the wrapper has it fetched, and the build goes on.  Forged tokens make no flood of fetches.

usage: rotation.py RUNTIME CGROUP [socket]    (in tests/lib/sandbox.sh --gpu nvidia-2gpu; needs openssl)

The issuer is an HTTPS server of the test's own.  A thread stands in for systemd: it does what the installed units
gpuhelper-keys.socket, -asked.service and .service say, read from their files.  vm/jobs/door.sh has real systemd do that.
«socket»: the helper is behind its socket, without a setuid bit.
"""
import http.server, json, os, select, socket, ssl, subprocess, sys, tempfile, threading, time
from lib import *
sys.path.insert(0, TESTS + '/fixtures/jwt')
import mkvectors as jwt

host, tag = able_host()
if sys.argv[3:] == ['socket']:
    door = open_door()
    tag += 'socket door: '
tmp = tempfile.mkdtemp()
os.chmod(tmp, 0o755)
UNITS = '/usr/lib/systemd/system/gpuhelper-keys'
KEYS, SOCK = '/etc/gpuhelper/keys/ci.json', '/run/gpuhelper/keys.sock'


class Issuer(http.server.BaseHTTPRequestHandler):
    keys, fetches = [], []      # its public keys; when they were fetched

    def do_GET(self):
        if self.path == '/keys':
            Issuer.fetches.append(time.monotonic())
        body = json.dumps({'keys': [k.jwk for k in Issuer.keys]} if self.path == '/keys' else {'issuer': URL, 'jwks_uri': URL + '/keys'}).encode()
        self.send_response(200)
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


def openssl(*args):
    subprocess.run(['openssl', *args], cwd=tmp, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


EC = ('-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes')
openssl('req', '-x509', *EC, '-keyout', 'ca.key', '-out', 'ca.pem', '-days', '2', '-subj', '/CN=ca', '-addext', 'keyUsage=critical,keyCertSign')
openssl('req', *EC, '-keyout', 'leaf.key', '-out', 'leaf.csr', '-subj', '/CN=issuer')
write(tmp + '/ext', 'subjectAltName=DNS:localhost\n')
openssl('x509', '-req', '-in', 'leaf.csr', '-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-days', '2', '-extfile', 'ext', '-out', 'leaf.pem')
server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Issuer)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(tmp + '/leaf.pem', tmp + '/leaf.key')
server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
URL = 'https://localhost:%d' % server.server_port
threading.Thread(target=server.serve_forever, daemon=True).start()


def setting(unit, key):
    """The last value of this key in an installed unit's file."""
    return [l.split('=', 1)[1].strip() for l in open(UNITS + unit) if l.startswith(key + '=')][-1]


def fetch():
    """What gpuhelper-keys.service does: an unprivileged user fetches, root installs."""
    drop = tempfile.mkdtemp()
    os.chown(drop, 65534, 65534)
    words = setting('.service', 'ExecStart').replace('%t/gpuhelper-keys', drop).split()
    sh('setpriv', '--reuid', '65534', '--clear-groups', '--no-new-privs', *words, '--cacert', tmp + '/ca.pem')
    sh(*setting('.service', 'ExecStopPost').lstrip('+').replace('%t/gpuhelper-keys', drop).split())


class Systemd(threading.Thread):
    """Listens as gpuhelper-keys.socket does, until stop()."""

    def __init__(self):
        super().__init__(daemon=True)
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(setting('.socket', 'ListenStream'))
        self.listener.listen(4096)
        shutil.chown(SOCK, setting('.socket', 'SocketUser'), setting('.socket', 'SocketGroup'))
        os.chmod(SOCK, int(setting('.socket', 'SocketMode'), 8))
        self.stopped = threading.Event()
        self.starts = []        # of the service: when
        self.start()

    def run(self):
        while not self.stopped.is_set():
            if not select.select([self.listener], [], [], 0.05)[0]:
                continue
            self.starts.append(time.monotonic())
            assert 'gpuhelper-keys.service' in setting('-asked.service', 'Wants')
            fetch()
            self.stopped.wait(float(setting('-asked.service', 'ExecStart').split()[1]))
            while setting('.socket', 'FlushPending') == 'yes' and select.select([self.listener], [], [], 0)[0]:
                self.listener.accept()[0].close()

    def stop(self):
        self.stopped.set()
        self.join()
        self.listener.close()
        os.unlink(SOCK)


def token(key, **more):
    now = int(time.time())
    return jwt.sign(key, jwt.header(key), jwt.claims(**{'iss': URL, 'iat': now - 5, 'exp': now + 600, **more}))


class Build(threading.Thread):
    """A build with this token, which runs beside the test; «took» is how long."""

    def __init__(self, tok):
        super().__init__()
        self.bundle = Bundle(host, env=['GPUHELPER_TOKEN=' + tok, 'GPUHELPER_FOLDERS=all'], args=['/bin/cat', '/srv/datasets/x'])
        self.start()

    def run(self):
        began = time.monotonic()
        self.result = self.bundle.run()
        self.took = time.monotonic() - began

    def end(self):
        self.join()
        self.told = self.result.stdout.strip()
        self.events = [(r['event'], r.get('code')) for r in audit() if r.get('container') == self.bundle.id and r['event'] in ('grant', 'refuse')]
        return self

    def granted(self, at_least, at_most):
        return self.told == 'data' and at_least <= self.took <= at_most and self.events == [('grant', None)]

    def refused(self, at_least, at_most):
        return (self.result.returncode == 1 and len(self.told.splitlines()) == 1 and 'has signed it' in self.told and 'keys fetch' in self.told and
                at_least <= self.took <= at_most and self.events == [('refuse', 67)])

    def __repr__(self):
        return '%.1f s, %s\n%s' % (self.took, self.events, self.told)


def build(tok):
    return Build(tok).end()


host.settings('issuers = ( { url = "%s"; audience = "gpuhelper"; keys = "%s"; } );' % (URL, KEYS))
host.policies(t10='pipeline = "ml/train";\nfolders = ( { path = "/srv/datasets"; access = "ro"; } );\n')
write('/srv/datasets/x', 'data\n')
first, second, third, fourth, stranger = (jwt.Key(tmp, 'ec', 'k-%d' % n) for n in range(5))
Issuer.keys = [first]
os.makedirs(os.path.dirname(KEYS), exist_ok=True)
fetch()
ok(build(token(first)).granted(0, 8) and len(Issuer.fetches) == 1, tag + 'a token of the first key is accepted, and nothing is fetched for that')

# without the socket
Issuer.keys = [first, second]
b = build(token(second))
ok(b.refused(0, 8) and len(Issuer.fetches) == 1, tag + 'without the socket: a token of a new key is refused at once', b)

# the minute of the first rotation
systemd = Systemd()
for name, bad in ('expired', dict(exp=1000, iat=500)), ('for another audience', dict(aud=['x'])), ('of another pipeline', dict(pipeline='other')):
    b = build(token(first, **bad))
    ok(b.told != 'data' and [e for e, _ in b.events] == ['refuse'] and systemd.starts == [], tag + 'a signed token that is %s: no key is fetched' % name, b)
crowd = [Build(token(second)) for _ in range(20)]
refused = [b for b in crowd if not b.end().granted(0, 60)]
ok(refused == [], tag + 'twenty builds at once with tokens of a new key: each goes on, with one record', '\n'.join(map(repr, refused)))
ok(len(Issuer.fetches) == 2 and len(systemd.starts) == 1, tag + 'and the key is fetched once for them all', Issuer.fetches)
began = systemd.starts[0]
forged = [Build(token(stranger)) for _ in range(6)]
time.sleep(0.5)
b = build(token(first))
ok(b.granted(0, 8), tag + "beside six builds with forged tokens another build is not held up", b)
for b in forged:
    ok(b.end().refused(9.5, 20), tag + 'a forged token is refused after ten seconds, with one line and one record', b)
Issuer.keys = [second, third]
b = build(token(third))
ok(b.refused(9.5, 16), tag + 'a second rotation within the minute is not seen', b)
ok(len(Issuer.fetches) == 2 and len(systemd.starts) == 1, tag + 'of all that, one fetch within the minute', Issuer.fetches)
time.sleep(max(0, began + 56 - time.monotonic()))
b = build(token(third))
ok(b.granted(0, 12) and len(Issuer.fetches) == 3, tag + 'a build that waits at the end of the minute gets the key of the next fetch', b)
ok(systemd.starts[1] - began >= 60, tag + 'which comes after a minute', systemd.starts)
b = build(token(first))
ok(b.refused(9.5, 16), tag + 'a token of a key that the issuer has withdrawn is refused', b)
systemd.stop()

# the issuer is down
server.shutdown()
server.server_close()
Issuer.keys.append(fourth)
systemd = Systemd()
b = build(token(fourth))
ok(b.refused(9.5, 16) and len(systemd.starts) == 1, tag + 'the issuer is down: refused after ten seconds', b)
ok(build(token(third)).granted(0, 8), tag + 'the keys that were fetched before stay valid')
systemd.stop()

# a socket that is not root's, or has no listener, is not waited for
other = socket.socket(socket.AF_UNIX)
other.bind(SOCK)
os.chown(SOCK, 65534, 65534)
other.listen()
b = build(token(fourth))
ok(b.refused(0, 8) and not select.select([other], [], [], 0)[0], tag + "another user's socket in its place is not asked", b)
os.chown(SOCK, 0, 0)
other.close()
b = build(token(fourth))
ok(b.refused(0, 8), tag + 'a socket where nobody listens is not waited for', b)
done()
