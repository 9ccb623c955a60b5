// Package unique makes every written value unique, so that answers tell versions of rows
// apart. Every table gets two more columns, neither part of a key: id numbers what was
// inserted and is never assigned, v numbers the statement that wrote the version, so that
// a pair of both is one version. Who read from whom is then read off the answers, and
// need not be computed (see oracle/answers).
//
// The price is that each UPDATE changes every row that it matches: an UPDATE that writes
// what is there does not occur in such a case, and no index covers a SELECT.
package unique
