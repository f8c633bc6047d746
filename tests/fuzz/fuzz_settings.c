/* libFuzzer entry for helper/read/conf/settingsread.c: settings within their bounds, or a fault; a saved runtime is a path. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../helper/ask/parsedcheck.h"
#include "../../helper/base/path.h"
#include "../../helper/policy/claims.h"
#include "../../helper/read/conf/settingsread.h"
#include "fuzz.h"
#include "libconfig_leak.h"
#include "policy/claimsetadd.h"
#include "policy/tokenhash.h"

static void
check_settings(const struct settings *s)
{
	struct why why;
	size_t i;

	must(s->runtime == NULL || path_check(s->runtime, &why) == 0);
	must(s->max_wait <= 86400);
	must(s->idle <= IDLE_KEEP);
	must(s->left_behind <= 86400 || s->left_behind == LEFT_BEHIND_KEEP);
	for (i = 0; i < s->placeholder_init.n; i++)
		must(path_check(s->placeholder_init.v[i], &why) == 0);
	for (i = 0; i < s->volumes.n; i++)
		must(path_check(s->volumes.v[i], &why) == 0 && strcmp(s->volumes.v[i], "/") != 0);
	must(s->issuers <= ISSUERS_MAX);
	for (i = 0; i < s->issuers; i++)
		must(s->issuer[i].url != NULL && s->issuer[i].audience != NULL && s->issuer[i].keys != NULL &&
		    path_check(s->issuer[i].keys, &why) == 0 && s->issuer[i].max_age >= 1 &&
		    s->issuer[i].max_age <= 86400 && s->issuer[i].claims.bytes <= TOKEN_MAX &&
		    s->issuer[i].claims.require.name.n <= CLAIMS_MAX &&
		    !(s->issuer[i].token_reuse && s->issuer[i].claims.reuse_by != NULL) &&
		    (s->issuer[i].claims.pipeline == NULL || strcmp(s->issuer[i].claims.pipeline, "sub") != 0));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct faults f = { 0 };
	const struct policy_set none = { 0 };
	struct settings s;
	struct why why;
	char *text = malloc(size + 1), *path;

	if (text == NULL)
		abort();
	memcpy(text, data, size);
	text[size] = '\0';
	if (settings_parse(text, size, &s, &f)) {
		must(f.errors == 0);
		check_settings(&s);
		must(parsed_check(&s, &none, &why) == 0);
	} else
		must(f.errors > 0 && f.n > 0);
	path = settings_salvage_runtime(text);
	must(path == NULL || path_check(path, &why) == 0);
	free(path);
	settings_free(&s);
	faults_free(&f);
	free(text);
	return 0;
}
