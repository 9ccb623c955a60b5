package load

// operations tells whether clients send operations instead of SQL.
func (r *run) operations() bool { return false }
