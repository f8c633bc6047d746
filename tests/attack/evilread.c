/*
 * A hostile gpuhelper-read, -judge, -look or -engine.  The real program is NAME.real: this one runs it, passes on its
 * answers (and the questions of gpuhelper-engine), and changes one of them.  /etc/evil-read says how: the number of the answer, from 0 (-1: each), and one of
 *
 *	replace FROM TO...	replaces the first FROM in that answer with TO, pair after pair.  «~» stands for a blank
 *	rest FROM TO		replaces everything from FROM on with TO.  «^» stands for a newline, too
 *	patch AT HEX...		writes these bytes at that place of the answer, pair after pair
 *	numbers AT HEX...	the same, but not into answers about paths, which are lines
 *	half, huge, more, none, silent, garbage
 *	aside			closes the channel after that answer, and stays
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
	return at < want ? 0 : at;
}

static void
give(int fd, const unsigned char *from, size_t n)
{
	ssize_t done;

	for (; n > 0 && (done = write(fd, from, n)) > 0; from += done)
		n -= (size_t)done;
}

#define PAIRS 8

static char how[16], from[PAIRS][200], to[PAIRS][200];
static int which, pairs;

static void
blanks(char *s)
{
	for (; *s != '\0'; s++)
		*s = *s == '~' ? ' ' : *s == '^' ? '\n' : *s;
}

static void
read_how(void)
{
	FILE *f = fopen("/etc/evil-read", "r");

	if (f == NULL || fscanf(f, "%d %15s", &which, how) != 2)
		_exit(1);
	while (pairs < PAIRS && fscanf(f, "%199s %199s", from[pairs], to[pairs]) == 2) {
		blanks(from[pairs]);
		blanks(to[pairs]);
		pairs++;
	}
	fclose(f);
}

static size_t
replace(unsigned char *answer, size_t said, const char *old, const char *new)
{
	static unsigned char other[1 << 21];
	unsigned char *at = memmem(answer, said, old, strlen(old));
	size_t before;

	if (at == NULL)
		_exit(3);
	before = (size_t)(at - answer);
	memcpy(other, answer, said);
	memcpy(other + before, new, strlen(new));
	memcpy(other + before + strlen(new), answer + before + strlen(old), said - before - strlen(old));
	said = said - strlen(old) + strlen(new);
	set_length(other, said - HEAD);
	memcpy(answer, other, said);
	return said;
}

static void
patch(unsigned char *answer, size_t said, size_t at, const char *hex)
{
	unsigned byte;

	for (; at < said && sscanf(hex, "%2x", &byte) == 1; hex += 2)
		answer[at++] = (unsigned char)byte;
}

/* The replacement answer, and its length. */
static size_t
lie(unsigned char *answer, size_t said)
{
	int i;

	if (strcmp(how, "half") == 0)
		return said / 2;
	if (strcmp(how, "numbers") == 0 && memmem(answer, said, "paths ", 6) != NULL)
		return said;
	if (strcmp(how, "patch") == 0 || strcmp(how, "numbers") == 0) {
		for (i = 0; i < pairs; i++)
			patch(answer + HEAD, said - HEAD, strtoul(from[i], NULL, 10), to[i]);
		return said;
	}
	if (strcmp(how, "huge") == 0)
		set_length(answer, 0x7fffffff);
	else if (strcmp(how, "garbage") == 0)
		memset(answer + HEAD, 'x', said - HEAD);
	else if (strcmp(how, "more") == 0) {
		memcpy(answer + said, "more\n", 5);
		set_length(answer, said - HEAD + 5);
		return said + 5;
	}
	else if (strcmp(how, "rest") == 0 && memmem(answer, said, from[0], strlen(from[0])) != NULL)
		said = (size_t)((unsigned char *)memmem(answer, said, from[0], strlen(from[0])) - answer) + strlen(from[0]);
	for (i = 0; i < pairs; i++)
		said = replace(answer, said, from[i], to[i]);
	return said;
}

static void
start(const char *name, int pair[2])
{
	char real[100];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == -1)
		_exit(1);
	if (fork() == 0) {
		dup2(pair[1], 3);
		close(pair[0]);
		snprintf(real, sizeof(real), "/usr/libexec/gpuhelper/%.40s.real", name);
		execl(real, name, (char *)NULL);
		_exit(1);
	}
	close(pair[1]);
}

static int
is_lie(int i)
{
	return which == -1 || which == i;
}

int
main(int argc, char **argv)
{
	static unsigned char question[1 << 20], answer[1 << 21];
	size_t asked, said;
	int pair[2], i, hears = 1;
	char first;

	if (argc < 1)
		return 1;
	read_how();
	start(argv[0], pair);
	/* a byte before the first question (ask/lookquery.h) */
	if (strcmp(argv[0], "gpuhelper-look") == 0 && read(3, &first, 1) == 1)
		give(pair[0], (unsigned char *)&first, 1);
	for (i = 0;; i++) {
		if ((asked = take(3, question)) == 0)
			break;
		if (is_lie(i) && strcmp(how, "silent") == 0)
			sleep(60);
		if (is_lie(i) && strcmp(how, "none") == 0)
			return 0;
		give(pair[0], question, asked);
		for (; hears > 1 && (asked = take(3, question)) > 0; hears--)
			give(pair[0], question, asked);
		said = take(pair[0], answer);
		/* after its question about the host's GPUs it hears two messages (ask/enginequery.h) */
		if (strcmp(argv[0], "gpuhelper-engine") == 0 && said > HEAD && answer[HEAD] == 'h')
			hears = 2;
		if (is_lie(i))
			said = lie(answer, said);
		give(3, answer, said);
		if (is_lie(i) && strcmp(how, "aside") == 0) {
			close(3);
			break;
		}
	}
	/* stays even after its helper's end */
	pause();
	return 0;
}
