package server

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"sort"
)

// postgres is how the programs of PostgreSQL are found.
type postgres struct{}

// packaged are where the packages of distributions put programs that the PATH does not lead to.
var packaged = []string{"/usr/lib/postgresql/*/bin/postgres", "/usr/pgsql-*/bin/postgres"}

func (postgres) programs() []string {
	var found []string
	for _, pattern := range packaged {
		paths, _ := filepath.Glob(pattern)
		found = append(found, paths...)
	}
	number := regexp.MustCompile(`[0-9.]+`)
	sort.SliceStable(found, func(i, j int) bool {
		return newer(number.FindString(found[i]), number.FindString(found[j]))
	})
	return append([]string{"postgres"}, found...)
}

func (postgres) place() string { return filepath.Join("bin", "postgres") }

func (postgres) unpacked(in *installation, root string) error {
	in.command, in.prefix = []string{in.binary}, root
	return in.complete()
}

var postgresVersion = regexp.MustCompile(`^postgres \(PostgreSQL\) (\S+)`)

func (postgres) version() ([]string, *regexp.Regexp) { return []string{"--version"}, postgresVersion }

func (postgres) made(string) bool { return true }

// initdb is the program that makes a data directory; it finds the server beside itself.
func (in installation) initdb() string { return filepath.Join(filepath.Dir(in.binary), "initdb") }

// complete fails where a PostgreSQL cannot make a data directory.
func (in installation) complete() error {
	if _, err := os.Stat(in.initdb()); errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("no initdb lies beside %s; a build is complete once it is installed", in.binary)
	} else if err != nil {
		return err
	}
	return nil
}
