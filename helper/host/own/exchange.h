/*
 * What gpuhelper-read is asked and answers: a question holds the bytes of root's files, an answer is lines
 * (ask/parsed.h). Answers that the helper has kept (root/child/answercache.h) are in a directory of root's.
 */
#ifndef GPUHELPER_HOST_OWN_EXCHANGE_H
#define GPUHELPER_HOST_OWN_EXCHANGE_H

#include <stdint.h>
#include <sys/stat.h>

#include "../../base/lines.h"
#include "../../policy/settings.h"
#include "../driver/specfiles.h"

/* Names of the kept answers. */
#define EXCHANGE_POLICIES "policies"
#define EXCHANGE_SPECS "specs"

/* A question, and the answer to it. */
struct exchange {
	char *question, *answer;
	size_t asked, len;		/* their lengths, in bytes */
};
void exchange_free(struct exchange *x);

/*
 * Makes the question of gpuhelper.conf and the policies. Returns 0, or -1 with *why: a file can't be read, or others
 * than root may write it.
 */
int exchange_ask_policies(struct exchange *x, struct why *why);
/* The same for CDI specs. */
int exchange_ask_specs(const struct spec_files *f, struct exchange *x, struct why *why);

/*
 * Reads the settings, which come first in that answer, and checks them (ask/parsedcheck.h). Returns 0, or -1 with *why.
 * Sets *malformed if the answer is not one of gpuhelper-read's. settings_free() in any case.
 */
int exchange_read_settings(const struct exchange *x, struct settings *s, bool *malformed, struct why *why);

/* The beginning of each answer. */
int exchange_answer_begin(const char *answer, size_t len, struct lines *t, bool *malformed, struct why *why);

/* A kept answer's file begins with this head; the question and the answer follow. */
struct cached_head {
	/* any other file in the program's place, or any change of the file, is another program */
	uint64_t dev, ino, size, seconds, nanoseconds;
	uint64_t asked, len;
};
#define CACHED_MAX (16U << 20)	/* bytes of a file */
struct cached_head cached_head_of(const struct stat *program, const struct exchange *x);

/*
 * Finds in the directory the answer that this program gave to x->question before. «program» is from fstat(2). False if
 * none is kept. The answer must be checked like one that the program gives now.
 */
bool exchange_find(int dir, const char *name, const struct stat *program, struct exchange *x);

#endif
