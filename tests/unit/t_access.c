/* host/access.c: capabilities count only where the container's namespace maps both owner and group. */
#include "host/access.h"
#include "tap.h"

int
main(void)
{
	/* a container's root and its group, and the same without an owner or without a group that is mapped */
	static const struct {
		uint32_t uid, gid;
		bool may;
		const char *what;
	} t[] = {
		{ 100000, 100000, true, "owner and group are the container's" },
		{ 100007, 100009, true, "owner and group are other ids of the container's" },
		{ 100000, 5, false, "the group is not mapped" },
		{ 5, 100000, false, "the owner is not mapped" },
		{ 5, 5, false, "neither is mapped" },
		{ 100010, 100000, false, "the owner is one beyond the map" },
		{ 100000, 100010, false, "the group is one beyond the map" },
	};
	struct request r = { .spec.dac_override = true };
	struct idmap map = { .n = 1, .v = { { 0, 100000, 10 } } };
	struct subject s;
	size_t i;

	subject_of(&r, &map, &map, &s);
	for (i = 0; i < sizeof(t) / sizeof(t[0]); i++)
		ok(access_overrides(&(struct stat){ .st_uid = t[i].uid, .st_gid = t[i].gid }, &s) == t[i].may, "%s", t[i].what);
	r.spec.dac_override = false;
	subject_of(&r, &map, &map, &s);
	ok(!access_overrides(&(struct stat){ .st_uid = 100000, .st_gid = 100000 }, &s), "without the capability");
	r = (struct request){ .spec.dac_override = true, .spec.uid = 10 };
	subject_of(&r, &map, &map, &s);
	ok(!access_overrides(&(struct stat){ .st_uid = 100000, .st_gid = 100000 }, &s), "for a user that is not mapped");
	return done_testing();
}
