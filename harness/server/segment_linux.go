package server

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// segment is System V shared memory by which a PostgreSQL knows that another one uses its data. A server
// that is killed leaves it behind.
type segment struct{ key, id int }

// segmentOf returns the segment of the server that has run on a data directory, the zero value where
// none has: the numbers are in the seventh line of its file.
// https://www.postgresql.org/docs/current/storage-file-layout.html
func segmentOf(data string) segment {
	const line = 6
	text, err := os.ReadFile(filepath.Join(data, pidName))
	if err != nil {
		return segment{}
	}
	lines := strings.Split(string(text), "\n")
	if len(lines) <= line {
		return segment{}
	}
	fields := strings.Fields(lines[line])
	if len(fields) != 2 {
		return segment{}
	}
	key, err1 := strconv.Atoi(fields[0])
	id, err2 := strconv.Atoi(fields[1])
	if err1 != nil || err2 != nil {
		return segment{}
	}
	return segment{key, id}
}

// detaches is how long the processes of a server may live on whose first one was killed.
const detaches = 2 * time.Second

// remove takes the segment away if it is there, once nobody uses it.
func (s segment) remove() {
	for end := time.Now().Add(detaches); s.key != 0 && time.Now().Before(end); time.Sleep(time.Millisecond) {
		var is unix.SysvShmDesc
		if _, err := unix.SysvShmCtl(s.id, unix.IPC_STAT, &is); err != nil || int(is.Perm.Key) != s.key {
			return
		}
		if is.Nattch == 0 {
			_, _ = unix.SysvShmCtl(s.id, unix.IPC_RMID, nil)
			return
		}
	}
}
