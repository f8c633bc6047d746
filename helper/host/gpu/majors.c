/* See majors.h. Opens only that file. */
#include "majors.h"

#include <errno.h>
#include <string.h>

#include "../../base/cleanup.h"
#include "../file.h"

int
majors_read(int root, struct devmajors *out, struct why *why)
{
	autofree char *text = file_read_at(root, "proc/devices", 65536, NULL);

	*out = (struct devmajors){ 0 };
	if (text == NULL)
		return refuse(why, WHY_IO, "/proc/devices: %s: is /proc mounted?", strerror(errno));
	return devmajors_parse(text, out, why);
}
