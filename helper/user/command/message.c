/*
 * See message.h. Opens the engine's log with the caller's rights. A message that can't be written must not
 * make anything fail.
 */
#include "message.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../../base/text.h"
#include "../../host/file.h"

#define LOG_END 16384	/* bytes of the log that report_log_may_have() reads */

static void
write_log_entry(const struct command *c, const char *level, const char *text)
{
	autobuf struct buf b = { 0 };
	char when[32];
	int fd;

	if (c->log == NULL || *c->log == '\0')
		return;
	if ((fd = open(c->log, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0644)) == -1)
		return;
	text_time(time(NULL), when);
	buf_printf(&b, c->log_json ? "{\"level\":\"%s\",\"msg\":" : "level=%s msg=", level);
	buf_json(&b, text);
	buf_printf(&b, c->log_json ? ",\"time\":\"%s\"}\n" : " time=\"%s\"\n", when);
	if (!b.failed)
		(void)!write(fd, b.p, b.len);
	close(fd);
}

/* podman's conmon; podman puts the runtime's name, which «setup podman» makes «gpuhelper», before the message. */
static bool
caller_names_us(void)
{
	char path[40], name[16] = "";
	autoclose int fd = -1;

	snprintf(path, sizeof(path), "/proc/%d/comm", (int)getppid());
	return (fd = open(path, O_RDONLY | O_CLOEXEC)) != -1 && read(fd, name, sizeof(name) - 1) > 0 &&
	    strcmp(name, "conmon\n") == 0;
}

void
report_error(const struct command *c, const struct why *why)
{
	char line[sizeof(why->text) + 32];

	snprintf(line, sizeof(line), "%s%s", caller_names_us() ? "" : "gpuhelper: ", why->text);
	write_log_entry(c, "error", line);
	dprintf(STDERR_FILENO, "%s\n", line);
}

static void
report_line(const struct command *c, const char *level, const char *before, const char *text)
{
	char line[640];

	snprintf(line, sizeof(line), "gpuhelper: %s%s", before, text);
	write_log_entry(c, level, line);
	dprintf(STDERR_FILENO, "%s\n", line);
}

void
report_notice(const struct command *c, const char *text)
{
	report_line(c, "info", "", text);
}

void
report_warning(const struct command *c, const char *text)
{
	report_line(c, "warning", "warning: ", text);
}

bool
report_log_may_have(const struct command *c, const char *text)
{
	autoclose int fd = -1;
	char end[LOG_END + 1];
	ssize_t n;
	off_t size;

	if (c->log == NULL || *c->log == '\0')
		return true;
	if ((fd = open(c->log, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)) == -1 || (size = lseek(fd, 0, SEEK_END)) == -1 ||
	    (n = pread(fd, end, LOG_END, size > LOG_END ? size - LOG_END : 0)) == -1)
		return false;
	end[n] = '\0';
	return strstr(end, text) != NULL;
}
