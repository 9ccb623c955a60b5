//go:build !unix

package telling

func isHangUp(error) bool { return false }
