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

// BisectedValues are the header's own values, by their keys; nil if bisect has found nothing.
func BisectedValues(c *corpus.Case) (out map[string]string) {
	for _, key := range []string{KeyVersions, KeyIntroduced, KeyFixed} {
		if value, ok := c.Get(key); ok {
			if out == nil {
				out = map[string]string{}
			}
			out[key] = value
		}
	}
	return out
}
