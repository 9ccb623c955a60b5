// Command isolation runs the specs of PostgreSQL's isolationtester as cases and compares what they show with the
// outputs that PostgreSQL's own tests expect: rows, errors, which steps wait, and behind which step a wait ends.
//
//	go run -tags notidb ./scripts/isolation -target postgres:18 ../postgres/src/test/isolation
//
// It prints the verdicts by level, why verdicts are missing, what is not imported, and each difference. A step whose
// completion a marker orders is compared without the place where its wait ends. Exit status: 0 no violation, 1 a
// violation, 3 the server or a file failed. A difference is no failure: the outputs are those of one version, and a
// SERIALIZABLE transaction may fail more often than it has to.
package main
