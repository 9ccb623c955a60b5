package server

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/go-sql-driver/mysql"
)

// denied are the errors by which servers refuse for want of a privilege.
var denied = map[uint16]bool{
	1044: true, // access denied to database
	1045: true, // access denied
	1142: true, // command denied on table
	1143: true, // command denied on column
	1227: true, // needs the privilege named
	1370: true, // command denied on routine
	8121: true, // TiDB: privilege check failed
}

// trial is a statement that needs one privilege. %s is a database name.
type trial struct{ privilege, statement string }

// databaseTrials are tried in this order: DROP before CREATE, or the check
// could leave a database behind.
var databaseTrials = []trial{
	{"DROP", "DROP DATABASE IF EXISTS %s"},
	{"CREATE", "CREATE DATABASE %s"},
	{"CREATE", "USE %s"}, // not every server lets a DELETE name the database only itself
	{"CREATE", "CREATE TABLE %s.t (a INT PRIMARY KEY, b INT)"},
	{"INDEX", "CREATE INDEX i ON %s.t (b)"},
	{"INSERT", "INSERT INTO %s.t VALUES (1, 1)"},
	{"UPDATE", "UPDATE %s.t SET b = 2"},
	{"SELECT", "SELECT * FROM %s.t FOR UPDATE"},
	{"DELETE", "DELETE FROM %s.t"},
	{"ALTER", "ALTER TABLE %s.t ADD c INT"},
	{"DROP", "DROP DATABASE %s"},
}

// methodTrials are what each way of asking for lock waits needs.
var methodTrials = map[method][]trial{
	status: {
		{"PROCESS", "SHOW ENGINE INNODB STATUS"},
	},
	lockTables: {
		{"SELECT ON performance_schema.data_lock_waits", "SELECT ENGINE FROM performance_schema.data_lock_waits LIMIT 0"},
		{"SELECT ON performance_schema.data_locks", "SELECT ENGINE FROM performance_schema.data_locks LIMIT 0"},
		{"SELECT ON performance_schema.threads", "SELECT THREAD_ID FROM performance_schema.threads LIMIT 0"},
	},
}

// missingFor returns the privileges that a way of asking lacks. An error is
// anything else that keeps it from working.
func missingFor(ctx context.Context, s *side, m method) ([]string, error) {
	return try(ctx, s, methodTrials[m], "")
}

// try runs trials and returns the privileges that some of them lacked, each
// once. It stops at the first lack of DROP or CREATE: what follows needs them.
func try(ctx context.Context, s *side, trials []trial, db string) ([]string, error) {
	var missing []string
	for _, t := range trials {
		q := t.statement
		if strings.Contains(q, "%s") {
			q = fmt.Sprintf(q, db)
		}
		_, err := s.query(ctx, q)
		if err == nil {
			continue
		}
		var answer *mysql.MySQLError
		if !errors.As(err, &answer) || !denied[answer.Number] {
			return missing, fmt.Errorf("check the privilege %s: %w", t.privilege, err)
		}
		seen := false
		for _, p := range missing {
			seen = seen || p == t.privilege
		}
		if !seen {
			missing = append(missing, t.privilege)
		}
		if t.privilege == "CREATE" || t.privilege == "DROP" {
			break
		}
	}
	return missing, nil
}

// checkPrivileges tells at once, and by name, what the user lacks.
func checkPrivileges(ctx context.Context, s *side, m method) error {
	var id [4]byte
	if _, err := rand.Read(id[:]); err != nil {
		return fmt.Errorf("name a database: %w", err)
	}
	var lacks []string
	onDatabases, err := try(ctx, s, databaseTrials, "txnfuzz_check_"+hex.EncodeToString(id[:]))
	if err != nil {
		return err
	}
	if len(onDatabases) > 0 {
		lacks = append(lacks, strings.Join(onDatabases, ", ")+" ON `txnfuzz\\_%`.*")
	}
	onServer, err := missingFor(ctx, s, m)
	if err != nil {
		return err
	}
	for _, p := range onServer {
		if !strings.Contains(p, " ON ") {
			p += " ON *.*"
		}
		lacks = append(lacks, p)
	}
	if len(lacks) == 0 {
		return nil
	}
	who, err := s.query(ctx, "SELECT CURRENT_USER()")
	if err != nil {
		return fmt.Errorf("ask for the user's name: %w", err)
	}
	return fmt.Errorf("user %s lacks the privileges %s", who[0][0], strings.Join(lacks, " and "))
}
