//go:build !notidb

package fuzz

import _ "github.com/txnfuzz/txnfuzz/harness/embedded" // registers the target

// registers the target

const builtInTarget = DefaultTarget
