/*
 * gpuhelper-judge, as the helper speaks to it: another program, which parses what a stranger wrote.  The helper finds
 * the issuers' keys, sees that they are root's, and sends their bytes with the token's (pure/judgeask.h).
 */
#ifndef GPUHELPER_ROOT_JUDGE_H
#define GPUHELPER_ROOT_JUDGE_H

#include "../host/identity.h"

/* To be called before the filter (filter.h).  Where it can't be started, whoever asks later is told why. */
void judge_start(void);
void judge_end(void);

/*
 * Of a token, as of now.  One that does not hold ends the matter, no other identity is tried: -1 with *why.
 * known_free() in either case; *s has to live as long.
 */
int judge_identifies(char *token, struct settings *s, struct known *out, struct why *why);

/* A vars_parser (host/identity.h). */
int judge_parses_vars(const char *text, struct instance_vars *out, struct why *why);

#endif
