package solve

import (
	"slices"
	"strings"

	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// SQLMode is a set of sql_mode flags, as far as they change results.
type SQLMode uint16

// The modes that the solver knows.
const (
	Strict SQLMode = 1 << iota
	ErrorForDivisionByZero
	NoZeroDate
	NoZeroInDate
	NoUnsignedSubtraction
	PadCharToFullLength
	PipesAsConcat
	AnsiQuotes
	OnlyFullGroupBy
	NoAutoValueOnZero
)

// Dialect identifies a server as far as the effect of a single statement
// depends on it.
type Dialect struct {
	DBMS history.DBMS
	// Version is the server's release as major*10000 + minor*100 + patch, for
	// TiDB that of TiDB itself.
	Version int
	Mode    SQLMode
	// Connection is the collation of string literals, Database that of columns
	// declared without one.
	Connection, Database Collation
	quirks               quirkSet
	// stampsNull is what Server.StampsNull says.
	stampsNull bool
}

func (d Dialect) connection() Collation { return d.Connection }

// DialectOf returns the dialect of a server. Settings that are missing mean the
// vendor's default; collation_connection that of go-sql-driver's handshake
// (utf8mb4_general_ci, which MariaDB from 11.5 maps to its own default).
func DialectOf(s history.Server) Dialect {
	d := Dialect{DBMS: s.DBMS, Version: parseVersion(s.DBMS, s.Version), stampsNull: s.StampsNull()}
	d.quirks = quirkBits[s.DBMS]
	for _, l := range versionLines {
		if slices.Contains(l.dbms, d.DBMS) && d.Version < l.until {
			d.quirks = d.quirks.with(l.quirk)
		}
	}
	if d.is(keepsNegativeZero) {
		d.quirks = d.quirks.without(noNegativeZero)
	}
	d.Connection, d.Database = GeneralCI, defaultCollation(d)
	if c, ok := collationNames[s.Settings["collation_connection"]]; ok {
		d.Connection = c
	} else if s.DBMS == history.MariaDB && d.Database == UCA1400 {
		d.Connection = UCA1400
	}
	if c, ok := collationNames[s.Settings["collation_database"]]; ok {
		d.Database = c
	}
	mode, ok := s.Settings["sql_mode"]
	if !ok {
		mode = defaultModes[s.DBMS]
	}
	for _, m := range strings.Split(mode, ",") {
		d.Mode |= modeNames[strings.ToUpper(strings.TrimSpace(m))]
	}
	return d
}

var defaultModes = map[history.DBMS]string{
	// https://docs.pingcap.com/tidb/stable/sql-mode/
	history.TiDB: "ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_AUTO_CREATE_USER,NO_ENGINE_SUBSTITUTION",
	// https://dev.mysql.com/doc/refman/9.7/en/sql-mode.html
	history.MySQL: "ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION",
	// https://mariadb.com/docs/server/server-management/variables-and-modes/sql_mode
	history.MariaDB: "STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_AUTO_CREATE_USER,NO_ENGINE_SUBSTITUTION",
}

var modeNames = map[string]SQLMode{
	"STRICT_TRANS_TABLES":        Strict,
	"STRICT_ALL_TABLES":          Strict,
	"ERROR_FOR_DIVISION_BY_ZERO": ErrorForDivisionByZero,
	"NO_ZERO_DATE":               NoZeroDate,
	"NO_ZERO_IN_DATE":            NoZeroInDate,
	"NO_UNSIGNED_SUBTRACTION":    NoUnsignedSubtraction,
	"PAD_CHAR_TO_FULL_LENGTH":    PadCharToFullLength,
	"PIPES_AS_CONCAT":            PipesAsConcat,
	"ANSI_QUOTES":                AnsiQuotes,
	"ONLY_FULL_GROUP_BY":         OnlyFullGroupBy,
	"NO_AUTO_VALUE_ON_ZERO":      NoAutoValueOnZero,
	"TRADITIONAL":                Strict | ErrorForDivisionByZero | NoZeroDate | NoZeroInDate,
	"ANSI":                       PipesAsConcat | AnsiQuotes | OnlyFullGroupBy,
}

// parseVersion reads the release number in front of a version string; TiDB
// reports "8.0.11-TiDB-v8.2.0", of which the part behind TiDB-v counts.
func parseVersion(db history.DBMS, s string) int {
	if db == history.TiDB {
		if i := strings.Index(s, "TiDB-v"); i >= 0 {
			s = s[i+len("TiDB-v"):]
		}
	}
	v, part, parts := 0, 0, 0
	for i := 0; i <= len(s) && parts < 3; i++ {
		if i < len(s) && s[i] >= '0' && s[i] <= '9' {
			part = part*10 + int(s[i]-'0')
			continue
		}
		v, part, parts = v*100+part, 0, parts+1
		if i == len(s) || s[i] != '.' {
			break
		}
	}
	for ; parts < 3; parts++ {
		v *= 100
	}
	return v
}
