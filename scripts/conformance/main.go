package main

import (
	"context"
	"database/sql"
	"flag"
	"fmt"
	"os"
	"sort"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/txnfuzz/txnfuzz/harness"
	_ "github.com/txnfuzz/txnfuzz/harness/server"
	"github.com/txnfuzz/txnfuzz/mutate"
	"github.com/txnfuzz/txnfuzz/oracle/solve/conform"
)

var dump = flag.Bool("dump", false, "print how each difference's table is made, and which pairs are compared less than 100 times")

var recording, options string

func main() {
	target := flag.String("target", "embedded", "target, as txnfuzz run takes it: a private server's name or a DSN without a database")
	seed := flag.Uint64("seed", 1, "first seed")
	duration := flag.Duration("duration", 30*time.Second, "how long to run random rounds")
	compared := flag.Int("statements", 0, "run until so many statements are compared, whatever the duration")
	systematic := flag.Bool("systematic", false, "first run every operator on every pair of operand kinds")
	pairs := flag.Int("pairs", 0, "first run every operator on every pair of types, on so many tables of 14 rows")
	show := flag.Int("show", 40, "differences to print")
	depth := flag.Int("depth", 2, "largest depth of expressions")
	kinds := flag.String("kinds", "mixed,exprs,query,update,delete,insert,keyed", "what to run; strings, others, mixed: the columns; cases: the statements of generated cases")
	record := flag.String("record", "", "write a recording for the unit tests to this file, and do nothing else")
	flag.StringVar(&options, "table", "", "options that each table is created with, such as CHARSET=latin1")
	flag.Parse()
	recording = *record
	plan := conform.Plan{Seed: *seed, Systematic: *systematic, Depth: *depth, Kinds: *kinds, Compared: *compared}
	if *compared == 0 {
		plan.Until = time.Now().Add(*duration)
	}
	n, err := run(*target, plan, *pairs, *show)
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, "conformance:", err)
		os.Exit(3)
	case n > 0:
		os.Exit(1)
	}
}

func run(target string, plan conform.Plan, pairs, show int) (int, error) {
	ctx := context.Background()
	b, err := harness.Open(ctx, target, harness.Options{})
	if err != nil {
		return 0, err
	}
	defer b.Close()
	w, err := harness.WiredOf(b)
	if err != nil {
		return 0, err
	}
	conn, err := connect(ctx, w)
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	name := fmt.Sprintf("txnfuzz_conformance_%d", plan.Seed)
	c, err := conform.NewChecker(ctx, conn, name)
	if err != nil {
		return 0, err
	}
	c.Options = options
	if recording != "" {
		f, err := os.Create(recording)
		if err != nil {
			return 0, err
		}
		if err := c.Record(ctx, f, plan.Seed); err != nil {
			return 0, fmt.Errorf("record: %w", err)
		}
		return 0, f.Close()
	}
	start := time.Now()
	if pairs > 0 {
		if err := conform.Pairs(ctx, c, plan.Seed, pairs); err != nil {
			return 0, err
		}
		enough, few, refused := c.Report.PairCoverage(100)
		if *dump {
			for _, p := range c.Report.ShortPairs(100) {
				fmt.Println("   less often:", p)
			}
		}
		fmt.Printf("operators on pairs of types: %d compared 100 times or more, %d less often, refused: %s\n", enough, few, strings.Join(refused, ", "))
		rarest, times := c.Report.RarestOperand()
		fmt.Printf("each operator with each type %d times or more (%s)\n", times, rarest)
	}
	if plan.Kinds == "cases" {
		err = cases(ctx, c, plan)
	} else {
		err = conform.Run(ctx, c, plan)
	}
	r := c.Report
	for i, diff := range r.Differences {
		if i == show {
			break
		}
		if *dump {
			for _, s := range diff.Setup {
				fmt.Println(s + ";")
			}
		}
		fmt.Printf("%s\n   row  %s\n   want %s\n   got  %s\n", diff.SQL, diff.Row, diff.Want, diff.Got)
	}
	took := time.Since(start)
	fmt.Printf("%s %s: %d statements (%.0f/s), %d compared, %d values, %d differences, %d refused\n", c.Server().DBMS, c.Server().Version,
		r.Statements, float64(r.Statements)/took.Seconds(), r.Compared, r.Values, len(r.Differences), total(r.Unsupported))
	var whats []string
	for w := range r.Unsupported {
		whats = append(whats, w)
	}
	sort.Slice(whats, func(i, j int) bool { return r.Unsupported[whats[i]] > r.Unsupported[whats[j]] })
	for _, w := range whats {
		fmt.Printf("   refused %6d %s\n", r.Unsupported[w], w)
	}
	if err != nil {
		return 0, err
	}
	if _, err := conn.ExecContext(ctx, "DROP DATABASE "+name); err != nil {
		return 0, fmt.Errorf("drop the database: %w", err)
	}
	return len(r.Differences), nil
}

// connect returns one connection to a target; it is the only one.
func connect(ctx context.Context, b harness.Wired) (*sql.Conn, error) {
	connector, err := mysql.NewConnector(b.Config())
	if err != nil {
		return nil, fmt.Errorf("configure the driver: %w", err)
	}
	conn, err := sql.OpenDB(connector).Conn(ctx)
	if err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	return conn, nil
}

// cases compares the statements of generated cases, each alone.
func cases(ctx context.Context, c *conform.Checker, plan conform.Plan) error {
	for seed := plan.Seed; !plan.Over(&c.Report); seed++ {
		o := mutate.Options{DBMS: c.Server().DBMS, AllTypes: seed%2 == 1, Tables: 2}
		if err := c.Case(ctx, mutate.Generate(mutate.NewSeeded(seed), o)); err != nil {
			return fmt.Errorf("case %d: %w", seed, err)
		}
	}
	return nil
}

func total(m map[string]int) (n int) {
	for _, k := range m {
		n += k
	}
	return n
}
