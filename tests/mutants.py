#!/usr/bin/env python3
"""Takes single lines of defence out of a copy of the tree, one at a time, and runs the tests nearest to each.

usage: mutants.py [NUMBER...]    (as root; «check.sh --long» runs it.  TAP)
       mutants.py --applies      only whether each line is there to be taken out, which takes a moment (docs.sh)

A line that no test misses is a failure: either the line is not needed, or a test is.  A mutant is a refusal whose
condition never holds, or a check that always passes.  Each test is a word: unit/t_NAME, attack/t_NAME (tests/attack),
socket (tests/attack/socket.sh), or the name of a group of check.sh.  The tests run in the order of the table until one
fails.
"""
import os, re, shutil, subprocess, sys, tempfile

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def never(snippet, nth=1):
    """The condition of the refusal with this text never holds."""
    def edit(text):
        at = -1
        for _ in range(nth):
            at = text.index(snippet, at + 1)
        begin = max(text.rfind('if (', 0, at), 0)
        opening, depth, k = begin + 3, 0, begin + 3
        while True:
            depth += {'(': 1, ')': -1}.get(text[k], 0)
            if depth == 0:
                break
            k += 1
        return text[:opening] + '(false && ' + text[opening:k + 1] + text[k:k + 1] + text[k + 1:]
    return edit


def swap(old, new):
    def edit(text):
        assert text.count(old) == 1, (old, text.count(old))
        return text.replace(old, new)
    return edit


# file of helper/, what is taken out, how, the tests
MUTANTS = (
    ('root/enter/peer.c', 'the overflow uid may ask', swap('uid == (uid_t)-1 || uid == OVERFLOW_UID', 'uid == (uid_t)-1'), 'attack/t_lease'),
    ('root/enter/peer.c', 'a caller in another root directory may ask', never('asks from another root directory'), 'socket attack/t_spaces'),
    ('root/enter/peer.c', "a caller in somebody else's user namespace may ask", never('asks from a user namespace that uid'), 'socket attack/t_spaces'),
    ('root/enter/peer.c', 'the number of a process that is gone is taken for the caller', swap('peer->start > own ||\n\t    !process_has_uid(peer->pid, peer->client.uid))', 'peer->start > own)'), 'socket attack/t_process'),
    ('root/enter/enter.c', 'the leader of a process group may start the helper', swap('setsid() == -1 && who->uid != 0', 'setsid() == -1 && false'), 'attack/t_process attack/t_stall attack/t_door'),
    ('root/enter/enter.c', 'a subordinate uid may ask', never('is a subordinate uid'), 'attack/t_door attack/t_process attack/t_spaces'),
    ('root/enter/owncgroup.c', 'a cgroup that others may write is one of root\'s alone', swap('st.st_uid == 0 && (st.st_mode & (S_IWGRP | S_IWOTH)) == 0', 'st.st_uid == 0'), 'attack/t_cgroup'),
    ('root/lease/usedtoken.c', 'a user may use up everybody\'s tokens', never('tokens that have not expired, at most'), 'attack/t_token tokens-runc-v1'),
    ('root/lease/usedtoken.c', 'a token may be used for a second container', swap('strcmp(bound, lease_key) == 0', 'true'), 'attack/t_token tokens-runc-v1'),
    ('root/lease/queue.c', 'a user may fill the queue', swap('q->n < QUEUED_MAX && own < QUEUED_PER_USER', 'q->n < QUEUED_MAX'), 'attack/t_stall attack/t_lease leases'),
    ('root/node/acl.c', 'an entry that someone set on purpose is overwritten', never('someone set it on purpose'), 'attack/t_acl'),
    ('root/node/node.c', 'a node with other numbers is opened', never('is device %u:%u and should be'), 'attack/t_acl attack/t_policy grants-runc-v1'),
    ('root/log/lograte.c', 'a user may fill the log', never('records of %s by uid %u in a minute'), 'attack/t_lease'),
    ('root/verb/created.c', 'a container starts although somebody has its GPU open', swap('else if (late_scan_check(l, &unscanned) == -1)', 'else if (false && late_scan_check(l, &unscanned) == -1)'), 'attack/t_twice beside-runc-v1'),
    ('root/grant/latescan.c', "a look for another container's GPU is enough", swap('strcmp(l->key, late_scan.key) == 0;', 'true;'), 'attack/t_twice'),
    ('look/nodeopeners.c', 'what a copy found does not count', swap('part->opener[k] > 0 ||', 'false ||'), 'attack/t_twice'),
    ('user/create.c', 'a container starts although its create has not ended', swap('if (grant_record_refuse_unconfirmed(c, why) == -1)', 'if (false && grant_record_refuse_unconfirmed(c, why) == -1)'), 'vetting beside-runc-v1'),
    ('user/newcontainer.c', "root's create does not check the root directory in the container", swap('namespace_is_hosts_root() ? rootfs_may_be', 'false ? rootfs_may_be'), 'refusals-crun-v1'),
    ('root/verb/taskover.c', 'anybody may take the place of a task that waits', swap('!process_id_lives(q.v[position].task)', 'true'), 'task-runc-v1 attack/t_lease'),
    ('root/verb/task.c', 'a task takes GPUs whose nodes have other numbers now', never('the numbers of its device nodes have changed'), 'task-runc-v1 task-ends-runc-v1'),
    ('host/trust.c', "another user's file is read", never('belongs to uid %u and not to root'), 'unit/t_trust attack/t_policy'),
    ('host/trust.c', 'a file with a second link is read', never('links: it must have one'), 'unit/t_trust attack/t_policy'),
    ('host/trust.c', 'an executable file is read', never('is executable, and no file that gpuhelper reads is'), 'unit/t_trust attack/t_policy'),
    ('host/trust.c', 'a file that changed while it was read is used', never('changed while it was read: try again'), 'unit/t_trust attack/t_policy attack/t_reader'),
    ('host/own/ownprogram.c', 'a program\'s user may be root', never('has the uid or the group of root'), 'unit/t_users attack/t_reader attack/t_policy attack/t_process'),
    ('host/folder/folders.c', 'two folders at one place in the container', never('would both be at %s in the container'), 'gpuhelperctl'),
    ('host/folder/folders.c', 'a folder with mounts beneath it, in a user namespace', swap('w->rule->submounts || l->subject', 'true || l->subject'), 'folders grants-runc-v1 refusals-runc-v1'),
    ('host/driver/driverfiles.c', 'a driver file that others may change', never('can be changed by others than root: see ls -ld'), 'handspec driver-runc ctk-matrix'),
    ('host/driver/driverfiles.c', 'a spec of another driver version', swap("version[0] == '\\0' || strcmp(version, loaded) == 0", 'true'), 'handspec driver-runc'),
    ('host/selinux.c', 'SELinux enforces and can\'t be asked', never('it can\'t be asked from here'), 'unit/t_secontext attack/t_policy vm-selinux'),
    ('user/mount/rootfs.c', 'the root directory may be anywhere', swap('path_is_beneath(*path, bundle) ||', 'true ||'), 'refusals-runc-v1'),
    ('user/mount/rootfs.c', 'a path of the container may lead out of its root', never('in the container leads out of its root'), 'refusals-runc-v1 in-mounts-runc-v1'),
    ('user/mount/sources.c', 'a mount\'s source may lead through /proc/PID', never("a process's own"), 'privileged-runc-v1 refusals-runc-v1'),
    ('user/mount/sources.c', 'gpuhelper\'s own directories may be mounted', never('would bring gpuhelper'), 'refusals-runc-v1'),
    ('user/command/argv.c', 'exec may name a cgroup elsewhere', never("leads out of the container's own cgroup"), 'unit/t_argv options-runc-v1'),
    ('user/privilege/annotations.c', 'annotations may give the runtime orders', never('tells the runtime where to put the container'), 'refusals-runc-v1 unit/t_annotation'),
    ('user/privilege/resources.c', 'unified may move processes', never('is not a limit: it moves, stops or ends'), 'refusals-runc-v2 options-runc-v1 refusals-runc-v1'),
    ('user/spec/exactkeys.c', 'a key may be spelt as only Go reads it', never('must be spelt'), 'refusals-runc-v1 unit/t_spec'),
    ('user/cgroup/devcgroup.c', 'a rule that someone else changed is taken for ours', never('was changed by someone'), 'task-runc-v1 task-ends-runc-v1 task-rounds-runc-v1'),
    ('user/spec/bundle.c', 'config.json may be kept from a hook that needs it', swap('if (r->mapped && fchown(fd, (uid_t)-1, r->gid) == 0) {', 'if (true) {'), 'hooks-runc-v1 unit/t_bundle'),
    ('judge/jwk.c', 'a key file with a private key is used', never('holds a secret'), 'unit/t_token keys'),
    ('judge/jwk.c', 'a short RSA key', never('at least %d are needed'), 'unit/t_token keys'),
    ('judge/token.c', 'a token with an extension that must be understood', never('has \\"crit\\"'), 'unit/t_token'),
    ('judge/token.c', 'a token whose alg is another one than its key\'s', never('but %s of %s is'), 'unit/t_token'),
    ('judge/token.c', 'a token that is not valid yet', never('is not valid before'), 'unit/t_token'),
    ('judge/issuerclaims.c', 'a token that names no team', never('is empty: it names no'), 'unit/t_token'),
    ('judge/issuerclaims.c', 'a team with a slash', never('has a slash: no team has such a name'), 'unit/t_token'),
    ('judge/issuerclaims.c', 'a token without what gpuhelper.conf requires', swap('if (claim_value_is(value, want->value.v[i]))', 'if (true)'), 'unit/t_token'),
    ('judge/issuerclaims.c', 'reuse_by a claim that names nothing', swap('json_is_integer(value) || json_string_length(value) > 0', 'true'), 'unit/t_token claims'),
    ('judge/match.c', 'a policy whose claims do not match', swap('covers_instance(p, id, why) && covers_claims(p, id, why)', 'covers_instance(p, id, why)'), 'unit/t_match'),
    ('judge/claimvalue.c', 'a control character in what a pattern matches', swap('!claim_value_has_control(value) && glob_match', 'glob_match'), 'unit/t_match'),
    ('root/lease/usedtoken.c', 'two containers of a job at once', never('is in use by another container of its job'), 'claims-runc-v1'),
    ('judge/decide.c', 'a broken file does not end the search', swap('\tif (e->broken != NULL) {', '\tif (false) {'), 'unit/t_decisionindexes unit/t_decide refusals-runc-v1'),
    ('ask/judgepass.c', 'gpuhelper-judge may hear anything first', swap('\t}\n\treturn false;', '\t}\n\treturn true;'), 'attack/t_engine'),
    ('ask/pathscheck.c', 'a cgroup may lie outside of /sys/fs/cgroup', swap("path[1] == '\\0' || !path_is_clean(path)", "path[1] == '\\0'"), 'unit/t_pathsquery'),
    ('root/grant/plan.c', 'a container of root\'s needs no cgroup', swap('l->container.cgroups.n > 0 ? 0', 'true ? 0'), 'attack/t_look'),
    ('root/grant/authz.c', 'the engine names the issuer of a token', swap('from->issuer >= authz->settings.issuers', 'false'), 'attack/t_engine'),
    ('read/conf/confscan.c', 'a policy may include other files', swap("\tcase '@':\n\t\tSCAN_FAULT", "\tcase '\\1':\n\t\tSCAN_FAULT"), 'unit/t_conf'),
    ('read/conf/policyread.c', 'a policy\'s variable may grant GPUs to a runtime below', never('it tells what was granted'), 'unit/t_conf'),
    ('read/conf/policyread.c', 'a policy may list callers by number', never('callers are names of users'), 'unit/t_conf'),
    ('read/conf/settingsread.c', 'the host\'s root may be a volume', never('would let a task take'), 'unit/t_conf gpuhelperctl'),
    ('engine/authorize.c', 'a container that asks for nothing is judged', never('the container asks for nothing'), 'attack/t_policy'),
    ('engine/authorize.c', 'run gets a folder that lies in one that others may write', swap('if (p->folder[k].writable)', 'if (false)'), 'attack/t_policy'),
    ('engine/allocate.c', 'nothing is reserved for those who came earlier', swap('is_in_quota(s, &a->earlier[i]) && reserve_for', 'false && reserve_for'), 'unit/t_allocate leases'),
    ('engine/allocate.c', 'max_gpus limits nobody', swap('return p->max_gpus == 0 ||', 'return true ||'), 'unit/t_allocate quotas'),
    ('engine/allocate.c', 'a drained GPU is given', swap('for (i = 0; i < s->drained->n; i++)\n\t\th->v', 'for (i = 0; false; i++)\n\t\th->v'), 'unit/t_allocate drain'),
    ('engine/allocate.c', 'a user with one GPU starves a request for two', swap(' && !has_one(a);', ';'), 'unit/t_allocate leases'),
    ('engine/gpuholders.c', "a refusal names another user's container", swap('return of == uid && (', 'return ('), 'unit/t_allocate attack/t_lease leases'),
    ('engine/gpuholders.c', "a team with a slash is told of another team's", swap("strchr(team, '/') == NULL &&", 'true &&'), 'unit/t_allocate'),
    ('engine/hostgpus.c', "the judge's report is not checked", swap(' || host_check(inv, why) == -1', ''), 'attack/t_policy attack/t_reader attack/t_engine'),
    ('engine/answering.c', "the host's other GPUs are not hidden", swap('mask_others(q, &e, &out->why) == -1', 'false'), 'grants-runc-v1'),
    ('look/leaseinuse.c', 'the process that asked does not keep its lease', swap('lives(s, l, l->asker) || ', ''), 'attack/t_inuse attack/t_lease'),
    ('look/leaseinuse.c', 'a mount namespace does not keep a lease', swap('if (l->container.mnt_ns != 0 && ', 'if (false && '), 'attack/t_inuse'),
    ('look/leaseinuse.c', 'what can not be seen has ended', swap('!begin_snapshot(s) || is_invisible(s, l) ||', '!begin_snapshot(s) ||'), 'attack/t_inuse attack/t_spaces nested-runc-v1'),
    ('look/rootlessuse.c', 'a setuid program of the user\'s does not keep a lease', swap(' || in_spans(s, o.real)', ''), 'attack/t_inuse attack/t_lease'),
    ('look/rootlessuse.c', 'a mapped node does not keep a lease', swap('thread_any(s->proc, pid, thread_uses, s) ||', 'thread_any(s->proc, pid, thread_uses, s) || false &&'), 'attack/t_inuse attack/t_lease'),
    ('look/rootlessuse.c', 'a mount namespace that is seen in part does not keep a lease', swap('if (!ns_list_has(&s->seen, s->partly.v[i]))', 'if (false)'), 'attack/t_inuse attack/t_lease'),
    ('look/rootlessuse.c', 'a folder that is mounted elsewhere does not keep a lease', swap('(f.folder && !f.copy)', 'false'), 'attack/t_inuse attack/t_lease'),
    ('look/containerprocess.c', 'of two processes that fit, one waits', swap('return found == 1 ? pid : 0;', 'return pid;'), 'attack/t_look'),
    ('look/containerprocess.c', 'a process that began at another time is the one that waits', swap('one.start != asked.start ||', ''), 'attack/t_look task-runc-v1'),
    ('look/paths.c', 'a closed directory of driver files is looked into', swap('(st.st_mode & S_IXOTH) == 0 || st.st_uid != 0', 'false'), 'attack/t_engine attack/t_look'),
    ('look/paths.c', 'a folder with mounts beneath it, for a container that is root', swap('if (!idmap_in(&asked->uids, 0, &inside) ||', 'if (true || !idmap_in(&asked->uids, 0, &inside) ||'), 'attack/t_policy'),
    ('look/cgroups.c', 'a cgroup that can not be seen', swap('return cgroup_is_shown(pid) ? 0', 'return true ? 0'), 'nested-runc-v1 where-runc-v1'),
    ('user/vet/takedriver.c', 'the wrapper mounts files of which the helper has not heard', swap('return are_told(from, &e->driver) ?', 'return true ?'), 'unit/t_driveredits attack/t_engine'),
    ('vet/vetnodes.c', "root's wrapper takes any group", swap('if (k == e->nodes) {', 'if (false) {'), 'unit/t_vet'),
    ('vet/vetnodes.c', "root's wrapper takes more GPUs than the policy gives", swap('v->edits->promise || s->n <= most ? 0', 'true ? 0'), 'unit/t_vet'),
    ('root/grant/folderwalk.c', 'a folder may be something else', never('is a symbolic link'), 'attack/t_look'),
    ('root/grant/leasegpus.c', 'the engine picks a GPU that another container has', never('a GPU that another container has'), 'attack/t_engine'),
    ('root/grant/leasegpus.c', 'the engine picks more GPUs than are wanted', never('more or fewer GPUs than the request gets'), 'attack/t_engine'),
    ('root/verb/task.c', "a task's helper goes on with what another has begun anew", swap(' && process_id_same(&l->tasks.changer, &asker) &&\n\t    l->tasks.changing_since == p->lease.tasks.changing_since ?', ' ?'), 'attack/t_look'),
)


def run(*argv, **kw):
    return subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, text=True, errors='replace', **kw)


def misses(tree, word):
    """Runs one test. The first check that fails; None if none does."""
    kind, _, name = word.rpartition('/')
    if kind == 'unit':
        r = run('make', '-s', 'build/unit/' + name, cwd=tree)
        out = run('build/unit/' + name, cwd=tree).stdout if r.returncode == 0 else r.stdout
        status = r.returncode
    elif kind == 'attack' or word == 'socket':
        r = run('sh', 'tests/attack/' + ('setuid.sh' if kind else 'socket.sh'), *([name] if kind else []), cwd=tree)
        out, status = r.stdout, r.returncode
    else:
        r = run('sh', 'tests/check.sh', '--no-deps', word, cwd=tree)
        log = tree + '/build/logs/' + word
        out, status = open(log).read() if os.path.exists(log) else r.stdout, r.returncode
    failed = re.findall(r'^not ok.*', out, re.M)
    if failed:
        return '%s: %s' % (word, failed[0])
    assert re.search(r'^ok', out, re.M), '%s: no check ran (status %d): %s' % (word, status, out.strip()[-200:])
    return None


def applies(file, edit):
    text = open('%s/helper/%s' % (HERE, file)).read()
    try:
        return edit(text) != text
    except (AssertionError, ValueError):
        return False


def main():
    if sys.argv[1:] == ['--applies']:
        lost = ['%d %s: %s' % (n, m[0], m[1]) for n, m in enumerate(MUTANTS, 1) if not applies(m[0], m[2])]
        print('\n'.join(lost))
        return bool(lost)
    chosen = [int(a) for a in sys.argv[1:]] or range(1, len(MUTANTS) + 1)
    top = tempfile.mkdtemp()
    tree = top + '/tree'
    try:
        r = run('git', 'clone', '-q', HERE, tree) if os.path.exists(HERE + '/.git') else run('cp', '-a', HERE, tree)
        assert r.returncode == 0, r.stdout
        # what is not committed yet
        if os.path.exists(HERE + '/.git'):
            run('sh', '-c', 'cd "$1" && git diff HEAD | git -C "$2" apply', '-', HERE, tree)
        r = run('make', '-s', '-j%d' % os.cpu_count(), 'all', 'unit', cwd=tree)
        assert r.returncode == 0, r.stdout[-2000:]
        bad = 0
        for n in chosen:
            file, what, edit, words = MUTANTS[n - 1]
            path = '%s/helper/%s' % (tree, file)
            text = open(path).read()
            with open(path, 'w') as f:
                f.write(edit(text))
            r = run('make', '-s', '-j%d' % os.cpu_count(), 'all', cwd=tree)
            assert r.returncode == 0, (file, what, r.stdout[-2000:])
            by = next((m for m in (misses(tree, w) for w in words.split()) if m), None)
            with open(path, 'w') as f:
                f.write(text)
            bad += not by
            print('%s %d - %s: %s%s' % ('ok' if by else 'not ok', n, file, what, '\n#   ' + by[:200] if by else ''), flush=True)
        print('1..%d' % len(MUTANTS))
        return bad > 0
    finally:
        shutil.rmtree(top, ignore_errors=True)


if __name__ == '__main__':
    sys.exit(main())
