/*
 * See setup.h: the image of setup's own container, which runs true(1) with the host's /usr.  podman and docker import a
 * root filesystem as a tar file.  containerd imports an archive of the OCI image specification 1.0 (image-layout.md);
 * its one layer is that tar file.
 */
#include "setup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "../../base/cleanup.h"
#include "../../base/hash.h"
#include "../../base/sha256.h"
#include "../../base/text.h"

/* Directories at the top of a host, or links into /usr. */
static const char *const tops[] = { "usr", "bin", "sbin", "lib", "lib32", "lib64", "libx32" };
#define TOPS (sizeof(tops) / sizeof(tops[0]))

/* Mount points of the engines' own mounts. */
static const char *const others[] = { "proc", "dev", "sys", "etc", "run" };
#define OTHERS (sizeof(others) / sizeof(others[0]))

enum entry { ENTRY_FILE = '0', ENTRY_LINK = '2', ENTRY_DIRECTORY = '5' };

/* Adds an entry in POSIX's ustar format, owned by root: a link to «target», or a file with «len» bytes of «content». */
static void
add_entry(struct buf *tar, const char *name, enum entry type, const char *target, const char *content, size_t len)
{
	static const char zeros[512];
	char h[512] = { 0 };
	unsigned sum = 0, i;

	snprintf(h, 100, "%s%s", name, type == ENTRY_DIRECTORY ? "/" : "");
	snprintf(h + 100, 8, "%07o", type == ENTRY_FILE ? 0644U : 0755U);
	snprintf(h + 108, 8, "%07o", 0U);
	snprintf(h + 116, 8, "%07o", 0U);
	snprintf(h + 124, 12, "%011zo", len);
	snprintf(h + 136, 12, "%011o", 0U);
	memset(h + 148, ' ', 8);
	h[156] = (char)type;
	snprintf(h + 157, 100, "%s", target);
	memcpy(h + 257, "ustar\00000", 8);
	for (i = 0; i < sizeof(h); i++)
		sum += (unsigned char)h[i];
	snprintf(h + 148, 8, "%06o", sum);
	buf_add(tar, h, sizeof(h));
	buf_add(tar, content, len);
	buf_add(tar, zeros, (512 - len % 512) % 512);
}

static void
end_tar(struct buf *tar)
{
	static const char end[1024];

	buf_add(tar, end, sizeof(end));
}

/* Adds a directory of the host, to be mounted.  A link stays a link: it leads into /usr, which is mounted. */
static bool
add_image_top(const char *name, struct buf *tar, struct strlist *mounts)
{
	char path[16], target[64];
	struct stat st;
	ssize_t n;

	snprintf(path, sizeof(path), "/%s", name);
	if (lstat(path, &st) == -1)
		return true;
	if (!S_ISLNK(st.st_mode)) {
		add_entry(tar, name, ENTRY_DIRECTORY, "", "", 0);
		return strlist_add(mounts, path, SIZE_MAX);
	}
	if ((n = readlink(path, target, sizeof(target) - 1)) == -1)
		return false;
	target[n] = '\0';
	add_entry(tar, name, ENTRY_LINK, target, "", 0);
	return true;
}

static bool
make_root(struct buf *tar, struct strlist *mounts)
{
	size_t i;

	for (i = 0; i < TOPS; i++)
		if (!add_image_top(tops[i], tar, mounts))
			return false;
	for (i = 0; i < OTHERS; i++)
		add_entry(tar, others[i], ENTRY_DIRECTORY, "", "", 0);
	end_tar(tar);
	return !tar->failed;
}

int
setup_image(int dir, const char *name, struct strlist *mounts, struct why *why)
{
	autobuf struct buf tar = { 0 };

	if (!make_root(&tar, mounts))
		return refuse_nomem(why);
	return ctl_write_file(dir, name, name, tar.p, tar.len, NULL, why);
}

/* The machine's architecture by Go's name, which images have. */
static const char *
architecture(void)
{
	static const char *const names[][2] = { { "x86_64", "amd64" }, { "aarch64", "arm64" } };
	static struct utsname u;
	size_t i;

	if (uname(&u) == -1)
		return "amd64";
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(names[i][0], u.machine) == 0)
			return names[i][1];
	return u.machine;
}

/* Adds a file named blobs/sha256/DIGEST, and returns its digest. */
static void
add_blob(struct buf *tar, const char *content, size_t len, char digest[HASH_SIZE])
{
	uint8_t bytes[SHA256_BYTES];
	struct sha256 sum;
	char name[100];
	int i;

	sha256_begin(&sum);
	sha256_add(&sum, content, len);
	sha256_end(&sum, bytes);
	for (i = 0; i < SHA256_BYTES; i++)
		snprintf(digest + 2 * i, 3, "%02x", bytes[i]);
	snprintf(name, sizeof(name), "blobs/sha256/%s", digest);
	add_entry(tar, name, ENTRY_FILE, "", content, len);
}

#define OCI "application/vnd.oci.image."

int
setup_oci_image(int dir, const char *name, const char *image, struct strlist *mounts, struct why *why)
{
	static const char layout[] = "{\"imageLayoutVersion\":\"1.0.0\"}";
	autobuf struct buf tar = { 0 }, root = { 0 }, config = { 0 }, manifest = { 0 }, index = { 0 };
	char layer[HASH_SIZE], of_config[HASH_SIZE], of_manifest[HASH_SIZE];

	if (!make_root(&root, mounts))
		return refuse_nomem(why);
	add_entry(&tar, "oci-layout", ENTRY_FILE, "", layout, strlen(layout));
	add_blob(&tar, root.p, root.len, layer);
	buf_printf(&config, "{\"architecture\":\"%s\",\"os\":\"linux\",\"config\":{},\"rootfs\":{\"type\":\"layers\","
	    "\"diff_ids\":[\"sha256:%s\"]}}", architecture(), layer);
	if (config.failed)
		return refuse_nomem(why);
	add_blob(&tar, config.p, config.len, of_config);
	buf_printf(&manifest, "{\"schemaVersion\":2,\"mediaType\":\"" OCI "manifest.v1+json\",\"config\":{\"mediaType\":\"" OCI
	    "config.v1+json\",\"digest\":\"sha256:%s\",\"size\":%zu},\"layers\":[{\"mediaType\":\"" OCI
	    "layer.v1.tar\",\"digest\":\"sha256:%s\",\"size\":%zu}]}", of_config, config.len, layer, root.len);
	if (manifest.failed)
		return refuse_nomem(why);
	add_blob(&tar, manifest.p, manifest.len, of_manifest);
	buf_printf(&index, "{\"schemaVersion\":2,\"manifests\":[{\"mediaType\":\"" OCI "manifest.v1+json\",\"digest\":"
	    "\"sha256:%s\",\"size\":%zu,\"annotations\":{\"io.containerd.image.name\":\"%s\"}}]}",
	    of_manifest, manifest.len, image);
	if (index.failed)
		return refuse_nomem(why);
	add_entry(&tar, "index.json", ENTRY_FILE, "", index.p, index.len);
	end_tar(&tar);
	return tar.failed ? refuse_nomem(why) : ctl_write_file(dir, name, name, tar.p, tar.len, NULL, why);
}
