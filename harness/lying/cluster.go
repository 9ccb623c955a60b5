package lying

import (
	"context"
	"fmt"
	"net"

	"github.com/go-sql-driver/mysql"

	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/harness/direct"
)

// Lies about clusters, told by one of the members, or by what stands before it. Like those about replication they are not
// among the Lies.

// Uncertified is a member that acknowledges each COMMIT, whatever comes of its certification against those of the others.
func Uncertified() Lie {
	return Lie{Name: "acknowledged-before-certified", answer: func(c *conn, sql string) (answer, error) {
		a, err := c.ask(sql)
		if err != nil || verb(sql) != "COMMIT" || !a.isErr() {
			return a, err
		}
		c.tell()
		return okPacket(false), nil
	}}
}

// Wandering is a proxy that sends one in every statements amid transactions to another member.
func Wandering(other harness.Wired, every int64) Lie {
	return Lie{Name: "session-sent-to-another-member", answer: func(c *conn, sql string) (answer, error) {
		switch v := verb(sql); {
		case v == "USE":
			c.uses = sql
			if c.other != nil {
				if _, err := c.elsewhere(sql); err != nil {
					return nil, err
				}
			}
		case !c.inTrans || v == "COMMIT" || v == "ROLLBACK" || v == "SET" || c.b.amid.Add(1)%every != 0:
		default:
			if c.other == nil {
				if err := c.reach(other); err != nil {
					return nil, err
				}
			}
			c.tell()
			return c.elsewhere(sql)
		}
		return c.ask(sql)
	}}
}

// elsewhere asks the other member.
func (c *conn) elsewhere(sql string) (answer, error) {
	c.server, c.other = c.other, c.server
	defer func() { c.server, c.other = c.other, c.server }()
	return c.ask(sql)
}

// reach connects to another member and makes the client's database that of the connection. A driver does the handshake,
// and has no part in what comes behind it.
func (c *conn) reach(other harness.Wired) error {
	ctx := context.Background()
	server, err := other.Dial(ctx)
	if err != nil {
		return fmt.Errorf("connect to another member: %w", err)
	}
	c.other = direct.Indirect(server)
	near, far := net.Pipe()
	defer far.Close()
	cfg := other.Config()
	cfg.DialFunc = func(context.Context, string, string) (net.Conn, error) { return near, nil }
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		return fmt.Errorf("connect to another member: %w", err)
	}
	relayed := make(chan error, 1)
	go func() { relayed <- relayHandshake(far, c.other) }()
	if _, err := connector.Connect(ctx); err != nil {
		return fmt.Errorf("connect to another member: %w", err)
	}
	if err := <-relayed; err != nil {
		return err
	}
	if c.uses != "" {
		_, err = c.elsewhere(c.uses)
	}
	return err
}
