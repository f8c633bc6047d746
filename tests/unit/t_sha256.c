/*
 * base/sha256.c: compared with the examples of FIPS 180-2, and with nettle on texts of many lengths
 * in pieces of many sizes.
 */
#include <nettle/sha2.h>
#include <stdlib.h>

#include "base/sha256.h"
#include "rnd.h"
#include "tap.h"

static void
hex(const uint8_t *digest, char out[65])
{
	unsigned i;

	for (i = 0; i < SHA256_BYTES; i++)
		snprintf(out + 2 * i, 3, "%02x", digest[i]);
}

static void
test_examples(void)
{
	static const struct {
		const char *text;
		unsigned times;
		const char *digest;
	} t[] = {
		{ "", 1, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" },
		{ "abc", 1, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" },
		{ "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 1,
		    "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1" },
		{ "aaaaaaaaaa", 100000, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0" },
	};
	uint8_t digest[SHA256_BYTES];
	struct sha256 s;
	char got[65];
	size_t i;
	unsigned k;

	for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		sha256_begin(&s);
		for (k = 0; k < t[i].times; k++)
			sha256_add(&s, t[i].text, strlen(t[i].text));
		sha256_end(&s, digest);
		hex(digest, got);
		is_str(got, t[i].digest, "the digest of %u times «%s»", t[i].times, t[i].text);
	}
}

/* Every length up to two and a half blocks, and some longer ones, in pieces. */
static void
test_lengths(void)
{
	uint8_t text[5000], ours[SHA256_BYTES], theirs[SHA256_DIGEST_SIZE];
	struct sha256_ctx ctx;
	size_t len, at, part, i;
	unsigned wrong = 0;
	struct sha256 s;

	for (i = 0; i < sizeof(text); i++)
		text[i] = (uint8_t)rnd(256);
	for (i = 0; i < 3000; i++) {
		len = i < 160 ? i : (size_t)rnd(sizeof(text) + 1);
		sha256_begin(&s);
		for (at = 0; at < len; at += part) {
			part = 1 + (size_t)rnd(i % 3 == 0 ? 3 : 300);
			part = part < len - at ? part : len - at;
			sha256_add(&s, text + at, part);
		}
		sha256_end(&s, ours);
		sha256_init(&ctx);
		sha256_update(&ctx, len, text);
		sha256_digest(&ctx, sizeof(theirs), theirs);
		wrong += memcmp(ours, theirs, sizeof(ours)) != 0;
	}
	is_int(wrong, 0, "3,000 texts have the same digest as with nettle");
}

int
main(void)
{
	seed = 1;
	test_examples();
	test_lengths();
	return done_testing();
}
