// Package powerloss simulates a power failure of a server on Linux: a library that is preloaded into it keeps a journal
// of what was there before each change of a file below its data directory and of each sync, and after the server was
// killed the changes that no sync has made durable are undone.
//
// # What is durable
//
// The model is that of a journalling file system such as ext4 with its defaults (data=ordered, auto_da_alloc), on a disk
// whose cache is lost. It is less hostile than POSIX, which promises of names nothing at all but what fsync(2) of their
// directory gives them; servers that vendors support on such file systems are accused of nothing that cannot happen
// there.
//
//   - Data and size of a file: what was written before a successful fsync, fdatasync, syncfs, sync or msync(MS_SYNC) of it
//     began; a write through O_SYNC or O_DSYNC counts as followed by fdatasync. Closing syncs nothing.
//   - Names (creat, rename, link, unlink, mkdir, rmdir) and sizes that were set (truncate, fallocate): they become durable
//     in the order in which they happened, at the next fsync of any file or folder, since that commits the file system's
//     journal. fdatasync commits it if the size of its own file has changed.
//   - The data of a file that was renamed are durable when its new name is, as auto_da_alloc has it; those of a file that
//     was only created are not: it is empty until it is synced.
//
// What is not durable is lost altogether, or (see Journal.Undo) sector by sector. A real kernel writes back some of it
// by itself, so it loses less than this.
//
// https://docs.kernel.org/admin-guide/ext4.html
// https://pubs.opengroup.org/onlinepubs/9799919799/functions/fsync.html
// https://www.usenix.org/conference/osdi14/technical-sessions/presentation/pillai
package powerloss
