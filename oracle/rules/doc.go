// Package rules holds the one table of what servers promise, document and do:
// dimension × variant × scope × status × link. The oracle checks a history
// against the promised and documented variants, and explains a difference with
// the deviations that are in scope. A dimension that no row answers has its first variant:
// what a row of another dimension implies, as CurrentRead does of where a statement that
// waited goes on, without which a deviation would have nothing to deviate from.
//
// It takes a server and levels and gives a Profile, the answer to every dimension at every
// level, or the deviations that are known there. Each row names the vendor's page, or the
// report in a tracker, that it follows; docs/rules.md is made of them.
package rules
