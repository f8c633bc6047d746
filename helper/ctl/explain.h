/* What gpuhelperctl explain says of an inquiry. */
#ifndef GPUHELPER_CTL_EXPLAIN_H
#define GPUHELPER_CTL_EXPLAIN_H

#include "inquiry.h"

/* Prints the answer, as text or JSON. */
void answer(const struct inquiry *q);
/* The part of it that tells a token's checks. */
void say_token(const struct token_check_log *log);
json_t *token_json(const struct token_check_log *log);
/* Adds whose container it is, as far as that is known; not the kind of identity that says so. */
void put_identity(json_t *object, const struct identity *id);

/*
 * What this host would refuse of an outcome that is granted or plain: makes it a
 * refusal with q->why.  In explain_host.c.
 */
void look_at_host(struct inquiry *q);

/* --token-file, and --at: in explain_token.c. */
int token_usage(const struct options *o);	/* 0, or the exit status after a complaint */
bool token_alone(const struct options *o);	/* the policies are not asked */
void token_notes(struct inquiry *q);
int token_answer(struct inquiry *q);		/* answer(), of the token alone; returns the exit status */

#endif
