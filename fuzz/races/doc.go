// Package races looks for what goes wrong inside of a statement. It takes Settings, makes cases in
// which one statement is held at an instruction of the server's own program, or at a request to
// TiDB's store, while other sessions go on, and gives a Report and findings.
//
// A case is searched like this. It runs unheld, and must be right then. Its statement is recorded
// instruction by instruction. Then it is held at places that stand far apart, and between any two
// whose runs differ in what anybody saw, at places in between, until neighbours are left: what goes
// wrong lies between two places whose outcomes differ. (Requests are few: it is held at each.) An
// outcome that was not seen before is judged without order: by what the levels promise, where a held
// statement may have taken effect at any moment from its submission to its answer (package
// oracle/promise), and by what holds anywhere. The places at which outcomes changed are remembered,
// and tried first of all in later cases.
package races
