/*
 * See cdiyaml.h. Builds the tree event by event from libyaml 0.2, which reads YAML 1.1 (yaml.org/spec/1.1).
 * libyaml's own stack is on the heap; bounding the depth here bounds it, because each event is handled before
 * the next one is read. Must accept no reference to another place of the text, so that the tree is never
 * larger than the text.
 */
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "../../base/text.h"
#include "cdiyaml.h"

struct building {
	struct cdit *t;
	struct cdi_faults *f;
	struct open {
		uint32_t node, last, key;	/* key: a key that still lacks its value */
	} open[CDIT_DEPTH];
	unsigned depth;
	bool begun;		/* the first document */
};

static bool
refuse_at(struct building *b, const yaml_mark_t *at, const char *what)
{
	cdi_fault(b->f, CDI_INVALID, (uint32_t)at->line + 1, (uint32_t)at->column + 1, "", "%s", what);
	return false;
}

/* Links a new node as the text has it: as the document, a key, a key's value or an element. */
static bool
place_node(struct building *b, uint32_t n, const yaml_mark_t *at)
{
	struct cdit_node *node = b->t->node;
	struct open *o;

	if (b->depth == 0)
		return true;
	o = &b->open[b->depth - 1];
	if (o->key != CDIT_NONE) {
		node[o->key].child = n;
		o->key = CDIT_NONE;
		return true;
	}
	if (node[o->node].kind == CDIT_OBJECT) {
		if (node[n].text == NULL)
			return refuse_at(b, at, "a key that is not text");
		o->key = n;
	}
	if (o->last == CDIT_NONE)
		node[o->node].child = n;
	else
		node[o->last].next = n;
	o->last = n;
	node[o->node].count++;
	return true;
}

static bool
take_scalar(struct building *b, const yaml_event_t *e)
{
	const char *text = (const char *)e->data.scalar.value;
	const bool plain = e->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
	uint32_t n;

	if (e->data.scalar.anchor != NULL)
		return refuse_at(b, &e->start_mark, "an anchor: anchors and aliases are not accepted");
	if (e->data.scalar.tag != NULL)
		return refuse_at(b, &e->start_mark, "a tag: tags are not accepted");
	if (strlen(text) != e->data.scalar.length)
		return refuse_at(b, &e->start_mark, "a NUL in a string");
	if (plain && strcmp(text, "<<") == 0)
		return refuse_at(b, &e->start_mark, "a merge key: merge keys are not accepted");
	n = cdit_new(b->t, plain ? cdit_plain(text) : CDIT_STRING, (uint32_t)e->start_mark.line + 1,
	    (uint32_t)e->start_mark.column + 1, b->f);
	if (n == CDIT_NONE)
		return false;
	b->t->node[n].same_text = plain && cdit_same_text(text);
	if ((b->t->node[n].text = strdup(text)) == NULL) {
		b->f->starved = true;
		return false;
	}
	return place_node(b, n, &e->start_mark);
}

static bool
take_start(struct building *b, const yaml_event_t *e)
{
	const bool object = e->type == YAML_MAPPING_START_EVENT;
	uint32_t n;

	if ((object ? e->data.mapping_start.anchor : e->data.sequence_start.anchor) != NULL)
		return refuse_at(b, &e->start_mark, "an anchor: anchors and aliases are not accepted");
	if ((object ? e->data.mapping_start.tag : e->data.sequence_start.tag) != NULL)
		return refuse_at(b, &e->start_mark, "a tag: tags are not accepted");
	if (b->depth == CDIT_DEPTH) {
		cdi_fault(b->f, CDI_INVALID, (uint32_t)e->start_mark.line + 1, (uint32_t)e->start_mark.column + 1, "",
		    "nested deeper than %d", CDIT_DEPTH);
		return false;
	}
	n = cdit_new(b->t, object ? CDIT_OBJECT : CDIT_ARRAY, (uint32_t)e->start_mark.line + 1,
	    (uint32_t)e->start_mark.column + 1, b->f);
	if (n == CDIT_NONE || !place_node(b, n, &e->start_mark))
		return false;
	b->open[b->depth++] = (struct open){ .node = n, .last = CDIT_NONE, .key = CDIT_NONE };
	return true;
}

static bool
take_event(struct building *b, const yaml_event_t *e)
{
	switch (e->type) {
	case YAML_DOCUMENT_START_EVENT:
		if (b->begun)
			return refuse_at(b, &e->start_mark, "more than one document");
		b->begun = true;
		if (e->data.document_start.version_directive != NULL ||
		    e->data.document_start.tag_directives.start != e->data.document_start.tag_directives.end)
			return refuse_at(b, &e->start_mark, "a directive: directives are not accepted");
		return true;
	case YAML_ALIAS_EVENT:
		return refuse_at(b, &e->start_mark, "an alias: anchors and aliases are not accepted");
	case YAML_SCALAR_EVENT:
		return take_scalar(b, e);
	case YAML_SEQUENCE_START_EVENT:
	case YAML_MAPPING_START_EVENT:
		return take_start(b, e);
	case YAML_SEQUENCE_END_EVENT:
	case YAML_MAPPING_END_EVENT:
		b->depth--;
		return true;
	case YAML_STREAM_END_EVENT:
		return b->begun || refuse_at(b, &e->start_mark, "there is nothing in it");
	case YAML_NO_EVENT:
	case YAML_STREAM_START_EVENT:
	case YAML_DOCUMENT_END_EVENT:
		break;
	}
	return true;
}

static bool
refuse_parser(struct building *b, const yaml_parser_t *p)
{
	if (p->error == YAML_MEMORY_ERROR)
		b->f->starved = true;
	else if (p->error == YAML_READER_ERROR)
		cdi_fault(b->f, CDI_INVALID, 0, 0, "", "is not YAML: %s at byte %zu", p->problem, p->problem_offset);
	else
		cdi_fault(b->f, CDI_INVALID, (uint32_t)p->problem_mark.line + 1, (uint32_t)p->problem_mark.column + 1, "",
		    "is not YAML: %s", p->problem != NULL ? p->problem : "syntax error");
	return false;
}

bool
cdit_yaml(struct cdit *t, const char *text, size_t len, struct cdi_faults *f)
{
	struct building b = { .t = t, .f = f };
	bool good = true, end = false;
	yaml_parser_t parser;
	yaml_event_t event;

	if (!yaml_parser_initialize(&parser)) {
		f->starved = true;
		return false;
	}
	/* set the encoding, so that libyaml does not guess another one */
	yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
	/* libyaml then no longer skips a byte order mark (YAML 1.2, 5.2) */
	if (len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) {
		text += 3;
		len -= 3;
	}
	yaml_parser_set_input_string(&parser, (const unsigned char *)text, len);
	while (good && !end) {
		if (!yaml_parser_parse(&parser, &event)) {
			good = refuse_parser(&b, &parser);
			break;
		}
		good = take_event(&b, &event);
		end = event.type == YAML_STREAM_END_EVENT;
		yaml_event_delete(&event);
	}
	yaml_parser_delete(&parser);
	return good;
}
