//go:build !notidb

package embedded

import (
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"strconv"

	"github.com/go-sql-driver/mysql"
	"github.com/pingcap/tidb/pkg/kv"
	"github.com/pingcap/tidb/pkg/session"
)

// admit makes the user who gets in by the port, with a password that is drawn. root
// gets the same: to TiDB a client of 127.0.0.1 is one of localhost, as those of the
// socket are, so that root without a password would get in by the port, too.
func (in *instance) admit(ctx context.Context) error {
	if in.port == 0 {
		return nil
	}
	cfg := mysql.NewConfig()
	cfg.User, cfg.Passwd, cfg.Net, cfg.Addr = "txnfuzz", rand.Text(), "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(in.port))
	s, err := session.CreateSession(in.store)
	if err != nil {
		return fmt.Errorf("open port %d: %w", in.port, err)
	}
	defer s.Close()
	ctx = kv.WithInternalSourceType(ctx, kv.InternalTxnPrivilege)
	for _, q := range []string{
		"ALTER USER 'root'@'%' IDENTIFIED BY '" + cfg.Passwd + "'",
		"CREATE USER 'txnfuzz'@'127.0.0.1' IDENTIFIED BY '" + cfg.Passwd + "'",
		"GRANT ALL PRIVILEGES ON *.* TO 'txnfuzz'@'127.0.0.1' WITH GRANT OPTION",
	} {
		if _, err := s.ExecuteInternal(ctx, q); err != nil {
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
