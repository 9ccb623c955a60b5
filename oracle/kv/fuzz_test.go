package kv_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/oracle/kv"
)

// seeds are small files of each format; each parser gets all of them.
var seeds = map[kv.Format][]string{
	kv.JSONLines: {sample, `{"format":"txnfuzz-history","version":1,"workload":"predicate"}` + "\n" +
		`{"session":0,"status":"ok","ops":[["init",1,2],["rp","mod 2 0",[[1,2]]],["delete",1],["read-set","s",[1,2]],["add","s",3],["delta",4,-5],["r",9,null]]}` + "\n" + `{"end":1}`},
	kv.ElleEDN: {
		"{:type :invoke, :f :txn, :value [[:append :x 1] [:r 2 nil]], :process 0, :index 0}\n{:type :ok, :f :txn, :value [[:append :x 1] [:r 2 [1 2]]], :process 0, :index 1}\n",
		"[{:type :ok :f :read :value {0 10, 1 20} :process 1}\n {:type :info :f :transfer :process 2 :value {:from 0 :to 1 :amount 5}}]",
		"; a comment\n#jepsen.history.Op{:type :ok, :process :nemesis, :value [:a \"b\"]}\n{:type :ok :f :add :value [0 1] :process 3} {:type :ok :f :read :value [0 #{1 2}] :process 3}",
		"{:index 0, :type :invoke, :process 1, :f :txn, :value [[:append 1 2] [:r 1 nil]]}\n{:index 1, :type :ok, :process 1, :f :txn, :value [[:append 1 2] [:r 1 [2 3]] [:r 1 [2]] [:w 2 -7]], :time 12}\n" +
			"{:index 2, :type :ok, :process 3, :f :txn, :value [[:r 1 [2 3 45 6]] [:r 1 [2 3 4]] [:r 1 []] [:r 1 [2 3 ]]]}\n{:index 3, :type :fail, :process 3, :f :txn, :value [[:r 1 [2 3 45 -6 7]]]}\n",
		"{:type :ok :f :init :value {x 1}}{:type :ok :f :txn :process 1 :value [[:rp [:mod 2 0] {:x 1}] [:delete :x] [:insert \"y\" 3] [:w 1 -4]]}",
	},
	kv.ElleJSON: {
		`[{"type":"ok","f":"txn","value":[["append",1,2],["r",1,[2,3]],["r",1,[2,3,4]],["r",1,[2]]],"process":0},{"type":"ok","f":"txn","value":[["r",1,[2, 3]],["r",1,[2,4]],["r",1,[2,3,4,-5]]],"process":0}]`,
		`[{"type":"ok","f":"txn","value":[["w","x",2],["r","y",null],["r",1,[1,2]]],"process":0,"index":1},` + "\n" + `{"type":"ok","f":"read","value":{"0":1},"process":1}]`,
	},
	kv.Text: {"r(1,0,0,1)\nw(1,2,0,1)\nr(1,2,1,2)\nw(3,4,1,-1)\n"},
	kv.DBCop: {"\x01\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00" +
		"\x01\x00\x00\x00\x00\x00\x00\x00i\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00" +
		"\x01\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00" +
		"\x01\x02\x00\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00\x00\x00\x00\x00\x01\x01"},
}

// load reads a text in small pieces.
func load(format kv.Format, text []byte) (*kv.History, error) {
	src, err := kv.NewSource("input", format, bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	return kv.Load("input", src)
}

// parsed tells whether an input was read; what is not must be told by place.
func parsed(t *testing.T, h *kv.History, err error) bool {
	if err == nil {
		return true
	}
	var syntax *kv.SyntaxError
	var noEnd *kv.ErrNoEnd
	if !errors.As(err, &syntax) && !errors.As(err, &noEnd) {
		t.Fatalf("no place in %v", err)
	}
	if syntax != nil && syntax.Want == "" {
		t.Fatalf("nothing expected in %v", err)
	}
	return false
}

// roundTrips writes a history in each format and reads it again: both say the
// same.
func roundTrips(t *testing.T, h *kv.History) {
	for _, f := range kv.Writable {
		var out bytes.Buffer
		if err := kv.WriteHistory(&out, h, f); err != nil {
			if f != kv.JSONLines {
				continue // they cannot say everything
			}
			t.Fatalf("write as %s: %v", f, err)
		}
		if f != kv.JSONLines {
			continue // what they cannot say is left out; see TestConversions
		}
		again, err := load(f, out.Bytes())
		if err != nil {
			t.Fatalf("read what was written as %s: %v\n%s", f, err, &out)
		}
		var third bytes.Buffer
		if err := kv.WriteHistory(&third, again, f); err != nil || third.String() != out.String() {
			t.Fatalf("%s changed:\n%s\n%s\n%v", f, &out, &third, err)
		}
	}
}

func fuzzFormat(f *testing.F, format kv.Format) {
	for _, list := range seeds {
		for _, s := range list {
			f.Add([]byte(s))
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		h, err := load(format, text)
		if parsed(t, h, err) {
			roundTrips(t, h)
		}
		if format == kv.ElleEDN || format == kv.ElleJSON || format == kv.JSONLines {
			samePlainly(t, format, text, h, err)
		}
	})
}

// samePlainly reads a text again with blanks where no short cut of the readers
// allows them: it says the same, or is refused, too.
func samePlainly(t *testing.T, format kv.Format, text []byte, h *kv.History, err error) {
	if bytes.ContainsAny(text, `;"\\`) && format == kv.ElleEDN || bytes.Contains(text, []byte(`\`)) {
		return // a blank would mean something else
	}
	blanks := bytes.ReplaceAll(text, []byte("["), []byte("[ "))
	if format == kv.ElleEDN {
		blanks = bytes.ReplaceAll(blanks, []byte("\n"), []byte(" "))
	}
	slow, slowErr := load(format, blanks)
	if (err == nil) != (slowErr == nil) {
		t.Fatalf("read: %v, with blanks: %v", err, slowErr)
	}
	if err != nil {
		return
	}
	if a, b := spelled(t, h), spelled(t, slow); a != b {
		t.Fatalf("says\n%s\nwith blanks\n%s", a, b)
	}
}

// spelled writes a history without blanks, as samePlainly puts some into names.
func spelled(t *testing.T, h *kv.History) string {
	var out bytes.Buffer
	if err := kv.WriteHistory(&out, h, kv.JSONLines); err != nil {
		t.Fatal(err)
	}
	return strings.NewReplacer(" ", "", `\n`, "").Replace(out.String())
}

func FuzzJSONLines(f *testing.F) { fuzzFormat(f, kv.JSONLines) }
func FuzzElleEDN(f *testing.F)   { fuzzFormat(f, kv.ElleEDN) }
func FuzzElleJSON(f *testing.F)  { fuzzFormat(f, kv.ElleJSON) }
func FuzzText(f *testing.F)      { fuzzFormat(f, kv.Text) }
func FuzzDBCop(f *testing.F)     { fuzzFormat(f, kv.DBCop) }

func FuzzCobra(f *testing.F) {
	const n = "\x00\x00\x00\x00\x00\x00\x00\x01"
	f.Add([]byte("S" + n + "W" + n + n + n + "R" + n + n + n + n + "C" + n))
	f.Add([]byte("S" + n + "R\x00\x00\x00\x00\xbe\xbe\xeb\xee\x00\x00\x00\x00\xbe\xbe\xeb\xee" + n + n + "C" + n))
	f.Fuzz(func(t *testing.T, text []byte) {
		path := filepath.Join(t.TempDir(), "T0.log")
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		h, err := kv.Load("input", kv.ReadCobra([]string{path}))
		if parsed(t, h, err) {
			roundTrips(t, h)
		}
	})
}

func FuzzDetect(f *testing.F) {
	for _, list := range seeds {
		for _, s := range list {
			f.Add([]byte(s))
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if _, err := kv.Detect("input", text); err != nil {
			parsed(t, nil, err)
		}
	})
}

func TestFormatsAreToldByContent(t *testing.T) {
	for format, list := range seeds {
		for _, s := range list {
			if got, err := kv.Detect("seed", []byte(s)); err != nil || got != format {
				t.Errorf("%q: %s, %v, want %s", s, got, err, format)
			}
			if h, err := load(format, []byte(s)); err != nil || h.Len() == 0 {
				t.Errorf("%q: %v", s, err)
			}
		}
	}
}

// A history of lists and one of registers say the same in every format.
func TestConversions(t *testing.T) {
	for _, c := range []struct {
		text    string
		formats []kv.Format
	}{
		{sample, []kv.Format{kv.JSONLines, kv.ElleEDN, kv.ElleJSON}},
		{`{"format":"txnfuzz-history","version":1,"workload":"register"}
{"session":0,"status":"ok","ops":[["w",1,7],["r",2,null],["r",3,8]]}
{"session":1,"status":"fail","ops":[["w",2,5]]}
{"session":0,"status":"ok","ops":[["w",3,8]]}
{"end":3}
`, []kv.Format{kv.JSONLines, kv.ElleEDN, kv.ElleJSON, kv.Text}},
	} {
		want, err := load(kv.JSONLines, []byte(c.text))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range c.formats {
			var out bytes.Buffer
			if err := kv.WriteHistory(&out, want, f); err != nil {
				t.Fatal(err)
			}
			got, err := load(f, out.Bytes())
			if err != nil {
				t.Fatalf("%s: %v\n%s", f, err, &out)
			}
			if a, b := operations(t, want), operations(t, got); a != b {
				t.Errorf("%s says\n%s\nwant\n%s\nwritten as\n%s", f, b, a, &out)
			}
		}
	}
}

// operations spells sessions, status and operations, without times.
func operations(t *testing.T, h *kv.History) string {
	plain := kv.NewHistory(kv.Header{}, h.Names)
	bySession := map[int64][]kv.Record{}
	var order []int64
	for i := range h.Len() {
		var r kv.Record
		h.Open(i, &r)
		r.Invoke, r.Return = kv.Unknown, kv.Unknown
		for j, o := range r.Ops {
			if o.Kind == kv.Read && o.Val == 0 {
				r.Ops[j].Val = kv.Nil // the initial value of the text form
			}
		}
		if bySession[r.Session] == nil {
			order = append(order, r.Session)
		}
		bySession[r.Session] = append(bySession[r.Session], r)
	}
	slices.Sort(order)
	for _, s := range order {
		for i := range bySession[s] {
			plain.Add(&bySession[s][i])
		}
	}
	var out bytes.Buffer
	if err := kv.WriteHistory(&out, plain, kv.JSONLines); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestMalformedInputIsToldByPlace(t *testing.T) {
	for _, c := range []struct {
		format kv.Format
		text   string
		want   string
	}{
		{kv.ElleEDN, "{:type :ok, :value [[:append :x 1]", "input:1:35: expected more: the file ends in the middle of a form, got its end"},
		{kv.ElleEDN, "{:type :ok}\n{:type :maybe}", `input:2:8: expected invoke, ok, fail or info, got ":maybe}"`},
		{kv.ElleEDN, "{:process 0}", `input:1:1: expected an operation with a type, got "{:process 0}"`},
		{kv.ElleEDN, "[{:type :ok :f :txn :value [[:r x 1]] :process 0}", "input:1:50: expected the closing bracket of the history: the file is cut, got its end"},
		{kv.ElleEDN, "{:type :ok :f :txn :value [[:rr x 1]]}", `input:1:29: expected one of r, w, append, add, insert, delete, rp, got ":rr x 1]]}"`},
		{kv.ElleJSON, `[{"type":"ok" "f":"txn"}]`, `input:1:15: expected a comma or '}', got "\"f\":\"txn\"}]"`},
		{kv.Text, "r(1,2,3,4)\nw(1,2,3", `input:2:7: expected r(key,value,session,transaction) or w(…), all integers, got "w(1,2,3"`},
		{kv.Text, "r(1,x,3,4)", `input:1:5: expected an integer, got "x"`},
		{kv.Text, "w(1,2,0,1)\nw(1,3,0,2)\nw(1,4,0,1)", `input:3:1: expected the operations of a transaction together, got one more of transaction 1 after another one of session 0`},
		{kv.DBCop, "\x01\x00", "input: offset 0: expected the number of the history, got the end of the file after 2 of 8 bytes"},
		{kv.DBCop, seeds[kv.DBCop][0][:97], "input: offset 90: expected a key, got the end of the file after 7 of 8 bytes"},
		{kv.JSONLines, "{}", `input:1:1: expected a header line with "format":"txnfuzz-history" and "version":1, got "{}"`},
	} {
		h, err := load(c.format, []byte(c.text))
		if err == nil {
			t.Errorf("%s %q was read: %s", c.format, c.text, h.Describe())
		} else if err.Error() != c.want {
			t.Errorf("%s %q:\n%s\nwant\n%s", c.format, c.text, err, c.want)
		}
	}
}

// Reading in pieces of any size gives the same.
func TestElleInSmallReads(t *testing.T) {
	for _, s := range seeds[kv.ElleEDN] {
		whole, err := load(kv.ElleEDN, []byte(s))
		if err != nil {
			t.Fatal(err)
		}
		src, _ := kv.NewSource("input", kv.ElleEDN, io.MultiReader(oneByte{bytes.NewReader([]byte(s))}))
		small, err := kv.Load("input", src)
		if err != nil {
			t.Fatal(err)
		}
		if a, b := operations(t, whole), operations(t, small); a != b {
			t.Errorf("%s\n%s", a, b)
		}
	}
}
