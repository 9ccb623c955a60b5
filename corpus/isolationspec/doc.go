// Package isolationspec reads the test specs of PostgreSQL's isolationtester and makes a case of each permutation.
//
// https://github.com/postgres/postgres/blob/master/src/test/isolation/README describes them.
package isolationspec

// Ext is the ending of files that hold a spec.
const Ext = ".spec"
