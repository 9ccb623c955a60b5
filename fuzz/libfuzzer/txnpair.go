//go:build libfuzzer && !notidb

package main

import (
	"context"
	"errors"
	"os"

	"github.com/txnfuzz/txnfuzz/fuzz"
	_ "github.com/txnfuzz/txnfuzz/harness/embedded" // registers the embedded TiDB
)

func init() { targets["fuzz_txn_pair"] = openTxnPair }

func openTxnPair() (func([]byte), error) {
	s := fuzz.Settings{Target: fuzz.DefaultTarget, Out: fuzz.DefaultOut, Known: fuzz.KnownDir}
	if err := s.FromEnvironment(); err != nil {
		return nil, err
	}
	if s.Out == fuzz.DefaultOut {
		// A fleet keeps artifacts, not what lies beside them.
		dir, err := os.MkdirTemp("", "txnfuzz-found-*")
		if err != nil {
			return nil, err
		}
		s.Out = dir
	}
	pair, err := fuzz.OpenPair(context.Background(), s)
	if err != nil {
		return nil, err
	}
	return func(data []byte) {
		err := pair.Run(context.Background(), data)
		var found *fuzz.FoundError
		switch {
		case errors.As(err, &found):
			panic(found.Error())
		case err != nil:
			panic(err)
		}
	}, nil
}
