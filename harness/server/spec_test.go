package server

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/txnfuzz/txnfuzz/oracle/history"
)

func TestParseSpec(t *testing.T) {
	for _, c := range []struct{ target, want string }{
		{"mysql", "mysql  map[]"},
		{"mysql:9.7", "mysql 9.7 map[]"},
		{"mysql:9.7,binlog=off", "mysql 9.7 map[log_bin:OFF]"},
		{"mariadb,snapshot=ON,binlog=row", "mariadb  map[binlog_format:ROW innodb_snapshot_isolation:ON log_bin:ON]"},
		{"mariadb:11.8,sql_mode=ANSI,NO_ZERO_DATE,snapshot=off", "mariadb 11.8 map[innodb_snapshot_isolation:OFF sql_mode:ANSI,NO_ZERO_DATE]"},
		{"mariadb:11.8,innodb-Lock-wait-timeout=3", "mariadb 11.8 map[innodb_lock_wait_timeout:3]"},
		{"mysql,sql_mode=", "mysql  map[sql_mode:]"},
		{"tidb:2025-11,tidb_enable_metadata_lock=ON", "tidb 2025-11 map[tidb_enable_metadata_lock:ON]"},
		{"tidb,binlog=off", "exists for mysql and mariadb only"},
		{"tidb:2024-07,snapshot=on", "exists for mariadb only"},
		{"tidb,port=4000", "cannot be set"},
		{"mysql:", "no version behind the colon"},
		{"oracle:23", "no server is named"},
		{"mysql,binlog", "want key=value"},
		{"mysql,binlog=mixed", "want one of off, row"},
		{"mysql,snapshot=on", "exists for mariadb only"},
		{"mysql,datadir=/", "cannot be set"},
		{"mysql,socket=/tmp/x", "cannot be set"},
		{"mysql,a b=1", "want key=value"},
		{"mysql:9.7,replica=row,workers=4,order=off", "mysql 9.7 map[binlog_format:ROW log_bin:ON]"},
		{"mariadb:11.8,replica=STATEMENT", "mariadb 11.8 map[binlog_format:STATEMENT log_bin:ON]"},
		{"postgres:18,standby=1,sync=remote_apply", "postgresql 18 map[]"},
		{"mysql,replica=off", "want one of row, mixed, statement"},
		{"mysql,workers=4", "option workers is of a replica: want replica=row, too"},
		{"mysql,replica=row,workers=many", "want a number from 0 to 64"},
		{"mysql,replica=row,binlog=off", "a target with a replica sets that itself"},
		{"mariadb,replica=row,order=off", "exists for mysql only"},
		{"mariadb,standby=1", "exists for postgresql only"},
		{"postgres,replica=row", "exists for mysql and mariadb only"},
		{"postgres,sync=on", "option sync is of a replica: want standby=1, too"},
		{"tidb,replica=row", "exists for mysql and mariadb only"},
		{"galera:11.8", "mariadb 11.8 map[] galera 3"},
		{"galera,nodes=5,snapshot=off,wsrep_sync_wait=1", "mariadb  map[innodb_snapshot_isolation:OFF wsrep_sync_wait:1] galera 5"},
		{"mysql:9.7,group=3", "mysql 9.7 map[] group-single 3"},
		{"mysql:9.7,group=4,primary=multi,group_replication_consistency=AFTER",
			"mysql 9.7 map[group_replication_consistency:AFTER] group-multi 4"},
		{"galera:11.8,nodes=1", "option nodes=1: want a number from 2 to 5"},
		{"galera:11.8,nodes=six", "want a number from 2 to 5"},
		{"galera:11.8,wsrep_cluster_address=gcomm://", "a cluster sets that itself"},
		{"galera:11.8,wsrep_provider_options=gcache.size=1G", "a cluster sets that itself"},
		{"galera:11.8,binlog=row", "option binlog_format=ROW: a cluster sets that itself"},
		{"galera:11.8,replica=row", "a cluster has no replica beside its nodes"},
		{"galera:11.8,group=3", "exists for mysql only"},
		{"mariadb:11.8,nodes=3", "want a target such as galera:11.8,nodes=3"},
		{"mysql:9.7,nodes=3", "exists for mariadb only"},
		{"mysql:9.7,primary=multi", "option primary is of a group: want group=3, too"},
		{"mysql:9.7,group=3,primary=both", "want one of single, multi"},
		{"mysql:9.7,group=3,binlog=off", "option log_bin=OFF: a cluster sets that itself"},
	} {
		s, err := parseSpec(c.target)
		got := fmt.Sprintf("%s %s %v", s.family, s.version, s.options)
		if s.joins != nil {
			got += fmt.Sprintf(" %s %d", s.joins.kind, s.joins.nodes)
		}
		if err != nil {
			got = err.Error()
		}
		if got != c.want && (err == nil || !strings.Contains(got, c.want)) {
			t.Errorf("%s: got %q, want %q", c.target, got, c.want)
		}
	}
}

func TestClassify(t *testing.T) {
	for _, c := range []struct{ version, comment, want string }{
		{"8.0.11-TiDB-v8.2.0-alpha", "TiDB Server (Apache License 2.0)", "tidb v8.2.0-alpha"},
		{"11.8.9-MariaDB-4", "Debian n/a", "mariadb 11.8.9-MariaDB-4"},
		{"5.5.5-10.4.1-MariaDB-log", "", "mariadb 10.4.1-MariaDB-log"},
		{"9.7.4", "MySQL Community Server - GPL", "mysql 9.7.4"},
		{"9.7.4-2", "(Debian)", "mysql 9.7.4-2"},
		{"8.0.36-28", "Percona Server (GPL), Release 28", " 8.0.36-28"},
	} {
		s := classify(c.version, c.comment)
		if got := fmt.Sprintf("%s %s", s.DBMS, s.Version); got != c.want {
			t.Errorf("%s (%s): got %q, want %q", c.version, c.comment, got, c.want)
		}
	}
}

func TestVersionOrder(t *testing.T) {
	order := []string{"11.8.9-MariaDB-4", "11.8.6-MariaDB", "10.11.18-MariaDB-0+deb12u1", "10.5.23-MariaDB", "9.7.4-2", "8.0.36", "8.0", "8"}
	for i, a := range order {
		for j, b := range order {
			if got, want := newer(a, b), history.VersionNumbers(a) != history.VersionNumbers(b) && i < j; got != want {
				t.Errorf("newer(%s, %s) = %v", a, b, got)
			}
		}
	}
	if diff := cmp.Diff([3]int{8, 0, 0}, history.VersionNumbers("8")); diff != "" {
		t.Error(diff)
	}
}
