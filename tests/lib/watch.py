"""
Watches an installation: opens the wrapper as LookPath does, and everything beside the helper, again and again until
SIGTERM. watch.py WRAPPER HELPER OUT

Both files must exist beforehand, complete, with the content that the installation keeps.  OUT gets a line for each
fault.  OUT.looks gets the number of looks, and of different files that the wrapper was.  OUT.ready appears when the
watch begins.
"""
import hashlib, os, signal, stat, sys
wrapper, helper, out = sys.argv[1:]
place = os.path.dirname(helper)
content = lambda fd: hashlib.sha256(os.pread(fd, 1 << 26, 0)).hexdigest()
whole = {p: content(os.open(p, os.O_RDONLY)) for p in (wrapper, helper)}
group = os.stat(helper).st_gid
bad, files, known, end = set(), set(), set(), []
looks = 0
signal.signal(signal.SIGTERM, lambda *a: end.append(1))
open(out + '.ready', 'w').close()


def look(path, judge):
    try:
        fd = os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        return False
    st = os.fstat(fd)
    state = st.st_ino, st.st_ctime_ns, st.st_size, st.st_mode
    if state not in known:
        judge(path, st, fd)
        # a file that changed during the read is judged again
        if os.fstat(fd).st_ctime_ns == st.st_ctime_ns:
            known.add(state)
    os.close(fd)
    return True


def judge_wrapper(path, st, fd):
    files.add(st.st_ino)
    if not st.st_mode & 0o111 or content(fd) != whole[wrapper]:
        bad.add('the wrapper is half written, or can not be executed')


def judge_bit(path, st, fd):
    if st.st_mode & stat.S_ISUID and ((st.st_uid, st.st_gid, st.st_mode & 0o7777) != (0, group, 0o4750) or content(fd) != whole[helper]):
        bad.add('%s has the setuid bit, and owner %d:%d, mode %o or another content' % (path, st.st_uid, st.st_gid, st.st_mode))


while not end:
    looks += 1
    if not look(wrapper, judge_wrapper):
        bad.add('the wrapper is missing')
    for n in os.listdir(place):
        look(os.path.join(place, n), judge_bit)
    if not os.path.exists(helper):
        bad.add('the helper is missing')
with open(out, 'w') as f:
    f.write(''.join(b + '\n' for b in sorted(bad)))
with open(out + '.looks', 'w') as f:
    f.write('%d %d\n' % (looks, len(files)))
