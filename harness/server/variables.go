package server

import "maps"

// Variables returns the server variables that the name of a private target sets,
// by name with underscores: innodb_snapshot_isolation, not snapshot. Nil for the
// names of other targets.
func Variables(target string) map[string]string {
	s, err := parseSpec(target)
	if err != nil {
		return nil
	}
	return maps.Clone(s.options)
}
