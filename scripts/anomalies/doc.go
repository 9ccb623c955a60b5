// Command anomalies runs every short order of operations that can give an anomaly on
// real servers, at each level, and writes what became of it as docs/anomalies.md.
//
//	go run -tags notidb ./scripts/anomalies --target mysql:9.7 --target mariadb:11.8 --target mariadb:10.11
//	go run -tags notidb ./scripts/anomalies --print "r1x w2x w2y c2 r1y c1" > case.sql
//
// It ends with status 1, and names the cells, if a server shows what it should not, or
// if the oracle and the program's own look at the answers do not agree; with 2 on
// wrong usage, with 3 if a server fails.
package main
