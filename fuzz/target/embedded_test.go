//go:build !notidb

package target

import _ "github.com/txnfuzz/txnfuzz/harness/embedded" // registers the target
