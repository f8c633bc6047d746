/* See gpu.h: PCI addresses. */
#include <stdio.h>
#include <string.h>

#include "../kernel/kerneltext.h"
#include "gpu.h"

bool
pci_address_parse(const char *s, uint64_t *out)
{
	uint32_t domain = 0, bus, dev, fn;
	const char *colon = strchr(s, ':');

	if (colon != NULL && strchr(colon + 1, ':') != NULL &&
	    (!hex_digits(&s, 4, 8, &domain) || *s++ != ':'))
		return false;
	/* seven digits are what struct gpu has room for; real ones have four or five */
	if (domain > 0xfffffff || !hex_digits(&s, 2, 2, &bus) || *s++ != ':' ||
	    !hex_digits(&s, 2, 2, &dev) || *s++ != '.' || !hex_digits(&s, 1, 1, &fn) ||
	    *s != '\0' || dev > 0x1f || fn > 7)
		return false;
	*out = (uint64_t)domain << 16 | bus << 8 | dev << 3 | fn;
	return true;
}

void
pci_address_print(uint64_t pci, char out[16])
{
	snprintf(out, 16, "%04x:%02x:%02x.%x", (unsigned)(pci >> 16 & 0xfffffff),
	    (unsigned)(pci >> 8 & 0xff), (unsigned)(pci >> 3 & 0x1f), (unsigned)(pci & 7));
}

bool
pci_address_normalise(const char *s, char out[16])
{
	uint64_t pci;

	if (!pci_address_parse(s, &pci))
		return false;
	pci_address_print(pci, out);
	return true;
}
