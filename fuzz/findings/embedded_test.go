//go:build !notidb

package findings

import _ "github.com/txnfuzz/txnfuzz/harness/embedded" // registers the target
