/* See exectext.h. */
#include "exectext.h"

#include "../json/jsonout.h"

char *
exec_text(const struct lease *l, const struct edits *e, bool with_text)
{
	autojsonout struct jsonout j = { .next = false };
	char told[LEASE_LINE_MAX];

	jsonout_begin(&j, NULL, "{");
	jsonout_int(&j, "version", 1);
	jsonout_list(&j, "env", &e->env);
	edits_write_groups(&j, "groups", e);
	jsonout_bool(&j, "asks", l->gpus_by_task);
	if (l->container.privileged)
		jsonout_bool(&j, "privileged", true);
	if (l->label[0] != '\0')
		jsonout_text(&j, "label", l->label);
	if (with_text && !l->gpus_by_task) {
		lease_describe(l, told);
		jsonout_text(&j, "line", told);
	}
	if (with_text)
		jsonout_list(&j, "gpus", &e->gpus);
	if (e->driver.process != NULL)
		jsonout_text(&j, "process", e->driver.process);
	jsonout_end(&j, "}");
	return jsonout_take(&j);
}
