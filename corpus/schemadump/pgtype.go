package schemadump

import (
	"fmt"
	"slices"
	"strings"
)

// pgTypes are the types of MySQL that hold values of PostgreSQL's, by the latter's names; %s is where the length goes.
// Those that others, of the second column, only stand for are told.
// https://www.postgresql.org/docs/current/datatype.html
var pgTypes = map[string]struct{ mysql, standsFor string }{
	"smallint": {"smallint", ""}, "int2": {"smallint", ""}, "smallserial": {"smallint", ""}, "serial2": {"smallint", ""},
	"integer": {"int", ""}, "int": {"int", ""}, "int4": {"int", ""}, "serial": {"int", ""}, "serial4": {"int", ""},
	"bigint": {"bigint", ""}, "int8": {"bigint", ""}, "bigserial": {"bigint", ""}, "serial8": {"bigint", ""},
	"numeric": {"decimal%s", ""}, "decimal": {"decimal%s", ""},
	"real": {"float", ""}, "float4": {"float", ""}, "double precision": {"double", ""}, "float8": {"double", ""},
	"character varying": {"varchar%s", ""}, "varchar": {"varchar%s", ""},
	"text": {"text", ""}, "citext": {"text", "text"}, "name": {"varchar(63)", "varchar"},
	"character": {"char%s", ""}, "char": {"char%s", ""}, "bpchar": {"char%s", ""},
	"boolean": {"tinyint(1)", "smallint"}, "bool": {"tinyint(1)", "smallint"},
	"date": {"date", ""}, "timestamp": {"datetime(6)", ""}, "timestamp without time zone": {"datetime(6)", ""},
	"timestamp with time zone": {"datetime(6)", "timestamp"}, "timestamptz": {"datetime(6)", "timestamp"},
	"uuid": {"char(36)", "varchar"}, "json": {"json", "jsonb"}, "jsonb": {"json", ""},
	"bytea": {"blob", ""}, "money": {"decimal(12,2)", "numeric"}, "inet": {"varchar(43)", "varchar"},
}

// keyedTypes take the place of types of which MySQL keeps no whole value in a key.
var keyedTypes = map[string]string{"text": "varchar(255)", "blob": "varbinary(255)"}

// pgType is what stands for the type of a column.
type pgType struct {
	// name is PostgreSQL's, mysql that of MySQL, "" if there is none.
	name, mysql string
	// standsFor is the type of the cases' tables on PostgreSQL where that is another one.
	standsFor string
	serial    bool
}

// typeName reads the name of a type and says of how many tokens it is.
func typeName(list []token) (name string, n int) {
	take := func(texts ...string) bool {
		for i, t := range texts {
			if n+i >= len(list) || !list[n+i].is(t) {
				return false
			}
		}
		n += len(texts)
		return true
	}
	if len(list) == 0 || !list[0].isName() {
		return "", 0
	}
	name = list[0].text
	n = 1
	for n+1 < len(list) && list[n].is(".") && list[n+1].isName() { // of a schema
		name = list[n+1].text
		n += 2
	}
	switch {
	case name == "character" && take("varying"), name == "double" && take("precision"), name == "bit" && take("varying"):
		name += " " + list[n-1].text
	}
	if n < len(list) && list[n].is("(") {
		if end := closing(list, n); end > 0 {
			n = end + 1
		}
	}
	if name == "timestamp" || name == "time" {
		switch {
		case take("without", "time", "zone"):
			name += " without time zone"
		case take("with", "time", "zone"):
			name += " with time zone"
		}
	}
	for take("[", "]") {
		name += "[]"
	}
	if n+2 < len(list) && list[n].is("[") && list[n+1].kind == number && list[n+2].is("]") {
		name, n = name+"[]", n+3
	}
	return name, n
}

// closing finds the parenthesis that closes the one at i; -1 if there is none.
func closing(list []token, i int) int {
	depth := 0
	for ; i < len(list); i++ {
		switch {
		case list[i].is("("):
			depth++
		case list[i].is(")"):
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

// columnType reads the type of a column, which may be one that the dump has made.
func (r *pgReader) columnType(list []token) (t pgType, n int) {
	t.name, n = typeName(list)
	if made, ok := r.types[t.name]; ok {
		made.name = t.name
		return made, n
	}
	known, ok := pgTypes[t.name]
	if !ok {
		return t, n
	}
	length := ""
	if open := slices.IndexFunc(list[:n], func(t token) bool { return t.is("(") }); open > 0 {
		for _, x := range list[open : closing(list, open)+1] {
			length += x.text
		}
	}
	t.mysql, t.standsFor, t.serial = known.mysql, known.standsFor, strings.Contains(t.name, "serial")
	if strings.Contains(t.mysql, "%s") {
		if length == "" {
			length = map[string]string{"decimal%s": "(20,4)", "varchar%s": "(255)", "char%s": "(1)"}[t.mysql]
		}
		t.mysql = fmt.Sprintf(t.mysql, length)
	}
	return t, n
}
