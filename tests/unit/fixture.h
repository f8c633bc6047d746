/* Reads tests/fixtures/oci: samples of what a Concourse worker's containerd writes. */
#ifndef GPUHELPER_TESTS_FIXTURE_H
#define GPUHELPER_TESTS_FIXTURE_H

#include <stdio.h>

#include "tap.h"

/*
 * The terminated text of a sample, which stays valid until the next call. If the file is missing, a
 * check fails and the result is NULL.
 */
static inline const char *
oci_fixture(const char *dir, const char *name, size_t *len)
{
	static char text[65536];
	char path[512];
	FILE *f;

	snprintf(path, sizeof(path), "%s/fixtures/oci/%s", dir, name);
	if ((f = fopen(path, "r")) == NULL) {
		ok(false, "%s exists", path);
		return NULL;
	}
	*len = fread(text, 1, sizeof(text) - 1, f);
	text[*len] = '\0';
	fclose(f);
	return text;
}

#endif
