package load

import (
	"strings"
	"testing"
	"time"

	"github.com/txnfuzz/txnfuzz/corpus"
)

// TestAdapterPipe: a process that reads nothing is not waited for longer than one that does not answer.
func TestAdapterPipe(t *testing.T) {
	c, err := NewAdapter("sleep 1000", corpus.Serializable).start(200 * time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	defer c.close()
	_, err = c.exchange([]byte(strings.Repeat(" ", 1<<20))) // far more than a pipe holds
	if err == nil || !strings.Contains(err.Error(), "does not read its standard input for 200ms") {
		t.Errorf("%v", err)
	}
}

func TestShortened(t *testing.T) {
	for line, want := range map[string]string{
		`"17"`: `"17"`, `{"ok": false}`: `{"ok": false}`, "": `""`, "hello": `"hello"`, "\x1b[31m": `"\x1b[31m"`,
	} {
		if got := shortened([]byte(line)); got != want {
			t.Errorf("%q: %s, want %s", line, got, want)
		}
	}
}
