package engines

import (
	"github.com/txnfuzz/txnfuzz/oracle/postgres"
	"github.com/txnfuzz/txnfuzz/oracle/rules"
)

func init() { byCurrentRead[rules.Recheck] = postgres.Engine{} }
