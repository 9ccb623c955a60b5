package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/fuzz/findings"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
)

// loadCases reads files and folders in the order given, and tells of header
// lines that do not do what their author may expect.
func loadCases(paths []string, warnings io.Writer) ([]corpus.Stored, error) {
	out, unread, err := loadReadable(paths, warnings)
	if err == nil && len(unread) > 0 {
		return nil, errors.Join(unread...)
	}
	return out, err
}

// loadReadable is loadCases for a command that goes on without the files that
// cannot be read: unread holds what is wrong with each. It is an error if no case
// is left, or if a path is not there.
func loadReadable(paths []string, warnings io.Writer) (out []corpus.Stored, unread []error, err error) {
	for _, p := range paths {
		stored, err := corpus.LoadAny(p)
		if errors.Is(err, os.ErrNotExist) {
			return nil, nil, loadError(err)
		}
		if err == nil && len(stored) == 0 {
			return nil, nil, usagef("%s holds no case (a file that ends in %s)", p, corpus.Ext)
		}
		out, unread = append(out, stored...), append(unread, parts(err)...)
	}
	if len(out) == 0 {
		return nil, nil, errors.Join(unread...)
	}
	warn(warnings, headerDoubts(out))
	return out, unread, nil
}

// parts takes joined errors apart.
func parts(err error) []error {
	if err == nil {
		return nil
	}
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	var out []error
	for _, e := range joined.Unwrap() {
		out = append(out, parts(e)...)
	}
	return out
}

// loadCase reads one file, as loadCases does.
func loadCase(path string, warnings io.Writer) (*corpus.Case, error) {
	c, err := corpus.Load(path)
	if err != nil {
		return nil, loadError(err)
	}
	warn(warnings, headerDoubts([]corpus.Stored{{Path: path, Case: c}}))
	return c, nil
}

// warn tells of what does not end a command.
func warn(w io.Writer, doubts []error) {
	for _, d := range doubts {
		fmt.Fprintln(w, "txnfuzz: warning: "+d.Error())
	}
}

// tellOwnLevels says, once, which cases do not run at the levels asked for.
func tellOwnLevels(w io.Writer, cases []corpus.Stored, asked []corpus.Level) {
	var own []string
	for _, s := range cases {
		at := target.LevelName(target.LevelsFor(s.Case, 0))
		if findings.SetsLevels(s.Case) && len(asked) > 0 && !(len(asked) == 1 && at == asked[0].Short()) {
			own = append(own, s.Path+" ("+at+")")
		}
	}
	if len(own) == 0 {
		return
	}
	const most = 3
	if n := len(own); n > most {
		own = append(own[:most], fmt.Sprintf("%d more", n-most))
	}
	fmt.Fprintf(w, "txnfuzz: note: --levels does not apply to what has levels in its header (edit that line to change them): %s\n", strings.Join(own, ", "))
}

// headerDoubts reads the files of cases once more, for their header lines. Only
// the text form has some; a file that is gone by now has none.
func headerDoubts(cases []corpus.Stored) []error {
	var out []error
	for _, s := range cases {
		if !strings.HasSuffix(s.Path, corpus.Ext) {
			continue
		}
		text, err := os.ReadFile(s.Path)
		if err != nil {
			continue
		}
		for _, d := range corpus.CheckHeader(s.Path, text) {
			out = append(out, d)
		}
	}
	return out
}

// loadError blames the user for a file that is not there.
func loadError(err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return &usageError{err}
	}
	return err
}
