package campaign

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/txnfuzz/txnfuzz/fuzz/signal"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
	"github.com/txnfuzz/txnfuzz/oracle"
)

// What a line of the file Settings.Firsts tells of; see FirstSeen.
const (
	FirstBehaviour = "behaviour" // a class of the signal, in hexadecimal
	FirstDeviation = "deviation" // a rule that a known verdict names
	FirstViolation = "violation" // the kind of a violation
	FirstCases     = "cases"     // nothing new: how far the process came
)

// FirstSeen is a line of the file Settings.Firsts: what a process saw for the
// first time, and when. Engines are compared by such files, since each process
// of each of them can write one, and what a killed one wrote stays.
type FirstSeen struct {
	At      time.Time // to the millisecond
	Process int
	// Cases is how many cases the process had judged.
	Cases      int
	What, Name string
}

// sightings writes FirstSeen lines. It is safe for several goroutines; nil writes
// nothing.
type sightings struct {
	mu    sync.Mutex
	file  *os.File
	lines *bufio.Writer
	seen  map[[2]string]bool
	cases int
	wrote time.Time
}

// openSightings opens a file for appending; "": none.
func openSightings(path string) (*sightings, error) {
	if path == "" {
		return nil, nil
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, fmt.Errorf("file of what is seen first: %w", err)
	}
	w := &sightings{file: f, lines: bufio.NewWriter(f), seen: map[[2]string]bool{}}
	w.write(FirstCases, "")
	return w, w.flush()
}

// add notes what a case showed, but for the shapes of plans, which only some
// campaigns ask for. An error says that the file cannot be written.
func (w *sightings) add(r *target.Trial) error {
	if w == nil {
		return nil
	}
	h, v := r.History, &r.Verdict
	if h != nil && h.Plans != nil {
		without := *h
		without.Plans = nil
		h = &without
	}
	classes := signal.Of(r.Case, h, v)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cases++
	for _, k := range classes {
		w.first(FirstBehaviour, strconv.FormatUint(uint64(k), 16))
	}
	switch v.Outcome {
	case oracle.Known:
		for _, rule := range v.Rules {
			w.first(FirstDeviation, rule)
		}
	case oracle.Violation:
		w.first(FirstViolation, string(v.Kind))
	}
	// A killed process loses what it saw in its last second.
	if time.Since(w.wrote) < time.Second {
		return nil
	}
	w.write(FirstCases, "")
	return w.flush()
}

func (w *sightings) first(what, name string) {
	if key := [2]string{what, name}; !w.seen[key] {
		w.seen[key] = true
		w.write(what, name)
	}
}

func (w *sightings) write(what, name string) {
	// The first error of a bufio.Writer is kept for its Flush.
	fmt.Fprintf(w.lines, "%d\t%d\t%d\t%s\t%s\n", time.Now().UnixMilli(), os.Getpid(), w.cases, what, name)
}

func (w *sightings) flush() error {
	w.wrote = time.Now()
	if err := w.lines.Flush(); err != nil {
		return fmt.Errorf("file of what is seen first: %w", err)
	}
	return nil
}

func (w *sightings) close() error {
	if w == nil {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.write(FirstCases, "")
	if err := w.flush(); err != nil {
		return err
	}
	return w.file.Close()
}

// ReadFirsts reads a file of Settings.Firsts, in its order. The last line of a
// process that was killed may be cut off; such a line is left out.
func ReadFirsts(path string) ([]FirstSeen, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("file of what is seen first: %w", err)
	}
	var out []FirstSeen
	for _, line := range strings.Split(string(text), "\n") {
		fields := strings.Split(line, "\t")
		if len(fields) != 5 {
			continue
		}
		at, err1 := strconv.ParseInt(fields[0], 10, 64)
		process, err2 := strconv.Atoi(fields[1])
		cases, err3 := strconv.Atoi(fields[2])
		if err1 != nil || err2 != nil || err3 != nil {
			continue
		}
		out = append(out, FirstSeen{time.UnixMilli(at), process, cases, fields[3], fields[4]})
	}
	return out, nil
}
