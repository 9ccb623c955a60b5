//go:build libfuzzer && !notidb

package main

/*
#include <stdlib.h>

extern void txnfuzz_end(void);

static void end_at_exit(void) { atexit(txnfuzz_end); }
*/
import "C"

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/txnfuzz/txnfuzz/fuzz/campaign"
	"github.com/txnfuzz/txnfuzz/fuzz/findings"
	"github.com/txnfuzz/txnfuzz/fuzz/frames"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
	_ "github.com/txnfuzz/txnfuzz/harness/embedded" // registers the embedded TiDB
)

func init() { targets["fuzz_txn_pair"] = openTxnPair }

// end is run when libFuzzer has reached a bound of its own.
var end = func() error { return nil }

//export txnfuzz_end
func txnfuzz_end() {
	if err := end(); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	campaign.ExitCovered()
}

func openTxnPair() (func([]byte), error) {
	s := campaign.Settings{Target: target.Default, Out: findings.DefaultOut, Known: findings.StoredDir}
	if err := s.FromEnvironment(); err != nil {
		return nil, err
	}
	scratch := ""
	if s.Out == findings.DefaultOut {
		// A fleet keeps artifacts, not what lies beside them.
		var err error
		if scratch, err = os.MkdirTemp("", "txnfuzz-found-*"); err != nil {
			return nil, err
		}
		s.Out = scratch
	}
	pair, err := campaign.OpenPair(context.Background(), s)
	if err != nil {
		return nil, err
	}
	end = func() error {
		err := pair.Close()
		if scratch != "" {
			err = errors.Join(err, os.RemoveAll(scratch))
		}
		return err
	}
	C.end_at_exit()
	return func(data []byte) {
		err := pair.Run(context.Background(), data)
		var found *campaign.FoundError
		switch {
		case errors.As(err, &found) && s.GoOn:
			fmt.Fprintln(os.Stderr, found)
		case errors.As(err, &found):
			frames.Panic(found.Finding.ID, found.Error())
		case err != nil:
			panic(err)
		}
	}, nil
}
