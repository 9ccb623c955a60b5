package campaign

import (
	"errors"
	"slices"
	"testing"
)

func TestFollowerKeepsTheOrder(t *testing.T) {
	f := newFollower()
	var got []int
	for i := range 100 {
		if !f.do(func() error { got = append(got, i); return nil }) {
			t.Fatalf("job %d refused", i)
		}
		if i == 49 {
			f.drain()
			if len(got) != 50 {
				t.Fatalf("%d jobs done behind a drain, want 50", len(got))
			}
		}
	}
	if err := f.end(); err != nil {
		t.Fatal(err)
	}
	if len(got) != 100 || !slices.IsSorted(got) {
		t.Errorf("done: %v", got)
	}
}

func TestFollowerStopsAtAnError(t *testing.T) {
	f := newFollower()
	cause := errors.New("judged wrong")
	ran := 0
	refused := false
	for i := range 10 * batch {
		if !f.do(func() error {
			ran++
			if i == 2 {
				return cause
			}
			return nil
		}) {
			refused = true
			break
		}
	}
	f.drain() // does not hang
	if f.do(func() error { return nil }) {
		t.Error("a job was taken behind the error")
	}
	if err := f.end(); err != cause {
		t.Errorf("error %v, want %v", err, cause)
	}
	if ran != 3 || !refused {
		t.Errorf("%d jobs ran, refused %v; want 3, true", ran, refused)
	}
}
