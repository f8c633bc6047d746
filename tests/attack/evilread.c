/*
 * In the place of gpuhelper-read or gpuhelper-judge, which is NAME.real then: has that answer, and says something else.
 * How is in /etc/evil-read:
 *
 *	replace FROM TO		once, in the answer
 *	half, huge, more, none, silent, garbage
 *	aside			lets its channel go when it has answered, and stays
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define HEAD 12

static size_t
length(const unsigned char *head)
{
	return (size_t)head[8] << 24 | (size_t)head[9] << 16 | (size_t)head[10] << 8 | head[11];
}

static void
set_length(unsigned char *head, size_t n)
{
	head[8] = (unsigned char)(n >> 24);
	head[9] = (unsigned char)(n >> 16);
	head[10] = (unsigned char)(n >> 8);
	head[11] = (unsigned char)n;
}

static size_t
take(int fd, unsigned char *to)
{
	size_t at = 0, want = HEAD;
	ssize_t n;

	while (at < want && (n = read(fd, to + at, want - at)) > 0)
		if ((at += (size_t)n) == HEAD)
			want = HEAD + length(to);
	if (at < want)
		_exit(1);
	return at;
}

static void
give(int fd, const unsigned char *from, size_t n)
{
	ssize_t done;

	for (; n > 0 && (done = write(fd, from, n)) > 0; from += done)
		n -= (size_t)done;
}

int
main(int argc, char **argv)
{
	static unsigned char question[1 << 20], answer[1 << 20], other[1 << 21];
	char how[16] = "", from[200] = "", to[200] = "", real[100];
	unsigned char *at;
	size_t asked, said, before;
	FILE *f = fopen("/etc/evil-read", "r");
	int pair[2];

	if (argc < 1 || f == NULL || fscanf(f, "%15s %199s %199s", how, from, to) < 1)
		return 1;
	fclose(f);
	asked = take(3, question);
	if (strcmp(how, "silent") == 0)
		sleep(60);
	if (strcmp(how, "none") == 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == -1)
		return 0;
	if (fork() == 0) {
		dup2(pair[1], 3);
		close(pair[0]);
		snprintf(real, sizeof(real), "/usr/libexec/gpuhelper/%.40s.real", argv[0]);
		execl(real, argv[0], (char *)NULL);
		_exit(1);
	}
	close(pair[1]);
	give(pair[0], question, asked);
	said = take(pair[0], answer);
	memcpy(other, answer, said);
	if (strcmp(how, "half") == 0)
		said /= 2;
	else if (strcmp(how, "huge") == 0)
		set_length(other, 0x7fffffff);
	else if (strcmp(how, "garbage") == 0)
		memset(other + HEAD, 'x', said - HEAD);
	else if (strcmp(how, "more") == 0) {
		memcpy(other + said, "more\n", 5);
		set_length(other, said - HEAD + 5);
		said += 5;
	} else if (strcmp(how, "aside") != 0 && (at = memmem(answer, said, from, strlen(from))) != NULL) {
		before = (size_t)(at - answer);
		memcpy(other + before, to, strlen(to));
		memcpy(other + before + strlen(to), at + strlen(from), said - before - strlen(from));
		said = said - strlen(from) + strlen(to);
		set_length(other, said - HEAD);
	} else if (strcmp(how, "aside") != 0)
		return 3;
	give(3, other, said);
	if (strcmp(how, "aside") == 0)
		close(3);
	pause();
	return 0;
}
