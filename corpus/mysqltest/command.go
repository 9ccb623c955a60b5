package mysqltest

import "strings"

// command is one of a file: of mysqltest itself, or SQL that it sends.
type command struct {
	// in is the file, and at the place in it where the command begins.
	in *reader
	at int
	// name is that of a command of mysqltest in lower case, "" of SQL.
	name string
	// text is what stands behind the name: arguments, a condition, or the SQL.
	text string
	// block holds the commands in the braces of if and while.
	block []command
}

// names are the commands of mysqltest, and some that only MariaDB's has.
// https://dev.mysql.com/doc/dev/mysql-server/latest/PAGE_MYSQL_TEST_COMMANDS.html
var names = func() map[string]bool {
	m := map[string]bool{}
	for _, n := range strings.Fields(`append_file assert cat_file change_user character_set chmod connect connection
		copy_file copy_files_wildcard dec delimiter die diff_files dirty_close disable_parsing disconnect echo
		enable_parsing end end_timer error eval evalp exec execw exit expr file_exists force-cpdir force-rmdir
		horizontal_results if inc let list_files list_files_append_file list_files_write_file lowercase_result mkdir
		move_file optimizer_trace output partially_sorted_result perl ping query query_attributes query_horizontal
		query_vertical real_sleep reap remove_file remove_files_wildcard replace_column replace_numeric_round
		replace_regex replace_result require reset_connection result_format rmdir save_master_pos send send_eval
		send_quit send_shutdown shutdown_server skip skip_if_hypergraph sleep sorted_result source start_timer
		sync_slave_with_master sync_with_master system vertical_results wait_for_slave_to_stop while write_file
		write_line`) {
		m[n] = true
	}
	return m
}()

// switches follow enable_ and disable_ in the names of many commands, all of which are about what is written.
const enable, disable = "enable_", "disable_"

func isCommand(name string) bool {
	return names[name] || strings.HasPrefix(name, enable) || strings.HasPrefix(name, disable)
}

// sendsSQL are the commands whose arguments are SQL.
var sendsSQL = map[string]bool{
	"eval": true, "evalp": true, "query": true, "query_horizontal": true, "query_vertical": true, "send": true,
	"send_eval": true,
}

// withText are the commands behind which a text stands up to a line that holds a word, EOF if they name none; the
// number is the argument that names it.
var withText = map[string]int{"append_file": 1, "perl": 0, "write_file": 1}
