/*
 * What gpuhelper-runc must repeat for each exec into a container with a grant: /run/gpuhelper/exec/UID/SHA-256 of
 * root NUL id. Only this uid and root can read it, and only root can change it.
 */
#ifndef GPUHELPER_ROOT_END_EXECRECORD_H
#define GPUHELPER_ROOT_END_EXECRECORD_H

#include "../../lease/edits.h"
#include "../../lease/leasefile.h"
#include "../enter/peer.h"

/*
 * Writes the lease's record. With «with_text», it also has a text for the user who starts a task in the
 * container: the GPUs (and the notes in what the driver adds count). -1 with *why.
 */
int exec_record_write(const struct peer *peer, const struct lease *l, const struct edits *e, bool with_text,
    struct why *why);

/* Removes the record. No record is no error. -1 with *why. */
int exec_record_remove(uint32_t uid, const char *root, const char *id, struct why *why);

#endif
