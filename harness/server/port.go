package server

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strconv"

	"github.com/go-sql-driver/mysql"

	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// portUser is the only user who gets in by TCP.
const portUser = "txnfuzz"

// listening returns the arguments that open a port to this machine. MySQL's
// clients log in over TLS, or with a public key; both are made at the start.
func (in installation) listening(port int) []string {
	args := in.listeningToNodes(port)
	if in.family == history.MySQL {
		args = append(args, "--tls-version=TLSv1.2,TLSv1.3", "--auto-generate-certs=ON")
	}
	return args
}

// listeningToNodes is listening for those who ask for the public key themselves: its certificates take a MySQL seconds.
func (in installation) listeningToNodes(port int) []string {
	args := []string{"--skip-networking=0", "--bind-address=127.0.0.1", "--port=" + strconv.Itoa(port)}
	if in.family == history.MySQL {
		args = append(args, "--caching-sha2-password-auto-generate-rsa-keys=ON")
	}
	return args
}

// welcome writes the statements that the server runs before it listens: they make
// the user of the port, with a password that is drawn, and take away those who would
// get in by the port without one, whom MariaDB's own scripts make.
func welcome(dir string, cfg *mysql.Config, from string) (string, error) {
	text := noPasswords + ";\n" + admission(cfg, from)
	path := filepath.Join(dir, "welcome.sql")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		return "", fmt.Errorf("open %s: %w", cfg.Addr, err)
	}
	return "--init-file=" + path, nil
}

const noPasswords = "DROP USER IF EXISTS 'root'@'127.0.0.1', 'root'@'::1', ''@'localhost'"

// portConfig is how the user of a port gets in, with a password that is drawn.
func portConfig(port int) *mysql.Config {
	cfg := mysql.NewConfig()
	cfg.User, cfg.Passwd, cfg.Net, cfg.Addr = portUser, rand.Text(), "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	return cfg
}

// from are the hosts from which the user of the port comes, as the server spells them.
func (b *private) from() string { return cmp.Or(b.part.from, "127.0.0.1") }

// admission returns the statements that make the user of a port.
func admission(cfg *mysql.Config, from string) string {
	at := fmt.Sprintf("'%s'@'%s'", cfg.User, from)
	return "CREATE USER " + at + " IDENTIFIED BY '" + cfg.Passwd + "';\n" +
		"GRANT ALL ON *.* TO " + at + " WITH GRANT OPTION;\n"
}

var hostName = regexp.MustCompile(`^[A-Za-z0-9.-]+$`)

// onlyOurs fails where anybody else could get in by the port. A user of a host with
// a name cannot, since names are not resolved.
func onlyOurs(ctx context.Context, s *side, from string) error {
	users, err := s.query(ctx, "SELECT user, host FROM mysql.user WHERE host <> 'localhost'")
	if err != nil {
		return fmt.Errorf("open a port: list the users: %w", err)
	}
	found := false
	for _, u := range users {
		if hostName.Match(u[1]) && net.ParseIP(string(u[1])) == nil {
			continue
		}
		if string(u[0]) != portUser || string(u[1]) != from {
			return fmt.Errorf("open a port: user %s@%s could get in, too", u[0], u[1])
		}
		found = true
	}
	if !found {
		return errors.New("open a port: the server has not made its user")
	}
	return nil
}

// TCP returns how other clients reach the server, nil if they do not.
func (b *private) TCP() *mysql.Config {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.current.tcp == nil {
		return nil
	}
	return b.current.tcp.Clone()
}
