package telling

import (
	"fmt"
	"io"
	"strings"

	"github.com/txnfuzz/txnfuzz/fuzz/against"
	"github.com/txnfuzz/txnfuzz/fuzz/campaign"
	"github.com/txnfuzz/txnfuzz/fuzz/findings"
	"github.com/txnfuzz/txnfuzz/oracle"
)

// WriteAgainst writes for each result what differs and why, the answers side by side.
func WriteAgainst(w io.Writer, results []findings.Replayed) error {
	var b strings.Builder
	runs, differing, count, open := 0, 0, 0, 0
	for i := range results {
		r := &results[i]
		a := r.Against
		if a == nil {
			continue
		}
		runs++
		if len(a.Differences) == 0 {
			continue
		}
		differing++
		verdict := func(o oracle.Outcome, what string) string { return strings.TrimSpace(string(o) + " " + what) }
		b.WriteString("\n" + wrapped(fmt.Sprintf("%s at %s: %s on %s, %s on %s",
			r.File, r.Level, verdict(r.Verdict, r.What()), r.Target, verdict(a.Verdict, a.What), a.Target), "  ") + "\n")
		rows := [][]string{{"step", "statement", r.Target, a.Target, "put down to"}}
		reasons := ""
		for _, d := range a.Differences {
			count++
			if d.Counts() {
				open++
			}
			rows = append(rows, []string{stepText(d.Step), d.Statement, d.First, d.Second, putDownTo(&d)})
			if d.Reason != "" && !d.Follows {
				reasons += "  " + wrapped(strings.TrimSpace(fmt.Sprintf("%s: %s. %s", stepText(d.Step), d.Reason, d.Link)), "    ") + "\n"
			}
		}
		b.WriteString(listed(rows) + "\n" + reasons)
	}
	if runs > 0 {
		fmt.Fprintf(&b, "\n%s compared with another server, %d of them with differences: %s, %d unattributed\n", campaign.Count(runs, "run"), differing, campaign.Count(count, "difference"), open)
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("write the differences: %w", err)
	}
	return nil
}

func stepText(step int) string {
	if step == 0 {
		return "end"
	}
	return fmt.Sprint(step)
}

// putDownTo says what a difference is put down to.
func putDownTo(d *findings.ReplayedDifference) string {
	text := fmt.Sprintf("%s, %s", d.Kind, d.Attribution)
	switch {
	case d.Follows:
		text = fmt.Sprintf("%s, follows", d.Kind)
	case d.Attribution == against.Unattributed && !d.Counts():
		text = fmt.Sprintf("%s, by chance", d.Kind)
	}
	if d.Attribution == against.Unattributed {
		text += ", reproduced " + d.Reproduced.String()
	}
	return text
}
