/*
 * Edits the «process» object of a config.json, or the process.json of exec (OCI runtime spec, config.md):
 * environment, groups and label.
 */
#ifndef GPUHELPER_USER_SPEC_SPECPROCESS_H
#define GPUHELPER_USER_SPEC_SPECPROCESS_H

#include "../../json/doc.h"

/*
 * Removes GPUHELPER_TOKEN, the variables that «tokens» names, and those that a vendor's runtime would read as a
 * request; sets the variables of «set» ("NAME=value"). With «voided», sets NVIDIA_VISIBLE_DEVICES=void once. Adds an
 * edit only for a change. The list must be known to hold strings only.
 */
void process_env(const struct doc *d, uint32_t process, const struct strlist *set, const struct strlist *tokens,
    bool voided, struct doc_edits *e);

/* True if the process has this supplementary group. */
bool process_has_group(const struct doc *d, uint32_t process, uint32_t gid);

/* Adds the supplementary groups that are not in the list yet. */
void process_groups(const struct doc *d, uint32_t process, const uint32_t *gids, size_t n, struct doc_edits *e);

/* Sets an SELinux label («selinuxLabel» of a process, «mountLabel» of linux). NULL keeps it as it is. */
void process_label(const struct doc *d, uint32_t obj, const char *key, const char *label, struct doc_edits *e);

/* True if process_env() removes this entry ("NAME=value" or "NAME"). */
bool process_env_is_taken_out(const char *entry, const struct strlist *tokens);

#endif
