/* See drivers.h. Reads only files in /proc. */
#include "drivers.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "../../base/cleanup.h"
#include "../file.h"
#include "majors.h"

int
drivers_read(struct inventory *inv, struct why *why)
{
	const int root = file_root();
	autofree char *params = NULL;

	if (root == -1)
		return refuse(why, WHY_IO, "/: %s", strerror(errno));
	/*
	 * the file has the mode of new nodes: without it, a node might be made with a wider mode than the driver allows
	 */
	if ((params = file_read_at(root, "proc/driver/nvidia/params", 65536, NULL)) == NULL && errno != ENOENT)
		return refuse(why, WHY_IO, "/proc/driver/nvidia/params: %s", strerror(errno));
	nvidia_params_parse(params == NULL ? "" : params, inv);
	return majors_read(root, &inv->majors, why);
}
