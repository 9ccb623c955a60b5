package promise

import (
	"regexp"
	"strings"

	"github.com/txnfuzz/txnfuzz/corpus/stmt"
)

// engineOption is the storage engine in what SHOW CREATE TABLE prints. Options that follow it, such as those of Aria, may
// keep the whole from being read.
var engineOption = regexp.MustCompile(`\) ENGINE=(\w+)`)

// withoutTransactions says that a table of a case lies in a storage engine that has none.
func (j *judge) withoutTransactions() bool {
	for _, t := range j.h.Initial {
		engine := ""
		if m := engineOption.FindStringSubmatch(t.Create); m != nil {
			engine = m[1]
		} else if def := j.defs[strings.ToLower(t.Name)]; def != nil {
			engine = stmt.Engine(def)
		}
		if !j.h.Server.DBMS.Transactional(engine) {
			return true
		}
	}
	return false
}
