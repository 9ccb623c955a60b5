package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/klauspost/compress/zstd"

	"github.com/txnfuzz/txnfuzz/oracle"
)

// eachRecord reads the records of a file in their order, from 1, until do returns an error.
func eachRecord(file string, do func(n int, r *oracle.Record) error) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	z, err := zstd.NewReader(f)
	if err != nil {
		return err
	}
	defer z.Close()
	d := json.NewDecoder(bufio.NewReaderSize(z, 1<<20))
	for n := 1; ; n++ {
		r := new(oracle.Record)
		if err := d.Decode(r); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("%s: record %d: %w", file, n, err)
		}
		if err := do(n, r); errors.Is(err, errEnough) {
			return nil
		} else if err != nil {
			return fmt.Errorf("%s: record %d: %w", file, n, err)
		}
	}
}

// errEnough ends eachRecord without an error.
var errEnough = errors.New("enough records")
