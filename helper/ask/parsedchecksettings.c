/* See parsedcheck.h: gpuhelper.conf. */
#include "parsedcheck.h"

#include <string.h>

#include "../base/path.h"
#include "../policy/tokenhash.h"
#include "../policy/usage.h"

int
parsed_refuse(const char *file, const char *what, struct why *why)
{
	return refuse(why, WHY_BUG, "gpuhelper-read reports %.100s with %.200s, which it should have refused", file, what);
}

int
parsed_check_settings(const struct settings *s, struct why *why)
{
	const struct issuer_setting *issuer;
	size_t i;

	if (!paths_are_clean(&s->volumes) || strlist_has(&s->volumes, "/") || !paths_are_clean(&s->placeholder_init) ||
	    (s->runtime != NULL && !path_is_clean(s->runtime)))
		return parsed_refuse("gpuhelper.conf", "an invalid path", why);
	for (i = 0; i < s->team_shares.n; i++)
		if (!usage_is_share(s->team_shares.v[i]))
			return parsed_refuse("gpuhelper.conf", "an invalid share", why);
	if (s->max_wait > TABLE_SECONDS_MAX ||
	    (s->left_behind > TABLE_SECONDS_MAX && s->left_behind != LEFT_BEHIND_KEEP))
		return parsed_refuse("gpuhelper.conf", "a time of more than a day", why);
	for (i = 0; i < s->issuers; i++) {
		issuer = &s->issuer[i];
		if (!text_starts(issuer->url, "https://") || *issuer->audience == '\0' ||
		    !path_is_clean(issuer->keys) || issuer->max_age == 0 || issuer->max_age > TABLE_SECONDS_MAX ||
		    issuer->claims.bytes > TOKEN_MAX || (issuer->token_reuse && issuer->claims.reuse_by != NULL))
			return parsed_refuse("gpuhelper.conf", "an invalid issuer", why);
	}
	return 0;
}
