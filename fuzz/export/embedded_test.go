//go:build !notidb

package export

import _ "github.com/txnfuzz/txnfuzz/harness/embedded" // the TiDB in this process

func init() {
	findings = append(findings, finding{"embedded", "tidb-no-op-update-unseen.sql", "RR"})
	liars = append(liars, "embedded")
}
