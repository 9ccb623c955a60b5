package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
	_ "github.com/txnfuzz/txnfuzz/harness/server"
	"github.com/txnfuzz/txnfuzz/mutate/pattern"
)

type options struct {
	targets []string
	three   bool
	page    string
	show    string
}

// errWrong says that a cell is not as it must be, which is a result.
var errWrong = errors.New("cells are not as they must be")

var errUsage = errors.New("usage")

func main() {
	var o options
	flag.Func("target", "a server, as txnfuzz run takes it; may be given several times", func(s string) error {
		o.targets = append(o.targets, s)
		return nil
	})
	flag.BoolVar(&o.three, "three", true, "run the patterns of three transactions, too, of which there are 3,240")
	flag.StringVar(&o.page, "page", filepath.Join("docs", "anomalies.md"), "file of the page; - is standard output")
	flag.StringVar(&o.show, "print", "", "print the pattern of this name as a case, and run nothing")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err := run(ctx, o, os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "anomalies:", err)
	}
	var name *target.Error
	switch {
	case err == nil:
	case errors.Is(err, errWrong):
		os.Exit(1)
	case errors.Is(err, errUsage), errors.As(err, &name):
		os.Exit(2)
	default:
		os.Exit(3)
	}
}

func run(ctx context.Context, o options, w io.Writer) error {
	if o.show != "" {
		p, err := pattern.Find(o.show)
		if err != nil {
			return fmt.Errorf("%w: %w", errUsage, err)
		}
		_, err = w.Write(corpus.Print(p.Case(), corpus.Text))
		return err
	}
	if len(o.targets) == 0 {
		return fmt.Errorf("%w: name a --target, for example mariadb:11.8, or a pattern to --print", errUsage)
	}
	families := []pattern.Family{pattern.TwoItems, pattern.OneItem, pattern.Aborts, pattern.Conditions}
	if o.three {
		families = append(families, pattern.ThreeItems)
	}
	var columns []*column
	wrong := 0
	for _, target := range o.targets {
		some, err := runTarget(ctx, target, families)
		if err != nil {
			return err
		}
		columns = append(columns, some...)
	}
	for _, c := range columns {
		wrong += c.tellWrong(os.Stderr)
	}
	text := page(families, columns)
	if o.page == "-" {
		if _, err := io.WriteString(w, text); err != nil {
			return err
		}
	} else if err := os.WriteFile(o.page, []byte(text), 0o644); err != nil {
		return fmt.Errorf("write the page: %w", err)
	}
	if wrong > 0 {
		return fmt.Errorf("%d %w", wrong, errWrong)
	}
	return nil
}
