/* See doctor.h: finds out which vendors' GPUs this host has, whether their drivers are loaded or not. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "../host/file.h"
#include "../host/listing.h"
#include "../pure/cleanup.h"
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

unsigned
doctor_vendors(void)
{
	static const struct {
		unsigned long id;
		enum gpu_vendor vendor;
		const char *module;	/* a loaded driver counts, too: not every GPU is on the PCI bus */
	} vendors[] = {
		{ 0x10de, GPU_NVIDIA, "/sys/module/nvidia" }, { 0x10de, GPU_NVIDIA, "/sys/module/nvgpu" },
		{ 0x10de, GPU_NVIDIA, "/proc/driver/nvidia" }, { 0x10de, GPU_NVIDIA, "/dev/dxg" },
		{ 0x1002, GPU_AMD, "/sys/module/amdgpu" }, { 0x8086, GPU_INTEL, "/sys/module/i915" },
		{ 0x8086, GPU_INTEL, "/sys/module/xe" },
	};
	autoclose int all = open(DEVICES, O_PATH | O_DIRECTORY | O_CLOEXEC);
	autostrlist struct strlist names = { 0 };
	unsigned long class;
	unsigned found = 0;
	size_t i, k;

	/* where nobody can tell, each vendor may be there */
	if (all == -1 || listing_names(open(DEVICES, O_RDONLY | O_DIRECTORY | O_CLOEXEC), 65536, &names) == -1)
		return ~0U;
	for (k = 0; k < sizeof(vendors) / sizeof(vendors[0]); k++) {
		if (access(vendors[k].module, F_OK) == 0)
			found |= 1U << vendors[k].vendor;
		for (i = 0; i < names.n && (found & 1U << vendors[k].vendor) == 0; i++) {
			class = number_of(all, names.v[i], "class") >> 16;
			if ((class == CLASS_DISPLAY || class == CLASS_ACCELERATOR) &&
			    number_of(all, names.v[i], "vendor") == vendors[k].id)
				found |= 1U << vendors[k].vendor;
		}
	}
	return found;
}
