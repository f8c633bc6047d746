/* See settings.h. */
#include "settings.h"

#include <stdlib.h>

void
settings_free(struct settings *s)
{
	size_t i;

	for (i = 0; i < s->issuers; i++) {
		free(s->issuer[i].url);
		free(s->issuer[i].audience);
		free(s->issuer[i].keys);
	}
	free(s->issuer);
	free(s->runtime);
	strlist_free(&s->volumes);
	strlist_free(&s->placeholder_init);
	strlist_free(&s->task_execs);
	strlist_free(&s->team_shares);
	*s = (struct settings){ 0 };
}
