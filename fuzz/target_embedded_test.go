//go:build !notidb

package fuzz

const builtInTarget = DefaultTarget
