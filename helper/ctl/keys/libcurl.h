/*
 * libcurl, loaded when keys are fetched.  The package does not depend on libcurl, which brings a dozen other libraries
 * (Kerberos, LDAP, ssh): a host without tokens, or whose keys come from elsewhere, does without them.
 */
#ifndef GPUHELPER_CTL_KEYS_LIBCURL_H
#define GPUHELPER_CTL_KEYS_LIBCURL_H

#include <curl/curl.h>

#include "../../base/why.h"

/* The functions of libcurl that gpuhelperctl calls, with the types of the headers it was built with. */
struct libcurl {
	__typeof__(&curl_url) url;
	__typeof__(&curl_url_set) url_set;
	__typeof__(&curl_url_get) url_get;
	__typeof__(&curl_url_cleanup) url_cleanup;
	__typeof__(&curl_free) release;
	__typeof__(&curl_easy_init) easy_init;
	__typeof__(&(curl_easy_setopt)) easy_setopt;
	__typeof__(&curl_easy_perform) easy_perform;
	__typeof__(&(curl_easy_getinfo)) easy_getinfo;
	__typeof__(&curl_easy_cleanup) easy_cleanup;
	__typeof__(&curl_easy_strerror) easy_strerror;
	__typeof__(&curl_version) version;
};

/* libcurl's functions, which stay loaded.  NULL with *why, and the package to install, if there is no libcurl. */
const struct libcurl *libcurl_load(struct why *why);

#endif
