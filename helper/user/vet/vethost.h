/*
 * How the table (vet/vet.h) looks at the host while one reply is checked. What only root can change is looked at once
 * for the whole reply: directories that many files or folders lie in, and NVIDIA's GPUs.
 */
#ifndef GPUHELPER_USER_VET_VETHOST_H
#define GPUHELPER_USER_VET_VETHOST_H

#include "../../vet/vet.h"

/* What /proc says of a GPU; all "": there is none. */
struct vethost_gpu {
	char pci[16], uuid[48];
};

/* Begins as { .parent = -1 }, and ends by vethost_end(). */
struct vethost {
	char dir[PATH_MAX];		/* of the last file, if only root can change that directory; "": none */
	char real[PATH_MAX];		/* the same without links */
	char *parent_path;		/* of the last folder; NULL: none */
	int parent;
	struct vethost_gpu *nvidia;	/* by their minor numbers; NULL: not read yet */
};

/* Functions that look at the host, and keep in *s what they see. */
struct vet_host vethost_functions(struct vethost *s);
void vethost_end(struct vethost *s);
#define autovethost __attribute__((cleanup(vethost_end)))

#endif
