// Package pause holds one thread of a server inside of a statement, at an instruction of the
// vendor's own, stripped binary, while the other threads go on.
//
// A Tracer seizes single threads (ptrace, Linux on amd64) and arms a hardware breakpoint of the
// thread alone: nothing of the server's text changes, and no other thread stops there. What a
// thread executes is recorded by single steps. An Image names addresses by function and offset,
// which the unwind table tells of a stripped binary as well, so that a place is found again in
// the same build.
//
// Only servers that this process started may be traced: a thread that is armed when its tracer
// dies is killed by the trap, so the kernel is told to end the whole server then.
//
// https://man7.org/linux/man-pages/man2/ptrace.2.html
package pause
