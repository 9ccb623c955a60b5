package campaign

import (
	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/mutate"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// ownWords gives cases words that only the server has.
func (c *campaign) ownWords(worker, n int, made []*corpus.Case) []*corpus.Case {
	server := c.target.Server()
	if server.DBMS != history.PostgreSQL || c.s.SQL == KnownSQL {
		return made
	}
	prepares := server.Settings["max_prepared_transactions"]
	for i := range made {
		seed := inputSeed(c.s.Seed+1<<33, worker, n<<8+i)
		made[i] = mutate.PostgresWords(made[i], seed, history.VersionNumbers(server.Version)[0], prepares != "" && prepares != "0")
		made[i] = mutate.TellingVersions(made[i], seed)
	}
	return made
}
