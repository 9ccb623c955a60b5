package solve

import (
	"fmt"

	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/sqlvalue"
)

// ParseRow turns cells, as the text protocol printed them, into stored values.
func (t *Table) ParseRow(cells []history.Cell) (Row, error) {
	if len(cells) != len(t.Columns) {
		return nil, fmt.Errorf("table %s: row of %d cells for %d columns", t.Name, len(cells), len(t.Columns))
	}
	row := make(Row, len(cells))
	for i, cell := range cells {
		v, err := t.Columns[i].Type.Parse(cell)
		if err != nil {
			return nil, fmt.Errorf("table %s, column %s: %w", t.Name, t.Columns[i].Name, err)
		}
		if typ := t.Columns[i].Type; typ.Class == FloatClass && typ.Digits == floatDigits && !v.IsNull() {
			f, err := t.Given.value(cell.Text, v.Double())
			if err != nil {
				return nil, err
			}
			v = sqlvalue.NewFloat(f, floatDigits)
		}
		row[i] = v
	}
	return row, nil
}

// Parse turns one cell, as the text protocol printed it, into a value of type t.
func (t Type) Parse(cell history.Cell) (sqlvalue.Value, error) {
	if cell.Null {
		return sqlvalue.Value{}, nil
	}
	if t.Class == JSONClass {
		return sqlvalue.NewString(cell.Text), nil
	}
	if t.Class == StringClass {
		if t.Binary {
			return sqlvalue.NewBytes(cell.Text), nil
		}
		return sqlvalue.NewString(cell.Text), nil
	}
	switch t.Class {
	case BitClass:
		u := uint64(0)
		for i := 0; i < len(cell.Text); i++ {
			u = u<<8 | uint64(cell.Text[i])
		}
		return sqlvalue.NewBit(u, int(t.Bits)), nil
	case EnumClass:
		for i, m := range t.Elems {
			if m == cell.Text {
				if m == "" {
					return sqlvalue.Value{}, unsupported("an empty text in an ENUM that has it as a member, which may be the error value 0")
				}
				return sqlvalue.NewEnum(i+1, m), nil
			}
		}
		return sqlvalue.NewEnum(0, ""), nil
	case SetClass:
		bits, ok := t.bitsOf(cell.Text)
		if !ok {
			return sqlvalue.Value{}, fmt.Errorf("read %q as a SET", cell.Text)
		}
		return t.set(bits), nil
	}
	if isTemporal(t) {
		return sqlvalue.NewTemporal(cell.Text), nil
	}
	n := sqlvalue.NumericPrefix(cell.Text)
	if n.Rest || n.Empty {
		return sqlvalue.Value{}, fmt.Errorf("read %q as a number", cell.Text)
	}
	switch t.Class {
	case DoubleClass, FloatClass:
		f, _ := n.Double()
		if t.Class == FloatClass {
			return sqlvalue.NewFloat(float32(f), t.Digits), nil
		}
		return sqlvalue.NewDouble(f), nil
	case YearClass:
		f, _ := n.Double()
		return sqlvalue.NewYear(int(f)), nil
	case DecimalClass, IntClass:
		d, ok := n.Decimal()
		if !ok {
			return sqlvalue.Value{}, fmt.Errorf("read %q as a decimal", cell.Text)
		}
		if t.Class == DecimalClass {
			return d.Rescale(t.Scale), nil
		}
		u, over := d.ToInt(t.Unsigned)
		if over != 0 {
			return sqlvalue.Value{}, fmt.Errorf("read %q as an integer", cell.Text)
		}
		if t.Unsigned {
			return sqlvalue.NewUint(u), nil
		}
		return sqlvalue.NewInt(int64(u)), nil
	}
	return sqlvalue.Value{}, unsupported("a value of a type that has no reader")
}
