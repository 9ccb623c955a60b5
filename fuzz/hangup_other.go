//go:build !unix

package fuzz

func isHangUp(error) bool { return false }
