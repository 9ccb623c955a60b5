//go:build libfuzzer

// Command libfuzzer holds the fuzz targets in the form of libFuzzer: an archive
// that clang links with -fsanitize=fuzzer (scripts/libfuzzer). Which target a
// binary runs is the name of its file.
package main

/*
#include <stddef.h>
#include <stdint.h>
#include <signal.h>

// libFuzzer installs its handlers without SA_ONSTACK, which Go's small stacks do
// not survive.
static void use_signal_stacks(void) {
	for (int i = 1; i < 32; i++) {
		struct sigaction a;
		if (sigaction(i, 0, &a) == 0 && a.sa_handler != SIG_DFL && a.sa_handler != SIG_IGN && !(a.sa_flags & SA_ONSTACK)) {
			a.sa_flags |= SA_ONSTACK;
			sigaction(i, &a, 0);
		}
	}
}
*/
import "C"

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"unsafe"

	"github.com/txnfuzz/txnfuzz/fuzz/property"
)

// targets maps the name of a binary to what makes ready and what runs an input.
var targets = map[string]func() (run func(data []byte), err error){
	"fuzz_parse":     holds(property.Parse),
	"fuzz_blocks":    holds(property.Blocks),
	"fuzz_generate":  holds(property.Generate),
	"fuzz_partition": holds(property.Partition),
	"fuzz_honest":    openHonest,
}

// holds makes a target of a property.
func holds(p func([]byte) error) func() (func([]byte), error) {
	return func() (func([]byte), error) {
		return func(data []byte) {
			if err := p(data); err != nil {
				panic(err)
			}
		}, nil
	}
}

// openHonest reads the recorded histories in the folder `honest` beside the
// binary: a fleet moves all files of a build together.
func openHonest() (func([]byte), error) {
	binary, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find the recorded histories: %w", err)
	}
	h, err := property.LoadHonest(filepath.Join(filepath.Dir(binary), "honest"))
	if err != nil {
		return nil, err
	}
	return holds(h.Judge)()
}

var (
	run     func([]byte)
	signals bool
)

func main() {}

// LLVMFuzzerInitialize makes the target ready before the first input, whose time
// libFuzzer measures.
//
//export LLVMFuzzerInitialize
func LLVMFuzzerInitialize(_ *C.int, argv ***C.char) C.int {
	debug.SetTraceback("crash") // ends by SIGABRT, so that libFuzzer keeps the input
	if drives() {
		return 0
	}
	name := filepath.Base(C.GoString(**argv))
	open, ok := targets[name]
	if !ok {
		fmt.Fprintf(os.Stderr, "the name of this binary, %s, is that of no target\n", name)
		os.Exit(2)
	}
	var err error
	if run, err = open(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(3)
	}
	return 0
}

// drives says that this process only starts others.
func drives() bool {
	for _, arg := range os.Args {
		for _, flag := range []string{"-merge=1", "-fork=", "-jobs=", "-minimize_crash=1", "-help=1"} {
			if strings.HasPrefix(arg, flag) {
				return true
			}
		}
	}
	return false
}

// LLVMFuzzerTestOneInput runs one input.
//
//export LLVMFuzzerTestOneInput
func LLVMFuzzerTestOneInput(p *C.char, n C.size_t) C.int {
	if !signals {
		signals = true
		C.use_signal_stacks()
	}
	run(append([]byte(nil), unsafe.Slice((*byte)(unsafe.Pointer(p)), int(n))...))
	return 0
}
