package workload

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/protocol"
	"github.com/txnfuzz/txnfuzz/corpus/spelling"
	"github.com/txnfuzz/txnfuzz/corpus/workload"
)

// Settings say what a campaign does.
type Settings struct {
	Target string
	// Levels are tried each; empty: all that the target has.
	Levels []corpus.Level
	// Min and Max are how many transactions run against each other.
	Min, Max int
	// Only, if not empty, names the transactions that take part.
	Only []string
	// Duration and Cases bound the campaign; 0: not at all. A case is a run of
	// transactions against each other at one level.
	Duration time.Duration
	Cases    int
	Seed     uint64
	Protocol protocol.Protocol
	Workers  int
	// Out is the folder for what is found.
	Out string
	// Tries is how often at least an anomaly is looked for under FOR UPDATE before that
	// is proposed; 0: none is.
	Tries int
	// Explain bounds what is spent on making findings small, looking for what mends
	// them and running the mended workload once the cases have run; 0: half of what those
	// took, at least 30 s.
	Explain  time.Duration
	Progress io.Writer
	// Live, if not nil, is called every second with the report so far, and with how many findings are explained and how many
	// are to be. What it is given changes once it has returned.
	Live  func(r *Report, explained, all int)
	Every time.Duration
}

// Fit returns a *SettingError for a name in Only that no transaction of a workload has.
func (s *Settings) Fit(w *workload.Workload) error {
	for _, name := range s.Only {
		if w.Transaction(name) == nil {
			var known []string
			for _, t := range w.Transactions {
				known = append(known, t.Name)
			}
			return &SettingError{fmt.Sprintf("--only: unknown transaction %q%s; want some of %s", name, spelling.Hint(name, known), strings.Join(known, ", "))}
		}
	}
	return nil
}

// inputLen is the length of the bytes that an input is made of.
const inputLen = 1024
