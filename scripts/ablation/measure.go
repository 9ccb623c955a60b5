package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/txnfuzz/txnfuzz/fuzz/campaign"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
)

// tenths is how many points a curve has.
const tenths = 10

// caseStep is the distance of the points of ByCases.
const caseStep = 250

// measure reads what an arm left in its folder.
func (c *cell) measure(ctx context.Context, dir string) error {
	c.Curve, c.Deviations, c.Violations = make([]int, tenths), map[string]float64{}, map[string]float64{}
	if c.Arm != startAlone {
		lines, err := campaign.ReadFirsts(filepath.Join(dir, firstsFile))
		if err != nil {
			return err
		}
		c.count(lines)
		if c.Cases == 0 {
			return errors.New("not one case was judged")
		}
	}
	if c.Target != target.Default {
		return nil
	}
	var err error
	c.Covered, c.Statements, err = coverage(ctx, filepath.Join(dir, coverageDir))
	if errors.Is(err, errNoCoverage) && c.Arm != startAlone {
		err = nil
	}
	return err
}

// count joins the lines of the processes of an arm.
func (c *cell) count(lines []campaign.FirstSeen) {
	seen, cases := map[string]bool{}, map[int]int{}
	for _, l := range lines {
		c.Cases += l.Cases - cases[l.Process]
		cases[l.Process] = l.Cases
		for len(c.ByCases) < c.Cases/caseStep {
			c.ByCases = append(c.ByCases, c.Behaviours)
		}
		after := l.At.Sub(lines[0].At).Seconds()
		key := l.What + " " + l.Name
		if seen[key] {
			continue
		}
		seen[key] = true
		switch l.What {
		case campaign.FirstBehaviour:
			c.Behaviours++
			at := int(after * tenths / float64(c.Seconds))
			for i := at; i < tenths; i++ {
				c.Curve[i]++
			}
		case campaign.FirstDeviation:
			c.Deviations[l.Name] = round(after)
		case campaign.FirstViolation:
			c.Violations[l.Name] = round(after)
		}
	}
}

func round(seconds float64) float64 { return math.Round(seconds*10) / 10 }

var errNoCoverage = errors.New("no process wrote coverage")

// coverage counts the statements that the processes of a folder ran.
func coverage(ctx context.Context, dir string) (covered, statements int, err error) {
	profile := filepath.Join(dir, "profile.txt")
	cmd := exec.CommandContext(ctx, "go", "tool", "covdata", "textfmt", "-i="+dir, "-o="+profile)
	if out, err := cmd.CombinedOutput(); err != nil {
		return 0, 0, fmt.Errorf("read coverage: %w: %s", err, out)
	}
	text, err := os.ReadFile(profile)
	if err != nil {
		return 0, 0, err
	}
	ran := map[string]bool{}
	count := map[string]int{}
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		// package/file.go:1.2,3.4 statements times
		var n, times int
		fields := strings.Fields(lines.Text())
		if len(fields) != 3 || strings.HasPrefix(fields[0], "github.com/txnfuzz/") {
			continue // the mode; what Go wants covered to write any
		}
		if _, err := fmt.Sscan(fields[1], &n); err != nil {
			return 0, 0, fmt.Errorf("read coverage: %q: %w", lines.Text(), err)
		}
		if _, err := fmt.Sscan(fields[2], &times); err != nil {
			return 0, 0, fmt.Errorf("read coverage: %q: %w", lines.Text(), err)
		}
		count[fields[0]] = n
		ran[fields[0]] = ran[fields[0]] || times > 0
	}
	for block, n := range count {
		statements += n
		if ran[block] {
			covered += n
		}
	}
	if covered == 0 {
		return 0, 0, errNoCoverage
	}
	return covered, statements, lines.Err()
}
