package harness

import (
	"bytes"
	"io"
	"net"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// packet frames a payload with its sequence number, cut at the protocol's limit.
func packet(seq byte, payload []byte) []byte {
	var out []byte
	for {
		n := min(len(payload), maxPayload)
		out = append(out, byte(n), byte(n>>8), byte(n>>16), seq)
		out = append(out, payload[:n]...)
		payload = payload[n:]
		seq++
		if n < maxPayload {
			return out
		}
	}
}

func stream(payloads ...string) []byte {
	var out []byte
	for i, p := range payloads {
		out = append(out, packet(byte(i+1), []byte(p))...)
	}
	return out
}

func column(name string) string { return columnOf(name, 3) }

func columnOf(name string, of byte) string {
	out := []byte{3}
	out = append(out, "def"...)
	for _, s := range []string{"db", "t", "t", name, name} {
		out = append(out, byte(len(s)))
		out = append(out, s...)
	}
	return string(append(out, 0x0c, 45, 0, 11, 0, 0, 0, of, 0, 0, 0, 0, 0))
}

const noCounts = -1

func none() history.Result {
	return history.Result{Matched: noCounts, Changed: noCounts, Affected: noCounts}
}

// replies holds whole answers as servers send them, and what they say.
var replies = []struct {
	name  string
	bytes []byte
	want  history.Result
}{
	{
		"BEGIN, TiDB", stream("\x00\x00\x00\x03\x00\x00\x00"),
		history.Result{Matched: -1, Changed: -1, InTxn: true},
	},
	{
		"COMMIT, MariaDB", stream("\x00\x00\x00\x02\x00\x00\x00"),
		history.Result{Matched: -1, Changed: -1},
	},
	{
		"UPDATE, info bare", stream("\x00\x01\x00\x03\x00\x02\x00Rows matched: 3  Changed: 1  Warnings: 2"),
		history.Result{Matched: 3, Changed: 1, Affected: 1, Warnings: 2, InTxn: true},
	},
	{
		"UPDATE, info counted", stream("\x00\x00\x00\x03\x00\x00\x00\x28Rows matched: 1  Changed: 0  Warnings: 0"),
		history.Result{Matched: 1, Changed: 0, Affected: 0, InTxn: true},
	},
	{
		"INSERT of many rows with an id", stream("\x00\xfc\x2c\x01\xfd\x01\x00\x01\x02\x00\x00\x00Records: 300  Duplicates: 0  Warnings: 0"),
		history.Result{Matched: -1, Changed: -1, Affected: 300, LastID: 65537},
	},
	{
		"deadlock", stream("\xff\xbd\x04#40001Deadlock found when trying to get lock; try restarting transaction"),
		history.Result{Matched: -1, Changed: -1, Affected: -1, Err: &history.Error{
			Code: 1213, State: "40001", Message: "Deadlock found when trying to get lock; try restarting transaction",
		}},
	},
	{
		"error without a state", stream("\xff\x15\x04Access denied"),
		history.Result{Matched: -1, Changed: -1, Affected: -1, Err: &history.Error{Code: 1045, Message: "Access denied"}},
	},
	{
		"rows", stream("\x02", column("a"), column("b"), "\xfe\x00\x00\x03\x00",
			"\x011\xfb", "\x00\x021\xfb", "\x01\xfe\x03\xff\xfe\x00", "\xfe\x01\x00\x03\x00"),
		history.Result{
			Matched: -1, Changed: -1, Affected: -1, Warnings: 1, InTxn: true, Columns: []string{"a", "b"},
			Rows: [][]history.Cell{{{Text: "1"}, {Null: true}}, {{}, {Text: "1\xfb"}}, {{Text: "\xfe"}, {Text: "\xff\xfe\x00"}}},
		},
	},
	{
		"a BIT beside a text", stream("\x02", column("a"), columnOf("b", typeBit), "\xfe\x00\x00\x02\x00",
			"\x01A\x01A", "\x01A\xfb", "\xfe\x00\x00\x02\x00"),
		history.Result{
			Matched: -1, Changed: -1, Affected: -1, Columns: []string{"a", "b"},
			Rows: [][]history.Cell{{{Text: "A"}, {Text: "A", Bit: true}}, {{Text: "A"}, {Null: true}}},
		},
	},
	{
		"no rows", stream("\x01", column("a"), "\xfe\x00\x00\x02\x00", "\xfe\x00\x00\x02\x00"),
		history.Result{Matched: -1, Changed: -1, Affected: -1, Columns: []string{"a"}},
	},
	{
		"rows that end in an error", stream("\x01", column("a"), "\xfe\x00\x00\x03\x00", "\x017", "\xff\xb5\x04#HY000Lock wait timeout exceeded"),
		history.Result{
			Matched: -1, Changed: -1, Affected: -1, Columns: []string{"a"}, Rows: [][]history.Cell{{{Text: "7"}}},
			Err: &history.Error{Code: 1205, State: "HY000", Message: "Lock wait timeout exceeded"},
		},
	},
	{
		"a wide cell", stream("\x01", column("a"), "\xfe\x00\x00\x02\x00", "\xfc\x2c\x01"+strings.Repeat("x", 300), "\xfe\x00\x00\x02\x00"),
		history.Result{
			Matched: -1, Changed: -1, Affected: -1, Columns: []string{"a"}, Rows: [][]history.Cell{{{Text: strings.Repeat("x", 300)}}},
		},
	},
	{
		"two results, the last counts", stream("\x00\x02\x00\x0a\x00\x00\x00", "\x00\x05\x00\x02\x00\x00\x00"),
		history.Result{Matched: -1, Changed: -1, Affected: 5},
	},
	{
		"an error in the second result", stream("\x00\x02\x00\x0a\x00\x00\x00", "\xff\x26\x04#23000Duplicate entry"),
		history.Result{
			Matched: -1, Changed: -1, Affected: 2, InTxn: false,
			Err: &history.Error{Code: 1062, State: "23000", Message: "Duplicate entry"},
		},
	},
}

// TestTapSeveralStatements: the rows of each statement are kept apart, and what gives
// none leaves none behind.
func TestTapSeveralStatements(t *testing.T) {
	ok, end := "\x00\x01\x00\x0a\x00\x00\x00", "\xfe\x00\x00\x02\x00"
	more := "\xfe\x00\x00\x0a\x00"
	answer := stream(ok, "\x01", column("a"), more, "\x017", "\x018", more, ok, "\x01", column("b"), more, more, "\x01", column("c"), end, "\x019", end)
	conn := &tap{}
	for i := 0; i <= len(answer); i++ {
		listen(t, conn, answer[:i], answer[i:])
		check(t, conn, history.Result{
			Matched: -1, Changed: -1, Affected: 1, Columns: []string{"c"}, Rows: [][]history.Cell{{{Text: "9"}}},
		})
		want := []RowSet{
			{[]string{"a"}, [][]history.Cell{{{Text: "7"}}, {{Text: "8"}}}},
			{[]string{"b"}, nil},
		}
		if diff := cmp.Diff(want, conn.reply.Earlier); diff != "" {
			t.Fatalf("earlier rows (-want +got):\n%s", diff)
		}
	}
	tables, err := tablesOf(&conn.reply, []tableSpec{{name: "x"}, {name: "y"}, {name: "z"}})
	if err != nil || len(tables) != 3 || tables[0].Name != "x" || len(tables[0].Rows) != 2 || len(tables[1].Rows) != 0 || tables[2].Columns[0] != "c" {
		t.Errorf("tables %+v, error %v", tables, err)
	}
	if _, err := tablesOf(&conn.reply, []tableSpec{{name: "x"}, {name: "y"}}); err == nil {
		t.Error("three tables were taken for two")
	}
}

// scripted is a connection whose reads return given chunks.
type scripted struct {
	net.Conn
	chunks [][]byte
}

func (s *scripted) Write(p []byte) (int, error) { return len(p), nil }

func (s *scripted) Read(p []byte) (int, error) {
	if len(s.chunks) == 0 {
		return 0, io.EOF
	}
	n := copy(p, s.chunks[0])
	if s.chunks[0] = s.chunks[0][n:]; len(s.chunks[0]) == 0 {
		s.chunks = s.chunks[1:]
	}
	return n, nil
}

// listen sends a query and reads the chunks through a tap.
func listen(t *testing.T, conn *tap, chunks ...[]byte) {
	t.Helper()
	conn.Conn = &scripted{chunks: slices.Clone(chunks)}
	if _, err := conn.Write(packet(0, []byte("\x03SELECT 1"))); err != nil {
		t.Fatal(err)
	}
	var passed []byte
	buf := make([]byte, 1<<16)
	for {
		n, err := conn.Read(buf)
		passed = append(passed, buf[:n]...)
		if err == io.EOF {
			break
		}
	}
	if want := bytes.Join(chunks, nil); !bytes.Equal(passed, want) {
		t.Fatalf("passed %d bytes on of %d, or changed them", len(passed), len(want))
	}
}

func check(t *testing.T, conn *tap, want history.Result) {
	t.Helper()
	if conn.err != nil {
		t.Fatalf("tap: %v", conn.err)
	}
	if !conn.done {
		t.Fatal("reply is not complete")
	}
	if diff := cmp.Diff(want, conn.reply.Result); diff != "" {
		t.Fatalf("reply (-want +got):\n%s", diff)
	}
}

// TestTapSplits cuts each recorded answer in two and in three at every position.
func TestTapSplits(t *testing.T) {
	for _, r := range replies {
		t.Run(r.name, func(t *testing.T) {
			conn := &tap{} // one for all cuts: nothing may be left behind
			for i := 0; i <= len(r.bytes); i++ {
				listen(t, conn, r.bytes[:i], r.bytes[i:])
				check(t, conn, r.want)
				for j := i; j <= len(r.bytes) && len(r.bytes) < 150; j++ {
					listen(t, conn, r.bytes[:i], r.bytes[i:j], r.bytes[j:])
					check(t, conn, r.want)
				}
			}
		})
	}
}

// TestTapBytewise reads all answers one byte at a time, one after another on
// one connection, behind a handshake that the tap must not take for an answer.
func TestTapBytewise(t *testing.T) {
	conn := &tap{Conn: &scripted{chunks: [][]byte{packet(0, []byte("\x0a8.0.11-TiDB-None\x00"))}}}
	if _, err := conn.Read(make([]byte, 64)); err != nil {
		t.Fatal(err)
	}
	for _, r := range replies {
		var single [][]byte
		for i := range r.bytes {
			single = append(single, r.bytes[i:i+1])
		}
		listen(t, conn, single...)
		check(t, conn, r.want)
	}
}

// TestTapLongPacket reads a row whose payload needs two packets, and one whose
// payload just fills the first, so that an empty packet follows.
func TestTapLongPacket(t *testing.T) {
	for _, size := range []int{maxPayload - 4, maxPayload} {
		text := bytes.Repeat([]byte("y"), size)
		row := append([]byte{0xfd, byte(size), byte(size >> 8), byte(size >> 16)}, text...)
		b := stream("\x01", column("a"), "\xfe\x00\x00\x02\x00")
		b = append(b, packet(4, row)...)
		b = append(b, packet(6, []byte("\xfe\x00\x00\x02\x00"))...)
		conn := &tap{}
		listen(t, conn, b[:maxPayload/2], b[maxPayload/2:])
		want := none()
		want.Columns = []string{"a"}
		want.Rows = [][]history.Cell{{{Text: string(text)}}}
		check(t, conn, want)
	}
}

// TestTapMalformed feeds answers that break the protocol: each is an error,
// never a panic or a made-up row.
func TestTapMalformed(t *testing.T) {
	for name, b := range map[string][]byte{
		"empty packet":         packet(1, nil),
		"OK cut short":         stream("\x00\x01"),
		"error cut short":      stream("\xff\x01"),
		"too few columns":      stream("\x02", column("a"), "\xfe\x00\x00\x02\x00"),
		"column cut short":     stream("\x01", "\x03de"),
		"row cut short":        stream("\x01", column("a"), "\xfe\x00\x00\x02\x00", "\x05ab"),
		"row with bytes left":  stream("\x01", column("a"), "\xfe\x00\x00\x02\x00", "\x01ab"),
		"row without a cell":   stream("\x02", column("a"), column("b"), "\xfe\x00\x00\x02\x00", "\x01a"),
		"EOF cut short":        stream("\x01", column("a"), "\xfe\x00\x00\x02\x00", "\xfe\x00"),
		"length beyond packet": stream("\x01", column("a"), "\xfe\x00\x00\x02\x00", "\xfe\xff\xff\xff\xff\xff\xff\xff\xff"),
	} {
		t.Run(name, func(t *testing.T) {
			conn := &tap{}
			listen(t, conn, b)
			if conn.err == nil {
				t.Fatalf("no error; reply %+v", conn.reply)
			}
		})
	}
}

func FuzzTap(f *testing.F) {
	for _, r := range replies {
		f.Add(r.bytes, len(r.bytes)/2)
	}
	f.Fuzz(func(t *testing.T, b []byte, cut int) {
		whole, halves := &tap{}, &tap{}
		listen(t, whole, b)
		cut = min(max(cut, 0), len(b))
		listen(t, halves, b[:cut], b[cut:])
		if (whole.err == nil) != (halves.err == nil) || whole.done != halves.done {
			t.Fatalf("cut at %d: %v %v, whole: %v %v", cut, halves.err, halves.done, whole.err, whole.done)
		}
		if diff := cmp.Diff(whole.reply.Result, halves.reply.Result); diff != "" {
			t.Fatalf("cut at %d (-whole +cut):\n%s", cut, diff)
		}
	})
}

// TestTapSendsAStatement: in packets of which each but the last is full.
func TestTapSendsAStatement(t *testing.T) {
	for _, n := range []int{0, 1, 100, maxPayload - 2, maxPayload - 1, maxPayload, 2*maxPayload - 1, 2 * maxPayload} {
		near, far := net.Pipe()
		tp := &tap{Conn: near}
		sql := strings.Repeat("x", n)
		sent := make(chan error, 1)
		go func() {
			err := tp.query(sql)
			near.Close()
			sent <- err
		}()
		var got []byte
		for seq := byte(0); ; seq++ {
			var head [4]byte
			if _, err := io.ReadFull(far, head[:]); err != nil {
				t.Fatalf("%d bytes, packet %d: %v", n, seq, err)
			}
			size := int(head[0]) | int(head[1])<<8 | int(head[2])<<16
			if head[3] != seq {
				t.Fatalf("%d bytes: packet %d has number %d", n, seq, head[3])
			}
			payload := make([]byte, size)
			if _, err := io.ReadFull(far, payload); err != nil {
				t.Fatal(err)
			}
			got = append(got, payload...)
			if size < maxPayload {
				break
			}
		}
		if err := <-sent; err != nil {
			t.Fatal(err)
		}
		if len(got) != n+1 || got[0] != comQuery || string(got[1:]) != sql {
			t.Errorf("a statement of %d bytes arrives as %d", n, len(got)-1)
		}
		if tp.state != tapHeader {
			t.Errorf("%d bytes: the tap is in state %d, want that of a reply to come", n, tp.state)
		}
	}
}
