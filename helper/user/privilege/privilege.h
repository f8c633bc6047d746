/*
 * Finds privileged containers: those that could undo their device rules, enter others, or become the host's
 * root.
 */
#ifndef GPUHELPER_USER_PRIVILEGE_PRIVILEGE_H
#define GPUHELPER_USER_PRIVILEGE_PRIVILEGE_H

#include "../../ask/request.h"
#include "../../policy/settings.h"
#include "../spec/spec.h"

#define PRIVILEGE_MAX 384

/*
 * Sets r->privileged from the spec and from the ids that spec_request() has set in *r. *what gets the reason
 * and the remedy ("has no PID namespace of its own: give it one"), or "". «hosts_root» is true if the
 * caller's uid 0 is the host's root; a container without a user namespace then runs as the host's root, too.
 * «no_pivot» is true for --no-pivot. Returns 0, or -1 with *why if the spec can't be read or memory is short.
 */
int privilege_find(const struct spec *s, struct request *r, bool hosts_root, bool no_pivot, char what[PRIVILEGE_MAX],
    struct why *why);

/* If *why is a refusal because of privileged = "deny", adds the reason in «what», and what to do. */
void privilege_explain(const struct spec *s, const struct settings *settings, const char *what, struct why *why);
/* Refuses the container because of privileged = "deny", for the reason in «what». Returns -1. */
int privilege_refuse(const struct spec *s, const struct settings *settings, const char *what, struct why *why);

#endif
