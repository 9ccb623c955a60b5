package plan

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// Plan is what EXPLAIN says of one statement: a step for each table that it reads, in
// the order of the text.
type Plan []Step

// Step is how one table is read. Where a query reads no table, Extra alone says so.
type Step struct {
	// Table is its name, or its alias in the statement. Access is the join type (ALL,
	// range, ref, const, …), Key the index, both as the server words them.
	Table, Access, Key string
	// Extra is the column of that name or, of JSON, the message, or what of it matters
	// for locks: "Using index".
	// https://dev.mysql.com/doc/refman/en/explain-output.html#explain-extra-information
	Extra string
}

// Parse reads EXPLAIN's output; a table has a line for each step, fields joined by tabs,
// the names of the columns first. A text of another form has no steps.
func Parse(text string) Plan {
	switch {
	case strings.HasPrefix(text, "{"):
		return parseJSON(text)
	case strings.HasPrefix(text, "["):
		return parseTiDB(text)
	}
	return parseTable(text)
}

// Text writes the answer to an EXPLAIN as Parse reads it.
func Text(r *history.Result) string {
	var b strings.Builder
	b.WriteString(strings.Join(r.Columns, "\t"))
	for _, row := range r.Rows {
		b.WriteByte('\n')
		for i, c := range row {
			if i > 0 {
				b.WriteByte('\t')
			}
			b.WriteString(c.Raw())
		}
	}
	return b.String()
}

// operator is one of TiDB's: what it reads is "table:t, index:k(a, b)", or empty.
// https://docs.pingcap.com/tidb/stable/sql-statement-explain
type operator struct {
	ID           string     `json:"id"`
	AccessObject string     `json:"accessObject"`
	OperatorInfo string     `json:"operatorInfo"`
	SubOperators []operator `json:"subOperators"`
}

var accessed = regexp.MustCompile(`^table:([^,]+)(?:, (?:partition:[^,]+, )?(?:clustered )?index:([^(]+))?`)

func parseTiDB(text string) Plan {
	var p Plan
	var walk func([]operator)
	walk = func(all []operator) {
		for _, o := range all {
			if m := accessed.FindStringSubmatch(o.AccessObject); m != nil {
				name := o.ID
				if i := strings.LastIndexByte(name, '_'); i > 0 {
					name = name[:i]
				}
				name, _, _ = strings.Cut(name, "(") // (Build), (Probe)
				p = append(p, Step{m[1], strings.TrimRight(name, "_0123456789"), m[2], o.OperatorInfo})
			}
			walk(o.SubOperators)
		}
	}
	var roots []operator
	if json.Unmarshal([]byte(text), &roots) == nil {
		walk(roots)
	}
	return p
}

// In the JSON of both vendors each table of a query, of whatever block, is an object
// with a "table_name", and what is said in place of one a "message".
// https://dev.mysql.com/doc/refman/en/server-system-variables.html#sysvar_explain_json_format_version
// https://mariadb.com/docs/server/reference/sql-statements/administrative-sql-statements/analyze-and-explain-statements/explain-format-json
func parseJSON(text string) Plan {
	var p Plan
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, x := range v {
				walk(x)
			}
		case map[string]any:
			if on, _ := v["insert"].(bool); on { // no table that is read
				return
			}
			text := func(name string) string { s, _ := v[name].(string); return s }
			st := Step{text("table_name"), text("access_type"), text("key"), text("message")}
			if on, _ := v["using_index"].(bool); on {
				st.Extra = "Using index"
			}
			if st.Table != "" && st.Access != "" || st.Table == "" && st.Extra != "" { // MariaDB: rows go into one without
				p = append(p, st)
			}
			for _, k := range slices.Sorted(maps.Keys(v)) {
				walk(v[k])
			}
		}
	}
	var v any
	if json.Unmarshal([]byte(text), &v) == nil {
		walk(v)
	}
	return p
}

func parseTable(text string) Plan {
	var p Plan
	var names []string
	for _, line := range strings.Split(strings.TrimRight(text, "\n"), "\n") {
		cells := strings.Split(line, "\t")
		if names == nil {
			names = cells
			continue
		}
		get := func(name string) string {
			i := slices.IndexFunc(names, func(n string) bool { return strings.EqualFold(n, name) })
			if i < 0 || i >= len(cells) || cells[i] == "NULL" {
				return ""
			}
			return cells[i]
		}
		p = append(p, Step{get("table"), get("type"), get("key"), get("extra")})
	}
	return p
}

// Of returns the step that reads a table; nil: none does.
func (p Plan) Of(table string) *Step {
	for i := range p {
		if strings.EqualFold(p[i].Table, table) {
			return &p[i]
		}
	}
	return nil
}

// Covering says that the index alone is read.
func (s *Step) Covering() bool {
	return strings.Contains(s.Extra, "Using index") && !strings.Contains(s.Extra, "Using index condition")
}

// String says how a table is read: "t: range by k, index only".
func (s Step) String() string {
	if s.Table == "" {
		return s.Extra
	}
	out := s.Table + ": " + s.Access
	if s.Access == "" {
		out = s.Table + ": read"
	}
	if s.Key != "" {
		out += " by " + s.Key
	}
	if s.Covering() {
		return out + ", index only"
	}
	if s.Extra != "" {
		out += ", " + s.Extra
	}
	return out
}

// String says how all tables are read; empty where that is not known.
func (p Plan) String() string {
	parts := make([]string, len(p))
	for i := range p {
		parts[i] = p[i].String()
	}
	return strings.Join(parts, "; ")
}
