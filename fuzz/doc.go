// Package fuzz runs cases by the thousand and keeps what is wrong with them:
// the campaign loop, native fuzzing through FuzzTxnPair, the store of findings,
// and the replay of saved cases.
package fuzz
