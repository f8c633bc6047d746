/*
 * See confhint.h. Walks through the tokens by libconfig's grammar (its manual, «Configuration File Grammar»), and stops
 * at the first that can't stand there. The result is a message only: libconfig alone decides what a text means.
 */
#include "confhint.h"

#include <string.h>
#include <strings.h>

#include "../../base/text.h"
#include "confscan.h"

#define NAME_SHOWN 40

enum kind { END, NAME, STRING, NUMBER, MARK };

struct token {
	enum kind kind;
	char mark;		/* of a MARK: one of ={}[](),; with ':' as '=' */
	const char *at;
	int len;
	unsigned line;
};

/* An open bracket; the first entry stands for the file, which is read like a group. */
struct open {
	char bracket;
	unsigned line;
	struct token name;	/* of the setting whose value it is; len 0: an element of a list */
};

struct hint {
	const char *p, *end;
	unsigned line;
	struct token t;			/* the current one */
	struct open open[CONF_DEPTH_MAX + 2];
	size_t depth;
	struct faults *f;
};

static void
skip_blanks(struct hint *h)
{
	while (h->p < h->end) {
		if (*h->p == '#' || (*h->p == '/' && h->end - h->p > 1 && h->p[1] == '/')) {
			while (h->p < h->end && *h->p != '\n')
				h->p++;
		} else if (*h->p == '/' && h->end - h->p > 1 && h->p[1] == '*') {
			for (h->p += 2; h->end - h->p > 1 && !(h->p[0] == '*' && h->p[1] == '/'); h->p++)
				h->line += *h->p == '\n';
			h->p += h->end - h->p > 1 ? 2 : h->end - h->p;
		} else if (strchr(" \t\r\n", *h->p) != NULL) {
			h->line += *h->p == '\n';
			h->p++;
		} else
			return;
	}
}

static void
next_token(struct hint *h)
{
	skip_blanks(h);
	h->t = (struct token){ .kind = END, .at = h->p, .line = h->line };
	if (h->p >= h->end)
		return;
	if (*h->p == '"') {
		h->t.kind = STRING;
		for (h->p++; h->p < h->end && *h->p != '"'; h->p++)
			h->p += *h->p == '\\' && h->end - h->p > 1;
		h->p += h->p < h->end;
	} else if (conf_is_word_char(*h->p)) {
		h->t.kind = strchr("0123456789-+.", *h->p) != NULL ? NUMBER : NAME;
		while (h->p < h->end && conf_is_word_char(*h->p))
			h->p++;
	} else {
		h->t.kind = MARK;
		h->t.mark = *h->p == ':' ? '=' : *h->p;
		h->p++;
	}
	h->t.len = h->p - h->t.at > NAME_SHOWN ? NAME_SHOWN : (int)(h->p - h->t.at);
}

static bool
is_mark(const struct hint *h, char mark)
{
	return h->t.kind == MARK && h->t.mark == mark;
}

static char
closing(char bracket)
{
	return bracket == '(' ? ')' : bracket == '[' ? ']' : '}';
}

/* The innermost bracket is closed by something else, or not at all. Returns false, as all that find a fault do. */
static bool
refuse_open(struct hint *h)
{
	const struct open *o = &h->open[h->depth];
	const struct token *t = &h->t, *name = &o->name;
	const char close = closing(o->bracket);

	if (h->depth == 0)
		fault_add(h->f, t->line, false, "\"%.*s\" closes nothing: take it out, or open its bracket", t->len, t->at);
	else if (t->kind == END)
		fault_add(h->f, o->line, false, "the \"%c\" of this line%s%.*s has no \"%c\"", o->bracket,
		    name->len > 0 ? ", of " : "", name->len, name->len > 0 ? name->at : "", close);
	else if (name->len > 0)
		fault_add(h->f, t->line, false, "\"%.*s\" stands before the \"%c\" of %.*s, whose \"%c\" is in line %u", t->len,
		    t->at, close, name->len, name->at, o->bracket, o->line);
	else
		fault_add(h->f, t->line, false, "\"%.*s\" stands before the \"%c\" whose \"%c\" is in line %u", t->len, t->at, close,
		    o->bracket, o->line);
	return false;
}

static bool
push(struct hint *h, const struct token *name)
{
	if (++h->depth >= sizeof(h->open) / sizeof(h->open[0]))
		return false;
	h->open[h->depth] = (struct open){ h->t.mark, h->t.line, *name };
	next_token(h);
	return true;
}

static bool
is_truth(const struct token *t)
{
	static const char *const words[] = { "true", "false", NULL };
	size_t i;

	for (i = 0; words[i] != NULL; i++)
		if (t->len == (int)strlen(words[i]) && strncasecmp(t->at, words[i], strlen(words[i])) == 0)
			return true;
	return false;
}

/* The beginning of a value: a plain one is passed over, a bracket is opened. */
static bool
take_value(struct hint *h, const struct token *name)
{
	const struct open *around = &h->open[h->depth];
	const bool string = h->t.kind == STRING;

	if (h->t.kind == MARK && strchr("{[(", h->t.mark) != NULL) {
		if (around->bracket != '[')
			return push(h, name);
		fault_add(h->f, h->t.line, false, "square brackets hold plain values alone: groups and lists stand in %.*s = ( ... )",
		    around->name.len > 0 ? around->name.len : 4, around->name.len > 0 ? around->name.at : "NAME");
		return false;
	}
	if (h->t.kind == NAME && !is_truth(&h->t)) {
		fault_add(h->f, h->t.line, false, "%.*s stands without quotes: a string is written \"%.*s\"", h->t.len, h->t.at,
		    h->t.len, h->t.at);
		return false;
	}
	if (h->t.kind == MARK || h->t.kind == END) {
		if (name->len > 0)
			fault_add(h->f, name->line, false, "%.*s has no value", name->len, name->at);
		else
			return refuse_open(h);
		return false;
	}
	/* libconfig joins strings that follow each other */
	do
		next_token(h);
	while (string && h->t.kind == STRING);
	return true;
}

/* A setting of a group, or its end. */
static bool
take_setting(struct hint *h)
{
	const struct token name = h->t;

	if (is_mark(h, '}') && h->depth > 0) {
		h->depth--;
		next_token(h);
		return true;
	}
	if (name.kind == MARK && strchr("}])", name.mark) != NULL)
		return refuse_open(h);
	if (name.kind != NAME) {
		if (h->depth > 0)
			return refuse_open(h);
		fault_add(h->f, name.line, false, "\"%.*s\" stands where a setting should begin: NAME = VALUE;", h->t.len, name.at);
		return false;
	}
	next_token(h);
	if (!is_mark(h, '=')) {
		fault_add(h->f, name.line, false, "a = is missing after %.*s", name.len, name.at);
		return false;
	}
	next_token(h);
	return take_value(h, &name);
}

/* An element of a list or an array, or its end. */
static bool
take_element(struct hint *h)
{
	const struct open *o = &h->open[h->depth];
	const struct token none = { .len = 0 }, first = h->t;

	if (is_mark(h, closing(o->bracket))) {
		h->depth--;
		next_token(h);
		return true;
	}
	if (h->t.kind == NAME && !is_truth(&h->t)) {
		next_token(h);
		if (is_mark(h, '=')) {
			fault_add(h->f, first.line, false, "%.*s is a setting, and stands in a list: settings stand in braces, "
			    "{ NAME = VALUE; }", first.len, first.at);
			return false;
		}
		h->t = first;
	}
	return take_value(h, &none);
}

/* After a value: what may separate it from the next. */
static bool
take_separator(struct hint *h, bool began)
{
	const char around = h->open[h->depth].bracket;
	const bool group = around == '{';

	if (!began)
		return true;
	if (is_mark(h, ',') || (group && is_mark(h, ';'))) {
		next_token(h);
		return true;
	}
	if (group || is_mark(h, closing(around)))
		return true;
	if (h->t.kind == MARK && h->t.mark != '{' && h->t.mark != '(' && h->t.mark != '[')
		return refuse_open(h);
	if (h->t.kind == END || h->t.kind == NAME)
		return refuse_open(h);
	fault_add(h->f, h->t.line, false, "a comma is missing before \"%.*s\"", h->t.len, h->t.at);
	return false;
}

bool
conf_hint(const char *text, size_t len, struct faults *f)
{
	struct hint h = { .p = text, .end = text + len, .line = 1, .f = f, .open = { { '{', 0, { .len = 0 } } } };
	const size_t had = f->n;
	size_t depth;
	bool good = true;

	next_token(&h);
	while (good && h.t.kind != END) {
		depth = h.depth;
		good = h.open[h.depth].bracket == '{' ? take_setting(&h) : take_element(&h);
		/* a bracket that was just opened has no value yet */
		if (good)
			good = take_separator(&h, h.depth <= depth);
	}
	if (good && h.depth > 0)
		(void)refuse_open(&h);
	return f->n > had;
}
