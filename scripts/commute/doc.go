// Command commute swaps neighbouring statements that cannot bear on each other, and tells
// where an answer or the final state changes (see package oracle/commute).
//
//	go run -tags notidb ./scripts/commute --target mariadb:11.8 --swaps 100000 --seed 1
//
// Each run is judged by the rules and by its dependency graph besides, which the last line
// but one tells.
//
// A difference is run again, and counts if each run of one order differs from each of the
// other. It is explained where one of the runs shows a known deviation of the server. The
// last line has the figures. Status 0: everything is explained; 1: something is not, and
// the case is in --out; 2: wrong usage; 3: a server failed.
package main
