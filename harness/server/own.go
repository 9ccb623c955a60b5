package server

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// OwnBinary checks a server program that the user has built, and returns its
// target and the value of harness.EnvBinary that makes it the one which private targets of
// that name start. The error is a *harness.NameError where the text is wrong.
func OwnBinary(ctx context.Context, text string) (target, value string, err error) {
	in, err := ownBuild(ctx, text)
	if err != nil {
		return "", "", err
	}
	value = in.binary
	for _, dir := range [][2]string{{"base", in.prefix}, {"share", in.share}, {"plugins", in.plugins}} {
		if dir[1] != "" {
			value += "," + dir[0] + "=" + dir[1]
		}
	}
	return nameOf(in.family), value, nil
}

// ownBuild reads the text and finds what it leaves out: beside an installed
// program, or in the tree that it was built in.
func ownBuild(ctx context.Context, text string) (installation, error) {
	wrong := func(format string, args ...any) (installation, error) {
		return installation{}, &harness.NameError{Err: fmt.Errorf("server program "+format, args...)}
	}
	parts := strings.Split(text, ",")
	given := map[string]string{}
	for _, p := range parts[1:] {
		key, dir, ok := strings.Cut(p, "=")
		if !ok || key != "base" && key != "share" && key != "plugins" {
			return wrong("%s: want PATH[,base=DIR][,share=DIR][,plugins=DIR], found %q", parts[0], p)
		}
		if dir == "" {
			continue
		}
		abs, err := filepath.Abs(dir)
		if err != nil {
			return wrong("%s: %w", parts[0], err)
		}
		if info, err := os.Stat(abs); err != nil || !info.IsDir() {
			return wrong("%s: %s=%s is no folder", parts[0], key, dir)
		}
		given[key] = abs
	}
	binary, err := filepath.Abs(parts[0])
	if err != nil {
		return wrong("%s: %w", parts[0], err)
	}
	if binary, err = filepath.EvalSymlinks(binary); err != nil {
		return wrong("%s: %w", parts[0], err)
	}
	if info, err := os.Stat(binary); err != nil || info.IsDir() || info.Mode()&0o111 == 0 {
		return wrong("%s: is no program that can be run; want the path of mysqld, mariadbd, tidb-server or postgres", parts[0])
	}
	in := installation{binary: binary, command: commandOf(binary), own: true}
	if err := in.recognize(ctx); err != nil {
		return installation{}, &harness.NameError{Err: err}
	}
	if in.family == history.TiDB {
		if len(given) > 0 {
			return wrong("%s: a TiDB has no such folders", text)
		}
		return in, nil
	}
	if in.family == history.PostgreSQL {
		if len(given) > 0 {
			return wrong("%s: PostgreSQL finds its folders by itself", text)
		}
		if err := in.complete(); err != nil {
			return wrong("%s: %w", text, err)
		}
		return in, nil
	}
	dirs := lookAround(binary)
	in.prefix = firstOr(given["base"], dirs.base)
	in.share = firstOr(given["share"], shareOf(in.prefix), dirs.share)
	in.charsets = dirs.charsets
	if given["share"] != "" || in.charsets == "" {
		in.charsets = filepath.Join(in.share, "charsets")
	}
	in.scripts = append([]string{in.share}, dirs.scripts...)
	in.plugins = firstOr(given["plugins"], dirs.plugins)
	if in.share == "" {
		return wrong("%s: finds no folder with its error messages; name it: %s,share=DIR", parts[0], parts[0])
	}
	return in, nil
}

// commandOf returns how a program is started: one in a tree that a package was unpacked into, as scripts/servers does
// it, with the tree's own dynamic linker and libraries.
func commandOf(binary string) []string {
	root, ok := strings.CutSuffix(filepath.Dir(binary), "/usr/sbin")
	if !ok || root == "" {
		return []string{binary}
	}
	loader, libs, err := loaderOf(root)
	if err != nil {
		return []string{binary}
	}
	return withLoader(loader, libs, binary)
}

// recognize asks a program for its version in the way of each family.
func (in *installation) recognize(ctx context.Context) error {
	var first error
	for _, family := range []history.DBMS{history.MySQL, history.TiDB, history.PostgreSQL} {
		in.family = family
		version, err := in.askVersion(ctx)
		if err == nil {
			in.version = version
			if family == history.MySQL && !kinOf(family).made(version) {
				in.family = history.MariaDB
			}
			return nil
		}
		if first == nil {
			first = err
		}
	}
	return first
}

func firstOr(choices ...string) string {
	for _, c := range choices {
		if c != "" {
			return c
		}
	}
	return ""
}

// around is what lies beside a server program.
type around struct {
	base, share, charsets, plugins string
	// scripts are folders that may hold the scripts for system tables.
	scripts []string
}

// lookAround finds the folders of a server program: an installed one has them
// below the folder above its own; one in a build tree has the generated half of
// them there and the rest in the sources, which CMake's cache names.
func lookAround(binary string) around {
	up := filepath.Dir(filepath.Dir(binary))
	a := around{base: up}
	for dir := filepath.Dir(binary); dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		source := sourceOf(filepath.Join(dir, "CMakeCache.txt"))
		if source == "" {
			continue
		}
		a.base = dir
		a.share = firstDir("english/errmsg.sys", filepath.Join(dir, "sql", "share"), filepath.Join(dir, "share"), filepath.Join(dir, "runtime_output_directory", "..", "share"))
		a.charsets = firstDir("Index.xml", filepath.Join(source, "sql", "share", "charsets"), filepath.Join(source, "share", "charsets"))
		a.plugins = firstDir("", filepath.Join(dir, "plugin_output_directory"), filepath.Join(dir, "mysql-test", "var", "plugins"))
		a.scripts = []string{filepath.Join(dir, "scripts"), filepath.Join(source, "scripts")}
		return a
	}
	// A tarball has share/english, a distribution's package share/mysql/english.
	a.share = firstDir("charsets", filepath.Join(up, "share", "mariadb"), filepath.Join(up, "share", "mysql"), filepath.Join(up, "share"))
	a.plugins = firstDir("", filepath.Join(up, "lib", "mysql", "plugin"), filepath.Join(up, "lib64", "mysql", "plugin"), filepath.Join(up, "lib", "plugin"), filepath.Join(up, "lib64", "plugin"))
	a.scripts = []string{filepath.Join(up, "scripts"), filepath.Join(up, "share")}
	return a
}

// sourceOf reads from CMake's cache where the sources of a build tree are.
// https://cmake.org/cmake/help/latest/variable/CMAKE_HOME_DIRECTORY.html
func sourceOf(cache string) string {
	f, err := os.Open(cache)
	if err != nil {
		return ""
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if dir, ok := strings.CutPrefix(lines.Text(), "CMAKE_HOME_DIRECTORY:INTERNAL="); ok {
			return dir
		}
	}
	return ""
}

// firstDir returns the first folder that is there and has a file in it.
func firstDir(file string, dirs ...string) string {
	for _, d := range dirs {
		if _, err := os.Stat(filepath.Join(d, file)); !errors.Is(err, fs.ErrNotExist) && err == nil {
			return d
		}
	}
	return ""
}

// findOwn returns the build that harness.EnvBinary names, if a spec asks for its family.
func findOwn(ctx context.Context, s spec) (in installation, ok bool, err error) {
	text := os.Getenv(harness.EnvBinary)
	if text == "" || s.released {
		return installation{}, false, nil
	}
	if in, err = ownBuild(ctx, text); err != nil {
		return installation{}, false, err
	}
	switch {
	case in.family != s.family:
		return installation{}, false, &harness.NameError{Err: fmt.Errorf("%s is %s %s, no %s", in.binary, nameOf(in.family), in.version, nameOf(s.family))}
	case s.version != "" && s.version != in.version && !strings.HasPrefix(in.version, s.version+"."):
		return installation{}, false, &harness.NameError{Err: fmt.Errorf("%s is version %s, not %s", in.binary, in.version, s.version)}
	}
	return in, true, nil
}
