/*
 * See usedtoken.h. Works beneath /var/lib/gpuhelper only. A file's name is a hash of the token's issuer and of what all
 * spellings of the token have in common. Its content is the container's lease key. Its modification time is the
 * token's expiry. Its group is the uid that came with the token; the mode gives that group no access. So neither
 * cleaning up nor counting reads a file.
 */
#include "usedtoken.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "../../base/cleanup.h"
#include "../../base/hash.h"
#include "../../base/times.h"
#include "../../host/file.h"
#include "../../host/trust.h"
#include "../self/state.h"

#define TOKENS GPUHELPER_STATEDIR "/tokens"
/* tokens that have not expired; expired ones are removed, however many there are */
#define TOKENS_MAX 65536
#define TOKENS_PER_USER 8192	/* or one user could lock out the others; root has no limit of its own */
#define FILES_MAX (1 << 22)

static int
open_tokens(struct why *why)
{

	if ((mkdir(GPUHELPER_STATEDIR, 0700) == -1 && errno != EEXIST) || (mkdir(TOKENS, 0700) == -1 && errno != EEXIST))
		return refuse(why, WHY_IO, TOKENS ": %s", strerror(errno));
	return trust_open_dir(TOKENS, true, why);
}

/* Removes the records of expired tokens, and counts the others. Our clock may be behind the issuer's by the leeway. */
static int
forget_and_count(int dir, uint32_t uid, struct why *why)
{
	autostrlist struct strlist names = { 0 };
	time_t now = time(NULL);
	struct stat st;
	size_t i, left = 0, own = 0;

	if (state_list(dir, TOKENS, FILES_MAX, &names, why) == -1)
		return -1;
	for (i = 0; i < names.n; i++) {
		if (fstatat(dir, names.v[i], &st, AT_SYMLINK_NOFOLLOW) == 0) {
			/* a killed helper left a file with a dot in its name that is older than any helper can be */
			if (st.st_mtime + 2 * TOKEN_LEEWAY < now ||
			    (strchr(names.v[i], '.') != NULL && st.st_ctime + RUN_MAX_OF_ROOTS_S < now)) {
				(void)unlinkat(dir, names.v[i], 0);
				continue;
			}
			own += st.st_gid == uid;
		}
		left++;
	}
	if (uid != 0 && own >= TOKENS_PER_USER)
		return refuse(why, WHY_AGAIN, "uid %u has used %zu tokens that have not expired, at most %d are allowed: try "
		    "again later", uid, own, TOKENS_PER_USER);
	if (left >= TOKENS_MAX)
		return refuse(why, WHY_AGAIN, TOKENS ": more than %d tokens that have not expired", TOKENS_MAX);
	return 0;
}

/*
 * The author of a token chooses its exp, even the year 9999. But nobody accepts a token more than max_age after it
 * was signed, and it was signed a leeway from now at the latest.
 */
static int64_t
expiry_of(const struct attribution *whose)
{
	int64_t latest = time(NULL) + whose->by->max_age + TOKEN_LEEWAY;

	return whose->exp < latest ? whose->exp : latest;
}

/* Writes a file with this content, group and time under a temporary name. */
static int
stage(int dir, const char *temp, const char *content, uint32_t uid, int64_t exp, struct why *why)
{
	const struct timespec times[2] = { { .tv_sec = exp }, { .tv_sec = exp } };
	autoclose int fd = openat(dir, temp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	ssize_t n;

	if (fd == -1)
		return refuse(why, WHY_IO, TOKENS "/%s: %s", temp, strerror(errno));
	n = write(fd, content, strlen(content));
	if (n != (ssize_t)strlen(content) || fchown(fd, 0, uid) == -1 || futimens(fd, times) == -1 || fsync(fd) == -1) {
		refuse(why, WHY_IO, TOKENS "/%s: %s", temp, n >= 0 && n < (ssize_t)strlen(content) ? "no space left" :
		    strerror(errno));
		(void)unlinkat(dir, temp, 0);
		return -1;
	}
	return 0;
}

/* The token is bound already. 0 if to this container; else -1 with *why. */
static int
check_bound(int dir, const char *name, const char *lease_key, struct why *why)
{
	autofree char *bound = NULL;

	if ((bound = trust_read(dir, name, TOKENS, 128, true, NULL, why)) == NULL)
		return -1;
	if (strcmp(bound, lease_key) == 0)
		return 0;
	return refuse(why, WHY_DENIED, "GPUHELPER_TOKEN was used by another container before: each task needs its own; "
	    "with RS256, tokens of one second are equal: set algorithm: ES256 in the pipeline's idtoken var source");
}

int
used_token_bind(const struct attribution *whose, uint32_t uid, const char *lease_key, char name[HASH_SIZE],
    struct why *why)
{
	const char *const pieces[] = { whose->issuer, whose->once, NULL };
	autoclose int dir = open_tokens(why);
	char file[HASH_SIZE], temp[96];
	uint64_t random;
	int ret, saved;

	name[0] = '\0';
	if (dir == -1 || forget_and_count(dir, uid, why) == -1)
		return -1;
	hash_pieces(pieces, file);
	/* random, because two helpers in different PID namespaces can have the same PID */
	if (getrandom(&random, sizeof(random), 0) != (ssize_t)sizeof(random))
		return refuse(why, WHY_BUG, "getrandom: %s", strerror(errno));
	snprintf(temp, sizeof(temp), "%s.%016llx", file, (unsigned long long)random);
	if (stage(dir, temp, lease_key, uid, expiry_of(whose), why) == -1)
		return -1;
	/*
	 * Of two helpers with the same token, only one succeeds. So would link(2), but for a moment the file would have
	 * two links, which trust_read() refuses.
	 */
	ret = renameat2(dir, temp, dir, file, RENAME_NOREPLACE);
	saved = errno;
	if (ret == -1)
		(void)unlinkat(dir, temp, 0);
	if (ret == -1 && saved == EEXIST)
		return check_bound(dir, file, lease_key, why);
	if (ret == -1)
		return refuse(why, WHY_IO, TOKENS ": %s", strerror(saved));
	/* or a reboot would free the token; some file systems can't sync a directory */
	if (fsync(dir) == -1 && errno != EINVAL) {
		refuse(why, WHY_IO, TOKENS ": %s", strerror(errno));
		(void)unlinkat(dir, file, 0);
		return -1;
	}
	snprintf(name, 65, "%s", file);
	return 0;
}

void
used_token_reuse_hash(const struct attribution *whose, char reuse_hash[HASH_SIZE])
{
	const char *const pieces[] = { whose->issuer, whose->once, NULL };

	reuse_hash[0] = '\0';
	if (whose->by != NULL && whose->by->claims.reuse_by != NULL)
		hash_pieces(pieces, reuse_hash);
}

int
used_token_may_add(const struct leases *ls, const struct lease *l, struct why *why)
{
	size_t i;

	for (i = 0; l->reuse_hash[0] != '\0' && i < ls->n; i++)
		if (strcmp(ls->v[i]->reuse_hash, l->reuse_hash) == 0)
			return refuse(why, WHY_AGAIN, "GPUHELPER_TOKEN is in use by another container of its job, and serves one at a "
			    "time: start this one when that one has ended");
	return 0;
}

void
used_token_drop(const char *name)
{
	struct why ignored;
	autoclose int dir = *name != '\0' ? open_tokens(&ignored) : -1;

	if (dir != -1)
		(void)unlinkat(dir, name, 0);
}
