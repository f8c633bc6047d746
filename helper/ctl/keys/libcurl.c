/* See libcurl.h. */
#include "libcurl.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>

/* Debian's with OpenSSL and the one with GnuTLS, which has its own name.  All releases since 2006 have this ABI. */
static const char *const names[] = { "libcurl.so.4", "libcurl-gnutls.so.4", NULL };

static struct libcurl loaded;

static const struct {
	const char *name;
	void *to;
} functions[] = {
	{ "curl_url", &loaded.url },
	{ "curl_url_set", &loaded.url_set },
	{ "curl_url_get", &loaded.url_get },
	{ "curl_url_cleanup", &loaded.url_cleanup },
	{ "curl_free", &loaded.release },
	{ "curl_easy_init", &loaded.easy_init },
	{ "curl_easy_setopt", &loaded.easy_setopt },
	{ "curl_easy_perform", &loaded.easy_perform },
	{ "curl_easy_getinfo", &loaded.easy_getinfo },
	{ "curl_easy_cleanup", &loaded.easy_cleanup },
	{ "curl_easy_strerror", &loaded.easy_strerror },
	{ "curl_version", &loaded.version },
};
#define FUNCTIONS (sizeof(functions) / sizeof(functions[0]))

const struct libcurl *
libcurl_load(struct why *why)
{
	void *library = NULL, *f;
	size_t i;

	if (loaded.version != NULL)
		return &loaded;
	for (i = 0; library == NULL && names[i] != NULL; i++)
		library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
	if (library == NULL) {
		refuse(why, WHY_ABSENT, "libcurl is not installed, and fetching keys needs it: apt install libcurl4 ca-certificates "
		    "(or bring the keys with gpuhelperctl keys import)");
		return NULL;
	}
	for (i = 0; i < FUNCTIONS; i++) {
		if ((f = dlsym(library, functions[i].name)) == NULL) {
			refuse(why, WHY_ABSENT, "this libcurl is too old: it has no %s", functions[i].name);
			return NULL;
		}
		memcpy(functions[i].to, &f, sizeof(f));
	}
	return &loaded;
}
