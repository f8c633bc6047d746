/*
 * cdi/cdi*.c: reads fixtures/cdi, and single values. We ran the reference library (pkg/cdi of
 * container-device-interface) on fixtures/cdi/good and bad to learn what it accepts and refuses.
 * The tables of versions and names are the cases of the library's own tests.
 *
 * We refuse some things that the library accepts:
 *	keys in another case; null for a value; a JSON number or boolean for a string; 1e2 for a
 *	number;
 *	YAML in a .json file; several documents, anchors, tags and merge keys; plain scalars whose text
 *	the library changes;
 *	hostPath and the type of a mount in a version that is too old, if a later device has none
 *	(the library, built for Go before 1.22, looks only at the last device).
 * We accept nothing that the library is known to refuse.
 */
#include <dirent.h>

#include "cdi/cdi.h"
#include "nomem.h"
#include "read/cdi/cdispec.h"
#include "read/cdi/cditree.h"
#include "tap.h"

#define TEXT(s) (s), sizeof(s) - 1

static char *
read_file(const char *path, size_t *len)
{
	static char text[CDI_TEXT_MAX + 64];
	FILE *f = fopen(path, "r");

	if (f == NULL)
		return NULL;
	*len = fread(text, 1, sizeof(text) - 1, f);
	text[*len] = '\0';
	fclose(f);
	return text;
}

/* Checks whether each file of a directory is invalid, unsafe or fine. */
static void
test_directory(const char *dir, const char *name, bool invalid, bool unsafe, int want)
{
	struct cdi_faults f;
	struct cdi_spec s;
	enum cdi_format format;
	char path[600], line[512], *text;
	struct dirent *e;
	size_t len, i;
	int n = 0;
	bool read;
	DIR *d;

	snprintf(path, sizeof(path), "%s/fixtures/cdi/%s", dir, name);
	if (!ok((d = opendir(path)) != NULL, "%s exists", path))
		return;
	while ((e = readdir(d)) != NULL) {
		if (e->d_name[0] == '.' || !cdi_format_of(e->d_name, &format))
			continue;
		snprintf(path, sizeof(path), "%s/fixtures/cdi/%s/%s", dir, name, e->d_name);
		f = (struct cdi_faults){ 0 };
		if ((text = read_file(path, &len)) == NULL)
			continue;
		read = cdi_parse(&s, format, text, len, &f);
		n++;
		ok(read == (f.invalid == 0) && (invalid ? !read : unsafe ? !read || f.unsafe > 0 : read && f.unsafe == 0),
		    "%s/%s is %s", name, e->d_name, invalid ? "invalid" : unsafe ? "unsafe, or invalid here" : "fine");
		for (i = 0; i < f.n; i++) {
			cdi_fault_line(&f.v[i], line, sizeof(line));
			if (f.v[i].line == 0 && strstr(e->d_name, "not-utf8") == NULL)
				ok(false, "%s: the fault has a line number: %s", e->d_name, line);
		}
		cdi_free(&s);
		cdi_faults_free(&f);
	}
	closedir(d);
	is_int(n, want, "every file of %s is read", name);
}

/* All faults of a text, one per line. */
static char *
faults(enum cdi_format format, const char *text, size_t len)
{
	struct cdi_faults f = { 0 };
	struct cdi_spec s;
	struct buf b = { 0 };
	char line[512];
	bool read;
	size_t i;

	read = cdi_parse(&s, format, text, len, &f);
	cdi_faults_sort(&f);
	for (i = 0; i < f.n; i++) {
		cdi_fault_line(&f.v[i], line, sizeof(line));
		buf_printf(&b, "%s%s", i > 0 ? "\n" : "", line);
	}
	if (read && f.n == 0)
		buf_puts(&b, "fine");
	if (f.starved)
		b.failed = true;
	cdi_free(&s);
	cdi_faults_free(&f);
	return buf_take(&b);
}

/* Reads a copy at the very end of its allocation, so that a sanitizer notices reads beyond it. */
static void
check(enum cdi_format format, const char *text, const char *want, const char *what)
{
	size_t len = strlen(text);
	char *copy = malloc(len + 1), *got = NULL;

	if (copy != NULL) {
		memcpy(copy + 1, text, len);
		got = faults(format, copy + 1, len);
	}
	is_str(got, want, "%s", what);
	free(got);
	free(copy);
}

#define J(edits) "{\"cdiVersion\":\"1.1.0\",\"kind\":\"v.com/c\",\"devices\":[{\"name\":\"d\",\"containerEdits\":" edits "}]}"
#define AT "devices[0].containerEdits"

static void
test_invalid(void)
{
	static const struct {
		const char *text, *want, *what;
	} t[] = {
		{ J("{\"env\":[\"A=1\"]}"), "fine", "the smallest spec" },
		{ "[]", "1:1: must be an object", "a list instead of an object" },
		{ "{}", "1:1: has no cdiVersion\n1:1: has no kind\n1:1: has no devices",
		    "an empty object" },
		{ "{} x", "1:4: more after the end of the document", "text after the document" },
		{ "", "1:1: not a JSON value", "an empty text" },
		{ J("{}"), "1:80: " AT ": has nothing in it", "a device with no edits" },
		{ J("{\"env\":[]}"), "1:80: " AT ": has nothing in it",
		    "a device with an empty list of edits" },
		{ J("null"), "1:80: " AT ": has no value: must be an object, or be left out",
		    "null instead of edits" },
		{ J("{\"env\":[\"A=\\u0000\"]}"), "1:88: a NUL in a string", "a NUL in a string" },
		{ J("{\"env\":[\"A=1\",3]}"),
		    "1:94: " AT ".env[1]: must be a string: write \"3\" in quotes",
		    "a number instead of a string" },
		{ J("{\"evn\":[\"A=1\"],\"env\":[\"A=1\"]}"),
		    "1:81: " AT ": unknown key \"evn\"; did you mean \"env\"?",
		    "a misspelt key" },
		{ J("{\"Env\":[\"A=1\"],\"env\":[\"A=1\"]}"),
		    "1:81: " AT ": unknown key \"Env\": it is written \"env\"",
		    "a key in another case" },
		{ J("{\"additionalGIDs\":[1],\"env\":[\"A=1\"]}"),
		    "1:81: " AT ": unknown key \"additionalGIDs\": it is written "
		    "\"additionalGids\"",
		    "the misspelt key of SPEC.md" },
		{ J("{\"deviceNodes\":[{\"type\":\"f\",\"permissions\":\"to land\",\"major\":1.5,\"minor\":99999999999999999999}]}"),
		    "1:96: " AT ".deviceNodes[0]: has no path\n"
		    "1:104: " AT ".deviceNodes[0].type: \"f\" is no type of device: b, c, u or p\n"
		    "1:122: " AT ".deviceNodes[0].permissions: \"to land\" is neither made of r, w and m nor \"none\"\n"
		    "1:140: " AT ".deviceNodes[0].major: must be a whole number, written as one\n"
		    "1:152: " AT ".deviceNodes[0].minor: is out of range: -9223372036854775808 to 9223372036854775807",
		    "a device node with several faults" },
		{ J("{\"deviceNodes\":[{\"path\":\"/dev/a\",\"fileMode\":4294967296,\"uid\":-1,\"gid\":1e2}]}"),
		    "1:124: " AT ".deviceNodes[0].fileMode: is out of range: 0 to 4294967295\n"
		    "1:141: " AT ".deviceNodes[0].uid: is out of range: 0 to 4294967295\n"
		    "1:150: " AT ".deviceNodes[0].gid: must be a whole number, written as one",
		    "numbers of more than 32 bits" },
		{ J("{\"intelRdt\":{\"closID\":\"a/b\",\"enableMonitoring\":1}}"),
		    "1:102: " AT ".intelRdt.closID: \"a/b\" is no name of a class of service\n"
		    "1:102: unsafe: " AT ".intelRdt.closID: joins a class of service that is not the spec's own: it has no schema\n"
		    "1:127: " AT ".intelRdt.enableMonitoring: must be true or false",
		    "Intel RDT with three faults" },
	};
	size_t i;

	for (i = 0; i < sizeof(t) / sizeof(t[0]); i++)
		check(CDI_JSON, t[i].text, t[i].want, t[i].what);
	check(CDI_JSON, "{\"cdiVersion\":\"0.3.0\",\"kind\":\"v.com/c\",\"devices\":[{\"name\":\"d\",\"containerEdits\":{\"env\":[\"A=1\"]}},"
	    "{\"name\":\"d\",\"containerEdits\":{\"env\":[\"A=1\"]}}]}", "1:50: devices: two devices have the name \"d\"",
	    "two devices with the same name");
}

#define Y "cdiVersion: 0.6.0\nkind: v.com/c\n"
#define D Y "devices:\n- name: d\n  containerEdits:\n    "
#define UNCLEAR(s) "\"" s "\" without quotes is not the same to every YAML reader: write text in quotes, a number in plain " \
	"decimal, and true or false"

static void
test_yaml(void)
{
	static const struct {
		const char *text, *want, *what;
	} t[] = {
		{ D "env: [A=1]\n", "fine", "the smallest spec" },
		{ D "env: ['A=1', \"B=2\", C=no, D=0660]\n", "fine",
		    "quoted strings, and plain ones that end like numbers" },
		{ "{\"cdiVersion\": \"0.3.0\", \"kind\": \"a/b\", \"devices\": [{\"name\": \"c\", \"containerEdits\": {\"env\": [\"A=1\"]}}]}",
		    "fine", "JSON" },
		{ "--- \n" D "env: [A=1]\n...\n", "fine",
		    "a document with its start and end markers" },
		{ D "env: [A=1]\n---\na: 1\n", "7:1: more than one document", "two documents" },
		{ "%YAML 1.1\n---\n" D "env: [A=1]\n", "1:1: a directive: directives are not accepted", "a directive" },
		{ D "env: &x [A=1]\n", "6:10: an anchor: anchors and aliases are not accepted", "an anchor on a list" },
		{ D "env: [&x A=1]\n", "6:11: an anchor: anchors and aliases are not accepted", "an anchor on a scalar" },
		{ D "env: [*x]\n", "6:11: an alias: anchors and aliases are not accepted", "an alias" },
		{ D "env: [!!str A=1]\n", "6:11: a tag: tags are not accepted", "a tag" },
		{ D "env: !x [A=1]\n", "6:10: a tag: tags are not accepted", "a tag on a list" },
		{ D "<<: {env: [A=1]}\n", "6:5: a merge key: merge keys are not accepted", "a merge key" },
		{ D "? [a]\n    : b\n", "6:7: a key that is not text", "a list as a key" },
		{ D "env: [A=1]\n    env: [B=1]\n",
		    "7:5: devices[0].containerEdits.env: appears twice in one object",
		    "a duplicate key" },
		{ Y "annotations: {a: b, a: c}\ndevices:\n- {name: d, containerEdits: {env: [A=1]}}\n",
		    "3:14: annotations: the key \"a\" appears twice in one object",
		    "a duplicate annotation" },
		{ D "env: [A=1\n", "7:1: is not YAML: did not find expected ',' or ']'",
		    "a truncated document" },
		{ "\xef\xbb\xbf" D "env: [A=1]\n", "fine", "a document after a byte order mark" },
		{ "\xef\xbb\xbf", "1:1: there is nothing in it",
		    "a byte order mark without a document" },
		{ "\xef\xbb", "is not UTF-8 text", "a truncated byte order mark" },
		{ "", "1:1: there is nothing in it", "an empty document" },
		{ "\tx: 1\n", "1:1: is not YAML: found character that cannot start any token",
		    "a tab as indentation" },
		{ "a: \x01\n", "is not YAML: control characters are not allowed at byte 3",
		    "a control byte" },
		{ D "env:\n", "6:9: " AT ".env: has no value: must be a list, or be left out",
		    "a key without a value" },
		{ "[[[[[[[[[[[[[[[[[[", "1:17: nested deeper than 16", "lists nested too deep" },
	};
	size_t i;

	for (i = 0; i < sizeof(t) / sizeof(t[0]); i++)
		check(CDI_YAML, t[i].text, t[i].want, t[i].what);
}

/* The text of a plain scalar as an annotation's key and as its value; NULL if the spec is refused. */
static char *
annotation_of(const char *scalar, bool key)
{
	autocdifaults struct cdi_faults f = { 0 };
	autocdi struct cdi_spec s = { 0 };
	char text[512];

	snprintf(text, sizeof(text), Y "annotations: {%s: %s}\ndevices:\n- name: d\n  containerEdits: {env: [A=1]}\n",
	    key ? scalar : "k", key ? "v" : scalar);
	if (!cdi_parse(&s, CDI_YAML, text, strlen(text), &f))
		return NULL;
	return strdup(key ? s.annotations.key.v[0] : s.annotations.value.v[0]);
}

/*
 * The ambiguous plain scalars of YAML 1.1, as a device's name, as text and as a number. Which of them the reference
 * library takes as the same text was learned from the library (sigs.k8s.io/yaml 1.4.0), with 60000 more scalars.
 */
static void
test_plain(void)
{
	static const char *const unclear[] = { "y", "N", "yes", "No", "on", "OFF", "True", "FALSE", "Null", "0660", "0o660",
		"0x10", "0b1", "1_000", "+1", "-0", "1.0", "1.", ".5", "1e3", "-.inf", ".NaN", "00", "08", "-01", "1.50", "12345.67",
		"0.00001", "1.2345678", "+_1", "1e_3", "0_x2", "-_2" };
	/* texts in the reference library */
	static const char *const same[] = { "1:30", "0:0", "190:20:30.15", "2026-01-02", "2026-1-2T10:00:00Z", "=", "0", "7", "-1",
		"true", "false", "9223372036854775807", "1.5", "-0.25", "0.0001", "12345.6", "0.000123456" };
	static const char *const strings[] = { "a", "0000-03-00-0-0x56a0", "1.1.0", "v0.3.0", "GPU-1", "e3", "0x", "0xg",
		"1.2.3", "c", "nope", "1-2", "2026-01-02-x", "-", ".", "1e", "MIG-0929581a", "_1", "tRue" };
	static const char *const numbers[] = { "0", "7", "195", "-1", "4294967295" };
	char text[256], want[512], *got;
	size_t i;

	for (i = 0; i < sizeof(unclear) / sizeof(unclear[0]); i++) {
		is_int(cdit_plain(unclear[i]), CDIT_UNCLEAR, "%s is ambiguous", unclear[i]);
		snprintf(text, sizeof(text), Y "devices:\n- name: %s\n  containerEdits: {env: [A=1]}\n", unclear[i]);
		snprintf(want, sizeof(want), "4:9: devices[0].name: " UNCLEAR("%s"), unclear[i]);
		got = faults(CDI_YAML, text, strlen(text));
		is_str(got, want, "%s without quotes is refused as a name", unclear[i]);
		free(got);
	}
	for (i = 0; i < sizeof(same) / sizeof(same[0]); i++) {
		is_str(got = annotation_of(same[i], false), same[i], "%s without quotes is accepted as the text of a value", same[i]);
		free(got);
		is_str(got = annotation_of(same[i], true), same[i], "%s without quotes is accepted as the text of a key", same[i]);
		free(got);
	}
	check(CDI_YAML, Y "devices:\n- {name: 0, containerEdits: {env: [A=1]}}\n- {name: 0:1, containerEdits: {env: [A=1]}}\n", "fine",
	    "0 and 0:1 without quotes are accepted as names");
	check(CDI_YAML, Y "devices:\n- name: 99999999999999999999\n  containerEdits: {env: [A=1]}\n",
	    "4:9: devices[0].name: must be a string: write \"99999999999999999999\" in quotes",
	    "a number that the reference library would round is refused as a name");
	check(CDI_YAML, Y "annotations:\n  org.example.a-name-of-more-than-forty-characters.build: yes\ndevices:\n- name: d\n  "
	    "containerEdits: {env: [A=1]}\n", "4:59: annotations.\"org.example.a-name-of-more-than-forty-characters.build\": "
	    UNCLEAR("yes"), "the key of an annotation is named whole");
	check(CDI_YAML, D "hooks: [{hookName: createContainer, path: /usr/bin/x, args: [x, 755, true], env: [A=1]}]\n", "fine",
	    "a number and a boolean are accepted in a list of texts");
	check(CDI_YAML, D "deviceNodes: [{path: /dev/a, major: 0:1}]\n", "6:41: " AT ".deviceNodes[0].major: " UNCLEAR("0:1"),
	    "a number of base 60 is refused where a number is due");
	check(CDI_JSON, J("{\"env\":[1]}"), "1:88: " AT ".env[0]: must be a string: write \"1\" in quotes",
	    "JSON has types: a number is no text there");
	for (i = 0; i < sizeof(strings) / sizeof(strings[0]); i++)
		is_int(cdit_plain(strings[i]), CDIT_STRING, "%s is a string", strings[i]);
	for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		is_int(cdit_plain(numbers[i]), CDIT_NUMBER, "%s is a number", numbers[i]);
	check(CDI_YAML, Y "devices:\n- name: \"no\"\n  containerEdits: {env: [A=1]}\n", "fine",
	    "no in quotes is accepted as a name");
	check(CDI_YAML, D "deviceNodes: [{path: /dev/a, major: \"195\"}]\n", "6:41: " AT ".deviceNodes[0].major: must be a whole number",
	    "a number in quotes is refused");
}

/* Which feature needs which version (specs-go/version.go and its tests). */
static void
test_versions(void)
{
	static const char *const known[] = { "0.3.0", "0.4.0", "0.5.0", "0.6.0", "0.7.0", "0.8.0", "1.0.0", "1.1.0" };
	static const struct {
		const char *kind, *name, *top, *device, *edits;
		unsigned from;
		const char *what;
	} t[] = {
		{ "v.com/c", "d", "", "", "\"env\":[\"A=1\"]", 0, "no new feature" },
		{ "v.com/c", "d", "", "", "\"mounts\":[{\"hostPath\":\"/a\",\"containerPath\":\"/a\",\"type\":\"bind\"}]", 1, "mount type" },
		{ "v.com/c", "d", "", "", "\"mounts\":[{\"hostPath\":\"/a\",\"containerPath\":\"/a\",\"type\":\"\"}]", 0, "empty mount type" },
		{ "v.com/c", "d", "", "", "\"deviceNodes\":[{\"path\":\"/dev/a\",\"hostPath\":\"/dev/a\"}]", 2, "hostPath" },
		{ "v.com/c", "0", "", "", "\"env\":[\"A=1\"]", 2,
		    "a device name that starts with a digit" },
		{ "v.com/c", "d", "\"annotations\":{\"a\":\"b\"},", "", "\"env\":[\"A=1\"]", 3,
		    "annotations of the spec" },
		{ "v.com/c", "d", "", "\"annotations\":{\"a\":\"b\"},", "\"env\":[\"A=1\"]", 3, "annotations of a device" },
		{ "v.com/c", "d", "\"annotations\":{},", "", "\"env\":[\"A=1\"]", 0, "no annotations" },
		{ "v.com/c.d", "d", "", "", "\"env\":[\"A=1\"]", 3, "a class with a dot" },
		{ "v.com/c", "d", "", "", "\"intelRdt\":{\"closID\":\"/\"}", 4, "intelRdt" },
		{ "v.com/c", "d", "", "", "\"additionalGids\":[5]", 4, "additionalGids" },
		{ "v.com/c", "d", "\"containerEdits\":{\"additionalGids\":[5]},", "",
		    "\"env\":[\"A=1\"]", 4,
		    "additionalGids for all devices" },
		{ "v.com/c", "d", "", "", "\"intelRdt\":{\"schemata\":[]}", 7, "schemata" },
		{ "v.com/c", "d", "", "", "\"intelRdt\":{\"enableMonitoring\":true}", 7, "enableMonitoring" },
		{ "v.com/c", "d", "", "", "\"intelRdt\":{\"enableMonitoring\":false}", 4,
		    "enableMonitoring set to false" },
		{ "v.com/c", "d", "", "", "\"netDevices\":[{\"hostInterfaceName\":\"a\",\"name\":\"b\"}]", 7, "netDevices" },
	};
	char text[600];
	size_t i, v;
	char *got;

	for (i = 0; i < sizeof(t) / sizeof(t[0]); i++)
		for (v = 0; v < 8; v++) {
			snprintf(text, sizeof(text), "{%s\"cdiVersion\":\"%s%s\",\"kind\":\"%s\",\"devices\":[{\"name\":\"%s\",%s"
			    "\"containerEdits\":{%s}}]}", t[i].top, v % 2 ? "v" : "", known[v], t[i].kind, t[i].name, t[i].device,
			    t[i].edits);
			got = faults(CDI_JSON, text, strlen(text));
			ok((strcmp(got, "fine") == 0) == (v >= t[i].from),
			    "%s, in version %s: %s", t[i].what, known[v], got);
			free(got);
		}
	check(CDI_JSON, "{\"cdiVersion\":\"vv0.3.0\",\"kind\":\"a/b\",\"devices\":[{\"name\":\"d\",\"containerEdits\":{\"env\":[\"A=1\"]}}]}",
	    "1:15: cdiVersion: \"vv0.3.0\" is no version of CDI that is known here: 0.3.0 to 1.1.0",
	    "a version with two leading v");
}

static void
test_names(void)
{
	static const char *const good[] = { "vendor.com/class=dev", "a/b=c", "a/b=0", "v.com/class.sub=d", "v.com/class_1=dev_1",
		"v.com/class=dev_1:2.3" };
	static const char *const bad[] = { "", "dev", "/dev/null", "=dev", "v.com=dev", "v.com/c", "v.com/c=", "/c=d", "v.com/=d",
		"_v/c=d", "v-/c=d", "v.com/_c=d", "v.com/c_=d", "v.com/c=-dev", "v.com/c=dev:", "*.com/*dev=*gpu*", "v.com/c=a=b",
		"v.com/c/d=e", "v.com/c=a b", "v.com/c=\xc3\xa4" };
	enum cdi_format f;
	size_t i;

	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		ok(cdi_name_is_qualified(good[i]), "%s is a qualified name", good[i]);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ok(!cdi_name_is_qualified(bad[i]), "\"%s\" is not a qualified name", bad[i]);
	ok(cdi_format_of("a.json", &f) && f == CDI_JSON && cdi_format_of(".x.yaml", &f) &&
	    f == CDI_YAML,
	    "the names of spec files are recognised");
	ok(!cdi_format_of("a.yml", &f) && !cdi_format_of("a.JSON", &f) && !cdi_format_of("a.json.bak", &f) &&
	    !cdi_format_of("json", &f), "other file names are not");
}

#define NO_OPTION(s) "option \"" s "\" is not one that a driver needs: bind, ro, rw, nosuid, nodev, noexec, rprivate"
#define CONTROL_OF(s) "hostPath: " s " can't be given out, nor what is above and beneath it"
#define OWN(s) s " is the host's own: nothing above and beneath it can be given out to write"

/* Checks that the only device's edits have exactly this fault (NULL: no fault). */
static void
check_edits(const char *edits, const char *want)
{
	char text[512], *got;
	const char *from;

	snprintf(text, sizeof(text), J("{%s}"), edits);
	got = faults(CDI_JSON, text, strlen(text));
	if (want == NULL)
		is_str(got, "fine", "%s", edits);
	else {
		from = strchr(got, ']') != NULL ? strstr(strchr(got, ']') + 1, "].") : NULL;
		is_str(from != NULL && strstr(got, ": unsafe: ") != NULL ? from + 2 : got, want, "%s", edits);
	}
	free(got);
}

/*
 * Mount options that runtimes and engines act on; writable files of the host; nodes with another
 * device's numbers.
 */
static void
test_mounts_and_numbers(void)
{
	static const char *const words[] = { "remount", "idmap", "ridmap", "idmap=uids=0-0-1", "rslave", "slave", "rrw", "move",
		"upperdir=/x", "ro,suid", "SUID", "suid ", "tmpcopyup", "copy-symlink", "unbindable", "defaults", "z", "U", "" };
	static const char *const own[] = { "/etc/cron.d", "/usr", "/usr/bin/x", "/bin", "/sbin/x", "/lib/modules", "/lib64", "/home/a/b",
		"/var/spool/cron", "/dev/shm" };
	static const char *const never[] = { "/etc/sudoers.d", "/etc/shadow-", "/etc/gshadow", "/run/k3s/containerd/containerd.sock",
		"/run/snapd.socket", "/var/lib/lxd/unix.socket", "/var/lib/incus", "/run/user/0", "/var/run/user/1000/docker.sock",
		"/run/cri-dockerd.sock", "/dev/input", "/dev/mapper" };
	static const struct { const char *path; long long major, minor; bool good; } nodes[] = {
		{ "/dev/nvidia0", 195, 0, true }, { "/dev/nvidia0", 0, 1, true }, { "/dev/nvidia1", 195, 0, false },
		{ "/dev/nvidia0", 189, 1, false }, { "/dev/nvidia0", 10, 239, false }, { "/dev/nvidia0", 4, 64, false },
		{ "/dev/nvidia0", 226, 128, false }, { "/dev/nvidiactl", 195, 0, false }, { "/dev/nvidiactl", 195, 255, true },
		{ "/dev/dri/card0", 195, 1, false }, { "/dev/dri/renderD128", 226, 128, true }, { "/dev/dri/renderD128", 226, 0, false },
		{ "/dev/accel/accel1", 261, 1, true }, { "/dev/accel/accel1", 10, 1, false }, { "/dev/nvidia-uvm", 510, 0, true },
	};
	char edits[256], want[256];
	size_t i;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		snprintf(edits, sizeof(edits), "\"mounts\":[{\"hostPath\":\"/opt\",\"containerPath\":\"/a\",\"options\":[\"%s\"]}]", words[i]);
		snprintf(want, sizeof(want), "options[0]: " NO_OPTION("%s"), words[i]);
		check_edits(edits, want);
	}
	for (i = 0; i < sizeof(own) / sizeof(own[0]); i++) {
		ok(cdi_host_own(own[i]) != NULL, "%s belongs to the host", own[i]);
		snprintf(edits, sizeof(edits), "\"mounts\":[{\"hostPath\":\"%s\",\"containerPath\":\"/a\",\"options\":[\"rw\"]}]", own[i]);
		snprintf(want, sizeof(want), "hostPath: " OWN("%s"), cdi_host_own(own[i]) != NULL ? cdi_host_own(own[i]) : "");
		check_edits(edits, want);
	}
	for (i = 0; i < sizeof(never) / sizeof(never[0]); i++)
		ok(cdi_host_control(never[i]) != NULL || cdi_host_node(never[i]) != NULL,
		    "%s is never given out", never[i]);
	for (i = 0; i < sizeof(nodes) / sizeof(nodes[0]); i++) {
		snprintf(edits, sizeof(edits), "\"deviceNodes\":[{\"path\":\"%s\",\"type\":\"c\",\"major\":%lld,\"minor\":%lld}]", nodes[i].path,
		    nodes[i].major, nodes[i].minor);
		snprintf(want, sizeof(want), "path: %s never has the number %lld:%lld: it is another device", nodes[i].path, nodes[i].major,
		    nodes[i].minor);
		check_edits(edits, nodes[i].good ? NULL : want);
	}
}

static void
test_unsafe(void)
{
	static const struct {
		const char *edits, *want;
	} t[] = {
		{ "\"deviceNodes\":[{\"path\":\"/etc/x\",\"type\":\"c\",\"major\":195}]", "path: a device node that is not beneath /dev" },
		{ "\"deviceNodes\":[{\"path\":\"/dev\",\"type\":\"c\",\"major\":195}]", "path: a device node that is not beneath /dev" },
		{ "\"deviceNodes\":[{\"path\":\"/dev//x\"}]", "path: path \"/dev//x\" has an empty component or ends with \"/\"" },
		{ "\"deviceNodes\":[{\"path\":\"/dev/x\",\"hostPath\":\"dev/x\"}]", "hostPath: path \"dev/x\" is not absolute" },
		{ "\"deviceNodes\":[{\"path\":\"/dev/sda\"}]", "path: is a disk, a console or the processor's registers" },
		{ "\"deviceNodes\":[{\"path\":\"/dev/x\",\"major\":10,\"minor\":236}]", "major: 10:236 is control of file systems and disks" },
		{ "\"deviceNodes\":[{\"path\":\"/dev/x\",\"major\":4096}]", "major: is out of range: 0 to 4095" },
		{ "\"deviceNodes\":[{\"path\":\"/dev/x\",\"minor\":1048576}]", "minor: is out of range: 0 to 1048575" },
		{ "\"deviceNodes\":[{\"path\":\"/dev/x\",\"fileMode\":2534}]", "fileMode: 04746 has more than permissions in it" },
		{ "\"deviceNodes\":[{\"path\":\"/dev/x\",\"type\":\"b\",\"permissions\":\"none\"}]", NULL },
		{ "\"mounts\":[{\"hostPath\":\"/var\",\"containerPath\":\"/x\"}]",
		    "hostPath: " GPUHELPER_STATEDIR " can't be given out, nor what is above and beneath it" },
		{ "\"mounts\":[{\"hostPath\":\"/var/run/docker.sock\",\"containerPath\":\"/x\"}]",
		    "hostPath: /run/docker.sock can't be given out, nor what is above and beneath it" },
		{ "\"mounts\":[{\"hostPath\":\"/var/running\",\"containerPath\":\"/x\"}]", NULL },
		{ "\"mounts\":[{\"hostPath\":\"/dev\",\"containerPath\":\"/x\"}]", "hostPath: all devices of the host" },
		{ "\"mounts\":[{\"hostPath\":\"/dev/sda1\",\"containerPath\":\"/x\"}]",
		    "hostPath: is a disk, a console or the processor's registers" },
		{ "\"mounts\":[{\"hostPath\":\"/opt\",\"containerPath\":\"/\"}]", "containerPath: /, /proc and /sys can't be mounted over" },
		{ "\"mounts\":[{\"hostPath\":\"/opt\",\"containerPath\":\"/sys/fs\"}]", "containerPath: /, /proc and /sys can't be mounted over" },
		{ "\"mounts\":[{\"hostPath\":\"/opt\",\"containerPath\":\"/dev/shm\"}]", "containerPath: this directory is the runtime's to make" },
		{ "\"mounts\":[{\"hostPath\":\"/opt\",\"containerPath\":\"/dev/nvidia0\"}]", "containerPath: beneath /dev, and hostPath is not" },
		{ "\"mounts\":[{\"hostPath\":\"/opt\",\"containerPath\":\"a/../b\"}]", "containerPath: path \"a/../b\" is not absolute" },
		{ "\"mounts\":[{\"hostPath\":\"proc\",\"containerPath\":\"/a\",\"type\":\"proc\"}]",
		    "type: a file system of type proc: only bind mounts and tmpfs" },
		{ "\"mounts\":[{\"hostPath\":\"tmpfs\",\"containerPath\":\"/a\",\"type\":\"tmpfs\"}]", NULL },
		{ "\"mounts\":[{\"hostPath\":\"x\",\"containerPath\":\"/a\",\"type\":\"tmpfs\",\"options\":[\"bind\"]}]",
		    "hostPath: path \"x\" is not absolute" },
		{ "\"mounts\":[{\"hostPath\":\"/opt\",\"containerPath\":\"/a\",\"options\":[\"ro\",\"rexec\"]}]",
		    "options[1]: " NO_OPTION("rexec") },
		{ "\"mounts\":[{\"hostPath\":\"/opt\",\"containerPath\":\"/a\",\"options\":[\"rdev\"]}]",
		    "options[0]: " NO_OPTION("rdev") },
		{ "\"mounts\":[{\"hostPath\":\"/opt\",\"containerPath\":\"/a\",\"options\":[\"nosuid\",\"nodev\",\"noexec\",\"rprivate\",\"ro\"]}]",
		    NULL },
		{ "\"mounts\":[{\"hostPath\":\"/opt\",\"containerPath\":\"/a\",\"options\":[\"size=1\"]}]",
		    "options: option \"size=1\" is for tmpfs, and this is a bind mount" },
		{ "\"mounts\":[{\"hostPath\":\"t\",\"containerPath\":\"/a\",\"type\":\"tmpfs\",\"options\":[\"mode=755\",\"size=1\",\"nosuid\"]}]", NULL },
		{ "\"mounts\":[{\"hostPath\":\"t\",\"containerPath\":\"/a\",\"type\":\"tmpfs\",\"options\":[\"mode=755,suid\"]}]",
		    "options[0]: option \"mode=755,suid\" is not one that a driver needs: bind, ro, rw, nosuid, nodev, noexec, rprivate" },
		{ "\"mounts\":[{\"hostPath\":\"/home/u\",\"containerPath\":\"/a\"}]",
		    "hostPath: /home can't be given out, nor what is above and beneath it" },
		{ "\"mounts\":[{\"hostPath\":\"/home/u/cuda\",\"containerPath\":\"/a\",\"options\":[\"ro\"]}]", NULL },
		{ "\"mounts\":[{\"hostPath\":\"/run/secrets/x\",\"containerPath\":\"/a\"}]",
		    "hostPath: /run/secrets can't be given out, nor what is above and beneath it" },
		{ "\"mounts\":[{\"hostPath\":\"/opt/x\",\"containerPath\":\"/a\",\"options\":[\"rw\"]}]", NULL },
		{ "\"mounts\":[{\"hostPath\":\"/etc/x\",\"containerPath\":\"/a\",\"options\":[\"rw\",\"ro\"]}]", NULL },
		{ "\"mounts\":[{\"hostPath\":\"/etc/x\",\"containerPath\":\"/a\",\"options\":[\"ro\",\"rw\"]}]", "hostPath: " OWN("/etc") },
		{ "\"mounts\":[{\"hostPath\":\"/dev/dri/by-path/pci-0000:03:00.0-card\",\"containerPath\":\"/dev/dri/by-path/pci-0000:03:00.0-card\","
		    "\"options\":[\"bind\",\"rw\"]}]", NULL },
		{ "\"additionalGids\":[44,4294967295]", NULL },
		{ "\"hooks\":[{\"hookName\":\"poststop\",\"path\":\"/tmp/h\",\"env\":[\"A=1\"]}]",
		    "path: a program beneath /tmp can be changed by others than root" },
		{ "\"hooks\":[{\"hookName\":\"poststop\",\"path\":\"/usr/bin/python3\",\"env\":[\"A=1\"]}]",
		    "path: python3 runs whatever its arguments say" },
		{ "\"hooks\":[{\"hookName\":\"poststop\",\"path\":\"/h\",\"env\":[\"LD_PRELOAD=/x\"]}]",
		    "env[0]: LD_PRELOAD steers the dynamic loader" },
		{ "\"hooks\":[{\"hookName\":\"poststop\",\"path\":\"/h\",\"env\":[\"PATH=/usr/bin:/tmp\"]}]", "env: PATH=/usr/bin:/tmp can be changed by others than root" },
		{ "\"hooks\":[{\"hookName\":\"poststop\",\"path\":\"/h\",\"env\":[\"PATH=/usr/bin:\"]}]", "env: PATH=/usr/bin: can be changed by others than root" },
		{ "\"hooks\":[{\"hookName\":\"poststop\",\"path\":\"/h\",\"env\":[\"PATH=bin\"]}]", "env: PATH=bin can be changed by others than root" },
		{ "\"hooks\":[{\"hookName\":\"poststop\",\"path\":\"/h\",\"env\":[\"XDG_CONFIG_HOME=/home/x\"]}]", "env: XDG_CONFIG_HOME=/home/x can be changed by others than root" },
		{ "\"hooks\":[{\"hookName\":\"poststop\",\"path\":\"/h\",\"env\":[\"PYTHONPATH=/usr/x\"]}]", "env[0]: PYTHONPATH decides which programs run" },
		{ "\"hooks\":[{\"hookName\":\"poststop\",\"path\":\"/h\",\"env\":[\"BASH_FUNC_x%%=1\"]}]", "env[0]: BASH_FUNC_x%% is a shell function" },
		{ "\"hooks\":[{\"hookName\":\"poststop\",\"path\":\"/h\",\"env\":[\"PATH=/usr/sbin:/usr/bin\"]}]", NULL },
		{ "\"hooks\":[{\"hookName\":\"poststop\",\"path\":\"/h\",\"env\":[\"XDG_CONFIG_HOME=/etc\"]}]", NULL },
		{ "\"mounts\":[{\"hostPath\":\"/run/k0s/containerd.sock\",\"containerPath\":\"/a\",\"options\":[\"ro\"]}]", CONTROL_OF("/run/k0s") },
		{ "\"mounts\":[{\"hostPath\":\"/var/run/balena-engine.sock\",\"containerPath\":\"/a\",\"options\":[\"ro\"]}]", CONTROL_OF("/run/balena-engine.sock") },
		{ "\"mounts\":[{\"hostPath\":\"/run/isulad.sock\",\"containerPath\":\"/a\",\"options\":[\"ro\"]}]", CONTROL_OF("/run/isulad.sock") },
		{ "\"mounts\":[{\"hostPath\":\"/var/snap/microk8s/common/run/containerd.sock\",\"containerPath\":\"/a\",\"options\":[\"ro\"]}]", CONTROL_OF("/var/snap") },
		{ "\"mounts\":[{\"hostPath\":\"/var/backups\",\"containerPath\":\"/a\",\"options\":[\"ro\"]}]", CONTROL_OF("/var/backups") },
		{ "\"mounts\":[{\"hostPath\":\"/etc/security/opasswd\",\"containerPath\":\"/a\",\"options\":[\"ro\"]}]", CONTROL_OF("/etc/security/opasswd") },
		{ "\"mounts\":[{\"hostPath\":\"/data/x/.ssh\",\"containerPath\":\"/a\",\"options\":[\"ro\"]}]", CONTROL_OF(".ssh") },
		{ "\"mounts\":[{\"hostPath\":\"/data/x/.docker/config.json\",\"containerPath\":\"/a\",\"options\":[\"ro\"]}]", CONTROL_OF(".docker") },
		{ "\"mounts\":[{\"hostPath\":\"/data/.sshx\",\"containerPath\":\"/a\",\"options\":[\"ro\"]}]", NULL },
		{ "\"mounts\":[{\"hostPath\":\"/data/x.ssh\",\"containerPath\":\"/a\",\"options\":[\"ro\"]}]", NULL },
		{ "\"hooks\":[{\"hookName\":\"poststop\",\"path\":\"/h\",\"env\":[\"A=1\"],\"timeout\":-1}]",
		    "timeout: is out of range: 1 to 3600 seconds" },
		{ "\"intelRdt\":{\"closID\":\"a\",\"memBwSchema\":\"MB:0=50\"}", NULL },
		{ "\"netDevices\":[{\"hostInterfaceName\":\"a%d\",\"name\":\"b\"}]",
		    "hostInterfaceName: \"a%d\" is no name of a network interface" },
		{ "\"netDevices\":[{\"hostInterfaceName\":\"a\",\"name\":\"lo\"}]", "name: lo is the container's own link" },
	};
	size_t i;

	for (i = 0; i < sizeof(t) / sizeof(t[0]); i++)
		check_edits(t[i].edits, t[i].want);
	check(CDI_JSON, J("{\"env\":[\"GPUHELPER_GPUS=all\"]}"),
	    "1:88: unsafe: " AT ".env[0]: GPUHELPER_ variables are a container's own request",
	    "a variable that is a container's own request");
	check(CDI_JSON, J("{\"additionalGids\":[44,0]}"),
	    "1:102: unsafe: " AT ".additionalGids[1]: 0 is root's own group",
	    "root's group");
	check(CDI_JSON, "{\"cdiVersion\":\"0.6.0\",\"kind\":\"a_b/c\",\"annotations\":{\"x y\":\"z\",\"e.com/a-b\":\"\"},\"devices\":[{\"name\":\"d\","
	    "\"containerEdits\":{\"env\":[\"A=1\"]}}]}", "1:30: unsafe: kind: the vendor is not a domain name\n"
	    "1:52: unsafe: annotations: \"x y\" is no key of an annotation: [domain/]name",
	    "a vendor that is not a domain name, and an invalid annotation");
}

static void
test_limits(void)
{
	char *text = malloc(CDI_TEXT_MAX + 2), *got;
	size_t i;

	memset(text, ' ', CDI_TEXT_MAX + 1);
	memcpy(text, "{}", 2);
	got = faults(CDI_JSON, text, CDI_TEXT_MAX + 1);
	is_str(got, "is larger than 1048576 bytes", "a text that is too large is refused");
	free(got);
	for (i = 0; i + 2 <= CDI_TEXT_MAX; i += 2)
		memcpy(text + i, "1,", 2);
	text[0] = '[';
	text[1] = ' ';
	text[CDI_TEXT_MAX - 2] = '1';
	text[CDI_TEXT_MAX - 1] = ']';
	got = faults(CDI_JSON, text, CDI_TEXT_MAX);
	ok(got != NULL &&
	    (strstr(got, "more than 100000 values") != NULL ||
	    strstr(got, "too many values") != NULL),
	    "a JSON text with too many values is refused: %s", got);
	free(got);
	got = faults(CDI_YAML, text, CDI_TEXT_MAX);
	ok(got != NULL && strstr(got, "more than 100000 values") != NULL,
	    "a YAML text with too many values is refused: %s", got);
	free(got);
	free(text);
}

#if !defined(__SANITIZE_ADDRESS__)
static const char *starving;
static size_t starving_len;
static enum cdi_format starving_format;

static char *
starved_faults(void)
{
	return faults(starving_format, starving, starving_len);
}

static void
test_memory(const char *dir)
{
	static const char text[] = J("{\"env\":[\"A=1\",\"=\"],\"deviceNodes\":[{\"path\":\"/dev/a\",\"type\":\"c\"}],\"hooks\":[{\"hookName\":"
	    "\"poststop\",\"path\":\"/h\",\"args\":[\"a\"]}],\"additionalGids\":[1],\"intelRdt\":{\"closID\":\"/\"}}");
	char path[600];

	starving_format = CDI_JSON;
	starving = text;
	starving_len = sizeof(text) - 1;
	starve("JSON", starved_faults);
	snprintf(path, sizeof(path), "%s/fixtures/cdi/good/full-1.1.0.yaml", dir);
	starving_format = CDI_YAML;
	if (ok((starving = read_file(path, &starving_len)) != NULL, "%s exists", path))
		starve("YAML", starved_faults);
}
#endif

/* Faults of hooks come first in this spec, and matter only where hooks run. */
static void
test_hook_faults(void)
{
	static const char text[] = J("{\"hooks\":[{\"hookName\":\"poststop\",\"path\":\"/bin/sh\"}],\"env\":[\"LD_PRELOAD=x\"]}");
	struct cdi_faults f = { 0 };
	struct cdi_spec s;

	ok(cdi_parse(&s, CDI_JSON, TEXT(text), &f) && f.n == 3 && f.unsafe == 3 && f.unsafe_hooks == 2,
	    "unsafe hooks are counted among what is unsafe");
	ok(f.v[0].layer == CDI_UNSAFE_HOOK && cdi_first_fault(&f) == &f.v[2],
	    "the first fault that counts everywhere is not that of a hook");
	cdi_faults_excuse_hooks(&f);
	ok(f.unsafe == 1 && f.unsafe_hooks == 0 && f.warnings == 2 && f.v[0].layer == CDI_WARNING && f.v[2].layer == CDI_UNSAFE,
	    "where hooks do not run, their faults are warnings");
	f.n = 2;
	ok(cdi_first_fault(&f) == &f.v[0], "if no other fault was kept, the first one is told");
	cdi_free(&s);
	cdi_faults_free(&f);
	ok(cdi_first_fault(&f) == NULL, "a spec without faults has no first one");
}

int
main(int argc, char **argv)
{
	const char *dir = tests_dir(argc, argv);

	test_directory(dir, "good", false, false, 16);
	test_directory(dir, "bad", true, false, 44);
	test_directory(dir, "unsafe", false, true, 31);
	test_invalid();
	test_yaml();
	test_plain();
	test_hook_faults();
	test_versions();
	test_names();
	test_unsafe();
	test_mounts_and_numbers();
	test_limits();
#if !defined(__SANITIZE_ADDRESS__)
	test_memory(dir);
#else
	skip("when memory runs out", "the sanitizer has its own allocator");
#endif
	return done_testing();
}
