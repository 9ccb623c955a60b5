// Command rules writes docs/rules.md: what is promised, and each known deviation
// with its scope, its links and a stored case that shows it.
//
//	go run -tags notidb ./scripts/rules > docs/rules.md
package main
