package lying

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
)

// The packet types of the client/server protocol that the proxy must tell
// apart.
// https://dev.mysql.com/doc/dev/mysql-server/latest/PAGE_PROTOCOL.html
const (
	comQuit  = 0x01
	comQuery = 0x03

	headOK         = 0x00
	headMoreData   = 0x01
	headEOF        = 0xfe
	headErr        = 0xff
	fullAuthNeeded = 0x04

	statusInTrans     = 0x0001
	statusMoreResults = 0x0008
)

// packet is one protocol packet: sequence number and payload.
type packet struct {
	seq  byte
	body []byte
}

func readPacket(r io.Reader) (packet, error) {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return packet{}, err
	}
	p := packet{seq: head[3], body: make([]byte, int(head[0])|int(head[1])<<8|int(head[2])<<16)}
	_, err := io.ReadFull(r, p.body)
	return p, err
}

func writePacket(w io.Writer, p packet) error {
	buf := make([]byte, 4, 4+len(p.body))
	buf[0], buf[1], buf[2], buf[3] = byte(len(p.body)), byte(len(p.body)>>8), byte(len(p.body)>>16), p.seq
	_, err := w.Write(append(buf, p.body...))
	return err
}

// answer is one complete answer of the server: an OK or ERR packet, or a
// result set with its column definitions, rows and the EOF packets.
type answer []packet

func (a answer) isOK() bool  { return len(a) == 1 && a[0].body[0] == headOK }
func (a answer) isErr() bool { return len(a) == 1 && a[0].body[0] == headErr }

// readAnswer reads the answer to a command, of several statements all answers.
func readAnswer(r io.Reader) (answer, error) {
	var all answer
	for {
		a, more, err := readOne(r)
		if err != nil {
			return nil, err
		}
		all = append(all, a...)
		if !more {
			return all, nil
		}
	}
}

// readOne reads one answer; more says that another one follows.
func readOne(r io.Reader) (a answer, more bool, err error) {
	first, err := readPacket(r)
	if err != nil {
		return nil, false, err
	}
	a = answer{first}
	if len(first.body) == 0 || first.body[0] == headErr || first.body[0] == headEOF {
		return a, false, nil
	}
	if first.body[0] == headOK {
		return a, okStatus(first.body)&statusMoreResults != 0, nil
	}
	for eofs := 0; eofs < 2; {
		p, err := readPacket(r)
		if err != nil {
			return nil, false, err
		}
		a = append(a, p)
		switch {
		case p.body[0] == headErr:
			return a, false, nil
		case p.body[0] == headEOF && len(p.body) < 9:
			eofs++
			more = binary.LittleEndian.Uint16(p.body[3:])&statusMoreResults != 0
		}
	}
	return a, more, nil
}

// okStatus returns the status flags of an OK packet.
func okStatus(body []byte) uint16 {
	_, n := lengthEncoded(body[1:])
	_, m := lengthEncoded(body[1+n:])
	return binary.LittleEndian.Uint16(body[1+n+m:])
}

// dropLastRow removes the last row of a result set.
func (a answer) dropLastRow() answer {
	columns, _ := lengthEncoded(a[0].body)
	firstRow := 1 + int(columns) + 1
	if len(a) <= firstRow+1 {
		return a
	}
	out := append(answer{}, a[:len(a)-2]...)
	last := a[len(a)-1]
	last.seq--
	return append(out, last)
}

// okWith returns a copy of an OK packet with another count of affected rows;
// the info text is dropped, since it would tell the truth.
func (a answer) okWith(affected uint64) answer {
	_, n := lengthEncoded(a[0].body[1:])
	_, m := lengthEncoded(a[0].body[1+n:])
	tail := a[0].body[1+n+m:][:4]
	body := append([]byte{headOK, byte(affected), 0}, tail...)
	return answer{{a[0].seq, body}}
}

func (a answer) affected() uint64 {
	v, _ := lengthEncoded(a[0].body[1:])
	return v
}

// okPacket makes an OK packet that says inTrans.
func okPacket(inTrans bool) answer {
	status := uint16(0x0002)
	if inTrans {
		status |= statusInTrans
	}
	body := []byte{headOK, 0, 0, 0, 0, 0, 0}
	binary.LittleEndian.PutUint16(body[3:], status)
	return answer{{1, body}}
}

func lengthEncoded(b []byte) (v uint64, n int) {
	switch {
	case len(b) == 0:
		return 0, 0
	case b[0] < 0xfb:
		return uint64(b[0]), 1
	case b[0] == 0xfc:
		return uint64(b[1]) | uint64(b[2])<<8, 3
	case b[0] == 0xfd:
		return uint64(b[1]) | uint64(b[2])<<8 | uint64(b[3])<<16, 4
	default:
		return binary.LittleEndian.Uint64(b[1:]), 9
	}
}

// relayHandshake passes the authentication exchange on until the server
// accepts or refuses the client.
func relayHandshake(client, server net.Conn) error {
	greeting := true
	for {
		p, err := readPacket(server)
		if err != nil {
			return fmt.Errorf("read from the server during the handshake: %w", err)
		}
		if err := writePacket(client, p); err != nil {
			return err
		}
		switch {
		case !greeting && (p.body[0] == headOK || p.body[0] == headErr):
			return nil
		case !greeting && p.body[0] == headMoreData && (len(p.body) < 2 || p.body[1] != fullAuthNeeded):
			continue
		}
		greeting = false
		if p, err = readPacket(client); err != nil {
			return fmt.Errorf("read from the client during the handshake: %w", err)
		}
		if err := writePacket(server, p); err != nil {
			return err
		}
	}
}
