package server

import (
	"context"
	"slices"
	"strings"

	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/rules"
)

// Doubtful returns the options of the target that no rule speaks of and that may
// matter. What the tool itself sets of a private instance changes no answer.
func (b *private) Doubtful() []string {
	return slices.DeleteFunc(b.spec.sortedKeys(), func(name string) bool { return rules.ClassOf(name) != rules.Unclassed })
}

// Doubtful returns what differs on somebody else's server.
func (b *foreign) Doubtful() []string { return b.doubtful }

// changed asks a server which of its variables are not as the vendor ships them.
// https://dev.mysql.com/doc/refman/9.7/en/performance-schema-variables-info-table.html
// https://mariadb.com/docs/server/reference/system-tables/information-schema/information-schema-tables/information-schema-system_variables-table
var changed = map[history.DBMS]string{
	history.MySQL: "SELECT LOWER(VARIABLE_NAME) FROM performance_schema.variables_info WHERE VARIABLE_SOURCE <> 'COMPILED'",
	history.MariaDB: "SELECT LOWER(VARIABLE_NAME) FROM information_schema.SYSTEM_VARIABLES " +
		"WHERE GLOBAL_VALUE IS NOT NULL AND GLOBAL_VALUE <> DEFAULT_VALUE AND GLOBAL_VALUE_ORIGIN NOT IN ('COMPILE-TIME', 'AUTO')",
}

// vendorValues holds defaults for servers that do not tell which variables were
// changed: those whose other values are known to change answers.
var vendorValues = map[string][]string{
	"auto_increment_increment": {"1"}, "auto_increment_offset": {"1"}, "sql_safe_updates": {"OFF", "0"}, "div_precision_increment": {"4"},
	"collation_server": {"utf8mb4_0900_ai_ci", "utf8mb4_general_ci", "utf8mb4_uca1400_ai_ci", "utf8mb4_bin"},
	"sql_mode": {
		"ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION",
		"ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_AUTO_CREATE_USER,NO_ENGINE_SUBSTITUTION",
		"STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_AUTO_CREATE_USER,NO_ENGINE_SUBSTITUTION",
	},
}

// doubtful asks a server for its variables that differ from the vendor's default
// and are of no class. A server that does not tell which were changed is asked for
// those of vendorValues.
func doubtful(ctx context.Context, s *side, dbms history.DBMS) ([]string, error) {
	var out []string
	if sql := changed[dbms]; sql != "" {
		if rows, err := s.query(ctx, sql); err == nil {
			for _, r := range rows {
				if name := string(r[0]); rules.ClassOf(name) == rules.Unclassed {
					out = append(out, name)
				}
			}
			slices.Sort(out)
			return slices.Compact(out), nil
		}
	}
	names := make([]string, 0, len(vendorValues))
	for name := range vendorValues {
		names = append(names, name)
	}
	slices.Sort(names)
	rows, err := s.query(ctx, "SHOW GLOBAL VARIABLES WHERE Variable_name IN ('"+strings.Join(names, "','")+"')")
	if err != nil {
		return nil, err
	}
	for _, r := range rows {
		name := strings.ToLower(string(r[0]))
		if !slices.Contains(vendorValues[name], string(r[1])) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out, nil
}
