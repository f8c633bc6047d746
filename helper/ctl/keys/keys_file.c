/*
 * See keys.h: reads and writes the files with an issuer's keys.  A file that is read may be anyone's: symbolic links
 * are not followed, and the caller parses the text with jwks_parse().  Text that is written has been parsed before.
 */
#include "../../policy/tokenhash.h"
#include "keys.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "../../base/cleanup.h"
#include "../../base/path.h"
#include "../../host/file.h"

const struct issuer_setting *
keys_issuer(const struct keys_conf *c, const char *url, struct why *why)
{
	size_t i;

	for (i = 0; i < c->settings.issuers; i++)
		if (strcmp(c->settings.issuer[i].url, url) == 0)
			return &c->settings.issuer[i];
	refuse(why, WHY_DATA, "gpuhelper.conf has no issuer %.200s", url);
	return NULL;
}

enum trust_found
keys_open_dir(const struct issuer_setting *s, bool strict, int *dir, struct why *why)
{
	size_t len = (size_t)(path_last(s->keys) - s->keys);
	/* without the trailing slash, except for "/" itself */
	autofree char *path = strndup(s->keys, len > 1 ? len - 1 : 1);

	if (path != NULL)
		return trust_find_dir(path, strict, dir, why);
	*dir = refuse_nomem(why);
	return TRUST_FAILED;
}

enum trust_found
keys_read(int dir, const char *name, const char *shown, bool strict, char **text, size_t *len, int64_t *mtime,
    struct why *why)
{
	enum trust_found found;
	struct stat st;

	if ((found = trust_find_text(dir, name, shown, JWKS_MAX, strict, text, len, why)) != TRUST_FOUND)
		return found;
	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == -1) {
		refuse(why, WHY_IO, "%s: %s", shown, strerror(errno));
		free(*text);
		*text = NULL;
		return TRUST_FAILED;
	}
	*mtime = st.st_mtim.tv_sec;
	return TRUST_FOUND;
}

int
keys_write(int dir, const char *name, const char *shown, const char *text, size_t len, int64_t fetched,
    struct why *why)
{
	const struct timespec modified = { .tv_sec = (time_t)fetched };

	return ctl_write_file(dir, name, shown, text, len, &modified, why);
}

static json_t *
key_json(const struct jwk *k)
{
	json_t *j = json_object();

	put_text(j, "kid", jwk_kid(k));
	put_text(j, "alg", jwk_alg(k));
	if (jwk_bits(k) != 0)
		json_object_set_new(j, "bits", json_integer(jwk_bits(k)));
	json_object_set_new(j, "usable", json_boolean(jwk_unusable(k) == NULL));
	put_text(j, "reason", jwk_unusable(k));
	return j;
}

json_t *
keys_json(const struct jwks *keys)
{
	json_t *list = json_array();
	size_t i;

	for (i = 0; i < jwks_count(keys); i++)
		json_array_append_new(list, key_json(jwks_at(keys, i)));
	return list;
}

void
keys_say(const struct keys_conf *c, const struct issuer_setting *s, const struct jwks *keys, const char *where)
{
	json_t *j;

	if (c->told == NULL) {
		say("%s: %zu key%s in %s", s->url, jwks_count(keys), S_OF(jwks_count(keys)), where);
		return;
	}
	j = json_object();
	put_text(j, "issuer", s->url);
	put_text(j, "file", where);
	json_object_set_new(j, "keys", keys_json(keys));
	json_array_append_new(c->told, j);
}

int
keys_failed(const struct keys_conf *c, const struct issuer_setting *s, const struct why *why)
{
	struct why told = *why;
	json_t *j;

	told.code = WHY_IO;
	if (c->told != NULL) {
		j = error_json(&told);
		put_text(j, "issuer", s->url);
		json_array_append_new(c->told, j);
	}
	return complain(told.code, "%.200s: %s", s->url, told.text);
}

int
keys_place(const struct keys_conf *c, const struct issuer_setting *s, const struct jwks *keys, const char *text,
    size_t len, struct why *why)
{
	autoclose int dir = -1;

	if (keys_open_dir(s, c->strict, &dir, why) != TRUST_FOUND ||
	    keys_write(dir, path_last(s->keys), s->keys, text, len, jwks_fetched(keys), why) == -1)
		return -1;
	keys_say(c, s, keys, s->keys);
	return 0;
}
