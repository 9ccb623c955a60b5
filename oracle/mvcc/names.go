package mvcc

import (
	"slices"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/txnfuzz/txnfuzz/corpus"
)

// tablesExist reports whether every table that a statement names is one of the
// case, and whether every table that it names besides, behind FOR UPDATE OF, in
// `x.*` or as what a DELETE of several tables deletes from, is a table or an alias
// of its FROM. Then the server cannot miss one.
// https://dev.mysql.com/doc/refman/en/innodb-locking-reads.html#innodb-locking-reads-for-update
//
// Names are compared as they are written: whether their case matters is the
// server's affair, and one that exists in another case only counts as missing.
func (r *Replay) tablesExist(n ast.Node) bool {
	sources := map[string]bool{}
	var mentions []string
	var passed []*ast.TableName
	mention := func(tables []*ast.TableName) {
		for _, t := range tables {
			passed, mentions = append(passed, t), append(mentions, t.Name.O)
		}
	}
	missing := corpus.Contains(n, func(n ast.Node) (found, skip bool) {
		switch x := n.(type) {
		case *ast.SelectStmt:
			if x.LockInfo != nil {
				mention(x.LockInfo.Tables)
			}
		case *ast.DeleteStmt:
			if x.Tables != nil {
				mention(x.Tables.Tables)
			}
		case *ast.SelectField:
			if x.WildCard != nil && x.WildCard.Table.O != "" {
				mentions = append(mentions, x.WildCard.Table.O)
			}
		case *ast.TableSource:
			sources[x.AsName.O] = true
			if name, ok := x.Source.(*ast.TableName); ok && x.AsName.O == "" {
				sources[name.Name.O] = true
			}
		case *ast.TableName:
			_, ok := r.Store.Tables[x.Name.O]
			return !ok && !slices.Contains(passed, x), false
		}
		return false, false
	})
	return !missing && !slices.ContainsFunc(mentions, func(name string) bool { return !sources[name] })
}
