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
	armSession arm = iota
	armTransaction
	armRun
	armTable
	armSetUp
	armPair
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

	armLift
	armElement
	armReplace

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
}{
	armSession:           {layerStatements, "session"},
	armTransaction:       {layerStatements, "transaction"},
	armRun:               {layerStatements, "run"},
	armTable:             {layerStatements, "table"},
	armSetUp:             {layerStatements, "set-up"},
	armPair:              {layerStatements, "begin-end"},
	armDeleteSelect:      {layerStatements, "select"},
	armDeleteLockingRead: {layerStatements, "locking-read"},
	armDeleteUpdate:      {layerStatements, "update"},
	armDeleteDelete:      {layerStatements, "delete"},
	armDeleteInsert:      {layerStatements, "insert"},
	armDeleteOther:       {layerStatements, "other"},

	armPredicate:    {layerClauses, "predicate"},
	armConjunct:     {layerClauses, "conjunct"},
	armAssignment:   {layerClauses, "assignment"},
	armProjection:   {layerClauses, "projection"},
	armRow:          {layerClauses, "row"},
	armClause:       {layerClauses, "clause"},
	armJoin:         {layerClauses, "join"},
	armSnapshot:     {layerClauses, "consistent-snapshot"},
	armConstraint:   {layerClauses, "constraint"},
	armInsertColumn: {layerClauses, "insert-column"},
	armColumn:       {layerClauses, "column"},

	armLift:    {layerExpressions, "lift"},
	armElement: {layerExpressions, "element"},
	armReplace: {layerExpressions, "replace"},

	armConstants: {layerConstants, "equal-constants"},
	armConstant:  {layerConstants, "constant"},
	armType:      {layerConstants, "type"},

	armMove:  {layerOrder, "move"},
	armLevel: {layerOrder, "level"},

	armAlias:    {layerNames, "alias"},
	armRename:   {layerNames, "rename"},
	armRenumber: {layerNames, "renumber"},
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
