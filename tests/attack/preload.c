/* A library that leaves a mark wherever it is loaded: cc -shared -fPIC -DMARK='"/path"'. */
#include <fcntl.h>
#include <unistd.h>

/* what LD_AUDIT asks of a library first */
unsigned la_version(unsigned v);
unsigned
la_version(unsigned v)
{
	return v;
}

static void __attribute__((constructor))
loaded(void)
{
	int fd = open(MARK, O_WRONLY | O_CREAT, 0666);

	if (fd != -1)
		close(fd);
}
