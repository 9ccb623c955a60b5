package main

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/txnfuzz/txnfuzz/fuzz/campaign"
	"github.com/txnfuzz/txnfuzz/fuzz/findings"
	"github.com/txnfuzz/txnfuzz/fuzz/races"
	"github.com/txnfuzz/txnfuzz/fuzz/web"
	run "github.com/txnfuzz/txnfuzz/fuzz/workload"
	"github.com/txnfuzz/txnfuzz/harness/load"
	"github.com/txnfuzz/txnfuzz/oracle"
)

// bound tells when a command ends by itself.
func bound(after time.Duration, n int, noun string) string {
	switch {
	case after > 0:
		return "after " + after.String()
	case n > 0:
		return fmt.Sprintf("after %d %s", n, noun)
	}
	return ""
}

// board begins the Board of a command that has run for so many seconds.
func board(command, target, version string, seconds float64) web.Board {
	return web.Board{Command: command, Target: target, Version: version,
		Begun: time.Now().Add(-time.Duration(seconds * float64(time.Second)))}
}

// total is a figure of events that is drawn over time.
func total(name, metric, help string, n int) web.Figure {
	return web.Figure{Name: name, Metric: metric, Help: help, Value: float64(n), Grows: true, Charted: true}
}

// level is a figure that is drawn as it is.
func level(name, metric, help string, value float64, unit string) web.Figure {
	return web.Figure{Name: name, Metric: metric, Help: help, Value: value, Charted: true, Unit: unit}
}

// verdictsOf sorts the counts of verdicts as everything else tells them.
func verdictsOf(counts map[oracle.Outcome]int) (out []web.Count) {
	for _, o := range []oracle.Outcome{oracle.OK, oracle.Known, oracle.Violation, oracle.Unknown} {
		out = append(out, web.Count{Name: string(o), N: counts[o]})
	}
	return out
}

func findingsOf(list []findings.Finding, begun time.Time) (out []web.Finding) {
	for _, f := range list {
		shown := web.Finding{ID: f.ID, Kind: string(f.Kind), Level: f.Level, Expected: f.Expected, Actual: f.Actual,
			Reason: f.Reason, File: f.File, New: f.New, Seen: f.Seen,
			At: begun.Add(time.Duration(f.FirstSeen * float64(time.Second)))}
		if f.Reproduced != findings.Unconfirmed {
			shown.Reproduced = f.Reproduced.String()
		}
		out = append(out, shown)
	}
	return out
}

// campaignBoard is what run shows.
func campaignBoard(s *campaign.Settings, r *campaign.Report) web.Board {
	b := board("run", r.Target, r.ServerVersion, r.Seconds)
	b.Bound = bound(s.Duration, s.Cases, "cases")
	b.Figures = []web.Figure{
		total("cases", "cases_total", "Cases that were judged.", r.Cases),
		total("statements", "statements_total", "Statements of these cases.", r.Statements),
		total("waits", "waits_total", "Statements that waited for a lock.", r.Blocked),
		total("deadlocks", "deadlocks_total", "Statements that failed with the error of a deadlock.", r.Deadlocks),
		level("judged", "judged_percent", "Statements for which only one answer is possible, of a sample.", 100*r.JudgedShare, " %"),
		level("in conflict", "conflicting_percent", "Cases in which transactions meet.", 100*r.ConflictingShare, " %"),
		level("kinds of deviations", "deviations", "Kinds of known deviations that were seen.", float64(len(r.Known)), ""),
		level("findings", "findings", "Findings so far.", float64(len(r.Findings)), ""),
		level("servers that died", "server_restarts", "Servers of ours that died and were replaced.", float64(r.Restarts), ""),
	}
	if r.Guide != nil {
		b.Figures = append(b.Figures,
			level("behaviours", "behaviours", "Classes of behaviour that were seen.", float64(r.Guide.Behaviours), ""),
			level("inputs kept", "inputs", "Inputs of rare behaviour in the corpus.", float64(r.Guide.Inputs), ""))
	}
	b.Verdicts = verdictsOf(r.Verdicts)
	var spent float64
	for _, p := range r.Phases {
		spent += p.Seconds
	}
	for _, p := range r.Phases {
		if spent > 0 {
			b.Phases = append(b.Phases, web.Phase{Name: p.Phase, Share: p.Seconds / spent,
				Mean: p.Seconds / float64(max(r.Runs, 1)) * 1e6})
		}
	}
	for _, d := range r.Doing {
		b.Workers = append(b.Workers, web.Worker{Number: d.Worker, Doing: d.What, Since: d.Since})
	}
	for _, j := range r.Jobs {
		b.Jobs = append(b.Jobs, web.Job{Finding: j.Finding, What: j.What, Since: j.Since})
	}
	b.Findings = findingsOf(r.Findings, b.Begun)
	return b
}

// racesBoard is what run --races shows.
func racesBoard(s *campaign.Settings, r *races.Report) web.Board {
	b := board("run --races", r.Target, r.Version, r.Seconds)
	b.Bound = bound(s.Duration, s.Cases, "cases")
	b.Figures = []web.Figure{
		total("cases", "cases_total", "Cases that were searched.", r.Cases),
		total("holds", "holds_total", "How often a statement was held, or was to be.", r.Holds),
		total("missed holds", "holds_missed_total", "Statements that did not come to the place.", r.Missed),
		total("recorded", "recorded_total", "Statements whose way through the server was recorded.", r.Recorded),
		total("outcomes", "outcomes_total", "What a case showed held that it did not show before.", r.Outcomes),
		level("places", "places", "Places at which an outcome changed.", float64(r.Places), ""),
		level("findings", "findings", "Findings so far.", float64(len(r.Findings)), ""),
	}
	b.Verdicts = verdictsOf(r.Verdicts)
	b.Findings = findingsOf(r.Findings, b.Begun)
	return b
}

// loadBoard is what load shows.
func loadBoard(s *load.Settings, r *load.Report) web.Board {
	b := board("load", r.Target, r.ServerVersion, r.Seconds)
	b.Bound = bound(s.Duration, int(s.Transactions), "transactions")
	b.Figures = []web.Figure{
		total("transactions", "transactions_total", "Transactions that ended.", int(r.Transactions)),
		total("committed", "committed_total", "Transactions that committed.", int(r.OK)),
		total("aborted", "aborted_total", "Transactions that did not.", int(r.Fail)),
		total("of unknown end", "unknown_total", "Transactions whose COMMIT was not answered.", int(r.Info)),
		level("clients", "clients", "Clients at a time.", float64(r.Clients), ""),
		total("epochs", "epochs_total", "Epochs whose histories were checked.", r.Epochs),
		total("faults", "faults_total", "Faults that were made.", len(r.Faults)),
		level("lost", "lost_acknowledged", "Writes that were acknowledged and are not there.", float64(r.Lost), ""),
		level("findings", "findings", "Kinds of anomalies that the level forbids.", float64(len(r.Findings)), ""),
	}
	for _, f := range r.Findings {
		b.Findings = append(b.Findings, web.Finding{ID: fmt.Sprintf("%s-%s", r.Workload, f.Kind), Kind: f.Kind, Level: r.Level,
			Reason: cmp.Or(firstOf(f.Says), f.Note), Seen: f.Count})
	}
	return b
}

func firstOf(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return list[0]
}

// workloadBoard is what workload shows. explained of all findings are explained.
func workloadBoard(s *run.Settings, r *run.Report, explained, all int) web.Board {
	b := board("workload", r.Target, r.ServerVersion, r.Seconds)
	b.Bound = bound(s.Duration, s.Cases, "cases")
	b.Figures = []web.Figure{
		total("cases", "cases_total", "Runs of transactions against each other.", r.Cases),
		total("serial runs", "serial_runs_total", "Runs of transactions one after the other.", r.Serial),
		level("findings", "findings", "Anomalies of the workload so far.", float64(max(len(r.Findings), all)), ""),
		level("explained", "findings_explained", "Findings that are explained.", float64(explained), ""),
	}
	for _, name := range slices.Sorted(maps.Keys(r.Rejected)) {
		b.Verdicts = append(b.Verdicts, web.Count{Name: "rejected: " + name, N: r.Rejected[name]})
	}
	b.Verdicts = append(verdictsOf(r.Verdicts), b.Verdicts...)
	for i, f := range r.Findings {
		id := cmp.Or(strings.TrimSuffix(filepath.Base(f.File), filepath.Ext(f.File)), fmt.Sprintf("finding-%d", i+1))
		b.Findings = append(b.Findings, web.Finding{ID: id,
			Kind: string(f.Kind), Level: f.Level, Reason: f.Detail, Seen: 1})
	}
	return b
}
