package findings

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
)

// Baseline holds confirmed bugs that no rule explains yet: their fingerprints
// are counted, not reported. A nil Baseline holds none.
//
// Each line of its file is `fingerprint | reason | link | expires`, the last a
// day such as 2027-01-31; lines that start with # are comments.
type Baseline struct {
	entries []baselineEntry
	mu      sync.Mutex
	seen    map[string]int
}

type baselineEntry struct {
	fingerprint, reason, link string
	expires                   time.Time
}

// BaselineError says where a baseline file is malformed.
type BaselineError struct {
	File string
	Line int
	Msg  string
}

func (e *BaselineError) Error() string { return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Msg) }

// LoadBaseline reads a file; an empty path gives nil. A malformed file is a
// *BaselineError.
func LoadBaseline(path string) (*Baseline, error) {
	if path == "" {
		return nil, nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read baseline: %w", err)
	}
	b := &Baseline{seen: map[string]int{}}
	for i, line := range strings.Split(string(text), "\n") {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		f := strings.Split(line, "|")
		if len(f) != 4 {
			return nil, &BaselineError{path, i + 1, fmt.Sprintf("want `fingerprint | reason | link | expires`, found %d fields", len(f))}
		}
		for j := range f {
			if f[j] = strings.TrimSpace(f[j]); f[j] == "" {
				return nil, &BaselineError{path, i + 1, fmt.Sprintf("field %d is empty", j+1)}
			}
		}
		day, err := time.Parse(time.DateOnly, f[3])
		if err != nil {
			return nil, &BaselineError{path, i + 1, fmt.Sprintf("expires: want a day such as 2027-01-31, found %q", f[3])}
		}
		b.entries = append(b.entries, baselineEntry{f[0], f[1], f[2], day})
	}
	return b, nil
}

// covers counts a fingerprint and reports whether a valid entry names it.
func (b *Baseline) covers(fingerprint string) bool {
	if b == nil {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, e := range b.entries {
		if e.fingerprint == fingerprint {
			b.seen[fingerprint]++
			return !e.expired()
		}
	}
	return false
}

func (e *baselineEntry) expired() bool { return time.Now().After(e.expires.AddDate(0, 0, 1)) }

// BaselineReport tells which entries of a baseline want attention.
type BaselineReport struct {
	// Covered counts the cases that entries kept from being findings.
	Covered map[string]int `json:"covered"`
	// Expired and Unmatched hold the fingerprints of entries that no longer
	// count, and of those that nothing matched.
	Expired   []string `json:"expired"`
	Unmatched []string `json:"unmatched"`
	// Entries are all of them, in the order of the file.
	Entries []BaselineEntry `json:"entries"`
}

// BaselineEntry is a line of a baseline, and what came of it. Its JSON keys are part of the command line's contract.
type BaselineEntry struct {
	Fingerprint string `json:"fingerprint"`
	Reason      string `json:"reason"`
	Link        string `json:"link"`
	// LastDay is the last one on which it counts, such as 2027-01-31.
	LastDay string        `json:"last_day"`
	State   BaselineState `json:"state"`
	// Cases counts those that matched it: of one that is Expired, they were reported.
	Cases int `json:"cases"`
}

// BaselineState says what became of an entry of a baseline.
type BaselineState string

// The states of an entry.
const (
	BaselineCovered   BaselineState = "covered"   // it kept cases from being findings
	BaselineExpired   BaselineState = "expired"   // it no longer counts
	BaselineUnmatched BaselineState = "unmatched" // nothing matched it
)

// Report sums up; nil for a nil Baseline.
func (b *Baseline) Report() *BaselineReport {
	if b == nil {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	var list []BaselineEntry
	for _, e := range b.entries {
		to := BaselineEntry{
			Fingerprint: e.fingerprint, Reason: e.reason, Link: e.link, LastDay: e.expires.Format(time.DateOnly),
			State: BaselineCovered, Cases: b.seen[e.fingerprint],
		}
		switch {
		case e.expired():
			to.State = BaselineExpired
		case to.Cases == 0:
			to.State = BaselineUnmatched
		}
		list = append(list, to)
	}
	return baselineReport(list)
}

func baselineReport(list []BaselineEntry) *BaselineReport {
	r := &BaselineReport{Covered: map[string]int{}, Expired: []string{}, Unmatched: []string{}, Entries: list}
	if list == nil {
		r.Entries = []BaselineEntry{}
	}
	for _, e := range list {
		switch e.State {
		case BaselineExpired:
			r.Expired = append(r.Expired, e.Fingerprint)
		case BaselineUnmatched:
			r.Unmatched = append(r.Unmatched, e.Fingerprint)
		default:
			r.Covered[e.Fingerprint] = e.Cases
		}
	}
	return r
}

// Merged adds what a later part of a campaign made of the baseline, which may have been changed: its entries count.
// Either may be nil.
func (r *BaselineReport) Merged(later *BaselineReport) *BaselineReport {
	if r == nil || later == nil {
		return cmp.Or(later, r)
	}
	before := map[string]int{}
	for _, e := range r.Entries {
		before[e.Fingerprint] = e.Cases
	}
	list := slices.Clone(later.Entries)
	for i := range list {
		e := &list[i]
		if e.Cases += before[e.Fingerprint]; e.State == BaselineUnmatched && e.Cases > 0 {
			e.State = BaselineCovered
		}
	}
	return baselineReport(list)
}
