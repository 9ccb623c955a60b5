package target

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// FileWord makes a reason part of a file's name.
func FileWord(reason string) string {
	return strings.NewReplacer(", ", "-", " ", "-").Replace(reason)
}

// doubt is a second server with the vendor's values of what is doubtful of the
// first, started when it is asked for.
type doubt struct {
	mu     sync.Mutex
	target *Target
	err    error
}

func (d *doubt) close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.target == nil {
		return nil
	}
	return d.target.Close()
}

// atDefaults returns a server like this one with the vendor's values of some
// variables.
func (t *Target) atDefaults(ctx context.Context, names []string) (*Target, error) {
	t.doubt.mu.Lock()
	defer t.doubt.mu.Unlock()
	if t.doubt.target != nil || t.doubt.err != nil {
		return t.doubt.target, t.doubt.err
	}
	if IsDSN(t.address) {
		t.doubt.err = fmt.Errorf("the server behind a DSN is not ours to configure")
		return nil, t.doubt.err
	}
	server, options := SplitOptions(t.Name)
	options = slices.DeleteFunc(options, func(o string) bool {
		name, _, _ := strings.Cut(o, "=")
		return slices.Contains(names, strings.ReplaceAll(strings.ToLower(strings.TrimSpace(name)), "-", "_"))
	})
	other, err := Open(ctx, JoinOptions(server, options), Options{Released: t.released})
	if err != nil && ctx.Err() != nil {
		return nil, err // the next may have the time
	}
	t.doubt.target, t.doubt.err = other, err
	return other, err
}

// SplitOptions cuts the name of a private instance into the server and its
// options. An item without '=' belongs to the value before it, as where a
// target is opened.
func SplitOptions(target string) (server string, options []string) {
	if IsDSN(target) {
		return target, nil
	}
	items := strings.Split(target, ",")
	for _, item := range items[1:] {
		if !strings.Contains(item, "=") && len(options) > 0 {
			options[len(options)-1] += "," + item
			continue
		}
		options = append(options, item)
	}
	return items[0], options
}

// JoinOptions puts together what SplitOptions cuts.
func JoinOptions(server string, options []string) string {
	return strings.Join(append([]string{server}, options...), ",")
}
