package history

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Cell is one value as the server's text protocol printed it.
type Cell struct {
	Null bool
	// Text holds bytes: those of a BIT or a BINARY need not be a text.
	Text string
	// Bit tells that the server called the column a BIT, whose bytes are a number even
	// where a terminal could show them. Old files do not say it.
	Bit bool
}

// String prints a cell as a person would, and is the only place that does: NULL, the
// server's text or, of a BIT and where a terminal could not show the text, the literal
// that stands for the bytes. It is valid UTF-8 on one line.
// https://dev.mysql.com/doc/refman/9.7/en/hexadecimal-literals.html
func (c Cell) String() string {
	if c.Bit && !c.Null {
		return "0x" + hex.EncodeToString([]byte(c.Text))
	}
	return c.Key()
}

// Key tells values apart, whatever type their columns have: two servers may give an
// expression different types, and a predicted value knows none but its own.
func (c Cell) Key() string {
	switch {
	case c.Null:
		return "NULL"
	case !utf8.ValidString(c.Text), strings.ContainsFunc(c.Text, unicode.IsControl):
		return "0x" + hex.EncodeToString([]byte(c.Text))
	}
	return c.Text
}

// Raw is String with the bytes as they are, as a client's batch output has them.
func (c Cell) Raw() string {
	if c.Null {
		return "NULL"
	}
	return c.Text
}

// cellJSON is a cell in a file. JSON holds texts, so other bytes are in hexadecimal.
type cellJSON struct {
	Null  bool   `json:"null,omitempty"`
	Text  string `json:"text,omitempty"`
	Bytes string `json:"bytes,omitempty"`
	Bit   bool   `json:"bit,omitempty"`
}

// MarshalJSON loses no byte.
func (c Cell) MarshalJSON() ([]byte, error) {
	if utf8.ValidString(c.Text) {
		return json.Marshal(cellJSON{Null: c.Null, Text: c.Text, Bit: c.Bit})
	}
	return json.Marshal(cellJSON{Null: c.Null, Bytes: hex.EncodeToString([]byte(c.Text)), Bit: c.Bit})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (c *Cell) UnmarshalJSON(text []byte) error {
	var in cellJSON
	if err := json.Unmarshal(text, &in); err != nil {
		return fmt.Errorf("read a value: %w", err)
	}
	*c = Cell{in.Null, in.Text, in.Bit}
	if in.Bytes != "" {
		b, err := hex.DecodeString(in.Bytes)
		if err != nil {
			return fmt.Errorf("read a value's bytes: %w", err)
		}
		c.Text = string(b)
	}
	return nil
}
