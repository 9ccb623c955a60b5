// Command reproduced measures whether findings show where a user replays them:
//
//	go run -tags notidb ./scripts/reproduced -target mariadb:10.11 -findings 40
//
// It runs strict campaigns, each with a seed and a folder of its own, until they
// have found enough, and then replays each file by itself, by one process with a
// new instance of the server. Fingerprints recur from seed to seed. It ends with
// status 1 if less than 95 of 100 findings showed what their file says, or if one
// did not and says that it does.
package main
