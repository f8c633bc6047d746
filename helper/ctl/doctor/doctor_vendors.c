/* See doctor.h: finds out which vendors' GPUs this host has, whether their drivers are loaded or not. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "../../base/cleanup.h"
#include "../../host/file.h"
#include "../../host/gpu/gpus.h"
#include "../../host/listing.h"
#include "doctor.h"

#define DEVICES "/sys/bus/pci/devices"
#define CLASS_DISPLAY 0x03
#define CLASS_ACCELERATOR 0x12

/* A number in hexadecimal from a file of the device's; 0: there is none. */
static unsigned long
number_of(int all, const char *device, const char *file)
{
	autofree char *path = NULL, *text = NULL;

	if (asprintf(&path, "%s/%s", device, file) == -1)
		return 0;
	text = file_read_at(all, path, 64, NULL);
	return text != NULL ? strtoul(text, NULL, 16) : 0;
}

/* The mask of the vendors whose drivers are loaded: not every GPU is on the PCI bus. */
static unsigned
vendors_of_drivers(void)
{
	static const struct {
		const char *path;
		enum gpu_vendor vendor;
	} drivers[] = {
		{ "/sys/module/nvidia", GPU_NVIDIA }, { "/sys/module/nvgpu", GPU_NVIDIA },
		{ "/proc/driver/nvidia", GPU_NVIDIA }, { "/dev/dxg", GPU_NVIDIA }, { "/sys/module/amdgpu", GPU_AMD },
		{ "/sys/module/i915", GPU_INTEL }, { "/sys/module/xe", GPU_INTEL },
	};
	unsigned found = 0;
	size_t i;

	for (i = 0; i < sizeof(drivers) / sizeof(drivers[0]); i++)
		if (access(drivers[i].path, F_OK) == 0)
			found |= 1U << drivers[i].vendor;
	return found;
}

/* The mask of the vendor of a PCI device; 0: it is no GPU, or of another vendor. */
static unsigned
vendor_of_device(int all, const char *device)
{
	const unsigned long class = number_of(all, device, "class") >> 16;

	if (class != CLASS_DISPLAY && class != CLASS_ACCELERATOR)
		return 0;
	switch (number_of(all, device, "vendor")) {
	case VENDOR_NVIDIA: return 1U << GPU_NVIDIA;
	case VENDOR_AMD: return 1U << GPU_AMD;
	case VENDOR_INTEL: return 1U << GPU_INTEL;
	default: return 0;
	}
}

unsigned
doctor_vendors(void)
{
	autoclose int all = open(DEVICES, O_PATH | O_DIRECTORY | O_CLOEXEC);
	autostrlist struct strlist names = { 0 };
	unsigned found = vendors_of_drivers();
	size_t i;

	/* where nobody can tell, each vendor may be there */
	if (all == -1 || listing_names(open(DEVICES, O_RDONLY | O_DIRECTORY | O_CLOEXEC), 65536, &names) == -1)
		return ~0U;
	for (i = 0; i < names.n; i++)
		found |= vendor_of_device(all, names.v[i]);
	return found;
}
