/* host/process/process.c: which processes are alive, according to /proc. */
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/process/process.h"
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

/* Ends the first thread; its process stays. */
static void
leave_a_thread(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, wait_for_signal, NULL) != 0)
		_exit(1);
	pthread_exit(NULL);
}

/* Starts a child that becomes a zombie, because no process waits for it. */
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

	ok(process_start(self.pid, &self.start) && process_id_lives(self), "this process is alive");
	self.start++;
	ok(!process_id_lives(self), "a process with this pid and another start time is not");
	ok(process_parent(getpid()) == getppid(), "the parent is found");
	p = zombie_after(end_at_once);
	ok(becomes_zombie(p.pid), "a child becomes a zombie");
	ok(!process_id_lives(p), "a zombie counts as ended");
	waitpid(p.pid, NULL, 0);
	ok(!process_id_lives(p), "a zombie that was waited for is gone");
	p = zombie_after(leave_a_thread);
	ok(becomes_zombie(p.pid), "another child's first thread becomes a zombie");
	ok(process_id_lives(p), "the child is alive while its second thread is");
	kill(p.pid, SIGKILL);
	waitpid(p.pid, NULL, 0);
	ok(!process_id_lives(p), "the child has ended when its second thread has");
	return done_testing();
}
