package lying

import (
	"context"
	"net"
	"strings"
	"sync/atomic"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/harness/direct"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// Lie is one planted bug.
type Lie struct {
	Name string
	// Kinds holds the kinds of violation that name the lie.
	Kinds []string
	// Steps holds the sorts of statements in which it shows, or "final state".
	Steps []string
	// Levels are those that a server must have for the lie to be one.
	Levels []corpus.Level
	// Not is the family that the lie cannot be told of.
	Not history.DBMS
	// Form is the form of statement in which alone it is told, empty for any.
	Form string
	// Transactions is how many must be open for the lie to be told, if more than two.
	Transactions int
	// Stronger says that the level served takes more locks than the one asked for.
	Stronger bool
	// answer handles one statement of the client; nil passes all on.
	answer func(c *conn, sql string) (answer, error)
	// closing is called when the client has gone, before the server knows; nil: nothing is.
	closing func(c *conn)
}

// Backend is a server seen through a lie.
type Backend struct {
	harness.Wired
	lie Lie
	// told counts the statements that the lie touched.
	told atomic.Int64
	// open counts the connections whose client believes to be in a transaction.
	open atomic.Int64
	// disturbed counts what sessions did that disturbs the others.
	disturbed atomic.Int64
	grave     grave
	// committing counts the COMMITs that are under way, amid the snapshots that began meanwhile.
	committing, amid atomic.Int64
}

// Through returns a backend whose connections pass through a lie; closing it
// closes the backend behind it. Lies are told in MySQL's protocol.
func Through(b harness.Backend, l Lie) *Backend {
	w, err := harness.WiredOf(b)
	if err != nil {
		panic(err)
	}
	return &Backend{Wired: w, lie: l}
}

// Told returns how many statements the lie has changed so far.
func (b *Backend) Told() int64 { return b.told.Load() }

// Dial implements harness.Wired.
func (b *Backend) Dial(ctx context.Context) (net.Conn, error) {
	server, err := b.Wired.Dial(ctx)
	if err != nil {
		return nil, err
	}
	near, far := net.Pipe()
	c := &conn{b: b, client: far, server: direct.Indirect(server)}
	go c.serve()
	return near, nil
}

// conn is one proxied connection.
type conn struct {
	b              *Backend
	client, server net.Conn
	// inTrans is what the client believes.
	inTrans bool
	// early says that a transaction was begun ahead of the client's BEGIN;
	// late that the client's BEGIN was not passed on yet.
	early, late bool
	// misled says that the level is not the one that the client set.
	misled bool
	// cache holds answers to plain SELECTs of this transaction.
	cache map[string]answer
	level string
	// disturbs is its own part of what the backend counts as disturbed, heeded how much
	// of the others' it has let act on itself.
	disturbs, heeded int64
	// unchecked says that the session's writes are not compared with its snapshot.
	unchecked bool
	// changed says that the transaction did more than plain reads.
	changed bool
	// owed is a killed statement that is yet to take effect.
	owed string
	// number is the server's for the connection, db its database, wrote the table that its open
	// transaction wrote last; ofCase says that it is a session's of a case.
	number    uint64
	db, wrote string
	ofCase    bool
	// other is a connection to another member of the cluster, nil until it is needed; uses is the last USE of the client.
	other net.Conn
	uses  string
}

func (c *conn) serve() {
	defer c.client.Close()
	defer c.server.Close()
	defer func() {
		if c.other != nil {
			_ = c.other.Close()
		}
	}()
	defer c.setInTrans(false)
	if relayHandshake(c.client, c.server) != nil {
		return
	}
	for {
		p, err := readPacket(c.client)
		if err != nil {
			if c.b.lie.closing != nil {
				c.b.lie.closing(c)
			}
			return
		}
		a, err := c.command(p)
		if err != nil {
			return
		}
		for _, p := range a {
			if writePacket(c.client, p) != nil {
				return
			}
		}
	}
}

func (c *conn) command(p packet) (answer, error) {
	if len(p.body) == 0 || p.body[0] != comQuery {
		if err := writePacket(c.server, p); err != nil || p.body[0] == comQuit {
			return nil, net.ErrClosed
		}
		return readAnswer(c.server)
	}
	sql := string(p.body[1:])
	a, err := c.lie(sql)
	if err != nil {
		return nil, err
	}
	switch first := verb(sql); {
	case first == "BEGIN" || first == "START":
		c.setInTrans(a.isOK())
	case first == "COMMIT", first == "ROLLBACK" && !strings.Contains(strings.ToUpper(sql), " TO "):
		c.setInTrans(false)
		c.cache = nil
	case first == "SET" && strings.Contains(strings.ToUpper(sql), "ISOLATION LEVEL"):
		c.level = levelIn(sql)
	}
	return a, nil
}

func (c *conn) lie(sql string) (answer, error) {
	// Several statements at once are the harness's own, between cases.
	if c.b.lie.answer == nil || strings.Contains(strings.TrimRight(sql, "; "), ";") {
		return c.ask(sql)
	}
	return c.b.lie.answer(c, sql)
}

func (c *conn) setInTrans(in bool) {
	switch {
	case in && !c.inTrans:
		c.b.open.Add(1)
	case !in && c.inTrans:
		c.b.open.Add(-1)
	}
	c.inTrans = in
}

// others is how many other sessions are in a transaction.
func (c *conn) others() int64 {
	n := c.b.open.Load()
	if c.inTrans {
		n--
	}
	return n
}

// tell marks that the lie changed something.
func (c *conn) tell() { c.b.told.Add(1) }

// ask sends a statement to the server and reads the answer.
func (c *conn) ask(sql string) (answer, error) {
	if err := writePacket(c.server, packet{0, append([]byte{comQuery}, sql...)}); err != nil {
		return nil, err
	}
	return readAnswer(c.server)
}

func verb(sql string) string {
	if rest, ok := strings.CutPrefix(sql, "/*"); ok { // what a raw statement touches
		_, sql, _ = strings.Cut(rest, "*/")
	}
	f := strings.Fields(sql)
	if len(f) == 0 {
		return ""
	}
	return strings.ToUpper(strings.TrimSuffix(f[0], ";"))
}

func levelIn(sql string) string {
	up := strings.ToUpper(sql)
	for _, l := range []string{"READ UNCOMMITTED", "READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"} {
		if strings.Contains(up, l) {
			return l
		}
	}
	return ""
}
