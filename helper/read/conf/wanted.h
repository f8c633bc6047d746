/* Which claims of an issuer's tokens the policies ask about. */
#ifndef GPUHELPER_READ_CONF_WANTED_H
#define GPUHELPER_READ_CONF_WANTED_H

#include "../../policy/policyset.h"
#include "../../policy/settings.h"

/*
 * Fills claims.wanted of each issuer: gpuhelper-judge passes on no other claims, which are a stranger's text. False if
 * memory is short.
 */
bool issuers_want(struct settings *s, const struct policy_set *p);

#endif
