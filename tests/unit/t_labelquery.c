/*
 * label/labelquestion.c, ask/labelquery.c: gpuhelper-label's questions and answers. Malformed ones are
 * refused, and so are those of another version.
 */
#include "ask/labelquery.h"
#include "label/labelquestion.h"
#include "tap.h"

static struct label_query ask;
static struct label_answer answer;
static struct why why;

static bool
is_ask(size_t len)
{
	struct label_query out;

	why = (struct why){ 0 };
	return label_query_read((const char *)&ask, len, &out, &why);
}

static bool
is_answer(size_t len)
{
	struct label_answer out;

	why = (struct why){ 0 };
	return label_answer_read((const char *)&answer, len, &out, &why);
}

static void
of_another_version(bool got, const char *name)
{
	ok(!got && why.code == WHY_CONFIG && strstr(why.text, "make install") != NULL, "%s", name);
}

static void
none(bool got, const char *name)
{
	ok(!got && why.code == WHY_BUG, "%s", name);
}

static void
questions(void)
{
	label_query_begin(&ask, LABEL_WALK);
	snprintf(ask.path, sizeof(ask.path), "/srv/a");
	ok(is_ask(sizeof(ask)), "a question is accepted");
	of_another_version(is_ask(sizeof(ask) - 1), "a question that is too short is refused");
	ask.version[0] = '9';
	of_another_version(is_ask(sizeof(ask)), "a question of another version is refused");
	memset(ask.version, 'x', sizeof(ask.version));
	of_another_version(is_ask(sizeof(ask)), "a question whose version has no end is refused");
	label_query_begin(&ask, (enum label_verb)(LABEL_CHANGE + 1));
	none(is_ask(sizeof(ask)), "a question with an unknown verb is refused");
	label_query_begin(&ask, LABEL_LETS);
	ask.use = (enum label_use)(LABEL_WRITE_FOLDER + 1);
	none(is_ask(sizeof(ask)), "a question with an unknown use is refused");
	label_query_begin(&ask, LABEL_WALK);
	ask.relabel = (enum relabel)(RELABEL_PRIVATE + 1);
	none(is_ask(sizeof(ask)), "a question with an unknown relabel mode is refused");
	label_query_begin(&ask, LABEL_CHANGE);
	ask.folder = LABEL_FOLDERS_MAX;
	none(is_ask(sizeof(ask)), "a question about a folder beyond the last is refused");
	label_query_begin(&ask, LABEL_LETS);
	memset(ask.who, 'x', sizeof(ask.who));
	none(is_ask(sizeof(ask)), "a question whose subject label has no end is refused");
	label_query_begin(&ask, LABEL_LETS);
	memset(ask.object, 'x', sizeof(ask.object));
	none(is_ask(sizeof(ask)), "a question whose object label has no end is refused");
	label_query_begin(&ask, LABEL_WALK);
	memset(ask.path, 'x', sizeof(ask.path));
	none(is_ask(sizeof(ask)), "a question whose path has no end is refused");
}

static void
answers(void)
{
	label_answer_begin(&answer);
	ok(is_answer(sizeof(answer)), "an answer is accepted");
	of_another_version(is_answer(sizeof(answer) + 1), "an answer that is too long is refused");
	answer.version[0] = '9';
	of_another_version(is_answer(sizeof(answer)), "an answer of another version is refused");
	label_answer_begin(&answer);
	answer.yes = 2;
	none(is_answer(sizeof(answer)), "an answer that is neither yes nor no is refused");
	label_answer_begin(&answer);
	answer.yes = -1;
	none(is_answer(sizeof(answer)), "a refusal without a reason is refused");
	answer.why.code = (enum why_code)1;
	none(is_answer(sizeof(answer)), "a refusal with an unknown code is refused");
	refuse(&answer.why, WHY_DENIED, "no");
	ok(is_answer(sizeof(answer)), "a refusal with a reason is accepted");
	memset(answer.why.text, 'x', sizeof(answer.why.text));
	none(is_answer(sizeof(answer)), "a refusal whose reason has no end is refused");
	label_answer_begin(&answer);
	memset(answer.label, 'x', sizeof(answer.label));
	none(is_answer(sizeof(answer)), "an answer whose label has no end is refused");
}

int
main(void)
{
	questions();
	answers();
	return done_testing();
}
