package server

import (
	"context"
	_ "embed"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// galera is how MariaDB's nodes become a Galera cluster.
// https://mariadb.com/docs/galera-cluster/galera-management/configuration/configuring-mariadb-galera-cluster
type galera struct {
	in      installation
	library string
}

// stateTransfer copies the data of one node to another: all are on one file system, and the packages that hold
// MariaDB's own scripts for it hold a whole server, too.
//
//go:embed wsrep_sst_copy.sh
var stateTransfer []byte

const (
	sstMethod = "copy"
	// ports of a node in wiring.ports.
	galeraClients, galeraGroup, galeraIncremental = 0, 1, 2
)

// galeraSettings decide what is promised between nodes, or tell how changes come to them.
var galeraSettings = []string{
	"innodb_snapshot_isolation", "wsrep_on", "wsrep_retry_autocommit", "wsrep_slave_threads", "wsrep_sync_wait",
	"wsrep_trx_fragment_size",
}

// libraries are where Debian and others put Galera's library.
var libraries = []string{"/usr/lib/galera/libgalera_smm.so", "/usr/lib64/galera-4/libgalera_smm.so"}

// libraryOf finds Galera's library for a server: beside it in the cache, or where packages put it.
func libraryOf(in installation) (string, error) {
	_, version, unpacked := strings.Cut(in.name, ":")
	places := libraries
	if unpacked {
		cache, err := cacheFolder()
		if err != nil {
			return "", err
		}
		places = []string{filepath.Join(cache, "servers", galeraName+"-"+version, "usr/lib/galera/libgalera_smm.so")}
	}
	for _, p := range places {
		if _, err := os.Stat(p); err == nil {
			return p, nil
		}
	}
	switch {
	case unpacked && !slices.Contains(galeraReleases(), version):
		return "", fmt.Errorf("scripts/servers has no Galera for %s, but for %s; name one with the option "+
			"wsrep_provider=PATH: %w", in.name, strings.Join(galeraReleases(), " and "), fs.ErrNotExist)
	case unpacked:
		return "", fmt.Errorf("no Galera for %s is installed (scripts/servers %s:%s installs it): %w",
			in.name, galeraName, version, fs.ErrNotExist)
	}
	return "", fmt.Errorf("no Galera for the MariaDB %s in %s: want %s, or the option wsrep_provider=PATH: %w",
		in.version, in.binary, strings.Join(places, " or "), fs.ErrNotExist)
}

// galeraReleases are the versions for which scripts/servers has a library, newest first.
func galeraReleases() []string { return []string{"11.8", "10.11"} }

// find returns the installation that a cluster is to be made of: without a version, the newest with which it can be.
func (j *joining) find(ctx context.Context, s spec) (installation, error) {
	if j.kind != harness.Galera || s.options["wsrep_provider"] != "" {
		return find(ctx, s)
	}
	if s.version != "" {
		in, err := find(ctx, s)
		if err != nil && slices.Contains(galeraReleases(), s.version) {
			err = fmt.Errorf("%w; scripts/servers %s:%s installs both MariaDB and Galera", err, galeraName, s.version)
		}
		return in, err
	}
	if in, ok, err := findOwn(ctx, s); ok || err != nil {
		return in, err
	}
	for _, version := range galeraReleases() {
		if in, err := unpacked(ctx, history.MariaDB, version); err == nil {
			if _, err := libraryOf(in); err == nil {
				return in, nil
			}
		}
	}
	in, err := onPath(ctx, history.MariaDB)
	if err == nil {
		if _, err := libraryOf(in); err == nil {
			return in, nil
		}
	}
	return installation{}, fmt.Errorf("no MariaDB with Galera is installed: run scripts/servers %s:%s, "+
		"which needs no root", galeraName, galeraReleases()[0])
}

// bond returns how the nodes become one cluster.
func (j *joining) bond(in installation, s spec) (bond, error) {
	if j.kind != harness.Galera {
		return groupReplication{in, j.kind == harness.GroupMulti}, nil
	}
	if own := s.options["wsrep_provider"]; own != "" {
		return galera{in, own}, nil
	}
	library, err := libraryOf(in)
	return galera{in, library}, err
}

func (g galera) portsEach() int     { return 3 }
func (g galera) decisive() []string { return galeraSettings }

// arguments of a node that joins some others, or begins a cluster if there are none; the times are those of nodes on one
// machine.
func (g galera) arguments(at wiring, i int, others ...int) []string {
	var seeds []string
	for _, n := range others {
		seeds = append(seeds, at.address(n, galeraGroup))
	}
	seed := "gcomm://" + strings.Join(seeds, ",")
	options := []string{
		"gmcast.listen_addr=tcp://" + at.address(i, galeraGroup), "ist.recv_addr=" + at.address(i, galeraIncremental),
		"gcache.size=16M", "gcache.page_size=16M", "pc.recovery=false",
		"evs.suspect_timeout=PT2S", "evs.inactive_timeout=PT5S", "evs.keepalive_period=PT0.5S",
		"evs.inactive_check_period=PT0.25S", "evs.join_retrans_period=PT0.2S",
	}
	return []string{
		"--wsrep-on=ON", "--wsrep-provider=" + g.library, "--wsrep-provider-options=" + strings.Join(options, ";"),
		"--wsrep-cluster-name=" + at.name, "--wsrep-cluster-address=" + seed,
		"--wsrep-node-name=" + nodeName(i), "--wsrep-node-address=" + at.address(i, galeraGroup),
		"--wsrep-node-incoming-address=" + at.address(i, galeraClients),
		"--wsrep-sst-method=" + sstMethod, "--wsrep-sst-receive-address=" + at.address(i, galeraIncremental),
		"--binlog-format=ROW", "--innodb-autoinc-lock-mode=2", "--default-storage-engine=InnoDB",
		"--server-id=" + strconv.Itoa(i+1),
	}
}

func (g galera) arm(b *private, at wiring, i int) {
	var others []int
	if i > 0 {
		others = []int{0}
	}
	b.extra = g.arguments(at, i, others...)
	size := strconv.Itoa(len(at.ports))
	b.part.prepare = func(dir string) error { return g.prepare(dir, i == 0) }
	b.part.await = func(ctx context.Context, s *side) error {
		if err := synced(ctx, s, size); err != nil || b.port == 0 {
			return err
		}
		for _, sql := range append([]string{noPasswords}, statements(admission(at.login, b.from()))...) {
			if err := s.exec(ctx, sql); err != nil {
				return fmt.Errorf("open port %d: %w", b.port, err)
			}
		}
		return nil
	}
	if b.port != 0 {
		b.part.login = at.login
	}
}

// statements splits a script of whole lines.
func statements(script string) []string {
	return slices.DeleteFunc(strings.Split(script, ";\n"), func(s string) bool { return s == "" })
}

// prepare gives a node the script for state transfers, and lets only the first one begin a cluster.
func (g galera) prepare(dir string, begins bool) error {
	bin := filepath.Join(dir, programsName)
	if err := os.MkdirAll(bin, 0o700); err != nil {
		return fmt.Errorf("prepare a node: %w", err)
	}
	if err := os.WriteFile(filepath.Join(bin, "wsrep_sst_"+sstMethod), stateTransfer, 0o700); err != nil {
		return fmt.Errorf("prepare a node: %w", err)
	}
	if begins {
		return nil
	}
	path := filepath.Join(dir, "data", "grastate.dat")
	text, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("prepare a node: %w", err)
	}
	text = []byte(strings.Replace(string(text), "safe_to_bootstrap: 1", "safe_to_bootstrap: 0", 1))
	if err := os.WriteFile(path, text, 0o600); err != nil {
		return fmt.Errorf("prepare a node: %w", err)
	}
	return nil
}

// join has nothing left to do: each node was waited for until it was one of all.
func (g galera) join(context.Context, *members) error { return nil }

// pollEvery is how soon a node that is not yet one of all is asked again.
const pollEvery = 10 * time.Millisecond

// synced waits until a node has what the others have, and is one of so many.
func synced(ctx context.Context, s *side, size string) error {
	for {
		lacks, err := unsynced(ctx, s, size)
		if err != nil || lacks == "" {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the node is not synced: %s: %w", lacks, ctx.Err())
		case <-time.After(pollEvery):
		}
	}
}

// unsynced tells what a node says of itself that does not yet have what the others have, or is not one of so many; empty:
// it has, and is. An empty size is any.
func unsynced(ctx context.Context, s *side, size string) (lacks string, err error) {
	want := map[string]string{
		"wsrep_local_state_comment": "Synced", "wsrep_cluster_size": size, "wsrep_cluster_status": "Primary", "wsrep_ready": "ON",
	}
	rows, err := s.query(ctx, "SHOW STATUS WHERE Variable_name IN ('wsrep_local_state_comment', 'wsrep_cluster_size', "+
		"'wsrep_cluster_status', 'wsrep_ready')")
	if err != nil {
		return "", fmt.Errorf("ask a node whether it is synced: %w", err)
	}
	missing := len(want)
	var says []string
	for _, r := range rows {
		if w := want[string(r[0])]; w == string(r[1]) || w == "" {
			missing--
		}
		says = append(says, fmt.Sprintf("%s=%s", r[0], r[1]))
	}
	if missing == 0 {
		return "", nil
	}
	return strings.Join(says, " "), nil
}

// template returns a data directory that has a position in a cluster's history: nodes that begin with it need no
// transfer of all the data.
func (g galera) template(ctx context.Context, o harness.Options) (string, error) {
	plain, err := g.in.template(ctx, o.Progress)
	if err != nil {
		return "", err
	}
	name := galeraName + "-" + filepath.Base(plain)
	return g.in.kept(ctx, name, o.Progress, func(ctx context.Context, dir, path string) error {
		return g.build(ctx, plain, dir, path)
	})
}

func (g galera) build(ctx context.Context, plain, dir, path string) error {
	ports, err := portsToListen(g.portsEach())
	if err != nil {
		return err
	}
	b := &private{spec: spec{family: g.in.family}, in: g.in, template: plain}
	g.arm(b, newWiring([][]int{ports}), 0)
	b.part.prepare = func(dir string) error { return g.prepare(dir, true) }
	if err := b.begin(ctx); err != nil {
		return err
	}
	defer b.Close()
	p := b.instance()
	if err := p.signal(syscall.SIGTERM); err != nil {
		return err
	}
	if err := p.run(ctx); err != nil {
		return fmt.Errorf("%w:\n%s", err, p.log())
	}
	return keep(filepath.Join(p.folder.path, "data"), dir, path)
}
