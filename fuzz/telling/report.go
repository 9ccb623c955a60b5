package telling

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"sort"
	"strings"

	"github.com/txnfuzz/txnfuzz/fuzz/against"
	"github.com/txnfuzz/txnfuzz/fuzz/campaign"
	"github.com/txnfuzz/txnfuzz/fuzz/findings"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/judging"
)

// writeAgainstReport writes the differences for people.
func writeAgainstReport(b *strings.Builder, r *campaign.AgainstReport) {
	if r == nil {
		return
	}
	fmt.Fprintf(b, "against %s %s: %s on both, %s compared; in %s the waits differ\n",
		r.Target, r.ServerVersion, campaign.Count(r.Cases, "case"), campaign.Count(r.Statements, "statement"), campaign.Count(r.Parted, "case"))
	total := 0
	for _, a := range campaign.Attributions {
		total += r.Count(a)
	}
	fmt.Fprintf(b, "%s: %d unattributed, %d wrong on the first, %d both right, %d by a rule, %d by an error's number, %d by dialect\n",
		campaign.Count(total, "difference"), r.Count(against.Unattributed), r.Count(against.Reported), r.Count(against.BothRight), r.Count(against.Rule), r.Count(against.ErrorCode), r.Count(against.Dialect))
	if r.Vanished > 0 {
		fmt.Fprintf(b, "  %s not counted: further runs did not show it each time\n", campaign.Count(r.Vanished, "difference"))
	}
	if r.Broken > 0 {
		fmt.Fprintf(b, "  %s broke down on one of the two\n", campaign.Count(r.Broken, "case"))
	}
	if total > 0 {
		writeReasons(b, r.Differences)
	}
}

// writeReasons draws a row for each reason, and below it names the first case of each.
func writeReasons(b *strings.Builder, all []campaign.DifferenceSum) {
	rows := [][]string{{"", "count", "put down to", "reason", "in"}}
	files := ""
	for i := range all {
		d := &all[i]
		same := func(x campaign.DifferenceSum) bool { return x.Attribution == d.Attribution && x.Reason == d.Reason }
		if slices.IndexFunc(all, same) < i {
			continue
		}
		count, kinds, example := 0, map[against.Kind]int{}, ""
		for _, x := range all {
			if same(x) {
				count += x.Count
				kinds[x.Kind] += x.Count
				if example == "" || !x.Follows && strings.Contains(example, findings.FollowsMark) {
					example = x.Example
				}
			}
		}
		var in []string
		for _, k := range slices.SortedFunc(maps.Keys(kinds), func(x, y against.Kind) int { return cmp.Or(kinds[y]-kinds[x], cmp.Compare(x, y)) }) {
			in = append(in, fmt.Sprintf("%s %d", k, kinds[k]))
		}
		n := len(rows)
		rows = append(rows, []string{fmt.Sprint(n), fmt.Sprint(count), string(d.Attribution), target.OneLine(d.Reason), strings.Join(in, ", ")})
		files += fmt.Sprintf("  %d: %s\n", n, example)
	}
	b.WriteString(listed(rows) + "\nthe first case of each:\n" + files)
}

// WriteReport writes the summary of a campaign for people.
func WriteReport(w io.Writer, r *campaign.Report) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s, %s: %s in %.1f s (%.0f a minute), %s (%.1f a case)\n",
		r.Target, r.ServerVersion, strings.Join(r.Levels, " "), campaign.Count(r.Cases, "case"), r.Seconds, r.CasesPerMinute, campaign.Count(r.Statements, "statement"), r.MeanStatements)
	fmt.Fprintf(&b, "judged %.1f%% of the statements, blocked %d, deadlocks %d, conflicting cases %.0f%%\n",
		100*r.JudgedShare, r.Blocked, r.Deadlocks, 100*r.ConflictingShare)
	writeSent(&b, r)
	fmt.Fprintf(&b, "ok %d, known %d, violation %d, unknown %d\n",
		r.Verdicts[oracle.OK], r.Verdicts[oracle.Known], r.Verdicts[oracle.Violation], r.Verdicts[oracle.Unknown])
	writeCounts(&b, "known", r.Known)
	if r.Asked > 0 {
		fmt.Fprintf(&b, "  %d known ones were run again while the server told its plans: %d turned out to be something else\n", r.Asked, r.Refuted)
	}
	if r.Computed > 0 {
		fmt.Fprintf(&b, "the server computed SQL of %s: %d got a verdict\n", campaign.Count(r.Computed, "case"), r.ComputedJudged)
	}
	if r.ByPromise > 0 {
		fmt.Fprintf(&b, "judged by what the level promises, since no rule knows their SQL: %s\n", campaign.Count(r.ByPromise, "case"))
	}
	if r.Seconded > 0 {
		fmt.Fprintf(&b, "judged by that as well as by the rules: %s, the two disagreed on %d\n", campaign.Count(r.Seconded, "case"), r.Disagreed)
	}
	if r.Unique {
		b.WriteString("every written value was unique, and each case was judged by its answers alone, too\n")
	}
	writeReplicas(&b, r.Replicas)
	reasons := map[string]int{}
	for reason, n := range r.Unknown {
		reasons[judging.PlainSQL(reason)] += n
	}
	writeCounts(&b, "unknown", reasons)
	if r.ShowPhases {
		fmt.Fprintf(&b, "a run: %s\n", r.Phases.Text())
	}
	if r.Guide != nil {
		fmt.Fprintf(&b, "corpus: %d inputs, %d classes of behaviour\n", r.Guide.Inputs, r.Guide.Behaviours)
	}
	r.Patterns.WriteText(&b)
	if r.Baseline != nil {
		writeCounts(&b, "baseline", r.Baseline.Covered)
		for _, f := range r.Baseline.Expired {
			fmt.Fprintf(&b, "  baseline entry expired: %s\n", f)
		}
		for _, f := range r.Baseline.Unmatched {
			fmt.Fprintf(&b, "  baseline entry matched nothing: %s\n", f)
		}
	}
	writeAgainstReport(&b, r.Against)
	for _, f := range r.Findings {
		size := campaign.Count(f.Statements, "statement")
		if f.CutShort {
			size += " (the reduction was cut short)"
		}
		if f.Target != "" {
			size += " on " + f.Target
		}
		fmt.Fprintf(&b, "finding %s: reproduced %s, seen %d×, %s: %s\n", f.ID, f.Reproduced, f.Seen, size, f.File)
		fmt.Fprintf(&b, "  expected: %s\n  actual:   %s\n", findings.Short(f.Expected), findings.Short(f.Actual))
	}
	if len(r.Findings) == 0 {
		b.WriteString("nothing found\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// writeReplicas writes what was seen of a replica.
func writeReplicas(b *strings.Builder, r *target.Replicas) {
	if r == nil {
		return
	}
	fmt.Fprintf(b, "the replica was compared behind %s, and begun anew %s\n", campaign.Count(int(r.Compared), "case"), campaign.Count(r.Rebuilt, "time"))
	if r.Watched > 0 {
		fmt.Fprintf(b, "  while %s ran it was read %s\n", campaign.Count(int(r.Watched), "case"), campaign.Count(int(r.Reads), "time"))
	}
	if r.Undecided > 0 {
		fmt.Fprintf(b, "  %d of %s undecided: what they saw may be a state that the primary was not seen in\n",
			r.Undecided, campaign.Count(int(r.Judged), "read"))
	}
	if r.Refused > 0 {
		fmt.Fprintf(b, "  %s it answered with an error\n", campaign.Count(int(r.Refused), "read"))
	}
	if r.Unsafe > 0 {
		fmt.Fprintf(b, "  the server called %s unsafe in the binary log (1592); %s differed for that, as documented\n",
			campaign.Count(int(r.Unsafe), "statement"), campaign.Count(int(r.Documented), "case"))
	}
	if r.Others > 0 {
		fmt.Fprintf(b, "  it had stopped behind %s that did not stop it again alone (most ran beside the one that did):\n", campaign.Count(int(r.Others), "case"))
		for _, text := range r.Stopped {
			fmt.Fprintf(b, "    %s\n", target.OneLine(text))
		}
	}
}

// writeCounts lists counts, the largest first.
func writeCounts(b *strings.Builder, title string, m map[string]int) {
	names := make([]string, 0, len(m))
	for n := range m {
		names = append(names, n)
	}
	sort.Strings(names)
	slices.SortStableFunc(names, func(x, y string) int { return m[y] - m[x] })
	for _, n := range names {
		fmt.Fprintf(b, "  %s %6d  %s\n", title, m[n], n)
	}
}
