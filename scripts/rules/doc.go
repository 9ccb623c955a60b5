// Command rules writes docs/rules.md: what is promised, and each known deviation
// with its scope, its links, the versions on which stored cases show it, and one of these cases.
//
//	go run -tags notidb ./scripts/rules > docs/rules.md
//
// With the argument tidb it writes docs/tidb.md: the stored cases that are not ok on TiDB, with
// their verdicts on each commit that is tested.
//
//	go run -tags notidb ./scripts/rules tidb > docs/tidb.md
//
// With the argument postgres it writes the table of published bugs in docs/postgresql.md.
package main
