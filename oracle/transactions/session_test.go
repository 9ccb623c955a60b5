package transactions

import (
	"fmt"
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

var words = map[What]string{
	Nothing: "nothing", Begins: "begins", Ends: "ends", Saves: "saves", GoesBack: "goes back", Merges: "merges", Leaves: "leaves",
}

// TestFollow has a session take statements, each with the SQLSTATE of its error or ok, and open behind which a
// transaction is, or gone for that of a KILL whose session is; and tells what each does, and what is left: in a
// transaction, failed, so many savepoints.
func TestFollow(t *testing.T) {
	for name, lines := range map[string][][3]string{
		"savepoints": {
			{"BEGIN", "open", "begins 0: in 0"},
			{"SAVEPOINT s", "open", "saves 1: in 1"},
			{"SAVEPOINT S", "open", "saves 2: in 2"},
			{"SELECT 1", "22012", "goes back 2: in failed 2"},
			{"SELECT 1", "25P02", "nothing 0: in failed 2"},
			{"ROLLBACK TO s", "open", "goes back 2: in 2"},
			{"RELEASE SAVEPOINT s", "open", "merges 1: in 1"},
			{"ROLLBACK TO s", "open", "goes back 1: in 1"},
			{"ROLLBACK TO x", "3B001", "goes back 1: in failed 1"},
			{"COMMIT", "ok", "ends 0: 0"},
		},
		"chain": {
			{"COMMIT AND CHAIN", "25P01", "ends 0: 0"},
			{"BEGIN", "open", "begins 0: in 0"},
			{"SAVEPOINT s", "open", "saves 1: in 1"},
			{"COMMIT AND CHAIN", "open", "ends 0: in 0"},
			{"SELECT 1", "22012", "goes back 0: in failed 0"},
			{"ROLLBACK AND CHAIN", "open", "ends 0: in 0"},
			{"ROLLBACK", "ok", "ends 0: 0"},
		},
		"prepared": {
			{"BEGIN", "open", "begins 0: in 0"},
			{"PREPARE TRANSACTION 'p'", "ok", "ends 0: 0"},
			{"COMMIT PREPARED 'p'", "ok", "nothing 0: 0"},
			{"BEGIN", "open", "begins 0: in 0"},
			{"COMMIT PREPARED 'p'", "25001", "goes back 0: in failed 0"},
			{"PREPARE TRANSACTION 'p'", "ok", "ends 0: 0"},
		},
		"sessions": {
			{"BEGIN", "open", "begins 0: in 0"},
			{"KILL QUERY tx2", "gone", "nothing 0: in 0"},
			{"KILL tx2", "gone", "nothing 0: in 0"},
			{"KILL QUERY tx1", "57014", "goes back 0: in failed 0"},
			{"KILL tx2", "25P02", "nothing 0: in failed 0"},
			{"ROLLBACK", "ok", "ends 0: 0"},
			{"KILL QUERY tx2", "ok", "nothing 0: 0"},
			{"KILL tx2", "ok", "leaves 0 tx2: 0"},
			{"KILL tx1", "57P01", "leaves 0 tx1: 0"},
			{"disconnect", "ok", "leaves 0 tx1: 0"},
		},
	} {
		s := &Session{}
		for i, l := range lines {
			c, err := corpus.Parse("case", []byte("/* tx2 */ SELECT 1;\n/* tx1 */ "+l[0]+";\n"))
			if err != nil {
				t.Fatal(err)
			}
			st := &history.Stmt{Session: 1}
			switch l[1] {
			case "ok", "open":
			case "gone":
				st.Result.Err = &history.Error{Code: history.ErrNoSession}
			default:
				st.Result.Err = &history.Error{State: l[1]}
			}
			st.Result.InTxn = l[1] == "open" || l[1] == "gone"
			e := s.Follow(c.Steps[1].Stmt, st)
			got := fmt.Sprint(words[e.What], " ", e.Depth)
			if e.What == Leaves {
				got += fmt.Sprint(" tx", e.Session)
			}
			got += ":"
			if s.InTxn {
				got += " in"
			}
			if s.Failed {
				got += " failed"
			}
			if got += fmt.Sprint(" ", s.Depth()); got != l[2] {
				t.Errorf("%s, line %d, %s: %q, want %q", name, i+1, strings.ToLower(l[0]), got, l[2])
			}
		}
	}
}
