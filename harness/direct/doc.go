// Package direct waits for sockets in the kernel instead of the runtime's
// poller. The goroutine that waits keeps its thread, so that an answer costs one
// switch of threads, where the runtime needs three: to the thread that polls, to
// the one that is to run the goroutine, and to one that polls in its place. A
// statement of a local server takes no longer than these.
//
// New takes a connection and gives one that waits so, or the same where the system offers no
// way to; a Set waits for several at once, by epoll
// (https://man7.org/linux/man-pages/man7/epoll.7.html).
//
// It is for a server that is another process. One within this process would lack
// the processor that a waiting goroutine holds.
package direct
