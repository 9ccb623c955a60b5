package mysqltest

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
)

var update = flag.Bool("update", false, "write testdata/*.cases anew")

func beside(_, name string) (string, []byte, error) {
	path := filepath.Join("testdata", name)
	text, err := os.ReadFile(path)
	return path, text, err
}

// TestCases reads each file of testdata, and wants the cases beside it, and that they are read back as they are.
func TestCases(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "*"+Ext))
	if err != nil || len(files) == 0 {
		t.Fatalf("%v: %v", files, err)
	}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		read, err := Cases(filepath.Base(f), text, beside)
		if err != nil {
			t.Errorf("%s: %v", f, err)
			continue
		}
		var got strings.Builder
		for _, c := range read.Cases {
			printed := corpus.Print(c.Case, corpus.Text)
			fmt.Fprintf(&got, "%s\n%s\n", c.Path, printed)
			if again, err := corpus.Parse(c.Path, printed); err != nil || !again.Equal(c.Case) {
				t.Errorf("%s is read back as another case: %v", c.Path, err)
			}
		}
		for _, r := range read.Refused {
			fmt.Fprintf(&got, "%v\n", r)
		}
		golden := strings.TrimSuffix(f, Ext) + ".cases"
		if *update {
			if err := os.WriteFile(golden, []byte(got.String()), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if want, err := os.ReadFile(golden); err != nil || got.String() != string(want) {
			t.Errorf("%s: %v, got\n%s", golden, err, got.String())
		}
	}
}

func TestMalformed(t *testing.T) {
	for text, want := range map[string]string{
		"select 1":                         "x.test:1:1: this command does not end: want ; behind it",
		"select 'a;\n":                     "x.test:1:8: ' is never closed",
		"if ($x)\n{\nselect 1;\n":          "x.test:2:1: this block is never closed",
		"select 1;\n }":                    "x.test:2:2: this brace closes no block",
		"while $x {":                       "x.test:1:7: want a condition in parentheses behind while",
		"if ($x {":                         "x.test:1:4: this parenthesis is never closed",
		"if (`select 1) {":                 "x.test:1:5: ` is never closed",
		"if ($x) select 1;":                "x.test:1:9: want { behind the condition of if",
		"é;\n--perl\nprint 1;\n":           "x.test:2:1: the text behind perl does not end: want a line EOF",
		"--write_file a b\nEOF\n":          "x.test:1:1: the text behind write_file does not end: want a line b",
		"--disable_parsing\n":              "x.test:1:1: want enable_parsing behind disable_parsing",
		"delimiter ;":                      "x.test:1:1: want the new delimiter behind delimiter",
		"select 1;\ndelimiter //;\nselect": "x.test:3:1: this command does not end: want // behind it",
	} {
		_, err := Cases("x.test", []byte(text), beside)
		var at *corpus.ParseError
		if !errors.As(err, &at) || err.Error() != want {
			t.Errorf("%q: %v\nwant %s", text, err, want)
		}
	}
}

func TestLooks(t *testing.T) {
	for text, want := range map[string]bool{
		"connect (a,localhost,root,,);": true, "select 1;\n  --connect(a,localhost,root,,)\n": true,
		"--connection default\n": true, "connection con1;": true, "--source include/x.inc\nselect 1;": false, "set testdir [file dirname $argv0]": false,
	} {
		if Looks([]byte(text)) != want {
			t.Errorf("%q: %t", text, !want)
		}
	}
}

func TestDecide(t *testing.T) {
	r := newRunner(beside)
	r.vars = map[string]value{"i": {text: "2"}, "e": {text: "InnoDB"}, "zero": {text: "0"}, "no": {unknown: true}}
	for text, want := range map[string]string{
		"$i": "true", "!$i": "false", "$zero": "false", "$unset": "false", "! $unset": "true", "1": "true", "$e": "true",
		"$i == 2": "true", "$i != 2": "false", "$i < 10": "true", "$i >= 3": "false", "$e == 'InnoDB'": "true", "$i <= 2": "true",
		"$e == MyISAM": "false", "$i > 1": "true", "$no": "?", "$no == 1": "?", "`select 1`": "?", "$ENVIRONMENT": "?",
		"$e =~ /x/": "?", "$have_debug_sync": "false", "$1": "false",
	} {
		yes, ok := r.decide(text)
		got := fmt.Sprint(yes)
		if !ok {
			got = "?"
		}
		if got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}
