//go:build !notidb

package campaign

import _ "github.com/txnfuzz/txnfuzz/harness/embedded" // registers the target
