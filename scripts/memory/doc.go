// Command memory runs `txnfuzz run` against a private server and tells at two
// moments how much memory the tool and the server have, and InnoDB's history
// list length: what purge has yet to remove.
//
//	go run -tags notidb ./scripts/memory --target mariadb:10.11
package main
