// Package pglying plants isolation bugs between the harness and a real PostgreSQL, to measure what the judges
// notice. It is package lying for sessions of a harness.Database: a session changes what it sends or what it
// answers, and no byte of the protocol.
//
// It takes a Backend and a Lie and gives a Backend that tells the lie. Control sessions stay honest, and with
// them all that a pool asks on its own account and the scratch tables in which a judge has statements run alone.
// What a judge asks in the session of a case stays honest, too: a lie shows only beside other transactions.
package pglying
