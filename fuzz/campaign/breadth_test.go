package campaign

import (
	"fmt"
	"testing"
)

func TestParseSQL(t *testing.T) {
	for text, want := range map[string]string{
		"":                        "",
		"known":                   "breadth=",
		"wide":                    "breadth=wide",
		"kill":                    "ends=1",
		"nokill":                  "ends=0",
		"mixed,kill":              "breadth=mixed ends=1",
		"kill,known":              "breadth= ends=1",
		"constraints":             "constraints=1",
		"noconstraints,wide,kill": "breadth=wide ends=1 constraints=0",
		"kill,nokill":             "wrong",
		"known,wide":              "wrong",
		"constraints,constraints": "wrong",
		"kil":                     "wrong",
		"known,":                  "wrong",
	} {
		said, err := ParseSQL(text)
		got := ""
		add := func(format string, value any) {
			if got != "" {
				got += " "
			}
			got += fmt.Sprintf(format, value)
		}
		if said.Breadth != nil {
			add("breadth=%s", *said.Breadth)
		}
		if said.Ends != nil {
			add("ends=%d", *said.Ends)
		}
		if said.Constraints != nil {
			add("constraints=%d", *said.Constraints)
		}
		if err != nil {
			got = "wrong"
		}
		if got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}
