package load_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/harness/load"
)

// TestAdapterOutOfStep: answers that are not those to the requests, and a store that is not empty at first, are
// failures of the adapter. None of them may become a finding.
func TestAdapterOutOfStep(t *testing.T) {
	const null = `'{"ok":true,"value":null}'`
	for _, c := range []struct{ name, workload, command, want string }{
		{"it writes and does not read", "append", `while :; do echo ` + null + `; done`, "before it was sent this request"},
		{"it answers a request twice", "append",
			`n=0; while read x; do n=$((n+1)); a=` + null + `; if test $n = 40; then a="$a
$a"; fi; echo "$a"; done`, "before it was sent this request"},
		{"it answers the last request of an epoch twice", "append",
			`while read x; do echo ` + null + `; case "$x" in *'"op":"setup"'*) n=9;; *commit*) n=$((n+1)); test $n = 5 &&
echo ` + null + `;; esac; done`, "nothing else on standard output"},
		{"it is one answer behind", "bank", `a=` + null + `; while read x; do echo "$a"; case "$x" in
*'"op":"read'*) a='{"ok":true,"value":1000}';; *) a=` + null + `;; esac; done`, `only a read has a "value"`},
		{"it echoes the id of another request", "append", `while read x; do echo '{"ok":true,"value":null,"id":1}'; done`,
			"the answer to another request"},
		{"setup does nothing", "register", `while read x; do case "$x" in *'"op":"read'*) echo '{"ok":true,"value":7}';;
*) echo ` + null + `;; esac; done`, "answers 7 to a read of key 1 right behind setup"},
		{"setup leaves lists", "append", `while read x; do case "$x" in *'"key":2'*) echo '{"ok":true,"value":[3,4]}';;
*'"op":"read'*) echo '{"ok":true,"value":[]}';; *) echo ` + null + `;; esac; done`,
			"answers [3,4] to a read of key 2 right behind setup"},
		{"it ends in a commit that the store has done", "register", `while read x; do
k=${x#*'"key":'}; k=${k%%,*}; v=${x#*'"value":'}; v=${v%%,*}
case "$x" in *'"op":"setup"'*) reader=yes; echo ` + null + `;;
*'"op":"write"'*) echo $v >$STORE/$k; wrote=yes; echo ` + null + `;;
*'"op":"read"'*) echo '{"ok":true,"value":'$(cat $STORE/$k 2>/dev/null || echo null)'}';;
*'"op":"commit"'*) test -n "$wrote" && exit 3; echo ` + null + `;;
*) echo ` + null + `;; esac; done`, "exit status 3"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv("STORE", t.TempDir())
			s := adapterSettings(t, c.workload)
			s.Timeout, s.Duration, s.Clients = 5*time.Second, 20*time.Second, 1
			r, err := load.Run(t.Context(), load.NewAdapter(c.command, corpus.Serializable), s)
			if !errors.As(err, new(*load.AdapterError)) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
			if err != nil && strings.Count(err.Error(), "the adapter ") != 1 {
				t.Errorf("it is told several times: %v", err)
			}
			if r != nil && r.Found() {
				t.Errorf("a failure of the adapter is a finding:\n%s", textOf(t, r))
			}
		})
	}
}

// TestAdapterEchoes: an adapter may echo the id of each request.
func TestAdapterEchoes(t *testing.T) {
	s := adapterSettings(t, "append")
	s.Transactions, s.Duration, s.Epoch = 50, 10*time.Second, 50
	r := run(t, load.NewAdapter(`while read x; do case "$x" in *'"op":"append'*) a='"abort":"no"';;
*) a='"ok":true,"value":null';; esac
echo "{$a,\"id\":${x##*:}"; done`, corpus.Serializable), s)
	if r.Found() || r.OK == 0 {
		t.Errorf("%s", textOf(t, r))
	}
}

// TestAdapterInterrupted: whoever interrupts a run does not wait for an adapter that has not opened its session.
func TestAdapterInterrupted(t *testing.T) {
	for _, command := range []string{
		"sleep 1000",                             // it does not open the control session
		`read x; echo '{"ok":true}'; sleep 1000`, // it does not set up
		`read x; if mkdir $STORE/first 2>/dev/null; then echo '{"ok":true}'; while read x; do
echo '{"ok":true,"value":null}'; done; fi; sleep 1000`, // it does not open those of the clients
	} {
		t.Setenv("STORE", t.TempDir())
		s := adapterSettings(t, "append")
		s.Timeout, s.Duration = time.Minute, time.Minute
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		began := time.Now()
		if r, _ := load.Run(ctx, load.NewAdapter(command, corpus.Serializable), s); r != nil && r.OK > 0 {
			t.Errorf("%s: %s", command, textOf(t, r))
		}
		cancel()
		if took := time.Since(began); took > 20*time.Second {
			t.Errorf("%s: ends %s after it was interrupted", command, took)
		}
	}
}
