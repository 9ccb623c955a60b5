package mysqltest

import (
	"regexp"
	"strconv"
	"strings"
)

// branch does if and while, where the condition can be told.
func (r *runner) branch(c *command) {
	if onlyStops(c.block) {
		return // it says where the test cannot run
	}
	at := len(r.events)
	for round := 0; !r.stopped; round++ {
		yes, ok := r.decide(c.text)
		switch {
		case ok && !yes:
			return
		case !ok || c.name == "while" && round == mostRounds:
			r.events = r.events[:at]
			for _, c := range r.conns {
				if c.pending >= at {
					c.pending = -1
				}
			}
			r.forget(c.block)
			r.refuse(noLoop, c.name+" ("+c.text+")")
			return
		}
		if r.run(c.block); c.name == "if" {
			return
		}
	}
}

// onlyStops reports whether a block does nothing but end the test.
func onlyStops(block []command) bool {
	stops := false
	for _, c := range block {
		switch c.name {
		case "skip", "die", "exit":
			stops = true
		case "echo", "let", "disable_query_log", "enable_query_log":
		case "":
			if w, _ := word(c.text); w != "show" && w != "select" {
				return false
			}
		default:
			return false
		}
	}
	return stops
}

// count does inc and dec.
func (r *runner) count(text string, up bool) {
	name := strings.TrimPrefix(strings.TrimSpace(text), "$")
	v := r.lookUp(name)
	n, err := strconv.Atoi(strings.TrimSpace(v.text))
	if v.unknown || err != nil && v.text != "" {
		r.vars[name] = value{unknown: true}
		return
	}
	if n--; up {
		n += 2
	}
	r.vars[name] = value{text: strconv.Itoa(n)}
}

var comparison = regexp.MustCompile(`(?s)^(\$[A-Za-z0-9_]+)\s*(==|!=|<=|>=|<|>)\s*(.*)$`)

// decide says what a condition is; ok is false if that cannot be told.
// https://dev.mysql.com/doc/dev/mysql-server/latest/PAGE_MYSQL_TEST_FLOW_CONTROL.html
func (r *runner) decide(text string) (yes, ok bool) {
	text = strings.TrimSpace(text)
	if rest, not := strings.CutPrefix(text, "!"); not {
		yes, ok = r.decide(rest)
		return !yes, ok
	}
	if strings.Contains(text, "`") || strings.Contains(text, "=~") {
		return false, false
	}
	if m := comparison.FindStringSubmatch(text); m != nil {
		return r.compare(m[1], m[2], m[3])
	}
	text, ok = r.expand(text)
	return truth(text), ok
}

// truth is that of a value: a number is true if it is not 0, another text if it is not empty.
func truth(text string) bool {
	text = strings.TrimSpace(text)
	digits := text[:len(text)-len(strings.TrimLeft(text, "+-0123456789"))]
	if n, err := strconv.Atoi(digits); err == nil {
		return n != 0
	}
	return text != ""
}

func (r *runner) compare(left, sign, right string) (yes, ok bool) {
	a, known := r.expand(left)
	b, known2 := r.expand(strings.Trim(strings.TrimSpace(right), `'"`))
	if !known || !known2 {
		return false, false
	}
	n, err := strconv.Atoi(strings.TrimSpace(a))
	m, err2 := strconv.Atoi(strings.TrimSpace(b))
	order := n - m
	if err != nil || err2 != nil {
		order = strings.Compare(a, b)
	}
	switch sign {
	case "==":
		return order == 0, true
	case "!=":
		return order != 0, true
	case "<":
		return order < 0, true
	case "<=":
		return order <= 0, true
	case ">":
		return order > 0, true
	}
	return order >= 0, true
}
