/* See driverleftout.h. */
#include "driverleftout.h"

#include <string.h>

#include "../base/path.h"
#include "../cdi/nvlibs.h"
#include "../gpu/vendorasks.h"
#include "../gpu/vendorvars.h"

bool
driver_mount_left_out(const struct gpu_rule *r, enum gpu_vendor vendor, const struct cdi_edits *e,
    const struct cdi_mount *m)
{
	unsigned for_what = nvfile_capabilities(m->container_path);

	/* links to nodes: the nodes are granted by themselves. Marks for NVIDIA's runtime: the wrapper makes its own */
	if (path_is_beneath(m->container_path, "/dev") || vendor_mount_asks(m->container_path))
		return true;
	if (vendor != GPU_NVIDIA)
		return false;
	if (nvfile_is_mps(m->host_path) || nvfile_is_mps(m->container_path))
		return !r->mps;
	if (for_what == 0)
		for_what = nvfile_capabilities(m->host_path);
	if (for_what != 0 && (for_what & r->capabilities) == 0)
		return true;
	if ((r->capabilities & GPU_CAP_COMPAT32) != 0)
		return false;
	return nvmount_is_32(e, m);
}
