package pgsession

import (
	"bytes"
	"encoding/binary"
	"errors"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// errMalformed is an answer that does not follow the protocol.
var errMalformed = errors.New("malformed message of the server")

// maxMessage is the most bytes that a server sends at a time: it makes nothing longer in memory.
const maxMessage = 1 << 30

// deadlockDetected is the SQLSTATE of an error whose detail tells who waited for whom.
const deadlockDetected = "40P01"

// answer reads what a server says to one text in the simple protocol, or to one statement in the extended one.
// https://www.postgresql.org/docs/current/protocol-message-formats.html
type answer struct {
	reply harness.Reply
	done  bool // the server is ready for the next text
	// concluded says that the statement whose rows and count reply holds has ended, and that what
	// comes now is of the next one.
	concluded bool
	pid       uint64 // of the backend that answers
	copying   bool   // the server waits for the data of a COPY
	parsed    bool   // the server has prepared the statement
	partial   []byte // a message of which there is more to come
}

// begin forgets the last answer. What has come in behind that, such as half a notice or the next answer, stays.
func (a *answer) begin() {
	*a = answer{reply: harness.Reply{Result: none}, partial: a.partial, pid: a.pid}
}

var none = history.Result{Matched: -1, Changed: -1, Affected: -1}

const header = 5 // the type, and the length of all but the type

// feed takes the next bytes of the stream, cut anywhere. What comes behind the end of the answer is kept for the next
// one.
func (a *answer) feed(b []byte) error {
	if len(a.partial) > 0 {
		a.partial = append(a.partial, b...)
		b = a.partial
	}
	for len(b) >= header && !a.done {
		n := binary.BigEndian.Uint32(b[1:])
		if n < header-1 || n > maxMessage {
			return errMalformed
		}
		if uint64(len(b)) < uint64(n)+1 {
			break
		}
		if err := a.message(b[0], b[header:n+1]); err != nil {
			return err
		}
		b = b[n+1:]
	}
	a.partial = append(a.partial[:0], b...)
	return nil
}

func (a *answer) message(kind byte, p []byte) error {
	switch kind {
	case 'T', 'D', 'C', 'I', 'G', 'H', 'E':
		a.next()
	}
	switch kind {
	case 'T':
		return a.columns(p)
	case 'D':
		return a.row(p)
	case 'C':
		tag, ok := text(p)
		a.concluded, a.reply.Tag, a.reply.Affected = true, tag, affected(tag)
		return wellFormed(ok)
	case 'I': // an empty text
		a.concluded = true
	case 'G':
		a.copying = true
	case 'E':
		return a.fail(p)
	case 'Z':
		if len(p) != 1 {
			return errMalformed
		}
		a.reply.InTxn, a.reply.InTxnTold = p[0] == 'T', true
		a.reply.At, a.done = time.Now(), true
	case 'A':
		return a.notification(p)
	case '1':
		a.parsed = true
	case '2', '3', 'n': // bound, closed, and that it gives no rows
	case 'N', 'S', 'H', 'd', 'c': // notices, parameters, and what COPY TO STDOUT gives
	default:
		return errMalformed
	}
	return nil
}

// next puts the rows of a statement away that others follow.
func (a *answer) next() {
	if !a.concluded {
		return
	}
	a.concluded = false
	r := &a.reply
	if r.Columns != nil {
		r.Earlier = append(r.Earlier, harness.RowSet{Columns: r.Columns, Rows: r.Rows})
	}
	r.Result = none
}

// columns takes the names out of a RowDescription: behind each come 18 bytes on where it comes from
// and its type.
func (a *answer) columns(p []byte) error {
	const rest = 18
	if len(p) < 2 {
		return errMalformed
	}
	n := int(binary.BigEndian.Uint16(p))
	p = p[2:]
	a.reply.Columns = make([]string, 0, n)
	for range n {
		name, ok := text(p)
		if !ok || len(p) < len(name)+1+rest {
			return errMalformed
		}
		a.reply.Columns = append(a.reply.Columns, name)
		p = p[len(name)+1+rest:]
	}
	return wellFormed(len(p) == 0)
}

// row cuts a DataRow into cells that share one string.
func (a *answer) row(p []byte) error {
	if len(p) < 2 || int(binary.BigEndian.Uint16(p)) != len(a.reply.Columns) {
		return errMalformed
	}
	whole := string(p)
	at := 2
	cells := make([]history.Cell, len(a.reply.Columns))
	for i := range cells {
		if len(p)-at < 4 {
			return errMalformed
		}
		n := int32(binary.BigEndian.Uint32(p[at:]))
		at += 4
		if n == -1 {
			cells[i].Null = true
			continue
		}
		if n < 0 || len(p)-at < int(n) {
			return errMalformed
		}
		cells[i].Text = whole[at : at+int(n)]
		at += int(n)
	}
	a.reply.Rows = append(a.reply.Rows, cells)
	return wellFormed(at == len(p))
}

// fail takes an ErrorResponse apart: fields of a letter and a text.
// https://www.postgresql.org/docs/current/protocol-error-fields.html
func (a *answer) fail(p []byte) error {
	e := &history.Error{}
	detail := ""
	for len(p) > 0 && p[0] != 0 {
		value, ok := text(p[1:])
		if !ok {
			return errMalformed
		}
		switch p[0] {
		case 'C':
			e.State, e.Code = value, history.NumberOf(value)
		case 'M':
			e.Message = value
		case 'D':
			detail = value
		}
		p = p[len(value)+2:]
	}
	r := &a.reply
	if e.State == deadlockDetected && detail != "" {
		e.Message += ": " + detail
		r.Holders = inTheWay(detail, a.pid)
	}
	r.Result, r.Tag = none, ""
	r.Err = e
	return nil
}

// notification takes a NotificationResponse apart: the sender's pid, the channel, the payload.
func (a *answer) notification(p []byte) error {
	const pid = 4
	if len(p) < pid {
		return errMalformed
	}
	n := harness.Notification{Sender: uint64(binary.BigEndian.Uint32(p))}
	ok, whole := false, false
	if n.Channel, ok = text(p[pid:]); ok {
		n.Payload, whole = text(p[pid+len(n.Channel)+1:])
	}
	a.reply.Notifications = append(a.reply.Notifications, n)
	return wellFormed(whole && len(p) == pid+len(n.Channel)+len(n.Payload)+2)
}

var waitsFor = regexp.MustCompile(`Process (\d+) waits for [^;]*; blocked by process (\d+)`)

// inTheWay reads off the detail of a deadlock for whom a backend waited.
func inTheWay(detail string, pid uint64) (holders []uint64) {
	for _, m := range waitsFor.FindAllStringSubmatch(detail, -1) {
		if m[1] != strconv.FormatUint(pid, 10) {
			continue
		}
		if by, err := strconv.ParseUint(m[2], 10, 64); err == nil {
			holders = append(holders, by)
		}
	}
	return holders
}

// affected reads the number at the end of a command tag, such as INSERT 0 1, SELECT 2 or COMMIT; -1
// where there is none.
func affected(tag string) int64 {
	n, err := strconv.ParseInt(tag[strings.LastIndexByte(tag, ' ')+1:], 10, 64)
	if err != nil {
		return -1
	}
	return n
}

// text reads a string up to its zero byte.
func text(p []byte) (string, bool) {
	n := bytes.IndexByte(p, 0)
	if n < 0 {
		return "", false
	}
	return string(p[:n]), true
}

func wellFormed(ok bool) error {
	if !ok {
		return errMalformed
	}
	return nil
}

// appendMessage appends a message of one string.
func appendMessage(b []byte, kind byte, text string) []byte {
	b = append(b, kind)
	b = binary.BigEndian.AppendUint32(b, uint32(len(text)+header))
	return append(append(b, text...), 0)
}
