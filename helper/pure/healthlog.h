/*
 * What the kernel's log says of a GPU that should be given to nobody.  A record is text of the kernel's own beginning,
 * so a name that a process chose for itself, further on in it, is taken for nothing else.
 */
#ifndef GPUHELPER_PURE_HEALTHLOG_H
#define GPUHELPER_PURE_HEALTHLOG_H

#include <stdbool.h>
#include <stdint.h>

#define HEALTH_WHY 96		/* bytes of a finding, with its NUL */

/*
 * A record of /dev/kmsg (Documentation/ABI/testing/dev-kmsg): the number that it has since boot, and its text, to the
 * end of the line.  False: it is none of the kernel's, or the continuation of one.
 */
bool kmsg_read(const char *line, uint64_t *number, const char **text);

/*
 * Does the text say that a GPU is beyond what a new container could use?  Then its PCI address, as
 * pci_address_normalise() writes it, and in words, what is wrong.  What an application can bring about by itself is
 * none of that: NVIDIA's Xids are told apart by what its catalogue says is to be done (a reset, or more).
 */
bool health_of_text(const char *text, char pci[16], char why[HEALTH_WHY]);

#endif
