/* See lastgood.h.  The copy lies in a directory that only root can open. */
#include "lastgood.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../base/cleanup.h"
#include "../../base/path.h"
#include "../../base/text.h"
#include "../../host/file.h"
#include "../../host/trust.h"
#include "../ctl.h"

void
last_good_keep(const char *text, size_t len)
{
	autofree char *was = NULL;
	autoclose int dir = -1;
	struct why ignored;
	size_t before = 0;

	if (geteuid() != 0 || (dir = trust_open_dir(GPUHELPER_STATEDIR, true, &ignored)) == -1)
		return;
	was = file_read_at(dir, path_last(LAST_GOOD), len + 1, &before);
	if (was == NULL || before != len || memcmp(was, text, len) != 0)
		(void)ctl_write_file(dir, path_last(LAST_GOOD), LAST_GOOD, text, len, NULL, &ignored);
}

bool
last_good_time(char out[32])
{
	struct stat st;

	if (lstat(LAST_GOOD, &st) == -1 || !S_ISREG(st.st_mode))
		return false;
	text_time(st.st_mtime, out);
	return true;
}
