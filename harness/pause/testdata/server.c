// A small server of threads with a known race: transfer reads a balance and writes it back later.
// Each line of its input is a command of one thread: "a N" adds N in the first thread, "b N" in the
// second; "r" reads. Each answer is a line.
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static volatile int balance;

__attribute__((noinline)) int later(int v) {
	__asm__ volatile("" : "+r"(v));
	return v;
}

__attribute__((noinline)) void transfer(int n) {
	int was = balance;
	balance = later(was) + n; // not atomic
}

struct worker {
	int in[2], n;
	pthread_t thread;
};

static void *work(void *arg) {
	struct worker *w = arg;
	int n;
	printf("thread %d\n", (int)syscall(SYS_gettid));
	fflush(stdout);
	while (read(w->in[0], &n, sizeof n) == sizeof n) {
		transfer(n);
		printf("done %d\n", n);
		fflush(stdout);
	}
	return NULL;
}

int main(void) {
	struct worker w[2];
	char line[64];
	for (int i = 0; i < 2; i++) {
		if (pipe(w[i].in) || pthread_create(&w[i].thread, NULL, work, &w[i]))
			return 1;
	}
	while (fgets(line, sizeof line, stdin)) {
		int n = 0;
		sscanf(line + 1, "%d", &n);
		if (line[0] == 'r') {
			printf("balance %d\n", balance);
			fflush(stdout);
		} else if (write(w[line[0] == 'b'].in[1], &n, sizeof n) != sizeof n) {
			return 1;
		}
	}
	return 0;
}
