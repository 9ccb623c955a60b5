package harness

import (
	"encoding/binary"
	"errors"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// Protocol constants of the MySQL client/server protocol,
// https://dev.mysql.com/doc/dev/mysql-server/latest/PAGE_PROTOCOL.html
const (
	comQuery       = 0x03
	comStmtPrepare = 0x16
	comStmtExecute = 0x17
	comStmtClose   = 0x19

	headerOK  = 0x00
	headerEOF = 0xfe
	headerErr = 0xff
	nullCell  = 0xfb

	statusInTrans     = 0x0001
	statusMoreResults = 0x0008

	maxPayload = 1<<24 - 1
	maxColumns = 4096 // the most that any of the servers gives a table
)

// errMalformed is a reply that does not follow the protocol.
var errMalformed = errors.New("malformed server packet")

type tapState uint8

const (
	tapIdle     tapState = iota // not inside the answer to a command that is looked at
	tapHeader                   // next packet: OK, ERR or a column count
	tapColumns                  // next packets: column definitions, then EOF
	tapRows                     // next packets: rows, then EOF or ERR
	tapPrepare                  // next packet: what was prepared, or ERR
	tapPrepared                 // next packets: what is known of a prepared statement
)

// tap reads along on the connection of a driver that keeps to itself most of
// what a server says: status flags, info text, warning count, and rows as the
// server printed them. The driver must speak without compression and without
// CLIENT_DEPRECATE_EOF, as go-sql-driver does.
//
// A tap is used by one goroutine, the one that reads and writes the connection.
type tap struct {
	net.Conn
	state   tapState
	columns int
	types   []columnType // of its columns
	binary  bool         // its rows are binary
	family  history.DBMS // of the server, for what it prints
	stmt    uint32       // the ID of what was prepared last
	skip    int          // packets until all is said of it
	head    [4]byte      // of the packet that is coming in
	nhead   int
	left    int    // bytes of its payload still to come
	partial []byte // payload so far, where it came in pieces
	reply   Reply  // to the last command
	done    bool   // its last packet was seen whole
	err     error
	out     []byte // the last packet that query sent
}

// Write passes a command on and starts a reply if it is a query.
func (t *tap) Write(p []byte) (int, error) {
	// A command starts a packet sequence, so its number is 0; a statement of
	// more than 16 MB goes on in packets with higher numbers.
	if len(p) > 4 && p[3] == 0 {
		t.state, t.nhead, t.left, t.partial = tapIdle, 0, 0, t.partial[:0]
		switch p[4] {
		case comQuery:
			t.begin(tapHeader, false)
		case comStmtPrepare:
			t.begin(tapPrepare, false)
		case comStmtExecute:
			t.begin(tapHeader, true)
		}
	}
	return t.Conn.Write(p)
}

func (t *tap) begin(state tapState, binary bool) {
	t.state, t.binary = state, binary
	t.reply, t.done = Reply{Result: history.Result{Matched: -1, Changed: -1, Affected: -1}}, false
}

// query sends a statement by itself, for a caller that will feed the tap what
// comes back.
func (t *tap) query(sql string) error { return t.command(comQuery, sql) }

// command is query for any command and what belongs to it.
func (t *tap) command(command byte, sql string) error {
	left := len(sql) + 1
	for seq := byte(0); ; seq++ {
		n := min(left, maxPayload)
		t.out = append(t.out[:0], byte(n), byte(n>>8), byte(n>>16), seq)
		if seq == 0 {
			t.out = append(t.out, command)
			n--
		}
		t.out = append(t.out, sql[:n]...)
		if _, err := t.Write(t.out); err != nil {
			return err
		}
		sql = sql[n:]
		if left -= maxPayload; left < 0 { // a full packet is followed by another
			return nil
		}
	}
}

// Read passes the server's bytes on and reads along.
func (t *tap) Read(p []byte) (int, error) {
	n, err := t.Conn.Read(p)
	if t.state != tapIdle && n > 0 {
		t.feed(p[:n])
	}
	return n, err
}

// feed takes the next bytes of the stream, cut anywhere. A payload that lies
// whole in b is parsed in place.
func (t *tap) feed(b []byte) {
	for len(b) > 0 && t.state != tapIdle {
		if t.nhead < 4 {
			n := copy(t.head[t.nhead:], b)
			t.nhead += n
			b = b[n:]
			if t.nhead < 4 {
				return
			}
			t.left = int(t.head[0]) | int(t.head[1])<<8 | int(t.head[2])<<16
		}
		n := min(t.left, len(b))
		part := b[:n]
		b = b[n:]
		t.left -= n
		full := t.head[0] == 0xff && t.head[1] == 0xff && t.head[2] == 0xff
		if t.left > 0 || full || len(t.partial) > 0 {
			t.partial = append(t.partial, part...)
			part = t.partial
		}
		if t.left > 0 {
			return
		}
		t.nhead = 0
		if full { // a payload of 2^24-1 bytes goes on in the next packet
			continue
		}
		if err := t.packet(part); err != nil {
			t.err, t.state = err, tapIdle
		}
		t.partial = t.partial[:0]
	}
}

func (t *tap) packet(p []byte) error {
	if len(p) == 0 {
		return errMalformed
	}
	switch t.state {
	case tapHeader:
		switch p[0] {
		case headerOK:
			return t.ok(p)
		case headerErr:
			return t.fail(p)
		}
		n, _, ok := lenenc(p)
		if !ok || n > maxColumns {
			return errMalformed
		}
		t.columns, t.state = int(n), tapColumns
		t.reply.Columns = make([]string, 0, t.columns)
		t.reply.Rows, t.types = nil, t.types[:0]
	case tapPrepare:
		if p[0] == headerErr {
			return t.fail(p)
		}
		return t.prepared(p)
	case tapPrepared:
		if t.skip--; t.skip == 0 {
			t.finish()
		}
	case tapColumns:
		if p[0] == headerEOF && len(p) < 9 {
			if len(t.reply.Columns) != t.columns {
				return errMalformed
			}
			t.state = tapRows
			return nil
		}
		return t.column(p)
	case tapRows:
		switch {
		case p[0] == headerErr:
			return t.fail(p)
		case p[0] == headerEOF && len(p) < 9:
			return t.eof(p)
		case t.binary:
			return t.binaryRow(p)
		}
		return t.row(p)
	}
	return nil
}

func (t *tap) ok(p []byte) error {
	p = p[1:]
	affected, n, ok := lenenc(p)
	if !ok {
		return errMalformed
	}
	last, m, ok := lenenc(p[n:])
	if !ok || len(p) < n+m+4 {
		return errMalformed
	}
	p = p[n+m:]
	r := &t.reply
	r.Affected, r.LastID = int64(affected), int64(last)
	r.Warnings = int(binary.LittleEndian.Uint16(p[2:]))
	r.Matched, r.Changed = counts(infoText(p[4:]))
	t.end(binary.LittleEndian.Uint16(p))
	return nil
}

func (t *tap) eof(p []byte) error {
	if len(p) < 5 {
		return errMalformed
	}
	t.reply.Warnings = int(binary.LittleEndian.Uint16(p[1:]))
	t.end(binary.LittleEndian.Uint16(p[3:]))
	return nil
}

// end closes a result; of one that others follow only the rows are kept.
func (t *tap) end(status uint16) {
	t.reply.InTxn, t.reply.InTxnTold = status&statusInTrans != 0, true
	if status&statusMoreResults != 0 {
		if r := &t.reply; r.Columns != nil {
			r.Earlier = append(r.Earlier, RowSet{r.Columns, r.Rows})
			r.Columns, r.Rows = nil, nil
		}
		t.state = tapHeader
		return
	}
	t.finish()
}

func (t *tap) fail(p []byte) error {
	if len(p) < 3 {
		return errMalformed
	}
	e := &history.Error{Code: binary.LittleEndian.Uint16(p[1:])}
	msg := p[3:]
	if len(msg) >= 6 && msg[0] == '#' {
		e.State, msg = string(msg[1:6]), msg[6:]
	}
	e.Message = string(msg)
	t.reply.Err, t.reply.InTxnTold = e, false // the packet has no status
	t.finish()
	return nil
}

func (t *tap) finish() {
	t.state = tapIdle
	t.done, t.reply.At = true, time.Now()
}

// columnType is what decides how a value of a column is printed.
type columnType struct {
	kind     byte
	flags    uint16
	decimals byte
	width    uint32
	stored   bool // of a table: no expression
}

// column takes the name out of a column definition: its fifth string, behind catalog,
// schema, table and original table; and its type: behind the original name come
// a length, the character set in two bytes, the width in four, the type in one, flags in two and
// how many digits come behind the point in one.
// https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_com_query_response_text_resultset_column_definition.html
func (t *tap) column(p []byte) error {
	const table, name, names, widthAt, typeAt, flagsAt, decimalsAt = 2, 4, 6, 3, 7, 8, 10
	stored := false
	for i := range names {
		n, w, ok := lenenc(p)
		if !ok || uint64(len(p)-w) < n {
			return errMalformed
		}
		switch i {
		case table:
			stored = n > 0
		case name:
			t.reply.Columns = append(t.reply.Columns, string(p[w:w+int(n)]))
		}
		p = p[w+int(n):]
	}
	if len(p) <= decimalsAt {
		return errMalformed
	}
	t.types = append(t.types, columnType{
		kind: p[typeAt], flags: binary.LittleEndian.Uint16(p[flagsAt:]), decimals: p[decimalsAt],
		width: binary.LittleEndian.Uint32(p[widthAt:]), stored: stored,
	})
	return nil
}

// row cuts one text row into cells that share one string.
func (t *tap) row(p []byte) error {
	cells := make([]history.Cell, t.columns)
	text := string(p)
	at := 0
	for i := range cells {
		if at >= len(p) {
			return errMalformed
		}
		if p[at] == nullCell {
			cells[i].Null = true
			at++
			continue
		}
		n, w, ok := lenenc(p[at:])
		if !ok || uint64(len(p)-at-w) < n {
			return errMalformed
		}
		at += w
		cells[i].Text = text[at : at+int(n)]
		at += int(n)
	}
	if at != len(p) {
		return errMalformed
	}
	t.addRow(cells)
	return nil
}

func (t *tap) addRow(cells []history.Cell) {
	for i := range cells {
		cells[i].Bit = t.types[i].kind == typeBit && !cells[i].Null
	}
	t.reply.Rows = append(t.reply.Rows, cells)
}

// lenenc reads a length-encoded integer and tells its width in bytes.
func lenenc(p []byte) (v uint64, width int, ok bool) {
	if len(p) == 0 {
		return 0, 0, false
	}
	switch p[0] {
	case 0xfc:
		width = 3
	case 0xfd:
		width = 4
	case 0xfe:
		width = 9
	case 0xff, nullCell:
		return 0, 0, false
	default:
		return uint64(p[0]), 1, true
	}
	if len(p) < width {
		return 0, 0, false
	}
	for i := width - 1; i > 0; i-- {
		v = v<<8 | uint64(p[i])
	}
	return v, width, true
}

// infoText returns the human-readable end of an OK packet. Servers send it
// bare or, MariaDB and MySQL 5.7 on, as a length-encoded string.
func infoText(p []byte) string {
	if n, w, ok := lenenc(p); ok && uint64(len(p)-w) == n {
		return string(p[w:])
	}
	return string(p)
}

// counts reads "Rows matched: 1  Changed: 1  Warnings: 0"; -1 where the text
// is another one.
func counts(info string) (matched, changed int64) {
	rest, ok := strings.CutPrefix(info, "Rows matched: ")
	if !ok {
		return -1, -1
	}
	m, rest, _ := strings.Cut(rest, "  Changed: ")
	c, _, _ := strings.Cut(rest, " ")
	matched, err1 := strconv.ParseInt(m, 10, 64)
	changed, err2 := strconv.ParseInt(c, 10, 64)
	if err1 != nil || err2 != nil {
		return -1, -1
	}
	return matched, changed
}
