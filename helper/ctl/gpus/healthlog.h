/*
 * Finds in the kernel's log that a GPU should be granted to nobody. Looks at the beginning of a record, which the
 * kernel wrote: a later part may contain a name that a process chose.
 */
#ifndef GPUHELPER_CTL_GPUS_HEALTHLOG_H
#define GPUHELPER_CTL_GPUS_HEALTHLOG_H

#include <stdbool.h>
#include <stdint.h>

#define HEALTH_WHY 96		/* bytes of a finding, with its NUL */

/*
 * Reads a record of /dev/kmsg (Documentation/ABI/testing/dev-kmsg): its number since boot, and its text up to
 * the end of the line. *text is NULL for a record that a process may have written, or that is a part of a longer line:
 * such a part may begin with a name that a process chose (a cgroup's, for example). False if the line is no record's
 * first.
 */
bool kmsg_read(const char *line, uint64_t *number, const char **text);

/*
 * True if the text says that a GPU is unusable for a new container. *pci gets the address, as by
 * pci_address_normalise(), and *why the fault in words. Faults that an application can cause by itself do not
 * count: NVIDIA's Xids are told apart by the action that its catalogue demands (a reset, or more).
 */
bool health_of_text(const char *text, char pci[16], char why[HEALTH_WHY]);

#endif
