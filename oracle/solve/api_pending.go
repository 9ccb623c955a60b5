package solve

import (
	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/sqlvalue"
)

type program struct{}

// Collation names how character strings compare.
type Collation uint8

// New returns a solver for one server's dialect.
func New(d Dialect) *Solver { return &Solver{d: d, compiled: map[compiledKey]*program{}} }

var errPending = &Unsupported{"pending"}

// NewTable reads a table's definition as the server stores it.
func NewTable(stmt *ast.CreateTableStmt, d Dialect) (*Table, error) { return nil, errPending }

// ParseRow turns cells as the text protocol printed them into stored values.
func (t *Table) ParseRow(cells []history.Cell) (Row, error) { return nil, errPending }

// Where evaluates a condition on one row; a nil condition is True. It returns
// the number of warnings that the evaluation raises.
func (s *Solver) Where(cond ast.ExprNode, t *Table, row Row, v Views) (sqlvalue.Truth, int, error) {
	return sqlvalue.Unknown, 0, errPending
}

// Matches returns the indexes into rows, in the order in which the statement
// handles them, of the rows that a single-table SELECT, UPDATE or DELETE
// chooses by WHERE, ORDER BY and LIMIT. Ties keep the order of rows.
func (s *Solver) Matches(stmt ast.StmtNode, t *Table, rows []Row, v Views) ([]int, error) {
	return nil, errPending
}

// Project computes what a single-table SELECT returns for rows that were
// already chosen: select list, aggregates, DISTINCT; no WHERE, ORDER BY, LIMIT.
func (s *Solver) Project(stmt *ast.SelectStmt, t *Table, rows []Row, v Views) (*Result, error) {
	return nil, errPending
}

// Select answers a whole query.
func (s *Solver) Select(stmt *ast.SelectStmt, v Views) (*Result, error) { return nil, errPending }

// Update computes the SET list on one row that matched. changed tells whether
// any stored value differs.
func (s *Solver) Update(stmt *ast.UpdateStmt, t *Table, row Row, v Views) (newRow Row, changed bool, err error) {
	return nil, false, errPending
}

// Insert computes the rows that an INSERT or REPLACE adds, in order. Generated
// values stand where the server generates them.
func (s *Solver) Insert(stmt *ast.InsertStmt, t *Table, v Views) ([]Row, error) {
	return nil, errPending
}

// OnDuplicate computes the ON DUPLICATE KEY UPDATE list: oldRow is the row in
// the way, newRow the row that could not be inserted.
func (s *Solver) OnDuplicate(stmt *ast.InsertStmt, t *Table, oldRow, newRow Row, v Views) (Row, bool, error) {
	return nil, false, errPending
}

// KeyOf returns a string that two rows share exactly if the server holds them
// equal in the key, and whether a part is NULL (then a unique key admits it).
func (s *Solver) KeyOf(t *Table, k *Key, row Row) (tuple string, hasNull bool, err error) {
	return "", false, errPending
}
