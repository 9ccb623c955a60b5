package hermitage

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/foreign"
)

var (
	titlePattern = regexp.MustCompile(`(?m)^Testing (.+?) transaction isolation levels`)
	// linePattern takes apart the SQL of a line, its session and what is said of it.
	linePattern    = regexp.MustCompile(`^(.*?)\s*--\s*(?:T([0-9]+)|([Ee]ither))\b[.,:;]?\s*(.*)$`)
	anomalyPattern = regexp.MustCompile(`\(([A-Z][A-Za-z0-9-]*)\)`)
)

// words maps the servers of its pages to those whose SQL is known.
var words = map[string]foreign.Words{"PostgreSQL": foreign.PostgreSQL, "MySQL": foreign.MySQL, "TiDB": foreign.MySQL}

// Looks reports whether a text is such a page, and holds a test.
func Looks(text []byte) bool {
	tests, _ := blocks(string(text))
	return titlePattern.Match(text) && len(tests) > 0
}

// test is a block of SQL with sessions; above is the sentence before it.
type test struct {
	above string
	lines []string
}

// Cases makes a case of each test of a page: path#1 of the first. The note behind each line is what the page says
// there.
func Cases(path string, text []byte) (*foreign.Read, error) {
	title := titlePattern.FindSubmatch(text)
	if title == nil {
		return nil, malformed(path, "want a page of Hermitage, with the title Testing … transaction isolation levels")
	}
	server := string(title[1])
	w, known := words[server]
	tests, setUp := blocks(string(text))
	out := &foreign.Read{}
	for i, t := range tests {
		from := fmt.Sprintf("%s#%d", path, i+1)
		if !known {
			out.Refused = append(out.Refused, &foreign.Refusal{From: from, Reason: "the SQL of " + server, Detail: t.above})
			continue
		}
		s, no := t.script(from, setUp)
		if no != nil {
			out.Refused = append(out.Refused, no)
			continue
		}
		s.Header = append([]corpus.Field{{Key: "source", Value: "Hermitage, " + filepath.Base(path)}}, t.header()...)
		out.Add(w, s)
	}
	if len(tests) == 0 {
		return nil, malformed(path, "no test: want blocks of SQL whose lines end in -- T1")
	}
	return out, nil
}

func malformed(path, msg string) error {
	return &corpus.ParseError{File: path, Line: 1, Column: 1, Msg: msg}
}

// blocks returns the tests of a page and the SQL of its set-up, which comes first.
func blocks(text string) (tests []test, setUp []string) {
	var above string
	var in *test
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch {
		case in == nil && strings.HasPrefix(line, "```sql"):
			in = &test{above: above}
		case in == nil && line != "":
			above = line
		case in != nil && line == "```":
			switch {
			case linePattern.MatchString(strings.Join(in.lines, " ")):
				tests = append(tests, *in)
			case strings.HasPrefix(in.above, "Setup"):
				setUp = append(setUp, strings.Join(in.lines, "\n"))
			}
			in = nil
		case in != nil && line != "":
			in.lines = append(in.lines, line)
		}
	}
	return tests, setUp
}

// header holds the sentence above a test, and the anomaly that it names where the server shows it.
func (t *test) header() []corpus.Field {
	out := []corpus.Field{{Key: "note", Value: strings.TrimSuffix(t.above, ":")}}
	if m := anomalyPattern.FindStringSubmatch(t.above); m != nil && strings.Contains(t.above, "does not prevent") {
		out = append(out, corpus.Field{Key: "anomaly", Value: m[1]})
	}
	return out
}

// script takes the lines of a test apart. What either session may send is sent by the first.
func (t *test) script(path string, setUp []string) (*foreign.Script, *foreign.Refusal) {
	out := &foreign.Script{Path: path, SetUp: setUp}
	for _, line := range t.lines {
		m := linePattern.FindStringSubmatch(line)
		if m == nil {
			return nil, &foreign.Refusal{From: path, Reason: "a line without a session", Detail: line}
		}
		session := 1
		if m[2] != "" {
			n, err := strconv.Atoi(m[2])
			if err != nil || n < 1 || n > corpus.MaxSession {
				return nil, &foreign.Refusal{From: path, Reason: "a line without a session", Detail: line}
			}
			session = n
		}
		for sql := range strings.SplitSeq(m[1], ";") { // no statement of a page holds a semicolon
			out.Blocks = append(out.Blocks, foreign.Block{Session: session, SQL: sql, Note: m[4]})
		}
	}
	return out, nil
}
