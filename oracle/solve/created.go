package solve

import (
	"regexp"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// tableCollation finds the collation among a table's options, behind the
// parenthesis that closes its columns, and the character set before it. The parser
// knows none of MariaDB's newer ones.
var tableCollation = regexp.MustCompile(`(?s)(\n\) .*?)(?: (?:DEFAULT )?CHARSET=\w+)? (?:DEFAULT )?COLLATE=(\w+)`)

// ReadTable reads a definition as SHOW CREATE TABLE prints it, and its engine. Its
// errors are those of NewTable, *Unsupported also where the text is none that the
// parser reads.
func ReadTable(create string, d Dialect) (t *Table, engine string, err error) {
	if m := tableCollation.FindStringSubmatchIndex(create); m != nil {
		if c, ok := collationNames[lower(create[m[4]:m[5]])]; ok {
			d.Database = c
			create = create[:m[3]] + create[m[1]:]
		}
	}
	parsed, err := corpus.ParseStatement(create)
	def, ok := parsed.(*ast.CreateTableStmt)
	if err != nil || !ok {
		return nil, "", unsupported("definition of a table that the parser does not read")
	}
	if d.DBMS == history.TiDB {
		t, err = NewTable(def, d)
	} else {
		// The keys are printed in the server's order.
		t, err = asDefined(def, d)
	}
	return t, stmt.Engine(def), err
}

// harmlessOptions are options of a table that change where and how it is stored,
// and nothing that a statement tells of it.
// https://dev.mysql.com/doc/refman/9.7/en/create-table.html
var harmlessOptions = map[ast.TableOptionType]bool{
	ast.TableOptionAutoIncrement: true, ast.TableOptionEngine: true, ast.TableOptionComment: true,
	ast.TableOptionRowFormat: true, ast.TableOptionStatsPersistent: true, ast.TableOptionStatsAutoRecalc: true,
	ast.TableOptionStatsSamplePages: true, ast.TableOptionKeyBlockSize: true, ast.TableOptionCompression: true,
	ast.TableOptionEncryption: true, ast.TableOptionAvgRowLength: true, ast.TableOptionMaxRows: true,
	ast.TableOptionMinRows: true, ast.TableOptionCheckSum: true, ast.TableOptionDelayKeyWrite: true,
	ast.TableOptionPackKeys: true, ast.TableOptionAutoIdCache: true,
}
