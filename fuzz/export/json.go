package export

import (
	"bytes"
	"encoding/json"

	"github.com/txnfuzz/txnfuzz/fuzz/timeline"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// document is a run for programs.
type document struct {
	Title       string            `json:"title"`
	File        string            `json:"file"`
	Target      string            `json:"target"`
	Server      history.Server    `json:"server"`
	Levels      map[int]string    `json:"levels"`
	Needs       []setting         `json:"needs"`
	Setup       []string          `json:"setup"`
	Steps       []documentStep    `json:"steps"`
	Initial     []history.Table   `json:"initial"`
	Final       []history.Table   `json:"final"`
	Promised    []history.Table   `json:"promised_final,omitempty"`
	Verdict     oracle.Outcome    `json:"verdict"`
	Kind        oracle.Kind       `json:"kind,omitempty"`
	Rules       []string          `json:"rules,omitempty"`
	Fingerprint string            `json:"fingerprint,omitempty"`
	WrongStep   int               `json:"wrong_step,omitempty"`
	Expected    string            `json:"expected,omitempty"`
	Actual      string            `json:"actual,omitempty"`
	Why         []string          `json:"why,omitempty"`
	Anomaly     []oracle.Anomaly  `json:"anomaly"`
	Plans       []string          `json:"plans,omitempty"`
	Facts       *history.Facts    `json:"facts,omitempty"`
	Links       []string          `json:"links,omitempty"`
	Versions    []documentVersion `json:"versions,omitempty"`
	// Bisected holds the versions of the server and its commits, by the keys of the case's header.
	Bisected map[string]string `json:"bisected,omitempty"`
}

type documentStep struct {
	Step     int    `json:"step"`
	Session  int    `json:"session"`
	SQL      string `json:"sql"`
	Waits    bool   `json:"waits,omitempty"`
	Resumed  bool   `json:"resumed,omitempty"`
	WaitsFor []int  `json:"waits_for,omitempty"`
	Answer   string `json:"answer,omitempty"`
	Expected string `json:"expected,omitempty"`
	Differs  bool   `json:"differs,omitempty"`
}

type documentVersion struct {
	Table string `json:"table"`
	Row   int    `json:"row"`
	Text  string `json:"version"`
	Seen  bool   `json:"seen"`
}

func asJSON(s *script) (Files, error) {
	v := &s.Verdict
	d := document{
		Bisected: timeline.BisectedValues(s.Case),
		Title:    s.title(), File: s.File, Target: s.Target, Server: s.History.Server, Levels: map[int]string{}, Needs: s.needed, Setup: s.setup(),
		Initial: s.History.Initial, Final: s.History.Final, Promised: s.Account.Final, Verdict: v.Outcome, Kind: v.Kind,
		Rules: v.Rules, Fingerprint: v.Fingerprint, Why: s.Account.Why, Anomaly: s.Account.Anomalies, Plans: s.Plans(), Facts: s.History.Facts, Links: s.Account.Links,
	}
	if d.Needs == nil {
		d.Needs = []setting{}
	}
	d.WrongStep, d.Expected, d.Actual = s.Wrong()
	for _, n := range s.Sessions {
		d.Levels[n] = s.Levels[n].String()
	}
	for i := range s.actions {
		a := &s.actions[i]
		d.Steps = append(d.Steps, documentStep{a.Step, a.Session, a.sql, a.Waits, a.Resumed, a.Holders, a.Answer, a.Expected, a.Differs})
	}
	for _, c := range s.Account.Chains {
		for _, x := range c.Versions {
			d.Versions = append(d.Versions, documentVersion{c.Table, c.Row, s.VersionText(x), x.Seen})
		}
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // SQL is full of < and >
	e.SetIndent("", "  ")
	err := e.Encode(d)
	return Files{Text: b.Bytes()}, err
}
