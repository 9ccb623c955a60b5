package property

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/mutate"
)

// Parse reads a text as a case. A refusal names a place in the text; what is
// taken can be printed and read again.
func Parse(text []byte) error {
	c, err := corpus.Parse("input", text)
	if err != nil {
		return refused(text, err)
	}
	return sameAgain(c)
}

// Blocks reads a text in the form of blocks, in which Troc and Fucci publish
// their cases, under the terms of Parse.
func Blocks(text []byte) error {
	cases, err := corpus.ParseBlocks("input", text)
	if err != nil {
		return refused(text, err)
	}
	for _, c := range cases {
		if err := sameAgain(c); err != nil {
			return err
		}
	}
	return nil
}

// Generate makes cases of bytes, twice: they are the same, valid, and can be
// printed and read.
func Generate(data []byte) error {
	opts := mutate.Options{Tables: 2}
	first, second := mutate.FromInput(data, nil, opts), mutate.FromInput(data, nil, opts)
	if len(first) != len(second) {
		return fmt.Errorf("%d cases, %d the second time", len(first), len(second))
	}
	for i, c := range first {
		if !bytes.Equal(corpus.Print(c, corpus.Text), corpus.Print(second[i], corpus.Text)) {
			return fmt.Errorf("case %d is another one the second time:\n%s", i, corpus.Print(c, corpus.Text))
		}
		if err := sameAgain(c); err != nil {
			return err
		}
	}
	return nil
}

func refused(text []byte, err error) error {
	var p *corpus.ParseError
	if !errors.As(err, &p) {
		return fmt.Errorf("%T is not a *corpus.ParseError: %w", err, err)
	}
	if lines := bytes.Count(text, []byte("\n")) + 1; p.Line < 1 || p.Line > lines || p.Column < 1 || p.Msg == "" {
		return fmt.Errorf("error %w of a text with %d lines", p, lines)
	}
	return nil
}

func sameAgain(c *corpus.Case) error {
	text := corpus.Print(c, corpus.Text)
	if err := c.Validate(); err != nil {
		return fmt.Errorf("%w\n%s", err, text)
	}
	back, err := corpus.Parse("printed", text)
	if err != nil {
		return fmt.Errorf("%w\n%s", err, text)
	}
	if !back.Equal(c) {
		return fmt.Errorf("read back as another one:\n%s\n%s", text, corpus.Print(back, corpus.Text))
	}
	return nil
}
