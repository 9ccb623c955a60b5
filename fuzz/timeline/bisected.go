package timeline

import "github.com/txnfuzz/txnfuzz/corpus"

// Header keys of what bisect has found: in which versions of the server a case shows what it shows, and the commits with
// which that came and went.
const (
	KeyVersions   = "versions"
	KeyIntroduced = "introduced"
	KeyFixed      = "fixed"
)

// Bisected tells, in sentences, what the header of a case has of that; code marks what stands there word by word.
func Bisected(c *corpus.Case, code func(string) string) (out []string) {
	if versions, ok := c.Get(KeyVersions); ok {
		out = append(out, "By version: "+versions+".")
	}
	for _, x := range []struct{ key, says string }{{KeyIntroduced, "It came with commit "}, {KeyFixed, "It is fixed by commit "}} {
		if commit, ok := c.Get(x.key); ok {
			out = append(out, x.says+code(commit)+".")
		}
	}
	return out
}
