/* gpuhelperctl check: what the files with its warnings share. */
#ifndef GPUHELPER_CTL_CHECK_WARN_H
#define GPUHELPER_CTL_CHECK_WARN_H

#include "../../judge/match.h"
#include "check.h"

/* True if it is a policy that parses. */
bool is_policy(const struct checked *c);
/* The line of a top-level key; 0 if the file does not have the key. */
unsigned key_line(const struct checked *c, const char *key);

#define CLIENTS_MAX 32

/*
 * Gets the policy's callers that exist on this host, at most CLIENTS_MAX; root if the policy has no callers.  Borrows
 * the names.  Returns how many there are.
 */
size_t policy_clients(const struct policy *p, struct client out[CLIENTS_MAX]);

/* Adds a warning, unless the file has the same one already. */
void warn_once(struct checked *c, unsigned line, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

#endif
