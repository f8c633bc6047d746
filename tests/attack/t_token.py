"""Attacks with tokens sent straight to the helper: each serves one container, whoever sends it and whatever
interrupts the grant.
"""
import contextlib
import os
import pwd
import shutil
import sys
import time

import client
from client import exchange, once
from harness import *
from t_process import leave_after_reply

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fixtures", "jwt"))
URL = "https://ci.example.org"
TOKENS = "/var/lib/gpuhelper/tokens"


@contextlib.contextmanager
def issuer():
    """A host that accepts one issuer's tokens; yields the function that signs them."""
    if shutil.which("openssl") is None:
        raise Skip("needs openssl")
    import mkvectors as jwt
    with etc():
        key = jwt.Key(TEMP, "ec", "k")
        write(ETC + "/keys/ci.json", json.dumps({"keys": [key.jwk]}))
        write(ETC + "/gpuhelper.conf", read(ETC + "/gpuhelper.conf") +
              'issuers = ( { url = "%s"; audience = "gpuhelper"; keys = "%s/keys/ci.json"; } );\n' % (URL, ETC))
        write(POLICIES + "/10-token.conf", 'pipeline = "ml/train"; issuer = "%s"; gpus = ( { vendor = "nvidia"; count = 2; } );' % URL)

        def token(signer=key, **more):
            now = int(time.time())
            return jwt.sign(signer, jwt.header(signer), jwt.claims(**{"iss": URL, "iat": now - 5, "exp": now + 600, **more}))
        token.other = jwt.Key(TEMP, "ec", "k")
        try:
            yield token
        finally:
            for n in os.listdir(TOKENS) if os.path.isdir(TOKENS) else ():
                os.unlink(TOKENS + "/" + n)


def ask(token, ident, user="attacker", **fields):
    return once(user, exchange, id=ident, token=token, gpus=None, **fields)


@case("T1", "A token serves one container of one user, even after an undone grant; a grant that was not logged frees the token")
def t1():
    with issuer() as token:
        t = token()
        assert granted(ask(t, "a"))["policy"] == "10-token.conf"
        refused(ask(t, "b"), 77, "another container")
        refused(ask(t, "a", "victim"), 77, "another container")
        refused(ask(t, "a", runtime_root="/other"), 77, "another container")
        # another spelling of the same bytes does not make another token
        for spelling in t + "=", t + "==", t + "\n", " " + t, t + "A", t.replace(".", ". ", 1):
            answer = ask(spelling, "c")
            assert answer[0] in (65, 67, 77), (spelling[-5:], answer)
        granted(ask(t, "a"))
        # once the grant is logged the token stays with this container, whatever becomes of the grant
        t = token(job="other")
        once("attacker", leave_after_reply, id="d", token=t, gpus=None)
        refused(ask(t, "e"), 77, "another container")
        granted(ask(t, "d"))
        # a grant that was not logged does not use the token up
        t = token(job="third")
        with log_full():
            assert ask(t, "f")[0] != 0
        granted(ask(t, "g"))


@case("T2", "70000 expired bindings do not lock everyone out")
def t2():
    with issuer() as token:
        granted(ask(token(), "a"))
        for n in range(70000):
            os.close(os.open("%s/%064x" % (TOKENS, n), os.O_WRONLY | os.O_CREAT, 0o600))
            os.utime("%s/%064x" % (TOKENS, n), (0, 0))
        granted(ask(token(job="b"), "b"))
        assert len(os.listdir(TOKENS)) == 2


@case("T4", "An invalid token ends the request: neither a caller policy nor a claim is tried")
def t4():
    with issuer() as token:
        good = token()
        forged = token(token.other)
        for t in "x", "a.b.c", good[:-8] + "AAAAAAAA", good + "x", "A" * 16384, "." * 16384, forged, \
                token(exp=int(time.time()) - 3600, iat=int(time.time()) - 7200), token(aud=["other"]), \
                token(iss="https://evil"), token(pipeline="other"), token(team="ml/train", pipeline="x"), token(pipeline="train\n"):
            began = time.monotonic()
            status, answer = ask(t, "x", team="ml", pipeline="train")
            assert status in (65, 67, 77) and answer["reply"] == "refused", (t[:20], status, answer)
            assert time.monotonic() - began < 1 and t not in answer["text"], t[:20]
        # an unsigned token is not parsed, or the refusal would mention its JSON
        header, payload, signature = good.split(".")
        for t in ".".join((header[:-4], payload, signature)), ".".join((header, "e3t7", signature)), ".".join(("e3t7", "e3t7", "AAAA")):
            refused(ask(t, "x"), 67, "has signed it")
        status, answer = ask("A" * 16385, "x")
        assert status == 65, answer
        assert good not in read(LOG) and good.split(".")[2][:20] not in read(LOG)
        granted(ask(good, "x"))


def bound():
    """The times at which the bindings end, from their files."""
    return [int(os.stat(TOKENS + "/" + n).st_mtime) for n in os.listdir(TOKENS)]


@case("T5", "A used token is remembered until it expires or max_age ends it, not until whatever year it names")
def t5():
    with issuer() as token:
        now = int(time.time())
        granted(ask(token(exp=now + 600), "a"))
        assert bound() == [now + 600], bound()
        granted(ask(token(exp=now + 20 * 365 * 86400), "b"))
        latest = max(bound()) - 3600 - 60
        assert now <= latest <= time.time(), bound()
        t = token(exp=now + 2 ** 40, job="c")
        granted(ask(t, "c"))
        refused(ask(t, "d"), 77, "another container")
        assert max(bound()) <= time.time() + 3600 + 60, bound()


@case("T6", "A token that expired seconds ago, within the clock tolerance, still serves only one container")
def t6():
    with issuer() as token:
        now = int(time.time())
        for n, ago in enumerate((1, 30, 45)):
            t = token(exp=now - ago, iat=now - 300, job="j%d" % n)
            granted(ask(t, "a%d" % n))
            granted(ask(token(job="k%d" % n), "k%d" % n))	# by now the bindings that have ended are removed
            refused(ask(t, "b%d" % n), 77, "another container")


def plant(first, count, uid):
    """Plants so many used, unexpired tokens of this user."""
    at = time.time() + 3000
    for n in range(first, first + count):
        fd = os.open("%s/%064x" % (TOKENS, n), os.O_WRONLY | os.O_CREAT, 0o600)
        os.fchown(fd, 0, uid)
        os.utime(fd, (at, at))
        os.close(fd)


@case("T7", "One user's used tokens are limited, and leave room for other users'; all together are limited, too", 40)
def t7():
    uid = pwd.getpwnam("attacker").pw_uid
    with issuer() as token:
        granted(ask(token(job="a"), "a"))
        plant(0, 8190, uid)
        granted(ask(token(job="b"), "b"))
        refused(ask(token(job="c"), "c"), 75, "uid %d" % uid, "8192")
        granted(ask(token(job="c"), "c", "victim"))
        granted(ask(token(job="c2"), "c", "root"))
        # other users' tokens: 8190 and 4 more
        plant(8190, 65536 - 8194 - 1, 40000)
        granted(ask(token(job="d"), "d", "victim"))
        refused(ask(token(job="e"), "e", "victim"), 75, "65536")
        refused(ask(token(job="e"), "e", "root"), 75, "65536")


@case("T9", "One worker's uid runs all teams' containers: a busy refusal names only containers of the team in the asker's token")
def t9():
    with issuer() as token:
        for n, pipeline in enumerate(("other/pull-requests", "ml/eval", "m/l")):
            write(POLICIES + "/11-%d.conf" % n, 'pipeline = "%s"; gpus = ( { vendor = "nvidia"; count = 2; } );' % pipeline)
        with asker("attacker") as a:
            granted(a.grant(id="one", token=token(), gpus=None))
            for team, pipeline, told in ("other", "pull-requests", False), ("m", "l", False), ("ml", "eval", True):
                answer = ask(token(team=team, pipeline=pipeline, job=team), "two")
                refused(answer, 75, "taken by")
                assert ("train" in answer[1]["text"]) == told and ("container one" in answer[1]["text"]) == told, (team, answer)
        client.look()
        # a container without a pipeline has no team
        with asker("attacker") as a:
            granted(a.grant(id="caller-s", gpus="2"))
            answer = ask(token(job="z"), "two")
            refused(answer, 75, "taken by a container")
            assert "caller-s" not in answer[1]["text"], answer


@case("T10", "The per-user limit on used tokens does not apply to root; the total does", 40)
def t10():
    with issuer() as token:
        granted(ask(token(job="a"), "a", "root"))
        plant(0, 8192, 0)
        granted(ask(token(job="b"), "b", "root"))


@case("T11", "A directory of used tokens that others could change: no token is accepted or used up")
def t11():
    with issuer() as token:
        granted(ask(token(job="a"), "a"))
        used, t = os.listdir(TOKENS), token(job="b")
        for path in TOKENS, os.path.dirname(TOKENS):
            old = os.stat(path)
            for mode, owner, word in (0o777, 0, "written by others"), (0o770, 0, "written by others"), \
                    (0o700, pwd.getpwnam("attacker").pw_uid, "belongs to uid"):
                try:
                    os.chown(path, owner, -1)
                    os.chmod(path, mode)
                    refused(ask(t, "b"), 78, path, word)
                finally:
                    os.chown(path, old.st_uid, old.st_gid)
                    os.chmod(path, old.st_mode & 0o7777)
                assert os.listdir(TOKENS) == used, (path, mode, owner)
        granted(ask(t, "b"))


def told_since(before):
    """The new records; each line must hold one record, in printable ASCII."""
    lines = log_lines()[before:]
    assert all(set(line) <= set(range(32, 127)) for line in lines), [line for line in lines if not set(line) <= set(range(32, 127))]

    def unique(pairs):
        assert len({k for k, _ in pairs}) == len(pairs), pairs
        return dict(pairs)
    return [json.loads(line, object_pairs_hook=unique) for line in lines]


FORGERIES = ('x', 'a"b\\c', '\n{"n":1,"event":"grant"}\n', '","event":"grant","pipeline":"train', '\x1b[2J\x7f\r\x00', '\u202e\u2028\u2029\U0001f600',
             '"}', '\\"}', '\\u0022,\\u0022event\\u0022:\\u0022grant', "'", '{"a":1}')


@case("T12", "A token's instance_vars are in the record of its grant or refusal, and cannot forge another record", 60)
def t12():
    with issuer() as token:
        write(POLICIES + "/10-token.conf", 'pipeline = "ml/train"; instance_vars = { pr = 1; }; gpus = ( { vendor = "nvidia"; } );')
        for n, text in enumerate(FORGERIES):
            for given in {"pr": 1, "branch": text}, {"pr": 17, "branch": text}, {"pr": 17, text: {"event": [text]}}:
                before = len(records())
                answer = ask(token(instance_vars=given, job="j%d" % n), "p%d" % n)
                if "\x00" in str(given.values()) or "\x00" in text:
                    refused(answer, 65)
                    continue
                told = [r for r in told_since(before) if r["event"] in ("grant", "refuse")]
                assert len(told) == 1 and told[0]["event"] == ("grant" if given["pr"] == 1 else "refuse"), (answer, told)
                assert told[0]["identity"] == "token" and told[0]["pipeline"] == "train", told
                assert json.loads(told[0]["instance_vars"]) == given and "instance_vars_left_out" not in told[0], (given, told)
                client.look()
        # too long for a record: the number of the pull request is still there
        before = len(records())
        refused(ask(token(instance_vars={"branch": "x" * 2000, "list": ["\n"] * 400, "pr": 17}), "long"), 77)
        told = told_since(before)[-1]
        assert json.loads(told["instance_vars"]) == {"pr": 17} and told["instance_vars_left_out"] == 2, told
        before = len(records())
        refused(ask(token(instance_vars={"v%d" % n: n for n in range(400)}), "many"), 77)
        told = told_since(before)[-1]
        assert len(told["instance_vars"]) <= 1024 and len(json.loads(told["instance_vars"])) + told["instance_vars_left_out"] == 400, told


@case("T13", "A claim's instance_vars are recorded as a claim, parsed or not, and cannot forge a record", 60)
def t13():
    claim = dict(team="ml", pipeline="pr", gpus="1", job="j")
    for text in FORGERIES:
        given = {"pr": 17, "branch": text}
        before = len(records())
        once("attacker", exchange, instance_vars=json.dumps(given), **claim)
        told = [r for r in told_since(before) if r["event"] in ("grant", "refuse")]
        assert len(told) == 1 and told[0]["identity"] == "claim" and told[0]["pipeline"] == "pr", told
        if "\x00" not in text:
            assert json.loads(told[0]["instance_vars"]) == given, told
        client.look()
    # no JSON, or rejected by the judge
    for text in '{"pr":1', '{"pr":1,"pr":2}', '["pr"]', "x", '","event":"grant', "{\n\"pr\"\n:1", "\\", '"' * 3000, '{"a":' * 10000, \
            '{"a":"' + "x" * 65500 + '"}':
        for verb in "grant", "refused", "plain":
            before = len(records())
            once("attacker", exchange, verb=verb, instance_vars=text, reason="r" if verb == "refused" else None, **claim)
            told = [r for r in told_since(before) if r["event"] in ("grant", "refuse", "plain")]
            assert len(told) == 1 and told[0]["identity"] == "claim" and told[0]["team"] == "ml", (text[:20], told)
            assert len(told[0].get("instance_vars", "")) <= 1024, told
            client.look()
    # such a request cannot be encoded: it is malformed, and names no user
    for text in b"\xff\xfe", b"{\"pr\":\"\xc0\"}", "{}" * 32769, b"{}\0":
        before = len(records())
        assert once("attacker", exchange, instance_vars=text, **claim)[0] == 65, text[:20]
        assert told_since(before) == [], text[:20]


@case("T14", "A request that awaits keys keeps no helper waiting and gets nothing; only the refusal of a forged token has no record")
def t14():
    with issuer() as token:
        before, good, forged = len(records()), token(job="a"), token(token.other)
        for n in range(20):
            began = time.monotonic()
            status, answer = ask(forged, "x", await_keys=True, team="ml", pipeline="train")
            assert (status, answer["reply"], answer["code"], answer["wait"]) == (67, "busy", 67, 0) and time.monotonic() - began < 1, (status, answer)
        assert told_since(before) == [] and not leases() and not (os.path.isdir(TOKENS) and os.listdir(TOKENS))
        for t, code in (token(exp=1000, iat=500), 77), (token(aud=["other"]), 77), (token(pipeline="other"), 77), ("x", 65), ("a.b.c", 65):
            before = len(records())
            refused(ask(t, "x", await_keys=True), code)
            assert [r["event"] for r in told_since(before)] == ["refuse"], t[:20]
        before = len(records())
        refused(ask(forged, "x"), 67, "has signed it")
        assert [(r["event"], r["code"]) for r in told_since(before)] == [("refuse", 67)]
        granted(ask(good, "a", await_keys=True))
