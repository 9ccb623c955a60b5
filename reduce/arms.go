package reduce

// layer groups operation classes; a layer is worked off before the next.
type layer uint8

const (
	layerStatements layer = iota
	layerClauses
	layerExpressions
	layerConstants
	layerOrder
	layerNames
	layerCount
)

var layerTitles = [layerCount]string{"statements", "clauses", "expressions", "constants", "order", "names"}

// arm is one class of operations, the unit of learning.
type arm uint8

const (
	armForeseen arm = iota
	armBehind
	armReads
	armSession
	armTransaction
	armRun
	armTable
	armSetUp
	armPair
	armOpenEnd
	armLone
	armEnding
	armDeleteSelect
	armDeleteLockingRead
	armDeleteUpdate
	armDeleteDelete
	armDeleteInsert
	armDeleteOther

	armPredicate
	armConjunct
	armAssignment
	armProjection
	armRow
	armClause
	armJoin
	armSnapshot
	armConstraint
	armInsertColumn
	armColumn
	armMerge

	armLift
	armElement
	armReplace
	armFold

	armConstants
	armConstant
	armType

	armMove
	armLevel

	armAlias
	armRename
	armRenumber
	armCount
)

// arms tells the layer and the name of each arm. Names are the keys of saved
// experience: a renamed arm starts to learn anew.
var arms = [armCount]struct {
	layer layer
	name  string
	// usual is the share of attempts that were of use on 58 findings on MariaDB,
	// what an arm is taken for until it has shown better; 0: not measured.
	usual float64
}{
	armForeseen:          {layerStatements, "foreseen", 0.7},
	armBehind:            {layerStatements, "behind", 0.55},
	armReads:             {layerStatements, "reads", 0.5},
	armSession:           {layerStatements, "session", 0.02},
	armTransaction:       {layerStatements, "transaction", 0.03},
	armRun:               {layerStatements, "run", 0.05},
	armTable:             {layerStatements, "table", 0.1},
	armSetUp:             {layerStatements, "set-up", 0.1},
	armPair:              {layerStatements, "begin-end", 0.13},
	armOpenEnd:           {layerStatements, "open-end", 0.5},
	armLone:              {layerStatements, "lone-statement", 0.3},
	armEnding:            {layerStatements, "session-end", 0},
	armDeleteSelect:      {layerStatements, "select", 0.75},
	armDeleteLockingRead: {layerStatements, "locking-read", 0.65},
	armDeleteUpdate:      {layerStatements, "update", 0.45},
	armDeleteDelete:      {layerStatements, "delete", 0.6},
	armDeleteInsert:      {layerStatements, "insert", 0.8},
	armDeleteOther:       {layerStatements, "other", 0},

	armPredicate:    {layerClauses, "predicate", 0},
	armConjunct:     {layerClauses, "conjunct", 0},
	armAssignment:   {layerClauses, "assignment", 0},
	armProjection:   {layerClauses, "projection", 0},
	armRow:          {layerClauses, "row", 0},
	armClause:       {layerClauses, "clause", 0},
	armJoin:         {layerClauses, "join", 0},
	armSnapshot:     {layerClauses, "consistent-snapshot", 0},
	armConstraint:   {layerClauses, "constraint", 0},
	armInsertColumn: {layerClauses, "insert-column", 0},
	armColumn:       {layerClauses, "column", 0},
	armMerge:        {layerClauses, "merge-columns", 0},

	armLift:    {layerExpressions, "lift", 0},
	armElement: {layerExpressions, "element", 0},
	armReplace: {layerExpressions, "replace", 0},
	armFold:    {layerExpressions, "fold", 0},

	armConstants: {layerConstants, "equal-constants", 0},
	armConstant:  {layerConstants, "constant", 0},
	armType:      {layerConstants, "type", 0},

	armMove:  {layerOrder, "move", 0},
	armLevel: {layerOrder, "level", 0},

	armAlias:    {layerNames, "alias", 0},
	armRename:   {layerNames, "rename", 0},
	armRenumber: {layerNames, "renumber", 0},
}

func (a arm) layer() layer   { return arms[a].layer }
func (a arm) String() string { return arms[a].name }

func (l layer) String() string { return layerTitles[l] }

// layerArms returns the arms of a layer in their fixed order.
func layerArms(l layer) []arm {
	var out []arm
	for a := arm(0); a < armCount; a++ {
		if arms[a].layer == l {
			out = append(out, a)
		}
	}
	return out
}
