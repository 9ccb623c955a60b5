package server

import (
	"bytes"
	"strconv"

	"github.com/txnfuzz/txnfuzz/oracle/history"
)

var (
	indexOf     = []byte(" index ")
	ofTable     = []byte(" of table ")
	trxID       = []byte(" trx id ")
	lockMode    = []byte("lock")
	gapWords    = []byte("gap before rec")
	intention   = []byte("insert intention")
	hexOf       = []byte("; hex ")
	sqlNull     = []byte(" SQL NULL")
	supremumHex = "0x73757072656d756d"
)

// placeOfLock reads the line of the monitor that introduces a record lock; nil where
// it has another form.
//
//	RECORD LOCKS space id 8 page no 3 n bits 320 index PRIMARY of table `d`.`t` trx id 17 lock_mode X locks rec but not gap waiting
func placeOfLock(line []byte) *history.Place {
	_, rest, ok := bytes.Cut(line, indexOf)
	index, rest, ok2 := bytes.Cut(rest, ofTable)
	i := bytes.LastIndex(rest, trxID)
	if !ok || !ok2 || i < 0 {
		return nil
	}
	table := rest[:i]
	if j := bytes.LastIndex(table, []byte("`.`")); j >= 0 {
		table = table[j+2:]
	}
	at := &history.Place{Table: string(bytes.Trim(table, "`")), Index: string(index), Kind: history.RecordLock}
	if j := bytes.Index(rest[i:], lockMode); j >= 0 {
		// "lock_mode X", but "lock mode S".
		at.Mode = string(rest[i+j+len("lock_mode "):])
	}
	switch {
	case bytes.Contains(rest[i:], intention):
		at.Kind = history.InsertIntention
	case bytes.Contains(rest[i:], gapWords):
		at.Kind = history.GapLock
	}
	return at
}

// fieldOf reads a field of a record that the monitor prints, whose number is n. Of a
// value of more than 30 bytes it prints the first.
//
//	0: len 4; hex 80000001; asc     ;;
//	1: SQL NULL;
//	2: len 30; hex 6162…; asc ab…; (total 39 bytes);
func fieldOf(line []byte, n int) (string, bool) {
	line, ok := bytes.CutPrefix(line, strconv.AppendInt([]byte{' '}, int64(n), 10))
	if !ok || len(line) == 0 || line[0] != ':' {
		return "", false
	}
	line = line[1:]
	if bytes.HasPrefix(line, sqlNull) {
		return "NULL", true
	}
	head, rest, ok := bytes.Cut(line, hexOf)
	hex, tail, ok2 := bytes.Cut(rest, []byte(";"))
	if !ok || !ok2 || !bytes.HasPrefix(head, []byte(" len ")) {
		return "", false
	}
	if bytes.HasSuffix(tail, []byte(" bytes);")) {
		return "0x" + string(hex) + "…", true
	}
	return "0x" + string(hex), true
}

// addField appends a field to the record of a place. The end of a page is a record of
// one field with a name of its own.
func addField(at *history.Place, field string) {
	if field == supremumHex && len(at.Fields) == 0 {
		at.Kind = history.Supremum
		return
	}
	at.Fields = append(at.Fields, field)
}
