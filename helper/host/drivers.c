/* See drivers.h. */
#include "drivers.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "../pure/cleanup.h"
#include "file.h"
#include "majors.h"

int
drivers_read(struct inventory *inv, struct why *why)
{
	autoclose int root = file_root();
	autofree char *params = NULL;

	if (root == -1)
		return refuse(why, WHY_IO, "/: %s", strerror(errno));
	/* the mode of nodes that are made is in there: none is to be wider than it says, for it could not be read */
	if ((params = file_read_at(root, "proc/driver/nvidia/params", 65536, NULL)) == NULL && errno != ENOENT)
		return refuse(why, WHY_IO, "/proc/driver/nvidia/params: %s", strerror(errno));
	nvidia_params_parse(params == NULL ? "" : params, inv);
	return majors_read(root, &inv->majors, why);
}
