package pgsql

import (
	"fmt"
	"regexp"
	"strings"
)

// reserved holds the key words of PostgreSQL 15 to 18 that need quotes somewhere where a name
// stands: all but those of the category U of pg_get_keywords.
var reserved = func() map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(reservedWords) {
		m[w] = true
	}
	return m
}()

const reservedWords = `
all analyse analyze and any array as asc asymmetric authorization between bigint binary bit boolean both case
cast char character check coalesce collate collation column concurrently constraint create cross
current_catalog current_date current_role current_schema current_time current_timestamp current_user dec
decimal default deferrable desc distinct do else end except exists extract false fetch float for foreign
freeze from full grant greatest group grouping having ilike in initially inner inout int integer intersect
interval into is isnull join json json_array json_arrayagg json_exists json_object json_objectagg json_query
json_scalar json_serialize json_table json_value lateral leading least left like limit localtime
localtimestamp merge_action national natural nchar none normalize not notnull null nullif numeric offset on
only or order out outer overlaps overlay placing position precision primary real references returning right
row select session_user setof similar smallint some substring symmetric system_user table tablesample then
time timestamp to trailing treat trim true union unique user using values varchar variadic verbose when where
window with xmlattributes xmlconcat xmlelement xmlexists xmlforest xmlnamespaces xmlparse xmlpi xmlroot
xmlserialize xmltable
`

var plainName = regexp.MustCompile(`^[a-z_][a-z0-9_]*$`)

// quoted folds a name to lower case, as MySQL does not tell the names of columns apart by case.
func quoted(name string) string {
	name = strings.ToLower(name)
	if plainName.MatchString(name) && !reserved[name] {
		return name
	}
	return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
}

var escapes = strings.NewReplacer(`\`, `\\`, `'`, `''`, "\n", `\n`, "\r", `\r`, "\t", `\t`, "\b", `\b`, "\f", `\f`)

// str writes a string.
func (p *printer) str(s string) string {
	p.not(strings.ContainsRune(s, 0), "a string with a NUL character")
	special := func(c rune) bool { return c < ' ' || c == 0x7f }
	if !strings.ContainsRune(s, '\\') && !strings.ContainsFunc(s, special) {
		return "'" + strings.ReplaceAll(s, "'", "''") + "'"
	}
	var b strings.Builder
	for _, c := range escapes.Replace(s) {
		if special(c) {
			fmt.Fprintf(&b, `\x%02x`, c)
		} else {
			b.WriteRune(c)
		}
	}
	return "E'" + b.String() + "'"
}
