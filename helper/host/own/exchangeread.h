/* Reads whole answers of gpuhelper-read (exchange.h); the helper reads only the settings. */
#ifndef GPUHELPER_HOST_OWN_EXCHANGEREAD_H
#define GPUHELPER_HOST_OWN_EXCHANGEREAD_H

#include "../../policy/policyset.h"
#include "exchange.h"

#define autoexchange __attribute__((cleanup(exchange_free)))

/* As exchange_read_settings(), and the policies: policy_set_free() in any case, too. */
int exchange_read_policies(const struct exchange *x, struct settings *s, struct policy_set *p, bool *malformed,
    struct why *why);

struct cdi_registry;
/*
 * The same for «len» bytes, the answer to a question of specs, and a registry that cdi_registry_adopt() made of them.
 */
int exchange_read_specs(const char *answer, size_t len, struct cdi_registry *r, bool *malformed, struct why *why);

/* The end of each answer. */
int exchange_answer_finish(struct lines *t, bool *malformed, struct why *why);

#endif
