/* See watchjson.h. */
#include "watchjson.h"

/*
 * jansson 2.14 looks away when it can't grow the buffer of a string: the string
 * loses a character and parsing goes on («https://ci.example.org» has been seen
 * to read «https://ci.exaple.org»).  What was short of memory at any moment must
 * not be believed, so its allocator is watched while it parses.  Programs that
 * use this have one thread.
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
	/* or it would call itself */
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
