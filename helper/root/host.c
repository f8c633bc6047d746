/* See host.h.  Believes of the judge what it can't see to be false, and lets no node be more than a GPU's. */
#include "host.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "../host/file.h"
#include "../host/majors.h"
#include "../pure/cleanup.h"
#include "../pure/hostcheck.h"
#include "judge.h"

static struct {
	bool looked;
	unsigned vendors;
	struct inventory inventory;
	struct why why;		/* WHY_NONE: it is there */
} host;

int
host_read_drivers(struct inventory *inv, struct why *why)
{
	autoclose int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	autofree char *params = NULL;

	if (root == -1)
		return refuse(why, WHY_IO, "/: %s", strerror(errno));
	/* the mode of nodes that are made is in there: none is to be wider than it says, for it could not be read */
	if ((params = file_read_at(root, "proc/driver/nvidia/params", 65536, NULL)) == NULL && errno != ENOENT)
		return refuse(why, WHY_IO, "/proc/driver/nvidia/params: %s", strerror(errno));
	nvidia_params_parse(params == NULL ? "" : params, inv);
	return majors_read(root, &inv->majors, why);
}

void
host_look(unsigned vendors)
{
	struct inventory *inv = &host.inventory;
	struct why why;

	if (host.looked)
		return;
	host.looked = true;
	host.vendors = vendors;
	if (judge_sees(vendors, inv, &why) == -1 || host_read_drivers(inv, &why) == -1 || host_check(inv, &why) == -1)
		host.why = why;
	inventory_rank(inv);
}

int
host_gpus(unsigned vendors, struct inventory *out, struct why *why)
{
	*out = (struct inventory){ 0 };
	host_look(vendors);
	if (host.why.code != WHY_NONE) {
		*why = host.why;
		return -1;
	}
	if ((vendors & ~host.vendors) != 0)
		return refuse(why, WHY_BUG, "nobody has looked for GPUs of all these vendors");
	return inventory_copy(&host.inventory, vendors, out, why);
}
