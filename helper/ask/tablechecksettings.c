/* See tablecheck.h: gpuhelper.conf. */
#include "tablecheck.h"

#include <string.h>

#include "../base/path.h"
#include "../policy/claims.h"
#include "../policy/usage.h"

int
table_refuse(const char *file, const char *what, struct why *why)
{
	return refuse(why, WHY_BUG, "gpuhelper-read reports %.100s with %.200s, which it should have refused", file, what);
}

static bool
are_paths(const struct strlist *l)
{
	struct why ignored;
	size_t i;

	for (i = 0; i < l->n; i++)
		if (path_check(l->v[i], &ignored) == -1)
			return false;
	return true;
}

int
table_check_settings(const struct settings *s, struct why *why)
{
	const struct issuer_setting *issuer;
	struct why ignored;
	size_t i;

	if (!are_paths(&s->volumes) || strlist_has(&s->volumes, "/") || !are_paths(&s->placeholder_init) ||
	    (s->runtime != NULL && path_check(s->runtime, &ignored) == -1))
		return table_refuse("gpuhelper.conf", "an invalid path", why);
	for (i = 0; i < s->team_shares.n; i++)
		if (!usage_is_share(s->team_shares.v[i]))
			return table_refuse("gpuhelper.conf", "an invalid share", why);
	if (s->max_wait > TABLE_SECONDS_MAX ||
	    (s->left_behind > TABLE_SECONDS_MAX && s->left_behind != LEFT_BEHIND_KEEP))
		return table_refuse("gpuhelper.conf", "a time of more than a day", why);
	for (i = 0; i < s->issuers; i++) {
		issuer = &s->issuer[i];
		if (!text_starts(issuer->url, "https://") || *issuer->audience == '\0' ||
		    path_check(issuer->keys, &ignored) == -1 || issuer->max_age == 0 || issuer->max_age > TABLE_SECONDS_MAX ||
		    issuer->claims.bytes > TOKEN_MAX || (issuer->reuse && issuer->claims.reuse_by != NULL))
			return table_refuse("gpuhelper.conf", "an invalid issuer", why);
	}
	return 0;
}
