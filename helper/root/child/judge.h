/*
 * The helper's side of gpuhelper-judge, a program that first finds the host's GPUs, then parses untrusted text (tokens,
 * instance variables), and decides requests. The helper finds the issuers' keys, checks that they belong to root, and
 * sends them with the token (ask/judgeask.h). To have a request decided, it sends the parts of the policies, the
 * settings and the host that matter (ask/grantask.h).
 */
#ifndef GPUHELPER_ROOT_CHILD_JUDGE_H
#define GPUHELPER_ROOT_CHILD_JUDGE_H

#include <stdint.h>
#include <sys/types.h>

#include "../../ask/grantask.h"
#include "../../ask/identity.h"
#include "../../ask/verdict.h"
#include "../../gpu/gpu.h"

/*
 * Starts the program, or, where libudev must be asked about nodes, gpuhelper-judge-udev: the same with that library. A
 * driver that is loaded later makes the question about the GPUs fail (host/gpu/nodrm.h). To be called before
 * filter_install(). If this fails, every question fails with the reason.
 */
void judge_start(void);
void judge_end(void);
/*
 * Has the judge find the GPUs of the vendors in the mask (1 << enum gpu_vendor), which may be 0. The result is not
 * checked yet. To be called once, and before the other questions: a judge that has parsed untrusted text is not trusted
 * with the inventory. -1 with *why; inventory_free() in either case.
 */
int judge_ask_host(uint32_t vendors, struct inventory *out, struct why *why);

/*
 * Verifies a token. -1 with *why: the token is not valid now, and no other identity may be tried. origin_free() in
 * either case; *out points into *s.
 */
int judge_ask_token(char *token, struct settings *s, struct origin *out, struct why *why);

/* A vars_parser (ask/identity.h). */
int judge_ask_vars(const char *text, struct instance_vars *out, struct why *why);

/*
 * Has the judge decide what the request gets. The verdict is not checked yet (ask/verdict.h). -1 with *why: the
 * request is refused. verdict_free() in either case.
 */
int judge_ask_grant(const struct grant_ask *question, struct verdict *out, struct why *why);

#endif
