/* See authzask.h: the check of an answer. gpuhelper-engine may be taken over. */
#include <string.h>

#include "../base/text.h"
#include "authzask.h"
#include "tablecheck.h"

#define PROGRAM "gpuhelper-engine"

static int
refuse_answer(const char *what, struct why *why)
{
	return refuse(why, WHY_BUG, PROGRAM " sent an invalid answer: %s", what);
}

static bool
is_text(const char *text)
{
	return text == NULL || text_is_utf8(text, strlen(text));
}

/* Texts that go into the reply or into a record. */
static bool
has_texts(const struct policy *p)
{
	size_t i;

	for (i = 0; i < p->env.n; i++)
		if (!is_text(p->env.v[i]))
			return false;
	for (i = 0; i < p->folders; i++)
		if (!is_text(p->folder[i].path) || !is_text(p->folder[i].target))
			return false;
	return *p->name != '\0' && is_text(p->name);
}

int
authz_answer_accept(struct authz_answer *a, const struct settings *s, const struct client *who, struct why *why)
{
	const struct giving giving = { &a->policy, who, &a->inventory, s, &a->grant, why };
	struct why ignored;
	size_t i;

	if (a->has_token && a->issuer >= s->issuers)
		return refuse_answer("an issuer that is not in gpuhelper.conf", why);
	if (!has_texts(&a->policy))
		return refuse_answer("a text that is none", why);
	if (table_check_terms(&a->policy, &ignored) == -1)
		return refuse_answer("a policy that no file can have", why);
	for (i = 0; i < a->grant.gpus; i++)
		if (a->grant.gpu[i].count == 0 || a->grant.gpu[i].count > a->grant.gpu[i].rule->count)
			return refuse_answer("more or fewer GPUs than the rule gives", why);
	if (a->grant.wait > s->max_wait)
		return refuse_answer("a wait of more than max_wait", why);
	for (i = 0; i < a->folders; i++)
		if (granted_folder_give(&a->folder[i], PROGRAM, &giving) == -1)
			return -1;
	return 0;
}
