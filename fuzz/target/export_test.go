package target

// AskForAll has the server asked for what is plain, too.
func (t *Target) AskForAll() { t.plain.always = true }
