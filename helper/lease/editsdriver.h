/* Edits (edits.h) of a driver: hooks, variables and notes. The helper includes none of this. */
#ifndef GPUHELPER_LEASE_EDITSDRIVER_H
#define GPUHELPER_LEASE_EDITSDRIVER_H

#include "edits.h"

#define NOTES_MAX 12			/* of one grant: four words without a node, libraries, a few sockets, a variable */
#define NOTE_MAX 400			/* bytes of one, with its terminating 0 */

/* Adds "NAME=value" unless the name exists. False if memory is short. */
bool edits_add_env(struct edits *e, const char *entry);
/*
 * Adds a warning, made printable and cut to NOTE_MAX, unless it is there already or NOTES_MAX others are. False if
 * memory is short.
 */
bool edits_add_note(struct edits *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Adds a hook to fill in, valid until the next call. NULL if memory is short. */
struct edit_hook *edits_add_hook(struct edits *e);
/* Sorts mounts by the depth of their targets, so that a mount never hides one beneath it. */
void edits_sort_mounts(struct edits *e);
#define autocontaineredits __attribute__((cleanup(edits_free)))

#endif
