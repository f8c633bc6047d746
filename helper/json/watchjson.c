/* See watchjson.h. */
#include "watchjson.h"

/*
 * jansson 2.14 ignores a failure to grow a string's buffer: the string loses a character, and parsing goes on
 * («https://ci.example.org» was read as «https://ci.exaple.org»). A result for which memory ran short must
 * not be believed, so this watches jansson's allocator while it parses. For single-threaded programs.
 */
static json_malloc_t real_malloc;
static json_free_t real_free;
static bool starved;

static void *
watched_malloc(size_t size)
{
	void *p = real_malloc(size);

	starved |= p == NULL;
	return p;
}

void
watchjson_begin(void)
{
	json_malloc_t now;

	json_get_alloc_funcs(&now, &real_free);
	/* otherwise it would call itself */
	if (now != watched_malloc)
		real_malloc = now;
	json_set_alloc_funcs(watched_malloc, real_free);
	starved = false;
}

bool
watchjson_starved(void)
{
	json_set_alloc_funcs(real_malloc, real_free);
	return starved;
}
