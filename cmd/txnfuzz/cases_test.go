package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/fuzz/campaign"
)

// A file that cannot be read is named with its place and does not hide the others;
// it makes the status 2, unless something was found or failed.
func TestUnreadFilesOfAFolder(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"good.sql": "/* init */ CREATE TABLE t (a INT);\n/* tx1 */ SELECT * FROM t;\n",
		"bad.sql":  "/* tx1 */ BEGIN;\n/* tx1 */ SELEC 1;\n",
		"open.sql": "/* tx1 */ BEGIN\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cases, unread, err := loadReadable([]string{dir}, io.Discard)
	if err != nil || len(cases) != 1 || len(unread) != 2 {
		t.Fatalf("%d cases, unread %q, %v", len(cases), unread, err)
	}
	if text := unread[0].Error(); !strings.Contains(text, "bad.sql:2:11: syntax error") {
		t.Errorf("%s: want file:line:column", text)
	}
	if _, err := loadCases([]string{dir}, io.Discard); exitCode(err) != exitUsage {
		t.Errorf("a command that needs them all goes on: %v", err)
	}
	if _, _, err := loadReadable([]string{filepath.Join(dir, "bad.sql")}, io.Discard); exitCode(err) != exitUsage {
		t.Errorf("nothing can be read: %v", err)
	}
	for _, c := range []struct {
		err    error
		status int
	}{
		{nil, exitUsage}, {campaign.ErrNothingJudged, exitUsage}, {errFound, exitFound}, {errors.New("the server failed"), exitFailure},
	} {
		if got := exitCode(withUnread(c.err, unread)); got != c.status {
			t.Errorf("behind %v: status %d, want %d", c.err, got, c.status)
		}
		if got := withUnread(c.err, nil); got != c.err {
			t.Errorf("without such files %v became %v", c.err, got)
		}
	}
}
