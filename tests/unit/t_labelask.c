/*
 * label/question.c, pure/labelask.c: gpuhelper-label's questions and answers, malformed ones, and those of another
 * version.
 */
#include "label/question.h"
#include "pure/labelask.h"
#include "tap.h"

static struct label_ask ask;
static struct label_answer answer;
static struct why why;

static bool
is_ask(size_t len)
{
	struct label_ask out;

	why = (struct why){ 0 };
	return label_ask_read((const char *)&ask, len, &out, &why);
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
	label_ask_begin(&ask, LABEL_LOOK);
	snprintf(ask.path, sizeof(ask.path), "/srv/a");
	ok(is_ask(sizeof(ask)), "a question");
	of_another_version(is_ask(sizeof(ask) - 1), "one that is shorter");
	ask.version[0] = '9';
	of_another_version(is_ask(sizeof(ask)), "one of another version");
	memset(ask.version, 'x', sizeof(ask.version));
	of_another_version(is_ask(sizeof(ask)), "one whose version does not end");
	label_ask_begin(&ask, (enum label_verb)(LABEL_CHANGE + 1));
	none(is_ask(sizeof(ask)), "a verb that there is not");
	label_ask_begin(&ask, LABEL_LETS);
	ask.use = (enum label_use)(LABEL_WRITE_FOLDER + 1);
	none(is_ask(sizeof(ask)), "a use that there is not");
	label_ask_begin(&ask, LABEL_LOOK);
	ask.relabel = (enum relabel)(RELABEL_PRIVATE + 1);
	none(is_ask(sizeof(ask)), "a way to relabel that there is not");
	label_ask_begin(&ask, LABEL_CHANGE);
	ask.folder = LABEL_FOLDERS_MAX;
	none(is_ask(sizeof(ask)), "a folder beyond the last");
	label_ask_begin(&ask, LABEL_LETS);
	memset(ask.who, 'x', sizeof(ask.who));
	none(is_ask(sizeof(ask)), "who asks does not end");
	label_ask_begin(&ask, LABEL_LETS);
	memset(ask.object, 'x', sizeof(ask.object));
	none(is_ask(sizeof(ask)), "a label that does not end");
	label_ask_begin(&ask, LABEL_LOOK);
	memset(ask.path, 'x', sizeof(ask.path));
	none(is_ask(sizeof(ask)), "a path that does not end");
}

static void
answers(void)
{
	label_answer_begin(&answer);
	ok(is_answer(sizeof(answer)), "an answer");
	of_another_version(is_answer(sizeof(answer) + 1), "one that is longer");
	answer.version[0] = '9';
	of_another_version(is_answer(sizeof(answer)), "one of another version");
	label_answer_begin(&answer);
	answer.yes = 2;
	none(is_answer(sizeof(answer)), "neither yes nor no");
	label_answer_begin(&answer);
	answer.yes = -1;
	none(is_answer(sizeof(answer)), "a refusal without a reason");
	answer.why.code = (enum why_code)1;
	none(is_answer(sizeof(answer)), "a refusal with a status of its own");
	refuse(&answer.why, WHY_DENIED, "no");
	ok(is_answer(sizeof(answer)), "a refusal");
	memset(answer.why.text, 'x', sizeof(answer.why.text));
	none(is_answer(sizeof(answer)), "a reason that does not end");
	label_answer_begin(&answer);
	memset(answer.label, 'x', sizeof(answer.label));
	none(is_answer(sizeof(answer)), "a label that does not end, in an answer");
}

int
main(void)
{
	questions();
	answers();
	return done_testing();
}
