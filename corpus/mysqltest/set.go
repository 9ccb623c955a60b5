package mysqltest

import (
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/corpus"
)

// scope is whose variable is set.
type scope uint8

const (
	ofSession scope = iota
	ofServer
	ofUser
	ofNext // by SET TRANSACTION, which is for the next transaction
)

// assignment is one variable that SET sets.
type assignment struct {
	scope scope
	name  string
	// off says that the value is 0 or OFF, isDefault that it is what a connection has in the beginning.
	off, isDefault bool
	// reads says that the value is that of another variable of the server.
	reads bool
	level corpus.Level
	node  *ast.VariableAssignment
}

func (a *assignment) sql() string {
	return corpus.SQL(&ast.SetStmt{Variables: []*ast.VariableAssignment{a.node}}, corpus.Text)
}

// onAtFirst are on in a new connection.
var onAtFirst = []string{"autocommit", "foreign_key_checks", "unique_checks"}

// assignments returns what a statement sets, nil if it is none that sets variables, or is not read.
func assignments(sql string) (out []assignment) {
	node, err := corpus.ParseStatement(sql)
	if err != nil {
		return nil
	}
	set, ok := node.(*ast.SetStmt)
	if !ok {
		return nil
	}
	for _, v := range set.Variables {
		a := assignment{node: v, name: strings.ToLower(v.Name)}
		switch {
		case !v.IsSystem:
			a.scope = ofUser
		case v.IsGlobal:
			a.scope = ofServer
		case strings.HasSuffix(a.name, "_one_shot"):
			a.scope = ofNext
		}
		on, known := corpus.SwitchOf(v.Value)
		a.off = known && !on
		_, isDefault := v.Value.(*ast.DefaultExpr)
		a.isDefault = isDefault || known && on && slices.Contains(onAtFirst, a.name)
		if other, ok := v.Value.(*ast.VariableExpr); ok {
			a.reads = other.IsSystem || other.Value == nil
		}
		if a.scope <= ofServer && a.name == "tx_isolation" {
			a.level, _ = corpus.LevelOfValue(v.Value)
		}
		out = append(out, a)
	}
	return out
}

// once are the variables that are of the next statement only.
var once = []string{"insert_id", "last_insert_id"}

// restored returns SET with DEFAULT in the place of variables of the user's: tests keep in those what was there.
func restored(sql string) string {
	node, err := corpus.ParseStatement(sql)
	set, ok := node.(*ast.SetStmt)
	if err != nil || !ok {
		return sql
	}
	changed := false
	for _, v := range set.Variables {
		other, ok := v.Value.(*ast.VariableExpr)
		if !v.IsSystem || !ok || other.IsSystem || other.Value != nil {
			continue
		}
		v.Value, changed = &ast.DefaultExpr{}, true
		if strings.ToLower(v.Name) == "tx_isolation" && !v.IsGlobal {
			v.Value = corpus.StringLit("REPEATABLE-READ") // which every server reads
		}
	}
	if !changed {
		return sql
	}
	return corpus.SQL(set, corpus.Text)
}

// endsSessions begin the names of variables that say when the server leaves a session alone.
var endsSessions = []string{"wait_timeout", "interactive_timeout", "idle_"}

// neutralVariables begin the names of variables that change what is logged or counted, plans, or how long is waited,
// and no answer that a level promises. The harness has its own timeouts.
var neutralVariables = []string{
	"binlog_", "character_set_results", "concurrent_insert", "connect_timeout", "debug", "default_storage_engine",
	"default_tmp_storage_engine", "enforce_storage_engine", "event_scheduler", "general_log", "gtid_", "histogram_",
	"information_schema_stats", "innodb_adaptive", "innodb_buffer", "innodb_change_buffer", "innodb_checksum",
	"innodb_cmp", "innodb_compression", "innodb_default_row_format", "innodb_defragment", "innodb_disable_sort",
	"innodb_encrypt", "innodb_evict", "innodb_extend", "innodb_fast_shutdown", "innodb_fil", "innodb_file",
	"innodb_flush", "innodb_ft", "innodb_idle", "innodb_immediate_scrub", "innodb_io", "innodb_limit_optimistic",
	"innodb_lock_wait_timeout", "innodb_log", "innodb_lru", "innodb_master", "innodb_max_dirty", "innodb_max_purge",
	"innodb_merge", "innodb_monitor", "innodb_prefix", "innodb_print", "innodb_purge", "innodb_random",
	"innodb_read_ahead", "innodb_read_only_compressed", "innodb_scrub", "innodb_spin", "innodb_stats",
	"innodb_status", "innodb_strict", "innodb_sync", "innodb_tmpdir", "innodb_undo", "join_", "key_buffer",
	"lc_messages", "lock_wait_timeout", "log_", "long_query_time", "low_priority_updates", "max_allowed_packet",
	"max_binlog", "max_error_count", "max_heap", "max_sp_recursion", "mrr_", "myisam_", "net_", "old_alter_table",
	"optimizer_", "performance_schema", "profiling", "query_cache", "rand_seed", "read_buffer", "secure_",
	"server_id", "session_track", "show_create_table", "slave_", "slow_query", "sort_buffer", "sql_log_bin",
	"sql_notes", "sql_warnings", "storage_engine", "sync_binlog", "sync_frm", "system_versioning_alter",
	"table_definition_cache", "table_open_cache", "thread_", "timed_mutexes", "tmp_table", "use_stat_tables",
	"userstat",
}

const neutralSet = "SET of logs, plans and timeouts"

func isNeutral(name string) bool {
	return slices.ContainsFunc(neutralVariables, func(begin string) bool { return strings.HasPrefix(name, begin) })
}

// roleOfSet says what becomes of SET. used reports whether another statement names a variable of the user's.
func roleOfSet(p phrase, sql string, used func(name string) bool) (role, string) {
	switch {
	case p.begins("set", "debug_sync") && strings.Contains(strings.ToLower(sql), "'reset'"):
		return left, "SET DEBUG_SYNC = 'RESET'"
	case p.has("debug_sync"), p.has("debug_dbug"), p.has("debug"):
		return refused, noSync
	case p.begins("set", "statement"):
		return refused, "SET STATEMENT"
	case p.begins("set", "password"), p.begins("set", "role"), p.begins("set", "default"):
		return refused, strings.ToUpper("SET " + p[1])
	case p.begins("set", "names"), p.begins("set", "character"), p.begins("set", "charset"):
		return left, "SET NAMES"
	}
	list := assignments(sql)
	if list == nil {
		if at := p.skip(p.find("global")+1, "."); p.has("global") && at < len(p) {
			if isNeutral(p[at]) {
				return left, neutralSet
			}
			return refused, "SET GLOBAL"
		}
		return refused, "SET that is not read"
	}
	out, word := left, "SET of variables of the user"
	for i := range list {
		switch a := &list[i]; {
		case slices.ContainsFunc(endsSessions, func(begin string) bool { return strings.HasPrefix(a.name, begin) }):
			return refused, "a session that the server ends"
		case a.name == "completion_type" && (a.off || a.isDefault):
		case a.name == "completion_type":
			return refused, "SET completion_type" // COMMIT then means something else
		case a.scope == ofUser:
			if used(a.name) {
				out = kept
			}
		case isNeutral(a.name):
			word = neutralSet
		case a.scope == ofServer && slices.Contains(given, a.name):
			word = "SET GLOBAL of what later connections get"
		case a.scope == ofServer && (a.reads || a.isDefault):
			word = "SET GLOBAL to what it was"
		case a.scope == ofServer:
			return refused, "SET GLOBAL"
		default:
			out = kept
		}
	}
	return out, word
}
