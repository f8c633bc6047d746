/*
 * See issuerkeys.h. Opens the files that the settings name, and accepts only those that root alone can have
 * written.
 */
#include "issuerkeys.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "../../base/cleanup.h"
#include "../../base/path.h"
#include "../../policy/tokenhash.h"
#include "../file.h"
#include "../trust.h"

static enum trust_found
read_keys(const struct issuer_setting *s, int dir, bool strict, struct found_keys *out)
{
	autofree char *text = NULL;
	enum trust_found found;
	struct stat st;
	size_t len;

	found = trust_find_text(dir, path_last(s->keys), s->keys, JWKS_MAX, strict, &text, &len, &out->why);
	if (found != TRUST_FOUND)
		return found;
	if (fstatat(dir, path_last(s->keys), &st, AT_SYMLINK_NOFOLLOW) == -1) {
		refuse(&out->why, WHY_IO, "%s: %s", s->keys, strerror(errno));
		return TRUST_REFUSED;
	}
	if (strlen(text) != len) {
		refuse(&out->why, WHY_CONFIG, "%s: has a NUL byte: it is no JWKS", s->keys);
		return TRUST_REFUSED;
	}
	out->fetched = st.st_mtim.tv_sec > 0 ? st.st_mtim.tv_sec : 0;
	out->text = text;
	text = NULL;
	return TRUST_FOUND;
}

int
issuer_keys_find(const struct issuer_setting *s, bool strict, struct found_keys *out)
{
	autofree char *dir = path_parent(s->keys);
	autoclose int fd = -1;
	enum trust_found found;

	*out = (struct found_keys){ .text = NULL };
	if (dir == NULL)
		return refuse_nomem(&out->why);
	if ((found = trust_find_dir(dir, strict, &fd, &out->why)) == TRUST_FOUND)
		found = read_keys(s, fd, strict, out);
	if (found == TRUST_ABSENT)
		refuse(&out->why, WHY_CONFIG, "there are no keys of issuer %s in %s yet: gpuhelperctl keys fetch", s->url, s->keys);
	return found == TRUST_FOUND ? 0 : -1;
}

struct found_keys *
issuers_keys_find(const struct settings *s, bool strict)
{
	struct found_keys *k = calloc(s->issuers + 1, sizeof(*k));
	size_t i;

	for (i = 0; k != NULL && i < s->issuers; i++)
		(void)issuer_keys_find(&s->issuer[i], strict, &k[i]);
	return k;
}
