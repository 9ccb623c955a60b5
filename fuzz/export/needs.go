package export

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/harness/server"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/rules"
)

// setting is a variable of the server with the value that a run had.
type setting struct {
	Name string `json:"name"`
	// Value is as SHOW GLOBAL VARIABLES prints it.
	Value string `json:"value"`
	// Option gives it to a server that starts.
	Option string `json:"option"`
	// Session says that a client can set it for itself.
	Session bool `json:"session"`
}

// notVariables are settings of the rules that no variable of the server shows.
var notVariables = map[string]bool{"store": true, "pessimistic-auto-commit": true}

// bySession are the variables of a session among those that matter.
var bySession = map[string]bool{
	"innodb_snapshot_isolation": true, "sql_mode": true, "innodb_lock_wait_timeout": true,
	"lock_wait_timeout": true, "time_zone": true, "tidb_enable_noop_functions": true, "tidb_txn_mode": true,
	"optimizer_switch": true, "unique_checks": true, "foreign_key_checks": true, "auto_increment_increment": true,
	"tidb_constraint_check_in_place_pessimistic": true,
}

// shippedModes are the values of sql_mode that vendors ship.
// https://dev.mysql.com/doc/refman/en/sql-mode.html
// https://mariadb.com/docs/server/server-management/variables-and-modes/sql_mode
// https://docs.pingcap.com/tidb/stable/system-variables#sql_mode
var shippedModes = map[history.DBMS]string{
	history.MySQL:   "ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION",
	history.MariaDB: "STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_AUTO_CREATE_USER,NO_ENGINE_SUBSTITUTION",
	history.TiDB:    "ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_AUTO_CREATE_USER,NO_ENGINE_SUBSTITUTION",
}

var (
	texts      = regexp.MustCompile(`(?i)\b(CHAR|VARCHAR|TEXT|TINYTEXT|MEDIUMTEXT|LONGTEXT|ENUM|SET)\b`)
	timestamps = regexp.MustCompile(`(?i)\b(TIMESTAMP|UNIX_TIMESTAMP|FROM_UNIXTIME|CONVERT_TZ)\b`)
)

// asksForNothing matches what TiDB refuses, or accepts and ignores, as
// tidb_enable_noop_functions says.
var asksForNothing = regexp.MustCompile(`(?i)\b(READ ONLY|SHARE MODE|FOR SHARE)\b`)

const errLockWaitTimeout = 1205

// needs lists the settings without which the run may show something else: those
// that the target was given, unless it shows without them; those that the rules
// ask for, since another value is another promise; and those that the values of
// the tables rest on.
func (s *script) needs() []setting {
	has := s.History.Server.Settings
	given := server.Variables(s.Target)
	shown, _ := s.Case.Get("vendor defaults")
	var out []setting
	add := func(name string) {
		value, ok := has[name]
		if !ok {
			value, ok = given[name]
		}
		if !ok || notVariables[name] || slices.ContainsFunc(out, func(x setting) bool { return x.Name == name }) {
			return
		}
		out = append(out, setting{Name: name, Value: value, Option: option(name, value), Session: bySession[name] && s.dialect != corpus.Text})
	}
	levels := make([]corpus.Level, 0, len(s.Levels))
	for _, l := range s.Levels {
		levels = append(levels, l)
	}
	matters := func(r *rules.Rule) bool {
		return r.Status != rules.Deviation || oracle.Bears(r, s.Case, s.History)
	}
	for _, name := range rules.Settings(s.History.Server.DBMS, levels, matters) {
		if name == "tidb_enable_noop_functions" && !asksForNothing.MatchString(s.sql()) {
			continue
		}
		// A finding that shows with the option and without it does not rest on it.
		if _, ok := given[name]; ok && strings.HasPrefix(shown, "shows") {
			continue
		}
		add(name)
	}
	if !strings.HasPrefix(shown, "shows") {
		for _, name := range sortedKeys(given) {
			if tried, ok := strings.CutPrefix(shown, "does not show; needs "); ok && !neededOf(tried, s.Target, name) {
				continue
			}
			add(name)
		}
	}
	if mode, ok := has["sql_mode"]; ok && !sameModes(mode, shippedModes[s.History.Server.DBMS]) {
		add("sql_mode")
	}
	if texts.MatchString(strings.Join(s.setup(), "\n")) {
		add("character_set_server")
		add("collation_server")
	}
	if timestamps.MatchString(s.sql()) {
		add("time_zone")
	}
	for i := range s.History.Stmts {
		if e := s.History.Stmts[i].Result.Err; e != nil && e.Code == errLockWaitTimeout {
			add("innodb_lock_wait_timeout")
		}
	}
	slices.SortStableFunc(out, func(a, b setting) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// sql is the text of all statements.
func (s *script) sql() string {
	lines := s.setup()
	for i := range s.actions {
		lines = append(lines, s.actions[i].sql)
	}
	return strings.Join(lines, "\n")
}

// neededOf reports whether a variable is among the options of a target that a
// finding's header says it needs.
func neededOf(needed, target, name string) bool {
	base, _, _ := strings.Cut(target, ",")
	_, ok := server.Variables(base + "," + strings.ReplaceAll(needed, ", ", ","))[name]
	return ok
}

func sameModes(a, b string) bool {
	x, y := strings.Split(strings.ToUpper(a), ","), strings.Split(b, ",")
	slices.Sort(x)
	slices.Sort(y)
	return slices.Equal(x, y)
}

func sortedKeys(m map[string]string) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// option is the argument that starts a server with a setting. As an argument
// log_bin is the name of a file.
func option(name, value string) string {
	switch {
	case name == "log_bin" && value == "OFF":
		return "--skip-log-bin"
	case name == "log_bin":
		return "--log-bin"
	case name == "time_zone":
		return "--default-time-zone=" + value
	}
	return "--" + strings.ReplaceAll(name, "_", "-") + "=" + value
}

// set is the statement that gives the setting to a session.
func (x setting) set() string {
	if isWord(x.Value) {
		return fmt.Sprintf("SET SESSION %s = %s", x.Name, x.Value)
	}
	return fmt.Sprintf("SET SESSION %s = '%s'", x.Name, strings.ReplaceAll(x.Value, "'", "''"))
}

var wordOrNumber = regexp.MustCompile(`^(ON|OFF|[0-9]+)$`)

func isWord(v string) bool { return wordOrNumber.MatchString(v) }

// promising says that what is promised rests on the setting, so that a test must
// not judge a server that has another value. The others a session sets itself.
func (x setting) promising() bool { return !ownOfSession[x.Name] && !ofDatabase[x.Name] }

// ownOfSession are the settings that each session of a test can simply set.
var ownOfSession = map[string]bool{"sql_mode": true, "time_zone": true, "innodb_lock_wait_timeout": true, "lock_wait_timeout": true}

// ofDatabase are the settings that a database of its own overrides.
var ofDatabase = map[string]bool{"character_set_server": true, "collation_server": true}

// prepare lists the statements that give a session its settings and its level.
// Where the text acts by hand, all that a session can set is in it.
func (s *script) prepare(session int, byHand bool) []string {
	var out []string
	for _, x := range s.needed {
		if ownOfSession[x.Name] || byHand && x.Session {
			out = append(out, x.set())
		}
	}
	timed := slices.ContainsFunc(s.needed, func(x setting) bool { return x.Name == "innodb_lock_wait_timeout" })
	if byHand && !timed && s.waits(session) && !s.onPostgres() { // which waits as long as it takes
		out = append(out, "SET SESSION innodb_lock_wait_timeout = 3600")
	}
	return append(out, s.setLevel(session))
}

// settingsOfSetup are those that also decide what the set-up stores.
func (s *script) settingsOfSetup() []string {
	var out []string
	for _, x := range s.needed {
		if x.Name == "sql_mode" || x.Name == "time_zone" {
			out = append(out, x.set())
		}
	}
	return out
}

// database is what stands behind CREATE DATABASE name.
func (s *script) database() string {
	out := ""
	for _, x := range s.needed {
		switch x.Name {
		case "character_set_server":
			out = " CHARACTER SET " + x.Value + out
		case "collation_server":
			out += " COLLATE " + x.Value
		}
	}
	return out
}

// options lists what a server has to be started with, or what a client cannot
// set for itself.
func (s *script) options(all bool) []setting {
	var out []setting
	for _, x := range s.needed {
		if x.promising() && (all || !x.Session) {
			out = append(out, x)
		}
	}
	return out
}

// needsText says in a sentence what a server has to have, "" for nothing.
func (s *script) needsText(code func(string) string) string {
	var parts []string
	for _, x := range s.needed {
		// What the database is made with below need not be the server's.
		if !ofDatabase[x.Name] || s.triedWithout() {
			parts = append(parts, code(x.Name+"="+x.Value))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	list := strings.Join(parts, ", ")
	if s.triedWithout() {
		return fmt.Sprintf("Needs %s: it does not show with the vendor's default settings.", list)
	}
	return fmt.Sprintf("Run with %s: it was seen so, and not tried with another value.", list)
}

// triedWithout says that the finding was run with the vendor's default settings, too,
// and does not show there.
func (s *script) triedWithout() bool {
	shown, _ := s.Case.Get("vendor defaults")
	return strings.HasPrefix(shown, "does not show")
}
