/*
 * See http.h.  The peer may be anyone until its certificate is verified, and an attacker may control it even then: so
 * it can make us read only so many bytes and wait only so long, and can redirect us to no other host.  Must never speak
 * anything but https.
 *
 * libcurl parses a URL once.  The parsed parts are checked, and libcurl then gets these parts, not the text.  So no
 * second parser can see another host in the URL.
 */
#include "http.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "../../base/cleanup.h"
#include "../../base/text.h"
#include "../../host/clock.h"
#include "libcurl.h"

#define REDIRECTIONS 3

static const struct libcurl *curl;	/* set by http_library() */

static void
cleanup_curl_free(char **s)
{
	curl->release(*s);
}
#define autocurl __attribute__((cleanup(cleanup_curl_free)))

/* The part of a document that was received so far. */
struct body {
	struct buf buf;
	size_t max;
	bool over;	/* the document has more than max bytes */
};

/* A response. */
struct answer {
	struct body body;
	long status;
	char *location;		/* the absolute URL of a redirection, or NULL */
	char error[CURL_ERROR_SIZE];
};

/* A part of the URL, or NULL; free with curl_free(). */
static char *
part(CURLU *u, CURLUPart what)
{
	char *s = NULL;

	return curl->url_get(u, what, &s, what == CURLUPART_PORT ? CURLU_DEFAULT_PORT : 0) == CURLUE_OK ? s : NULL;
}

/* Parses the URL.  NULL with *why unless it is https, without a user name and password. */
static CURLU *
take_apart(const char *url, struct why *why)
{
	autocurl char *scheme = NULL, *user = NULL, *password = NULL, *host = NULL;
	CURLU *u = curl->url();

	if (u == NULL) {
		refuse_nomem(why);
		return NULL;
	}
	/* libcurl would accept «https:/host» as well */
	if (strncasecmp(url, "https://", strlen("https://")) != 0 ||
	    curl->url_set(u, CURLUPART_URL, url, 0) != CURLUE_OK ||
	    (scheme = part(u, CURLUPART_SCHEME)) == NULL || strcasecmp(scheme, "https") != 0 ||
	    (host = part(u, CURLUPART_HOST)) == NULL)
		refuse(why, WHY_DATA, "\"%.200s\" is not an https URL", url);
	else if ((user = part(u, CURLUPART_USER)) != NULL || (password = part(u, CURLUPART_PASSWORD)) != NULL)
		refuse(why, WHY_DATA, "%.200s: the URL must not contain a user name or password", host);
	else
		return u;
	curl->url_cleanup(u);
	return NULL;
}

static bool
same_origin(CURLU *a, CURLU *b)
{
	autocurl char *ahost = part(a, CURLUPART_HOST), *bhost = part(b, CURLUPART_HOST);
	autocurl char *aport = part(a, CURLUPART_PORT), *bport = part(b, CURLUPART_PORT);

	return ahost != NULL && bhost != NULL && strcasecmp(ahost, bhost) == 0 &&
	    aport != NULL && bport != NULL && strcmp(aport, bport) == 0;
}

/* Likewise for a URL that the origin sent.  NULL also if the URL is not on the origin's host and port. */
static CURLU *
take_apart_there(const struct http *h, const char *url, struct why *why)
{
	CURLU *origin = take_apart(h->origin, why), *u;

	if (origin == NULL)
		return NULL;
	if ((u = take_apart(url, why)) != NULL && !same_origin(u, origin)) {
		refuse(why, WHY_DATA, "\"%.200s\" is not on the host and port of %.120s", url, h->origin);
		curl->url_cleanup(u);
		u = NULL;
	}
	curl->url_cleanup(origin);
	return u;
}

int
http_library(struct why *why)
{
	return (curl = libcurl_load(why)) != NULL ? 0 : -1;
}

int
http_begin(struct http *h, const char *origin, const char *cacert, struct why *why)
{
	CURLU *u;

	*h = (struct http){ .origin = origin, .cacert = cacert, .deadline = clock_ms() + HTTP_SECONDS * 1000 };
	if ((u = take_apart(origin, why)) == NULL)
		return -1;
	curl->url_cleanup(u);
	return 0;
}

/* libcurl's callback for received bytes.  A short count aborts the transfer. */
static size_t
take_bytes(char *bytes, size_t size, size_t n, void *out)
{
	struct body *b = out;

	if (size * n > b->max - b->buf.len) {
		b->over = true;
		return 0;
	}
	buf_add(&b->buf, bytes, size * n);
	return b->buf.failed ? 0 : size * n;
}

static bool
set_up(CURL *c, const struct http *h, CURLU *url, long timeout, struct answer *a)
{
	bool good = curl->easy_setopt(c, CURLOPT_CURLU, url) == CURLE_OK;

#if LIBCURL_VERSION_NUM >= 0x075500	/* 7.85 */
	good &= curl->easy_setopt(c, CURLOPT_PROTOCOLS_STR, "https") == CURLE_OK;
#else
	good &= curl->easy_setopt(c, CURLOPT_PROTOCOLS, (long)CURLPROTO_HTTPS) == CURLE_OK;
#endif
	/* libcurl's defaults, set explicitly because we depend on them */
	good &= curl->easy_setopt(c, CURLOPT_SSL_VERIFYPEER, 1L) == CURLE_OK;
	good &= curl->easy_setopt(c, CURLOPT_SSL_VERIFYHOST, 2L) == CURLE_OK;
	good &= curl->easy_setopt(c, CURLOPT_FOLLOWLOCATION, 0L) == CURLE_OK;
	good &= curl->easy_setopt(c, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED) == CURLE_OK;
	good &= curl->easy_setopt(c, CURLOPT_HTTP09_ALLOWED, 0L) == CURLE_OK;
	good &= curl->easy_setopt(c, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2) == CURLE_OK;
	good &= curl->easy_setopt(c, CURLOPT_PROXY, "") == CURLE_OK;
	good &= curl->easy_setopt(c, CURLOPT_NOSIGNAL, 1L) == CURLE_OK;
#if LIBCURL_VERSION_NUM >= 0x075700	/* 7.87: do not wait for a resolver that hangs */
	good &= curl->easy_setopt(c, CURLOPT_QUICK_EXIT, 1L) == CURLE_OK;
#endif
	good &= curl->easy_setopt(c, CURLOPT_TIMEOUT_MS, timeout) == CURLE_OK;
	good &= curl->easy_setopt(c, CURLOPT_USERAGENT, "gpuhelperctl/" GPUHELPER_VERSION) == CURLE_OK;
	good &= curl->easy_setopt(c, CURLOPT_ERRORBUFFER, a->error) == CURLE_OK;
	good &= curl->easy_setopt(c, CURLOPT_WRITEFUNCTION, take_bytes) == CURLE_OK;
	good &= curl->easy_setopt(c, CURLOPT_WRITEDATA, &a->body) == CURLE_OK;
	/* the file's CAs replace the system's, which may come from a directory as well as a file */
	if (h->cacert != NULL)
		good &= curl->easy_setopt(c, CURLOPT_CAINFO, h->cacert) == CURLE_OK &&
		    curl->easy_setopt(c, CURLOPT_CAPATH, NULL) == CURLE_OK;
	return good;
}

/* Fills *why with the reason why the transfer failed; returns -1. */
static int
say_failed(const struct http *h, CURLcode rc, const struct answer *a, const char *shown, struct why *why)
{
	if (a->body.over)
		return refuse(why, WHY_IO, "%.200s: the document has more than %zu KiB", shown, a->body.max / 1024);
	if (a->body.buf.failed)
		return refuse_nomem(why);
	if (rc == CURLE_OPERATION_TIMEDOUT)
		return refuse(why, WHY_IO, "%.200s: no complete response within %d s", shown, HTTP_SECONDS);
	return refuse(why, WHY_IO, "%.200s: %.160s%s", shown, a->error[0] != '\0' ? a->error : curl->easy_strerror(rc),
	    rc == CURLE_PEER_FAILED_VERIFICATION && h->cacert == NULL ? " (for a private CA, give --cacert FILE)" : "");
}

/* Sends one request, and gets the response, whatever its status. */
static int
request_url(const struct http *h, CURLU *url, const char *shown, struct answer *a, struct why *why)
{
	int64_t left = h->deadline - clock_ms();
	char *location = NULL;
	CURLcode rc;
	CURL *c;
	int ret = 0;

	if (left <= 0)
		return refuse(why, WHY_IO, "%.200s: no complete response within %d s", shown, HTTP_SECONDS);
	if ((c = curl->easy_init()) == NULL)
		return refuse_nomem(why);
	if (!set_up(c, h, url, (long)left, a))
		ret = refuse(why, WHY_BUG, "this libcurl lacks a feature that gpuhelperctl needs: %.80s", curl->version());
	else if ((rc = curl->easy_perform(c)) != CURLE_OK)
		ret = say_failed(h, rc, a, shown, why);
	else if (curl->easy_getinfo(c, CURLINFO_RESPONSE_CODE, &a->status) != CURLE_OK ||
	    curl->easy_getinfo(c, CURLINFO_REDIRECT_URL, &location) != CURLE_OK)
		ret = refuse(why, WHY_BUG, "%.200s: libcurl reports no status", shown);
	else if (location != NULL && (a->location = strdup(location)) == NULL)
		ret = refuse_nomem(why);
	curl->easy_cleanup(c);
	return ret;
}

/* Sends one request to a URL that the origin sent. */
static int
request_same_origin(const struct http *h, const char *url, struct answer *a, struct why *why)
{
	CURLU *u = take_apart_there(h, url, why);
	int rc = u != NULL ? request_url(h, u, url, a, why) : -1;

	curl->url_cleanup(u);
	return rc;
}

int
http_get(const struct http *h, const char *url, size_t max, char **text, size_t *len, struct why *why)
{
	struct answer a = { .body.max = max };
	autofree char *redirected = NULL;
	int rc = request_same_origin(h, url, &a, why), hops = 0;

	while (rc == 0 && a.location != NULL && hops++ < REDIRECTIONS) {
		free(redirected);
		redirected = a.location;
		buf_free(&a.body.buf);
		a = (struct answer){ .body.max = max };
		if ((rc = request_same_origin(h, redirected, &a, why)) == -1)
			refuse_within(why, "redirected");
	}
	if (rc == 0 && a.location != NULL)
		rc = refuse(why, WHY_IO, "%.200s: redirected more than %d times", url, REDIRECTIONS);
	else if (rc == 0 && a.status != 200)
		rc = refuse(why, WHY_IO, "%.200s: HTTP status %ld", url, a.status);
	*len = a.body.buf.len;
	if (rc == 0 && (*text = buf_take(&a.body.buf)) == NULL)
		rc = refuse_nomem(why);
	buf_free(&a.body.buf);
	free(a.location);
	return rc;
}
