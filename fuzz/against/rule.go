package against

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/rules"
)

// byNamedRule puts a difference down to a deviation without which one of the histories
// cannot be told, and which the other does not show. Before the statement at which it shows
// it can only have moved a wait.
func (p *pair) byNamedRule(d *Difference) bool {
	return p.byDeviation(d, func(v *oracle.Verdict) bool { return d.Kind == Wait || d.Stmt < 0 || d.Stmt >= v.Stmt })
}

// byRuleShown does so for the very statement at which the deviation shows.
func (p *pair) byRuleShown(d *Difference) bool {
	return p.byDeviation(d, func(v *oracle.Verdict) bool { return d.Stmt >= 0 && d.Stmt == v.Stmt })
}

func (p *pair) byDeviation(d *Difference, shows func(*oracle.Verdict) bool) bool {
	if !p.rightly() {
		return false
	}
	for i, s := range p.side {
		v, other := &s.Verdict, &p.side[1-i].Verdict
		if v.Outcome != oracle.Known || !shows(v) {
			continue
		}
		for _, name := range v.Rules {
			if slices.Contains(other.Rules, name) || p.strict && inScope(p.side[1-i].Server, oracle.LevelsIn(p.c, p.h[i]), name) {
				continue
			}
			d.Attribution, d.Reason = Rule, name+" on "+family(s.Server, nil)
			if named := rules.Named(s.Server, oracle.LevelsIn(p.c, p.h[i]), name); named != nil {
				d.Reason, d.Link = name+" on "+family(s.Server, named[0]), named[0].Links[0]
			}
			return true
		}
	}
	return false
}

// inScope reports whether a deviation is recorded for a server at one of some levels.
func inScope(srv history.Server, levels []corpus.Level, name string) bool {
	return slices.ContainsFunc(rules.Deviations(srv, levels), func(r *rules.Rule) bool { return r.Name == name })
}

// byRule puts a difference down to a rule that holds on one of the servers only, of those
// that can show in it.
func (p *pair) byRule(d *Difference) bool {
	if d.Stmt < 0 || d.Stmt >= len(p.h[0].Stmts) {
		return false
	}
	for i := range rulesShow {
		s := &rulesShow[i]
		if !slices.Contains(s.kinds, d.Kind) || len(s.levels) > 0 && !slices.Contains(s.levels, d.Level) || len(s.statements) > 0 && !slices.Contains(s.statements, d.Statement) || s.codes != nil && !fails(d, s.codes) || s.after != "" && !p.hasBefore(d, s.after) {
			continue
		}
		for _, held := range []func(history.Server, corpus.Level, rules.Dimension) *rules.Rule{promised, deviation} {
			first, second := held(p.side[0].Server, d.Level, s.dim), held(p.side[1].Server, d.Level, s.dim)
			if first == second || first != nil && second != nil && first.Variant == second.Variant {
				continue
			}
			by := 0
			if first == nil {
				first, by = second, 1
			}
			d.Attribution, d.Reason, d.Link = Rule, ruleName(first)+" on "+family(p.side[by].Server, first), first.Links[0]
			return true
		}
	}
	return false
}

// bySetting puts a difference down to a setting that the two servers have otherwise.
func (p *pair) bySetting(d *Difference) bool {
	for i := range settingsShow {
		s := &settingsShow[i]
		a, b := p.side[0].Server.Settings[s.name], p.side[1].Server.Settings[s.name]
		if a == b || !slices.Contains(s.kinds, d.Kind) || s.codes != nil && !fails(d, s.codes) || !s.fits(p) {
			continue
		}
		d.Attribution, d.Reason, d.Link = Rule, fmt.Sprintf("%s: %s is %s on %s and %s on %s", s.says, s.name, a, family(p.side[0].Server, nil), b, family(p.side[1].Server, nil)), s.link
		return true
	}
	return false
}

var textColumn = regexp.MustCompile(`(?i)\b(VARCHAR|CHAR|TEXT|TINYTEXT|MEDIUMTEXT|LONGTEXT|ENUM|SET)\b`)

// holdsTexts reports whether a table of the case has a column of texts.
func holdsTexts(p *pair) bool {
	return slices.ContainsFunc(p.c.Init, func(l corpus.Line) bool {
		_, creates := l.Stmt.(*ast.CreateTableStmt)
		return creates && textColumn.MatchString(corpus.SQL(l.Stmt, corpus.Text))
	})
}

// changesNothing reports whether an UPDATE of one MySQL met rows and left some of them as
// they were.
func changesNothing(p *pair) bool {
	return p.strict && p.side[0].Server.DBMS == history.MySQL && slices.ContainsFunc(p.h[0].Stmts, func(st history.Stmt) bool {
		return st.Result.Changed >= 0 && st.Result.Matched > st.Result.Changed
	})
}

// hasBefore reports whether the session of a difference has sent a statement of a kind
// before.
func (p *pair) hasBefore(d *Difference, kind stmt.Kind) bool {
	stmts := p.h[0].Stmts[:d.Stmt+1]
	return slices.ContainsFunc(stmts, func(st history.Stmt) bool {
		return st.Session == stmts[d.Stmt].Session && oracle.KindOf(p.c.Steps[st.Line].Stmt) == kind
	})
}

// promised is the row of the table by which a server's manual answers a dimension, nil for
// none; deviation is the one by which the server does, if that is another.
func promised(srv history.Server, l corpus.Level, dim rules.Dimension) *rules.Rule {
	if held := rules.Holding(srv, l, dim); len(held) > 0 {
		return held[0]
	}
	return nil
}

func deviation(srv history.Server, l corpus.Level, dim rules.Dimension) *rules.Rule {
	for _, r := range rules.Deviations(srv, []corpus.Level{l}) {
		if r.Dim == dim {
			return r
		}
	}
	return nil
}

// ruleName is that of a deviation, or what the manual says, without what it adds in
// parentheses.
func ruleName(r *rules.Rule) string {
	if r.Name != "" {
		return r.Name
	}
	says, _, _ := strings.Cut(r.Says, " (")
	return says + ","
}

// family names a server and the settings without which a rule would not hold there.
func family(s history.Server, r *rules.Rule) string {
	out := fmt.Sprintf("%s %s", s.DBMS, series(s))
	if r == nil {
		return out
	}
	for _, name := range slices.Sorted(maps.Keys(r.Scope.Settings)) {
		if v := s.Settings[name]; v != "" {
			out += fmt.Sprintf(", %s=%s", name, v)
		}
	}
	return out
}
