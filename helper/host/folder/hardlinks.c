/* See hardlinks.h. */
#include "hardlinks.h"

#include <stdlib.h>

#include "../../base/cleanup.h"
#include "../process/procdir.h"

int
hardlinks_protected(void)
{
	autofree char *text = procdir_read("sys/fs/protected_hardlinks", 16);

	return text == NULL ? -1 : text[0] != '0';
}
