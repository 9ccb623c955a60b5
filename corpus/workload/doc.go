// Package workload holds what a database application does, as far as isolation is
// concerned: a schema, transactions with parameters, and invariants; and the text
// form of that, which docs/workloads describes.
//
// Like package corpus it knows no database. A parameter or a variable is a user
// variable in a statement's tree; Bind puts its value in its place.
package workload
