/*
 * gpuhelper-judge, as the helper speaks to it: another program, which sees the host's GPUs, then parses what a stranger
 * wrote, and decides.  The helper finds the issuers' keys, sees that they are root's, and sends their bytes with the
 * token's (pure/judgeask.h); and what of the policies, the settings and the host it takes to decide (pure/grantask.h).
 */
#ifndef GPUHELPER_ROOT_JUDGE_H
#define GPUHELPER_ROOT_JUDGE_H

#include <stdint.h>
#include <sys/types.h>

#include "../pure/identity.h"
#include "../pure/gpu.h"
#include "../pure/grantask.h"
#include "../pure/verdict.h"

/* To be called before the filter (filter.h).  Where it can't be started, whoever asks later is told why. */
void judge_start(void);
void judge_wake(void);		/* has it start now, for it will be asked soon */
void judge_end(void);
pid_t judge_pid(void);		/* 0: there is none */

/*
 * Asks the judge to look for GPUs of the vendors in the mask (1 << enum gpu_vendor), which may be 0.  To be called
 * once, and before the other questions: a judge that has read a stranger's text is not asked about the host.
 */
void judge_looks(uint32_t vendors);

/* What the judge has seen after judge_looks(); not checked yet.  -1 with *why; inventory_free() in either case. */
int judge_sees(struct inventory *out, struct why *why);

/*
 * Of a token, as of now.  One that does not hold ends the matter, no other identity is tried: -1 with *why.
 * known_free() in either case; *s has to live as long.
 */
int judge_identifies(char *token, struct settings *s, struct known *out, struct why *why);

/* A vars_parser (pure/identity.h). */
int judge_parses_vars(const char *text, struct instance_vars *out, struct why *why);

/* What who asks gets; not checked yet (pure/verdict.h).  -1 with *why: nothing.  verdict_free() in either case. */
int judge_decides(const struct grant_ask *question, struct verdict *out, struct why *why);

#endif
