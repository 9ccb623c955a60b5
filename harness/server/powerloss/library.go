package powerloss

import (
	"context"
	"crypto/sha256"
	_ "embed" // the library's source
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/txnfuzz/txnfuzz/corpus/wholefile"
)

//go:embed preload/journal.c
var source string

// No start files and no library: what is made runs with the C library of each server.
var flags = []string{
	"-O2", "-std=gnu11", "-fPIC", "-shared", "-nostdlib", "-fno-stack-protector", "-fno-builtin", "-Wl,-z,now", "-x", "c", "-",
}

var errNoCompiler = errors.New("a power loss is simulated by a library in C, and there is no C compiler: install one " +
	"(Debian: apt-get install gcc libc6-dev), or name one in CC")

// compiler returns the program that CC names, or else the system's.
func compiler() (string, error) {
	if cc := os.Getenv("CC"); cc != "" {
		path, err := exec.LookPath(cc)
		if err != nil {
			return "", fmt.Errorf("the C compiler that CC names: %w", err)
		}
		return path, nil
	}
	for _, name := range []string{"cc", "gcc", "clang"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errNoCompiler
}

// Library returns the path of the library to preload, below a folder where it is kept; it is compiled on first use.
func Library(ctx context.Context, cache string) (string, error) {
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		return "", fmt.Errorf("a power loss can be simulated on Linux on x86-64 only, not on %s on %s", runtime.GOOS, runtime.GOARCH)
	}
	sum := sha256.Sum256([]byte(source + strings.Join(flags, " ")))
	path := filepath.Join(cache, "powerloss-"+hex.EncodeToString(sum[:8])+".so")
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	cc, err := compiler()
	if err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp("", "txnfuzz-powerloss-")
	if err != nil {
		return "", fmt.Errorf("compile the library for power losses: %w", err)
	}
	defer os.RemoveAll(dir)
	made := filepath.Join(dir, "library.so")
	cmd := exec.CommandContext(ctx, cc, append([]string{"-o", made}, flags...)...)
	cmd.Stdin = strings.NewReader(source)
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("compile the library for power losses with %s: %w\n%s", cc, err, out)
	}
	text, err := os.ReadFile(made)
	if err == nil {
		err = os.MkdirAll(cache, 0o755)
	}
	if err == nil {
		err = wholefile.Write(path, text)
	}
	if err != nil {
		return "", fmt.Errorf("keep the library for power losses: %w", err)
	}
	return path, nil
}
