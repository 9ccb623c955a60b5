// Package reduce makes a case that shows a bug as small as it can get while it
// still shows the same bug.
//
// Operations stand in layers: delete statements, simplify statements, simplify
// expressions, simplify constants, then the submitted order and the names.
// Within a layer an operation class is an arm of a multi-armed bandit whose
// profit is 1 when the smaller case still shows the bug and 0 when not (Fucci,
// PVLDB 18(6), 2025, section 3.3). Unlike there, a closing round-robin pass
// over all operations runs until none succeeds, so that a result that was not
// cut off is 1-minimal whatever the strategy chose before: no line, no
// transaction, session or table, no clause, expression or constant can go or be
// made simpler by an operation of this package.
//
// The package knows neither a database nor an oracle: both stand behind
// Options.Try, and behind Options.Foresee what can be told without a run.
package reduce
