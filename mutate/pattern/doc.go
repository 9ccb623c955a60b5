// Package pattern enumerates the shortest orders of operations that can give an
// anomaly: what two or three transactions have to do, and in which order, so that
// their dependencies form a cycle (Adya, "Weak Consistency", 1999, section 4.3), or
// so that one meets what another has not committed (Berenson et al., "A Critique of
// ANSI SQL Isolation Levels", 1995, P0 and P1). Each becomes a case.
package pattern
