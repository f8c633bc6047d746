/* See work.h. */
#include "work.h"

#include <unistd.h>

void
work_free(struct work *w)
{
	settings_free(&w->settings);
	policy_set_free(&w->policies);
	known_free(&w->known);
	decision_free(&w->decision);
	edits_free(&w->edits);
	lease_free(&w->lease);
	strlist_free(&w->gpu_names);
	strlist_free(&w->specs);
	chores_free(&w->chores);
	strays_free(&w->strays);
	drained_free(&w->drained);
	relabel_free(w->relabelling);
	if (w->audit != -1)
		close(w->audit);
}

bool
work_has_placeholder(const struct work *w)
{
	const char *init = w->request->init_path;

	return init != NULL && strlist_has(&w->settings.placeholder_init, init);
}
