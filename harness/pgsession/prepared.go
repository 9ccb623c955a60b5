package pgsession

import (
	"encoding/binary"
	"regexp"
	"strconv"

	"github.com/txnfuzz/txnfuzz/corpus/protocol"
	"github.com/txnfuzz/txnfuzz/harness"
)

// prepared is the part of a Session that sends statements in the extended protocol: all that is to be done with one
// goes out together, and Sync ends it.
// https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-FLOW-EXT-QUERY
type prepared struct {
	kept harness.Kept[string]
	last int // number of the name given last
	// Of the statement under way: its text, how it is sent, and what it is called.
	text   string
	way    protocol.Way
	name   string
	asText bool
	// stale are the names that are to be closed with the next statement.
	stale []string
}

// oneTime is the name of what is prepared each time.
const oneTime = "txnfuzz"

// begin begins with a statement. COPY is sent as text: while it waits for data the server takes what is sent behind the
// statement for them.
func (p *prepared) begin(sql string, way protocol.Way) {
	p.text, p.way = sql, way
	if p.asText = way != protocol.Text && copies.MatchString(sql); p.asText {
		p.way = protocol.Text
	}
}

var copies = regexp.MustCompile(`(?i)^\s*copy\b`)

// append appends the messages for the statement under way. Its values come as text, as they do in the simple protocol.
func (p *prepared) append(b []byte) []byte {
	for _, name := range p.stale {
		b = appendClose(b, name)
	}
	p.stale = p.stale[:0]
	name, known := oneTime, false
	if p.way == protocol.Execute {
		if name, known = p.kept.Named(p.text); !known {
			p.last++
			name = oneTime + strconv.Itoa(p.last)
		}
	}
	p.name = name
	if !known {
		b = appendStrings(b, 'P', []string{name, p.text}, 0, 0) // no types of parameters are given
	}
	b = appendStrings(b, 'B', []string{"", name}, 0, 0, 0, 0, 0, 0) // no parameters, no formats: text
	b = appendStrings(b, 'D', []string{"P"})                        // of the portal without a name
	b = appendStrings(b, 'E', []string{""}, 0, 0, 0, 0)             // all rows
	if p.way == protocol.Prepare {
		b = appendClose(b, name)
	}
	return appendSync(b)
}

// end notes what is prepared now that the answer to the statement is there.
func (p *prepared) end(a *answer) {
	a.reply.Sent, a.reply.AsText = p.way, p.asText
	switch {
	case p.way == protocol.Text:
	case p.way == protocol.Prepare:
		if a.parsed && a.reply.Err != nil { // behind an error the server has thrown Close away
			p.stale = append(p.stale, p.name)
		}
	case a.parsed:
		if old, dropped := p.kept.Add(p.text, p.name); dropped {
			p.stale = append(p.stale, old)
		}
	}
	p.begin("", protocol.Text)
}

// Forget implements harness.Preparing. The server hears of it with the next statement that is sent prepared.
func (s *Session) Forget() { s.prepared.stale = append(s.prepared.stale, s.prepared.kept.Empty()...) }

func appendClose(b []byte, name string) []byte { return appendStrings(b, 'C', []string{"S" + name}) }

func appendSync(b []byte) []byte { return appendStrings(b, 'S', nil) }

// appendStrings appends a message of some strings, with bytes behind them.
func appendStrings(b []byte, kind byte, texts []string, behind ...byte) []byte {
	const length = 4
	n := length + len(behind)
	for _, t := range texts {
		n += len(t) + 1
	}
	b = append(b, kind)
	b = binary.BigEndian.AppendUint32(b, uint32(n))
	for _, t := range texts {
		b = append(append(b, t...), 0)
	}
	return append(b, behind...)
}
