package main

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/txnfuzz/txnfuzz/fuzz/campaign"
)

func lineAt(after time.Duration, process, cases int, what, name string) campaign.FirstSeen {
	return campaign.FirstSeen{At: time.Unix(1000, 0).Add(after), Process: process, Cases: cases, What: what, Name: name}
}

// Two processes, of which the second followed the death of the first.
func TestCellJoinsProcesses(t *testing.T) {
	c := cell{Seconds: 100, Curve: make([]int, tenths), Deviations: map[string]float64{}, Violations: map[string]float64{}}
	c.count([]campaign.FirstSeen{
		lineAt(0, 1, 0, campaign.FirstCases, ""),
		lineAt(5*time.Second, 1, 9, campaign.FirstBehaviour, "a"),
		lineAt(20*time.Second, 1, 30, campaign.FirstDeviation, "moved-row"),
		lineAt(45*time.Second, 2, 0, campaign.FirstCases, ""),
		lineAt(46*time.Second, 2, 2, campaign.FirstBehaviour, "a"),
		lineAt(55*time.Second, 2, 4, campaign.FirstBehaviour, "b"),
		lineAt(60*time.Second, 2, 5, campaign.FirstDeviation, "moved-row"),
		lineAt(61*time.Second, 2, 6, campaign.FirstViolation, "wrong-rows"),
		lineAt(103*time.Second, 2, 270, campaign.FirstBehaviour, "late"),
	})
	if len(c.ByCases) != 1 || c.ByCases[0] != 2 {
		t.Errorf("behaviours by cases %v, want 2 after 250", c.ByCases)
	}
	if c.Cases != 300 || c.Behaviours != 3 {
		t.Errorf("%d cases of 300, %d behaviours of 3", c.Cases, c.Behaviours)
	}
	if c.Curve[0] != 1 || c.Curve[4] != 1 || c.Curve[5] != 2 || c.Curve[9] != 2 {
		t.Errorf("curve %v", c.Curve)
	}
	if c.Deviations["moved-row"] != 20 || c.Violations["wrong-rows"] != 61 {
		t.Errorf("deviations %v, violations %v", c.Deviations, c.Violations)
	}
}

func TestDoneCellsAreNotRunAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cells.jsonl")
	if cells, err := readCells(path); err != nil || len(cells) != 0 {
		t.Fatalf("%v, %v", cells, err)
	}
	g := grid{seeds: 2, embedded: time.Minute, server: time.Minute, target: "mariadb:10.11"}
	all := g.cells()
	if want := len(arms) + len(arms) - 1 + 2*len(everywhere); len(all) != want {
		t.Fatalf("%d cells, want %d", len(all), want)
	}
	for i := range all {
		if err := appendCell(path, &all[i]); err != nil {
			t.Fatal(err)
		}
	}
	cells, err := readCells(path)
	if err != nil || len(cells) != len(all) {
		t.Fatalf("%d cells, %v", len(cells), err)
	}
	if left := g.left(cells[:len(cells)-1]); len(left) != 1 || left[0].String() != all[len(all)-1].String() {
		t.Errorf("left to do: %v", left)
	}
}

func TestTableTellsWhatIsNotShown(t *testing.T) {
	of := func(arm string, seed, behaviours int, seconds ...float64) cell {
		c := cell{Target: "mariadb:10.11", Arm: arm, Seed: seed, Seconds: 180, Cases: 1800, Behaviours: behaviours, Curve: make([]int, tenths), Deviations: map[string]float64{}}
		for _, s := range seconds {
			c.Deviations["moved-row"] = s
		}
		return c
	}
	cells := []cell{
		of(armRandom, 1, 100, 4), of(armRandom, 2, 120, 8), of(armRandom, 3, 90), of(armSignal, 1, 150, 2), of(armBlind, 1, 210),
	}
	for i, by := range [][]int{{60, 95}, {80, 90}, {50, 70, 90}, {110, 140}, {70}} {
		cells[i].ByCases = by
	}
	text := table(cells)
	for _, want := range []string{
		"### mariadb:10.11, 180 s a seed",
		"cases until 90 behaviours",
		"| random | 3 | 10 (10–10) | 100 (90–120) | – | 500 (500–750) | – | 1 (0–1) |",
		"| campaign | 1 | 10 | 150 | × 1.50, not shown | 250 | – | 1 |",
		"| blind campaign | 1 | 10 | 210 | × 2.10 | not in 1 of 1 | – | 0 |",
		"| `moved-row` | 2 | – | 4 (2 of 3) |",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no line %q in\n%s", want, text)
		}
	}
}
