package wholefile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/google/renameio/v2"
)

// Error says that a file could not be written.
type Error struct {
	Path string
	Err  error
}

func (e *Error) Error() string {
	// What the file system says names the file for the time being.
	err := e.Err
	if p := (*os.PathError)(nil); errors.As(err, &p) {
		err = p.Err
	}
	return fmt.Sprintf("write %s: %v", e.Path, err)
}

func (e *Error) Unwrap() error { return e.Err }

// Write replaces a file. Its permissions stay; a new one gets 0644, less the umask.
// An error is an *Error.
func Write(path string, content []byte) error {
	return Stream(path, func(w io.Writer) error {
		_, err := io.Copy(w, bytes.NewReader(content))
		return err
	})
}

// Stream replaces a file by what is written to w. An error of write that is none of w
// is returned as it is; then, too, the file stays as it was. A pipe or a device, such
// as /dev/stdout, is written to at once.
func Stream(path string, write func(w io.Writer) error) error {
	if special(path) {
		return direct(path, write)
	}
	f, err := pending(path)
	if err != nil {
		return err
	}
	w := &noting{w: f}
	err = write(w)
	if w.err != nil {
		err = &Error{path, w.err}
	}
	if err == nil {
		err = replace(f, path)
	}
	return errors.Join(err, f.Cleanup())
}

// WriteAll replaces files that belong together: all of them or, where one cannot be
// written, none.
func WriteAll(files map[string][]byte) (err error) {
	ready := map[string]*renameio.PendingFile{}
	defer func() {
		for _, f := range ready {
			err = errors.Join(err, f.Cleanup())
		}
	}()
	for path, content := range files {
		if special(path) {
			continue
		}
		f, err := pending(path)
		if err != nil {
			return err
		}
		ready[path] = f
		if _, err := f.Write(content); err != nil {
			return &Error{path, err}
		}
		if err := f.Sync(); err != nil { // a lack of room shows before any is replaced
			return &Error{path, err}
		}
	}
	for path, content := range files {
		f, ok := ready[path]
		if !ok {
			err = Write(path, content)
		} else {
			err = replace(f, path)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// special reports whether a path leads to something that is no file, and must not be
// replaced by one.
func special(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.Mode().IsRegular()
}

// pending makes the file that is to replace another, beside it.
func pending(path string) (*renameio.PendingFile, error) {
	to := path
	if behind, err := filepath.EvalSymlinks(path); err == nil {
		to = behind // the link stays
	}
	f, err := renameio.NewPendingFile(to, renameio.WithTempDir(filepath.Dir(to)), renameio.WithPermissions(0o644), renameio.WithExistingPermissions())
	if err != nil {
		return nil, &Error{path, err}
	}
	return f, nil
}

func replace(f *renameio.PendingFile, path string) error {
	if err := f.CloseAtomicallyReplace(); err != nil {
		return &Error{path, err}
	}
	return nil
}

func direct(path string, write func(io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return &Error{path, err}
	}
	w := &noting{w: f}
	err = write(w)
	if closing := f.Close(); w.err == nil {
		w.err = closing
	}
	if w.err != nil {
		return &Error{path, w.err}
	}
	return err
}

// noting remembers the first error of a writer.
type noting struct {
	w   io.Writer
	err error
}

func (n *noting) Write(p []byte) (int, error) {
	c, err := n.w.Write(p)
	if n.err == nil {
		n.err = err
	}
	return c, err
}
