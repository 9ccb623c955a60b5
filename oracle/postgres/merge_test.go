package postgres

import (
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus/stmt"
)

// TestOneRow tells which statements are a MERGE or an upsert of one row of values.
func TestOneRow(t *testing.T) {
	const merge = " ON t.a = s.a WHEN MATCHED THEN UPDATE SET b = s.b WHEN NOT MATCHED THEN INSERT VALUES (s.a, s.b)"
	for sql, want := range map[string]struct{ merges, upserts bool }{
		"MERGE INTO t USING (VALUES (1, ABS(2))) AS s (a, b)" + merge:                        {true, false},
		"MERGE INTO t USING (VALUES (1, 2), (3, 4)) AS s (a, b)" + merge:                     {false, false},
		"MERGE INTO t USING (SELECT 1, (2)) AS s (a, b)" + merge:                             {false, false},
		"MERGE INTO t USING u AS s" + merge:                                                  {false, false},
		"MERGE INTO t USING (VALUES (1, 2)) AS s (a, b)" + merge + " RETURNING a":            {false, false},
		"MERGE INTO t USING (VALUES (1)) AS s (a) ON t.a = s.a WHEN MATCHED THEN DELETE":     {false, false},
		"INSERT INTO t VALUES (1, (2)) ON CONFLICT (a) DO UPDATE SET b = 1 RETURNING *":      {false, true},
		"INSERT INTO t (a, b) VALUES (1, 2) ON CONFLICT (a, b) DO UPDATE SET b = EXCLUDED.b": {false, true},
		"INSERT INTO t VALUES (1, 2), (3, 4) ON CONFLICT (a) DO UPDATE SET b = 1":            {false, false},
		"INSERT INTO t VALUES (1, 2) ON CONFLICT (a) DO NOTHING":                             {false, false},
		"INSERT INTO t VALUES (1, 2) ON CONFLICT (a) WHERE a > 0 DO UPDATE SET b = 1":        {false, false},
		"INSERT INTO t SELECT 1, 2 ON CONFLICT (a) DO UPDATE SET b = 1":                      {false, false},
		"INSERT INTO t VALUES (1, 2)":                                                        {false, false},
	} {
		raw := &stmt.RawStmt{SQL: sql}
		if merges, upserts := mergesOne(raw), upsertsOne(raw); merges != want.merges || upserts != want.upserts {
			t.Errorf("%s: merges %t, upserts %t", sql, merges, upserts)
		}
	}
}
