package corpus

import (
	"os"
	"path/filepath"
	"testing"
)

func TestTmp(t *testing.T) {
	fs, _ := filepath.Glob("known/*.sql")
	for _, f := range fs {
		b, _ := os.ReadFile(f)
		c, err := Parse(f, b)
		if err != nil {
			t.Error(err)
			continue
		}
		p := Print(c, Text)
		d, err := Parse("printed", p)
		if err != nil {
			t.Error(err)
			continue
		}
		if !c.Equal(d) || !c.Clone().Equal(c) {
			t.Error("differs")
		}
		t.Logf("%s", p)
	}
}
