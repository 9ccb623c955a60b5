package target

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// keyed is a row of the model: its primary key and its value; deleted rows have key 0.
type keyed struct{ key, val int }

// readings returns what a transaction may read that has the snapshot before, each row of it by its
// number, after it wrote some rows of a newer state, under keys that name the rows: told by row, and
// told by key where that is as good or the only way.
func readings(before, written map[int]keyed, keys map[int][]int) []string {
	byRow, byKey := maps.Clone(before), map[int]keyed{}
	either, at := false, map[int]int{}
	for row, r := range before {
		if keys[r.key] == nil {
			byKey[row] = r
		}
		_, own := written[row]
		for _, of := range keys[r.key] {
			// What was written there was this row or the other: the other's old key shows, or this row.
			old, known := before[of]
			either = either || of != row && (!own || known && keys[old.key] == nil)
		}
	}
	maps.Copy(byRow, written)
	for row, r := range written {
		byKey[-row] = r
	}
	for _, r := range byRow {
		if at[r.key]++; r.key != 0 && at[r.key] > 1 {
			return []string{shown(byKey)}
		}
	}
	if either {
		return []string{shown(byRow), shown(byKey)}
	}
	return []string{shown(byRow)}
}

func shown(rows map[int]keyed) string {
	var out []string
	for _, r := range rows {
		if r.key != 0 {
			out = append(out, fmt.Sprintf("(%d,%d)", r.key, r.val))
		}
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

// keyedTargets are servers that differ in how they tell a row, or forbid writing one that changed.
func keyedTargets(t *testing.T) []string {
	names := serversAmong(t, "mysql:9.7", "mariadb:11.8", "mariadb:10.11", "mariadb:10.5")
	if slices.Contains(names, "mariadb:11.8") {
		names = append(names, "mariadb:11.8,snapshot=off")
	}
	if slices.Contains(Installed(t.Context()), Default) {
		names = append(names, Default)
	}
	return names
}

// movedKeysCase is one in which tx2 moves keys behind the snapshot of tx1, which then writes and reads.
func movedKeysCase(t *testing.T, before map[int]keyed, other, own []string) *corpus.Case {
	var b strings.Builder
	b.WriteString("/* init */ CREATE TABLE t (a INT PRIMARY KEY, b INT);\n/* init */ INSERT INTO t VALUES ")
	b.WriteString(strings.ReplaceAll(shown(before), " ", ", ") + ";\n")
	line := func(session int, sql ...string) {
		for _, s := range sql {
			fmt.Fprintf(&b, "/* tx%d */ %s;\n", session, s)
		}
	}
	line(1, "START TRANSACTION WITH CONSISTENT SNAPSHOT", "SELECT * FROM t")
	line(2, "BEGIN")
	line(2, other...)
	line(2, "COMMIT")
	line(1, own...)
	line(1, "SELECT * FROM t", "COMMIT")
	return parseCase(t, b.String())
}

func failed(s history.Stmt) bool { return s.Result.Err != nil }

// moves permutes or shifts the keys of a state, and returns the statements.
func moves(r *rand.Rand, state map[int]keyed) (sql []string) {
	move := func(from, to int) {
		sql = append(sql, fmt.Sprintf("UPDATE t SET a = %d WHERE a = %d", to, from))
		for row, k := range state {
			if k.key == from {
				state[row] = keyed{to, k.val}
			}
		}
	}
	n := len(state)
	switch r.IntN(4) {
	case 0: // a swap
		a, b := 1+r.IntN(n), 1+r.IntN(n-1)
		if b >= a {
			b++
		}
		move(a, 99)
		move(b, a)
		move(99, b)
	case 1: // a rotation
		move(n, 99)
		for k := n - 1; k > 0; k-- {
			move(k, k+1)
		}
		move(99, 1)
	case 2: // a shift
		by := 1 + r.IntN(2)
		sql = append(sql, fmt.Sprintf("UPDATE t SET a = a + %d ORDER BY a DESC", by))
		for row, k := range state {
			state[row] = keyed{k.key + by, k.val}
		}
	default: // one key that no other row has
		move(1+r.IntN(n), n+3)
	}
	return sql
}

// TestMovedKeys holds the verdicts on swaps, rotations and shifts of primary keys against the model
// above: what it allows is ok, and what it does not is no ok.
func TestMovedKeys(t *testing.T) {
	for _, name := range keyedTargets(t) {
		t.Run(name, func(t *testing.T) {
			on, err := Open(t.Context(), name, Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer on.Close()
			r := rand.New(rand.NewPCG(1, 2))
			allowed, refused := 0, 0
			for range 40 {
				before := map[int]keyed{}
				for k := 1; k <= 3+r.IntN(2); k++ {
					before[k] = keyed{k, 10 * k}
				}
				after := maps.Clone(before)
				other := moves(r, after)
				written, keys := map[int]keyed{}, map[int][]int{}
				var own []string
				for range 1 + r.IntN(2) {
					key, change := 1+r.IntN(len(before)+3), r.IntN(3) > 0
					for row, k := range after {
						if k.key != key {
							continue
						}
						keys[key] = append(keys[key], row)
						if written[row] = (keyed{}); change {
							written[row] = keyed{key, k.val + 1}
						}
						after[row] = written[row]
					}
					if change {
						own = append(own, fmt.Sprintf("UPDATE t SET b = b + 1 WHERE a = %d", key))
					} else {
						own = append(own, fmt.Sprintf("DELETE FROM t WHERE a = %d", key))
					}
				}
				want := readings(before, written, keys)
				c := movedKeysCase(t, before, other, own)
				for _, level := range on.Levels() {
					trial := on.Judge(t.Context(), c, map[int]corpus.Level{1: level, 2: level})
					v := trial.Verdict
					if level != corpus.RepeatableRead {
						byKey := slices.Contains(v.Rules, "key-change-leaves-old-row")
						if v.Outcome != oracle.OK && (v.Outcome != oracle.Known || byKey) {
							t.Errorf("%s: %s %v\n%s", level, v.Outcome, v.Rules, corpus.Print(c, corpus.Text))
						}
						continue
					}
					st := trial.History.Stmts[len(trial.History.Stmts)-2]
					if slices.ContainsFunc(trial.History.Stmts, failed) {
						continue // snapshot isolation refuses to write what has changed
					}
					rows := map[int]keyed{}
					for i, cells := range st.Result.Rows {
						var k keyed
						fmt.Sscan(cells[0].Text+" "+cells[1].Text, &k.key, &k.val)
						rows[i] = k
					}
					got := shown(rows)
					if ok := slices.Contains(want, got); ok != (v.Outcome == oracle.OK) {
						t.Errorf("%s is %s (%v), the model allows %q\n%s", got, v.Outcome, v.Rules, want, corpus.Print(c, corpus.Text))
					} else if ok {
						allowed++
					} else {
						refused++
					}
				}
			}
			if allowed == 0 {
				t.Error("no answer that the model allows")
			}
			t.Logf("%d answers allowed, %d not", allowed, refused)
		})
	}
}
