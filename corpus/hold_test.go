package corpus

import (
	"strings"
	"testing"
)

const heldCase = `-- level: REPEATABLE READ
-- hold: tx1 2 at fn_ec92a0+0x1ec of e1821821a892 hit 4 until tx3 2

/* init */ CREATE TABLE t (a INT);
/* tx1 */ BEGIN;
/* tx3 */ BEGIN;
/* tx1 */ SELECT * FROM t;
/* tx2 */ INSERT INTO t VALUES (1);
/* tx3 */ COMMIT;
/* tx1 */ COMMIT;
`

// TestHold reads, prints and changes a case in which a statement is held.
func TestHold(t *testing.T) {
	c, err := Parse("held.sql", []byte(heldCase))
	if err != nil {
		t.Fatal(err)
	}
	if held, until := c.Held(); held != 2 || until != 4 {
		t.Errorf("step %d is held until step %d, want 2 and 4", held, until)
	}
	at := Hold{Function: "fn_ec92a0", Offset: 0x1ec, Build: "e1821821a892", Hit: 4}
	if got := c.Clone().Steps[2].Hold; *got != at {
		t.Errorf("held at %+v, want %+v", *got, at)
	}
	if got := string(Print(c, Text)); got != heldCase {
		t.Errorf("printed:\n%s\nwant\n%s", got, heldCase)
	}
	bare := c.Clone()
	bare.Steps[2].Hold = nil
	if ID(c) == ID(bare) || ID(c) != ID(c.Clone()) {
		t.Error("a case and the same one without a hold have one ID, or a case has two")
	}
	// Statements are counted anew when one before them is gone.
	small := c.Clone()
	small.Steps = append(small.Steps[:0:0], small.Steps[2:]...)
	if got, want := string(Print(small, Text)), "hold: tx1 1 at fn_ec92a0+0x1ec of e1821821a892 hit 4 until tx3 1\n"; !strings.Contains(got, want) {
		t.Errorf("printed:\n%s\nwant %s", got, want)
	}
	small.Steps = append(small.Steps[:2:2], small.Steps[3:]...) // without the line that frees it
	if got := string(Print(small, Text)); !strings.Contains(got, "hit 4\n") {
		t.Errorf("printed:\n%s\nwant a hold that nothing ends", got)
	}
	if _, err := Parse("again.sql", Print(small, Text)); err != nil {
		t.Error(err)
	}
}

// TestHoldRefused tells what is wrong with a header line, and where.
func TestHoldRefused(t *testing.T) {
	for _, x := range []struct{ line, want string }{
		{"hold: tx1", "held.sql:2:1: header hold: \"tx1\": " + wantHold},
		{"hold: tx1 2 at store hit 1", "held.sql:2:1: header hold: \"tx1 2 at store hit 1\": " + wantHold},
		{"hold: tx1 2 at store Get of aa hit 1",
			"held.sql:2:1: header hold: \"tx1 2 at store Get of aa hit 1\": " + wantHold},
		{"hold: tx1 9 at store Get hit 1", "held.sql:2:1: header hold: tx1 sends no 9. statement"},
		{"hold: tx1 9 at f+0x1 of aa hit 1", "held.sql:2:1: header hold: tx1 sends no 9. statement"},
		{"hold: tx4 1 at f+0x1 of aa hit 1", "held.sql:2:1: header hold: tx4 sends no 1. statement"},
		{"hold: tx1 2 at f+0x1 of aa hit 0", "held.sql:2:1: header hold: \"0\" is no number of a session, a statement or a hit"},
		{"hold: tx1 2 at f+0x1 of aa hit 1 until tx3 7", "held.sql:2:1: header hold: tx3 sends no 7. statement"},
		{"hold: tx1 2 at f+0x1 of aa hit 1 until tx3 1", "held.sql:2:1: header hold: the 1. statement of tx3 does not come behind the held one, from another session"},
		{"hold: tx1 2 at f+0x1 of aa hit 1 until tx1 3", "held.sql:2:1: header hold: the 3. statement of tx1 does not come behind the held one, from another session"},
		{"hold: tx1 2 at f+0x1 of aa hit 1\n-- hold: tx2 1 at f+0x1 of aa hit 1", "held.sql:3:1: header hold: one statement can be held, and the header names two"},
		{"hold: tx1 2 at f+0x11111111111111111111 of aa hit 1", "held.sql:2:1: header hold: offset 0x11111111111111111111: strconv.ParseUint: parsing \"11111111111111111111\": value out of range"},
	} {
		_, err := Parse("held.sql", []byte(strings.Replace(heldCase, "hold: tx1 2 at fn_ec92a0+0x1ec of e1821821a892 hit 4 until tx3 2", x.line, 1)))
		if err == nil || err.Error() != x.want {
			t.Errorf("%s:\n got %v\nwant %s", x.line, err, x.want)
		}
	}
}

// TestHoldOfRequest reads and prints a case in which a request to the store is held.
func TestHoldOfRequest(t *testing.T) {
	for _, x := range []struct {
		line, words string
		at          Hold
	}{
		{"tx1 2 at store PessimisticLock hit 2 until tx3 2", "before its 2. PessimisticLock request reaches the store",
			Hold{Request: "PessimisticLock", Hit: 2}},
		{"tx1 2 at store TSO+answer hit 1", "when the store has answered its 1. TSO request",
			Hold{Request: "TSO", Answered: true, Hit: 1}},
		{"tx1 2 at f+0x1 of ab hit 3", "at f+0x1 (execution 3 of that instruction)",
			Hold{Function: "f", Offset: 1, Build: "ab", Hit: 3}},
	} {
		text := strings.Replace(heldCase, "tx1 2 at fn_ec92a0+0x1ec of e1821821a892 hit 4 until tx3 2", x.line, 1)
		c, err := Parse("held.sql", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if got := c.Steps[2].Hold; *got != x.at || got.String() != x.words {
			t.Errorf("%s: held %s, %+v", x.line, got, *got)
		}
		if got := string(Print(c, Text)); got != text {
			t.Errorf("printed:\n%s\nwant\n%s", got, text)
		}
	}
}
