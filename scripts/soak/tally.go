package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sort"
	"strconv"
	"strings"

	"github.com/txnfuzz/txnfuzz/fuzz/campaign"
)

// summary is what the tally keeps of the JSON that `txnfuzz run` writes.
type summary struct {
	ServerVersion string            `json:"server_version"`
	DBMS          string            `json:"dbms"`
	Settings      map[string]string `json:"settings"`
	Seconds       float64           `json:"seconds"`
	Cases         int               `json:"cases"`
	Statements    int               `json:"statements"`
	Judged        float64           `json:"judged"`
	Blocked       int               `json:"blocked"`
	Conflicting   float64           `json:"conflicting"`
	Verdicts      map[string]int    `json:"verdicts"`
	Known         map[string]int    `json:"known"`
	Unknown       map[string]int    `json:"unknown"`
	ByLevel       campaign.ByLevel  `json:"by_level"`
}

// columns of the tally. Rows of older versions lack the last ones.
var columns = []string{"rules", "target", "server_version", "levels", "seed", "cases", "statements", "judged", "blocked", "conflicting", "ok", "known", "violation", "unknown", "seconds", "known_rules", "unknown_reasons", "dbms", "settings", "by_level"}

const (
	oldColumns = 17
	cellDBMS   = 17
)

// row is one row of the tally.
type row struct {
	ruleset, target, levels string
	seed                    int
	summary
}

// readTally returns the rows of a tally, none for a file that does not exist.
// Rows of older versions have no counts by level.
func readTally(path string) ([]row, error) {
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the tally: %w", err)
	}
	defer f.Close()
	var out []row
	sc := bufio.NewScanner(f)
	sc.Buffer(nil, 1<<20)
	for line := 1; sc.Scan(); line++ {
		v := strings.Split(sc.Text(), "\t")
		if line == 1 || len(v) < oldColumns {
			continue
		}
		c, err := readChunk(v)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, line, err)
		}
		out = append(out, c)
	}
	if err := sc.Err(); err != nil {
		return nil, fmt.Errorf("read the tally: %w", err)
	}
	return out, nil
}

func readChunk(v []string) (row, error) {
	c := row{ruleset: v[0], target: v[1], levels: v[3]}
	c.ServerVersion, c.Verdicts = v[2], map[string]int{}
	var err, failed error
	number := func(s string) int {
		n, e := strconv.Atoi(s)
		failed = errors.Join(failed, e)
		return n
	}
	c.seed, c.Cases, c.Statements, c.Blocked = number(v[4]), number(v[5]), number(v[6]), number(v[8])
	for i, o := range []string{"ok", "known", "violation", "unknown"} {
		c.Verdicts[o] = number(v[10+i])
	}
	if c.Judged, err = strconv.ParseFloat(v[7], 64); err != nil {
		failed = errors.Join(failed, err)
	}
	if len(v) < len(columns) {
		return c, failed
	}
	c.DBMS = v[cellDBMS]
	failed = errors.Join(failed, json.Unmarshal([]byte(v[cellDBMS+1]), &c.Settings), json.Unmarshal([]byte(v[cellDBMS+2]), &c.ByLevel))
	return c, failed
}

// appendChunk writes one row, behind the names of the columns if it is the
// first.
func appendChunk(path string, c *row) error {
	_, statErr := os.Stat(path)
	settings, err := json.Marshal(c.Settings)
	if err != nil {
		return fmt.Errorf("append to the tally: %w", err)
	}
	levels, err := json.Marshal(c.ByLevel)
	if err != nil {
		return fmt.Errorf("append to the tally: %w", err)
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("append to the tally: %w", err)
	}
	defer f.Close()
	if errors.Is(statErr, os.ErrNotExist) {
		fmt.Fprintln(f, strings.Join(columns, "\t"))
	}
	cells := []any{c.ruleset, c.target, c.ServerVersion, c.levels, c.seed, c.Cases, c.Statements, fmt.Sprintf("%.4f", c.Judged), c.Blocked, fmt.Sprintf("%.3f", c.Conflicting),
		c.Verdicts["ok"], c.Verdicts["known"], c.Verdicts["violation"], c.Verdicts["unknown"], fmt.Sprintf("%.1f", c.Seconds), counts(c.Known), counts(c.Unknown),
		c.DBMS, string(settings), string(levels)}
	text := make([]string, len(cells))
	for i, v := range cells {
		text[i] = strings.NewReplacer("\t", " ", "\n", " ").Replace(fmt.Sprint(v))
	}
	if _, err := fmt.Fprintln(f, strings.Join(text, "\t")); err != nil {
		return fmt.Errorf("append to the tally: %w", err)
	}
	return f.Sync()
}

func counts(m map[string]int) string {
	out := make([]string, 0, len(m))
	for k, n := range m {
		out = append(out, fmt.Sprintf("%s=%d", k, n))
	}
	sort.Strings(out)
	if len(out) == 0 {
		return "-"
	}
	return strings.Join(out, ",")
}
