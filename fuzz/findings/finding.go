package findings

import (
	"slices"
	"sort"
	"strings"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/judging"
	"github.com/txnfuzz/txnfuzz/oracle/promise"
)

// Finding is one cause of wrong histories: all cases of one fingerprint. Its
// JSON keys are part of the command line's contract.
type Finding struct {
	// ID is the name of the file without its ending.
	ID          string         `json:"id"`
	Fingerprint string         `json:"fingerprint"`
	Verdict     oracle.Outcome `json:"verdict"` // violation or, in a strict campaign, known
	Kind        oracle.Kind    `json:"kind"`
	Level       string         `json:"level"`
	// Rules holds the deviations that explain a known one, else nil.
	Rules []string `json:"rules"`
	File  string   `json:"file"`
	// Statements counts those of the saved case, set-up excluded.
	Statements int `json:"statements"`
	// Step is the statement that differs, counted from 1 in the order of the
	// file; 0: the final state, or the run as a whole.
	Step int `json:"step,omitempty"`
	rates
	// FirstSeen is in seconds since the start of the campaign.
	FirstSeen float64 `json:"first_seen_s"`
	// Seen counts the cases that showed it.
	Seen     int    `json:"seen"`
	Expected string `json:"expected"`
	Actual   string `json:"actual"`
	Reason   string `json:"reason"`
	// Anomaly is what the literature calls it, the gravest name first.
	Anomaly []oracle.Anomaly `json:"anomaly"`
	// Saved says that this run wrote File; else an earlier one had found the
	// same with no larger case.
	Saved bool `json:"saved"`
	// New says that no file of the folder of findings had the same fingerprint
	// on the same family of servers when the run began.
	New bool `json:"new"`
	// CutShort says that the time for reducing ended before nothing could be left out any more.
	CutShort bool `json:"reduction_cut_short,omitempty"`

	// Target is the simpler topology to which the target was reduced; empty: none.
	Target string `json:"target,omitempty"`

	at   *Place // of Target
	size size   // of the case in File
}

// becomes takes over what a reduction came to.
func (f *Finding) becomes(s *smaller) {
	f.rates, f.CutShort, f.at, f.Target = s.rates, s.cut, s.at, ""
	if s.at != nil {
		f.Target = s.at.Target
	}
}

// rates tell how surely a finding shows.
type rates struct {
	// Reproduced is in how many of ten more runs the fingerprint showed again,
	// each in a new database, on an instance that had run nothing else (behind a
	// DSN: on that server).
	Reproduced Rate `json:"reproduced"`
	// InCampaign is the same on the server of the campaign, with the tables that
	// it fills again and again.
	InCampaign Rate `json:"reproduced_in_campaign"`
}

// Origin says where a case came from.
type Origin struct {
	// Input is the text of the header line `input`.
	Input string
	// FirstSeen is a UTC time.
	FirstSeen string
}

// findingID names a fingerprint on a family of servers, for people and as a
// file name: family, kind, level, eight digits.
func findingID(server history.Server, level string, v *oracle.Verdict) string {
	kind := string(v.Kind)
	if v.Outcome == oracle.Known {
		kind = "known-" + strings.Join(v.Rules, "+")
	}
	parts := []string{string(server.DBMS), kind, level, ShortHash(string(server.DBMS) + "\n" + v.Fingerprint)}
	return strings.ToLower(strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '+', r == '_':
			return r
		}
		return '-'
	}, strings.Join(parts, "-")))
}

// OwnSource is the source of a case that txnfuzz has found.
const OwnSource = "txnfuzz"

// Header keys of a saved finding.
const (
	KeySource      = "source"
	KeyTarget      = "target"
	KeyVersion     = "server_version"
	keySettings    = "settings"
	keyPromise     = "promise"
	keyKind        = "kind"
	keyRules       = "rules"
	keyAnomaly     = "anomaly"
	keyStmt        = "stmt"
	keyExpected    = "expected"
	keyActual      = "actual"
	keyReason      = "reason"
	KeyFingerprint = "fingerprint"
	keyInput       = "input"
	keyReproduced  = "reproduced"
	keyInCampaign  = "in the campaign"
	keyConfirm     = "to confirm and reduce"
	keyReduce      = "to reduce further"
	keyAlso        = "also at"
	keyDefaults    = "vendor defaults"
	keyFirstSeen   = "first_seen"
	keyAgainst     = "against"
)

// Home is the target that a case was found on, as its header says, or else the
// default.
func Home(c *corpus.Case) string {
	if home, ok := c.Get(KeyTarget); ok && home != "" {
		return home
	}
	return target.Default
}

// Reproduced is in how many of ten more runs a stored finding showed, such as
// 10/10, or "unconfirmed"; "" for other cases.
func Reproduced(c *corpus.Case) string {
	k, _ := c.Get(keyReproduced)
	return k
}

// Place is what a case ran on.
type Place struct {
	Target string // without a password
	Server history.Server
	// Against is what the target is compared with, nil: nothing.
	Against *Place
}

// describe returns a copy of the case of a run with the header of a finding. In a case of
// other people the line on the anomaly is their note, and stays.
func describe(at Place, r *target.Trial, from Origin, rates rates) *corpus.Case {
	c := r.Case.Clone()
	source, _ := c.Get(KeySource)
	own := source == "" || source == OwnSource
	if own {
		c.Header = slices.DeleteFunc(c.Header, func(f corpus.Field) bool { return f.Key == keyAnomaly })
	}
	c.Header = slices.DeleteFunc(c.Header, func(f corpus.Field) bool {
		return slices.Contains([]string{keyInCampaign, keyConfirm, keyReduce}, f.Key)
	})
	c.SetLevels(r.Levels)
	server := at.Server
	v := &r.Verdict
	set := func(key, value string) {
		if value != "" {
			c.Set(key, value)
		}
	}
	set(KeySource, OwnSource)
	set(KeyTarget, at.Target)
	set(KeyVersion, server.Version)
	set(keySettings, settingsText(server.Settings))
	if server.Declared != nil {
		set(keyPromise, promise.Text(server.Declared.Levels))
	}
	set(keyKind, string(v.Kind))
	set(keyRules, strings.Join(v.Rules, ", "))
	if own {
		set(keyAnomaly, oracle.AnomalyNames(r.Anomalies()))
	}
	set(keyStmt, judging.StatementText(c, r.History, v.Stmt))
	set(keyExpected, v.Expected)
	set(keyActual, v.Actual)
	set(keyReason, v.Reason)
	set(KeyFingerprint, v.Fingerprint)
	set(keyReproduced, rates.Reproduced.String())
	if rates.InCampaign != Unconfirmed {
		set(keyInCampaign, rates.InCampaign.String())
	}
	set(keyAlso, strings.Join(target.LevelNames(r.Also), ", "))
	set(keyDefaults, r.Defaults)
	if at.Against == nil {
		set(verdictKey(at.Target, target.LevelName(r.Levels)), VerdictText(v))
	} else {
		describeAgainst(c, at, r)
	}
	set(keyFirstSeen, from.FirstSeen)
	set(keyInput, from.Input)
	return c
}

func settingsText(m map[string]string) string {
	parts := make([]string, 0, len(m))
	for k, v := range m {
		parts = append(parts, k+"="+v)
	}
	sort.Strings(parts)
	return strings.Join(parts, "; ")
}

// FromFile reads a finding off its file; id is its name.
func FromFile(id string, s corpus.Stored) Finding {
	get := func(key string) string {
		text, _ := s.Case.Get(key)
		return text
	}
	f := Finding{
		ID: id, Fingerprint: get(KeyFingerprint), Verdict: oracle.Violation, Kind: oracle.Kind(get(keyKind)),
		Level: target.LevelName(target.LevelsFor(s.Case, corpus.RepeatableRead)), File: s.Path, Statements: len(s.Case.Steps),
		Expected: get(keyExpected), Actual: get(keyActual), Reason: get(keyReason), Seen: 1, Saved: true, New: true,
	}
	if text := get(keyRules); text != "" {
		f.Verdict, f.Rules = oracle.Known, strings.Split(text, ", ")
	}
	f.rates = rates{rateIn(s.Case, keyReproduced), rateIn(s.Case, keyInCampaign)}
	_, f.CutShort = s.Case.Get(keyReduce)
	return f
}
