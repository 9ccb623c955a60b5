package mutate

import (
	"fmt"
	"strings"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// Constrained makes a case whose tables watch over each other: foreign keys with their actions, a
// generated column, CHECK, unique keys and triggers. The rules have no model of these; such a case
// is judged by promise. The choices are those of a generator with the seed.
func Constrained(seed uint64, opts Options) *corpus.Case {
	o := opts.withDefaults()
	g := splitMix(seed)
	k := &constrained{c: random(&g), o: o}
	k.setUp()
	k.transactions()
	c, err := corpus.Parse("a made case", []byte(k.out.String()))
	if err != nil { // a mistake of the templates below, which a test finds
		panic(fmt.Sprintf("mutate: a case with constraints: %v\n%s", err, k.out.String()))
	}
	levels := map[int]corpus.Level{}
	first := oneOf(k.c, o.Levels)
	for _, n := range c.Sessions() {
		levels[n] = first
		if k.c.odds(mixedLevelsOdds) && n > 1 {
			levels[n] = oneOf(k.c, o.Levels)
		}
	}
	c.SetLevels(levels)
	return c
}

// The parts of the tables, the simplest first, and how often they are there.
var (
	actions     = []weighted[string]{{25, ""}, {35, "CASCADE"}, {20, "SET NULL"}, {10, "RESTRICT"}, {10, "NO ACTION"}}
	madeColumns = []weighted[string]{{60, ""}, {20, ", g INT AS (v * 2) VIRTUAL, KEY (g)"}, {20, ", g INT AS (v + id) STORED"}}
	checks      = []weighted[string]{{60, ""}, {40, ", CHECK (v < 9)"}}
	uniques     = []weighted[string]{{60, ""}, {40, ", UNIQUE KEY u (v)"}}
	// triggers write into l what happens in a table; %s is the table, p or c.
	triggers = []weighted[string]{
		{40, ""},
		{20, "CREATE TRIGGER tr AFTER UPDATE ON %s FOR EACH ROW INSERT INTO l VALUES (NEW.id + 10, OLD.id) ON DUPLICATE KEY UPDATE n = n + 1"},
		{15, "CREATE TRIGGER tr AFTER UPDATE ON %s FOR EACH ROW UPDATE l SET n = n + 1 WHERE k = 1"},
		{15, "CREATE TRIGGER tr AFTER INSERT ON %s FOR EACH ROW UPDATE l SET n = n + 1 WHERE k = 2"},
		{10, "CREATE TRIGGER tr AFTER DELETE ON %s FOR EACH ROW DELETE FROM l WHERE k = OLD.id"},
	}
	watched = []weighted[string]{{60, "p"}, {40, "c"}}
)

// Out of 256.
const (
	selfOdds      = 40
	thirdOdds     = 110
	ownCommitOdds = 24
	rolledOdds    = 36
)

type constrained struct {
	c    *choices
	o    *Options
	out  strings.Builder
	self bool
}

func (k *constrained) line(who, format string, args ...any) {
	fmt.Fprintf(&k.out, "/* %s */ %s;\n", who, fmt.Sprintf(format, args...))
}

func (k *constrained) setUp() {
	tidb := k.o.DBMS == history.TiDB
	check := pick(k.c, checks)
	if tidb {
		check = "" // it takes none unless it is told to
	}
	k.line("init", "CREATE TABLE p (id INT PRIMARY KEY, v INT%s%s%s)", pick(k.c, madeColumns), check, pick(k.c, uniques))
	foreign := ""
	for _, on := range []string{"DELETE", "UPDATE"} {
		if a := pick(k.c, actions); a != "" {
			foreign += " ON " + on + " " + a
		}
	}
	if k.self = k.c.odds(selfOdds); k.self {
		// A cascade that comes back to its own table is refused.
		k.line("init", "CREATE TABLE c (id INT PRIMARY KEY, pid INT, KEY (pid), FOREIGN KEY (pid) REFERENCES c (id) ON DELETE %s)",
			oneOf(k.c, []string{"CASCADE", "SET NULL", "RESTRICT"}))
	} else {
		k.line("init", "CREATE TABLE c (id INT PRIMARY KEY, pid INT, KEY (pid), FOREIGN KEY (pid) REFERENCES p (id)%s)", foreign)
	}
	k.line("init", "CREATE TABLE l (k INT PRIMARY KEY, n INT)")
	k.line("init", "INSERT INTO p (id, v) VALUES (1, 1), (2, 2), (3, 3)")
	if k.self {
		k.line("init", "INSERT INTO c VALUES (1, NULL), (2, 1), (3, 2)")
	} else {
		k.line("init", "INSERT INTO c VALUES (1, 1), (2, 2), (3, NULL)")
	}
	k.line("init", "INSERT INTO l VALUES (1, 0), (2, 0)")
	if t := pick(k.c, triggers); t != "" && !tidb {
		k.line("init", t, pick(k.c, watched))
	}
}

// transactions makes two or three, and an order in which they are sent.
func (k *constrained) transactions() {
	count := 2
	if k.c.odds(thirdOdds) {
		count = 3
	}
	var queues [][]string
	for range count {
		var q []string
		alone := k.c.odds(ownCommitOdds)
		if !alone {
			q = append(q, "BEGIN")
		}
		for range 2 + k.c.below(4) {
			q = append(q, k.statement())
		}
		switch {
		case alone:
		case k.c.odds(rolledOdds):
			q = append(q, "ROLLBACK")
		default:
			q = append(q, "COMMIT")
		}
		queues = append(queues, q)
	}
	for {
		var left []int
		for i, q := range queues {
			if len(q) > 0 {
				left = append(left, i)
			}
		}
		if len(left) == 0 {
			return
		}
		i := oneOf(k.c, left)
		k.line(fmt.Sprintf("tx%d", i+1), "%s", queues[i][0])
		queues[i] = queues[i][1:]
	}
}

// forms are the statements; %k is a key, %n a key that may be new, %v a value.
var forms = []weighted[string]{
	{8, "SELECT * FROM p"},
	{8, "SELECT * FROM c"},
	{6, "SELECT * FROM l"},
	{4, "SELECT id, v FROM p WHERE id = %k"},
	{4, "SELECT * FROM c WHERE pid = %k"},
	{3, "SELECT c.id, p.v FROM c JOIN p ON c.pid = p.id"},
	{3, "SELECT id, v FROM p WHERE id = %k FOR UPDATE"},
	{3, "SELECT * FROM c WHERE pid = %k FOR UPDATE"},
	{8, "INSERT INTO p (id, v) VALUES (%n, %v)"},
	{10, "INSERT INTO c VALUES (%n, %k)"},
	{10, "UPDATE p SET v = %v WHERE id = %k"},
	{5, "UPDATE p SET v = v + 1 WHERE id = %k"},
	{9, "UPDATE p SET id = %n WHERE id = %k"},
	{9, "DELETE FROM p WHERE id = %k"},
	{8, "UPDATE c SET pid = %k WHERE id = %k"},
	{3, "UPDATE c SET pid = NULL WHERE pid = %k"},
	{5, "DELETE FROM c WHERE id = %k"},
	{3, "DELETE FROM c WHERE pid = %k"},
	{4, "INSERT INTO p (id, v) VALUES (%n, %v) ON DUPLICATE KEY UPDATE v = v + 1"},
	{3, "INSERT INTO c VALUES (%n, %k) ON DUPLICATE KEY UPDATE pid = VALUES(pid)"},
	{3, "UPDATE l SET n = n + 1 WHERE k = %k"},
	{3, "INSERT INTO l VALUES (%n, %v)"},
}

func (k *constrained) statement() string {
	text := pick(k.c, forms)
	for _, hole := range []struct {
		mark        string
		from, count int
	}{{"%k", 1, 4}, {"%n", 1, 6}, {"%v", 1, 9}} {
		for strings.Contains(text, hole.mark) {
			text = strings.Replace(text, hole.mark, fmt.Sprint(hole.from+k.c.below(hole.count)), 1)
		}
	}
	return text
}
