package mysqltest

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// value is that of a variable. Of what the server says nothing is known but the number of a connection.
type value struct {
	text    string
	unknown bool
}

var (
	variablePattern = regexp.MustCompile(`^\$([A-Za-z0-9_]+)`)
	letPattern      = regexp.MustCompile(`(?s)^\$?([A-Za-z0-9_]+)\s*=\s*(.*)$`)
	// ownNumber asks for the number by which KILL names the connection.
	ownNumber = regexp.MustCompile("(?i)^`select\\s+(@\\w+\\s*:=\\s*)?connection_id\\(\\)(\\s+(as\\s+)?\\w+)?`$")
	// keptNumber gives a variable of the user's such a number.
	keptNumber = regexp.MustCompile("(?i)^(`\\s*select|set)\\s+(@\\w+)\\s*:?=\\s*(" + numberOf + "[0-9]+)\\s*`?$")
)

// numberOf stands in SQL for the number of a connection.
const numberOf = "connection_number_"

// unset are variables of mtr that say how a test runs; a case runs in the plain way.
var unset = []string{
	"VALGRIND_TEST", "PS_PROTOCOL", "SP_PROTOCOL", "VIEW_PROTOCOL", "CURSOR_PROTOCOL", "EMBEDDED_SERVER", "BIG_TEST",
}

// lookUp returns the value of a variable. One that was never set is empty, but what others set is not known: what mtr
// has in the environment, and what the files that are not read find out.
func (r *runner) lookUp(name string) value {
	v, set := r.vars[name]
	if !set {
		switch {
		case slices.Contains(unset, name), strings.HasPrefix(name, "have_debug"):
			v.text = "0" // the servers that run cases are not built for debugging
		case strings.HasPrefix(name, "have_"), strings.HasPrefix(name, "mysql_"):
			v.unknown = true
		default:
			v.unknown = name == strings.ToUpper(name) && strings.Trim(name, "0123456789") != ""
		}
	}
	return v
}

// expand puts values in the place of variables; ok is false if one is not known.
func (r *runner) expand(text string) (_ string, ok bool) {
	var b strings.Builder
	ok = true
	for i := 0; i < len(text); {
		if strings.HasPrefix(text[i:], `\$`) {
			b.WriteByte('$')
			i += 2
			continue
		}
		m := variablePattern.FindStringSubmatch(text[i:])
		if m == nil {
			b.WriteByte(text[i])
			i++
			continue
		}
		i += len(m[0])
		if v := r.lookUp(m[1]); v.unknown {
			b.WriteString(m[0])
			ok = false
		} else {
			b.WriteString(v.text)
		}
	}
	return b.String(), ok
}

// let gives a variable its value.
func (r *runner) let(text string) {
	m := letPattern.FindStringSubmatch(strings.TrimSpace(text))
	if m == nil {
		return
	}
	name, raw := m[1], strings.TrimSpace(m[2])
	switch {
	case ownNumber.MatchString(raw):
		r.vars[name] = value{text: numberOf + strconv.Itoa(r.current.id)}
		return
	case strings.HasPrefix(raw, "`"), strings.HasPrefix(raw, "query_get_value"):
		r.keeps(raw)
		r.vars[name] = value{unknown: true}
		return
	}
	out, ok := r.expand(raw)
	r.vars[name] = value{text: out, unknown: !ok}
}

// keeps notes that a variable of the user's gets the number of a connection.
func (r *runner) keeps(sql string) bool {
	text, _ := r.expand(sql)
	m := keptNumber.FindStringSubmatch(text)
	if m != nil {
		r.current.numbers[strings.ToLower(m[2])] = m[3]
	}
	return m != nil
}

// forget says of all variables that a block sets that their values are not known.
func (r *runner) forget(block []command) {
	for _, c := range block {
		text := strings.TrimSpace(c.text)
		switch c.name {
		case "let":
			if m := letPattern.FindStringSubmatch(text); m != nil {
				r.vars[m[1]] = value{unknown: true}
			}
		case "inc", "dec":
			r.vars[strings.TrimPrefix(text, "$")] = value{unknown: true}
		}
		r.forget(c.block)
	}
}
