//go:build libfuzzer

// Command libfuzzer holds the fuzz targets in the form of libFuzzer: an archive
// that clang links with -fsanitize=fuzzer (scripts/libfuzzer). Which target a
// binary runs is the name of its file: fuzz_parse, fuzz_generate, fuzz_txn_pair.
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
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"unsafe"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/mutate"
)

// targets maps the name of a binary to what makes ready and what runs an input.
var targets = map[string]func() (run func(data []byte), err error){
	"fuzz_parse":    func() (func([]byte), error) { return parse, nil },
	"fuzz_generate": func() (func([]byte), error) { return generate, nil },
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

// parse reads a text as a case, prints it, and reads it again.
func parse(text []byte) {
	if c, err := corpus.Parse("input", text); err == nil {
		sameAgain(c)
	}
}

// generate makes cases of bytes, twice.
func generate(data []byte) {
	first, second := mutate.FromInput(data, nil, mutate.Options{Tables: 2}), mutate.FromInput(data, nil, mutate.Options{Tables: 2})
	for i, c := range first {
		if !bytes.Equal(corpus.Print(c, corpus.Text), corpus.Print(second[i], corpus.Text)) {
			panic(fmt.Sprintf("case %d is another one the second time:\n%s", i, corpus.Print(c, corpus.Text)))
		}
		sameAgain(c)
	}
}

func sameAgain(c *corpus.Case) {
	text := corpus.Print(c, corpus.Text)
	if err := c.Validate(); err != nil {
		panic(fmt.Sprintf("%v\n%s", err, text))
	}
	back, err := corpus.Parse("printed", text)
	if err != nil {
		panic(fmt.Sprintf("%v\n%s", err, text))
	}
	if !back.Equal(c) {
		panic(fmt.Sprintf("read back as another one:\n%s", text))
	}
}
