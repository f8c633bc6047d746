/*
 * See parseline.h. Reads like runc (Go's flag package and urfave/cli 1.22, where options of most verbs may
 * follow the operands) and like crun (argp in order, with abbreviations and several letters in a word). Must
 * refuse a line that a runtime might read differently: a create that the wrapper overlooks gets every device
 * that its spec names.
 */
#include "parseline.h"

#include <stddef.h>
#include <string.h>

enum fault {
	FAULT_NONE, FAULT_OPTION, FAULT_VALUE, FAULT_NO_VALUE, FAULT_VERB, FAULT_NO_OPERAND, FAULT_OPERAND, FAULT_MANY,
};

struct reader {
	enum runtimes runtime;
	int argc, i;			/* i: index of the word that is read */
	char *const *argv;
	const struct option *options;
	struct parsed_line *r;
	enum fault fault;
	int fault_at;
};

static bool
set_fault(struct reader *d, enum fault fault)
{
	d->fault = fault;
	d->fault_at = d->i;
	return false;
}

static bool
add_word_of(struct reader *d, const struct option *o, int at, const char *value)
{
	struct parsed_line *r = d->r;

	if (r->words == PARSED_WORDS_MAX)
		return set_fault(d, FAULT_MANY);
	r->word[r->words++] = (struct word){ o, at, d->i, value };
	return true;
}

/* Adds an option whose value is the next word. */
static bool
add_next(struct reader *d, const struct option *o)
{
	int at = d->i;

	if (at + 1 == d->argc)
		return set_fault(d, FAULT_VALUE);
	d->i++;
	return add_word_of(d, o, at, d->argv[d->i]);
}

static bool
is_option(const char *word)
{
	return word[0] == '-' && word[1] != '\0';
}

static bool
has_name(const struct option *o, const char *name, size_t len)
{
	return o->name != NULL && strlen(o->name) == len && strncmp(o->name, name, len) == 0;
}

static const struct option *
find_letter(const struct reader *d, char letter)
{
	const struct option *o;

	for (o = d->options; !option_is_last(o); o++)
		if ((o->runtimes & d->runtime) != 0 && o->letter != 0 && o->letter == letter)
			return o;
	return NULL;
}

/* To Go, one dash and two are the same, and names can't be abbreviated. */
static bool
read_go_option(struct reader *d)
{
	const char *word = d->argv[d->i], *name = word + 1 + (word[1] == '-'), *equals = strchr(name, '=');
	size_t len = equals != NULL ? (size_t)(equals - name) : strlen(name);
	const struct option *o, *found = len == 1 ? find_letter(d, *name) : NULL;

	for (o = d->options; found == NULL && !option_is_last(o); o++)
		if ((o->runtimes & d->runtime) != 0 && has_name(o, name, len))
			found = o;
	if (found == NULL)
		return set_fault(d, FAULT_OPTION);
	if (found->takes == TAKES_NONE || equals != NULL)
		return add_word_of(d, found, d->i, equals != NULL ? equals + 1 : NULL);
	return add_next(d, found);
}

/* The option of this long name, or the only one that the name abbreviates. */
static const struct option *
find_long(const struct reader *d, const char *name, size_t len)
{
	const struct option *o, *found = NULL;
	bool several = false;

	for (o = d->options; !option_is_last(o); o++) {
		if ((o->runtimes & d->runtime) == 0 || o->name == NULL || strncmp(o->name, name, len) != 0)
			continue;
		if (has_name(o, name, len))
			return o;
		several = found != NULL;
		found = o;
	}
	return several ? NULL : found;
}

static bool
read_long_option(struct reader *d)
{
	const char *name = d->argv[d->i] + 2, *equals = strchr(name, '=');
	const struct option *o = find_long(d, name, equals != NULL ? (size_t)(equals - name) : strlen(name));

	if (o == NULL)
		return set_fault(d, FAULT_OPTION);
	if (o->takes == TAKES_NONE && equals != NULL)
		return set_fault(d, FAULT_NO_VALUE);
	if (o->takes == TAKES_VALUE && equals == NULL)
		return add_next(d, o);
	return add_word_of(d, o, d->i, equals != NULL ? equals + 1 : NULL);
}

/* Reads several letters in one word. The last one may have a value. */
static bool
read_letters(struct reader *d)
{
	const char *p = d->argv[d->i] + 1;
	const struct option *o;

	for (; *p != '\0'; p++) {
		if ((o = find_letter(d, *p)) == NULL)
			return set_fault(d, FAULT_OPTION);
		if (o->takes == TAKES_VALUE && p[1] == '\0')
			return add_next(d, o);
		if (o->takes != TAKES_NONE)
			return add_word_of(d, o, d->i, p[1] != '\0' ? p + 1 : NULL);
		if (!add_word_of(d, o, d->i, NULL))
			return false;
	}
	return true;
}

static bool
read_option(struct reader *d)
{
	if (d->runtime == RUNC)
		return read_go_option(d);
	return d->argv[d->i][1] == '-' ? read_long_option(d) : read_letters(d);
}

/* Reads the options before the verb, and the verb. */
static bool
read_globals(struct reader *d)
{
	const struct runtime_verb *v;

	d->options = verbs_globals;
	for (d->i = 1; d->i < d->argc && is_option(d->argv[d->i]); d->i++) {
		if (strcmp(d->argv[d->i], "--") == 0) {
			d->i++;
			break;
		}
		if (!read_option(d))
			return false;
	}
	d->r->globals = d->r->words;
	d->r->verb_at = d->i;
	if (d->i == d->argc)
		return true;
	for (v = verbs_all; v->name != NULL; v++)
		if ((v->runtimes & d->runtime) != 0 && strcmp(v->name, d->argv[d->i]) == 0) {
			d->r->verb = v;
			return true;
		}
	return set_fault(d, FAULT_VERB);
}

static bool
wants_help(const struct parsed_line *r)
{
	int i;

	for (i = r->globals; i < r->words; i++)
		if (r->word[i].option->role == ROLE_HELP)
			return true;
	return false;
}

/* Reads the words after the verb. */
static bool
read_verb(struct reader *d)
{
	const struct runtime_verb *v = d->r->verb;
	const struct operands *may = d->runtime == RUNC ? &v->of_runc : &v->of_crun;
	bool words_only = false;
	int operands = 0;

	d->options = v->options;
	for (d->i = d->r->verb_at + 1; d->i < d->argc; d->i++) {
		if (!words_only && strcmp(d->argv[d->i], "--") == 0) {
			words_only = true;
			continue;
		}
		if (!words_only && is_option(d->argv[d->i])) {
			if (!read_option(d))
				return false;
			continue;
		}
		if (operands++ == 0)
			d->r->id_at = d->i;
		if (operands > may->most)
			return set_fault(d, FAULT_OPERAND);
		words_only = words_only || v->in_order || d->runtime == CRUN;
	}
	return operands >= may->least || wants_help(d->r) || set_fault(d, FAULT_NO_OPERAND);
}

static bool
read_as(struct reader *d, enum runtimes runtime, int argc, char *const *argv, struct parsed_line *r)
{
	*d = (struct reader){ .runtime = runtime, .argc = argc, .argv = argv, .r = r };
	r->verb = NULL;
	r->verb_at = r->id_at = argc;
	r->globals = r->words = 0;
	if (read_globals(d) && (r->verb == NULL || read_verb(d)))
		return true;
	if (r->verb == NULL)
		r->globals = r->words;
	return false;
}

static bool
is_same(const char *a, const char *b)
{
	return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

static bool
are_alike(const struct parsed_line *a, const struct parsed_line *b)
{
	int i;

	if (a->verb != b->verb || a->verb_at != b->verb_at || a->id_at != b->id_at || a->words != b->words)
		return false;
	for (i = 0; i < a->words; i++) {
		const struct word *x = &a->word[i], *y = &b->word[i];

		/* the table may have one option twice, with different values or letters */
		if (x->at != y->at || x->value_at != y->value_at || !is_same(x->option->name, y->option->name) ||
		    (x->option->name == NULL && x->option != y->option) || !is_same(x->value, y->value))
			return false;
	}
	return true;
}

static int
refuse_line(const struct reader *d, struct why *why)
{
	const char *verb = d->r->verb != NULL ? d->r->verb->name : "", *after = *verb != '\0' ? ": " : "";
	const char *word = d->fault_at < d->argc ? d->argv[d->fault_at] : "";

	switch (d->fault) {
	case FAULT_VALUE:
		return refuse(why, WHY_USAGE, "%s%soption %.200s needs a value", verb, after, word);
	case FAULT_NO_VALUE:
		return refuse(why, WHY_USAGE, "%s%soption %.200s takes no value", verb, after, word);
	case FAULT_NO_OPERAND:
		return refuse(why, WHY_USAGE, "%s: no container id", verb);
	case FAULT_OPERAND:
		return refuse(why, WHY_USAGE, "%s: %.200s is one word too many", verb, word);
	case FAULT_MANY:
		return refuse(why, WHY_USAGE, "%s%smore than %d options", verb, after, PARSED_WORDS_MAX);
	case FAULT_VERB:
		return refuse(why, WHY_USAGE, "%.200s is not a verb of " VERBS_KNOWN ", and an unknown one might change what a "
		    "container may open", word);
	default:
		return refuse(why, WHY_USAGE, "%s%soption %.200s is not one of " VERBS_KNOWN " there, and an unknown one might "
		    "change what a container may open", verb, after, word);
	}
}

static bool
may_pass(const struct parsed_line *r)
{
	return r->verb != NULL && r->verb->kind == KIND_PASSED;
}

/*
 * Passes a line that was not understood to the runtime if its verb changes nothing, for each runtime that
 * finds a verb.
 */
static int
pass_or_refuse(int argc, struct parsed_line *r, const struct parsed_line *other)
{
	if ((r->verb != NULL && !may_pass(r)) || (other->verb != NULL && !may_pass(other)) ||
	    (r->verb == NULL && other->verb == NULL))
		return -1;
	if (!may_pass(r))
		memcpy(r, other, sizeof(*r));
	r->words = r->globals;
	r->id_at = argc;
	return 0;
}

int
parse_line(int argc, char *const *argv, struct parsed_line *r, struct why *why)
{
	struct parsed_line as_crun;
	struct reader runc, crun;
	bool a = read_as(&runc, RUNC, argc, argv, r), b = read_as(&crun, CRUN, argc, argv, &as_crun);

	if (a && b) {
		if (are_alike(r, &as_crun))
			return 0;
		refuse(why, WHY_USAGE, "this command line means one thing to runc and another one to crun: write options as "
		    "«--name VALUE», before the container's id");
		return pass_or_refuse(argc, r, &as_crun);
	}
	if (b)
		memcpy(r, &as_crun, sizeof(*r));
	if (a || b)
		return 0;
	/* the runtime that understood more of the line gives the better message */
	b = crun.fault_at > runc.fault_at || (crun.fault_at == runc.fault_at && runc.fault == FAULT_OPTION);
	refuse_line(b ? &crun : &runc, why);
	if (pass_or_refuse(argc, r, &as_crun) == 0)
		return 0;
	if (b)
		memcpy(r, &as_crun, sizeof(*r));
	return -1;
}
