/* See setup.h: podman and docker share this.  Undo leaves the wrapper's name to containers that need it. */
#include "setup.h"

#include "../../base/quoted.h"
#include "../../policy/settingsdefault.h"
#include "../../read/load.h"

#define SHOWN 3

int
setup_left_settings(struct setup *s, struct why *why)
{
	struct why ignored;

	if (settings_load(GPUHELPER_CONFDIR, true, &s->settings, NULL, NULL, &ignored) == 0)
		return 0;
	settings_free(&s->settings);
	return settings_default(&s->settings) ? 0 : refuse_nomem(why);
}

void
setup_left_names(struct buf *b, const struct strlist *l)
{
	size_t i;

	for (i = 0; i < l->n && i < SHOWN; i++)
		buf_printf(b, "%s%s", i > 0 ? ", " : "", quoted(l->v[i]));
	if (l->n > SHOWN)
		buf_printf(b, " and %zu more", l->n - SHOWN);
}
