/*
 * What gpuhelper-engine adds to a container for its driver: mounts, hooks, variables, notes and paths to hide, as the
 * two texts of a struct driver_edits (lease/edits.h). They are JSON, of members of the CDI specification 1.1.0. The
 * helper passes them on unread. Whoever decodes them has no more rights than its caller, or compares them with root's
 * specs (vet/vet.h), and believes neither gpuhelper-engine nor what the texts say.
 */
#ifndef GPUHELPER_ASK_DRIVEREDITS_H
#define GPUHELPER_ASK_DRIVEREDITS_H

#include "../lease/edits.h"

/* Writes the driver's part of *e into out->files and out->process. False if memory is short or a text is not UTF-8. */
bool driver_edits_encode(const struct edits *e, struct driver_edits *out);

/*
 * Decodes both (files NULL: none) into *out, and checks their form: paths are clean, targets are no place
 * of the kernel's, options are those of a driver's mounts, variables are not gpuhelper's. 0, or -1 with *why.
 * edits_free() in any case.
 */
int driver_edits_decode(const char *files, const char *process, struct edits *out, struct why *why);

/* Refuses (-1 with *why) a mount of the driver that meets one of n granted folders. */
int driver_edits_check_folders(const struct edits *driver, const struct edit_mount *folder, size_t n, struct why *why);

#endif
