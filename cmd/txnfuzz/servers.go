package main

import _ "github.com/txnfuzz/txnfuzz/harness/server" // MySQL, MariaDB, PostgreSQL, TiDB and DSNs
