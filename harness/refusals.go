package harness

import (
	"strings"
	"sync"
	"sync/atomic"
)

// ErrUnprepared is the number of the error that a statement cannot be prepared.
// https://dev.mysql.com/doc/mysql-errors/9.7/en/server-error-reference.html#error_er_unsupported_ps
const ErrUnprepared = 1295

// mostRefusals bounds what is remembered; what is not is asked again.
const mostRefusals = 1024

// Refusals are the statements that a server has refused to prepare with ErrUnprepared. Those that differ in numbers,
// strings and quoted names alone are one. Several connections may share them.
type Refusals struct {
	told sync.Map
	n    atomic.Int64
}

// Has says that such a statement has been refused.
func (r *Refusals) Has(sql string) bool {
	if r.n.Load() == 0 {
		return false
	}
	_, told := r.told.Load(shapeOf(sql))
	return told
}

// Add notes that a statement has been refused.
func (r *Refusals) Add(sql string) {
	if r.n.Load() >= mostRefusals {
		return
	}
	if _, told := r.told.LoadOrStore(shapeOf(sql), true); !told {
		r.n.Add(1)
	}
}

// shapeOf is a statement with a question mark for each number, string and quoted name.
func shapeOf(sql string) string {
	var b strings.Builder
	for i := 0; i < len(sql); {
		c := sql[i]
		end := i + 1
		switch {
		case c == '\'' || c == '"' || c == '`':
			for end < len(sql) && sql[end] != c {
				if sql[end] == '\\' && c != '`' {
					end++
				}
				end++
			}
			end = min(end+1, len(sql))
			b.WriteByte('?')
		case c >= '0' && c <= '9':
			for end < len(sql) && sql[end] >= '0' && sql[end] <= '9' {
				end++
			}
			b.WriteByte('?')
		default:
			b.WriteByte(c)
		}
		i = end
	}
	return b.String()
}
