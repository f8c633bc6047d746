/* host/process.c: which processes are alive, by /proc. */
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/process.h"
#include "tap.h"

static void *
wait_for_signal(void *unused)
{
	(void)unused;
	for (;;)
		pause();
	return NULL;
}

static void
end_at_once(void)
{
	_exit(0);
}

/* The first thread ends, and its process stays. */
static void
leave_a_thread(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, wait_for_signal, NULL) != 0)
		_exit(1);
	pthread_exit(NULL);
}

/* A child that becomes a zombie, because nobody waits for it. */
static struct process_id
zombie_after(void (*run)(void))
{
	struct process_id child = { 0 };
	siginfo_t info;

	if ((child.pid = fork()) == 0) {
		run();
		_exit(1);
	}
	(void)process_start(child.pid, &child.start);
	(void)waitid(P_PID, (id_t)child.pid, &info, WEXITED | WNOWAIT | (run == leave_a_thread ? WNOHANG : 0));
	return child;
}

static bool
becomes_zombie(pid_t pid)
{
	char name[40], line[200] = "";
	unsigned tries;
	FILE *f;

	snprintf(name, sizeof(name), "/proc/%d/status", pid);
	for (tries = 0; tries < 500; tries++, usleep(10000)) {
		if ((f = fopen(name, "r")) == NULL)
			return false;
		while (fgets(line, sizeof(line), f) != NULL && strncmp(line, "State:", 6) != 0)
			continue;
		fclose(f);
		if (strstr(line, "Z (zombie)") != NULL)
			return true;
	}
	return false;
}

int
main(void)
{
	struct process_id self = { .pid = getpid() }, p;

	ok(process_start(self.pid, &self.start) && process_id_lives(self), "we live");
	self.start++;
	ok(!process_id_lives(self), "who has our number and began at another time does not");
	ok(process_parent(getpid()) == getppid(), "our parent");
	p = zombie_after(end_at_once);
	ok(becomes_zombie(p.pid), "a child is a zombie");
	ok(!process_id_lives(p), "a zombie has ended");
	waitpid(p.pid, NULL, 0);
	ok(!process_id_lives(p), "and is gone when it is buried");
	p = zombie_after(leave_a_thread);
	ok(becomes_zombie(p.pid), "another one's first thread is a zombie");
	ok(process_id_lives(p), "and it lives, for its second thread does");
	kill(p.pid, SIGKILL);
	waitpid(p.pid, NULL, 0);
	ok(!process_id_lives(p), "until that has ended, too");
	return done_testing();
}
