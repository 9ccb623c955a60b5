package server

import (
	"fmt"
	"regexp"
	"slices"
	"sort"
	"strings"

	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// spec is a target of a private instance in its parts.
type spec struct {
	family  history.DBMS
	version string // as asked for, for example "11.8"; empty: the newest
	// released leaves the build out of account that harness.EnvBinary names.
	released bool
	// options holds server variables that the target sets, by name with
	// underscores.
	options map[string]string
	// topology holds the options that make the target several servers, by name.
	topology map[string]string
	// replicates is what they say of a replica, nil where there is to be none.
	replicates *replication
	// joins is what they say of a cluster of nodes that are alike, nil where there is to be none.
	joins *joining
}

// families are the names before the colon.
var families = map[string]history.DBMS{
	"mysql": history.MySQL, "mariadb": history.MariaDB, "tidb": history.TiDB, "postgres": history.PostgreSQL,
}

// nameOf is the name of a family before the colon.
func nameOf(family history.DBMS) string {
	if family == history.PostgreSQL {
		return "postgres"
	}
	return string(family)
}

// switches are the short options of a target: what changes the semantics of a
// server, spelled as a user thinks of it.
var switches = map[string]struct {
	only   []history.DBMS
	values map[string]map[string]string
}{
	"binlog": {only: []history.DBMS{history.MySQL, history.MariaDB}, values: map[string]map[string]string{
		"off": {"log_bin": "OFF"},
		"row": {"log_bin": "ON", "binlog_format": "ROW"},
	}},
	"snapshot": {only: []history.DBMS{history.MariaDB}, values: map[string]map[string]string{
		"on":  {"innodb_snapshot_isolation": "ON"},
		"off": {"innodb_snapshot_isolation": "OFF"},
	}},
}

// owned are the variables that decide where an instance lives and who reaches
// it. A target must not move it out of its folder.
var owned = map[string]bool{
	"basedir": true, "bind_address": true, "datadir": true, "init_file": true, "innodb_data_home_dir": true,
	"innodb_log_group_home_dir": true, "innodb_temp_data_file_path": true, "innodb_undo_directory": true,
	"lc_messages_dir": true, "log_error": true, "pid_file": true, "plugin_dir": true, "port": true,
	"skip_networking": true, "socket": true, "tmpdir": true, "user": true,
	// Of PostgreSQL. Shared memory of another type outlives a server that is killed.
	"config_file": true, "data_directory": true, "dynamic_shared_memory_type": true, "external_pid_file": true,
	"hba_file": true, "ident_file": true, "listen_addresses": true, "log_destination": true, "log_directory": true,
	"log_filename": true, "logging_collector": true, "restart_after_crash": true, "shared_memory_type": true,
	"unix_socket_directories": true, "unix_socket_group": true, "unix_socket_permissions": true,
}

var optionName = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)

// parseSpec reads a target such as "mariadb:11.8,snapshot=off". An item without
// '=' belongs to the value before it, so that sql_mode can hold its commas.
func parseSpec(target string) (spec, error) {
	items := strings.Split(target, ",")
	name, version, _ := strings.Cut(items[0], ":")
	family, ok := families[name]
	if name == galeraName {
		family, ok = history.MariaDB, true
	}
	if !ok {
		return spec{}, fmt.Errorf("no server is named %q: want mysql, mariadb, galera, tidb or postgres", name)
	}
	if strings.HasSuffix(items[0], ":") {
		return spec{}, fmt.Errorf("no version behind the colon of %q", items[0])
	}
	s := spec{family: family, version: version, options: map[string]string{}}
	if name == galeraName {
		s.topology = map[string]string{galeraName: "on"}
	}
	var pairs [][2]string
	for _, item := range items[1:] {
		key, value, found := strings.Cut(item, "=")
		if !found && len(pairs) > 0 {
			pairs[len(pairs)-1][1] += "," + item
			continue
		}
		key = strings.ReplaceAll(strings.ToLower(strings.TrimSpace(key)), "-", "_")
		if !found || !optionName.MatchString(key) {
			return spec{}, fmt.Errorf("option %q of target %s: want key=value, such as binlog=off, snapshot=off or a server variable", item, items[0])
		}
		pairs = append(pairs, [2]string{key, value})
	}
	for _, p := range pairs {
		if err := s.set(p[0], p[1]); err != nil {
			return spec{}, err
		}
	}
	var err error
	if s.replicates, err = s.replication(); err != nil {
		return spec{}, err
	}
	s.joins, err = s.joining()
	return s, err
}

func (s *spec) set(key, value string) error {
	if _, ok := topologyOptions[key]; ok {
		return s.setTopology(key, value)
	}
	sw, ok := switches[key]
	if !ok {
		if owned[key] {
			return fmt.Errorf("option %s cannot be set: a private server keeps to its own folder", key)
		}
		s.options[key] = value
		return nil
	}
	if !slices.Contains(sw.only, s.family) {
		return fmt.Errorf("option %s exists for %s only", key, join(sw.only, " and "))
	}
	vars, ok := sw.values[strings.ToLower(value)]
	if !ok {
		var known []string
		for v := range sw.values {
			known = append(known, v)
		}
		sort.Strings(known)
		return fmt.Errorf("option %s=%s: want one of %s", key, value, strings.Join(known, ", "))
	}
	for k, v := range vars {
		s.options[k] = v
	}
	return nil
}

func join(families []history.DBMS, with string) string {
	names := make([]string, len(families))
	for i, f := range families {
		names[i] = string(f)
	}
	return strings.Join(names, with)
}

// sortedKeys returns the names of the options in a fixed order.
func (s spec) sortedKeys() []string {
	keys := make([]string, 0, len(s.options))
	for k := range s.options {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}
