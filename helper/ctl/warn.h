/* gpuhelperctl check: what the parts that warn share. */
#ifndef GPUHELPER_CTL_WARN_H
#define GPUHELPER_CTL_WARN_H

#include "../judge/match.h"
#include "check.h"

/* One that parses: what it says is known. */
bool is_policy(const struct checked *c);
/* Line of a top-level key; 0 if it is not in the file. */
unsigned key_line(const struct checked *c, const char *key);

#define ASKERS_MAX 32

/*
 * Users whose workers the policy is for, as far as it names them and this host knows
 * them, the first ASKERS_MAX; root where it names none.  The names are the policy's.
 * Returns how many.
 */
size_t policy_askers(const struct policy *p, struct asker out[ASKERS_MAX]);

/* Adds a warning, unless the file has that very one. */
void warn_once(struct checked *c, unsigned line, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

#endif
