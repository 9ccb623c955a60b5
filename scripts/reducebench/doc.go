// Command reducebench measures reduction and fingerprints on a fixed set of
// unreduced findings.
//
//	go run ./scripts/reducebench collect --target mariadb:11.8 --findings 70 --alike 20 --add scripts/reducebench/findings.jsonl.gz
//	go run ./scripts/reducebench reduce --set scripts/reducebench/findings.jsonl.gz --out out/reducebench.jsonl
//	go run ./scripts/reducebench table --svg scripts/reducebench/attempts.svg out/reducebench.jsonl
//	go run ./scripts/reducebench purity out/thousand.jsonl.gz
package main
