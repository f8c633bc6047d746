/* Where «audit follow» sends records. */
#ifndef GPUHELPER_CTL_SINK_H
#define GPUHELPER_CTL_SINK_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

enum sink {
	SINK_JOURNAL,		/* one entry with fields: systemd.journal-fields(7) */
	SINK_SYSLOG,		/* one line, facility authpriv */
	SINK_STDOUT,		/* the same line */
	SINK_STDOUT_JSON,	/* the record as it is */
};

struct sink_entry {
	const char *event;	/* the record's; "fault" for what is told of the log itself */
	int priority;		/* LOG_WARNING and so on */
	const char *message;	/* one line for people; may have anything in it */
	const json_t *record;	/* NULL for a fault */
	const char *line;	/* the record as it is in the log, of «len» bytes; NULL for a fault */
	size_t len;
	uint64_t number;	/* in the chain; 0: it is not in it */
	const char *hash;	/* of it, where it is in the chain */
};

/* False: not one of the names. */
bool sink_find(const char *name, bool json, enum sink *out);
/* False: it could not be taken just now, and is to be sent again. */
bool sink_send(enum sink s, const struct sink_entry *e);

#endif
