package harness

import (
	"fmt"
	"slices"
	"strings"

	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// agreeEvery is how seldom a table is compared with its indexes: in one case of so
// many. The case's text decides, so that a case is checked each time or never. After
// a disagreement every case is checked, since reducing needs that. A check costs a
// round trip for each index and two more for each table.
const agreeEvery = 16

// agreement tells how the tables of a case fail to agree with their indexes once
// all sessions have ended; empty if they do not, or if it is not this case's
// turn.
func (w *worker) agreement(s *script, tables []history.Table) (string, error) {
	// The low bits of the key decide whether purge is held.
	if s.key()>>32%agreeEvery != 0 && !w.pool.suspect.Load() {
		return "", nil
	}
	w.pool.stats.agreed.Add(1)
	agrees := w.tableAgrees
	if !w.pool.speech.agrees {
		agrees = w.indexesHold
	}
	for i := range tables {
		why, err := agrees(&tables[i])
		if err != nil {
			return "", err
		}
		if why != "" {
			w.pool.suspect.Store(true)
			return fmt.Sprintf("table %s: %s", tables[i].Name, why), nil
		}
	}
	return "", nil
}

// tableAgrees reads a table without any index, through each of them, and asks
// the server itself.
func (w *worker) tableAgrees(t *history.Table) (string, error) {
	quote := w.pool.speech.quote
	name := quote(t.Name)
	r, err := w.query("SHOW INDEX FROM " + name)
	if err != nil {
		return "", err
	}
	type index struct{ name, order string }
	var indexes []index
	at := func(row []history.Cell, column string) history.Cell {
		if i := slices.Index(r.Columns, column); i >= 0 {
			return row[i]
		}
		return history.Cell{Null: true}
	}
	for _, row := range r.Rows {
		// An index on an expression names no column to sort by.
		column := at(row, "Column_name")
		if n := len(indexes); n > 0 && indexes[n-1].name == at(row, "Key_name").Text {
			if !column.Null {
				indexes[n-1].order += ", " + quote(column.Text)
			}
			continue
		}
		if !column.Null {
			indexes = append(indexes, index{at(row, "Key_name").Text, quote(column.Text)})
		}
	}
	whole := sortedRows(t.Rows)
	reads := make([]string, 0, len(indexes)+1)
	via := make([]string, 0, len(indexes)+1)
	if len(indexes) > 0 {
		names := make([]string, len(indexes))
		for i := range indexes {
			names[i] = quote(indexes[i].name)
		}
		reads = append(reads, "SELECT * FROM "+name+" IGNORE INDEX ("+strings.Join(names, ", ")+")")
		via = append(via, "a scan without indexes")
	}
	for _, x := range indexes {
		// Without the order a server may read the table itself all the same.
		reads = append(reads, "SELECT * FROM "+name+" FORCE INDEX ("+quote(x.name)+") ORDER BY "+x.order)
		via = append(via, "index "+x.name)
	}
	for i, sql := range reads {
		r, err := w.control(sql)
		if err != nil {
			return "", err
		}
		switch {
		case r.Err != nil && w.pool.server.Declared != nil:
			continue // of a server that no rule knows nobody says that it can be told which index to use
		case r.Err != nil:
			return fmt.Sprintf("%s fails with %s", via[i], r.Err), nil
		}
		if got := sortedRows(r.Rows); !slices.Equal(got, whole) {
			return fmt.Sprintf("%s gives %s, the final read gave %s", via[i], strings.Join(got, " "), strings.Join(whole, " ")), nil
		}
	}
	if w.pool.server.Declared != nil {
		return "", nil
	}
	return w.serverAgrees(name)
}

// serverAgrees asks the server whether a table is sound.
func (w *worker) serverAgrees(name string) (string, error) {
	check := "CHECK TABLE " + name + " EXTENDED"
	if w.pool.server.DBMS == history.TiDB {
		check = "ADMIN CHECK TABLE " + name
	}
	r, err := w.control(check)
	if err != nil {
		return "", err
	}
	if r.Err != nil {
		return fmt.Sprintf("%s fails with %s", check, r.Err), nil
	}
	if says := verdictOfCheck(r.Rows); says != "" {
		return check + " says " + says, nil
	}
	return "", nil
}

// verdictOfCheck returns the first complaint of a CHECK TABLE, "" if it ends with OK:
// MariaDB warns of entries that wait for purge, and calls the table sound.
// https://jira.mariadb.org/browse/MDEV-24402
func verdictOfCheck(rows [][]history.Cell) string {
	complaint := ""
	for _, row := range rows {
		n := len(row)
		switch {
		case n < 2:
		case row[n-2].Text == "status" && row[n-1].Text == "OK":
			return ""
		case complaint == "":
			complaint = row[n-2].Text + ": " + row[n-1].Text
		}
	}
	return complaint
}

func sortedRows(rows [][]history.Cell) []string {
	out := make([]string, len(rows))
	for i, row := range rows {
		out[i] = history.RowText(row, history.Cell.Key)
	}
	slices.Sort(out)
	return out
}

// indexesHold asks PostgreSQL whether each B-tree of a table has all its rows, which amcheck tells by an error.
// Where the extension is not there, or too old to look at the rows, nothing is told.
// https://www.postgresql.org/docs/current/amcheck.html
func (w *worker) indexesHold(t *history.Table) (string, error) {
	r, err := w.control("SELECT public.bt_index_check(i.indexrelid, true) FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid " +
		"JOIN pg_am a ON a.oid = c.relam WHERE a.amname = 'btree' AND i.indrelid = '" +
		strings.ReplaceAll(w.pool.speech.quote(t.Name), "'", "''") + "'::regclass")
	if err != nil || r.Err == nil || r.Err.State == undefinedFunction {
		return "", err
	}
	return "bt_index_check fails with " + r.Err.String(), nil
}

// undefinedFunction is the SQLSTATE of a call of what is not there.
const undefinedFunction = "42883"
