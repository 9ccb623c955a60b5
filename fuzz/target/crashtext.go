package target

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"regexp"
	"strings"

	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/judging"
)

// crashMarks are what servers and the Go runtime write when they give up.
var crashMarks = []string{
	"panic:", "fatal error:", "[FATAL]", `"level":"FATAL"`, "SIGABRT: abort",
	"connection running loop panic", "runtime error:",
	"Assertion failure", "Assertion `", "mysqld got signal", "mariadbd got signal", "got signal ", "[ERROR] [MY-012872]",
}

// crashContext is how many lines of a log are kept from the first mark on.
const crashContext = 40

// crashFrames is how many functions of the stack of a Go program are kept.
const crashFrames = 10

// crashLines returns the lines of a log from the last crash mark on, or "".
func crashLines(log string) string {
	lines := strings.Split(strings.TrimRight(log, "\n"), "\n")
	for i := len(lines) - 1; i >= 0; i-- {
		for _, m := range crashMarks {
			if strings.Contains(lines[i], m) {
				if text := sessionPanic(lines[i]); text != "" {
					return text
				}
				return strings.Join(lines[i:min(i+crashContext, len(lines))], "\n")
			}
		}
	}
	return ""
}

// ofGo says that crash lines are those of a Go program, which name what broke down and
// where; nothing else of its log is worth keeping.
func ofGo(crash string) bool { return goFrame.MatchString(crash) }

// sessionPanic writes the line in which TiDB logs a panic of one session, a
// message and fields in JSON, as the Go runtime writes a panic of a process: the
// stack from the function that broke down on. It returns "" for other lines.
func sessionPanic(line string) string {
	at := strings.IndexByte(line, '{')
	if at < 0 {
		return ""
	}
	var fields struct{ Err, Stack string }
	if json.Unmarshal([]byte(line[at:]), &fields) != nil || fields.Stack == "" {
		return ""
	}
	stack := strings.Split(fields.Stack, "\n") // a function, where it is, the next function
	top := 0
	for i := 0; i < len(stack); i += 2 {
		if strings.HasPrefix(stack[i], "runtime.") {
			top = i + 2
		}
	}
	stack = stack[min(top, len(stack)):]
	return "panic: " + fields.Err + "\n\n" + strings.Join(stack[:min(len(stack), 2*crashFrames)], "\n")
}

var (
	// Volatile matches what differs between two runs of one bug: numbers, addresses.
	Volatile = regexp.MustCompile(`0x[0-9a-fA-F]+|\d+`)
	// sourceLine finds file and line behind a frame.
	sourceLine = regexp.MustCompile(`([^/\s]+\.go:\d+)`)
	goFrame    = regexp.MustCompile(`(?m)^((?:github\.com|go\.|golang\.org)/[^\s(]+(?:\([^)\s]*\))?[^\s(]*)(?:\(|$)`)
)

// crashFingerprint names a crash by its message without numbers and by the
// innermost frames that are not of the runtime, so that two runs of one bug
// agree.
func crashFingerprint(text string) string {
	message := ""
	for _, l := range strings.Split(text, "\n") {
		for _, m := range crashMarks {
			if i := strings.Index(l, m); i >= 0 && message == "" {
				message = l[i:]
			}
		}
	}
	message = Volatile.ReplaceAllString(OneLine(message), "#")
	if len(message) > 120 {
		message = message[:120]
	}
	var frames []string
	for _, m := range goFrame.FindAllStringSubmatch(text, 3) {
		frames = append(frames, m[1])
	}
	sum := sha256.Sum256([]byte(message + "\n" + strings.Join(frames, "\n")))
	return string(oracle.ServerCrash) + "/" + hex.EncodeToString(sum[:4])
}

// CrashVerdict is the verdict of a case that took the server down, which wrote
// a text.
func CrashVerdict(text string) oracle.Verdict {
	if crash := crashLines(text); crash != "" {
		text = crash
	}
	return crashVerdict(text, crashLine(text), "the server died while the case ran")
}

// crashVerdict is CrashVerdict with what was seen, and how the server ended, in words of the caller's.
func crashVerdict(text, seen, ended string) oracle.Verdict {
	return judging.OfServer(oracle.ServerCrash, "the server goes on", seen, ended+stackText(text), crashFingerprint(text))
}

// stackText tells the innermost functions of the stack of a Go program, for the end of a
// sentence; "" where a text has none.
func stackText(text string) string {
	lines := strings.Split(text, "\n")
	var frames []string
	for i, l := range lines {
		m := goFrame.FindStringSubmatch(l)
		if m == nil || len(frames) == crashFrames {
			continue
		}
		name := strings.TrimPrefix(m[1], "github.com/")
		if i+1 < len(lines) {
			if at := sourceLine.FindStringSubmatch(lines[i+1]); at != nil {
				name += " (" + at[1] + ")"
			}
		}
		frames = append(frames, name)
	}
	if len(frames) == 0 {
		return ""
	}
	return "; innermost first: " + strings.Join(frames, ", ")
}

// crashLine tells a crash in one line; the whole text lies beside the finding.
func crashLine(text string) string {
	at := goFrame.FindStringSubmatchIndex(text)
	if at == nil || !strings.HasPrefix(text, "panic:") {
		return OneLine(FirstLines(text, 3))
	}
	_, behind, _ := strings.Cut(text[at[1]:], "\n")
	where, _, _ := strings.Cut(behind, "\n")
	message, _, _ := strings.Cut(text, "\n")
	line := message + ", in " + text[at[2]:at[3]]
	if m := sourceLine.FindStringSubmatch(where); m != nil {
		line += " (" + m[1] + ")"
	}
	return line
}

// logFingerprint names a line of an error log without its time, its thread and
// other numbers.
func logFingerprint(line string) string {
	if i := strings.IndexByte(line, ']'); i >= 0 { // behind "2026-01-01  0:00:00 5 [ERROR]"
		line = line[i+1:]
	}
	sum := sha256.Sum256([]byte(Volatile.ReplaceAllString(OneLine(line), "#")))
	return string(oracle.ServerLog) + "/" + hex.EncodeToString(sum[:4])
}

// FirstLines returns the first n lines of a text.
func FirstLines(s string, n int) string {
	lines := strings.SplitN(s, "\n", n+1)
	return strings.Join(lines[:min(n, len(lines))], "\n")
}

// Ours says that the innermost frame of a crash that is not of the runtime is
// of this program: then it is no server that crashed.
func Ours(text string) bool {
	m := goFrame.FindStringSubmatch(text)
	return m != nil && strings.HasPrefix(m[1], "github.com/txnfuzz/txnfuzz/")
}
