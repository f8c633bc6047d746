/* See claimread.h. A value means exactly what is written: no type is converted. */
#include "claimread.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../base/cleanup.h"
#include "../../base/path.h"
#include "../../policy/claimsetadd.h"
#include "conf.h"

#define NAME_MAX_BYTES 128

/* What is being read: the claims of one key. */
struct reading {
	bool alternatives;
	struct claim_set *out;
	struct faults *f;
};

static void
check_claim_name(config_setting_t *s, const char *name, struct faults *f)
{
	static const char *const own[] = { "iss", "aud", "exp", "nbf", "iat", NULL };

	if (strcmp(name, "sub") == 0)
		fault_add(f, conf_line(s), false, "\"sub\" is not compared: its form differs between CIs, and a pipeline's author "
		    "may choose it. Name the claims that it is made of");
	else if (text_among(name, own))
		fault_add(f, conf_line(s), false, "\"%s\" is checked in every token already: leave it out", name);
	else if (strlen(name) > NAME_MAX_BYTES)
		fault_add(f, conf_line(s), false, "\"%.40s...\" is longer than the name of a claim: at most %d bytes", name,
		    NAME_MAX_BYTES);
}

void
claim_name_read(config_setting_t *s, char **out, struct faults *f)
{
	const size_t errors = f->errors;

	conf_string(s, out, f);
	if (f->errors == errors)
		check_claim_name(s, *out, f);
}

/* The value as text that shows its type (policy/claimset.h). The caller frees it; NULL: it has no such text. */
static char *
value_text(const config_setting_t *s)
{
	char *text = NULL;

	switch (config_setting_type(s)) {
	case CONFIG_TYPE_STRING:
		return asprintf(&text, "\"%s", config_setting_get_string(s)) == -1 ? NULL : text;
	case CONFIG_TYPE_INT:
		return asprintf(&text, "%d", config_setting_get_int(s)) == -1 ? NULL : text;
	case CONFIG_TYPE_BOOL:
		return strdup(config_setting_get_bool(s) ? "true" : "false");
	default:
		return NULL;
	}
}

static void
add_value(const struct reading *r, const char *name, const char *text, const config_setting_t *s)
{
	if (r->out->name.n == CLAIMS_MAX)
		fault_add(r->f, conf_line(s), false, "more than %d values of claims", CLAIMS_MAX);
	else if (!claim_set_add(r->out, name, text))
		fault_add(r->f, conf_line(s), false, "out of memory");
}

static void
read_value(const struct reading *r, const char *name, config_setting_t *s)
{
	autofree char *text = value_text(s);

	if (text == NULL)
		fault_add(r->f, conf_line(s), false, "the value of claim \"%.80s\" must be a string in double quotes, a whole "
		    "number, true or false%s", name, r->alternatives ? ", or a list of these" : "");
	else if (strcmp(text, "\"") == 0)
		fault_add(r->f, conf_line(s), false, "the value of claim \"%.80s\" is empty", name);
	else if (*text == '"' && !r->alternatives && glob_is(text))
		fault_add(r->f, conf_line(s), false, "claim \"%.80s\" is compared exactly here: no * and ?", name);
	else
		add_value(r, name, text, s);
}

static void
begin_claim(const struct reading *r, const char *name, config_setting_t *s)
{
	check_claim_name(s, name, r->f);
	if (claim_set_value(r->out, name) != NULL)
		fault_add(r->f, conf_line(s), false, "claim \"%.80s\" appears twice: give a list for alternatives", name);
}

static void
read_claim(const struct reading *r, const char *name, config_setting_t *s)
{
	const int type = config_setting_type(s);
	int i;

	begin_claim(r, name, s);
	if (!r->alternatives || (type != CONFIG_TYPE_ARRAY && type != CONFIG_TYPE_LIST)) {
		read_value(r, name, s);
		return;
	}
	if (config_setting_length(s) == 0)
		fault_add(r->f, conf_line(s), false, "claim \"%.80s\" has an empty list: no value would do", name);
	for (i = 0; i < config_setting_length(s); i++)
		read_value(r, name, config_setting_get_elem(s, (unsigned)i));
}

/* An entry of the second form. */
struct named {
	char *name;
	config_setting_t *value;
	bool absent;
};

static void
read_name(config_setting_t *s, void *out, struct faults *f)
{
	conf_string(s, &((struct named *)out)->name, f);
}

static void
note_value(config_setting_t *s, void *out, struct faults *f)
{
	(void)f;
	((struct named *)out)->value = s;
}

static void
read_absent(config_setting_t *s, void *out, struct faults *f)
{
	struct named *n = out;

	conf_bool(s, &n->absent, f);
	if (config_setting_type(s) == CONFIG_TYPE_BOOL && !n->absent)
		fault_add(f, conf_line(s), false, "absent = false says nothing: give a value");
}

static void
read_named(const struct reading *r, config_setting_t *s)
{
	static const struct conf_key keys[] = { { "claim", read_name }, { "value", note_value }, { "absent", read_absent },
		{ NULL, NULL } };
	const size_t errors = r->f->errors;
	struct named n = { NULL, NULL, false };

	conf_group(s, keys, &n, r->f);
	if (n.name != NULL && n.value != NULL && !n.absent)
		read_claim(r, n.name, n.value);
	else if (n.name != NULL && n.value == NULL && n.absent) {
		begin_claim(r, n.name, s);
		add_value(r, n.name, "absent", s);
	} else if (r->f->errors == errors)
		fault_add(r->f, conf_line(s), false, "an entry needs claim and one of value and absent");
	free(n.name);
}

void
claims_read(config_setting_t *s, bool alternatives, struct claim_set *out, struct faults *f)
{
	const struct reading r = { alternatives, out, f };
	const bool group = config_setting_type(s) == CONFIG_TYPE_GROUP;
	config_setting_t *e;
	int i;

	if (!group && config_setting_type(s) != CONFIG_TYPE_LIST) {
		fault_add(f, conf_line(s), false, "%s must be a group: { claim = value; ... }, or a list of groups: "
		    "( { claim = \"NAME\"; value = ...; }, ... )", config_setting_name(s));
		return;
	}
	if (config_setting_length(s) == 0)
		fault_add(f, conf_line(s), false, "%s is empty: leave it out", config_setting_name(s));
	for (i = 0; i < config_setting_length(s); i++) {
		e = config_setting_get_elem(s, (unsigned)i);
		if (group)
			read_claim(&r, config_setting_name(e), e);
		else
			read_named(&r, e);
	}
}
