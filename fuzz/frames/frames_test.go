package frames

import (
	"fmt"
	"runtime/debug"
	"strings"
	"testing"
)

// top returns the functions that a panic shows below the runtime's own.
func top(t *testing.T, id string) (frames string) {
	t.Helper()
	defer func() {
		if text := recover(); text != "what was found" {
			t.Errorf("panic %v", text)
		}
		var names []string
		for _, line := range strings.Split(string(debug.Stack()), "\n") {
			if i := strings.Index(line, "/frames."); i >= 0 && !strings.HasPrefix(line, "\t") {
				names = append(names, line[i+len("/frames."):strings.IndexByte(line, '(')])
			}
		}
		// The first is this function.
		for i, n := range names {
			if strings.HasPrefix(n, "of") {
				frames = n + " " + names[i+1]
				return
			}
		}
		t.Fatalf("functions %q", names)
	}()
	Panic(id, "what was found")
	return ""
}

func TestFramesTellFindingsApart(t *testing.T) {
	distinct := map[string]bool{}
	for i := range 300 {
		id := fmt.Sprintf("tidb-wrong-rows-rr-%08x", i*2654435761)
		frames := top(t, id)
		if frames != top(t, id) {
			t.Fatalf("%s has other frames the second time", id)
		}
		if strings.ContainsAny(frames, "0123456789") {
			t.Errorf("frames %q have a number, which fleets take out", frames)
		}
		distinct[frames] = true
	}
	// 300 balls into 256 boxes leave about 80 empty.
	if len(distinct) < 150 {
		t.Errorf("300 findings have %d different frames", len(distinct))
	}
}
