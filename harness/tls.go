package harness

import (
	"crypto/tls"
	"encoding/binary"
	"fmt"
	"io"
	"net"

	"github.com/go-sql-driver/mysql"
)

// clientSSL is the capability flag of both sides.
// https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_connection_phase_packets_protocol_ssl_request.html
const clientSSL = 0x0800

// sslRequestLen is the length of the packet that asks for TLS: what the
// client's first packet starts with.
const sslRequestLen = 32

// secured upgrades a connection to TLS beneath a driver that speaks plain text,
// because a tap above the driver's own TLS would see nothing but ciphertext.
// The packet that asks for TLS is one more than the driver knows of, so until
// the login is over the numbers of the packets differ by one on both sides.
type secured struct {
	raw   net.Conn
	conf  *tls.Config
	plain bool // TLS may be left out where the server has none

	net.Conn        // raw, and after the upgrade the TLS connection
	offers   bool   // what the server's greeting says
	greeted  bool   // it was read
	asked    bool   // the client's first packet was sent
	over     bool   // the login has succeeded or failed
	rest     []byte // of packets that were read whole and not yet passed on
}

// secure takes the TLS configuration out of a driver's and returns what to put
// around its connections; nil where it wants none.
func secure(cfg *mysql.Config) func(net.Conn) net.Conn {
	conf, plain := cfg.TLS, cfg.AllowFallbackToPlaintext
	if conf == nil {
		return nil
	}
	cfg.TLS, cfg.TLSConfig = nil, ""
	if !plain {
		// The driver sends a password as it is only where nobody can listen: it
		// knows that of TLS and of sockets. RSA keys, which it would ask for
		// otherwise, a server need not have.
		cfg.Net = "unix"
	}
	return func(c net.Conn) net.Conn {
		return &secured{raw: c, Conn: c, conf: conf, plain: plain}
	}
}

// Close closes the socket at once, without a farewell that might block.
func (s *secured) Close() error { return s.raw.Close() }

func (s *secured) Read(p []byte) (int, error) {
	if len(s.rest) == 0 {
		if s.over {
			return s.Conn.Read(p)
		}
		if err := s.readPacket(); err != nil {
			return 0, err
		}
	}
	n := copy(p, s.rest)
	s.rest = s.rest[n:]
	return n, nil
}

// readPacket reads one packet of the login.
func (s *secured) readPacket() error {
	packet := make([]byte, 4)
	if _, err := io.ReadFull(s.Conn, packet); err != nil {
		return err
	}
	n := int(packet[0]) | int(packet[1])<<8 | int(packet[2])<<16
	if n == 0 {
		return errMalformed
	}
	packet = append(packet, make([]byte, n)...)
	if _, err := io.ReadFull(s.Conn, packet[4:]); err != nil {
		return err
	}
	body := packet[4:]
	switch {
	case !s.greeted:
		s.greeted, s.offers, s.over = true, offersTLS(body), body[0] == headerErr
	case body[0] == headerOK || body[0] == headerErr:
		s.over = true
		fallthrough
	default:
		if s.Conn != s.raw {
			packet[3]--
		}
	}
	s.rest = packet
	return nil
}

// offersTLS reads the capabilities in a server's greeting.
func offersTLS(greeting []byte) bool {
	for i := 1; i < len(greeting); i++ {
		if greeting[i] != 0 { // the version, as a string
			continue
		}
		at := i + 1 + 4 + 8 + 1 // connection id, challenge, filler
		return len(greeting) >= at+2 && binary.LittleEndian.Uint16(greeting[at:])&clientSSL != 0
	}
	return false
}

func (s *secured) Write(p []byte) (int, error) {
	if s.over {
		return s.Conn.Write(p)
	}
	out := append([]byte{}, p...)
	if !s.asked {
		s.asked = true
		if err := s.upgrade(out); err != nil {
			return 0, err
		}
	}
	if s.Conn != s.raw && len(out) > 3 {
		out[3]++
	}
	return s.Conn.Write(out)
}

// upgrade starts TLS. first is the client's first packet, in which it notes
// that TLS is used.
func (s *secured) upgrade(first []byte) error {
	if !s.offers {
		if s.plain {
			return nil
		}
		return mysql.ErrNoTLS
	}
	if len(first) < 4+sslRequestLen {
		return errMalformed
	}
	flags := binary.LittleEndian.Uint32(first[4:]) | clientSSL
	binary.LittleEndian.PutUint32(first[4:], flags)
	ask := append([]byte{sslRequestLen, 0, 0, first[3]}, first[4:4+sslRequestLen]...)
	if _, err := s.raw.Write(ask); err != nil {
		return err
	}
	c := tls.Client(s.raw, s.conf)
	if err := c.Handshake(); err != nil {
		return fmt.Errorf("start TLS: %w", err)
	}
	s.Conn = c
	return nil
}
