package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// sizes are measured in turns, so many rounds; medians are told.
var sizes = []int{1_000, 10_000, 100_000, 1_000_000}

const rounds = 5

// model is asked for: it needs no times, and nothing but the whole graph decides it.
const model = "strong-session-serializable"

// cost is what one process took: processor time and peak memory.
type cost struct{ seconds, megabytes float64 }

// measure makes histories of all sizes and tells what checking them costs, as rows
// of costs.tsv. Other commands run in turns with txnfuzz on the same files: each is
// NAME=COMMAND, in which {file}, {folder} and {n} stand for the history, the folder
// with nothing else in it, and its number of transactions; NAME/HISTORY=COMMAND is for
// one kind of histories only.
func measure(out io.Writer, others []string) error {
	dir, err := os.MkdirTemp("", "costplot")
	if err != nil {
		return fmt.Errorf("make a folder for the histories: %w", err)
	}
	defer os.RemoveAll(dir)
	program := filepath.Join(dir, "txnfuzz")
	build := exec.Command("go", "build", "-tags", "notidb", "-o", program, "./cmd/txnfuzz")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		return fmt.Errorf("build txnfuzz (run at the top of the repository): %w", err)
	}
	for _, h := range histories {
		commands := []string{"txnfuzz=" + program + " check {file} --model " + model}
		for _, o := range others {
			name, command, ok := strings.Cut(o, "=")
			if !ok {
				return fmt.Errorf("%q: want NAME=COMMAND", o)
			}
			name, of, one := strings.Cut(name, "/")
			if !one || of == h.name {
				commands = append(commands, name+"="+command)
			}
		}
		for _, n := range sizes {
			folder := filepath.Join(dir, h.name+strconv.Itoa(n))
			file := filepath.Join(folder, "history.txt")
			if err := makeFile(file, func(w io.Writer) error { return h.make(w, n) }); err != nil {
				return err
			}
			costs := make([][]cost, len(commands))
			for range rounds {
				for i, c := range commands {
					_, c, _ := strings.Cut(c, "=")
					x, err := spend(strings.NewReplacer("{file}", file, "{folder}", folder, "{n}", strconv.Itoa(n)).Replace(c))
					if err != nil {
						return err
					}
					costs[i] = append(costs[i], x)
				}
			}
			for i, c := range commands {
				name, _, _ := strings.Cut(c, "=")
				s, m := median(costs[i], func(x cost) float64 { return x.seconds }), median(costs[i], func(x cost) float64 { return x.megabytes })
				fmt.Fprintf(out, "%s\t%d\t%s\t%.0f\t%s, processor time\n", name, n, positive(s), m, h.says)
				if i > 0 {
					fmt.Fprintf(out, "# %s: txnfuzz takes %s of its time and %s of its memory\n", name,
						ratios(costs[0], costs[i], func(x cost) float64 { return x.seconds }), ratios(costs[0], costs[i], func(x cost) float64 { return x.megabytes }))
				}
			}
			if err := os.RemoveAll(folder); err != nil {
				return fmt.Errorf("remove a history: %w", err)
			}
		}
	}
	return nil
}

func makeFile(path string, write func(io.Writer) error) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("make a history: %w", err)
	}
	f, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("make a history: %w", err)
	}
	if err := write(f); err != nil {
		f.Close()
		return fmt.Errorf("make a history: %w", err)
	}
	return f.Close()
}

// spend runs a command that must succeed and tells what it cost.
func spend(command string) (cost, error) {
	words := strings.Fields(command)
	c := exec.Command(words[0], words[1:]...)
	if text, err := c.CombinedOutput(); err != nil {
		return cost{}, fmt.Errorf("%s: %w: %s", command, err, text)
	}
	p := c.ProcessState
	// Linux tells the peak in kilobytes.
	peak := p.SysUsage().(*syscall.Rusage).Maxrss
	return cost{(p.UserTime() + p.SystemTime()).Seconds(), float64(peak) / 1024}, nil
}

func median(costs []cost, of func(cost) float64) float64 {
	v := make([]float64, len(costs))
	for i, c := range costs {
		v[i] = of(c)
	}
	slices.Sort(v)
	return v[len(v)/2]
}

// positive writes seconds; what is too short to be measured is not known.
func positive(seconds float64) string {
	if seconds < 0.005 {
		return "-"
	}
	return strconv.FormatFloat(seconds, 'f', 2, 64)
}

// ratios is the median of a by b in each round, with the range.
func ratios(a, b []cost, of func(cost) float64) string {
	var r []float64
	for i := range a {
		r = append(r, of(a[i])/of(b[i]))
	}
	slices.Sort(r)
	return fmt.Sprintf("%.2f (%.2f-%.2f)", r[len(r)/2], r[0], r[len(r)-1])
}
