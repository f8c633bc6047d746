/* See exectext.h. */
#include "exectext.h"

#include "jsonout.h"

char *
exec_text(const struct lease *l, const struct edits *e, bool line)
{
	autojsonout struct jsonout j = { .next = false };
	char told[LEASE_LINE_MAX];
	size_t i;

	jsonout_begin(&j, NULL, "{");
	jsonout_int(&j, "version", 1);
	jsonout_list(&j, "env", &e->env);
	jsonout_begin(&j, "groups", "[");
	for (i = 0; i < e->gids; i++)
		jsonout_int(&j, NULL, e->gid[i]);
	jsonout_end(&j, "]");
	jsonout_bool(&j, "asks", l->pauses);
	if (l->label[0] != '\0')
		jsonout_text(&j, "label", l->label);
	if (line) {
		lease_describe(l, told);
		jsonout_text(&j, "line", told);
	}
	jsonout_end(&j, "}");
	return jsonout_take(&j);
}
