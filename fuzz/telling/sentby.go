package telling

import (
	"fmt"
	"slices"
	"strings"

	"github.com/txnfuzz/txnfuzz/corpus/protocol"
	"github.com/txnfuzz/txnfuzz/fuzz/campaign"
	"github.com/txnfuzz/txnfuzz/fuzz/timeline"
	"github.com/txnfuzz/txnfuzz/oracle/judging"
)

// writeSent tells how the statements of a campaign were sent.
func writeSent(b *strings.Builder, r *campaign.Report) {
	if r.Protocol == "" || r.Protocol == protocol.Text.String() {
		return
	}
	fmt.Fprintf(b, "sent by protocol %s: prepared each time %d, kept prepared %d; as text, which the server cannot prepare, %d\n",
		r.Protocol, r.Sent.Prepared, r.Sent.Executed, r.Sent.AsText)
}

// runLines tell what a reader has to know of a run beside its levels: where its sessions were, if not on one server, and
// how their statements were sent, if not as text.
func runLines(r timeline.Run) []string {
	if r.History == nil || r.History.Cluster == nil {
		return sentLines(r)
	}
	c := r.History.Cluster
	return append([]string{fmt.Sprintf("%s: %s", c.Form, c.Places(r.Case.Sessions()))}, sentLines(r)...)
}

// sentLines tell how the statements of a run were sent, if not all as text.
func sentLines(r timeline.Run) []string {
	if r.History == nil { // nothing was sent
		return nil
	}
	p := r.Case.Protocol()
	if p.IsText() {
		return nil
	}
	steps := map[string][]string{}
	var unprepared []string
	for i := range r.History.Stmts {
		s := &r.History.Stmts[i]
		steps[s.Sent] = append(steps[s.Sent], fmt.Sprint(i+1))
		if text := judging.StatementText(r.Case, r.History, i); s.Sent == "text" && !slices.Contains(unprepared, text) {
			unprepared = append(unprepared, text)
		}
	}
	out := []string{fmt.Sprintf("protocol: %s", p)}
	if p.IsMixed() {
		for _, x := range []struct{ sent, what string }{
			{"", "sent as text"}, {"prepare", "prepared, executed and closed"}, {"execute", "executed, and kept prepared"},
		} {
			if n := steps[x.sent]; len(n) > 0 {
				out = append(out, fmt.Sprintf("%s: steps %s", x.what, strings.Join(n, ", ")))
			}
		}
	}
	if len(unprepared) > 0 {
		out = append(out, fmt.Sprintf("sent as text, since the server cannot prepare it: %s", strings.Join(unprepared, "; ")))
	}
	return out
}
