package fuzz

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/history"
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

	size size // of the case in File
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

// origin says where a case came from.
type origin struct {
	// input is the text of the header line `input`.
	input string
	// firstSeen is a UTC time.
	firstSeen string
}

// findingID names a fingerprint on a family of servers, for people and as a
// file name: family, kind, level, eight digits.
func findingID(server history.Server, level string, v *oracle.Verdict) string {
	kind := string(v.Kind)
	if v.Outcome == oracle.Known {
		kind = "known-" + strings.Join(v.Rules, "+")
	}
	parts := []string{string(server.DBMS), kind, level, shortHash(string(server.DBMS) + "\n" + v.Fingerprint)}
	return strings.ToLower(strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '+', r == '_':
			return r
		}
		return '-'
	}, strings.Join(parts, "-")))
}

// ownFinding is the source of a case that txnfuzz has found.
const ownFinding = "txnfuzz"

// Header keys of a saved finding.
const (
	keySource      = "source"
	keyTarget      = "target"
	keyVersion     = "server_version"
	keySettings    = "settings"
	keyKind        = "kind"
	keyRules       = "rules"
	keyAnomaly     = "anomaly"
	keyStmt        = "stmt"
	keyExpected    = "expected"
	keyActual      = "actual"
	keyReason      = "reason"
	keyFingerprint = "fingerprint"
	keyInput       = "input"
	keyReproduced  = "reproduced"
	keyInCampaign  = "in the campaign"
	keyConfirm     = "to confirm and reduce"
	keyAlso        = "also at"
	keyDefaults    = "vendor defaults"
	keyFirstSeen   = "first_seen"
	keyAgainst     = "against"
)

// Home is the target that a case was found on, as its header says, or else the
// default.
func Home(c *corpus.Case) string {
	if home, ok := c.Get(keyTarget); ok && home != "" {
		return home
	}
	return DefaultTarget
}

// Reproduced is in how many of ten more runs a stored finding showed, such as
// 10/10, or "unconfirmed"; "" for other cases.
func Reproduced(c *corpus.Case) string {
	k, _ := c.Get(keyReproduced)
	return k
}

// place is what a case ran on.
type place struct {
	target string // without a password
	server history.Server
	// against is what the target is compared with, nil: nothing.
	against *place
}

// describe returns a copy of the case of a run with the header of a finding. In a case of
// other people the line on the anomaly is their note, and stays.
func describe(at place, r *Trial, from origin, rates rates) *corpus.Case {
	c := r.Case.Clone()
	source, _ := c.Get(keySource)
	own := source == "" || source == ownFinding
	if own {
		c.Header = slices.DeleteFunc(c.Header, func(f corpus.Field) bool { return f.Key == keyAnomaly })
	}
	c.Header = slices.DeleteFunc(c.Header, func(f corpus.Field) bool { return f.Key == keyInCampaign || f.Key == keyConfirm })
	c.SetLevels(r.Levels)
	server := at.server
	v := &r.Verdict
	set := func(key, value string) {
		if value != "" {
			c.Set(key, value)
		}
	}
	set(keySource, ownFinding)
	set(keyTarget, at.target)
	set(keyVersion, server.Version)
	set(keySettings, settingsText(server.Settings))
	set(keyKind, string(v.Kind))
	set(keyRules, strings.Join(v.Rules, ", "))
	if own {
		set(keyAnomaly, oracle.AnomalyNames(r.anomalies()))
	}
	set(keyStmt, statementText(c, r.History, v.Stmt))
	set(keyExpected, v.Expected)
	set(keyActual, v.Actual)
	set(keyReason, v.Reason)
	set(keyFingerprint, v.Fingerprint)
	set(keyReproduced, rates.Reproduced.String())
	if rates.InCampaign != Unconfirmed {
		set(keyInCampaign, rates.InCampaign.String())
	}
	set(keyAlso, strings.Join(levelNames(r.Also), ", "))
	set(keyDefaults, r.Defaults)
	if at.against == nil {
		set(verdictKey(at.target, LevelName(r.Levels)), verdictText(v))
	} else {
		describeAgainst(c, at, r)
	}
	set(keyFirstSeen, from.firstSeen)
	set(keyInput, from.input)
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

// statementText names the statement that differs, as people find it: its line
// among the steps, its session and its SQL.
func statementText(c *corpus.Case, h *history.History, stmt int) string {
	step := stepNumber(h, stmt)
	if step == 0 {
		return "none; the final state, or the run as a whole"
	}
	l := c.Steps[step-1]
	return fmt.Sprintf("step %d, tx%d: %s", step, l.Session, corpus.SQL(l.Stmt, corpus.Text))
}

// stepNumber numbers a statement of a history as its case's file does, from 1; 0:
// there is none.
func stepNumber(h *history.History, stmt int) int {
	if h == nil || stmt < 0 || stmt >= len(h.Stmts) {
		return 0
	}
	return h.Stmts[stmt].Line + 1
}
