// Changes files of the folder that it is started in, in the way that its first argument names, syncs as the second one
// says, and is killed. The folder has old (10,000 bytes of 'o'), second (as many of 's') and an empty folder dir.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static void must(long r, const char *what) { if (r < 0) { perror(what); exit(1); } }
#define DO(x) must((long)(x), #x)
#define IS(name) (strcmp(how, name) == 0)

static char page[3000];
static struct iovec parts[2] = {{page, 1000}, {page, 2000}};
static char *map;

static int fd(const char *name, int flags) { int f = open(name, flags | O_RDWR, 0600); must(f, name); return f; }

static void *thread(void *arg) {
	sigset_t all;
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, 0);
	for (int i = 0; i < 50; i++) DO(pwrite(*(int *)arg, page, 100, 100 * (i % 60)));
	return 0;
}

static void work(const char *how) {
	int f = fd("old", 0), s = fd("second", 0);
	off_t at = 1000;
	DO(lseek(f, 9000, SEEK_SET));
	if (IS("write")) DO(write(f, page, 3000));
	else if (IS("append")) DO(write(fd("old", O_APPEND), page, 3000));
	else if (IS("write-only")) DO(write(open("old", O_WRONLY), page, 3000));
	else if (IS("twice")) { DO(pwrite(f, page, 3000, 0)); memset(page, 'q', 3000); DO(pwrite(f, page, 3000, 1000)); }
	else if (IS("pwrite")) DO(pwrite(f, page, 3000, 8000));
	else if (IS("hole")) DO(pwrite(f, page, 3000, 20000));
	else if (IS("writev")) DO(writev(f, parts, 2));
	else if (IS("pwritev")) DO(pwritev(f, parts, 2, 100));
	else if (IS("pwritev2")) DO(pwritev2(f, parts, 2, 100, 0));
	else if (IS("direct")) { void *b; posix_memalign(&b, 4096, 4096); memset(b, 'd', 4096); DO(pwrite(fd("old", O_DIRECT), b, 4096, 4096)); }
	else if (IS("stdio")) { FILE *o = fopen("old", "r+"); for (int i = 0; i < 500; i++) fprintf(o, "%d,", i); DO(fclose(o)); }
	else if (IS("stdio-new")) { FILE *o = fopen("old", "w"); fputs("new", o); DO(fclose(o)); }
	else if (IS("copy_file_range")) DO(copy_file_range(s, 0, f, &at, 3000, 0));
	else if (IS("sendfile")) DO(sendfile(f, s, 0, 3000));
	else if (IS("splice")) { int p[2]; DO(pipe(p)); DO(write(p[1], page, 3000)); DO(splice(p[0], 0, f, &at, 3000, 0)); }
	else if (IS("ftruncate")) DO(ftruncate(f, 100));
	else if (IS("extend")) DO(ftruncate(f, 20000));
	else if (IS("truncate")) DO(truncate("old", 100));
	else if (IS("cut-and-write")) { DO(pwrite(f, page, 3000, 9000)); DO(ftruncate(f, 100)); DO(pwrite(f, page, 3000, 200)); }
	else if (IS("fallocate")) DO(fallocate(f, 0, 5000, 20000));
	else if (IS("posix_fallocate")) DO(posix_fallocate(f, 5000, 20000));
	else if (IS("punch")) DO(fallocate(f, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 1000, 5000));
	else if (IS("create")) DO(write(fd("new", O_CREAT), page, 3000));
	else if (IS("creat")) DO(creat("old", 0600));
	else if (IS("open-truncate")) DO(write(fd("old", O_TRUNC), page, 10));
	else if (IS("exclusive")) { if (open("old", O_CREAT | O_EXCL | O_TRUNC | O_RDWR, 0600) >= 0) exit(1); }
	else if (IS("rename")) DO(rename("old", "dir/new"));
	else if (IS("rename-over")) DO(rename("old", "./second"));
	else if (IS("renameat")) DO(renameat(open("dir", O_PATH), "../old", AT_FDCWD, "new"));
	else if (IS("replace")) { DO(write(fd("dir/tmp", O_CREAT), page, 3000)); DO(rename("dir/tmp", "old")); }
	else if (IS("rename-folder")) { DO(write(fd("dir/in", O_CREAT), page, 3)); DO(rename("dir", "folder")); DO(write(fd("folder/in", 0), page, 30)); }
	else if (IS("unlink")) DO(unlink("old"));
	else if (IS("unlinkat")) DO(unlinkat(open("dir", O_PATH), "../old", 0));
	else if (IS("remove")) DO(remove("dir"));
	else if (IS("write-and-unlink")) { DO(write(f, page, 3000)); DO(unlink("old")); DO(pwrite(f, page, 3000, 0)); }
	else if (IS("unlink-and-create")) { DO(unlink("old")); DO(write(fd("old", O_CREAT), page, 3000)); }
	else if (IS("link")) DO(link("old", "dir/linked"));
	else if (IS("mkdir")) { DO(mkdir("made", 0700)); DO(write(fd("made/in", O_CREAT), page, 3)); }
	else if (IS("rmdir")) DO(rmdir("dir"));
	else if (IS("mmap")) { map = mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, f, 0); memset(map + 100, 'm', 5000); }
	else if (IS("mprotect")) {
		map = mmap(0, 8192, PROT_READ, MAP_SHARED, f, 0);
		DO(mprotect(map, 8192, PROT_READ | PROT_WRITE));
		memset(map + 100, 'm', 5000);
	} else if (IS("clone3")) { // as posix_spawn does, if it can, to have no handlers in the child
		struct { unsigned long flags, rest[10]; } args = {0x100000000ul /* CLONE_CLEAR_SIGHAND */, {0, 0, 0, SIGCHLD}};
		if (getenv("TXNFUZZ_POWERLOSS") && (syscall(435, &args, sizeof args) >= 0 || errno != ENOSYS)) exit(1);
		DO(write(f, page, 3000));
	} else if (IS("fork")) { if (fork() == 0) { DO(write(f, page, 3000)); _exit(0); } DO(wait(0)); }
	else if (IS("exec")) DO(system("printf x >>old; mv second third; printf y | tee new"));
	else if (IS("threads")) {
		pthread_t t[8];
		for (int i = 0; i < 8; i++) DO(pthread_create(&t[i], 0, thread, &f));
		for (int i = 0; i < 8; i++) DO(pthread_join(t[i], 0));
	} else if (IS("io_uring")) { char params[120] = {0}; syscall(425, 4, params); }
	else if (IS("exchange")) DO(syscall(SYS_renameat2, AT_FDCWD, "old", AT_FDCWD, "second", RENAME_EXCHANGE));
	else if (IS("symlink")) DO(symlink("old", "linked"));
	else if (IS("mknod")) DO(mknod("made", S_IFIFO | 0600, 0));
	else if (IS("collapse")) { fallocate(f, FALLOC_FL_COLLAPSE_RANGE, 0, 4096); DO(symlink("old", "linked")); }
	else if (IS("all")) { struct stat st; DO(fstat(f, &st)); char *b = malloc(st.st_size); memset(b, 'x', st.st_size); DO(pwrite(f, b, st.st_size, 0)); }
	else if (IS("fleeting")) { DO(write(fd("ibtmp1", O_CREAT), page, 3000)); DO(mkdir("pg_dynshmem", 0700)); DO(mkdir("pg_dynshmem2", 0700));
		DO(write(fd("pg_dynshmem/in", O_CREAT), page, 3)); }
	else { fprintf(stderr, "no call %s\n", how); exit(1); }
}

static void syncs(const char *how) {
	const char *names[] = {"old", "new", "second", "third", "dir", ".", "dir/new", "made/in", "folder/in", 0};
	if (IS("")) return;
	for (int i = 0; names[i]; i++) {
		int f = open(names[i], O_RDONLY);
		if (f < 0) continue;
		if (IS("fsync")) DO(fsync(f));
		else if (IS("fdatasync")) DO(fdatasync(f));
		else if (IS("syncfs")) DO(syncfs(f));
		else if (IS("msync") && map) DO(msync(map, 8192, MS_SYNC));
		else if (IS("folder") && strcmp(names[i], ".") == 0) DO(fsync(f));
		close(f);
	}
}

int main(int argc, char **argv) {
	(void)argc;
	memset(page, 'x', sizeof page);
	work(argv[1]);
	syncs(argv[2]);
	kill(getpid(), SIGKILL);
}
