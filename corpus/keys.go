package corpus

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/txnfuzz/txnfuzz/corpus/spelling"
)

// headerKeys are the header keys that have a meaning, for txnfuzz or, by
// convention, for people. docs/cases.md lists them.
var headerKeys = []string{
	// What decides how a case runs.
	levelKey, "target", "seed", holdKey, dialectKey, versionsKey, protocolKey,
	// What it is held against.
	verdictWord,
	// Where it comes from, for people.
	"source", "reported", "status", "link", "found", "note", "explained",
	// What a person expects, for people.
	"expected", "anomaly", "observe", "affected", "shows",
	// What txnfuzz writes of a finding.
	"server_version", "settings", "promise", "kind", "rules", "stmt", "actual", "reason", "fingerprint",
	"reproduced", "versions", "introduced", "fixed", "in the campaign", "to confirm and reduce", "to reduce further", "also at", "vendor defaults", "first_seen", "input",
	// What it writes of a case that two servers answer differently.
	"against", "against server_version", "against settings", "differs", "attribution",
	// What it writes of an anomaly of a workload.
	"workload", "calls", "invariant", "not seen with",
	// What it writes of an input that a campaign keeps.
	"signal", "seen_on", "bytes", "variant", "pattern",
}

// verdictWord begins the keys of recorded verdicts, `verdict (TARGET, LEVELS)`.
const verdictWord = "verdict"

var (
	// A key may say what it holds for, as `expected (RU RC)` does.
	qualifierPattern = regexp.MustCompile(` *\(.*$`)
	verdictPattern   = regexp.MustCompile(`^verdict \([^:]+, (?:(?:RU|RC|RR|SER)(?: (?:RU|RC|RR|SER))*|tx[0-9]+=[^:]+)\)$`)
	// tightPattern is a key whose colon no space follows: then it is none.
	tightPattern = regexp.MustCompile(`^([a-z_ ]+):[^ ]`)
)

// ownKey begins the keys that are nobody's but the author's.
const ownKey = "x-"

// CheckHeader returns the comments of a case that look like header lines and do not
// do what their author may expect: a key that resembles one with a meaning, or is
// another single word; a key that cannot be read; a level or a verdict that is given
// twice, of which the first counts; or one that stands after a statement, where it
// is only a comment. Any key is allowed, so none of this keeps a case from being
// read. A key of several words that resembles nothing is taken for a sentence, and
// one that begins with x- is the author's own. For a malformed text it returns
// nothing.
func CheckHeader(name string, text []byte) []*ParseError {
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	var out []*ParseError
	var above []string
	r := &caseReader{name: name, text: string(text), c: &Case{}}
	r.heard = func(at int, text string, header bool) {
		if problem := doubt(text, header, above); problem != "" {
			out = append(out, r.errorf(at, "%s", problem))
		} else if f, ok := parseField(text); ok && header {
			above = append(above, f.Key)
		}
	}
	if invalidUTF8(r.text) >= 0 || r.read() != nil {
		return nil
	}
	return out
}

// doubt says what is wrong with a comment that may be meant as a header line, ""
// for nothing. above holds the keys before it.
func doubt(text string, header bool, above []string) string {
	f, ok := parseField(text)
	decides := f.Key == levelKey || verdictPattern.MatchString(f.Key)
	word := qualifierPattern.ReplaceAllString(f.Key, "")
	switch {
	case !header && decides:
		return fmt.Sprintf("%q stands behind a statement, where it is a comment: put it above the first one", f.Key)
	case !header:
		return ""
	case decides && slices.Contains(above, f.Key):
		return fmt.Sprintf("header key %q is there twice; the first one counts", f.Key)
	case word == verdictWord && !decides, !ok && strings.HasPrefix(text, verdictWord+" ("):
		return "this records no verdict: want verdict (TARGET, LEVELS), the target with a space for its colon, such as verdict (mariadb 11.8, RC RR)"
	case !ok:
		if m := tightPattern.FindStringSubmatch(text); m != nil && slices.Contains(headerKeys, m[1]) {
			return fmt.Sprintf("a comment, not a header line: want a space behind the colon of %q", m[1])
		}
		return ""
	case slices.Contains(headerKeys, word), strings.HasPrefix(f.Key, ownKey):
		return ""
	}
	hint := spelling.Hint(word, headerKeys)
	if hint == "" && strings.ContainsAny(word, " \t") {
		return ""
	}
	return fmt.Sprintf("unknown header key %q%s", f.Key, hint)
}
