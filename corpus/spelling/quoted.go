package spelling

// QuotedEnd returns the index behind the quoted text that begins at i of some SQL, the end of the SQL if it does not end. A
// quote within is doubled or, but for a name in backquotes, behind a backslash.
func QuotedEnd(sql string, i int) int {
	q := sql[i]
	for i++; i < len(sql); i++ {
		switch {
		case sql[i] == '\\' && q != '`':
			i++
		case sql[i] == q && i+1 < len(sql) && sql[i+1] == q:
			i++
		case sql[i] == q:
			return i + 1
		}
	}
	return len(sql)
}
