/*
 * Marks what a grant added to a config.json, and takes it out again when the same bundle is used once more: what one
 * run added must neither stand in the way of the next nor outlive the request. An engine writes a new config.json each
 * time; a person may use one bundle many times.
 */
#ifndef GPUHELPER_USER_COMPOSE_GRANTMARK_H
#define GPUHELPER_USER_COMPOSE_GRANTMARK_H

#include "../../lease/edits.h"
#include "../spec/bundle.h"
#include "../spec/spec.h"

#define GRANTMARK_KEY "gpuhelper.added"

/*
 * Adds the annotation to a composed config.json: the names of the mounts, devices, rules, variables, groups, masked
 * paths and hooks that the grant added to «before». «bundle» is the bundle's path. Returns the new text, which the
 * caller frees, or NULL with *why.
 */
char *grantmark_add(const struct spec *before, const struct edits *grant, const char *bundle, const char *text,
    size_t *len, struct why *why);

/*
 * Parses the bundle's config.json like spec_parse(), without what an earlier grant added. *before gets the text without
 * that, which must live as long as *s, and which the caller frees; NULL: nothing was taken out, and *s refers to the
 * bundle's text. *stale is true if there is a mark that does not fit: the bundle or what was added has changed since,
 * or somebody else made the mark. 0, or -1 with *why. The caller calls spec_free() in any case.
 */
int grantmark_parse(struct spec *s, const struct bundle *b, char **before, bool *stale, struct why *why);

#endif
