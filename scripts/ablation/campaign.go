package main

import (
	"context"
	"errors"
	"flag"
	"path/filepath"
	"time"

	"github.com/txnfuzz/txnfuzz/fuzz/campaign"
	"github.com/txnfuzz/txnfuzz/fuzz/findings"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
	_ "github.com/txnfuzz/txnfuzz/harness/server" // registers MySQL, MariaDB and DSNs
	"github.com/txnfuzz/txnfuzz/mutate"
)

// runCampaign runs an arm that is a campaign of txnfuzz.
func runCampaign(ctx context.Context, f *flag.FlagSet, args []string) error {
	arm := f.String("arm", "", "which")
	name := f.String("target", target.Default, "as txnfuzz run takes it")
	dir := f.String("dir", "", "folder to work in")
	seed := f.Uint64("seed", 1, "of the campaign")
	duration := f.Duration("duration", time.Minute, "of the campaign")
	_ = f.Parse(args) // exits on an error
	if *arm == startAlone {
		t, err := target.Open(ctx, *name, target.Options{})
		if err != nil {
			return err
		}
		return t.Close()
	}
	s := campaign.Settings{
		Target: *name, Duration: *duration, Conflict: mutate.Mix, Workers: 1, Seed: *seed, Known: findings.StoredDir,
		Out: filepath.Join(*dir, "found"), Firsts: filepath.Join(*dir, firstsFile),
	}
	switch *arm {
	case armSignal, armBlind:
		s.Corpus, s.Blind = filepath.Join(*dir, "corpus"), *arm == armBlind
	case armPatterns:
		s.Conflict = mutate.Pattern
	case armRandom:
	default:
		return errors.New("no campaign is called " + *arm)
	}
	_, err := campaign.Run(ctx, s)
	return err
}
