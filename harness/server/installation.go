package server

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// releases are the servers that scripts/servers installs, newest first.
var releases = []struct {
	family  history.DBMS
	version string
}{
	{history.MySQL, "9.7"},
	{history.MariaDB, "11.8"},
	{history.MariaDB, "10.11"},
	{history.MariaDB, "10.5"},
	{history.TiDB, "2025-11"},
	{history.TiDB, "2024-07"},
	{history.PostgreSQL, "18"},
	{history.PostgreSQL, "17"},
	{history.PostgreSQL, "16"},
	{history.PostgreSQL, "15"},
	{history.PostgreSQL, "14"},
	{history.PostgreSQL, "13"},
	{history.PostgreSQL, "12"},
	{history.PostgreSQL, "11"},
	{history.PostgreSQL, "10"},
}

// minors are older minor versions that scripts/servers installs, too, newest first: no family's name and no release
// stands for one of them.
var minors = map[history.DBMS][]string{
	history.MariaDB: {"11.8.6", "11.8.3", "10.11.14"},
	history.PostgreSQL: {
		"18.3", "18.1", "17.6", "17.0", "16.1", "15.10", "15.5", "15.3", "15.1", "14.3", "13.10", "12.14", "10.20",
	},
}

// isMinor says that a spec asks for one of them.
func (s spec) isMinor() bool { return slices.Contains(minors[s.family], s.version) }

// installation is a server program that can be started.
type installation struct {
	family  history.DBMS
	name    string   // "mariadb:11.8"; empty for the one on the PATH
	version string   // as the program prints it, for example "11.8.9-MariaDB-4"
	binary  string   // path of the program
	command []string // the program with the private loader before it, if any
	prefix  string   // the folder that holds share, lib and bin
	share   string   // folder of error messages and charsets; empty: as built in
	plugins string   // folder of plugins; empty: as built in
	// Of a build of the user's own, and empty for others:
	own      bool
	charsets string   // folder of character sets
	scripts  []string // folders that may hold the scripts for system tables
}

// cacheFolder is where servers and their templates are kept.
func cacheFolder() (string, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find the cache folder: %w", err)
	}
	return filepath.Join(dir, "txnfuzz"), nil
}

// unpacked describes a server that scripts/servers put below the cache folder.
// The error wraps os.ErrNotExist if it is not there.
func unpacked(ctx context.Context, family history.DBMS, version string) (installation, error) {
	cache, err := cacheFolder()
	if err != nil {
		return installation{}, err
	}
	root := filepath.Join(cache, "servers", nameOf(family)+"-"+version)
	in := installation{family: family, name: nameOf(family) + ":" + version}
	in.binary = filepath.Join(root, programOf(family).place())
	if _, err := os.Stat(in.binary); err != nil {
		return installation{}, fmt.Errorf("%s is not installed (scripts/servers %s installs it): %w", in.name, in.name, err)
	}
	if err := programOf(family).unpacked(&in, root); err != nil {
		return installation{}, fmt.Errorf("%s in %s: %w", in.name, root, err)
	}
	in.version, err = in.askVersion(ctx)
	return in, err
}

// loaderOf finds the dynamic linker of an unpacked root and the folders that it
// is to search, joined by colons.
func loaderOf(root string) (loader, libs string, err error) {
	for _, lib := range []string{"usr/lib", "lib"} {
		found, _ := filepath.Glob(filepath.Join(root, lib, "*-linux-gnu*", "ld-linux*.so.?"))
		if len(found) == 0 {
			continue
		}
		triplet := filepath.Base(filepath.Dir(found[0]))
		return found[0], strings.Join([]string{
			filepath.Join(root, "usr/lib", triplet), filepath.Join(root, "lib", triplet), filepath.Join(root, "usr/lib/mysql/private"),
		}, ":"), nil
	}
	return "", "", errors.New("no dynamic linker in it; install it again with --force")
}

// withLoader is the command that runs a program by a dynamic linker that is not the system's.
func withLoader(loader, libs, binary string) []string {
	return []string{loader, "--library-path", libs, binary}
}

// shareOf returns the folder with the error messages below prefix, or "".
func shareOf(prefix string) string {
	for _, name := range []string{"mariadb", "mysql"} {
		dir := filepath.Join(prefix, "share", name)
		if _, err := os.Stat(filepath.Join(dir, "charsets")); err == nil {
			return dir
		}
	}
	return ""
}

// onPath describes the server program of a family that the PATH leads to. The
// error wraps exec.ErrNotFound if there is none.
func onPath(ctx context.Context, family history.DBMS) (installation, error) {
	names := programOf(family).programs()
	for _, name := range names {
		found, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		real, err := filepath.EvalSymlinks(found)
		if err != nil {
			return installation{}, fmt.Errorf("follow %s: %w", found, err)
		}
		in := installation{family: family, binary: real, command: []string{real}, prefix: filepath.Dir(filepath.Dir(real))}
		in.share = shareOf(in.prefix)
		if in.version, err = in.askVersion(ctx); err != nil {
			return installation{}, err
		}
		// MariaDB before 10.5 is called mysqld as well.
		if programOf(family).made(in.version) {
			return in, nil
		}
	}
	return installation{}, fmt.Errorf("%s on the PATH: %w", strings.Join(names, " or "), exec.ErrNotFound)
}

// askVersion runs the program, which also proves that its libraries are there.
func (in installation) askVersion(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	ask, text := programOf(in.family).version()
	args := slices.Concat(in.command[1:], ask)
	out, err := exec.CommandContext(ctx, in.command[0], args...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("ask %s for its version: %w: %s", in.binary, err, strings.TrimSpace(string(out)))
	}
	m := text.FindSubmatch(out)
	if m == nil {
		return "", fmt.Errorf("ask %s for its version: no version in %q", in.binary, out)
	}
	return string(m[1]), nil
}

// find returns the installation that a spec asks for: the exact release, or
// the newest of its family, installed or on the PATH.
func find(ctx context.Context, s spec) (installation, error) {
	if in, ok, err := findOwn(ctx, s); ok || err != nil {
		return in, err
	}
	if s.isMinor() {
		if in, err := unpacked(ctx, s.family, s.version); err == nil || !errors.Is(err, os.ErrNotExist) {
			return in, err
		}
	}
	var found []installation
	var broken error
	for _, r := range releases {
		if r.family != s.family || s.version != "" && s.version != r.version {
			continue
		}
		in, err := unpacked(ctx, r.family, r.version)
		switch {
		case err == nil:
			found = append(found, in)
		case !errors.Is(err, os.ErrNotExist):
			broken = err
		}
	}
	path, err := onPath(ctx, s.family)
	if err == nil && (s.version == "" || path.version == s.version || strings.HasPrefix(path.version, s.version+".")) {
		found = append(found, path)
	}
	if len(found) > 0 {
		sort.SliceStable(found, func(i, j int) bool { return newer(found[i].version, found[j].version) })
		return found[0], nil
	}
	if broken != nil {
		return installation{}, broken
	}
	for _, r := range releases {
		if r.family == s.family && (s.version == "" || s.version == r.version) {
			return installation{}, notInstalled(s, r.version)
		}
	}
	if s.isMinor() {
		return installation{}, notInstalled(s, s.version)
	}
	return installation{}, fmt.Errorf("no %s %s is on the PATH, and scripts/servers does not know it (it knows %s)", nameOf(s.family), s.version, knownReleases())
}

// notInstalled says how one comes by a version, of a server that was asked for.
func notInstalled(s spec, version string) error {
	name := nameOf(s.family)
	asked := name + " server"
	if s.version != "" {
		asked = name + " " + s.version
	}
	return fmt.Errorf("no %s is installed: run scripts/servers %s:%s, or put its %s on the PATH",
		asked, name, version, programOf(s.family).programs()[0])
}

func knownReleases() string {
	var names []string
	for _, r := range releases {
		names = append(names, nameOf(r.family)+":"+r.version)
	}
	for _, family := range []history.DBMS{history.MariaDB, history.PostgreSQL} {
		for _, v := range minors[family] {
			names = append(names, nameOf(family)+":"+v)
		}
	}
	return strings.Join(names, ", ")
}

// newer orders versions by their numbers.
func newer(a, b string) bool {
	return newerNumbers(history.VersionNumbers(a), history.VersionNumbers(b))
}

func newerNumbers(x, y [3]int) bool {
	for i := range x {
		if x[i] != y[i] {
			return x[i] > y[i]
		}
	}
	return false
}

// atLeast tells whether a version is not older than the given one.
func atLeast(version, min string) bool { return !newer(min, version) }
