package kv

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// cobra reads the logs of Cobra's clients: a folder with a file of each session,
// big-endian: 'S' txn, 'C' txn, 'W' write key value, 'R' writer write key value.
// A write's own number is its value, which makes values unique.
type cobra struct {
	binaryFile
	files   []string
	session int64
	f       *os.File
	names   Names
}

// What Cobra's reads hold where there was no write.
const (
	cobraInit = 0xbebeebee
	cobraNull = 0xdeadbeef
)

// binaryFile reads numbers and says where it failed.
type binaryFile struct {
	file   string
	r      *bufio.Reader
	offset int64
	order  binary.ByteOrder
}

func (b *binaryFile) bytes(n int, want string) ([]byte, error) {
	p, err := b.r.Peek(n)
	if err != nil {
		if err == io.EOF {
			return nil, &SyntaxError{File: b.file, Offset: b.offset, Want: want, Got: fmt.Sprintf("the end of the file after %d of %d bytes", len(p), n)}
		}
		return nil, fmt.Errorf("read %s: %w", b.file, err)
	}
	b.offset += int64(n)
	b.r.Discard(n) // what was peeked can be discarded
	return p, nil
}

func (b *binaryFile) number(want string) (int64, error) {
	p, err := b.bytes(8, want)
	if err != nil {
		return 0, err
	}
	return int64(b.order.Uint64(p)), nil
}

func (b *binaryFile) fail(want, got string) error {
	return &SyntaxError{File: b.file, Offset: b.offset, Want: want, Got: got}
}

// hash makes a value of a 64-bit hash.
func hash(n int64) Value {
	if v := Value(n); v.IsInt() {
		return v
	}
	return Value(n + 1<<33)
}

// CobraLogs lists the logs of a folder, nil if it holds none.
func CobraLogs(dir string) []string {
	files, _ := filepath.Glob(filepath.Join(dir, "*.log")) // the pattern is good
	slices.SortFunc(files, func(a, b string) int {
		if d := len(a) - len(b); d != 0 {
			return d // T2 before T10
		}
		return strings.Compare(a, b)
	})
	return files
}

// ReadCobra reads a folder of Cobra's logs.
func ReadCobra(files []string) Source {
	return &cobra{files: files, session: -1, binaryFile: binaryFile{order: binary.BigEndian}}
}

func (c *cobra) Header() Header { return Header{Workload: Register} }
func (c *cobra) Names() *Names  { return &c.names }

func (c *cobra) Next(r *Record) error {
	for {
		if c.f == nil {
			if len(c.files) == 0 {
				return io.EOF
			}
			f, err := os.Open(c.files[0])
			if err != nil {
				return fmt.Errorf("open a log: %w", err)
			}
			c.f, c.file, c.offset = f, c.files[0], 0
			c.r = bufio.NewReaderSize(f, 1<<16)
			c.files = c.files[1:]
			c.session++
		}
		if _, err := c.r.Peek(1); err == io.EOF {
			c.f.Close()
			c.f = nil
			continue
		}
		if err := c.transaction(r); err != nil {
			c.f.Close()
			return err
		}
		return nil
	}
}

func (c *cobra) transaction(r *Record) error {
	*r = Record{Session: c.session, Invoke: Unknown, Return: Unknown, Place: c.offset, Ops: r.Ops[:0]}
	op, err := c.bytes(1, "an operation")
	if err != nil {
		return err
	}
	if op[0] != 'S' {
		c.offset--
		return c.fail("'S', the start of a transaction", strconv.QuoteRune(rune(op[0])))
	}
	id, err := c.number("the number of the transaction")
	if err != nil {
		return err
	}
	for {
		op, err := c.bytes(1, "an operation, or the commit of the transaction")
		if err != nil {
			return err
		}
		var n [4]int64
		count := 1
		switch op[0] {
		case 'C':
		case 'W':
			count = 3
		case 'R':
			count = 4
		default:
			c.offset--
			return c.fail("'C', 'W' or 'R'", strconv.QuoteRune(rune(op[0])))
		}
		kind := op[0]
		for i := range count {
			if n[i], err = c.number("eight more bytes of an operation"); err != nil {
				return err
			}
		}
		switch kind {
		case 'C':
			if n[0] != id {
				c.offset -= 8
				return c.fail(fmt.Sprintf("the commit of transaction %d", id), fmt.Sprintf("that of %d", n[0]))
			}
			return nil
		case 'W':
			r.Ops = append(r.Ops, RecordOp{Kind: Write, Val: hash(n[0]), Key: hash(n[1])})
		case 'R':
			o := RecordOp{Kind: Read, Val: hash(n[1]), Key: hash(n[2])}
			if (n[0] == cobraInit || n[0] == cobraNull) && (n[1] == cobraInit || n[1] == cobraNull) {
				o.Val = Nil
			}
			r.Ops = append(r.Ops, o)
		}
	}
}

// dbcop reads what DBCop writes (history.bincode), little-endian: five numbers,
// three texts, then sessions, transactions and events, each with its count.
type dbcop struct {
	binaryFile
	names    Names
	started  bool
	sessions int64
	session  int64
	txns     int64
}

// ReadDBCop reads a history.bincode of DBCop.
func ReadDBCop(file string, src io.Reader) Source {
	return &dbcop{binaryFile: binaryFile{file: file, r: bufio.NewReaderSize(src, 1<<16), order: binary.LittleEndian}, session: -1}
}

func (d *dbcop) Header() Header {
	zero := int64(0)
	return Header{Workload: Register, Initial: &zero}
}

func (d *dbcop) Names() *Names { return &d.names }

// maxCount bounds counts, so that garbage is told as such.
const maxCount = 1 << 40

func (d *dbcop) count(what string) (int64, error) {
	n, err := d.number(what)
	if err == nil && (n < 0 || n > maxCount) {
		d.offset -= 8
		return 0, d.fail(what, strconv.FormatUint(uint64(n), 10))
	}
	return n, err
}

func (d *dbcop) flag(what string) (bool, error) {
	b, err := d.bytes(1, what)
	if err == nil && b[0] > 1 {
		d.offset--
		return false, d.fail(what+": 0 or 1", strconv.Itoa(int(b[0])))
	}
	return err == nil && b[0] == 1, err
}

func (d *dbcop) start() error {
	d.started = true
	for _, what := range []string{"the number of the history", "the count of nodes", "the count of variables", "the count of transactions", "the count of events"} {
		if _, err := d.count(what); err != nil {
			return err
		}
	}
	for _, what := range []string{"a description", "the time of the start", "the time of the end"} {
		n, err := d.count("the length of " + what)
		if err != nil {
			return err
		}
		for ; n > 0; n -= min(n, 4096) {
			if _, err := d.bytes(int(min(n, 4096)), what); err != nil {
				return err
			}
		}
	}
	var err error
	d.sessions, err = d.count("the count of sessions")
	return err
}

func (d *dbcop) Next(r *Record) error {
	if !d.started {
		if err := d.start(); err != nil {
			return err
		}
	}
	for d.txns == 0 {
		if d.sessions == 0 {
			if _, err := d.r.Peek(1); err != io.EOF {
				return d.fail("the end of the file", "more")
			}
			return io.EOF
		}
		d.sessions--
		d.session++
		var err error
		if d.txns, err = d.count("the count of transactions of a session"); err != nil {
			return err
		}
	}
	d.txns--
	*r = Record{Session: d.session, Invoke: Unknown, Return: Unknown, Place: d.offset, Ops: r.Ops[:0]}
	n, err := d.count("the count of events of a transaction")
	if err != nil {
		return err
	}
	for ; n > 0; n-- {
		write, err := d.flag("whether an event writes")
		if err != nil {
			return err
		}
		key, err := d.number("a key")
		if err != nil {
			return err
		}
		val, err := d.number("a value")
		if err != nil {
			return err
		}
		done, err := d.flag("whether an event succeeded")
		if err != nil {
			return err
		}
		o := RecordOp{Kind: Read, Key: hash(key), Val: hash(val)}
		if write {
			o.Kind = Write
		}
		if done {
			r.Ops = append(r.Ops, o)
		}
	}
	done, err := d.flag("whether a transaction succeeded")
	if err != nil {
		return err
	}
	if !done {
		r.Status = Fail
	}
	return nil
}
