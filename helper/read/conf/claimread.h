/* Reads claims and the values that they must have: «require» of an issuer, and «claims» of a policy. */
#ifndef GPUHELPER_READ_CONF_CLAIMREAD_H
#define GPUHELPER_READ_CONF_CLAIMREAD_H

#include <libconfig.h>

#include "../../policy/claimset.h"
#include "../../policy/conffault.h"

/*
 * Reads { NAME = VALUE; ... }, or ( { claim = "NAME"; value = VALUE; }, ... ) for names that libconfig does not know,
 * and ( { claim = "NAME"; absent = true; } ) for a claim that must not be there. A value is a string, a whole number or
 * a boolean, or with «alternatives» a list of these. Only with «alternatives» may a string have * and ?. Adds a fault
 * for anything else, and for a claim that gpuhelper checks by itself.
 */
void claims_read(config_setting_t *s, bool alternatives, struct claim_set *out, struct faults *f);

/* Reads the name of a claim into *out, which it frees and replaces. */
void claim_name_read(config_setting_t *s, char **out, struct faults *f);

#endif
