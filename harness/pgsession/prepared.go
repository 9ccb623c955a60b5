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
	args   []harness.Argument
	way    protocol.Way
	name   string
	key    string // by which it is kept
	asText bool
	// stale are the names that are to be closed with the next statement.
	stale []string
}

// oneTime is the name of what is prepared each time.
const oneTime = "txnfuzz"

// begin begins with a statement. COPY is sent as text: while it waits for data the server takes what is sent behind the
// statement for them.
func (p *prepared) begin(sql string, way protocol.Way) {
	p.text, p.way, p.args = sql, way, nil
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
	key, types := p.text, []uint32(nil)
	if len(p.args) > 0 {
		key, types = p.typed()
	}
	p.key = key
	if p.way == protocol.Execute {
		if name, known = p.kept.Named(key); !known {
			p.last++
			name = oneTime + strconv.Itoa(p.last)
		}
	}
	p.name = name
	if !known {
		b = appendStrings(b, 'P', []string{name, p.text}, counted(types)...)
	}
	b = appendStrings(b, 'B', []string{"", name}, p.values()...)
	b = appendStrings(b, 'D', []string{"P"})            // of the portal without a name
	b = appendStrings(b, 'E', []string{""}, 0, 0, 0, 0) // all rows
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
		if old, dropped := p.kept.Add(p.key, p.name); dropped {
			p.stale = append(p.stale, old)
		}
	}
	p.begin("", protocol.Text)
}

// Types of parameters, which are those that the value has as a literal. 0 is one that the server is to find out.
// https://www.postgresql.org/docs/current/sql-syntax-lexical.html#SQL-SYNTAX-CONSTANTS-NUMERIC
const (
	typeText = 0
	typeInt4 = 23
	typeInt8 = 20
)

// typed returns the types of the arguments, and the text with them: with others it is another statement.
func (p *prepared) typed() (key string, types []uint32) {
	key = p.text
	for _, a := range p.args {
		kind := uint32(typeText)
		if a.Number {
			kind = typeInt8
			if _, err := strconv.ParseInt(a.Value, 10, 32); err == nil {
				kind = typeInt4
			}
		}
		types = append(types, kind)
		key += "\x00" + strconv.Itoa(int(kind))
	}
	return key, types
}

// counted spells types, their number before them.
func counted(types []uint32) []byte {
	b := binary.BigEndian.AppendUint16(nil, uint16(len(types)))
	for _, t := range types {
		b = binary.BigEndian.AppendUint32(b, t)
	}
	return b
}

// values spells the arguments behind the names in Bind: all are text, and so is what is returned.
func (p *prepared) values() []byte {
	b := binary.BigEndian.AppendUint16([]byte{0, 0}, uint16(len(p.args)))
	for _, a := range p.args {
		b = binary.BigEndian.AppendUint32(b, uint32(len(a.Value)))
		b = append(b, a.Value...)
	}
	return append(b, 0, 0)
}

// ExecuteWith implements harness.Parametric.
func (s *Session) ExecuteWith(sql string, args []harness.Argument) (harness.Reply, error) {
	s.answer.begin()
	s.prepared.begin(sql, protocol.Execute)
	s.prepared.args = args
	return s.finish()
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
