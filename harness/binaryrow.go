package harness

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// Types of columns whose binary values are no text.
// https://dev.mysql.com/doc/dev/mysql-server/latest/field__types_8h.html
const (
	typeTiny      = 0x01
	typeShort     = 0x02
	typeLong      = 0x03
	typeFloat     = 0x04
	typeDouble    = 0x05
	typeNull      = 0x06
	typeTimestamp = 0x07
	typeLongLong  = 0x08
	typeInt24     = 0x09
	typeDate      = 0x0a
	typeTime      = 0x0b
	typeDateTime  = 0x0c
	typeYear      = 0x0d
	typeBit       = 0x10
)

// https://dev.mysql.com/doc/dev/mysql-server/latest/group__group__cs__column__definition__flags.html
const (
	flagUnsigned = 0x20
	flagZeroFill = 0x40
)

// freeDecimals is the number of digits behind the point, and anything above it, of a number that has as many as it
// takes.
const freeDecimals = 31

// binaryWidths are the bytes of a value; other types have their length before them.
var binaryWidths = map[byte]int{
	typeTiny: 1, typeShort: 2, typeYear: 2, typeLong: 4, typeInt24: 4, typeLongLong: 8, typeFloat: 4, typeDouble: 8,
}

// binaryRow cuts a row of a prepared statement into cells that hold what the server prints in a row of text, so that no
// judge can tell how a statement was sent.
// https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_binary_resultset.html
func (t *tap) binaryRow(p []byte) error {
	const before, firstBit = 1, 2
	bitmap := (t.columns + firstBit + 7) / 8
	if len(p) < before+bitmap || p[0] != headerOK {
		return errMalformed
	}
	nulls, rest := p[before:before+bitmap], p[before+bitmap:]
	cells := make([]history.Cell, t.columns)
	for i := range cells {
		bit := i + firstBit
		if nulls[bit/8]&(1<<(bit%8)) != 0 || t.types[i].kind == typeNull {
			cells[i].Null = true
			continue
		}
		value, n, err := t.binaryValue(&t.types[i], rest)
		if err != nil {
			return err
		}
		cells[i].Text, rest = value, rest[n:]
	}
	if len(rest) > 0 {
		return errMalformed
	}
	t.addRow(cells)
	return nil
}

// binaryValue prints the value that p begins with, and tells how long it is there.
func (t *tap) binaryValue(c *columnType, p []byte) (string, int, error) {
	if n, fixed := binaryWidths[c.kind]; fixed {
		if len(p) < n {
			return "", 0, errMalformed
		}
		return t.number(c, p[:n]), n, nil
	}
	length, w, ok := lenenc(p)
	if !ok || uint64(len(p)-w) < length {
		return "", 0, errMalformed
	}
	end := w + int(length)
	value := p[w:end]
	switch c.kind {
	case typeDate, typeDateTime, typeTimestamp:
		text, err := dateText(c, value)
		return text, end, err
	case typeTime:
		text, err := timeText(c, value)
		return text, end, err
	}
	return string(value), end, nil
}

func (t *tap) number(c *columnType, p []byte) string {
	var bits uint64
	for i := len(p) - 1; i >= 0; i-- {
		bits = bits<<8 | uint64(p[i])
	}
	text := ""
	switch {
	case c.kind == typeYear && t.family == history.TiDB: // never less than 1901, or 0
		return fmt.Sprintf("%04d", bits)
	case c.kind == typeFloat:
		text = t.floatText(c, float64(math.Float32frombits(uint32(bits))), 32)
	case c.kind == typeDouble:
		text = t.floatText(c, math.Float64frombits(bits), 64)
	case c.flags&flagUnsigned != 0:
		text = strconv.FormatUint(bits, 10)
	default:
		unused := 64 - 8*len(p)
		text = strconv.FormatInt(int64(bits<<unused)>>unused, 10)
	}
	if c.flags&flagZeroFill != 0 && t.family != history.TiDB && len(text) < int(c.width) {
		text = strings.Repeat("0", int(c.width)-len(text)) + text
	}
	return text
}

func (t *tap) floatText(c *columnType, v float64, size int) string {
	if t.family == history.TiDB {
		return tidbFloat(c, v, size)
	}
	if c.decimals < freeDecimals {
		return strconv.FormatFloat(v, 'f', int(c.decimals), 64)
	}
	// A FLOAT has six digits that count, a DOUBLE as many as it takes to tell it from all others.
	// https://github.com/mysql/mysql-server/blob/trunk/strings/dtoa.cc (my_gcvt)
	digits := -1
	if size == 32 {
		digits = floatDigits - 1
	}
	mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(v, 'e', digits, 64), "e")
	power, _ := strconv.Atoi(exponent)
	if strings.Contains(mantissa, ".") {
		mantissa = strings.TrimSuffix(strings.TrimRight(mantissa, "0"), ".")
	}
	if power >= mostPlain || power < -mostPlain {
		return mantissa + "e" + strconv.Itoa(power)
	}
	rounded, err := strconv.ParseFloat(mantissa+"e"+exponent, 64)
	if err != nil { // it is what FormatFloat has just printed
		rounded = v
	}
	return strconv.FormatFloat(rounded, 'f', -1, 64)
}

const (
	floatDigits = 6
	// mostPlain is the power of ten from which on a number is printed with an exponent.
	mostPlain = 15
)

// tidbFloat is what TiDB prints: the digits that it takes, of an expression those that it declares, and a FLOAT with
// an exponent has six that count.
// https://github.com/pingcap/tidb/blob/master/pkg/server/internal/util/util.go (AppendFormatFloat)
func tidbFloat(c *columnType, v float64, size int) string {
	digits := -1
	if c.decimals > 0 && c.decimals < freeDecimals && !c.stored {
		digits = int(c.decimals)
	}
	least, most := 1e-15, 1e15
	if size == 32 {
		least, most = float64(float32(least)), float64(float32(most))
	}
	if abs := math.Abs(v); abs == 0 || abs >= least && abs < most {
		return strconv.FormatFloat(v, 'f', digits, size)
	}
	if size == 32 {
		digits = floatDigits - 1
	}
	mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(v, 'e', digits, size), "e")
	if strings.Contains(mantissa, ".") {
		mantissa = strings.TrimSuffix(strings.TrimRight(mantissa, "0"), ".")
	}
	return mantissa + "e" + strings.TrimPrefix(exponent, "+")
}

// dateText prints a DATE, DATETIME or TIMESTAMP: year, month, day; hours, minutes, seconds; microseconds. What is zero
// at the end is left out.
func dateText(c *columnType, p []byte) (string, error) {
	var b [11]byte
	switch len(p) {
	case 0, 4, 7, 11:
		copy(b[:], p)
	default:
		return "", errMalformed
	}
	day := fmt.Sprintf("%04d-%02d-%02d", binary.LittleEndian.Uint16(b[:]), b[2], b[3])
	if c.kind == typeDate {
		return day, nil
	}
	return day + fmt.Sprintf(" %02d:%02d:%02d", b[4], b[5], b[6]) + c.fraction(binary.LittleEndian.Uint32(b[7:])), nil
}

// timeText prints a TIME: whether it is negative, days, hours, minutes, seconds; microseconds.
func timeText(c *columnType, p []byte) (string, error) {
	var b [12]byte
	switch len(p) {
	case 0, 8, 12:
		copy(b[:], p)
	default:
		return "", errMalformed
	}
	sign := ""
	if b[0] == 1 {
		sign = "-"
	}
	hours := binary.LittleEndian.Uint32(b[1:])*24 + uint32(b[5])
	return sign + fmt.Sprintf("%02d:%02d:%02d", hours, b[6], b[7]) + c.fraction(binary.LittleEndian.Uint32(b[8:])), nil
}

// mostFraction is how many digits of a second there are.
const mostFraction = 6

// fraction prints a part of a second.
func (c *columnType) fraction(micro uint32) string {
	decimals := int(c.decimals)
	switch {
	case decimals > mostFraction && micro == 0, decimals == 0:
		return ""
	case decimals > mostFraction:
		decimals = mostFraction
	}
	return "." + fmt.Sprintf("%06d", micro)[:decimals]
}
