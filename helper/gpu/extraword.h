/* The words of a policy's «nodes» (enum extra_word), and the kinds of CDI specs with these nodes. */
#ifndef GPUHELPER_GPU_EXTRAWORD_H
#define GPUHELPER_GPU_EXTRAWORD_H

#include "extranode.h"

/* Parses "gdrdrv" and the like. Sets *channel for "imex=N" only, and then to N. */
bool extra_word_parse(const char *name, unsigned *bit, uint32_t *channel);
/* The word of one bit: "gdrdrv". */
const char *extra_word_name(unsigned bit);
/* The CDI kind for which NVIDIA's tool writes the word's nodes into a spec of their own: "nvidia.com/gdrcopy". */
const char *extra_word_kind(unsigned bit);
/* The word of such a CDI kind; 0: it is none. */
unsigned extra_kind_word(const char *kind);

/* The first driver of character devices with this major ("vfio"), or "". */
const char *extra_driver(const struct devmajors *m, uint32_t major);

#endif
