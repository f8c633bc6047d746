/*
 * What no file may say, whoever has read it: the helper believes gpuhelper-read (root/reader.h) what an administrator
 * wrote, and not that he wrote this.
 */
#ifndef GPUHELPER_PURE_TABLECHECK_H
#define GPUHELPER_PURE_TABLECHECK_H

#include "cdi.h"
#include "policyset.h"
#include "settings.h"
#include "why.h"

/* -1 with *why, of WHY_BUG: its own parser would have refused that. */
int table_check(const struct settings *s, const struct policy_set *p, struct why *why);
/* But for hooks, which are looked at where they are to be run. */
int table_check_spec(const struct cdi_spec *s, struct why *why);

#endif
