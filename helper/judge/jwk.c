/*
 * See jwk.h. May assume of the JWKS only that root chose the issuer: an honest issuer's mistake must not
 * become a key that anyone can sign with. Must never take the algorithm from anywhere but the key. Handles
 * public keys only, so nothing has to run in constant time.
 */
#include "jwk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gmp.h>
#include <nettle/bignum.h>
#include <nettle/ecc-curve.h>
#include <nettle/ecdsa.h>
#include <nettle/eddsa.h>
#include <nettle/rsa.h>
#include <nettle/sha2.h>

#include "../base/cleanup.h"
#include "../base/text.h"
#include "../json/strictjson.h"
#include "../policy/tokenhash.h"
#include "base64url.h"

#define RSA_BITS_MIN 2048
#define RSA_BITS_MAX 16384
#define RSA_E_BITS_MAX 33	/* verifying takes longer with a larger e, and nobody needs one */
#define P256_OCTETS 32

/* The order of P-256 (SEC 2, 2.4.2). */
static const char p256_order[] =
    "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551";

struct jwk {
	char *kid;			/* NULL if it has none */
	const struct kind *kind;	/* NULL if unusable; u then holds nothing */
	unsigned bits;
	char unusable[128];
	union {
		struct rsa_public_key rsa;
		struct ecc_point ec;
		uint8_t ed[ED25519_KEY_SIZE];
	} u;
};

struct jwks {
	int64_t fetched;
	size_t n;
	struct jwk key[JWKS_KEYS_MAX];
};

/* A kind of key. load() must leave nothing behind in k->u if it fails. */
struct kind {
	const char *kty, *crv, *alg;	/* crv is NULL if it has none */
	size_t siglen;			/* length of its signatures; 0: that of the modulus */
	int (*load)(struct jwk *k, const json_t *j, struct why *why);
	bool (*verify)(const struct jwk *k, const uint8_t *msg, size_t len, const uint8_t *sig);
	void (*clear)(struct jwk *k);
};

/* The text of a member; NULL if it is absent or not a string. */
static const char *
string_member(const json_t *j, const char *name)
{
	return json_string_value(json_object_get(j, name));
}

/*
 * The bytes of a base64url member, exactly «want» of them unless that is 0. The caller frees them. NULL with
 * *why.
 */
static uint8_t *
octets(const json_t *j, const char *name, size_t want, size_t *len, struct why *why)
{
	const char *s = string_member(j, name);
	uint8_t *p;

	if (s == NULL) {
		refuse(why, WHY_DATA, "has no string \"%s\"", name);
		return NULL;
	}
	if ((p = base64url_decode(s, strlen(s), len, why)) == NULL) {
		refuse_within(why, name);
		return NULL;
	}
	if (want != 0 && *len != want) {
		refuse(why, WHY_DATA, "\"%s\" has %zu bytes, not %zu", name, *len, want);
		free(p);
		return NULL;
	}
	return p;
}

static int
rsa_check(const struct rsa_public_key *rsa, struct why *why)
{
	size_t bits = mpz_sizeinbase(rsa->n, 2);

	if (bits < RSA_BITS_MIN)
		return refuse(why, WHY_DATA, "RSA of %zu bits, at least %d are needed", bits,
		    RSA_BITS_MIN);
	if (bits > RSA_BITS_MAX)
		return refuse(why, WHY_DATA, "RSA of %zu bits, at most %d are taken", bits,
		    RSA_BITS_MAX);
	if (mpz_even_p(rsa->n))
		return refuse(why, WHY_DATA, "RSA with an even modulus");
	if (mpz_even_p(rsa->e) || mpz_cmp_ui(rsa->e, 3) < 0 ||
	    mpz_sizeinbase(rsa->e, 2) > RSA_E_BITS_MAX)
		return refuse(why, WHY_DATA, "RSA with an exponent that is not odd and within "
		    "3 .. 2^%d", RSA_E_BITS_MAX);
	return 0;
}

static void
rsa_unload(struct jwk *k)
{
	rsa_public_key_clear(&k->u.rsa);
}

static int
rsa_load(struct jwk *k, const json_t *j, struct why *why)
{
	autofree uint8_t *n = NULL, *e = NULL;
	size_t nlen, elen;

	if ((n = octets(j, "n", 0, &nlen, why)) == NULL ||
	    (e = octets(j, "e", 0, &elen, why)) == NULL)
		return -1;
	rsa_public_key_init(&k->u.rsa);
	nettle_mpz_set_str_256_u(k->u.rsa.n, nlen, n);
	nettle_mpz_set_str_256_u(k->u.rsa.e, elen, e);
	if (rsa_check(&k->u.rsa, why) != 0 ||
	    (!rsa_public_key_prepare(&k->u.rsa) && refuse(why, WHY_DATA, "RSA key not taken"))) {
		rsa_unload(k);
		return -1;
	}
	k->bits = (unsigned)mpz_sizeinbase(k->u.rsa.n, 2);
	return 0;
}

static bool
rsa_verify(const struct jwk *k, const uint8_t *msg, size_t len, const uint8_t *sig)
{
	struct sha256_ctx hash;
	mpz_t s;
	bool ok;

	sha256_init(&hash);
	sha256_update(&hash, len, msg);
	nettle_mpz_init_set_str_256_u(s, k->u.rsa.size, sig);
	ok = rsa_sha256_verify(&k->u.rsa, &hash, s) == 1;
	mpz_clear(s);
	return ok;
}

static void
ec_unload(struct jwk *k)
{
	ecc_point_clear(&k->u.ec);
}

static int
ec_load(struct jwk *k, const json_t *j, struct why *why)
{
	autofree uint8_t *x = NULL, *y = NULL;
	size_t len;
	mpz_t mx, my;
	int on_curve;

	if ((x = octets(j, "x", P256_OCTETS, &len, why)) == NULL ||
	    (y = octets(j, "y", P256_OCTETS, &len, why)) == NULL)
		return -1;
	nettle_mpz_init_set_str_256_u(mx, P256_OCTETS, x);
	nettle_mpz_init_set_str_256_u(my, P256_OCTETS, y);
	ecc_point_init(&k->u.ec, nettle_get_secp_256r1());
	on_curve = ecc_point_set(&k->u.ec, mx, my);
	mpz_clear(mx);
	mpz_clear(my);
	if (!on_curve) {
		ec_unload(k);
		return refuse(why, WHY_DATA, "not a point of P-256");
	}
	k->bits = 256;
	return 0;
}

static bool
ec_verify(const struct jwk *k, const uint8_t *msg, size_t len, const uint8_t *sig)
{
	uint8_t digest[SHA256_DIGEST_SIZE];
	struct dsa_signature rs;
	struct sha256_ctx hash;
	bool ok;

	sha256_init(&hash);
	sha256_update(&hash, len, msg);
	sha256_digest(&hash, sizeof(digest), digest);
	dsa_signature_init(&rs);
	nettle_mpz_set_str_256_u(rs.r, P256_OCTETS, sig);
	nettle_mpz_set_str_256_u(rs.s, P256_OCTETS, sig + P256_OCTETS);
	/* ecdsa_verify() itself refuses an r or s outside 1 .. n-1 */
	ok = ecdsa_verify(&k->u.ec, sizeof(digest), digest, &rs) == 1;
	dsa_signature_clear(&rs);
	return ok;
}

static int
ed_load(struct jwk *k, const json_t *j, struct why *why)
{
	autofree uint8_t *x = NULL;
	size_t len;

	if ((x = octets(j, "x", ED25519_KEY_SIZE, &len, why)) == NULL)
		return -1;
	memcpy(k->u.ed, x, ED25519_KEY_SIZE);
	k->bits = 255;
	return 0;
}

static bool
ed_verify(const struct jwk *k, const uint8_t *msg, size_t len, const uint8_t *sig)
{
	return ed25519_sha512_verify(k->u.ed, len, msg, sig) == 1;
}

static void
ed_unload(struct jwk *k)
{
	(void)k;
}

static const struct kind kinds[] = {
	{ "RSA", NULL, "RS256", 0, rsa_load, rsa_verify, rsa_unload },
	{ "EC", "P-256", "ES256", 2 * P256_OCTETS, ec_load, ec_verify, ec_unload },
	{ "OKP", "Ed25519", "EdDSA", ED25519_SIGNATURE_SIZE, ed_load, ed_verify, ed_unload },
};

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

/* Refuses a key with a stated purpose other than verifying signatures. */
static int
check_purpose(const json_t *j, struct why *why)
{
	/* RFC 7518, 6.2.2, 6.3.2 and 6.4.1 */
	static const char *const secret[] = { "d", "p", "q", "dp", "dq", "qi", "oth", "k" };
	const json_t *use = json_object_get(j, "use"), *ops = json_object_get(j, "key_ops"), *op;
	const char *s;
	size_t i;

	for (i = 0; i < sizeof(secret) / sizeof(secret[0]); i++)
		if (json_object_get(j, secret[i]) != NULL)
			return refuse(why, WHY_DATA, "holds a secret (\"%s\"): make a new key and "
			    "publish its public half only", secret[i]);
	if (use != NULL && ((s = json_string_value(use)) == NULL || strcmp(s, "sig") != 0))
		return refuse(why, WHY_DATA, "its \"use\" is not \"sig\"");
	if (ops == NULL)
		return 0;
	json_array_foreach(ops, i, op)
		if ((s = json_string_value(op)) != NULL && strcmp(s, "verify") == 0)
			return 0;
	return refuse(why, WHY_DATA, "its \"key_ops\" have no \"verify\"");
}

static const struct kind *
kind_of_key(const json_t *j, struct why *why)
{
	const json_t *alg = json_object_get(j, "alg");
	const char *kty = string_member(j, "kty"), *crv = string_member(j, "crv"), *s;
	size_t i;

	for (i = 0; i < KINDS; i++) {
		if (kty == NULL || strcmp(kty, kinds[i].kty) != 0)
			continue;
		if (kinds[i].crv != NULL && (crv == NULL || strcmp(crv, kinds[i].crv) != 0))
			continue;
		if (alg == NULL || ((s = json_string_value(alg)) != NULL &&
		    strcmp(s, kinds[i].alg) == 0))
			return &kinds[i];
		refuse(why, WHY_DATA, "its \"alg\" is not %s", kinds[i].alg);
		return NULL;
	}
	refuse(why, WHY_DATA, "neither RSA, EC on P-256 nor OKP on Ed25519");
	return NULL;
}

static int
key_load(struct jwk *k, const json_t *j, struct why *why)
{
	const struct kind *kind;

	if (check_purpose(j, why) != 0 || (kind = kind_of_key(j, why)) == NULL ||
	    kind->load(k, j, why) != 0)
		return -1;
	k->kind = kind;
	return 0;
}

/* Adds one member of "keys". Fails only if the set as a whole is unusable. */
static int
keys_add(struct jwks *s, const json_t *j, struct why *why)
{
	const json_t *kid = json_object_get(j, "kid");
	struct jwk *k = &s->key[s->n];
	struct why unusable;

	if (!json_is_object(j) || (kid != NULL && !json_is_string(kid)))
		return refuse(why, WHY_CONFIG, "key %zu is no JWK (an object whose \"kid\", if "
		    "it has one, is a string)", s->n + 1);
	/* with two keys of one name, a token could mean either */
	if (kid != NULL && jwks_find(s, json_string_value(kid)) != NULL)
		return refuse(why, WHY_CONFIG, "two keys have the kid \"%.64s\"",
		    json_string_value(kid));
	if (kid != NULL && (k->kid = strdup(json_string_value(kid))) == NULL)
		return refuse_nomem(why);
	s->n++;
	if (key_load(k, j, &unusable) == 0)
		return 0;
	if (unusable.code == WHY_BUG) {
		*why = unusable;
		return -1;
	}
	text_printable(k->unusable, sizeof(k->unusable), unusable.text);
	return 0;
}

static int
keys_load(struct jwks *s, const json_t *root, struct why *why)
{
	const json_t *keys = json_object_get(root, "keys"), *j;
	bool any = false;
	size_t i;

	if (!json_is_array(keys))
		return refuse(why, WHY_CONFIG, "is no JWKS: it has no array \"keys\"");
	if (json_array_size(keys) > JWKS_KEYS_MAX)
		return refuse(why, WHY_CONFIG, "has %zu keys, at most %d are taken",
		    json_array_size(keys), JWKS_KEYS_MAX);
	json_array_foreach(keys, i, j) {
		if (keys_add(s, j, why) != 0)
			return -1;
		any |= s->key[i].kind != NULL;
	}
	if (any)
		return 0;
	return refuse(why, WHY_CONFIG, "has no key that can be used%s%s",
	    s->n > 0 ? ": of the first, " : "", s->n > 0 ? s->key[0].unusable : "");
}

int
jwks_parse(const char *text, size_t len, int64_t fetched, struct jwks **out, struct why *why)
{
	autojwks struct jwks *s = NULL;
	json_t *root;
	int rc;

	*out = NULL;
	if (len > JWKS_MAX)
		return refuse(why, WHY_CONFIG, "longer than %d bytes", JWKS_MAX);
	if ((s = calloc(1, sizeof(*s))) == NULL)
		return refuse_nomem(why);
	s->fetched = fetched;
	if ((root = strictjson_object(text, len, why)) == NULL) {
		if (why->code == WHY_DATA)
			why->code = WHY_CONFIG;
		return -1;
	}
	rc = keys_load(s, root, why);
	json_decref(root);
	if (rc != 0)
		return -1;
	*out = s;
	s = NULL;
	return 0;
}

void
jwks_free(struct jwks *s)
{
	size_t i;

	if (s == NULL)
		return;
	for (i = 0; i < s->n; i++) {
		free(s->key[i].kid);
		if (s->key[i].kind != NULL)
			s->key[i].kind->clear(&s->key[i]);
	}
	free(s);
}

int64_t
jwks_fetched(const struct jwks *s)
{
	return s->fetched;
}

size_t
jwks_count(const struct jwks *s)
{
	return s->n;
}

const struct jwk *
jwks_at(const struct jwks *s, size_t i)
{
	return i < s->n ? &s->key[i] : NULL;
}

const struct jwk *
jwks_find(const struct jwks *s, const char *kid)
{
	size_t i;

	for (i = 0; i < s->n; i++)
		if (s->key[i].kid != NULL && strcmp(s->key[i].kid, kid) == 0)
			return &s->key[i];
	return NULL;
}

const char *
jwk_kid(const struct jwk *k)
{
	return k->kid;
}

const char *
jwk_unusable(const struct jwk *k)
{
	return k->kind == NULL ? k->unusable : NULL;
}

const char *
jwk_alg(const struct jwk *k)
{
	return k->kind == NULL ? NULL : k->kind->alg;
}

unsigned
jwk_bits(const struct jwk *k)
{
	return k->bits;
}

/* RFC 7518, 3.3 and 3.4; RFC 8037, 3.1. */
static size_t
signature_size(const struct jwk *k)
{
	return k->kind->siglen != 0 ? k->kind->siglen : k->u.rsa.size;
}

bool
jwk_verify(const struct jwk *k, const uint8_t *msg, size_t len, const uint8_t *sig,
    size_t siglen)
{
	return k->kind != NULL && siglen == signature_size(k) && k->kind->verify(k, msg, len, sig);
}

void
jwk_signature_normalise(const struct jwk *k, uint8_t *sig, size_t siglen)
{
	mpz_t n, s, other;

	if (k->kind == NULL || k->kind->verify != ec_verify || siglen != signature_size(k))
		return;
	mpz_init_set_str(n, p256_order, 16);
	nettle_mpz_init_set_str_256_u(s, P256_OCTETS, sig + P256_OCTETS);
	mpz_init(other);
	mpz_sub(other, n, s);
	/* jwk_verify() never accepts an s of n or more, so it stays as it is */
	if (mpz_sgn(other) > 0 && mpz_cmp(other, s) < 0)
		nettle_mpz_get_str_256(P256_OCTETS, sig + P256_OCTETS, other);
	mpz_clear(n);
	mpz_clear(s);
	mpz_clear(other);
}
