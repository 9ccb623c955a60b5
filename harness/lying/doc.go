// Package lying plants isolation bugs between the harness and a real server,
// to measure what the oracle finds: a wire proxy that rewrites, drops or
// answers statements on its own.
//
// It takes a Backend and a Lie and gives a Backend that tells the lie. Each Lie says by which
// kinds of violation, and in which statements, it must be found.
package lying
