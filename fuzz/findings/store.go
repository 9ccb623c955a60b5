package findings

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/wholefile"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
	"github.com/txnfuzz/txnfuzz/fuzz/timeline"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/judging"
)

// unreproduced is the folder, below that of the findings, of those that never
// showed again.
const unreproduced = "unreproduced"

// Store keeps findings in a folder, one file for each fingerprint and family
// of servers. It is safe for several goroutines.
type Store struct {
	dir string
	mu  sync.Mutex
	old map[string]oldFinding // by ID, from earlier runs
	// prints holds the files of earlier runs by what they show, whatever the file
	// is called; one to which people gave a name comes before others.
	prints map[print]string
}

// print is a fingerprint on a family of servers.
type print struct {
	dbms        history.DBMS
	fingerprint string
}

// oldFinding is what an earlier run left in the store.
type oldFinding struct {
	path    string
	size    size
	version string
	// confirmed is false for one that was cut off before it was run again.
	confirmed bool
}

// size orders cases of one fingerprint: by their text, and of equal ones by what they need to run on.
type size struct{ statements, bytes, servers, options int }

// sizeOf is that of a case on the target that its header names.
func sizeOf(c *corpus.Case) size {
	name, _ := c.Get(KeyTarget)
	return sizeOn(c, name)
}

func sizeOn(c *corpus.Case, name string) size {
	bare := &corpus.Case{Init: c.Init, Steps: c.Steps}
	servers, options := target.Extent(name)
	return size{len(c.Steps), len(corpus.Print(bare, corpus.Text)), servers, options}
}

func (s size) less(t size) bool {
	return cmp.Or(cmp.Compare(s.statements, t.statements), cmp.Compare(s.bytes, t.bytes),
		cmp.Compare(s.servers, t.servers), cmp.Compare(s.options, t.options)) < 0
}

// OpenStore reads what a folder holds, which is made if it is missing.
// Files that cannot be read are left alone and returned as the warning.
func OpenStore(dir string) (s *Store, warning error) {
	s = &Store{dir: dir, old: map[string]oldFinding{}, prints: map[print]string{}}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return s, fmt.Errorf("folder of findings: %w", err)
	}
	stored, err := corpus.LoadDir(dir)
	for _, f := range stored {
		if filepath.Dir(f.Path) != filepath.Clean(dir) {
			continue // unreproduced ones below
		}
		version, _ := f.Case.Get(KeyVersion)
		id := strings.TrimSuffix(filepath.Base(f.Path), corpus.Ext)
		s.old[id] = oldFinding{f.Path, sizeOf(f.Case), version, Reproduced(f.Case) != unconfirmed}
		if fp, ok := f.Case.Get(KeyFingerprint); ok {
			if p := (print{familyOf(f.Case), fp}); s.prints[p] == "" || namedByPeople(f.Path) {
				s.prints[p] = f.Path
			}
		}
	}
	return s, err
}

// Has reports whether an earlier run has stored a finding.
func (s *Store) Has(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.old[id]
	return ok
}

// IDs returns the findings of earlier runs, in order.
func (s *Store) IDs() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]string, 0, len(s.old))
	for id := range s.old {
		out = append(out, id)
	}
	slices.Sort(out)
	return out
}

// knows reports whether an earlier run has stored a finding, or people have
// stored one with its fingerprint under a name of their own.
func (s *Store) knows(id string, dbms history.DBMS, fingerprint string) bool {
	return s.Has(id) || s.prints[print{dbms, fingerprint}] != ""
}

// familyOf reads a family off the target of a finding and the version that its server reported.
func familyOf(c *corpus.Case) history.DBMS {
	version, _ := c.Get(KeyVersion)
	switch name, _ := c.Get(KeyTarget); {
	case strings.HasPrefix(name, "postgres"):
		return history.PostgreSQL
	case strings.Contains(version, "TiDB"):
		return history.TiDB
	case strings.Contains(version, "MariaDB"):
		return history.MariaDB
	}
	return history.MySQL
}

// ownName matches the names that findingID makes.
var ownName = regexp.MustCompile(`-[0-9a-f]{8}(-[0-9a-f]{6})?\.sql$`)

// namedByPeople reports whether a file of findings has a name that people gave it.
func namedByPeople(path string) bool { return path != "" && !ownName.MatchString(path) }

// keeps says that the file of an earlier run stays: it is of the same server
// version, confirmed and no larger. A file to which people gave a name stays in any case
// if a rule tells its cause; two violations of one fingerprint may be two bugs.
func (s *Store) keeps(f *Finding, c *corpus.Case, server history.Server) (path string, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	old, ok := s.old[f.ID]
	if path := s.prints[print{server.DBMS, f.Fingerprint}]; !ok && namedByPeople(path) && f.Verdict == oracle.Known {
		return path, true
	}
	if !ok || !old.confirmed || old.version != server.Version || sizeOf(c).less(old.size) {
		return "", false
	}
	return old.path, true
}

// recording is a History with its verdict, beside the case it belongs to, so
// that a finding can be looked at and judged again without its server.
type recording struct {
	// Case is the corpus.ID of the case: a recording outlives no edit.
	Case    string           `json:"case"`
	Target  string           `json:"target"`
	History *history.History `json:"history"`
	Verdict oracle.Verdict   `json:"verdict"`
	// Reduction is how the case became what it is, if it was reduced.
	Reduction *timeline.Reduction `json:"reduction,omitempty"`
	// Against is the run on the server that was compared with this one.
	Against *otherRun `json:"against,omitempty"`
}

// otherRun is what another server did with the same case.
type otherRun struct {
	Target  string           `json:"target"`
	History *history.History `json:"history"`
	Verdict oracle.Verdict   `json:"verdict"`
}

// save writes the case of a finding and the recording of its run.
func (s *Store) save(id string, c *corpus.Case, target string, r *target.Trial) (string, error) {
	path, err := corpus.Save(s.dir, id, c)
	if err != nil {
		return "", err
	}
	if r.Log != "" {
		if err := wholefile.Write(LogFile(path), []byte(r.Log)); err != nil {
			return path, err
		}
	}
	if r.History == nil {
		return path, nil
	}
	return path, writeRecording(sidecar(path), recording{corpus.ID(c), target, r.History, r.Verdict, r.Reduction, otherRunOf(c, r)})
}

// LogFile names the end of the log of a server that a case took down.
func LogFile(path string) string { return strings.TrimSuffix(path, corpus.Ext) + ".log" }

// sidecar names the recording of a case's file.
func sidecar(path string) string { return strings.TrimSuffix(path, corpus.Ext) + ".json" }

func writeRecording(path string, rec recording) error {
	text, err := json.MarshalIndent(rec, "", " ")
	if err != nil {
		return fmt.Errorf("encode history of %s: %w", path, err)
	}
	return wholefile.Write(path, append(text, '\n'))
}

// readRecording returns the recording beside the file of a case; false: there
// is none of these statements.
func readRecording(path string, c *corpus.Case) (recording, bool, error) {
	var rec recording
	text, err := os.ReadFile(sidecar(path))
	if errors.Is(err, fs.ErrNotExist) {
		return rec, false, nil
	}
	if err != nil {
		return rec, false, fmt.Errorf("read recorded history: %w", err)
	}
	if err := json.Unmarshal(text, &rec); err != nil {
		return rec, false, fmt.Errorf("read recorded history %s: %w", sidecar(path), err)
	}
	return rec, rec.History != nil && rec.Case == corpus.ID(c), nil
}

// remove deletes a finding of this run, and what stands beside it.
func (s *Store) remove(id string) error {
	path := filepath.Join(s.dir, id+corpus.Ext)
	for _, name := range []string{path, sidecar(path), LogFile(path)} {
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove a finding that others stand for: %w", err)
		}
	}
	return nil
}

// commandFor is the command that confirms and reduces a finding as it is saved.
func (s *Store) commandFor(id string, at Place) string {
	path := filepath.Join(s.dir, id+corpus.Ext)
	if at.Against != nil {
		return fmt.Sprintf("txnfuzz replay '%s' %s --against '%s'", path, target.OnCommandLine(at.Target), at.Against.Target)
	}
	name := at.Target
	command := fmt.Sprintf("txnfuzz reduce '%s' --out '%s'", path, path)
	if target.IsDSN(name) { // whose password the header does not hold
		command += " --target DSN"
	}
	return command
}

// setAside moves a finding that never showed again, and what stands beside it.
func (s *Store) setAside(id string) (string, error) {
	dir := filepath.Join(s.dir, unreproduced)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("set finding aside: %w", err)
	}
	from, to := filepath.Join(s.dir, id+corpus.Ext), filepath.Join(dir, id+corpus.Ext)
	for _, beside := range []func(string) string{sidecar, LogFile} {
		if err := os.Rename(beside(from), beside(to)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("set finding aside: %w", err)
		}
	}
	if err := os.Rename(from, to); err != nil {
		return "", fmt.Errorf("set finding aside: %w", err)
	}
	return to, nil
}

// ShortHash tells texts apart in names of files, in eight digits.
func ShortHash(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:4])
}

// unjudged is the folder, below that of the findings, of cases on which the
// oracle or the harness broke down.
const unjudged = "unjudged"

// SaveUnjudged keeps a case on which this program broke down, with the trace.
func (s *Store) SaveUnjudged(c *corpus.Case, reason, trace string) (string, error) {
	path, err := corpus.Save(filepath.Join(s.dir, unjudged), reason+"-"+corpus.ID(c), c)
	if err != nil {
		return "", err
	}
	return path, wholefile.Write(LogFile(path), []byte(trace))
}

// Recorded returns the run that was recorded beside a case's file; false:
// there is none of these statements.
func Recorded(file string, c *corpus.Case) (timeline.Run, bool, error) {
	rec, ok, err := readRecording(file, c)
	if err != nil || !ok {
		return timeline.Run{}, false, err
	}
	return timeline.Run{File: file, Target: rec.Target, Case: c, Levels: rec.History.Levels, History: rec.History, Verdict: rec.Verdict, Reduction: rec.Reduction}, true, nil
}

// Unrecorded is a stored finding without its run: what its header says.
func Unrecorded(file string, c *corpus.Case) timeline.Run {
	get := func(key string) string { v, _ := c.Get(key); return v }
	r := timeline.Run{File: file, Target: get(KeyTarget), Case: c, Levels: target.LevelsFor(c, 0)}
	var rules []string
	if names := get(keyRules); names != "" {
		rules = strings.Split(names, ", ")
	}
	r.Verdict = judging.Stored(oracle.Kind(get(keyKind)), get(keyExpected), get(keyActual), get(keyReason), get(KeyFingerprint), rules)
	return r
}
