/* See settings.h. */
#include "settings.h"

#include <stdlib.h>

void
issuer_setting_free(struct issuer_setting *i)
{
	char *const own[] = { i->url, i->audience, i->keys, i->keys_host, i->variable, i->claims.team, i->claims.pipeline,
		i->claims.job, i->claims.reuse_by };
	size_t k;

	for (k = 0; k < sizeof(own) / sizeof(own[0]); k++)
		free(own[k]);
	claim_set_free(&i->claims.require);
	strlist_free(&i->claims.wanted);
}

void
settings_free(struct settings *s)
{
	size_t i;

	for (i = 0; i < s->issuers; i++)
		issuer_setting_free(&s->issuer[i]);
	free(s->issuer);
	free(s->runtime);
	strlist_free(&s->volumes);
	strlist_free(&s->placeholder_init);
	strlist_free(&s->task_execs);
	strlist_free(&s->team_shares);
	*s = (struct settings){ 0 };
}
