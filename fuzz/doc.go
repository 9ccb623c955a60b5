// Package fuzz has the native fuzz target, FuzzTxnPair, and the tests that hold what all
// rooms do together against the stored cases and the documentation. The rooms are
// packages of their own, each of which knows only those before it:
//
//   - target runs a case on a server and judges what it saw;
//   - findings keeps what is wrong, and replays, verifies and reduces what was kept;
//   - campaign makes and chooses cases by the thousand, and counts;
//   - telling shows all of it to people.
package fuzz
