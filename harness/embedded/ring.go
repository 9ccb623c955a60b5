//go:build !notidb

package embedded

import (
	"bytes"
	"strings"
	"sync"
)

// ring keeps the last lines of a log. It is a zapcore.WriteSyncer.
type ring struct {
	mu    sync.Mutex
	lines [ringLines]string
	next  int
}

const ringLines = 64

func (r *ring) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, l := range bytes.Split(bytes.TrimRight(p, "\n"), []byte("\n")) {
		r.lines[r.next%ringLines] = string(l)
		r.next++
	}
	return len(p), nil
}

func (r *ring) Sync() error { return nil }

func (r *ring) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var b strings.Builder
	for i := max(0, r.next-ringLines); i < r.next; i++ {
		b.WriteString(r.lines[i%ringLines])
		b.WriteByte('\n')
	}
	return b.String()
}
