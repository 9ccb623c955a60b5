package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// rearm lets a node join any other one; the first one, too, which began the cluster.
func (g galera) rearm(b *private, at wiring, i int) {
	var others []int
	for n := range at.ports {
		if n != i {
			others = append(others, n)
		}
	}
	b.extra = g.arguments(at, i, others...)
	b.part.back, b.part.resume = true, resumed
	b.part.prepare = func(dir string) error { return g.prepare(dir, true) }
	// How many take part is asked of all: another one may be out, too.
	b.part.await = func(ctx context.Context, s *side) error { return synced(ctx, s, "") }
}

var recoveredPosition = regexp.MustCompile(`WSREP: Recovered position: ?(\S+:-?[0-9]+)`)

// resumed has a server that was killed tell which transaction of the cluster is the last one that it has, as the
// vendor's galera_recovery does before each start; without it the server would ask for a copy of everything.
// https://mariadb.com/docs/galera-cluster/galera-management/state-snapshot-transfers-ssts-in-galera-cluster/introduction-to-state-snapshot-transfers-ssts
func resumed(ctx context.Context, f *folder, command []string) ([]string, error) {
	path := filepath.Join(f.path, logName)
	before := int64(0)
	if info, err := os.Stat(path); err == nil {
		before = info.Size()
	}
	p, err := startProcess(f, os.DevNull, syscall.SIGKILL, append(command[:len(command):len(command)], "--wsrep-recover"))
	if err != nil {
		return nil, err
	}
	ended := p.run(ctx)
	if ended != nil {
		ended = fmt.Errorf("ask a killed node for its position: %w:\n%s", ended, p.log())
	}
	if err := p.kill(); err != nil { // keeps the folder
		return nil, errors.Join(ended, err)
	}
	if ended != nil {
		f.remove()
		return nil, ended
	}
	text, err := os.ReadFile(path)
	if err != nil {
		f.remove()
		return nil, fmt.Errorf("ask a killed node for its position: %w", err)
	}
	found := recoveredPosition.FindAllSubmatch(text[min(before, int64(len(text))):], -1)
	if len(found) == 0 {
		f.remove()
		return nil, fmt.Errorf("a killed node does not tell its position:\n%s", text[min(before, int64(len(text))):])
	}
	position := found[len(found)-1][1]
	if bytes.HasSuffix(position, []byte(":-1")) {
		return nil, nil
	}
	return []string{"--wsrep-start-position=" + string(position)}, nil
}

// inconsistent is what a node says of itself that could not apply what the others could, or the other way round.
const inconsistent = "wsrep_local_state_comment=Inconsistent"

func (g galera) notice() time.Duration { return 2500 * time.Millisecond }

func (g galera) belongs(ctx context.Context, s *side, size int) (lacks string, out bool, err error) {
	lacks, err = unsynced(ctx, s, strconv.Itoa(size))
	if strings.Contains(lacks, inconsistent) {
		err = fmt.Errorf("%w: %s", errLeft, lacks)
	}
	return lacks, false, err
}

// comeBack has nothing to say: a node of Galera looks for the others until it finds them.
func (g galera) comeBack(context.Context, *side) error { return nil }

func (g galera) restore(context.Context, *side) error { return nil }
