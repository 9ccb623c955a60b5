package pause

import (
	"encoding/binary"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Offsets in struct user (sys/user.h).
const (
	offRIP = 16 * 8
	offDR0 = 848
	offDR7 = offDR0 + 7*8
)

// trapHardware is si_code of a hardware breakpoint, TRAP_HWBKPT: the address alone does not tell it
// from a step that ends there.
const trapHardware = 4

func ptrace(request, tid int, addr, data uintptr) error {
	if _, _, e := unix.Syscall6(unix.SYS_PTRACE, uintptr(request), uintptr(tid), addr, data, 0, 0); e != 0 {
		return e
	}
	return nil
}

func pokeUser(tid int, offset, v uintptr) error { return ptrace(unix.PTRACE_POKEUSR, tid, offset, v) }

func peekUser(tid int, offset uintptr) uintptr {
	var v uintptr
	_ = ptrace(unix.PTRACE_PEEKUSR, tid, offset, uintptr(unsafe.Pointer(&v)))
	return v
}

func trapOf(tid int) int32 {
	var info [128]byte
	_ = ptrace(unix.PTRACE_GETSIGINFO, tid, 0, uintptr(unsafe.Pointer(&info)))
	return int32(binary.LittleEndian.Uint32(info[8:]))
}
