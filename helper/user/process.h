/*
 * The «process» object of a config.json, or a process.json of exec (OCI runtime
 * specification, config.md): its environment and groups.
 */
#ifndef GPUHELPER_USER_PROCESS_H
#define GPUHELPER_USER_PROCESS_H

#include "../pure/doc.h"

/*
 * Takes out what a vendor's runtime below would read as a request and the token,
 * sets the variables of «set» ("NAME=value") and, with «voided»,
 * NVIDIA_VISIBLE_DEVICES=void, once.  Adds an edit only where something changes.
 * The list must have been seen to hold strings only.
 */
void process_env(const struct doc *d, uint32_t process, const struct strlist *set, bool voided, struct doc_edits *e);

/* Adds supplementary groups that are not there yet. */
void process_groups(const struct doc *d, uint32_t process, const uint32_t *gids, size_t n, struct doc_edits *e);

/* Sets an SELinux label («selinuxLabel» of a process, «mountLabel» of linux); NULL leaves it as it is. */
void process_label(const struct doc *d, uint32_t obj, const char *key, const char *label, struct doc_edits *e);

/* Is this entry ("NAME=value" or "NAME") one that is taken out? */
bool process_env_is_taken_out(const char *entry);

#endif
