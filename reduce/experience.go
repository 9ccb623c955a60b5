package reduce

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

// Experience holds what reductions have learnt of the operation classes, by
// the name of the class. Keep one for each DBMS. It is safe for several
// reductions at once; a reduction reads it at its start and adds to it at its
// end, so results stay a function of what was read.
type Experience struct {
	mu   sync.Mutex
	Arms map[string]Means `json:"arms"`
}

// LoadExperience reads a file that Save wrote. A file that does not exist is
// no experience, and no error.
func LoadExperience(file string) (*Experience, error) {
	e := &Experience{Arms: map[string]Means{}}
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return e, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read reduction experience: %w", err)
	}
	if err := json.Unmarshal(text, e); err != nil {
		return nil, fmt.Errorf("read reduction experience %q: %w", file, err)
	}
	if e.Arms == nil {
		e.Arms = map[string]Means{}
	}
	for name, m := range e.Arms {
		if m.Count < 0 || m.Mean < 0 || m.Mean > 1 {
			return nil, fmt.Errorf("read reduction experience %q: arm %s has count %d and mean %v", file, name, m.Count, m.Mean)
		}
	}
	return e, nil
}

// Save writes the file whole or not at all.
func (e *Experience) Save(file string) error {
	e.mu.Lock()
	text, err := json.MarshalIndent(e, "", "  ")
	e.mu.Unlock()
	if err != nil {
		return fmt.Errorf("encode reduction experience: %w", err)
	}
	tmp, err := os.CreateTemp(filepath.Dir(file), filepath.Base(file)+".*")
	if err != nil {
		return fmt.Errorf("save reduction experience: %w", err)
	}
	defer os.Remove(tmp.Name()) // fails after the rename, as it should
	_, err = tmp.Write(append(text, '\n'))
	if err = errors.Join(err, tmp.Close()); err != nil {
		return fmt.Errorf("save reduction experience: %w", err)
	}
	if err := os.Rename(tmp.Name(), file); err != nil {
		return fmt.Errorf("save reduction experience: %w", err)
	}
	return nil
}

// copy returns the experience as it is now.
func (e *Experience) copy() *Experience {
	if e == nil {
		return nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	out := &Experience{Arms: make(map[string]Means, len(e.Arms))}
	for k, v := range e.Arms {
		out.Arms[k] = v
	}
	return out
}

// add merges what one reduction saw into the means.
func (e *Experience) add(own [armCount]Means) {
	if e == nil {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.Arms == nil {
		e.Arms = map[string]Means{}
	}
	for a := range armCount {
		m, o := e.Arms[a.String()], own[a]
		if o.Count == 0 {
			continue
		}
		n := m.Count + o.Count
		m.Mean = (m.Mean*float64(m.Count) + o.Mean*float64(o.Count)) / float64(n)
		m.Count = n
		e.Arms[a.String()] = m
	}
}
