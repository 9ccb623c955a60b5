//go:build !notidb

package main

import _ "github.com/txnfuzz/txnfuzz/harness/embedded"
