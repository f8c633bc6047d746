/*
 * gpuhelper-engine's side of gpuhelper-judge, a program that first finds the host's GPUs, then parses untrusted text
 * (tokens, instance variables), and decides requests. gpuhelper-engine gives it the issuers' keys with the token
 * (ask/judgequery.h), and the parts of the policies, the settings and the host that matter with a request
 * (ask/grantquery.h).
 */
#ifndef GPUHELPER_ENGINE_TOJUDGE_H
#define GPUHELPER_ENGINE_TOJUDGE_H

#include "../ask/authzquery.h"
#include "../ask/judgequery.h"
#include "../policy/settings.h"

/* Takes the CDI specs, as the helper sends them: «len» bytes, NULL with *unread why there are none. */
typedef void take_specs(void *ctx, const char *specs, size_t len, const struct why *unread);

/*
 * Has the judge find the GPUs of the vendors in the mask (1 << enum gpu_vendor), which may be 0. If it is not, the
 * helper sends the specs meanwhile, and take(ctx, ...) gets them. The result is not checked yet. To be called once, and
 * before the other questions: a judge that has parsed untrusted text is not trusted with the inventory. -1 with *why;
 * inventory_free() in either case.
 */
int tojudge_host(uint32_t vendors, take_specs *take, void *ctx, struct inventory *out, struct why *why);

/*
 * Verifies a->untrusted.token. -1 with *why: the token is not valid now, and no other identity may be tried. Fills
 * *out, which points into *s, and the index of its issuer there. principal_free() in either case.
 */
int tojudge_token(const struct authz_query *a, struct settings *s, struct principal *out, uint32_t *issuer,
    struct why *why);

/* A vars_parser (ask/identity.h). */
int tojudge_vars(const char *text, struct instance_vars *out, struct why *why);

/*
 * Has the judge decide what the request gets. The decision is not checked yet (ask/decisionindexes.h). -1 with *why:
 * the request is refused. decision_indexes_free() in either case.
 */
int tojudge_grant(const struct grant_query *question, struct decision_indexes *out, struct why *why);

#endif
