//go:build !notidb

package telling

import _ "github.com/txnfuzz/txnfuzz/harness/embedded" // registers the target
