package network

// UnavailableError says that this machine or this user can have no network of its own.
type UnavailableError struct{ Err error }

func (e *UnavailableError) Error() string {
	return "no network of our own can be made here: " + e.Err.Error()
}

// Unwrap returns what is in the way.
func (e *UnavailableError) Unwrap() error { return e.Err }
