package lying

import (
	"context"
	"database/sql/driver"
	"encoding/binary"
	"errors"
	"net"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/txnfuzz/txnfuzz/harness/direct"
)

// Lies about the ends of sessions and of statements. They show in cases with KILL and disconnect
// only, so they are not among the Lies.
var (
	// KeepsKilled does what a killed statement was to do, once nobody stands in its way.
	KeepsKilled = Lie{Name: "killed-statement-takes-effect", answer: keepsKilled}
	// KeepsDeadLocks lets a session that is killed or disconnected leave its locks behind.
	KeepsDeadLocks = Lie{Name: "dead-session-keeps-its-locks", answer: keepsDeadLocks, closing: haunt}
	// DiesOfKill lets the server die of a KILL of a session that is in a transaction.
	DiesOfKill = Lie{Name: "server-dies-of-kill", answer: diesOfKill}
)

var killed = regexp.MustCompile(`^KILL (QUERY )?([0-9]+)$`)

const errInterrupted = 1317

func keepsKilled(c *conn, sql string) (answer, error) {
	if c.owed != "" && c.others() == 0 {
		owed := c.owed
		c.owed = ""
		c.tell()
		if _, err := c.ask(owed); err != nil {
			return nil, err
		}
	}
	a, err := c.ask(sql)
	if v := verb(sql); err == nil && a.isErr() && binary.LittleEndian.Uint16(a[0].body[1:]) == errInterrupted && (v == "UPDATE" || v == "DELETE" || v == "INSERT") {
		c.owed = sql
	}
	return a, err
}

// grave is what is left of dead sessions: a connection that has locked what they wrote.
type grave struct {
	mu    sync.Mutex
	conns map[uint64]*conn // by the server's number
	ghost driver.Conn
}

var writesTable = regexp.MustCompile("(?i)^(?:UPDATE|DELETE FROM|INSERT INTO|REPLACE INTO) ([a-z0-9_`]+)")

func keepsDeadLocks(c *conn, sql string) (answer, error) {
	g := &c.b.grave
	m := killed.FindStringSubmatch(sql)
	switch {
	case m != nil && m[1] == "":
		id, _ := strconv.ParseUint(m[2], 10, 64)
		g.mu.Lock()
		victim := g.conns[id]
		g.mu.Unlock()
		if victim != nil && victim.number != c.number {
			haunt(victim)
		}
	case !c.ofCase && m == nil && sql != "SELECT 1" && !strings.Contains(sql, "CONNECTION_ID"):
		g.rest() // the case is over
	}
	a, err := c.ask(sql)
	switch w := writesTable.FindStringSubmatch(sql); {
	case err != nil:
	case sql == "SELECT CONNECTION_ID()":
		c.number = firstNumber(a)
		g.mu.Lock()
		if g.conns == nil {
			g.conns = map[uint64]*conn{}
		}
		g.conns[c.number] = c
		g.mu.Unlock()
	case strings.HasPrefix(sql, "USE "):
		c.db = sql[len("USE "):]
	case strings.HasPrefix(sql, "SET SESSION TRANSACTION"):
		c.ofCase = true
	case w != nil && c.inTrans && a.isOK():
		c.wrote = w[1]
	case !c.inTrans || verb(sql) == "COMMIT" || verb(sql) == "ROLLBACK":
		c.wrote = ""
	}
	return a, err
}

// firstNumber reads the one value of an answer with one row and one column.
func firstNumber(a answer) uint64 {
	if len(a) < 4 || len(a[3].body) < 2 {
		return 0
	}
	n, _ := strconv.ParseUint(string(a[3].body[1:]), 10, 64)
	return n
}

// haunt has a ghost wait for the locks of a session that is about to end.
func haunt(c *conn) {
	g := &c.b.grave
	g.mu.Lock()
	defer g.mu.Unlock()
	if !c.inTrans || c.wrote == "" || g.ghost != nil {
		return
	}
	ghost, err := c.b.connect()
	if err != nil {
		return
	}
	exec := ghost.(driver.ExecerContext)
	for _, sql := range []string{"USE " + c.db, "BEGIN"} {
		if _, err := exec.ExecContext(context.Background(), sql, nil); err != nil {
			_ = ghost.Close()
			return
		}
	}
	g.ghost = ghost
	c.tell()
	go func() { _, _ = exec.ExecContext(context.Background(), "SELECT * FROM "+c.wrote+" FOR UPDATE", nil) }()
	time.Sleep(queued)
}

// queued is enough for a request of the ghost to reach the lock that it waits for. Nobody but the server
// could tell, whom each planted server asks in another way; where it is too short the lie is not told in
// that case.
const queued = 5 * time.Millisecond

func (g *grave) rest() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.ghost != nil {
		_ = g.ghost.Close()
		g.ghost = nil
	}
}

// connect opens a connection that no client knows of.
func (b *Backend) connect() (driver.Conn, error) {
	cfg := b.Config()
	cfg.DBName, cfg.Logger = "", &mysql.NopLogger{}
	cfg.DialFunc = func(ctx context.Context, _, _ string) (net.Conn, error) {
		c, err := b.Wired.Dial(ctx)
		if err != nil {
			return nil, err
		}
		return direct.Indirect(c), nil
	}
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		return nil, err
	}
	return connector.Connect(context.Background())
}

// diesOfKill needs a server that is ours to kill.
func diesOfKill(c *conn, sql string) (answer, error) {
	crasher, ok := c.b.Wired.(interface{ Kill() error })
	if ok && c.ofCase && killed.MatchString(sql) && c.others() > 0 {
		c.tell()
		if err := crasher.Kill(); err != nil {
			return nil, err
		}
	}
	if strings.HasPrefix(sql, "SET SESSION TRANSACTION") {
		c.ofCase = true
	}
	return c.ask(sql)
}

// Restart replaces the server, if it can be.
func (b *Backend) Restart(ctx context.Context) error {
	r, ok := b.Wired.(interface{ Restart(context.Context) error })
	if !ok {
		return errors.New("the server cannot be restarted")
	}
	return r.Restart(ctx)
}
