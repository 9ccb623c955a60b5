//go:build !notidb

package fuzz

import (
	"github.com/txnfuzz/txnfuzz/fuzz/target"
	_ "github.com/txnfuzz/txnfuzz/harness/embedded" // registers the target
)

const builtInTarget = target.Default
