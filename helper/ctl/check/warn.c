/* See warn.h. */
#include "warn.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "../../host/users.h"
#include "../../read/conf/conf.h"

bool
is_policy(const struct checked *c)
{
	return c->kind == CHECKED_POLICY && c->good;
}

unsigned
key_line(const struct checked *c, const char *key)
{
	autofaults struct faults ignored = { 0 };
	config_setting_t *s = NULL;
	unsigned line = 0;
	config_t cfg;

	if (conf_parse(&cfg, c->text, c->len, &ignored))
		s = config_lookup(&cfg, key);
	if (s != NULL)
		line = conf_line(s);
	config_destroy(&cfg);
	return line;
}

size_t
policy_clients(const struct policy *p, struct client out[CLIENTS_MAX])
{
	uint32_t uid;
	size_t i, n = 0;

	if (!p->has_callers)
		out[n++] = (struct client){ .uid = 0, .user = "root", .member = true, .rootful = true };
	for (i = 0; i < p->callers.n && n < CLIENTS_MAX; i++)
		if (user_uid(p->callers.v[i], &uid, NULL))
			out[n++] = (struct client){ .uid = uid, .user = p->callers.v[i], .member = true, .rootful = uid == 0 };
	return n;
}

void
warn_once(struct checked *c, unsigned line, const char *fmt, ...)
{
	char text[512];
	va_list ap;
	size_t i;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	for (i = 0; i < c->faults.n; i++)
		if (c->faults.v[i].line == line && strcmp(c->faults.v[i].text, text) == 0)
			return;
	fault_add(&c->faults, line, true, "%s", text);
}
