/* The destinations of «audit follow». */
#ifndef GPUHELPER_CTL_AUDIT_SINK_H
#define GPUHELPER_CTL_AUDIT_SINK_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

enum sink {
	SINK_JOURNAL,		/* an entry with fields: systemd.journal-fields(7) */
	SINK_SYSLOG,		/* one line, facility authpriv */
	SINK_STDOUT,		/* the same line */
	SINK_STDOUT_JSON,	/* the record, unchanged */
};

struct sink_entry {
	const char *event;	/* the record's event; "fault" for a fault of the log itself */
	int priority;		/* LOG_WARNING and so on */
	const char *message;	/* one line for people; may contain any bytes */
	const json_t *record;	/* NULL for a fault */
	const char *line;	/* the record's line in the log, «len» bytes; NULL for a fault */
	size_t len;
	uint64_t number;	/* in the chain; 0: the record is outside the chain */
	const char *hash;	/* of the record, if it is in the chain */
};

/* Finds the sink for --to and --json.  False if there is no such sink. */
bool sink_find(const char *name, bool json, enum sink *out);
/* Sends the entry.  False if the sink does not take it now: the caller must try again. */
bool sink_send(enum sink s, const struct sink_entry *e);

#endif
