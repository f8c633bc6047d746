/* Gets small documents over https, for gpuhelperctl keys fetch.  Hides libcurl. */
#ifndef GPUHELPER_CTL_KEYS_HTTP_H
#define GPUHELPER_CTL_KEYS_HTTP_H

#include <stddef.h>
#include <stdint.h>

#include "../../base/why.h"

#define HTTP_SECONDS 10		/* for all requests after one http_begin() together */

/* A session of requests to one host. */
struct http {
	const char *origin;	/* a URL: no request leaves its scheme (https), host and port */
	const char *cacert;	/* PEM file of trusted CAs; NULL: the system's */
	int64_t deadline;	/* milliseconds, CLOCK_MONOTONIC */
};

/* Loads libcurl, which all functions below need.  -1 with *why, which says what to install. */
int http_library(struct why *why);

/* Borrows the strings.  -1 with *why if origin is not https://HOST[:PORT][/PATH]. */
int http_begin(struct http *h, const char *origin, const char *cacert, struct why *why);

/*
 * Gets a document of at most max bytes into *text, which ends with a NUL; the caller frees it.  Verifies the
 * certificate. Follows a few redirections, on the same host and port.  Uses no proxy, no cookies and no .netrc,
 * whatever the environment says.  -1 with *why, which names the URL: WHY_DATA if the URL is not allowed, WHY_IO if the
 * host or the network failed.
 */
int http_get(const struct http *h, const char *url, size_t max, char **text, size_t *len, struct why *why);

#endif
