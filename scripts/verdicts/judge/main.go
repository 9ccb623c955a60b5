package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// line is what is printed of one record. ID is FILE:NUMBER, from 1.
type line struct {
	ID      string         `json:"id"`
	Verdict oracle.Verdict `json:"verdict"`
	// Failed says that the case could not be parsed, or that the oracle panicked.
	Failed string `json:"failed,omitempty"`
}

func main() {
	untold := flag.Bool("untold", false, "judge as if no server had told a place of waiting or a plan")
	flag.Parse()
	out := bufio.NewWriterSize(os.Stdout, 1<<20)
	for _, file := range flag.Args() {
		if err := judge(out, file, *untold); err != nil {
			out.Flush()
			fmt.Fprintf(os.Stderr, "judge: %s: %v\n", file, err)
			os.Exit(3)
		}
	}
	if err := out.Flush(); err != nil {
		fmt.Fprintln(os.Stderr, "judge:", err)
		os.Exit(3)
	}
}

// judge judges the records of one file on all processors and prints them in
// their order.
func judge(out io.Writer, file string, untold bool) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	z, err := zstd.NewReader(f, zstd.WithDecoderConcurrency(1))
	if err != nil {
		return err
	}
	defer z.Close()
	name := strings.TrimSuffix(filepath.Base(file), ".jsonl.zst")
	// Each record has a place in the queue before it is judged, which keeps the
	// order and bounds what is in memory.
	queue := make(chan chan line, 4*runtime.GOMAXPROCS(0))
	readErr := make(chan error, 1)
	go func() {
		defer close(queue)
		slots := make(chan struct{}, runtime.GOMAXPROCS(0))
		d := json.NewDecoder(bufio.NewReaderSize(z, 1<<20))
		for n := 1; ; n++ {
			var raw json.RawMessage
			if err := d.Decode(&raw); err != nil {
				if !errors.Is(err, io.EOF) {
					readErr <- fmt.Errorf("record %d: %w", n, err)
				}
				return
			}
			done := make(chan line, 1)
			queue <- done
			slots <- struct{}{}
			go func() {
				done <- one(fmt.Sprintf("%s:%d", name, n), raw, untold)
				<-slots
			}()
		}
	}()
	enc := json.NewEncoder(out)
	for done := range queue {
		if err := enc.Encode(<-done); err != nil {
			return err
		}
	}
	select {
	case err := <-readErr:
		return err
	default:
		return nil
	}
}

func one(id string, raw []byte, untold bool) (l line) {
	l.ID = id
	defer func() {
		if p := recover(); p != nil {
			l.Failed = fmt.Sprintf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	var r oracle.Record
	if err := json.Unmarshal(raw, &r); err != nil {
		l.Failed = err.Error()
		return l
	}
	if untold {
		forget(r.History)
	}
	v, err := r.Judge(id)
	if err != nil {
		l.Failed = err.Error()
	}
	l.Verdict = v
	return l
}

// forget takes out of a history what its server told beyond what clients see, but for
// which waits there were.
func forget(h *history.History) {
	h.Facts = nil
	for i := range h.Stmts {
		for k := range h.Stmts[i].Waits {
			h.Stmts[i].Waits[k].At = nil
		}
	}
}
