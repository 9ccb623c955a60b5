package mysqltest

import (
	"slices"
	"strings"
)

// Source reads a file that the file at a path names behind `source`, and says where it was found.
type Source func(from, name string) (path string, text []byte, err error)

// include reads the file that source names. Many of them change nothing that a case is about.
func (r *runner) include(c *command) {
	name, ok := r.expand(c.text)
	base := name[strings.LastIndexByte(name, '/')+1:]
	switch {
	case !ok:
		r.refuse(noSource, name)
		return
	case dropped(base):
		return
	case strings.Contains(base, "start_mysqld"), strings.Contains(base, "kill_mysqld"), strings.Contains(base, "restart"),
		strings.Contains(base, "shutdown_mysqld"):
		r.refuse(noRestart, name)
		return
	case strings.Contains(base, "slave"), strings.Contains(base, "galera"):
		r.refuse(noReplica, name)
		return
	case r.depth == deepestSource:
		r.refuse(noSource, name)
		return
	}
	path, text, err := r.source(c.in.name, name)
	if err != nil {
		r.refuse(noSource, name)
		return
	}
	list, err := parse(path, text)
	if err != nil {
		r.refuse(noSource, err.Error())
		return
	}
	r.depth++
	r.run(list)
	r.depth--
}

// neutral are files, by their beginnings, that wait for what the harness sees by itself, ask what the server has, or
// set what changes no answer.
var neutral = []string{
	"have_", "not_", "no_", "wait_", "count_sessions", "big_test", "long_test", "linux", "windows", "default_charset",
	"default_optimizer_switch", "maybe_", "innodb_page_size", "testdb_only", "force_", "is_embedded", "is_debug",
	"innodb_stable_estimates", "search_pattern", "ps_ddl", "assert", "innodb_row_format", "innodb_checksum",
	"innodb_binlog", "sequence", "expect_crash", "add_anonymous", "delete_anonymous", "universal", "commit_sync",
}

func dropped(base string) bool {
	return slices.ContainsFunc(neutral, func(begin string) bool { return strings.HasPrefix(base, begin) })
}
