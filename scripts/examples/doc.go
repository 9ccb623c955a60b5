// Command examples measures the workloads of corpus/workloads:
//
//	go run -tags notidb ./scripts/examples times  --target mariadb:11.8   how soon each expected anomaly shows
//	go run -tags notidb ./scripts/examples mended --target mariadb:11.8   whether what the reports propose holds
//	go run -tags notidb ./scripts/examples page                          docs/workloads/measured.md from both
//
// expected.tsv says what is expected. Each run is kept in a file of results as soon as it
// has ended and is not made again, so that a measurement that was cut off goes on. Status
// 0: everything came as expected, 1: something did not, 3: a run failed.
package main
