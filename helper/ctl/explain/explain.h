/* gpuhelperctl explain: its answer to an inquiry. */
#ifndef GPUHELPER_CTL_EXPLAIN_EXPLAIN_H
#define GPUHELPER_CTL_EXPLAIN_EXPLAIN_H

#include "../../lease/edits.h"
#include "../../policy/policydecide.h"
#include "inquiry.h"

/* Prints the answer, as text or JSON. */
void explain_answer(const struct inquiry *q);
/* Prints the checks of a token, which are part of the answer. */
void say_token(const struct token_check_log *log);
json_t *token_json(const struct token_check_log *log);
/* Adds team, pipeline, job, issuer and instance variables, as far as they are known. */
void put_owner(json_t *object, const struct identity *id);

/*
 * Checks whether this host would refuse the container for other reasons than the policies. If so, turns an outcome
 * that is granted or plain into a refusal with q->why. In explain_host.c.
 */
void look_at_host(struct inquiry *q);

/*
 * If GPUs are granted: who waits before the container now, and why, as {"ahead": N, "why": [TEXT, ...]} (a new
 * reference).  NULL: not known, as only root's helper tells of all users.  In explain_now.c.
 */
json_t *explain_now(const struct inquiry *q);

/* Which libraries the container will find under their SONAMEs, in explain_libraries.c. */
/* Sets q->libraries by the changes to the container.  False: memory is short. */
bool explain_find_libraries(struct inquiry *q, const struct edits *e);
/* The libraries of each capability that is granted and has some, as lists by the capability's name. */
json_t *libraries_json(const struct inquiry *q);

/* --token-file and --at, in explain_token.c. */
/* Checks the options.  0, or the exit status after a complaint. */
int token_usage(const struct options *o);
/* True if only the token is to be checked, and no policy is asked. */
bool token_alone(const struct options *o);
/* For a question without a token: sets q->assumed, with the reason why this host would refuse each token. */
void token_assume(struct inquiry *q);
/* Adds the notes about the token. */
void token_notes(struct inquiry *q);
/* Prints the answer about the token alone; returns the exit status. */
int token_answer(struct inquiry *q);

#endif
