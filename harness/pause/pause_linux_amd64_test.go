package pause

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// compiled makes the program of testdata; more are arguments of the compiler.
func compiled(t *testing.T, more ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "server")
	args := append([]string{"-O1", "-pthread", "-Wl,--build-id", "-o", path, "testdata/server.c"}, more...)
	if out, err := exec.Command("cc", args...).CombinedOutput(); err != nil {
		t.Fatalf("compile the program that is traced: %v\n%s", err, out)
	}
	return path
}

// running is that program, with the ids of its two threads.
type running struct {
	t     *testing.T
	cmd   *exec.Cmd
	in    io.Writer
	lines chan string
	tids  [2]int
}

func started(t *testing.T, path string) *running {
	t.Helper()
	r := &running{t: t, cmd: exec.Command(path), lines: make(chan string, 16)}
	in, err := r.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := r.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	r.in = in
	t.Cleanup(func() { _ = r.cmd.Process.Kill(); _ = r.cmd.Wait() })
	go func() {
		for s := bufio.NewScanner(out); s.Scan(); {
			r.lines <- s.Text()
		}
		close(r.lines)
	}()
	for i := range r.tids {
		if _, err := fmt.Sscanf(r.answer(), "thread %d", &r.tids[i]); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

func (r *running) send(command string) {
	r.t.Helper()
	if _, err := io.WriteString(r.in, command+"\n"); err != nil {
		r.t.Fatal(err)
	}
}

func (r *running) answer() string {
	r.t.Helper()
	select {
	case line, ok := <-r.lines:
		if !ok {
			r.t.Fatal("the program has ended")
		}
		return line
	case <-time.After(20 * time.Second):
		r.t.Fatal("no answer")
	}
	return ""
}

func tracer(t *testing.T) *Tracer {
	t.Helper()
	tr, err := New()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(tr.Close)
	return tr
}

// traceable is the program, running, what traces it, and where its instructions are.
func traceable(t *testing.T, more ...string) (r *running, tr *Tracer, image *Image, base uint64) {
	t.Helper()
	path := compiled(t, more...)
	image, err := Open(path)
	must(t, err)
	r, tr = started(t, path), tracer(t)
	base, err = image.Base(r.cmd.Process.Pid)
	must(t, err)
	return r, tr, image, base
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestHold holds one thread between its read and its write while the other one writes: the known race
// shows each time, and never without a hold.
func TestHold(t *testing.T) {
	r, tr, image, base := traceable(t)
	for _, tid := range r.tids {
		must(t, tr.Attach(tid))
		must(t, tr.Attach(tid)) // changes nothing
	}
	at, ok := image.Address("later", 0)
	if !ok {
		t.Fatal("the program has no function later")
	}
	want := 0
	for range 50 {
		// Whichever of the threads it is, both come to the place; the first is held.
		var hits [2]<-chan struct{}
		for i, tid := range r.tids {
			hit, err := tr.Arm(tid, base+at, 1)
			must(t, err)
			hits[i] = hit
		}
		r.send("a 1")
		held, other := 0, 1
		select {
		case <-hits[0]:
		case <-hits[1]:
			held, other = 1, 0
		case <-time.After(20 * time.Second):
			t.Fatal("no thread came to the place")
		}
		if !tr.Held(r.tids[held]) || tr.Held(r.tids[other]) {
			t.Fatal("the wrong thread is held")
		}
		must(t, tr.Release(r.tids[other])) // it is armed still
		r.send("b 10")
		if got := r.answer(); got != "done 10" {
			t.Fatalf("the other thread answers %q", got)
		}
		must(t, tr.Release(r.tids[held]))
		if got := r.answer(); got != "done 1" {
			t.Fatalf("the held thread answers %q", got)
		}
		want++ // the ten are lost
		r.send("r")
		if got := r.answer(); got != fmt.Sprintf("balance %d", want) {
			t.Fatalf("%s, want %d: the update of the other thread was not lost", got, want)
		}
	}
	for range 20 {
		r.send("a 1")
		r.answer()
		r.send("b 10")
		r.answer()
		want += 11
	}
	for _, tid := range r.tids {
		must(t, tr.Detach(tid))
	}
	r.send("a 1")
	r.answer()
	r.send("r")
	if got := r.answer(); got != fmt.Sprintf("balance %d", want+1) {
		t.Errorf("%s, want %d", got, want+1)
	}
}

// TestHit holds a thread at the n-th execution, and lets go one that never came to its place.
func TestHit(t *testing.T) {
	r, tr, image, base := traceable(t)
	at, _ := image.Address("transfer", 0)
	for _, tid := range r.tids {
		must(t, tr.Attach(tid))
		_, err := tr.Arm(tid, base+at, 3)
		must(t, err)
	}
	for range 2 {
		r.send("a 1")
		r.answer()
	}
	r.send("a 1")
	r.send("r")
	if got := r.answer(); got != "balance 2" {
		t.Errorf("%s while the third transfer is held, want 2", got)
	}
	for _, tid := range r.tids {
		must(t, tr.Release(tid))
	}
	if got := r.answer(); got != "done 1" {
		t.Errorf("behind the hold: %q", got)
	}
}

// TestFixedPlace holds a program that is made for one place in memory, whose instructions lie where the file says.
func TestFixedPlace(t *testing.T) {
	r, tr, image, base := traceable(t, "-no-pie")
	at, _ := image.Address("transfer", 0)
	var hits [2]<-chan struct{}
	for i, tid := range r.tids {
		must(t, tr.Attach(tid))
		var err error
		hits[i], err = tr.Arm(tid, base+at, 1)
		must(t, err)
	}
	r.send("a 1")
	select {
	case <-hits[0]:
	case <-hits[1]:
	case <-time.After(20 * time.Second):
		t.Fatalf("nobody comes to %#x+%#x", base, at)
	}
	for _, tid := range r.tids {
		must(t, tr.Release(tid))
	}
	if got := r.answer(); got != "done 1" {
		t.Errorf("behind the hold: %q", got)
	}
}

// TestRecord notes what a thread executes.
func TestRecord(t *testing.T) {
	r, tr, image, base := traceable(t)
	lo, hi := image.Bounds()
	var ends []func() ([]uint64, error)
	for _, tid := range r.tids {
		must(t, tr.Attach(tid))
		end, err := tr.Record(tid, base+lo, base+hi, 10000)
		must(t, err)
		ends = append(ends, end)
	}
	r.send("a 1")
	r.answer()
	var all []string
	for _, end := range ends {
		addrs, err := end()
		must(t, err)
		for _, a := range addrs {
			function, offset := image.Name(a - base)
			if offset == 0 {
				all = append(all, function)
			}
		}
	}
	if got := strings.Join(all, " "); !strings.Contains(got, "transfer later") {
		t.Errorf("recorded the functions %q, want transfer and then later", got)
	}
}

// TestNames finds each address of a program again by its name, with and without symbols.
func TestNames(t *testing.T) {
	for _, more := range [][]string{nil, {"-s"}} {
		image, err := Open(compiled(t, more...))
		must(t, err)
		if len(image.Build) != 40 || len(image.starts) < 5 {
			t.Fatalf("build %q, %d functions", image.Build, len(image.starts))
		}
		lo, hi := image.Bounds()
		for at := lo; at < hi; at++ {
			function, offset := image.Name(at)
			if back, ok := image.Address(function, offset); !ok || back != at {
				t.Fatalf("%s+%#x is %#x, want %#x", function, offset, back, at)
			}
		}
		for _, no := range []string{"no such function", "fn_", "fn_zz", "fn_1"} {
			if at, ok := image.Address(no, 0); ok {
				t.Errorf("the program has a function %q at %#x", no, at)
			}
		}
	}
	if _, err := Open("pause_linux_amd64_test.go"); err == nil {
		t.Error("a text is a program")
	}
}

// TestEnd tells of a thread that ends while it is to be held.
func TestEnd(t *testing.T) {
	r, tr, image, base := traceable(t)
	at, _ := image.Address("transfer", 0)
	must(t, tr.Attach(r.tids[0]))
	hit, err := tr.Arm(r.tids[0], base+at, 1)
	must(t, err)
	must(t, r.cmd.Process.Kill())
	select {
	case <-hit:
	case <-time.After(20 * time.Second):
		t.Fatal("nobody tells that the thread has ended")
	}
	if tr.Held(r.tids[0]) {
		t.Error("a dead thread is held")
	}
	if err := tr.Release(r.tids[0]); err == nil {
		t.Error("a dead thread was let go")
	}
	tr.Close()
	if err := tr.Attach(r.tids[1]); err == nil {
		t.Error("a closed tracer traces")
	}
}

// TestTracerEnds ends what is seized with its tracer: armed, it would die by the next trap anyway.
func TestTracerEnds(t *testing.T) {
	r, tr := started(t, compiled(t)), tracer(t)
	must(t, tr.Attach(r.tids[0]))
	tr.Close()
	select {
	case line, ok := <-r.lines:
		if ok {
			t.Errorf("the program says %q", line)
		}
	case <-time.After(20 * time.Second):
		t.Error("the program outlives its tracer")
	}
}

// TestTwoTracers: that a thread has a tracer already is not the kernel's forbidding any.
func TestTwoTracers(t *testing.T) {
	r, one, two := started(t, compiled(t)), tracer(t), tracer(t)
	must(t, one.Attach(r.tids[0]))
	if err := two.Attach(r.tids[0]); err == nil || errors.Is(err, ErrForbidden) || !strings.Contains(err.Error(), "already") {
		t.Errorf("two tracers of a thread: %v", err)
	}
}

// TestTakesNobodysChild: the thread on which a process was started may become the tracer's, whose wait is for any child of
// that thread.
func TestTakesNobodysChild(t *testing.T) {
	for range 20 {
		child := exec.Command("/bin/cat")
		in, err := child.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		tracer, err := New()
		if err != nil {
			t.Fatal(err)
		}
		_ = in.Close()
		for deadline := time.Now().Add(5 * time.Second); !ended(child.Process.Pid) && time.Now().Before(deadline); {
		}
		if err := child.Wait(); err != nil {
			t.Errorf("a process that is not the tracer's: %v", err)
		}
		tracer.Close()
	}
}

// ended says that a process has ended, whether anybody has waited for it or not.
func ended(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || strings.Contains(string(text), ") Z ")
}
