package server

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/txnfuzz/txnfuzz/harness"
)

// complaints are what servers write of an option before they give up.
var complaints = []struct {
	line *regexp.Regexp
	says string
}{
	{regexp.MustCompile(`unknown variable '([^=']+)`), "the server knows no such variable"},
	{regexp.MustCompile(`unknown option '--([^=']+)`), "the server knows no such option"},
	{regexp.MustCompile(`Error while setting value '.*' to '([^']+)'`), "the server refuses this value"},
	{regexp.MustCompile(`unrecognized configuration parameter "([^"]+)"`), "the server knows no such parameter"},
	{regexp.MustCompile(`FATAL:  (?:invalid value for )?parameter "([^"]+)".*`), "the server refuses this value"},
	{regexp.MustCompile(`is outside the valid range for parameter "([^"]+)"`), "the server refuses this value"},
	{regexp.MustCompile(`ambiguous option '--([^=']+)`), "the name stands for several variables"},
}

// unknown returns a *harness.NameError for an option of the target that made the
// server give up, by its log; nil if that was something else.
func (s spec) unknown(log string) error {
	for _, c := range complaints {
		m := c.line.FindStringSubmatch(log)
		if m == nil {
			continue
		}
		name := strings.ToLower(strings.ReplaceAll(m[1], "-", "_"))
		value, ok := s.options[name]
		if !ok {
			continue
		}
		return &harness.NameError{Err: fmt.Errorf("option %s=%s: %s (%s)", name, value, c.says, m[0])}
	}
	return nil
}

// refused returns a *harness.NameError for an option that the server took for
// another value: of a switch both families take any word for OFF, and both bring
// a number into its range, with no more than a line in the log.
func (s spec) refused(has map[string]string) error {
	for _, k := range s.sortedKeys() {
		is, ok := has[k]
		if only, judged := judgedOnly[k]; ok && judged && !strings.EqualFold(is, only) {
			return &harness.NameError{Err: fmt.Errorf("option %s=%s: the rules cover %s only", k, s.options[k], only)}
		}
		if want := s.options[k]; ok && !sameSetting(want, is) {
			return &harness.NameError{Err: fmt.Errorf("option %s=%s: the server has made %s of it", k, want, is)}
		}
	}
	return nil
}

// judgedOnly holds the variables of which the oracle knows one value.
var judgedOnly = map[string]string{
	"autocommit": "ON", "completion_type": "NO_CHAIN", "default_storage_engine": "InnoDB",
	"innodb_deadlock_detect": "ON", "innodb_rollback_on_timeout": "OFF",
	"tidb_txn_mode": "pessimistic",
}

var switchValues = map[string]string{"1": "ON", "TRUE": "ON", "YES": "ON", "0": "OFF", "FALSE": "OFF", "NO": "OFF", "ON": "ON", "OFF": "OFF"}

var wholeNumber = regexp.MustCompile(`^-?[0-9]+$`)

// sameSetting reports whether a server's value can be what was asked for. Of
// values that are neither switches nor numbers the server's word is taken: it
// refuses those that it does not know, and prints some in other words.
func sameSetting(want, is string) bool {
	switch {
	case strings.EqualFold(want, is):
		return true
	case strings.EqualFold(is, "ON"), strings.EqualFold(is, "OFF"):
		return switchValues[strings.ToUpper(want)] == strings.ToUpper(is)
	case wholeNumber.MatchString(want) && wholeNumber.MatchString(is):
		return false
	}
	return true
}
