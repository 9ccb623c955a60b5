package kv_test

import (
	"bytes"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/oracle/kv"
)

const sample = `{"format":"txnfuzz-history","version":1,"workload":"append","target":"mysql:9.7","level":"RR","settings":{"log_bin":"ON"}}
{"session":0,"status":"ok","invoke":10,"return":25,"ops":[["append",1,7],["r",2,[3,4]],["r","x",[]]]}
{"session":1,"status":"info","invoke":12,"ops":[["append",2,5],["r",2,null]]}
{"session":7,"status":"fail","ops":[["append","x",-3]]}
{"end":3}
`

const ofNodes = `{"format":"txnfuzz-history","version":1,"workload":"append","topology":"asynchronous replica","nodes":[{"name":"a \"b\"","role":"primary"},{"name":"c","role":"replica"}]}
{"session":0,"node":"a \"b\"","status":"ok","invoke":10,"return":25,"ops":[["append",1,7]]}
{"session":1,"node":"c","status":"ok","ops":[["r",1,[7]]]}
{"session":2,"status":"fail","ops":[["append",1,8]]}
{"end":3}
`

// TestNodes: a history of several servers says which of them ran each transaction.
func TestNodes(t *testing.T) {
	src, err := kv.ReadJSONLines("nodes", strings.NewReader(ofNodes))
	if err != nil {
		t.Fatal(err)
	}
	h, err := kv.Load("nodes", src)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{`a "b"`, "c", ""} {
		if got := h.Node(i); got != want {
			t.Errorf("transaction %d: node %q, want %q", i, got, want)
		}
	}
	var out bytes.Buffer
	if err := kv.WriteHistory(&out, h, kv.JSONLines); err != nil || out.String() != ofNodes {
		t.Errorf("%v, written:\n%s\nread:\n%s", err, &out, ofNodes)
	}
	src, err = kv.ReadJSONLines("nodes", strings.NewReader(strings.Replace(ofNodes, `"node":"c"`, `"node":"d"`, 1)))
	if err != nil {
		t.Fatal(err)
	}
	var syntax *kv.SyntaxError
	if _, err = kv.Load("nodes", src); !errors.As(err, &syntax) || syntax.Line != 3 {
		t.Errorf("a node that is not listed: %v", err)
	}
}

func TestJSONLinesRoundTrip(t *testing.T) {
	src, err := kv.ReadJSONLines("sample", strings.NewReader(sample))
	if err != nil {
		t.Fatal(err)
	}
	h, err := kv.Load("sample", src)
	if err != nil {
		t.Fatal(err)
	}
	if h.Len() != 3 || h.OpCount() != 6 || h.Keys() != 3 || h.Sessions() != 3 {
		t.Fatal(h.Describe())
	}
	var out bytes.Buffer
	w, err := kv.NewWriter(&out, h.Header, h.Names)
	if err != nil {
		t.Fatal(err)
	}
	var r kv.Record
	for i := range h.Len() {
		h.Open(i, &r)
		if err := w.Write(&r); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if out.String() != sample {
		t.Errorf("written:\n%s\nread:\n%s", &out, sample)
	}
}

func TestCutJSONLinesIsNeverWhole(t *testing.T) {
	for n := range len(sample) - 1 {
		src, err := kv.ReadJSONLines("cut", strings.NewReader(sample[:n]))
		if err == nil {
			_, err = kv.Load("cut", src)
		}
		var syntax *kv.SyntaxError
		var noEnd *kv.ErrNoEnd
		if !errors.As(err, &syntax) && !errors.As(err, &noEnd) {
			t.Fatalf("cut at %d: %v", n, err)
		}
	}
}

// Whatever pieces the reads come in, the records are the same.
func TestJSONLinesInSmallReads(t *testing.T) {
	src, err := kv.ReadJSONLines("sample", io.MultiReader(oneByte{strings.NewReader(sample)}))
	if err != nil {
		t.Fatal(err)
	}
	small, err := kv.Load("sample", src)
	if err != nil {
		t.Fatal(err)
	}
	src, _ = kv.ReadJSONLines("sample", strings.NewReader(sample))
	whole, err := kv.Load("sample", src)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(small, whole) {
		t.Error("differs")
	}
}

type oneByte struct{ r io.Reader }

func (o oneByte) Read(p []byte) (int, error) { return o.r.Read(p[:1]) }

func TestListsThatArePrefixesCostNothing(t *testing.T) {
	h := kv.NewHistory(kv.Header{}, nil)
	read := func(vs ...kv.Value) {
		h.Add(&kv.Record{Ops: []kv.RecordOp{{Kind: kv.ReadList, Key: 5, List: vs}}})
	}
	read(1)
	read(1, 2, 3)
	read(2, 1)
	read(1, 2)
	want := [][]kv.Value{{1}, {1, 2, 3}, {2, 1}, {1, 2}}
	for i, w := range want {
		if got := h.List(h.Ops(i)[0]); !reflect.DeepEqual(got, w) {
			t.Errorf("read %d: %v, want %v", i, got, w)
		}
		if in := h.InSpine(h.Ops(i)[0]); in != (i != 2) {
			t.Errorf("read %d in spine: %v", i, in)
		}
	}
}
