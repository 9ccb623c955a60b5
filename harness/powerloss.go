package harness

import (
	"fmt"
	"slices"
)

// PowerLoser is implemented by a Backend that was opened with Options.PowerLoss: a Crasher whose power can fail.
type PowerLoser interface {
	Crasher
	// LosePower kills the server and undoes what it had handed to the operating system and not synced; Recover then
	// starts it. Some of the bytes that were overwritten may stay, as they may on a disk; seed decides which.
	LosePower(seed uint64) (Undone, error)
}

// Undone is what a power loss took from a server.
type Undone struct {
	// Writes were undone in Files, Bytes of which were brought back; Kept counts sectors of 4,096 bytes in these files
	// that were left as they were.
	Writes int   `json:"writes"`
	Files  int   `json:"files"`
	Bytes  int64 `json:"bytes"`
	Kept   int   `json:"kept_sectors,omitempty"`
	// Changed names these files, by their paths below the data directory, and how many writes to each were undone.
	Changed map[string]int `json:"changed,omitempty"`
	// Names counts files and folders that were made, renamed or removed, which was undone.
	Names int `json:"names"`
	// Full says how often before all was called durable since the journal was full.
	Full int `json:"journal_full,omitempty"`
	// Uncovered names calls of the server that changed its files and cannot be undone.
	Uncovered []string `json:"uncovered,omitempty"`
}

// Add sums up two power losses.
func (u *Undone) Add(o Undone) {
	u.Writes, u.Files, u.Bytes, u.Kept = u.Writes+o.Writes, u.Files+o.Files, u.Bytes+o.Bytes, u.Kept+o.Kept
	u.Names, u.Full = u.Names+o.Names, u.Full+o.Full
	for path, n := range o.Changed {
		if u.Changed == nil {
			u.Changed = map[string]int{}
		}
		u.Changed[path] += n
	}
	for _, call := range o.Uncovered {
		if !slices.Contains(u.Uncovered, call) {
			u.Uncovered = append(u.Uncovered, call)
		}
	}
}

// String tells it to people.
func (u Undone) String() string {
	s := fmt.Sprintf("%d writes to %d files and %d changes of names undone", u.Writes, u.Files, u.Names)
	if u.Kept > 0 {
		s += fmt.Sprintf(", %d sectors left as written", u.Kept)
	}
	return s
}
