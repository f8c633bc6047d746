#!/bin/sh
# gpuhelperctl keys, and explain --token-file: fetching from an issuer, rotation, refusals.  sh tests/keys.sh; TAP.
#   CTL=PROGRAM   another build of it (default build/gpuhelperctl)
# One HTTPS server of the test, on 127.0.0.1 with its own CA, is all the issuers; each case has a path there.  Needs
# python3 and openssl.  Without root, the cases that need root are skipped.
set -u
here=$(cd "$(dirname "$0")/.." && pwd)
. "$here/tests/lib/ctltool.sh"
server=
trap '[ -z "$server" ] || kill "$server"; rm -rf "$T"' EXIT
cp "$ctl" "$T/gpuhelperctl" && ctl=$T/gpuhelperctl	# at a place where another user can run it
export PYTHONDONTWRITEBYTECODE=1

# complains STATUS PATTERN: prints only one line, on stderr, which contains the fixed string PATTERN
complains() { is "$1" && [ ! -s "$T/out" ] && [ "$(wc -l <"$T/err")" = 1 ] && grep -qF -e "$2" "$T/err"; }
has() { is "$1" && grep -q -e "$2" "$T/out"; }
json() { python3 -c 'import json, sys
j = json.load(open(sys.argv[1]))
sys.exit(not eval(sys.argv[2]))' "$T/out" "$1"; }

cat >lab.py <<'E'
"""newkey NAME KIND KID | jwks NAME... | token NAME ISS [CLAIM=JSON...]: on tests/fixtures/jwt/mkvectors.py."""
import json
import os
import pickle
import sys
import time

sys.path.insert(0, os.environ["MKVECTORS"])
import mkvectors as mk


def key(name):
    with open(f"lab/{name}", "rb") as f:
        return pickle.load(f)


word, args = sys.argv[1], sys.argv[2:]
if word == "newkey":
    os.makedirs("lab", exist_ok=True)
    made = mk.Key("lab", args[1], args[2])
    made.path = os.path.abspath(made.path)
    with open(f"lab/{args[0]}", "wb") as f:
        pickle.dump(made, f)
elif word == "jwks":
    print(json.dumps({"keys": [dict(key(a).jwk, use="sig", alg=key(a).alg) for a in args]}))
else:
    now = int(time.time())
    more = {a.split("=")[0]: json.loads(a.split("=", 1)[1]) for a in args[2:]}
    claims = mk.claims(**{"iss": args[1], "iat": now - 10, "exp": now + 3000, **more})
    print(mk.sign(key(args[0]), mk.header(key(args[0])), claims))
E
cat >server.py <<'E'
"""Serves www/ on four ports: https, https on another port, https with a certificate of another name, http; a fifth takes
connections and says nothing.  Beside a file PATH: PATH.redirect is where to go instead, PATH.status another status, PATH.wait seconds before, PATH.drip one byte a second.
Each request is a line of hits: port, the host that was asked for, path."""
import contextlib
import http.server
import os
import socket
import ssl
import threading
import time


class Handler(http.server.BaseHTTPRequestHandler):
    def beside(self, what):
        try:
            with open(f"www{self.path}.{what}") as f:
                return f.read().strip()
        except OSError:
            return None

    def do_GET(self):
        with open("hits", "a") as f:
            f.write(f"{self.server.server_port} {self.headers['Host']} {self.path}\n")
        time.sleep(float(self.beside("wait") or 0))
        if (to := self.beside("redirect")) is not None:
            self.send_response(302)
            self.send_header("Location", to)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        try:
            with open("nowhere" if "//" in self.path else f"www{self.path}", "rb") as f:
                body = f.read()
        except OSError:
            self.send_error(404)
            return
        self.send_response(int(self.beside("status") or 200))
        self.end_headers()
        if self.beside("drip") is not None:
            for i in range(30):
                self.wfile.write(body[i:i + 1])
                time.sleep(1)
        self.wfile.write(body)

    def log_message(self, *args):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, address):
        pass

    def shutdown_request(self, request):
        # Replies have no length, so OpenSSL 3 takes their end for a truncation unless there is a close_notify (RFC 8446, 6.1).
        if isinstance(request, ssl.SSLSocket):
            request.settimeout(1)
            with contextlib.suppress(OSError, ValueError):
                request = request.unwrap()
        super().shutdown_request(request)


ports = []
for certificate in ("leaf.pem", "leaf.pem", "wrong.pem", None):
    server = Server(("127.0.0.1", 0), Handler)
    if certificate is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, "leaf.key")
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    ports.append(server.server_port)
    threading.Thread(target=server.serve_forever, daemon=True).start()
silent = socket.create_server(("127.0.0.1", 0))
ports.append(silent.getsockname()[1])
with open("ports.new", "w") as f:
    print(*ports, file=f)
os.rename("ports.new", "ports")
held = []
while True:
    held.append(silent.accept())
E
export MKVECTORS="$here/tests/fixtures/jwt"

ca() { # ca NAME: makes a certificate authority
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout "$1.key" -out "$1.pem" -days 2 \
	    -subj "/CN=$1" -addext basicConstraints=critical,CA:TRUE -addext keyUsage=critical,keyCertSign 2>/dev/null
}
ca ca && ca stranger && openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout leaf.key -out leaf.csr \
    -subj /CN=issuer 2>/dev/null &&
    printf 'subjectAltName=DNS:localhost,IP:127.0.0.1\nextendedKeyUsage=serverAuth\n' >leaf.ext &&
    printf 'subjectAltName=DNS:issuer.example\n' >wrong.ext &&
    for i in leaf wrong; do
	openssl x509 -req -in leaf.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile $i.ext -out $i.pem || exit 2
    done 2>/dev/null || { echo "keys.sh: openssl made no certificates" >&2; exit 2; }
mkdir www && : >hits
python3 server.py & server=$!
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do [ -e ports ] || sleep 0.25; done
[ -e ports ] || { echo "keys.sh: the server did not start" >&2; exit 2; }
read -r port other wrong plain silent <ports
base=https://localhost:$port

# conf NAME...: makes a new configuration directory $d, in which each NAME is the issuer $base/NAME
conf() {
	d=$T/conf; rm -rf "$d"; mkdir -p "$d/keys" "$d/policy.d"
	sep=
	{ printf 'issuers = (\n'
	for issuer; do
		printf '%s{ url = "%s"; audience = "gpuhelper"; keys = "%s"; }\n' "$sep" "$base/$issuer" "$d/keys/$issuer.json"; sep=,
	done
	printf ');\n'; } >"$d/gpuhelper.conf"
}
# serve NAME [ISSUER [JWKS_URI]]: serves its discovery document, and stdin as its JWKS
serve() {
	w=$T/www/$1/.well-known; rm -rf "$w"; mkdir -p "$w"
	cat >"$w/jwks.json"
	printf '{"issuer":"%s","jwks_uri":"%s","response_types_supported":["id_token"]}\n' "${2:-$base/$1}" \
	    "${3:-$base/$1/.well-known/jwks.json}" >"$w/openid-configuration"
}
fetch() { run keys fetch --config-dir "$d" --cacert "$T/ca.pem" "$@"; }
jwks() { python3 lab.py jwks "$@"; }
shot() { find "$d/keys" -printf '%P %i %s %m %T@\n' | sort; cat "$d"/keys/*.json; }
# refuses NAME TEXT PATTERN: fetching the keys of an issuer with existing keys fails with this text, and the keys stay
refuses() {
	conf "$1"
	cp good.json "$d/keys/$1.json"
	touch -d '3 hours ago' "$d/keys/$1.json"
	shot >before
	fetch
	shot >after
	if complains 74 "$3" && cmp -s before after; then pass "$2"; else fail "$2"; diff before after | sed 's/^/# /'; fi
}

for k in old new; do python3 lab.py newkey $k ec $k; done
python3 lab.py newkey rsa rsa2048 rsa
jwks old >good.json

# slow cases run beside the rest
conf silent
echo "issuers = ( { url = \"https://localhost:$silent\"; audience = \"g\"; keys = \"$T/silent.json\"; } );" >slow1.conf
serve drip <good.json; : >www/drip/.well-known/openid-configuration.drip
echo "issuers = ( { url = \"$base/drip\"; audience = \"g\"; keys = \"$T/drip.json\"; } );" >slow2.conf
serve twice <good.json; echo 7 >www/twice/.well-known/openid-configuration.wait; echo 7 >www/twice/.well-known/jwks.json.wait
echo "issuers = ( { url = \"$base/twice\"; audience = \"g\"; keys = \"$T/twice.json\"; } );" >slow3.conf
slow=
for i in 1 2 3; do
	mkdir "slow$i" && mv "slow$i.conf" "slow$i/gpuhelper.conf"
	( start=$(date +%s%N)
	"$ctl" keys fetch --config-dir "$T/slow$i" --cacert "$T/ca.pem" >"slow$i/out" 2>"slow$i/err"
	echo $? $((($(date +%s%N) - start) / 1000000)) >"slow$i/st" ) &
	slow="$slow $!"
done

echo "# fetch"
conf a b
jwks old new rsa | serve a
jwks new | serve b
fetch
t "fetch: all issuers" exits 0 "$base/a: 3 keys in $d/keys/a.json"
t "fetch: the second issuer's keys" says "$base/b: 1 key in $d/keys/b.json"
t "fetch: the files have the issuers' bytes" sh -c 'cmp -s www/a/.well-known/jwks.json conf/keys/a.json && cmp -s www/b/.well-known/jwks.json conf/keys/b.json'
t "fetch: mode 0644, and no other file" [ "$(find "$d/keys" -type f -printf '%f %m\n' | sort | tr '\n' ' ')" = "a.json 644 b.json 644 " ]
if [ "$(id -u)" = 0 ]; then
	ldconfig -p | sed -n 's/.*libcurl[-a-z]*\.so\.4 .*=> //p' >libs
	hidden() { unshare --mount --propagation private sh -c 'while read -r l; do mount --bind /dev/null "$l" || exit; done <libs; exec "$@"' - "$ctl" "$@" >out 2>err; st=$?; }
	hidden keys fetch --config-dir "$d" --cacert "$T/ca.pem"
	t "fetch without libcurl says what to install" complains 69 "libcurl is not installed, and fetching keys needs it: apt install libcurl4 ca-certificates"
	hidden keys show --config-dir "$d"
	t "  and nothing else needs libcurl" is 0
else
	skip "fetch without libcurl says what to install" "not root"
fi
rm "$d"/keys/*
(umask 077; fetch "$base/b"; echo $st >st); st=$(cat st)
t "fetch of one issuer" exits 0 "$base/b: 1 key in $d/keys/b.json"
t "fetch of one issuer writes no other file, with mode 0644 whatever the umask" [ "$(find "$d/keys" -type f -printf '%f %m\n')" = "b.json 644" ]
touch -d '3 hours ago' "$d/keys/b.json"
inode=$(stat -c %i "$d/keys/b.json")
fetch "$base/b"
t "equal keys replace the file" [ "$(stat -c %i "$d/keys/b.json")" != "$inode" ]
t "the file's time is when the keys were fetched" [ $(($(date +%s) - $(stat -c %Y "$d/keys/b.json"))) -lt 60 ]
fetch "$base/c"
t "an issuer that is not configured" complains 65 "gpuhelper.conf has no issuer $base/c"
serve a </dev/null
fetch
t "an issuer that fails does not stop the others" exits 74 "$base/b: 1 key in $d/keys/b.json"
t "the failure is reported" grep -q "^gpuhelperctl: $base/a: " err
jwks new | serve a
https_proxy=http://127.0.0.1:9 ALL_PROXY=http://127.0.0.1:9 "$ctl" keys fetch --config-dir "$d" --cacert ca.pem >out 2>err; st=$?
t "fetch uses no proxy, whatever the environment says" is 0
conf slash
sed -i "s,/slash\";,/slash/\";," "$d/gpuhelper.conf"
serve slash "$base/slash/" <good.json
fetch
t "a url with a slash at its end" exits 0 "$base/slash/: 1 key in $d/keys/slash.json"
conf
echo 'max_wait = 5;' >"$d/gpuhelper.conf"
fetch
t "fetch without issuers" exits 0 "gpuhelper.conf has no issuers: nothing to fetch"
echo 'max_wait = "5";' >"$d/gpuhelper.conf"
fetch
t "a broken gpuhelper.conf" complains 78 "max_wait"
conf same
cat >"$d/gpuhelper.conf" <<-E
	issuers = ( { url = "$base/a"; audience = "g"; keys = "$d/keys/same.json"; },
	    { url = "$base/b"; audience = "g"; keys = "$d/more/same.json"; } );
E
fetch
t "two issuers whose files have the same name" complains 78 "both keep their keys in a file named same.json: use different names"

echo "# fetch: what is refused, and leaves the file as it was"
serve badissuer "$base/other" <good.json
refuses badissuer "a discovery document of another issuer" "names another issuer, \"$base/other\""
serve badissuer "$base/badissuer/" <good.json
refuses badissuer "a discovery document of an issuer that differs by a slash" "names another issuer"
serve plain "" "http://localhost:$plain/plain/.well-known/jwks.json" <good.json
refuses plain "a jwks_uri by http" "is not an https URL"
serve host "" "https://127.0.0.1:$port/host/.well-known/jwks.json" <good.json
refuses host "a jwks_uri on another host" "is not on the host and port of $base/host"
# keys_host names the host of the keys, and no other will do
named() { # NAME KEYS_HOST JWKS_URI
	serve "$1" "" "$3" <good.json
	conf "$1"
	sed -i "s|keys = |keys_host = \"$2\"; keys = |" "$d/gpuhelper.conf"
	rm -f "$d/keys/$1.json"
	fetch
}
named there "127.0.0.1:$port" "https://127.0.0.1:$port/there/.well-known/jwks.json"
t "a jwks_uri on the host of keys_host" sh -c '[ "$1" = 0 ] && cmp -s good.json "$2/keys/there.json"' - "$st" "$d"
named elsewhere "127.0.0.1:$port" "https://localhost:$port/elsewhere/.well-known/jwks.json"
t "a jwks_uri on another host than keys_host" sh -c '[ "$1" = 74 ] && grep -q "is not on the host and port of https://127.0.0.1:$3" err && [ ! -e "$2/keys/elsewhere.json" ]' - "$st" "$d" "$port"
named redirects "127.0.0.1:$port" "https://127.0.0.1:$port/redirects/.well-known/jwks.json"
rm -f "$d/keys/redirects.json"; echo "https://localhost:$port/redirects/.well-known/there" >www/redirects/.well-known/jwks.json.redirect
fetch
t "a redirection away from keys_host" sh -c '[ "$1" = 74 ] && grep -q "redirected: " err && [ ! -e "$2/keys/redirects.json" ]' - "$st" "$d"
: >hits
serve port "" "https://localhost:$other/port/.well-known/jwks.json" <good.json
refuses port "a jwks_uri on another port" "is not on the host and port of $base/port"
serve user "" "https://localhost:$port@127.0.0.1:$port/user/.well-known/jwks.json" <good.json
refuses user "a jwks_uri with a user's name" "the URL must not contain a user name or password"
serve file "" "file://$T/good.json" <good.json
refuses file "a jwks_uri that is a file" "is not an https URL"
serve nouri <good.json; printf '{"issuer":"%s"}' "$base/nouri" >www/nouri/.well-known/openid-configuration
refuses nouri "a discovery document without jwks_uri" 'has no "jwks_uri"'
serve dup <good.json; sed -i 's/^{/{"issuer":"x",/' www/dup/.well-known/openid-configuration
refuses dup "a discovery document with a name twice" "openid-configuration: "
serve html <good.json; echo '<html>' >www/html/.well-known/openid-configuration
refuses html "a discovery document that is no JSON" "openid-configuration: "
serve gone <good.json; rm www/gone/.well-known/openid-configuration
refuses gone "a missing discovery document" "HTTP status 404"
serve e500 <good.json; echo 500 >www/e500/.well-known/jwks.json.status
refuses e500 "keys with status 500" "HTTP status 500"
for i in "host https://127.0.0.1:$port" "port https://localhost:$other" "plain http://localhost:$plain"; do
	for f in openid-configuration jwks.json; do
		serve "r${i%% *}" <good.json
		echo "${i#* }/r${i%% *}/.well-known/there" >"www/r${i%% *}/.well-known/$f.redirect"
		cp "www/r${i%% *}/.well-known/$f" "www/r${i%% *}/.well-known/there"
		refuses "r${i%% *}" "a redirection of $f to another ${i%% *}" "redirected: "
	done
done
t "no other host or port was asked" sh -c '! grep -v "^'"$port localhost:$port"' " hits'
t "the issuer itself was asked" grep -q "^$port localhost:$port /rplain/.well-known/jwks.json" hits
serve loop <good.json; echo "$base/loop/.well-known/jwks.json" >www/loop/.well-known/jwks.json.redirect
refuses loop "a redirection without end" "redirected more than 3 times"
serve rsame <good.json; mv www/rsame/.well-known/jwks.json www/rsame/keys
echo /rsame/keys >www/rsame/.well-known/jwks.json.redirect
conf rsame; fetch
t "a redirection on the same host is followed" exits 0 "$base/rsame: 1 key in $d/keys/rsame.json"
echo 'keys' | serve garbage
refuses garbage "keys that are no JSON" "jwks.json: "
echo '{"keys":[{"kty":"oct","k":"AAAA","kid":"x"}]}' | serve nouse
refuses nouse "keys of which none can be used" "jwks.json: "
head -c $((256 * 1024 - $(wc -c <good.json))) /dev/zero | tr '\0' ' ' | cat good.json - >full
serve full <full
conf full; fetch
t "keys of 256 KiB are accepted" exits 0 "$base/full: 1 key in $d/keys/full.json"
{ cat full; echo; } | serve big
refuses big "keys of more than 256 KiB" "has more than 256 KiB"
serve bigd <good.json; cat full >>www/bigd/.well-known/openid-configuration
refuses bigd "a discovery document of more than 256 KiB" "has more than 256 KiB"
jwks new | serve tls
conf tls; cp good.json "$d/keys/tls.json"; shot >before
run keys fetch --config-dir "$d" --cacert stranger.pem; shot >after
t "a certificate of another CA" sh -c '[ "$1" = 74 ] && cmp -s before after && grep -q "certificate" err' - "$st"
run keys fetch --config-dir "$d"; shot >after
t "a CA that the system does not know" sh -c '[ "$1" = 74 ] && cmp -s before after && grep -q "\-\-cacert FILE" err' - "$st"
run keys fetch --config-dir "$d" --cacert nowhere.pem
t "a missing CA file" complains 74 "nowhere.pem"
serve tls "https://localhost:$wrong/tls" "https://localhost:$wrong/tls/.well-known/jwks.json" <good.json
sed -i "s,localhost:$port,localhost:$wrong," "$d/gpuhelper.conf"
fetch; shot >after
t "a certificate for another host" sh -c '[ "$1" = 74 ] && cmp -s before after && grep -q "localhost" err && ! grep -q "^$2 " hits' - "$st" "$wrong"

echo "# rotation"
conf drill
jwks old | serve drill
python3 lab.py token old "$base/drill" >told
python3 lab.py token new "$base/drill" >tnew
holds() { run explain --config-dir "$d" --token-file "$1" && [ $st = 0 ] && has 0 "^holds: pipeline ml/train, job fit, by $base/drill\$"; }
unknown() {
	run explain --config-dir "$d" --token-file "$1"
	has 77 "^token, kid: fails: the token's key \"$2\" is not among those of $base/drill, fetched [0-9]* s ago: if they have changed since, fetch them again\$"
}
run explain --config-dir "$d" --token-file told
t "rotation: before the first fetch" sh -c '[ "$1" = 78 ] && grep -q "^refused: .*gpuhelperctl keys fetch" out' - "$st"
fetch
t "rotation: a token of the listed key is valid" holds told
t "rotation: a token of the new key is refused, as the keys may have changed" unknown tnew new
jwks old new | serve drill
t "rotation: that token is still refused before the next fetch" unknown tnew new
fetch
t "rotation: after the next fetch the token is valid" holds tnew
t "rotation: the old key counts while it is listed" holds told
jwks new | serve drill
fetch
t "rotation: the new key counts when the old key is no longer listed" holds tnew
t "rotation: a token of the removed key is refused" unknown told old
jwks old | serve drill; mv www/drill www/gone2
fetch
t "rotation: the issuer can't be reached" is 74
t "rotation: the keys of an unreachable issuer stay" holds tnew

echo "# explain --token-file"
ex() { run explain --config-dir "$d" "$@"; }
ex --token-file tnew
t "explain --token-file prints each check" [ "$(grep -c '^token, [a-z_]*: ok' out)" -ge 15 ]
t "explain --token-file prints the token's hash in the audit log" says "note: in the audit log, the token is token_sha256 $(tr -d '\n' <tnew | sha256sum | cut -d' ' -f1)"
t "explain --token-file alone asks no policy" sh -c '! grep -q "^policies\|^container" out'
part=$(cut -d. -f2 tnew | cut -c1-40) sig=$(cut -d. -f3 tnew | cut -c1-40)
ex --token-file tnew --json
t "explain --token-file, as JSON" json "j['outcome'] == 'holds' and j['claims']['team'] == 'ml' and j['claims']['exp'] - j['claims']['iat'] == 3010 and all(c['result'] == 'ok' for c in j['token'])"
t "the token is not in the output" sh -c '! grep -qF -e "$1" -e "$2" out err' - "$part" "$sig"
"$ctl" explain --config-dir "$d" --token-file - <tnew >out 2>err; st=$?
t "explain --token-file reads standard input" has 0 "^holds: "
{ cat tnew; echo; } >two; ex --token-file two
t "a token with a second newline" has 65 "^token, form: fails: "
t "a malformed token is not printed" sh -c '! grep -qF -e "$1" -e "$2" out err' - "$part" "$sig"
printf 'a\0b' >nul; ex --token-file nul
t "a token with a NUL byte" complains 65 "nul is not a token: it has a NUL byte"
echo x.y >xy; ex --token-file xy
t "a file without a token" has 65 "^token, form: fails: the token is not three parts"
ex --token-file xy --json
t "a file without a token, as JSON" json "j['outcome'] == 'refused' and j['code'] == 65 and j['token'][0]['result'] == 'fails'"
ex --token-file nowhere
t "a missing token file" complains 74 "nowhere: No such file"
python3 lab.py token new https://evil.example >tevil; ex --token-file tevil
t "a token of an unknown issuer" has 77 "^token, iss: fails: its issuer https://evil.example is not one of gpuhelper.conf"
python3 lab.py token new "$base/drill" 'aud="other"' "exp=$(($(date +%s) - 500))" >tbad; ex --token-file tbad
t "explain --token-file prints each failed check" sh -c '[ "$1" = 77 ] && grep -q "^token, aud: fails: " out && grep -q "^token, exp: fails: " out && grep -q "^token, signature: ok" out' - "$st"
python3 -c 't = open("tnew").read().strip(); h, p, s = t.split("."); print(f"{h}.{p}.{s[:9]}{chr(65 + (s[9] == chr(65)))}{s[10:]}")' >tforged
ex --token-file tforged
t "a token with a forged signature" has 77 "^token, signature: fails: "
iat=$(python3 -c 'import base64, json; p = open("tnew").read().split(".")[1]; print(json.loads(base64.urlsafe_b64decode(p + "=" * (-len(p) % 4)))["iat"])')
rfc() { date -u -d "@$1" +"$2"; }
ex --token-file tnew --at $((iat + 3069))
t "--at: the last second of the token's life and of the leeway" has 0 "^note: the token is checked as of $(rfc $((iat + 3069)) %Y-%m-%dT%H:%M:%SZ)\$"
ex --token-file tnew --at $((iat + 3070))
t "--at: one second later" has 77 "^token, exp: fails: "
ex --token-file tnew --at "$(rfc $((iat + 3070)) %Y-%m-%dT%H:%M:%SZ)"
t "--at: the same time as a date" has 77 "^token, exp: fails: "
ex --token-file tnew --at "$(rfc $((iat + 3069 + 7200)) '%Y-%m-%dt%H:%M:%S.987+02:00')"
t "--at: in another zone, with a fraction" has 0 "^note: the token is checked as of $(rfc $((iat + 3069)) %Y-%m-%dT%H:%M:%SZ)\$"
ex --token-file tnew --at $((iat - 3600))
t "--at: before the token was issued" has 77 "^token, iat: fails: "
ex --token-file tnew --at $((iat + 3 * 86400))
t "--at: when the keys are too old" has 78 "^token, keys: fails: "
for i in yesterday 2026-02-30T00:00:00Z 2026-11-20T24:00:00Z 2026-11-20T23:06:00 2026-11-20 -1 2026-11-20T23:06:00+2:00 2026-11-20T23:06:00Zx ''; do
	ex --token-file tnew --at "$i"
	t "--at \"$i\"" complains 64 "explain: --at must be seconds since 1970 or like 2026-11-20T23:06:00Z"
done
ex --at 1
t "--at alone" complains 64 "--at needs --token-file"
ex --token-file tnew --bundle "$T"
t "--token-file with --bundle" is 64
ex --token-file tnew --identity claim
t "--token-file with --identity claim" complains 64 "with --token-file, --identity must be token"
echo 'pipeline = "ml/train"; callers = [ "root", "nobody" ]; folders = ( { path = "/usr"; } );' >"$d/policy.d/10-a.conf"
ex --token-file tnew --folders /usr --user root
t "--token-file with --folders asks the policies" has 0 "^granted by 10-a.conf:"
t "--token-file with --folders prints the token's checks first" has 0 "^token, signature: ok"
ex --token-file tnew --folders /usr:rw --user root
t "--token-file with --folders: the policies refuse" has 77 "^10-a.conf: covers the container, but does not allow the whole request"
ex --token-file told --folders /usr --user root
t "--token-file with --folders: an invalid token asks no policy" has 77 "^10-a.conf: not asked: the request is decided before any policy"
ex --token-file tnew --pipeline web/site --issuer https://other.example --user root --json
t "the token says whose it is, as JSON" json "j['question']['issuer'] == '$base/drill' and j['question']['pipeline'] == 'train'"
ex --token-file tnew --pipeline web/site --user root
t "the token says whose it is" has 0 "^container: user root (uid 0), pipeline ml/train, job fit, by token\$"
t "a note says that the options are ignored" grep -q "^note: the token names its pipeline" out
ex --token-file tnew --user nobody --json
t "--token-file with a policy's grant, as JSON" json "j['outcome'] == 'granted' and j['policy'] == '10-a.conf' and j['question']['issuer'] == '$base/drill' and len(j['token']) > 10"

echo "# show"
conf a b
sed -i "s,audience = \"gpuhelper\"; keys = \"$d/keys/b,keys_max_age = 3600; &," "$d/gpuhelper.conf"
python3 -c 'import json, sys
j = json.loads(sys.argv[1])
j["keys"].append({"kty": "oct", "kid": "secret", "k": "AAAA"})
json.dump(j, open(sys.argv[2], "w"))' "$(jwks old rsa)" "$d/keys/a.json"
touch -d '90 minutes ago' "$d/keys/a.json"
run keys show --config-dir "$d"
t "show: missing keys" is 78
t "show: missing keys, with the command that fetches them" grep -qxF "gpuhelperctl: $base/b: $d/keys/b.json does not exist yet: run gpuhelperctl keys fetch" err
t "show: the age of the other issuer's keys" has 78 "^$base/a: $d/keys/a.json, fetched 90 min ago ("
t "show: an ES256 key" says "  old: ES256, 256 bits"
t "show: an RS256 key" says "  rsa: RS256, 2048 bits"
t "show: an unusable key" grep -q "^  secret: unusable: " out
cp good.json "$d/keys/b.json"
run keys show --config-dir "$d"
t "show: all keys are usable" is 0
touch -d '2 hours ago' "$d/keys/b.json"
run keys show --config-dir "$d"
t "show: keys that are too old" exits 78 "  warning: the keys are older than keys_max_age (60 min): tokens of this issuer are refused until they are fetched again"
run keys show --config-dir "$d" --json
t "show, as JSON" json "[i['stale'] for i in j['issuers']] == [False, True] and [(k.get('alg'), k.get('bits'), k['usable']) for k in j['issuers'][0]['keys']] == [('ES256', 256, True), ('RS256', 2048, True), (None, None, False)] and j['issuers'][0]['keys'][2]['reason'] and 5390 < j['issuers'][0]['age'] < 5500"
echo '{' >"$d/keys/b.json"
run keys show --config-dir "$d"
t "show: a broken file" sh -c '[ "$1" = 78 ] && grep -q "^gpuhelperctl: .*keys/b.json: " err' - "$st"
rm "$d/keys/b.json"; ln -s a.json "$d/keys/b.json"
run keys show --config-dir "$d"
t "show: a link" sh -c '[ "$1" = 78 ] && grep -q "is a symbolic link" err' - "$st"

echo "# import"
conf a
imp() { run keys import --config-dir "$d" --issuer "$@"; }
imp "$base/a" good.json
t "import: a file" exits 0 "$base/a: 1 key in $d/keys/a.json"
t "import: the file has the same bytes" cmp -s good.json "$d/keys/a.json"
jwks new old | "$ctl" keys import --config-dir "$d" --issuer "$base/a" - >out 2>err; st=$?
t "import: standard input" exits 0 "$base/a: 2 keys in $d/keys/a.json"
shot >before
imp "$base/b" good.json
t "import: an unknown issuer" complains 65 "gpuhelper.conf has no issuer"
echo '{"keys":[]}' >empty.json; imp "$base/a" empty.json
t "import: a file without keys" complains 65 "empty.json: "
{ cat full; echo; } >over; imp "$base/a" over
t "import: a file of more than 256 KiB" complains 65 "over: larger than 262144 bytes"
imp "$base/a" nowhere
t "import: a missing file" complains 74 "nowhere: No such file"
shot >after
t "import: a failure leaves the keys as they were" cmp -s before after
rm "$d/keys/a.json"; cp good.json elsewhere; cp elsewhere before; ln -s "$T/elsewhere" "$d/keys/a.json"
jwks new >new.json; imp "$base/a" new.json
t "import: a link at the file's place is replaced, not followed" sh -c '[ "$1" = 0 ] && cmp -s elsewhere before && [ ! -L conf/keys/a.json ]' - "$st"
rm "$d/keys/a.json"; mkdir "$d/keys/a.json"; imp "$base/a" new.json
t "import: a directory at the file's place" complains 74 "can't write $d/keys/a.json: Is a directory"
t "import: a failure leaves no temporary file" [ "$(ls -A "$d/keys")" = a.json ]
rmdir "$d/keys/a.json" "$d/keys"; imp "$base/a" new.json
t "import: a missing directory" complains 74 "$d/keys: No such file"
conf a
cat >reader.py <<'E'
import os, sys
path, good = sys.argv[1], {open(f, "rb").read() for f in sys.argv[2:]}
seen = set()
while not os.path.exists("stop"):
    with open(path, "rb") as f:
        text = f.read()
    if text not in good:
        sys.exit(f"half a file: {len(text)} bytes")
    seen.add(text)
sys.exit(seen != good)
E
cp full full.json
imp "$base/a" full.json
python3 reader.py "$d/keys/a.json" full.json new.json >out 2>err & reader=$!
i=0 lost=0
while [ $i -lt 60 ]; do
	"$ctl" keys import --config-dir "$d" --issuer "$base/a" full.json >/dev/null 2>&1 & one=$!
	"$ctl" keys import --config-dir "$d" --issuer "$base/a" new.json >/dev/null 2>&1 || lost=$((lost + 1))
	wait $one || lost=$((lost + 1))
	i=$((i + 1))
done
: >stop
if wait $reader; then pass "a concurrent reader sees the old keys or the new ones"; else fail "a concurrent reader sees the old keys or the new ones"; fi
t "two concurrent imports do not disturb each other" [ "$lost $(ls -A "$d/keys")" = "0 a.json" ]
if strace -V >/dev/null 2>&1 && strace -o trace true 2>/dev/null; then
	ASAN_OPTIONS=detect_leaks=0 strace -f -o trace -e trace=fsync,rename,renameat,renameat2 "$ctl" keys import --config-dir "$d" --issuer "$base/a" new.json >out 2>err
	t "import: the file is on the disk before the rename, and the directory after it" [ "$(sed -n 's/^[0-9 ]*\(fsync\|rename\)[a-z0-9]*(.* = 0$/\1/p' trace | tr '\n' ' ')" = "fsync rename fsync " ]
else
	skip "import: the file is on the disk before the rename, and the directory after it" "no strace"
fi

echo "# the command line"
run keys
t "keys without a subcommand" complains 64 "keys needs fetch, show, import or place (see gpuhelperctl help keys)"
run keys frob
t "keys with an unknown subcommand" complains 64 "keys needs fetch, show, import or place (see gpuhelperctl help keys)"
run keys show x
t "an argument that show does not take" complains 64 'keys show takes no "x" (see gpuhelperctl help keys show)'
run keys import good.json
t "import without --issuer" complains 64 "keys import needs --issuer URL (see gpuhelperctl help keys import)"
run keys place
t "place without --from" complains 64 "keys place needs --from DIR (see gpuhelperctl help keys place)"
run check --cacert x
t "another command does not take --cacert" complains 64 "check has no option --cacert"

echo "# in two steps: the download, and the placing"
conf a b
jwks old new | serve a; jwks new | serve b
chmod 755 "$d" "$d/keys"
mkdir dropped && chmod 777 dropped
place() { run keys place --config-dir "$d" --from "$T/dropped"; }
if [ "$(id -u)" = 0 ]; then
	setpriv --reuid 65534 --regid 65534 --clear-groups "$ctl" keys fetch --config-dir "$d" --cacert ca.pem >out 2>err; st=$?
	t "an unprivileged user can't write key files" sh -c '[ "$1" = 74 ] && grep -q "can.t write .*keys/a.json: Permission denied" err && [ -z "$(ls -A conf/keys)" ]' - "$st"
	setpriv --reuid 65534 --regid 65534 --clear-groups "$ctl" keys fetch --config-dir "$d" --cacert ca.pem --output-dir "$T/dropped" >out 2>err; st=$?
	t "an unprivileged user can download keys with --output-dir" exits 0 "$base/a: 2 keys in $T/dropped/a.json"
else
	skip "an unprivileged user can't write key files" "not root"
	fetch --output-dir "$T/dropped"
	t "keys are downloaded with --output-dir" exits 0 "$base/a: 2 keys in $T/dropped/a.json"
fi
if strace -o trace -e inject=openat2:error=ENOSYS true 2>/dev/null; then
	ASAN_OPTIONS=detect_leaks=0 strace -f -o trace -e inject=openat2:error=ENOSYS "$ctl" keys fetch --config-dir "$d" --cacert ca.pem --output-dir "$T/dropped" >out 2>err; st=$?
	t "the download works without openat2(2), as under systemd's DynamicUser=" exits 0 "$base/a: 2 keys in $T/dropped/a.json"
else
	skip "the download works without openat2(2), as under systemd's DynamicUser=" "no strace"
fi
t "the download places no keys" [ -z "$(ls -A "$d/keys")" ]
touch -d '2 hours ago' dropped/b.json
place
t "place: the keys are placed" exits 0 "$base/a: 2 keys in $d/keys/a.json"
t "place: the file has the same bytes" cmp -s dropped/a.json "$d/keys/a.json"
run keys place --config-dir "$d" --from "$T/dropped" --json
t "place, as JSON" json "$st == 0 and j['issuers'][0]['issuer'] == '$base/a' and j['issuers'][0]['file'] == '$d/keys/a.json' and len(j['issuers'][0]['keys']) == 2"
t "place: the keys keep their time" [ "$(stat -c %Y dropped/b.json)" = "$(stat -c %Y "$d/keys/b.json")" ]
touch -d 'tomorrow' dropped/b.json; place
t "place: a time in the future becomes the present" [ "$(stat -c %Y "$d/keys/b.json")" -le "$(date +%s)" ]
rm dropped/b.json; shot | grep '^b.json' >before; place; shot | grep '^b.json' >after
t "place: an issuer without downloaded keys keeps the old ones" sh -c '[ "$1" = 0 ] && cmp -s before after' - "$st"
# hostile TEXT PATTERN: dropped/b.json is refused, a.json is installed, and b.json stays
hostile() {
	shot | grep '^b.json' >before; place; shot | grep '^b.json' >after
	t "$1" sh -c '[ "$1" = 74 ] && cmp -s before after && grep -qF -e "$2" err && grep -q "/a: 2 keys" out' - "$st" "$2"
}
ln -s "$T/good.json" dropped/b.json; hostile "a link" "dropped/b.json: is a symbolic link"
rm dropped/b.json; mkfifo dropped/b.json; hostile "a pipe" "is not a regular file"
rm dropped/b.json; mkdir dropped/b.json; hostile "a directory" "is not a regular file"
rmdir dropped/b.json; { cat full; echo; } >dropped/b.json; hostile "more than 256 KiB" "is too large"
echo x >dropped/b.json; hostile "no JWKS" "dropped/b.json: "
run keys place --config-dir "$d" --from "$T/dropped" --json
t "place: a failure beside a success, as JSON" json "$st == 74 and 'keys' in j['issuers'][0] and j['issuers'][1]['code'] == 74 and 'dropped/b.json' in j['issuers'][1]['error'] and j['issuers'][1]['issuer'] == '$base/b'"
rm -r dropped/b.json; ln -s dropped linked
run keys place --config-dir "$d" --from "$T/linked"
t "place: --from is a link" is 74
cp good.json dropped/c.json; cp good.json dropped/.hidden; place
t "place: a file of no issuer is ignored" [ "$(ls -A "$d/keys" | tr '\n' ' ')" = "a.json b.json " ]

# in_etc COMMAND: runs it with an /etc of the test's own, because /etc/gpuhelper must be root's
in_etc() {
	unshare -m sh -c 'mount -t tmpfs -o mode=755 none /etc && cd /etc && mkdir -p gpuhelper/keys && cp '"$T"'/etc.conf gpuhelper/gpuhelper.conf &&
	    cd '"$T"' && { '"$1"'; }' >out 2>err; st=$?
}
echo 'issuers = ( { url = "https://ci.example.org"; audience = "g"; keys = "/etc/gpuhelper/keys/ci.json"; } );' >etc.conf
export ctl
imp='"$ctl" keys import --issuer https://ci.example.org'
if [ "$(id -u)" = 0 ] && unshare -m mount -t tmpfs none /etc 2>/dev/null; then
	in_etc "umask 077; $imp good.json && stat -c '%u %a' /etc/gpuhelper/keys/ci.json"
	t "import into /etc/gpuhelper" exits 0 "0 644"
	in_etc "chmod 775 /etc/gpuhelper/keys; $imp good.json"
	t "/etc/gpuhelper: import refuses a directory that others can change" complains 78 "/etc/gpuhelper/keys may be written by others than root"
	in_etc "mv /etc/gpuhelper/keys /etc/keys && ln -s ../keys /etc/gpuhelper/keys; $imp good.json"
	t "/etc/gpuhelper: import refuses a directory that is a link" complains 78 "/etc/gpuhelper/keys: is a symbolic link"
	in_etc "chown 65534 /etc/gpuhelper/gpuhelper.conf; $imp good.json"
	t "/etc/gpuhelper: import refuses settings that are not root's" complains 78 "belongs to uid 65534"
	in_etc "mount -t tmpfs -o size=16k,mode=755 none /etc/gpuhelper/keys && $imp good.json >/dev/null && { $imp full.json
	    echo \$?; ls -A /etc/gpuhelper/keys; cmp good.json /etc/gpuhelper/keys/ci.json; }"
	t "a full disk leaves the old keys, and no temporary file" [ "$st $(cat out | tr '\n' ' ')$(cat err)" = "0 74 ci.json gpuhelperctl: can't write /etc/gpuhelper/keys/ci.json: No space left on device" ]
	in_etc "$imp good.json >/dev/null && chmod 666 /etc/gpuhelper/keys/ci.json && \"\$ctl\" keys show"
	t "show: a key file that others can change" complains 78 "may be written by others than root"
	in_etc "$imp good.json >/dev/null && chmod 744 /etc/gpuhelper/keys/ci.json && \"\$ctl\" keys show"
	t "show: an executable key file, which may be a hook's output" complains 78 "/etc/gpuhelper/keys/ci.json is executable"
else
	for i in "/etc/gpuhelper" "others' directory" link settings "full disk" show executable; do skip "$i" "not root"; done
fi

echo "# issuers that take their time"
for i in $slow; do wait "$i"; done
for i in "1 silent" "2 drip" "3 twice"; do
	read -r st ms <"slow${i% *}/st"; cp "slow${i% *}/out" out; cp "slow${i% *}/err" err
	t "$i: given up" complains 74 "no complete response within 10 s"
	t "$i: after ten seconds ($ms ms)" [ "$ms" -ge 9000 ] && [ "$ms" -le 12000 ]
	t "$i: no file" [ ! -e "${i#* }.json" ]
done

if systemd-analyze --version >/dev/null 2>&1; then
	mkdir units
	for u in "$here"/helper/systemd/gpuhelper-keys*; do sed "s,/usr/sbin/,$T/," "$u" >"units/${u##*/}"; done
	systemd-analyze verify --man=no "$T"/units/* >out 2>&1; st=$?
	t "systemd accepts the units" sh -c '[ "$1" = 0 ] && ! grep -q gpuhelper-keys out' - "$st"
else
	skip "systemd accepts the units" "no systemd-analyze"
fi

echo "1..$n"
[ $bad = 0 ]
