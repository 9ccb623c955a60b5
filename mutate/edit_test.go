package mutate

import (
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
)

var namedEdits = map[string]edit{
	"change constant":     changeConstant,
	"drop statement":      dropStatement,
	"swap statements":     swapStatements,
	"duplicate statement": duplicateStatement,
	"add statement":       addStatement,
	"replace statement":   replaceStatement,
	"change level":        changeLevel,
	"splice":              splice,
	"echo write":          linking(echoWrite),
	"read first":          linking(readFirst),
	"read again":          linking(readAgain),
	"cross reads":         linking(crossReads),
	"read range, insert":  linking(readRangeInsert),
}

func TestEveryEditIsNamed(t *testing.T) {
	// One entry of the table changes nothing.
	if len(edits) != len(namedEdits)+1 {
		t.Errorf("%d edits in the table, %d tested", len(edits), len(namedEdits))
	}
}

func TestEditsKeepCasesValidAndInputsUntouched(t *testing.T) {
	var entries []*corpus.Case
	for seed := range uint64(60) {
		entries = append(entries, Generate(NewSeeded(seed), Options{Levels: corpus.Levels}))
	}
	var texts []string
	for _, c := range entries {
		texts = append(texts, print(c))
	}
	o := Options{Levels: corpus.Levels}.withDefaults()
	e := &editing{others: entries, options: o}
	for name, edit := range namedEdits {
		applied, changed := 0, 0
		for i, c := range entries {
			for n := range uint64(6) {
				r := splitMix(n)
				d := draftOf(c)
				before := d.build(serialOrder(d))
				if !edit(random(&r), d, e) {
					continue
				}
				applied++
				after := d.build(serialOrder(d))
				if err := checkCase(after, corpus.Levels); err != nil {
					t.Fatalf("%s: %v\n%s\n%s", name, err, texts[i], print(after))
				}
				if setUp(after) != setUp(c) {
					t.Fatalf("%s changed the set-up", name)
				}
				if print(before) != print(after) {
					changed++
				}
			}
		}
		if applied < 100 || changed < applied/2 {
			t.Errorf("%s applied %d times in 360 and changed the case %d times", name, applied, changed)
		}
	}
	for i, c := range entries {
		if print(c) != texts[i] {
			t.Fatalf("an entry was changed:\n%s\n%s", texts[i], print(c))
		}
	}
}

// Each edit does what it is named for.
func TestEditsDoWhatTheySay(t *testing.T) {
	count := func(c *corpus.Case) (n int) {
		d := draftOf(c)
		return len(d.all())
	}
	text := `
/* init */ CREATE TABLE t (a INT PRIMARY KEY, b INT);
/* init */ INSERT INTO t VALUES (1, 10), (2, 20);
/* tx1 */ BEGIN;
/* tx1 */ UPDATE t SET b = 7 WHERE a = 1;
/* tx1 */ COMMIT;
/* tx2 */ BEGIN;
/* tx2 */ DELETE FROM t WHERE a = 2;
/* tx2 */ COMMIT;
`
	c := parse(t, text)
	e := &editing{others: []*corpus.Case{c}, options: Options{}.withDefaults()}
	for name, more := range map[string]int{
		"change constant": 0, "drop statement": -1, "duplicate statement": 1, "add statement": 1, "replace statement": 0,
		"read first": 1, "read again": 1, "cross reads": 4,
	} {
		for n := range uint64(20) {
			r := splitMix(n)
			d := draftOf(c)
			if !namedEdits[name](random(&r), d, e) {
				t.Errorf("%s does not apply", name)
				continue
			}
			if got := count(d.build(serialOrder(d))); got != 2+more {
				t.Errorf("%s: %d statements, want %d", name, got, 2+more)
			}
		}
	}
}

// Numbers that are no values stay: a LIMIT takes no negative one.
func TestChangeConstantKeepsLimits(t *testing.T) {
	c := parse(t, `
/* init */ CREATE TABLE t (a INT);
/* init */ INSERT INTO t VALUES (1), (2);
/* tx1 */ BEGIN;
/* tx1 */ SELECT a FROM t ORDER BY 1 LIMIT 17;
/* tx1 */ COMMIT;
/* tx2 */ BEGIN;
/* tx2 */ SELECT a FROM t ORDER BY 1 LIMIT 17;
/* tx2 */ COMMIT;
`)
	e := &editing{options: Options{}.withDefaults()}
	for n := range uint64(50) {
		r := splitMix(n)
		d := draftOf(c)
		if changeConstant(random(&r), d, e) {
			t.Fatalf("changed:\n%s", print(d.build(serialOrder(d))))
		}
	}
}

func TestSpliceTakesTheOtherTransaction(t *testing.T) {
	const schema = "/* init */ CREATE TABLE t (a INT);\n"
	c := parse(t, schema+"/* tx1 */ BEGIN;\n/* tx1 */ SELECT * FROM t;\n/* tx1 */ COMMIT;\n/* tx2 */ BEGIN;\n/* tx2 */ SELECT * FROM t;\n/* tx2 */ COMMIT;\n")
	other := parse(t, schema+"/* tx1 */ BEGIN;\n/* tx1 */ DELETE FROM t;\n/* tx1 */ ROLLBACK;\n/* tx2 */ BEGIN;\n/* tx2 */ DELETE FROM t;\n/* tx2 */ ROLLBACK;\n")
	alien := parse(t, "/* init */ CREATE TABLE t (b INT);\n/* tx1 */ BEGIN;\n/* tx1 */ COMMIT;\n/* tx2 */ BEGIN;\n/* tx2 */ COMMIT;\n")
	r := splitMix(1)
	d := draftOf(c)
	if !splice(random(&r), d, &editing{others: []*corpus.Case{alien, other}, options: Options{}.withDefaults()}) {
		t.Fatal("does not apply")
	}
	got := d.build(serialOrder(d))
	mine, theirs := sql(c, 1), sql(other, 1)
	if a, b := sql(got, 1), sql(got, 2); !(a == mine && b == theirs || a == theirs && b == mine) {
		t.Errorf("got %s%s", a, b)
	}
	if splice(random(&r), draftOf(c), &editing{others: []*corpus.Case{alien}, options: Options{}.withDefaults()}) {
		t.Error("spliced a transaction over other columns")
	}
}

func TestMutateStoredCases(t *testing.T) {
	entries := published(t)
	var before []string
	for _, c := range entries {
		before = append(before, print(c))
	}
	different := 0
	for seed := range uint64(40) {
		for i, c := range entries {
			m := Mutate(NewSeeded(seed), c, entries, Options{Levels: corpus.Levels})
			if err := m.Validate(); err != nil {
				t.Fatalf("%v\n%s", err, print(m))
			}
			again, err := corpus.Parse("printed", corpus.Print(m, corpus.Text))
			if err != nil || !again.Equal(m) {
				t.Fatalf("does not parse back: %v\n%s", err, print(m))
			}
			if setUp(m) != setUp(c) {
				t.Fatal("changed the set-up")
			}
			for _, s := range m.Sessions() {
				if _, ok := m.LevelOf(s); !ok {
					t.Fatalf("session %d has no level\n%s", s, print(m))
				}
			}
			if print(m) != before[i] {
				different++
			}
		}
	}
	if different < 40*len(entries)*9/10 {
		t.Errorf("%d of %d differ", different, 40*len(entries))
	}
	for i, c := range entries {
		if print(c) != before[i] {
			t.Errorf("Mutate changed its argument:\n%s", before[i])
		}
	}
}

func TestFromInputUsesTheEntries(t *testing.T) {
	entries := published(t)
	stored := 0
	known := map[string]bool{}
	for _, c := range entries {
		known[setUp(c)] = true
	}
	for seed := range uint64(1000) {
		if known[setUp(FromInput(InputOf(seed, InputLen), entries, Options{})[0])] {
			stored++
		}
	}
	if want := 1000 * storedOdds / 256; stored < want-60 || stored > want+60 {
		t.Errorf("%d of 1000 from the entries, want about %d", stored, want)
	}
}

// A case of one session mostly gets a second one beside it; zero bytes leave it alone.
func TestOneSessionGetsAnother(t *testing.T) {
	c := parse(t, `
/* init */ CREATE TABLE t (a INT);
/* init */ INSERT INTO t VALUES (1);
/* tx1 */ BEGIN;
/* tx1 */ UPDATE t SET a = 0;
/* tx1 */ COMMIT;
`)
	if got := Mutate(NewBytes(nil), c, nil, Options{Levels: corpus.Levels}); len(got.Sessions()) != 1 {
		t.Errorf("zero bytes make of it\n%s", print(got))
	}
	two, mixed := 0, 0
	for seed := range uint64(200) {
		got := Mutate(NewSeeded(seed), c, nil, Options{Levels: corpus.Levels})
		if len(got.Sessions()) < 2 {
			continue
		}
		two++
		if got.Steps[0].Session != got.Steps[1].Session {
			mixed++
		}
	}
	if two < 150 || mixed < two/4 {
		t.Errorf("of 200 %d have two sessions, %d of them begin both at once", two, mixed)
	}
}

// serialOrder runs one session after the other.
func serialOrder(d *draft) []int {
	m := newMerge(d)
	for i := range d.sessions {
		m.run(i, len(d.sessions[i].stmts))
	}
	return m.order
}
