/* See load.h. Must open nothing itself: host/own/etc.c does. */
#include "load.h"

#include <stdio.h>
#include <stdlib.h>

#include "../base/cleanup.h"
#include "../policy/faultsrefuse.h"
#include "../policy/settingsdefault.h"
#include "conf/settingsread.h"

int
settings_load(const char *dir, bool strict, struct settings *s, struct faults *f, char **text_out, struct why *why)
{
	autofree char *text = NULL;
	autofaults struct faults own = { 0 };
	char shown[1200];
	size_t len;

	if (f == NULL)
		f = &own;
	if (!settings_default(s))
		return refuse_nomem(why);
	if (settings_text(dir, strict, &text, &len, why) == -1)
		return -1;
	if (text == NULL)
		return 0;
	settings_free(s);
	if (settings_parse(text, len, s, f))
		return 0;
	if (text_out != NULL) {
		*text_out = text;
		text = NULL;
	}
	snprintf(shown, sizeof(shown), "%s/" SETTINGS_FILE, dir);
	return faults_refuse(f, shown, why);
}
