// A library to preload into a database server. It keeps a journal of what a power failure would undo: before a file
// below the data directory is changed, what was there; and which syncs have succeeded since. journal.go starts servers
// with it, undo.go undoes what was not synced when the server has been killed.
//
// It does not replace functions of the C library: a seccomp filter lets the kernel hand each system call that changes
// or syncs a file to the signal handler below, whoever issued it (stdio, liburing, a raw syscall). The handler keeps
// its journal and carries the call out from a page of its own, which the filter lets pass. So no call is overlooked,
// and no symbol of the C library is needed but environ: the servers bring C libraries of all ages.
// https://docs.kernel.org/userspace-api/seccomp_filter.html
// The model of a file system, after which undo.go decides what is durable, is described in doc.go.
//
// The journal is a mapped file: what a killed process has written to it stays. All processes of a server share it.

#if !defined(__x86_64__) || !defined(__linux__)
#error "only for Linux on x86-64"
#endif

#define _GNU_SOURCE
#include <asm/unistd.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/fs.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <ucontext.h>

typedef uint8_t u8;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int64_t i64;

extern char **environ;

// ---- System calls from a page that the filter lets pass. It is at the same place in all processes, so that a program
// that a server starts gets through the filter that it inherits.

#define PAGE 0x200000000000ull

static const u8 code[] = {
	0x48, 0x89, 0xf8, // mov rax, rdi
	0x48, 0x89, 0xf7, // mov rdi, rsi
	0x48, 0x89, 0xd6, // mov rsi, rdx
	0x48, 0x89, 0xca, // mov rdx, rcx
	0x4d, 0x89, 0xc2, // mov r10, r8
	0x4d, 0x89, 0xc8, // mov r8, r9
	0x4c, 0x8b, 0x4c, 0x24, 0x08, // mov r9, [rsp+8]
	0x0f, 0x05, // syscall
	0xc3, // ret
};

static long (*const call)(long, long, long, long, long, long, long) =
	(long (*)(long, long, long, long, long, long, long))PAGE;

// direct is for what comes before that page is there.
static long direct(long n, long a, long b, long c, long d, long e, long f) {
	long r;
	register long r10 __asm__("r10") = d, r8 __asm__("r8") = e, r9 __asm__("r9") = f;
	__asm__ volatile("syscall" : "=a"(r) : "a"(n), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
	                 : "rcx", "r11", "memory");
	return r;
}

#define CALL0(n) call(n, 0, 0, 0, 0, 0, 0)
#define CALL1(n, a) call(n, (long)(a), 0, 0, 0, 0, 0)
#define CALL2(n, a, b) call(n, (long)(a), (long)(b), 0, 0, 0, 0)
#define CALL3(n, a, b, c) call(n, (long)(a), (long)(b), (long)(c), 0, 0, 0)
#define CALL4(n, a, b, c, d) call(n, (long)(a), (long)(b), (long)(c), (long)(d), 0, 0)
#define CALL5(n, a, b, c, d, e) call(n, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), 0)

static void copy(void *to, const void *from, u64 n) { __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n) : : "memory"); }
static u64 length(const char *s) { u64 n = 0; while (s[n]) n++; return n; }
static int begins(const char *s, const char *with) { while (*with) if (*s++ != *with++) return 0; return 1; }
static int same(const char *a, const char *b) { return begins(a, b) && a[length(b)] == 0; }

// ---- The journal: what Go's journal.go and record.go read.

#define LIMIT 4096 // bytes of a path
#define UNCOVERED 32

struct journal {
	u32 lock; // the thread that holds it; 0: none
	u32 waiters;
	u64 size; // of the file
	u64 used; // bytes of records behind this header
	u64 seq; // of the last record
	u64 full; // how often all was called durable because the journal was full
	u64 firstSaved, nextSaved; // files in the folder of saved ones
	char uncovered[UNCOVERED][64]; // calls on files of the data directory that are not undone
};

struct record {
	u32 kind;
	u32 path, path2; // bytes of the two paths that follow
	u32 flags; // names of a file that loses one
	u64 seq, ino;
	i64 offset; // in the file; of a rename, the inode of the file that is replaced
	i64 length; // bytes of old data that follow the paths
	i64 size; // of the file before
	u64 more; // by kind: bytes that are written, sequence number when a sync began, number of a saved file, mode
};

enum {
	WRITE = 'w', TRUNCATE = 't', CREATE = 'c', RENAME = 'r', UNLINK = 'u', LINK = 'l', MKDIR = 'm', RMDIR = 'd',
	FSYNC = 'F', FDATASYNC = 'D', SYNC = 'S'
};

#define HEADER 4096
#define MOST (64 << 20) // bytes that one call may write

static struct journal *journal;
static char data[LIMIT], saved[LIMIT]; // the data directory, the folder of saved files
static u64 dataLength, savedLength;

// What no server expects to find again after a crash; and pg_dynshmem is shared memory.
static const char *const fleeting[] = {
	"ibtmp1", "#innodb_temp/", "pg_dynshmem/", "pg_stat_tmp/", "base/pgsql_tmp/", "postmaster.pid", 0,
};

// ---- Locking, across the threads and processes of a server.

static void lock(void) {
	u32 me = (u32)CALL0(__NR_gettid);
	for (;;) {
		u32 owner = 0;
		if (__atomic_compare_exchange_n(&journal->lock, &owner, me, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) return;
		struct timespec tenth = {0, 100000000};
		__atomic_add_fetch(&journal->waiters, 1, __ATOMIC_SEQ_CST);
		long r = CALL4(__NR_futex, &journal->lock, FUTEX_WAIT, owner, &tenth);
		__atomic_sub_fetch(&journal->waiters, 1, __ATOMIC_SEQ_CST);
		// Of the processes of a server one may have been killed.
		if (r == -ETIMEDOUT && CALL2(__NR_kill, owner, 0) == -ESRCH && CALL3(__NR_tkill, owner, 0, 0) == -ESRCH &&
		    __atomic_compare_exchange_n(&journal->lock, &owner, me, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) return;
	}
}

static void unlock(void) {
	__atomic_store_n(&journal->lock, 0, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&journal->waiters, __ATOMIC_SEQ_CST)) CALL3(__NR_futex, &journal->lock, FUTEX_WAKE, 1);
}

// ---- Records. The lock is held.

static void uncovered(const char *name) {
	for (int i = 0; i < UNCOVERED; i++) {
		char *at = journal->uncovered[i];
		if (same(at, name)) return;
		if (*at) continue;
		u64 n = length(name);
		copy(at, name, n < sizeof journal->uncovered[i] ? n : sizeof journal->uncovered[i] - 1); // zeroes follow
		return;
	}
}

static char *number(char *end, u64 n) { *--end = 0; do *--end = '0' + n % 10; while (n /= 10); return end; }

static void savedPath(char *to, u64 n) {
	char digits[24];
	char *s = number(digits + sizeof digits, n);
	copy(to, saved, savedLength);
	to[savedLength] = '/';
	copy(to + savedLength + 1, s, length(s) + 1);
}

// forget removes the saved files before one: what took them from their places is durable.
static void forget(u64 until) {
	char path[LIMIT + 32];
	for (; journal->firstSaved < until; journal->firstSaved++) {
		savedPath(path, journal->firstSaved);
		CALL1(__NR_unlink, path);
	}
}

// append makes room for a record with n bytes of old data, and returns where those go.
static u8 *append(struct record r, const char *path, const char *path2, u64 n) {
	r.path = path ? length(path) : 0;
	r.path2 = path2 ? length(path2) : 0;
	u64 need = sizeof r + r.path + r.path2 + n;
	if (journal->used + need > journal->size - HEADER) {
		// A kernel may write back what it likes when it likes: all that is there is durable from here on.
		journal->used = 0;
		journal->full++;
		u64 keep = r.kind == UNLINK || r.kind == RENAME ? r.more : 0;
		forget(keep ? keep : journal->nextSaved);
	}
	r.seq = ++journal->seq;
	r.length = n;
	u8 *at = (u8 *)journal + HEADER + journal->used;
	copy(at, &r, sizeof r);
	copy(at + sizeof r, path, r.path);
	copy(at + sizeof r + r.path, path2, r.path2);
	return at + sizeof r + r.path + r.path2;
}

// appended makes the record that append has begun valid; its old data end before end.
static void appended(u8 *end) {
	__atomic_store_n(&journal->used, (u64)(end - (u8 *)journal) - HEADER, __ATOMIC_RELEASE);
}

static void event(struct record r, const char *path, const char *path2) { appended(append(r, path, path2, 0)); }

// before keeps what a file holds in a range that is to be changed.
static void before(u32 kind, int fd, const struct stat *st, i64 offset, i64 n) {
	i64 there = st->st_size - offset;
	if (there > n) there = n;
	if (there < 0) there = 0;
	if (there > (i64)journal->size / 2) {
		uncovered("a change of more than half of the journal's size");
		return;
	}
	struct record r = {.kind = kind, .ino = st->st_ino, .offset = offset, .size = st->st_size, .more = n};
	u8 *at = append(r, 0, 0, there);
	// What is open for writing alone, or past the cache, is read by another descriptor.
	int from = fd;
	long flags = there ? CALL2(__NR_fcntl, fd, F_GETFL) : 0;
	if ((flags & O_ACCMODE) == O_WRONLY || flags & O_DIRECT) {
		char link[64] = "/proc/self/fd/", digits[24];
		char *s = number(digits + sizeof digits, fd);
		copy(link + 14, s, length(s) + 1);
		from = CALL3(__NR_open, link, O_RDONLY | O_CLOEXEC, 0);
	}
	i64 got = 0;
	while (got < there) {
		long m = CALL4(__NR_pread64, from, at + got, there - got, offset + got);
		if (m == -EINTR) continue;
		if (m <= 0) break;
		got += m;
	}
	if (got < there) {
		uncovered("a change of a file that cannot be read");
		((struct record *)(at - sizeof r))->length = got;
	}
	if (from != fd) CALL1(__NR_close, from);
	appended(at + got);
}

// ---- Which files are journalled.

// kept tells whether a path is of the data directory, and not fleeting; the folder of saved files counts, too.
static int kept(const char *path) {
	if (begins(path, saved) && (path[savedLength] == '/' || !path[savedLength])) return 1;
	if (!begins(path, data) || (path[dataLength] != '/' && path[dataLength])) return 0;
	if (!path[dataLength]) return 1;
	for (int i = 0; fleeting[i]; i++) {
		u64 n = length(fleeting[i]);
		const char *rest = path + dataLength + 1;
		if (fleeting[i][n - 1] != '/') {
			if (same(rest, fleeting[i])) return 0;
		} else if (begins(rest, fleeting[i]) || (length(rest) == n - 1 && begins(fleeting[i], rest))) return 0;
	}
	return 1;
}

static long linked(const char *folder, long fd, char *path) {
	char link[64], digits[24];
	u64 n = length(folder);
	char *s = number(digits + sizeof digits, fd);
	copy(link, folder, n);
	copy(link + n, s, length(s) + 1);
	long m = CALL3(__NR_readlink, link, path, LIMIT - 1);
	if (m >= 0) path[m] = 0;
	return m;
}

// open_ tells whether a descriptor is of a journalled file or folder, of type S_IFREG or S_IFDIR.
static int open_(int fd, u32 type, struct stat *st) {
	char path[LIMIT];
	if (fd < 0 || linked("/proc/self/fd/", fd, path) < 0 || path[0] != '/' || !kept(path)) return 0;
	return CALL2(__NR_fstat, fd, st) == 0 && (st->st_mode & S_IFMT) == type;
}

// resolve makes a path of a call absolute and free of links, but for its last part; path has LIMIT bytes.
static int resolve(int at, const char *name, char *path) {
	char folder[LIMIT];
	u64 n = length(name);
	while (n > 1 && name[n - 1] == '/') n--;
	u64 cut = n;
	while (cut > 0 && name[cut - 1] != '/') cut--;
	if (n == 0 || n - cut >= 256 || cut >= LIMIT) return 0;
	if (cut == 0) copy(folder, ".", 2);
	else copy(folder, name, cut), folder[cut] = 0;
	int fd = CALL4(__NR_openat, at, folder, O_PATH | O_DIRECTORY | O_CLOEXEC, 0);
	if (fd < 0) return 0;
	long m = linked("/proc/self/fd/", fd, path);
	CALL1(__NR_close, fd);
	if (m < 0 || m + 1 + n - cut >= LIMIT) return 0;
	if (m > 1) path[m++] = '/'; // not behind the root's own
	copy(path + m, name + cut, n - cut);
	path[m + n - cut] = 0;
	return kept(path);
}

static int look(const char *path, struct stat *st) { return CALL4(__NR_newfstatat, AT_FDCWD, path, st, AT_SYMLINK_NOFOLLOW) == 0; }

// save gives a file that is to lose its name another one, so that it can get the first back.
static u64 save(const char *path) {
	char to[LIMIT + 32];
	u64 n = journal->nextSaved;
	savedPath(to, n);
	if (CALL2(__NR_link, path, to) != 0) {
		uncovered("unlink of a file that cannot be saved");
		return 0;
	}
	journal->nextSaved++;
	return n;
}

// ---- Files that are mapped to be written. Their contents change without a call: each sync counts what the file holds
// right after it as durable.

static struct mapping {
	int fd;
	u64 ino;
	i64 offset, length;
} mappings[64];
static int mapped;

#define SMALL (8 << 20)

// mappedAgain is told a file; 0: all.
static void mappedAgain(u64 ino) {
	for (int i = 0; i < mapped; i++) {
		struct stat st;
		if ((!ino || mappings[i].ino == ino) && CALL2(__NR_fstat, mappings[i].fd, &st) == 0)
			before(WRITE, mappings[i].fd, &st, mappings[i].offset, mappings[i].length);
	}
}

// ---- The calls.

static void durable(u32 kind, u64 ino, u64 start, u64 until) {
	event((struct record){.kind = kind, .ino = ino, .more = start}, 0, 0);
	if (kind != FDATASYNC) forget(until);
	mappedAgain(ino);
}

// syncs carries out a call that makes durable what was written before it began.
static long syncs(u32 kind, u64 ino, long n, const long *a) {
	lock();
	u64 start = journal->seq, until = journal->nextSaved;
	unlock();
	long r = CALL3(n, a[0], a[1], a[2]);
	if (r == 0) {
		lock();
		durable(kind, ino, start, until);
		unlock();
	}
	return r;
}

static i64 sum(const struct iovec *v, long n) {
	i64 all = 0;
	for (long i = 0; i < n; i++) all += v[i].iov_len;
	return all;
}

// writes carries out a call that writes at most n bytes to a file; offset -1: where the file stands.
static long writes(int fd, const struct stat *old, i64 offset, i64 n, int sync, long nr, const long *a) {
	struct stat st = *old;
	lock();
	long flags = CALL2(__NR_fcntl, fd, F_GETFL);
	CALL2(__NR_fstat, fd, &st);
	if (offset < 0) offset = CALL3(__NR_lseek, fd, 0, SEEK_CUR);
	if (flags & O_APPEND) offset = st.st_size; // pwrite appends, too
	if (n > MOST) uncovered("a write of more than 64 MB");
	else if (n > 0) before(WRITE, fd, &st, offset, n);
	long r = call(nr, a[0], a[1], a[2], a[3], a[4], a[5]);
	// O_SYNC and O_DSYNC sync what was written; here all of the file that came before.
	if (r > 0 && (sync || flags & O_DSYNC)) durable(FDATASYNC, st.st_ino, journal->seq, journal->nextSaved);
	unlock();
	return r;
}

// shrinks carries out a call that cuts or extends a file: the file system's journal has both.
static long shrinks(int fd, i64 size, long nr, const long *a) {
	struct stat st;
	lock();
	CALL2(__NR_fstat, fd, &st);
	if (size < st.st_size) before(TRUNCATE, fd, &st, size, st.st_size - size);
	else before(TRUNCATE, fd, &st, size, 0);
	long r = CALL3(nr, a[0], a[1], a[2]);
	unlock();
	return r;
}

static long allocates(int fd, int mode, i64 offset, i64 n, const long *a) {
	struct stat st;
	lock();
	CALL2(__NR_fstat, fd, &st);
	if (mode & (FALLOC_FL_COLLAPSE_RANGE | FALLOC_FL_INSERT_RANGE)) uncovered("fallocate that collapses or inserts a range");
	else if (mode & (FALLOC_FL_PUNCH_HOLE | FALLOC_FL_ZERO_RANGE)) before(WRITE, fd, &st, offset, n);
	else if (!(mode & FALLOC_FL_KEEP_SIZE) && offset + n > st.st_size) before(TRUNCATE, fd, &st, offset + n, 0);
	long r = CALL4(__NR_fallocate, a[0], a[1], a[2], a[3]);
	unlock();
	return r;
}

static long opens(int at, const char *name, u64 flags, long nr, const long *a) {
	char path[LIMIT];
	struct stat st;
	if (flags & __O_TMPFILE & ~O_DIRECTORY || !resolve(at, name, path)) return CALL4(nr, a[0], a[1], a[2], a[3]);
	lock();
	if (!look(path, &st)) {
		if (flags & O_CREAT) event((struct record){.kind = CREATE}, path, 0);
	} else if (flags & O_TRUNC && (st.st_mode & S_IFMT) == S_IFREG && st.st_size > 0 && (flags & (O_CREAT | O_EXCL)) != (O_CREAT | O_EXCL)) {
		int fd = CALL3(__NR_open, path, O_RDONLY | O_CLOEXEC, 0);
		if (fd >= 0) {
			before(TRUNCATE, fd, &st, 0, st.st_size);
			CALL1(__NR_close, fd);
		} else uncovered("open with O_TRUNC of a file that cannot be read");
	}
	long r = CALL4(nr, a[0], a[1], a[2], a[3]);
	unlock();
	return r;
}

static long renames(int from, const char *name, int to, const char *name2, u32 flags, long nr, const long *a) {
	char path[LIMIT], path2[LIMIT];
	struct stat st, over;
	int one = resolve(from, name, path), two = resolve(to, name2, path2);
	if (!one && !two) return CALL5(nr, a[0], a[1], a[2], a[3], a[4]);
	lock();
	if (one != two) uncovered("rename into or out of the data directory");
	else if (flags & ~RENAME_NOREPLACE) uncovered("renameat2 with RENAME_EXCHANGE or RENAME_WHITEOUT");
	else if (look(path, &st) && !same(path, path2)) {
		struct record r = {.kind = RENAME, .ino = st.st_ino};
		if (look(path2, &over) && (over.st_mode & S_IFMT) == S_IFREG && over.st_ino != st.st_ino)
			r.more = save(path2), r.offset = over.st_ino, r.flags = over.st_nlink;
		event(r, path, path2);
	}
	long r = CALL5(nr, a[0], a[1], a[2], a[3], a[4]);
	unlock();
	return r;
}

static long unlinks(int at, const char *name, u64 flags, long nr, const long *a) {
	char path[LIMIT];
	struct stat st;
	if (!resolve(at, name, path)) return CALL3(nr, a[0], a[1], a[2]);
	lock();
	if (look(path, &st)) {
		u32 type = st.st_mode & S_IFMT;
		if (type == S_IFDIR && flags & AT_REMOVEDIR)
			event((struct record){.kind = RMDIR, .ino = st.st_ino, .more = st.st_mode & 07777}, path, 0);
		else if (type == S_IFREG && !(flags & AT_REMOVEDIR))
			event((struct record){.kind = UNLINK, .ino = st.st_ino, .flags = st.st_nlink, .more = save(path)}, path, 0);
		else if (type == S_IFLNK) uncovered("unlink of a symbolic link");
	}
	long r = CALL3(nr, a[0], a[1], a[2]);
	unlock();
	return r;
}

// makes carries out a call that makes a name.
static long makes(u32 kind, const char *what, int at, const char *name, long nr, const long *a) {
	char path[LIMIT];
	struct stat st;
	if (!resolve(at, name, path)) return CALL5(nr, a[0], a[1], a[2], a[3], a[4]);
	lock();
	if (!look(path, &st)) {
		if (kind) event((struct record){.kind = kind}, path, 0);
		else uncovered(what);
	}
	long r = CALL5(nr, a[0], a[1], a[2], a[3], a[4]);
	unlock();
	return r;
}

static long maps(const long *a) {
	struct stat st;
	int fd = a[4];
	// What is mapped to be read from a file that is open for writing can be made writable later.
	int writable = a[2] & PROT_WRITE || (CALL2(__NR_fcntl, fd, F_GETFL) & O_ACCMODE) == O_RDWR;
	if (!writable || !open_(fd, S_IFREG, &st)) return call(__NR_mmap, a[0], a[1], a[2], a[3], a[4], a[5]);
	lock();
	// Nobody writes to it before this returns. A server may only try whether it can map a file.
	long r = call(__NR_mmap, a[0], a[1], a[2], a[3], a[4], a[5]);
	if (r >= 0 || r < -4095) {
		char link[64] = "/proc/self/fd/", digits[24];
		char *s = number(digits + sizeof digits, fd);
		copy(link + 14, s, length(s) + 1);
		int own = -1;
		if (a[1] <= SMALL && mapped < 64) own = CALL3(__NR_open, link, O_RDONLY | O_CLOEXEC, 0);
		if (own < 0) uncovered(mapped < 64 ? "mmap of more than 8 MB to be written" : "mmap of more than 64 files to be written");
		else {
			mappings[mapped++] = (struct mapping){own, st.st_ino, a[5], a[1]};
			CALL2(__NR_fstat, fd, &st);
			before(WRITE, own, &st, a[5], a[1]);
		}
	}
	unlock();
	return r;
}

// msync tells of no file: all that are mapped count.
static long mappingSyncs(const long *a) {
	long r = CALL3(__NR_msync, a[0], a[1], a[2]);
	if (r == 0 && a[2] & MS_SYNC && mapped) {
		lock();
		u64 start = journal->seq;
		for (int i = 0; i < mapped; i++) {
			int again = 0;
			for (int k = 0; k < i; k++) again |= mappings[k].ino == mappings[i].ino;
			if (!again) durable(FDATASYNC, mappings[i].ino, start, 0);
		}
		unlock();
	}
	return r;
}

// ---- Signals: nobody may block the one that brings the calls here, nor handle it.

#define MINE (1ull << (SIGSYS - 1))

static long masks(u64 *mask, const long *a) {
	if (a[3] != 8) return -EINVAL;
	u64 old = *mask, set = 0;
	if (a[1]) {
		set = *(u64 *)a[1];
		switch (a[0]) {
		case SIG_BLOCK: *mask |= set; break;
		case SIG_UNBLOCK: *mask &= ~set; break;
		case SIG_SETMASK: *mask = set; break;
		default: return -EINVAL;
		}
		*mask &= ~MINE;
	}
	if (a[2]) *(u64 *)a[2] = old;
	return 0;
}

// What the kernel takes for sigaction.
struct action {
	void *handler;
	unsigned long flags;
	void *restorer;
	u64 mask;
};

static long handles(const long *a) {
	struct action act;
	if (!a[1]) return CALL4(__NR_rt_sigaction, a[0], 0, a[2], a[3]);
	if (a[0] == SIGSYS) return a[2] ? CALL4(__NR_rt_sigaction, a[0], 0, a[2], a[3]) : 0;
	copy(&act, (void *)a[1], sizeof act);
	act.mask &= ~MINE;
	return CALL4(__NR_rt_sigaction, a[0], &act, a[2], a[3]);
}

// ---- What the filter stops.

// plain carries out a call that is none of ours, with the signals that its thread takes.
static long plain(u64 mask, long n, const long *a) {
	u64 all = ~0ull;
	CALL4(__NR_rt_sigprocmask, SIG_SETMASK, &mask, 0, 8);
	long r = call(n, a[0], a[1], a[2], a[3], a[4], a[5]);
	CALL4(__NR_rt_sigprocmask, SIG_SETMASK, &all, 0, 8);
	return r;
}

static long refuse(const char *name, u64 mask, long n, const long *a) {
	lock();
	uncovered(name);
	unlock();
	return plain(mask, n, a);
}

static long least(i64 a, i64 b) { return a < b ? a : b; }

// carry carries out a system call of the server.
static long carry(long n, long *a, u64 *mask) {
	struct stat st;
	i64 *place;
	switch (n) {
	case __NR_write:
		return open_(a[0], S_IFREG, &st) ? writes(a[0], &st, -1, a[2], 0, n, a) : plain(*mask, n, a);
	case __NR_pwrite64:
		return open_(a[0], S_IFREG, &st) ? writes(a[0], &st, a[3], a[2], 0, n, a) : plain(*mask, n, a);
	case __NR_writev:
		return open_(a[0], S_IFREG, &st) ? writes(a[0], &st, -1, sum((void *)a[1], a[2]), 0, n, a) : plain(*mask, n, a);
	case __NR_pwritev:
		return open_(a[0], S_IFREG, &st) ? writes(a[0], &st, a[3], sum((void *)a[1], a[2]), 0, n, a) : plain(*mask, n, a);
	case __NR_pwritev2:
		return open_(a[0], S_IFREG, &st) ? writes(a[0], &st, a[3], sum((void *)a[1], a[2]), a[5] & (RWF_SYNC | RWF_DSYNC), n, a) : plain(*mask, n, a);
	case __NR_copy_file_range:
		if (!open_(a[2], S_IFREG, &st)) return plain(*mask, n, a);
		a[4] = least(a[4], MOST);
		place = (i64 *)a[3];
		return writes(a[2], &st, place ? *place : -1, a[4], 0, n, a);
	case __NR_sendfile:
		if (!open_(a[0], S_IFREG, &st)) return plain(*mask, n, a);
		a[3] = least(a[3], MOST);
		return writes(a[0], &st, -1, a[3], 0, n, a);
	case __NR_splice:
		if (!open_(a[2], S_IFREG, &st)) return plain(*mask, n, a);
		a[4] = least(a[4], MOST);
		place = (i64 *)a[3];
		return writes(a[2], &st, place ? *place : -1, a[4], 0, n, a);
	case __NR_ftruncate:
		return open_(a[0], S_IFREG, &st) ? shrinks(a[0], a[1], n, a) : plain(*mask, n, a);
	case __NR_truncate: {
		char path[LIMIT];
		int fd = resolve(AT_FDCWD, (char *)a[0], path) ? CALL3(__NR_open, path, O_RDONLY | O_CLOEXEC, 0) : -1;
		if (fd < 0) return plain(*mask, n, a);
		long r = shrinks(fd, a[1], n, a);
		CALL1(__NR_close, fd);
		return r;
	}
	case __NR_fallocate:
		return open_(a[0], S_IFREG, &st) ? allocates(a[0], a[1], a[2], a[3], a) : plain(*mask, n, a);
	case __NR_open: return opens(AT_FDCWD, (char *)a[0], a[1], n, a);
	case __NR_creat: return opens(AT_FDCWD, (char *)a[0], O_CREAT | O_TRUNC, n, a);
	case __NR_openat: return opens(a[0], (char *)a[1], a[2], n, a);
	case __NR_openat2: return opens(a[0], (char *)a[1], *(u64 *)a[2], n, a);
	case __NR_rename: return renames(AT_FDCWD, (char *)a[0], AT_FDCWD, (char *)a[1], 0, n, a);
	case __NR_renameat: return renames(a[0], (char *)a[1], a[2], (char *)a[3], 0, n, a);
	case __NR_renameat2: return renames(a[0], (char *)a[1], a[2], (char *)a[3], a[4], n, a);
	case __NR_unlink: return unlinks(AT_FDCWD, (char *)a[0], 0, n, a);
	case __NR_rmdir: return unlinks(AT_FDCWD, (char *)a[0], AT_REMOVEDIR, n, a);
	case __NR_unlinkat: return unlinks(a[0], (char *)a[1], a[2], n, a);
	case __NR_mkdir: return makes(MKDIR, 0, AT_FDCWD, (char *)a[0], n, a);
	case __NR_mkdirat: return makes(MKDIR, 0, a[0], (char *)a[1], n, a);
	case __NR_link: return makes(LINK, 0, AT_FDCWD, (char *)a[1], n, a);
	case __NR_linkat: return makes(LINK, 0, a[2], (char *)a[3], n, a);
	case __NR_symlink: return makes(0, "symlink", AT_FDCWD, (char *)a[1], n, a);
	case __NR_symlinkat: return makes(0, "symlinkat", a[1], (char *)a[2], n, a);
	case __NR_mknod: return makes(0, "mknod", AT_FDCWD, (char *)a[0], n, a);
	case __NR_mknodat: return makes(0, "mknodat", a[0], (char *)a[1], n, a);
	case __NR_fsync:
		return open_(a[0], S_IFREG, &st) || open_(a[0], S_IFDIR, &st) ? syncs(FSYNC, st.st_ino, n, a) : plain(*mask, n, a);
	case __NR_fdatasync:
		return open_(a[0], S_IFREG, &st) || open_(a[0], S_IFDIR, &st) ? syncs(FDATASYNC, st.st_ino, n, a) : plain(*mask, n, a);
	case __NR_sync:
	case __NR_syncfs: return syncs(SYNC, 0, n, a);
	case __NR_mmap: return maps(a);
	case __NR_msync: return mappingSyncs(a);
	case __NR_io_submit: return refuse("io_submit (native asynchronous I/O)", *mask, n, a);
	case __NR_io_uring_setup: return refuse("io_uring_setup", *mask, n, a);
	case __NR_ioctl: return open_(a[0], S_IFREG, &st) ? refuse("ioctl with FICLONE", *mask, n, a) : plain(*mask, n, a);
	case __NR_rt_sigprocmask: return masks(mask, a);
	case __NR_rt_sigaction: return handles(a);
	}
	return plain(*mask, n, a);
}

static void stopped(int signal, siginfo_t *info, void *context) {
	(void)signal;
	ucontext_t *u = context;
	greg_t *g = u->uc_mcontext.gregs;
	long a[6] = {g[REG_RDI], g[REG_RSI], g[REG_RDX], g[REG_R10], g[REG_R8], g[REG_R9]};
	g[REG_RAX] = carry(info->si_syscall, a, (u64 *)&u->uc_sigmask);
}

// ---- The filter.

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define LOW(i) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[i]))
#define RETURN(what) BPF_STMT(BPF_RET | BPF_K, what)
#define IF(value, yes, no) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, yes, no)
#define IFSET(bits, yes, no) BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, bits, yes, no)
#define STOP(n) IF(n, 0, 1), RETURN(SECCOMP_RET_TRAP)
#define PASS RETURN(SECCOMP_RET_ALLOW)

static struct sock_filter filter[] = {
	LOAD(arch), IF(AUDIT_ARCH_X86_64, 1, 0), PASS,
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, instruction_pointer) + 4), IF(PAGE >> 32, 0, 1), PASS,
	LOAD(nr),
	// Some only with some arguments.
	IF(__NR_open, 0, 4), LOW(1), IFSET(O_CREAT | O_TRUNC, 0, 1), RETURN(SECCOMP_RET_TRAP), PASS,
	IF(__NR_openat, 0, 4), LOW(2), IFSET(O_CREAT | O_TRUNC, 0, 1), RETURN(SECCOMP_RET_TRAP), PASS,
	IF(__NR_mmap, 0, 5), LOW(3), IFSET(MAP_SHARED, 0, 2), IFSET(MAP_ANONYMOUS, 1, 0), RETURN(SECCOMP_RET_TRAP), PASS,
	IF(__NR_ioctl, 0, 5), LOW(1), IF(FICLONE, 1, 0), IF(FICLONERANGE, 0, 1), RETURN(SECCOMP_RET_TRAP), PASS,
	STOP(__NR_write), STOP(__NR_pwrite64), STOP(__NR_writev), STOP(__NR_pwritev), STOP(__NR_pwritev2),
	STOP(__NR_copy_file_range), STOP(__NR_sendfile), STOP(__NR_splice),
	STOP(__NR_ftruncate), STOP(__NR_truncate), STOP(__NR_fallocate), STOP(__NR_creat), STOP(__NR_openat2),
	STOP(__NR_rename), STOP(__NR_renameat), STOP(__NR_renameat2), STOP(__NR_unlink), STOP(__NR_unlinkat), STOP(__NR_rmdir),
	STOP(__NR_mkdir), STOP(__NR_mkdirat), STOP(__NR_link), STOP(__NR_linkat), STOP(__NR_symlink), STOP(__NR_symlinkat),
	STOP(__NR_fsync), STOP(__NR_fdatasync), STOP(__NR_sync), STOP(__NR_syncfs), STOP(__NR_msync),
	STOP(__NR_mknod), STOP(__NR_mknodat),
	// It can take the handler away (CLONE_CLEAR_SIGHAND); C libraries go back to clone.
	IF(__NR_clone3, 0, 1), RETURN(SECCOMP_RET_ERRNO | ENOSYS),
	STOP(__NR_io_submit), STOP(__NR_io_uring_setup), STOP(__NR_rt_sigprocmask), STOP(__NR_rt_sigaction),
	PASS,
};

// ---- The beginning.

static const char *environment(const char *name) {
	u64 n = length(name);
	for (char **e = environ; e && *e; e++)
		if (begins(*e, name) && (*e)[n] == '=') return *e + n + 1;
	return 0;
}

static void fail(const char *why, long error) {
	char digits[24];
	char *s = number(digits + sizeof digits, (u64)-error);
	static const char what[] = "txnfuzz: no power loss can be simulated: ";
	direct(__NR_write, 2, (long)what, sizeof what - 1, 0, 0, 0);
	direct(__NR_write, 2, (long)why, length(why), 0, 0, 0);
	direct(__NR_write, 2, (long)" (error ", 8, 0, 0, 0);
	direct(__NR_write, 2, (long)s, length(s), 0, 0, 0);
	direct(__NR_write, 2, (long)")\n", 2, 0, 0, 0);
	direct(__NR_exit_group, 70, 0, 0, 0, 0, 0);
}

// The handler's way back: rt_sigreturn.
void ended(void) __attribute__((visibility("hidden")));
__asm__(".text\n.hidden ended\nended:\n\tmov $15, %eax\n\tsyscall\n");

__attribute__((constructor)) static void begin(void) {
	const char *folder = environment("TXNFUZZ_POWERLOSS"), *of = environment("TXNFUZZ_POWERLOSS_DATA");
	if (!folder || !of) return;
	dataLength = length(of), savedLength = length(folder) + 6;
	if (dataLength >= LIMIT - 64 || savedLength >= LIMIT - 64) fail("a path is too long", 0);
	copy(data, of, dataLength + 1);
	copy(saved, folder, savedLength - 6);
	copy(saved + savedLength - 6, "/saved", 7);

	// A program that such a server starts has the filter before it has the handler.
	long r = direct(__NR_mmap, PAGE, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	if (r != (long)PAGE) fail("the page for system calls cannot be mapped", r);
	copy((void *)PAGE, code, sizeof code);
	r = direct(__NR_mprotect, PAGE, 4096, PROT_READ | PROT_EXEC, 0, 0, 0);
	if (r) fail("the page for system calls cannot be executed", r);

	char path[LIMIT];
	copy(path, folder, savedLength - 6);
	copy(path + savedLength - 6, "/journal", 9);
	struct stat st;
	long fd = CALL3(__NR_open, path, O_RDWR | O_CLOEXEC, 0);
	if (fd < 0) fail("the journal cannot be opened", fd);
	r = CALL2(__NR_fstat, fd, &st);
	if (r < 0) fail("the journal has no size", r);
	r = call(__NR_mmap, 0, st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (r < 0 && r > -4096) fail("the journal cannot be mapped", r);
	journal = (struct journal *)r;
	CALL1(__NR_close, fd);

	struct action act = {.handler = (void *)stopped, .flags = SA_SIGINFO | 0x04000000 /* SA_RESTORER */,
		.restorer = (void *)ended, .mask = ~0ull};
	r = CALL4(__NR_rt_sigaction, SIGSYS, &act, 0, 8);
	if (r) fail("the signal cannot be handled", r);
	u64 mine = MINE;
	r = CALL4(__NR_rt_sigprocmask, SIG_UNBLOCK, &mine, 0, 8);
	if (r) fail("the signal is blocked", r);
	r = direct(__NR_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0, 0);
	if (r) fail("no filter of system calls is allowed", r);
	struct sock_fprog program = {sizeof filter / sizeof filter[0], filter};
	r = direct(__NR_seccomp, SECCOMP_SET_MODE_FILTER, 0, (long)&program, 0, 0, 0);
	if (r) fail("the kernel takes no filter of system calls", r);
}
