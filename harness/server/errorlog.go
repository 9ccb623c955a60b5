package server

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
)

const (
	logTail     = 64 << 10 // bytes of a log's end that are read
	logLines    = 60       // lines of it that are kept where nothing is wrong
	problemTail = 400      // lines kept from the first sign of a crash on
)

// problem matches the lines that a sound server never writes: failed
// assertions, fatal signals, corruption, reports of sanitizers.
var problem = regexp.MustCompile(`(?i)assertion failure|assertion .*failed|got (?:exception|signal) |mysqld got |mariadbd got |\bcorrupt|Sanitizer|runtime error:|We intentionally generate a memory trap|InnoDB: Failing assertion|Semaphore wait has lasted|PANIC:  |\bTRAP: |was terminated by signal|invalid page in block`)

// gone begins what the Go runtime writes of a process that it ends, or of a signal
// that ended it.
var gone = regexp.MustCompile(`^(?:panic: |fatal error: |SIG[A-Z]+: |unexpected fault address )`)

// framesKept is how many functions of the stack of a Go program are kept.
const framesKept = 10

// lastWords returns what a Go program says of its end: the message and the innermost
// functions of the goroutine that it speaks of, without those of the runtime and without
// other goroutines. It returns "" where a text has none.
func lastWords(text string) string {
	lines := strings.Split(text, "\n")
	begin := slices.IndexFunc(lines, gone.MatchString)
	if begin < 0 {
		return ""
	}
	kept := lines[begin:]
	head := slices.IndexFunc(kept, func(l string) bool { return strings.HasPrefix(l, "goroutine ") })
	if head < 0 {
		return strings.Join(kept[:min(len(kept), logLines)], "\n")
	}
	out := slices.Clone(kept[:head+1])
	frames := 0
	for i := head + 1; i+1 < len(kept) && kept[i] != "" && frames < framesKept; i += 2 { // a function, where it is
		if inner := strings.HasPrefix(kept[i], "runtime.") || strings.HasPrefix(kept[i], "panic("); !inner {
			out = append(out, kept[i], kept[i+1])
			frames++
		}
	}
	return strings.Join(out, "\n") + "\n"
}

// changedRow is in the line that MariaDB writes for each error 1020: under load they
// are ten thousand a minute, and the pattern above is slow.
var changedRow = []byte("Got error 123 when reading table")

// head returns the beginning of a file: a Go program may end with a dump of all its
// goroutines, of which the first is the one that matters.
func head(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	text, _ := io.ReadAll(io.LimitReader(f, logTail))
	return string(text)
}

// inRecovery is what every PostgreSQL says that was killed while it replayed the log of its primary, as a standby does
// all the time.
var inRecovery = []byte("HINT:  If this has occurred more than once some data might be corrupted and you might need " +
	"to choose an earlier recovery target.")

// sessionPanic is in the line that TiDB writes of a session that it drops on a panic: the
// case whose session that was tells of it.
var sessionPanic = []byte("connection running loop panic")

// tail returns the end of a log: from the first sign of a crash in it, or the
// last lines. It returns "" where there is no log.
func tail(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return ""
	}
	skip := max(size-logTail, 0)
	text := make([]byte, size-skip)
	n, _ := f.ReadAt(text, skip)
	lines := strings.SplitAfter(string(text[:n]), "\n")
	for i, l := range lines {
		if problem.MatchString(l) && !strings.Contains(l, string(inRecovery)) {
			// The server may write on for long after a failed assertion; the
			// stack trace is near its beginning.
			return strings.Join(lines[i:min(len(lines), i+problemTail)], "")
		}
	}
	return strings.Join(lines[max(0, len(lines)-logLines-1):], "")
}

// problemsSince returns the suspicious lines of a log behind an offset, and the
// offset of its end.
func problemsSince(path string, offset int64) ([]string, int64) {
	f, err := os.Open(path)
	if err != nil {
		return nil, offset
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Size() < offset {
		offset = 0 // TiDB begins a new file when one is long
	}
	if _, err := f.Seek(offset, io.SeekStart); err != nil {
		return nil, offset
	}
	var found []string
	r := bufio.NewReader(f)
	for {
		line, err := r.ReadBytes('\n')
		if err != nil {
			return found, offset // a line without its end is read next time
		}
		offset += int64(len(line))
		if bytes.Contains(line, changedRow) || bytes.Contains(line, sessionPanic) || bytes.Contains(line, inRecovery) {
			continue
		}
		if problem.Match(line) {
			found = append(found, string(bytes.TrimSpace(line)))
		}
	}
}
