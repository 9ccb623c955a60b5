package history

import (
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
)

// TestInsert: a text that reads like a number goes into a column of texts as it is.
func TestInsert(t *testing.T) {
	c, err := corpus.Parse("case", []byte("/* init */ CREATE TABLE t (a INT, b BINARY(2), c VARCHAR(9), d BLOB, e ENUM('2', '1'), f SET('1'), j JSON, g INT AS (a) STORED, h DECIMAL(3, 1)); /* tx1 */ BEGIN;"))
	if err != nil {
		t.Fatal(err)
	}
	row := make([]Cell, 9)
	for i, text := range []string{"1", "00", "007", "-1", "1", "1", "3", "1", "0.5"} {
		row[i] = Cell{Text: text}
	}
	table := Table{Name: "t", Columns: []string{"a", "b", "c", "d", "e", "f", "j", "g", "h"}, Rows: [][]Cell{row}}
	const want = "INSERT INTO `t` VALUES (1, '00', '007', '-1', '1', '1', '3', DEFAULT, 0.5)"
	if got := table.Insert(WrittenFor(c, "t")); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
