/* Reads tests/fixtures/jwt, for the tests of tokens. */
#ifndef GPUHELPER_TESTS_JWTVECTORS_H
#define GPUHELPER_TESTS_JWTVECTORS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

static json_t *vectors;		/* vectors.json, once a test has loaded it */

/* Reads a file of that directory. The tests' directory is the program's argument, or TESTS_DIR. */
static inline json_t *
fixture(int argc, char **argv, const char *name)
{
	const char *dir = argc > 1 ? argv[1] : getenv("TESTS_DIR");
	char path[512];
	json_error_t err;
	json_t *j;

	snprintf(path, sizeof(path), "%s/fixtures/jwt/%s", dir != NULL ? dir : "tests", name);
	if ((j = json_load_file(path, JSON_REJECT_DUPLICATES, &err)) == NULL) {
		printf("Bail out! %s: %s\n", path, err.text);
		exit(1);
	}
	return j;
}

static inline const char *
text_of(const json_t *j, const char *name)
{
	return json_string_value(json_object_get(j, name));
}

static inline int64_t
number_of(const json_t *j, const char *name)
{
	return json_integer_value(json_object_get(j, name));
}

/* A case of vectors.json. */
static inline const json_t *
vector(const char *name)
{
	const json_t *cases = json_object_get(vectors, "cases"), *c;
	size_t i;

	json_array_foreach(cases, i, c)
		if (strcmp(text_of(c, "name"), name) == 0)
			return c;
	printf("Bail out! no vector «%s»\n", name);
	exit(1);
}

#endif
