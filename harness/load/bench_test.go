package load

import (
	"bufio"
	"context"
	"database/sql/driver"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/harness"
	_ "github.com/txnfuzz/txnfuzz/harness/server"
	"github.com/txnfuzz/txnfuzz/oracle/kv"
)

// BenchmarkBesideBareLoop tells what recording, checking and the pauses between the
// epochs cost: the rate of a run, with its history written to a file, divided by that
// of a loop that sends the same statements from as many clients and keeps nothing.
// The two take turns; load/bare is the median of the pairs. On a machine that does
// other work, too, the processor time of a transaction, the server's and ours, tells
// more: cpu is that of the loop divided by that of the run.
func BenchmarkBesideBareLoop(b *testing.B) {
	const clients, pairs, stretch = 8, 5, 4 * time.Second
	for _, target := range []string{"mariadb:11.8", "mysql:9.7"} {
		for _, name := range []string{"append", "mini", "mixed"} {
			for _, level := range []corpus.Level{corpus.RepeatableRead, corpus.Serializable} {
				b.Run(target+"/"+name+"/"+level.Short(), func(b *testing.B) {
					server, err := harness.Open(b.Context(), target, harness.Options{})
					if err != nil {
						b.Fatal(err)
					}
					defer server.Close()
					var ratios, cpus []float64
					for b.Loop() {
						for i := range pairs {
							bare := bareLoop(b, server.(harness.Wired), name, level, clients, stretch, uint64(i))
							loaded := loadedLoop(b, server.(harness.Wired), name, level, clients, stretch, uint64(i))
							ratios = append(ratios, loaded.rate/bare.rate)
							cpus = append(cpus, bare.cpu/loaded.cpu)
							b.Logf("bare %.0f/s, load %.0f/s: %.3f; processor %.0f and %.0f µs: %.3f", bare.rate, loaded.rate, loaded.rate/bare.rate, bare.cpu, loaded.cpu, bare.cpu/loaded.cpu)
						}
					}
					slices.Sort(ratios)
					slices.Sort(cpus)
					b.ReportMetric(ratios[len(ratios)/2], "load/bare")
					b.ReportMetric(cpus[len(cpus)/2], "cpu")
				})
			}
		}
	}
}

// cost is transactions a second, and microseconds of processor a transaction.
type cost struct{ rate, cpu float64 }

// processor returns the time that this process and its servers have used.
func processor(b *testing.B) time.Duration {
	b.Helper()
	var own syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &own); err != nil {
		b.Fatal(err)
	}
	total := time.Duration(own.Utime.Nano() + own.Stime.Nano())
	// The server is a child of its watchdog, a shell, which is a child of ours.
	for _, shell := range childrenOf(os.Getpid()) {
		for _, server := range childrenOf(shell) {
			stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", server))
			if err != nil {
				continue
			}
			f := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
			user, _ := strconv.Atoi(f[11])
			system, _ := strconv.Atoi(f[12])
			total += time.Duration(user+system) * time.Second / 100 // USER_HZ
		}
	}
	return total
}

func childrenOf(pid int) []int {
	var out []int
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, t := range tasks {
		text, _ := os.ReadFile(t)
		for _, c := range strings.Fields(string(text)) {
			n, _ := strconv.Atoi(c)
			out = append(out, n)
		}
	}
	return out
}

func loadedLoop(b *testing.B, server harness.Wired, workload string, level corpus.Level, clients int, d time.Duration, seed uint64) cost {
	b.Helper()
	f, err := os.Create(filepath.Join(b.TempDir(), "history.jsonl"))
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	before := processor(b)
	r, err := Run(context.Background(), server, Settings{
		Target: "bench", Workload: workload, Clients: clients, Level: level, Reads: PlainReads,
		Duration: d, Timeout: 10 * time.Second, Seed: seed, Found: b.TempDir(), History: bufio.NewWriter(f),
	})
	if err != nil || r.Found() || r.Problem() != nil {
		b.Fatal(err, r.Problem(), r.Findings)
	}
	// The rate is that of the whole run, the last check included.
	return cost{r.Rate, float64((processor(b) - before).Microseconds()) / float64(r.Transactions)}
}

func bareLoop(b *testing.B, server harness.Wired, name string, level corpus.Level, clients int, d time.Duration, seed uint64) cost {
	b.Helper()
	w := workloads[name]
	r := &run{
		backend: server, dial: mysqlDial(server, nil), dialect: mysqlDialect, workload: w, begun: time.Now(),
		database: harness.DatabasePrefix + "bare",
		settings: Settings{Clients: clients, Epoch: 200000}, life: context.Background(),
	}
	r.control = &session{dial: r.dial, timeout: time.Minute}
	defer r.control.close()
	if err := r.prepare(b.Context()); err != nil {
		b.Fatal(err)
	}
	defer r.drop()
	e := r.newEpoch(0, []*tape{{}}) // for the rows with which it begins
	if err := r.begin(e); err != nil {
		b.Fatal(err)
	}
	opened, err := openingsFor(nil, name, server.Server().DBMS, level)
	if err != nil {
		b.Fatal(err)
	}
	var count atomic.Int64
	var wait sync.WaitGroup
	before := processor(b)
	begun := time.Now()
	end := begun.Add(d)
	for i := range clients {
		s := &session{dial: r.dial, timeout: 10 * time.Second, setup: r.dialect.begin(level, r.database)}
		if err := s.connect(context.Background()); err != nil {
			b.Fatal(err)
		}
		c := &chooser{rand: rand.New(rand.NewPCG(seed, uint64(i))), epoch: e, locks: readLocks[PlainReads],
			replaces: true, revives: true, last: kv.Value(i), step: kv.Value(clients)}
		wait.Add(1)
		go func() {
			defer wait.Done()
			defer s.close()
			var p plan
			var text []byte
			dest := make([]driver.Value, 1)
			for time.Now().Before(end) {
				p.draw(w, c, opened)
				bareTransaction(s.conn.(*mysqlConn).Conn, w, &p, &text, &dest, p.end(c))
				count.Add(1)
			}
		}()
	}
	wait.Wait()
	n := float64(count.Load())
	return cost{n / time.Since(begun).Seconds(), float64((processor(b) - before).Microseconds()) / n}
}

func bareTransaction(conn driver.Conn, w workload, p *plan, text *[]byte, dest *[]driver.Value, end string) {
	ctx := context.Background()
	exec := func(q string) error {
		_, err := conn.(driver.ExecerContext).ExecContext(ctx, q, nil)
		return err
	}
	if p.begin != "" && exec(p.begin) != nil {
		return
	}
	met := false
	for i, s := range p.steps {
		if i == p.save && exec("SAVEPOINT s") != nil || i == p.back && exec("ROLLBACK TO SAVEPOINT s") != nil {
			_ = exec("ROLLBACK")
			return
		}
		if s.guarded && !met {
			continue
		}
		*text = w.sql(mysqlDialect, (*text)[:0], s)
		if !s.kind.IsRead() {
			if exec(string(*text)) != nil {
				_ = exec("ROLLBACK")
				return
			}
			continue
		}
		rows, err := conn.(driver.QueryerContext).QueryContext(ctx, string(*text), nil)
		if err != nil {
			_ = exec("ROLLBACK")
			return
		}
		if n := len(rows.Columns()); len(*dest) != n {
			*dest = make([]driver.Value, n)
		}
		for n := 0; err == nil; n++ {
			err = rows.Next(*dest)
			met = met && !s.guard || s.guard && n > 0
		}
		if err != io.EOF {
			_ = exec("ROLLBACK")
			return
		}
		_ = rows.Close()
	}
	if p.back == len(p.steps) {
		_ = exec("ROLLBACK TO SAVEPOINT s")
	}
	if end != "" {
		_ = exec(end)
	}
}
