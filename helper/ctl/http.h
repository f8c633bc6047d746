/* Small documents over https, for gpuhelperctl keys fetch alone; libcurl stays behind this header. */
#ifndef GPUHELPER_CTL_HTTP_H
#define GPUHELPER_CTL_HTTP_H

#include <stddef.h>
#include <stdint.h>

#include "../pure/why.h"

#define HTTP_SECONDS 10		/* for all that one http_begin() is used for */

/* One visit to one host. */
struct http {
	const char *origin;	/* a URL: no request leaves its scheme (https), host and port */
	const char *cacert;	/* PEM file of the CAs to believe; NULL: the system's */
	int64_t deadline;	/* milliseconds, CLOCK_MONOTONIC */
};

/* The strings stay the caller's.  -1 with *why where origin is no https://HOST[:PORT][/PATH]. */
int http_begin(struct http *h, const char *origin, const char *cacert, struct why *why);

/*
 * Gets a document of at most max bytes; the caller frees *text, which is
 * terminated.  The certificate is verified.  A redirection is followed on the
 * same host and port, a few times.  No proxy, no cookies, no .netrc, whatever
 * the environment says.  -1 with *why, whose text names the URL: WHY_DATA for a
 * URL that may not be asked, WHY_IO for what the host or the network did.
 */
int http_get(const struct http *h, const char *url, size_t max, char **text, size_t *len, struct why *why);

#endif
