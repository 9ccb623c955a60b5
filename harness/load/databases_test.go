package load_test

import (
	"database/sql"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/txnfuzz/txnfuzz/harness"
)

// connect opens connections beside those of a run.
func connect(t *testing.T, b harness.Backend) *sql.DB {
	t.Helper()
	connector, err := mysql.NewConnector(b.(harness.Wired).Config())
	if err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(connector)
	t.Cleanup(func() { db.Close() })
	return db
}

// databases lists the databases of a server that txnfuzz has made.
func databases(t *testing.T, b harness.Backend) []string {
	t.Helper()
	db := connect(t, b)
	defer db.Close()
	rows, err := db.QueryContext(t.Context(), "SHOW DATABASES LIKE 'txnfuzz%'")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var out []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			t.Fatal(err)
		}
		out = append(out, name)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}
