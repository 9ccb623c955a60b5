//go:build !notidb

package embedded

import (
	"context"
	"crypto/rand"
	"database/sql"
	"fmt"
	"net"
	"strconv"

	"github.com/go-sql-driver/mysql"
)

// admit makes the one user who gets in by the port, with a password that is drawn;
// root, who has none, keeps to the socket, whose clients are those of localhost.
func (in *instance) admit(ctx context.Context, db *sql.DB) error {
	if in.port == 0 {
		return nil
	}
	cfg := mysql.NewConfig()
	cfg.User, cfg.Passwd, cfg.Net, cfg.Addr = "txnfuzz", rand.Text(), "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(in.port))
	for _, q := range []string{
		"RENAME USER 'root'@'%' TO 'root'@'localhost'",
		"CREATE USER 'txnfuzz'@'127.0.0.1' IDENTIFIED BY '" + cfg.Passwd + "'",
		"GRANT ALL PRIVILEGES ON *.* TO 'txnfuzz'@'127.0.0.1' WITH GRANT OPTION",
	} {
		if _, err := db.ExecContext(ctx, q); err != nil {
			return fmt.Errorf("open port %d: make its user: %w", in.port, err)
		}
	}
	in.tcp = cfg
	return nil
}

// TCP returns how other clients reach the server, nil if they do not.
func (in *instance) TCP() *mysql.Config {
	if in.tcp == nil {
		return nil
	}
	return in.tcp.Clone()
}
