/* The parts of vet_edits() (vet.h). Each returns 0, or -1 with *why. */
#ifndef GPUHELPER_VET_VETPARTS_H
#define GPUHELPER_VET_VETPARTS_H

#include "vet.h"

int vet_nodes(struct vet *v, struct why *why);	/* first: it sets «granted» of the sources */
int vet_mounts(const struct vet *v, struct why *why);
int vet_hooks(const struct vet *v, struct why *why);
int vet_env(const struct vet *v, struct why *why);
int vet_labels(const struct vet *v, struct why *why);

/*
 * The changes number n of the granted devices, for n below 2 * v->sources: of a device itself, or of its spec. NULL:
 * that device is not granted, or its spec was there already.
 */
const struct cdi_edits *vet_source_edits(const struct vet *v, size_t n);

/* True if gpuhelper.conf has the wrapper give the files of CDI specs. */
bool vet_gives_driver_files(const struct vet *v);

/* Refuses a change: «what» is its kind, "folder". */
int vet_refuse(const char *what, const char *name, struct why *why);

#endif
