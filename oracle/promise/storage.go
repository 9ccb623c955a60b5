package promise

import (
	"regexp"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// engineOption is the storage engine in what SHOW CREATE TABLE prints. Options that follow it, such as those of Aria, may
// keep the whole from being read.
var engineOption = regexp.MustCompile(`\) ENGINE=(\w+)`)

// withoutTransactions says that a table of a case lies in a storage engine that has none. TiDB reads the word and ignores
// it.
func (j *judge) withoutTransactions() bool {
	if j.h.Server.DBMS != history.MySQL && j.h.Server.DBMS != history.MariaDB {
		return false
	}
	for _, t := range j.h.Initial {
		engine := ""
		if m := engineOption.FindStringSubmatch(t.Create); m != nil {
			engine = m[1]
		} else if def := j.defs[strings.ToLower(t.Name)]; def != nil {
			engine = engineOf(def)
		}
		if engine != "" && !strings.EqualFold(engine, "InnoDB") {
			return true
		}
	}
	return false
}

func engineOf(def *ast.CreateTableStmt) string {
	for _, o := range def.Options {
		if o.Tp == ast.TableOptionEngine {
			return o.StrValue
		}
	}
	return ""
}
