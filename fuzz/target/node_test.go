package target_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/fuzz/target"
	"github.com/txnfuzz/txnfuzz/fuzz/targettest"
	"github.com/txnfuzz/txnfuzz/harness"
)

func TestParseNodes(t *testing.T) {
	for _, c := range []struct{ texts, want string }{
		{"", "[]"},
		{"a:b@tcp(x:1)/", "[{a:b@tcp(x:1)/ false}]"},
		{"ro:a:b@tcp(x:1)/,c@unix(/s)/", "[{a:b@tcp(x:1)/ true} {c@unix(/s)/ false}]"},
		{"a@tcp(x:1)/ | ro:a@tcp(y:1)/", "[{a@tcp(x:1)/ false} {a@tcp(y:1)/ true}]"},
		{"a:p,q@tcp(x:1)/, ro:a:,@tcp(y:1)/", "[{a:p,q@tcp(x:1)/ false} {a:,@tcp(y:1)/ true}]"},
		{"postgres://u:p@h:1/d,ro:postgres://u:p@i:1/d", "[{postgres://u:p@h:1/d false} {postgres://u:p@i:1/d true}]"},
		{"mariadb:11.8", "node 1: want a DSN"},
		{"a@tcp(x:1)/,", "node 2: want a DSN"},
		{"a@tcp(x:1)/,ro:", "node 2: want a DSN"},
		{"a:secret@tcp(x:1/", "node 1: malformed DSN"},
		{"a@tcp(x:1)/,replica=row", "node 2: want a DSN"},
	} {
		var texts []string
		if c.texts != "" {
			texts = strings.Split(c.texts, " | ")
		}
		nodes, err := target.ParseNodes(texts)
		type fields target.Node // without their String
		list := make([]fields, len(nodes))
		for i, n := range nodes {
			list[i] = fields(n)
		}
		got := fmt.Sprint(list)
		if err != nil {
			got = err.Error()
			var wrong *target.Error
			if !errors.As(err, &wrong) || strings.Contains(got, "secret") {
				t.Errorf("%s: %#v", c.texts, err)
			}
		}
		if got != c.want && (err == nil || !strings.HasPrefix(got, c.want)) {
			t.Errorf("%s: %s, want %s", c.texts, got, c.want)
		}
	}
}

// TestOpenCluster takes the nodes of topologies that run for those of somebody else.
func TestOpenCluster(t *testing.T) {
	servers := targettest.Among(t, "mariadb:11.8")
	if len(servers) == 0 {
		return
	}
	pair := dsnsOf(t, "mariadb:11.8,replica=row")
	galera := []string{"", ""}
	if there(t, "galera:11.8") {
		galera = dsnsOf(t, "galera:11.8,nodes=2,wsrep_sync_wait=1")
	}
	for _, c := range []struct {
		first, others string
		o             harness.Options
		want          string // the kind, the roles, or the error
	}{
		{galera[0], galera[1], harness.Options{}, "galera [member member] 1"},
		{galera[0], "ro:" + galera[1], harness.Options{}, "galera [primary replica] 1"},
		{pair[0], "ro:" + pair[1], harness.Options{}, "replica [primary replica] "},
		{pair[0], pair[1], harness.Options{}, "node2 takes no writes: name it as a replica, with ro: before its DSN"},
		{pair[0], pair[0], harness.Options{}, "node 2 is named twice"},
		{galera[0], pair[0], harness.Options{}, "node1 and node2 belong to different clusters (galera "},
		{pair[0], "ro:" + pair[1], harness.Options{Durable: true}, "--fault needs a private server"},
		{"mariadb:11.8", pair[0], harness.Options{}, "--node is for servers that run already"},
		{pair[0], "ro:root@unix(/nowhere/s)/", harness.Options{}, "node 2: open data source"},
	} {
		if c.first == "" {
			continue
		}
		nodes, err := target.ParseNodes([]string{c.others})
		if err != nil {
			t.Fatal(err)
		}
		b, err := target.OpenCluster(t.Context(), c.first, nodes, c.o)
		got := ""
		if err != nil {
			got = err.Error()
		} else {
			topology := b.(harness.Clustered).Topology()
			var roles []harness.Role
			for _, n := range topology.Nodes {
				roles = append(roles, n.Role)
			}
			got = fmt.Sprintf("%s %v %s", topology.Kind, roles, topology.Settings["wsrep_sync_wait"])
			if _, killed := b.(harness.Crasher); killed {
				t.Error("its servers can be killed")
			}
			if _, err := harness.WiredOf(b); err != nil {
				t.Error(err)
			}
			if err := errors.Join(b.Alive(t.Context()), b.Close()); err != nil {
				t.Error(err)
			}
		}
		if got != c.want && (err == nil || !strings.HasPrefix(got, c.want)) {
			t.Errorf("%s and %s: %q, want %q", c.first, c.others, got, c.want)
		}
	}
}

// there says that a target can be opened here. Where servers are required it must.
func there(t *testing.T, name string) bool {
	for _, x := range harness.Available(t.Context()) {
		if x.Name == name && x.Available {
			return true
		}
	}
	if targettest.Required() {
		t.Fatalf("TXNFUZZ_REQUIRE_SERVERS is set and %s is not installed", name)
	}
	return false
}

// dsnsOf starts a topology and tells how its nodes are reached.
func dsnsOf(t *testing.T, name string) []string {
	t.Helper()
	b, err := harness.Open(t.Context(), name, harness.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close() })
	var dsns []string
	for _, n := range b.(harness.Clustered).Topology().Nodes {
		w, err := harness.WiredOf(n.Backend)
		if err != nil {
			t.Fatal(err)
		}
		dsns = append(dsns, w.Config().FormatDSN())
	}
	return dsns
}
