package mysqltest

import (
	"slices"
	"strings"
)

// role is what becomes of a statement.
type role uint8

const (
	kept role = iota
	// left is left out, and the case says so; what is passed over has no place in a case.
	left
	passed
	refused
)

const (
	noSync     = "debug sync point"
	noDatabase = "a second database"
)

// looksOnly reports whether a statement reads no rows of the file's tables and changes nothing.
func looksOnly(p phrase) bool { return lookOf(p) != "" }

// lookOf names a statement that only looks, "" for another.
func lookOf(p phrase) string {
	switch {
	case len(p) == 0:
		return ""
	case slices.Contains([]string{"show", "explain", "desc", "describe", "help", "checksum"}, p[0]):
		return strings.ToUpper(p[0])
	case p.begins("check", "table"):
		return "CHECK TABLE"
	case p.begins("do"):
		return "DO"
	case p[0] != "select", p.has("into") && !p.is(p.find("into")+1, "@"):
		return ""
	case p.has("information_schema"), p.has("performance_schema"), p.hasSystem():
		return "SELECT from the server's own tables"
	case !p.has("from") && !p.has("into") && !p.has("get_lock") && !p.has("release_lock") && !p.has("is_used_lock"):
		return "SELECT without a table"
	}
	return ""
}

// hasSystem reports whether a statement names a table of the database mysql.
func (p phrase) hasSystem() bool {
	for i := range p {
		if p.is(i, "mysql", ".") || p.is(i, "sys", ".") {
			return true
		}
	}
	return false
}

// refusals are the beginnings of statements that no case has.
var refusals = []struct{ words, reason string }{
	{"lock table", "LOCK TABLES"}, {"lock tables", "LOCK TABLES"}, {"unlock", "LOCK TABLES"}, {"xa", "XA"},
	{"prepare", "PREPARE"}, {"execute", "PREPARE"}, {"deallocate", "PREPARE"}, {"drop prepare", "PREPARE"},
	{"handler", "HANDLER"}, {"call", "CALL"}, {"grant", "GRANT"}, {"revoke", "GRANT"}, {"load", "LOAD DATA"},
	{"kill", "KILL"}, {"flush", "FLUSH"}, {"backup", "BACKUP"}, {"install", "INSTALL"}, {"uninstall", "INSTALL"},
	{"change", noReplica}, {"start slave", noReplica}, {"stop slave", noReplica}, {"reset", "RESET"},
	{"purge", noReplica}, {"shutdown", noRestart}, {"restart", noRestart}, {"binlog", "BINLOG"}, {"signal", "SIGNAL"},
	{"get", "GET DIAGNOSTICS"}, {"optimize", "OPTIMIZE TABLE"}, {"repair", "REPAIR TABLE"}, {"cache", "CACHE INDEX"},
	{"begin not", "BEGIN NOT ATOMIC"}, {"if", "a statement of several"}, {"for", "a statement of several"},
	{"loop", "a statement of several"}, {"while", "a statement of several"}, {"declare", "a statement of several"},
	{"import", "IMPORT"}, {"clone", "CLONE"},
}

// madeKinds are what CREATE makes; those that are true a case can have.
var madeKinds = map[string]bool{
	"table": true, "view": true, "index": true, "trigger": true, "procedure": false, "function": false, "event": false,
	"user": false, "role": false, "server": false, "sequence": false, "package": false, "tablespace": false,
	"database": true, "schema": true, "resource": false,
}

// roleOf says what becomes of a statement, and why.
func roleOf(p phrase, sql string, used func(name string) bool) (role, string) {
	if len(p) == 0 {
		return passed, ""
	}
	if look := lookOf(p); look != "" {
		return left, look
	}
	switch {
	case p[0] == "set":
		return roleOfSet(p, sql, used)
	case p.begins("use"), p.begins("call", "mtr", "."), p.begins("create", "database"), p.begins("create", "schema"):
		return passed, ""
	case p.begins("flush", "tables") && len(p) == 2, p.begins("flush", "privileges"), p.begins("flush", "status"),
		p.begins("flush", "logs"), p.begins("flush", "binary"), p.begins("flush", "query"), p.begins("reset", "query"),
		p.begins("reset", "master"):
		return left, strings.ToUpper(p[0] + " " + p[1])
	case p.begins("analyze") && !p.is(1, "table") && !p.is(1, "local") && !p.is(1, "no_write_to_binlog"):
		return refused, "ANALYZE of a statement"
	case p.has("sql_thread_wait_after_gtids"), p.has("master_pos_wait"), p.has("master_gtid_wait"):
		return refused, noReplica
	case p.has("get_lock"), p.has("release_lock"):
		return refused, "GET_LOCK"
	case p.has("outfile"), p.has("dumpfile"), p.has("load_file"):
		return refused, "a file of the server"
	case p[0] == "select" && p.has("into"):
		return refused, "SELECT INTO"
	case p.has("tablespace") && p[0] == "alter":
		return refused, "ALTER TABLE of a tablespace"
	}
	for _, r := range refusals {
		if p.begins(strings.Fields(r.words)...) {
			return refused, r.reason
		}
	}
	switch p[0] {
	case "create":
		return roleOfCreate(p)
	case "alter":
		if i := p.skip(1, "online", "ignore"); !p.is(i, "table") {
			return refused, "ALTER " + strings.ToUpper(p[min(i, len(p)-1)])
		}
	case "drop":
		if what, _ := p.drops(); !slices.Contains([]string{"table", "tables", "view", "index", "trigger"}, what) {
			return passed, "" // what it drops no case has
		}
	}
	return kept, ""
}

func roleOfCreate(p phrase) (role, string) {
	for _, w := range p[1:] {
		can, known := madeKinds[w]
		switch {
		case !known:
			continue
		case !can:
			return refused, "CREATE " + strings.ToUpper(w)
		case w == "table" && (p.has("merge") || p.has("mrg_myisam")) && p.has("union"):
			return refused, "ENGINE = MERGE"
		case w == "table" && p.is(1, "temporary") || w == "table" && p.is(1, "or", "replace", "temporary"):
			return refused, "a temporary table"
		}
		break
	}
	return kept, ""
}
