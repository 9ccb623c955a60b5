package schemadump

import (
	"regexp"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/corpus"
)

// newerTypes are types of MariaDB that the parser does not know, and those that stand for them.
// https://mariadb.com/docs/server/reference/data-types/string-data-types
var newerTypes = map[string]string{"uuid": "char(36)", "inet6": "varchar(39)", "inet4": "varchar(15)"}

var (
	// newerColumn is the beginning of a column of such a type, on a line of its own as mariadb-dump writes it.
	newerColumn = regexp.MustCompile("(?im)^(\\s*`[^`]+`)\\s+(uuid|inet6|inet4)\\b")
	// unknownCollation is the parser's message on a collation that it does not know.
	unknownCollation = regexp.MustCompile(`Unknown collation: '(\w+)'`)
)

// mostCollations bounds how many collations of one statement are left out.
const mostCollations = 8

// parse reads a statement, also one with a collation or a type that only MariaDB knows: the server's own collation takes the
// place of the one, another type that of the other.
func (r *reader) parse(text string) (ast.StmtNode, error) {
	var types, collations []string
	text = newerColumn.ReplaceAllStringFunc(text, func(s string) string {
		m := newerColumn.FindStringSubmatch(s)
		types = append(types, strings.ToLower(m[2]))
		return m[1] + " " + newerTypes[strings.ToLower(m[2])]
	})
	for {
		n, err := corpus.ParseStatement(text)
		if err == nil {
			for _, t := range types {
				r.parts.stand(t, newerTypes[t])
			}
			for _, c := range collations {
				r.parts.standCollation(c)
			}
			return n, nil
		}
		m := unknownCollation.FindStringSubmatch(err.Error())
		if m == nil || len(collations) == mostCollations {
			return nil, err
		}
		collations = append(collations, m[1])
		of := regexp.MustCompile(`(?i)\s*\b(DEFAULT\s+)?COLLATE\s*=?\s*` + m[1] + `\b`)
		text = of.ReplaceAllString(text, "")
	}
}
