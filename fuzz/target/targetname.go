package target

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/txnfuzz/txnfuzz/corpus/spelling"
	"github.com/txnfuzz/txnfuzz/harness"
)

// Error says that a target cannot be one.
type Error struct {
	Msg string // what is wrong with its name
}

func (e *Error) Error() string { return e.Msg }

// Check tells a wrong name from a server that cannot be reached.
func Check(name string) error {
	if IsDSN(name) {
		if ofSeveral.MatchString(name) {
			return &Error{"replica=, standby=, nodes= and group= are for servers that txnfuzz starts itself, such as " +
				"mysql:9.7,replica=row: the server of a DSN and its replicas are left as they are; txnfuzz load --node names these"}
		}
		if harness.IsPostgresDSN(name) {
			if _, err := pgconn.ParseConfig(name); err != nil {
				return &Error{"malformed DSN: want postgres://user:pass@host:port/database, as libpq takes it"}
			}
			return nil
		}
		if _, err := mysql.ParseDSN(name); err != nil {
			// The driver's message may quote the password.
			return &Error{"malformed DSN: want user:pass@tcp(host:port)/ or user:pass@unix(/path)/"}
		}
		return nil
	}
	family, _, _ := strings.Cut(name, ",")
	family, _, _ = strings.Cut(family, ":")
	known := harness.Targets()
	switch {
	case slices.Contains(known, family) && family != harness.DSN:
		return nil
	case family == Default:
		return &Error{"this txnfuzz was built without the embedded TiDB (build tag notidb); give another target"}
	}
	known = slices.DeleteFunc(known, func(n string) bool { return n == harness.DSN })
	return &Error{fmt.Sprintf("unknown target %q%s; want one of %s, or a DSN such as user:pass@tcp(host:3306)/ or postgres://user:pass@host:5432/", Redact(name), meantTarget(name, known), strings.Join(known, ", "))}
}

var targetPattern = regexp.MustCompile(`^([A-Za-z]+)[^A-Za-z,]*?([0-9][^,]*)?(,.*)?$`)

// meantTarget is the end of a message on a name that is not a target's.
func meantTarget(name string, known []string) string {
	m := targetPattern.FindStringSubmatch(name)
	if m == nil || strings.Contains(name, "@") { // what may hold a password is not quoted
		return ""
	}
	family := spelling.Nearest(m[1], append(slices.Clone(known), Default))
	switch {
	case family == "":
		return ""
	case m[2] != "":
		family += ":" + m[2]
	}
	return fmt.Sprintf(" (did you mean %q?)", family+m[3])
}

// IsDSN tells a data source name from a name: only the former has a '/'.
func IsDSN(target string) bool { return strings.Contains(target, "/") }

// OnCommandLine returns the options, for a shell, with which a command runs against the same target as this process:
// a private server may be a build of the user's own.
func OnCommandLine(target string) string {
	option := fmt.Sprintf("--target '%s'", target)
	if build := os.Getenv(harness.EnvBinary); build != "" && target != Default && !IsDSN(target) {
		return fmt.Sprintf("--binary '%s' %s", build, option)
	}
	return option
}

// openError tells a wrong name from a server that cannot be had.
func openError(err error) error {
	var name *harness.NameError
	if errors.As(err, &name) {
		return &Error{err.Error()}
	}
	return err
}

// Redact hides the password of a target that is a data source name.
func Redact(target string) string {
	if !strings.ContainsAny(target, "@/") {
		return target
	}
	if harness.IsPostgresDSN(target) {
		if u, err := url.Parse(target); err == nil && !u.Query().Has("password") && u.Fragment == "" {
			return u.Redacted()
		}
		_, host, ok := strings.Cut(strings.SplitN(target, "?", 2)[0], "@")
		if !ok || strings.ContainsAny(host, "@#") { // nobody can tell where the password ends
			return "postgres://***"
		}
		return "postgres://***@" + host
	}
	cfg, err := mysql.ParseDSN(target)
	if err != nil {
		// Not even the driver can tell where the password ends.
		if at := strings.LastIndexByte(target, '@'); at >= 0 {
			return "***" + target[at:]
		}
		return target
	}
	if cfg.Passwd == "" {
		return target
	}
	return strings.Replace(target, ":"+cfg.Passwd+"@", ":***@", 1)
}
