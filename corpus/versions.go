package corpus

import "slices"

// versionsKey is the header line `row-versions`, which has PostgreSQL tell the versions of the rows that the
// statements read and write. Other servers run the case as if the line were not there.
const versionsKey = "row-versions"

// versionsTold is the only value of that line.
const versionsTold = "told"

const wantVersions = "want row-versions: told, or no such line"

// TellsVersions reports whether the header asks for the versions of rows.
func (c *Case) TellsVersions() bool {
	value, _ := c.Get(versionsKey)
	return value == versionsTold
}

// SetVersions has a case ask for the versions of rows, or not.
func (c *Case) SetVersions(told bool) {
	c.Header = slices.DeleteFunc(slices.Clone(c.Header), func(f Field) bool { return f.Key == versionsKey })
	if told {
		c.Header = append(c.Header, Field{versionsKey, versionsTold})
	}
}
