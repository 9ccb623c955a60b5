package harness

import (
	"errors"
	"testing"

	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// TestBinaryRowsAreWhole: a row of a prepared statement that ends too early, or too late, is none.
func TestBinaryRowsAreWhole(t *testing.T) {
	types := []columnType{{kind: typeLong}, {kind: 0xfd}, {kind: typeDateTime, decimals: 2}, {kind: typeTime}, {kind: typeTiny}}
	row := []byte{
		0x00, 0x40, // the fifth column is NULL
		0xfe, 0xff, 0xff, 0xff,
		2, 'h', 'i',
		11, 0xe8, 0x07, 2, 29, 1, 2, 3, 0x38, 0x2d, 0x0b, 0x00, // 732472 µs
		8, 1, 2, 0, 0, 0, 3, 4, 5,
	}
	parse := func(p []byte) ([]history.Cell, error) {
		tp := &tap{columns: len(types), types: types, binary: true, state: tapRows}
		err := tp.binaryRow(p)
		if err != nil {
			return nil, err
		}
		return tp.reply.Rows[0], nil
	}
	cells, err := parse(row)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"-2", "hi", "2024-02-29 01:02:03.73", "-51:04:05", ""} {
		if cells[i].Text != want || cells[i].Null != (want == "") {
			t.Errorf("column %d is %+v, want %s", i, cells[i], want)
		}
	}
	for n := range len(row) {
		if _, err := parse(row[:n]); !errors.Is(err, errMalformed) {
			t.Errorf("%d bytes of %d: %v", n, len(row), err)
		}
	}
	if _, err := parse(append(row, 0)); !errors.Is(err, errMalformed) {
		t.Errorf("one byte more: %v", err)
	}
}

// TestShapes: statements that differ in numbers, texts and quoted names alone are asked about once.
func TestShapes(t *testing.T) {
	for sql, want := range map[string]string{
		"BEGIN": "BEGIN", "SAVEPOINT `a``b`": "SAVEPOINT ??", "XA START 'it\\'s', \"x\", 12": "XA START ?, ?, ?",
		"SELECT 'open": "SELECT ?", "RELEASE SAVEPOINT s12": "RELEASE SAVEPOINT s?",
	} {
		if got := shapeOf(sql); got != want {
			t.Errorf("%s: %s, want %s", sql, got, want)
		}
	}
}
