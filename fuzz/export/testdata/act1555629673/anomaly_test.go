// SELECT at READ COMMITTED gives (0x01,0x43,0x01) (0x0c,0x43,0x01) (1,0x… instead of (0x01,0x41,0x05) (0x0c,NULL,0x03) (1,0x…
// MariaDB 10.11.18-MariaDB-0+deb12u1 (Debian 12), READ COMMITTED
// MariaDB at READ COMMITTED: a plain SELECT sees what was committed when it started, and what its own transaction wrote.
// In step 3 tx2 should get (0x01,0x41,0x05) (0x0c,NULL,0x03) (1,0x42,0x02); it gets (0x01,0x43,0x01) (0x0c,0x43,0x01) (1,0x43,0x01).
// tx2's SELECT: it saw what another transaction had not committed.
// https://mariadb.com/docs/server/reference/sql-statements/administrative-sql-statements/set-commands/set-transaction
//
// DSN='root@tcp(127.0.0.1:3306)/' go test -v -count=1
//
// makes the database anomaly_repro, runs the case in it and drops it. It passes
// where the anomaly shows, and is skipped by a server of another family or with
// other settings than those below, whose promise is another one.
package anomaly

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
)

// blocks is how long a statement that is to wait for a lock gets to return.
const blocks = 300 * time.Millisecond

// family is that of the server on which this was seen.
const family = "MariaDB"

// needs are the settings that decide what the server promises.
var needs = []struct{ name, value, option string }{
	{"innodb_snapshot_isolation", "OFF", "--innodb-snapshot-isolation=OFF"},
}

var setup = []string{
	"CREATE TABLE t (a VARBINARY(4) PRIMARY KEY, b BIT(8), c BIT(3))",
	"INSERT INTO t VALUES (0x01, b'1000001', b'101'), ('1', b'1000010', b'10'), (0x0c, NULL, b'11')",
}

var levels = []struct {
	session int
	sql     string
}{
	{1, "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED"},
	{2, "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED"},
}

var steps = []struct {
	step, session      int
	do, sql            string
	ordered            bool
	recorded, promised string
}{
	{1, 1, "run", "BEGIN", false, "ok", "ok"},
	{2, 1, "run", "UPDATE t SET b = b'1000011', c = 1", false, "3 affected", "3 affected"},
	{3, 2, "run", "SELECT * FROM t", false, "(\x01,C,\x01) (\f,C,\x01) (1,C,\x01)", "(\x01,A,\x05) (\f,NULL,\x03) (1,B,\x02)"},
	{4, 1, "run", "COMMIT", false, "ok", "ok"},
}

var final = []struct{ table, recorded, promised string }{
	{"`t`", "(\x01,C,\x01) (\f,C,\x01) (1,C,\x01)", "(\x01,C,\x01) (\f,C,\x01) (1,C,\x01)"},
}

// decided says that some answer tells a right server from a wrong one. If none
// does, the anomaly is that all answers are the recorded ones.
const decided = true

// demo says that the test passes where the anomaly shows.
const demo = true

func TestAnomaly(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cfg, err := mysql.ParseDSN(os.Getenv("DSN"))
	if err != nil || os.Getenv("DSN") == "" {
		t.Fatalf("set DSN to user:password@tcp(host:port)/: %v", err)
	}
	admin := open(t, cfg, "")
	exec := func(db *sql.DB, query string) {
		if _, err := db.ExecContext(ctx, query); err != nil {
			t.Fatalf("%s: %v", query, err)
		}
	}
	skipElsewhere(ctx, t, admin)
	exec(admin, "DROP DATABASE IF EXISTS anomaly_repro")
	exec(admin, "CREATE DATABASE anomaly_repro")
	defer exec(admin, "DROP DATABASE anomaly_repro")
	db := open(t, cfg, "anomaly_repro")
	first, err := db.Conn(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	// An old view keeps purge from changing which locks stand in the way.
	old, err := db.Conn(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer old.Close()
	if _, err := old.ExecContext(ctx, "START TRANSACTION WITH CONSISTENT SNAPSHOT"); err != nil {
		t.Fatal(err)
	}
	for _, query := range setup {
		if _, err := first.ExecContext(ctx, query); err != nil {
			t.Fatalf("%s: %v", query, err)
		}
	}
	sessions := map[int]*sql.Conn{}
	for _, l := range levels {
		c := sessions[l.session]
		if c == nil {
			if c, err = db.Conn(ctx); err != nil {
				t.Fatal(err)
			}
			defer c.Close()
		}
		if _, err := c.ExecContext(ctx, l.sql); err != nil {
			t.Fatal(err)
		}
		sessions[l.session] = c
	}
	same := true
	judge := func(what, got, recorded, promised string) {
		t.Logf("%s: %s", what, got)
		same = same && got == recorded
		ok := got == promised || promised == "no error" && !strings.HasPrefix(got, "error ")
		if demo && got != recorded {
			t.Errorf("%s: got %s, seen before: %s", what, got, recorded)
		}
		if decided && !demo && !ok {
			t.Errorf("%s: got %s, promised %s", what, got, promised)
		}
	}
	waiting := map[int]chan string{}
	for _, s := range steps {
		what := fmt.Sprintf("step %d, tx%d: %s", s.step, s.session, s.sql)
		switch s.do {
		case "send":
			answer := make(chan string, 1)
			waiting[s.session] = answer
			go func() { answer <- ask(ctx, sessions[s.session], s.sql, s.ordered) }()
			select {
			case got := <-answer:
				t.Logf("%s: did not wait", what)
				answer <- got
			case <-time.After(blocks):
				t.Logf("%s: waits", what)
			}
		case "reap":
			judge(what, <-waiting[s.session], s.recorded, s.promised)
		default:
			judge(what, ask(ctx, sessions[s.session], s.sql, s.ordered), s.recorded, s.promised)
		}
	}
	for _, c := range sessions {
		_, _ = c.ExecContext(ctx, "ROLLBACK")
	}
	one, err := db.Conn(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer one.Close()
	for _, f := range final {
		judge("in the end, "+f.table, ask(ctx, one, "SELECT * FROM "+f.table, false), f.recorded, f.promised)
	}
	if !decided && !demo && same {
		t.Errorf("all answers are those of the anomaly")
	}
}

// skipElsewhere ends the test, as skipped, on a server that promises something
// else. A server that knows no such switch has it off.
func skipElsewhere(ctx context.Context, t *testing.T, db *sql.DB) {
	var version string
	if err := db.QueryRowContext(ctx, "SELECT VERSION()").Scan(&version); err != nil {
		t.Fatal(err)
	}
	is := "MySQL"
	for _, name := range []string{"MariaDB", "TiDB"} {
		if strings.Contains(version, name) {
			is = name
		}
	}
	if is != family {
		t.Skipf("seen on %s; this is %s %s", family, is, version)
	}
	for _, n := range needs {
		var name, value string
		err := db.QueryRowContext(ctx, "SHOW GLOBAL VARIABLES WHERE Variable_name = '"+n.name+"'").Scan(&name, &value)
		if errors.Is(err, sql.ErrNoRows) {
			value, err = "OFF", nil
		}
		if err != nil {
			t.Fatal(err)
		}
		if !strings.EqualFold(value, n.value) {
			t.Skipf("needs %s=%s (start the server with %s), found %s", n.name, n.value, n.option, value)
		}
	}
}

func open(t *testing.T, cfg *mysql.Config, database string) *sql.DB {
	own := cfg.Clone()
	own.DBName = database
	connector, err := mysql.NewConnector(own)
	if err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(connector)
	t.Cleanup(func() { db.Close() })
	return db
}

// ask runs a statement and prints its answer on one line.
func ask(ctx context.Context, c *sql.Conn, query string, ordered bool) string {
	var failed *mysql.MySQLError
	fail := func(err error) string {
		if errors.As(err, &failed) {
			return fmt.Sprintf("error %d", failed.Number)
		}
		return "broken: " + err.Error()
	}
	verb := strings.ToUpper(strings.SplitN(strings.TrimLeft(query, "( "), " ", 2)[0])
	switch verb {
	case "UPDATE", "DELETE", "INSERT", "REPLACE":
		r, err := c.ExecContext(ctx, query)
		if err != nil {
			return fail(err)
		}
		n, _ := r.RowsAffected()
		return fmt.Sprintf("%d affected", n)
	case "SELECT", "WITH", "TABLE", "VALUES":
	default:
		if _, err := c.ExecContext(ctx, query); err != nil {
			return fail(err)
		}
		return "ok"
	}
	rows, err := c.QueryContext(ctx, query)
	if err != nil {
		return fail(err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return fail(err)
	}
	var out []string
	for rows.Next() {
		cells := make([]sql.NullString, len(columns))
		to := make([]any, len(columns))
		for i := range cells {
			to[i] = &cells[i]
		}
		if err := rows.Scan(to...); err != nil {
			return fail(err)
		}
		text := make([]string, len(cells))
		for i, v := range cells {
			text[i] = "NULL"
			if v.Valid {
				text[i] = v.String
			}
		}
		out = append(out, "("+strings.Join(text, ",")+")")
	}
	if err := rows.Err(); err != nil {
		return fail(err)
	}
	if len(out) == 0 {
		return "no rows"
	}
	if !ordered {
		sort.Strings(out)
	}
	return strings.Join(out, " ")
}
