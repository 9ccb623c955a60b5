package target

import "regexp"

var (
	// leaves is what a node writes that leaves its cluster by itself, since it cannot apply what came.
	// https://dev.mysql.com/doc/refman/9.7/en/group-replication-responses-failure-exit.html
	// https://mariadb.com/docs/galera-cluster/high-availability/recovering-a-galera-cluster
	leaves = regexp.MustCompile(`will now leave the group|Inconsistency detected:|Node consistency compromised, leaving cluster`)
	// applies is what it could not apply.
	applies = regexp.MustCompile(`Could not execute \w+ event on table [^;]*; [^;]*, Error_code: \d+`)
)

// leftCluster tells from the error logs of all nodes why one has left its cluster; empty: none has.
func leftCluster(log string) string {
	if !leaves.MatchString(log) {
		return ""
	}
	if why := applies.FindString(log); why != "" {
		return "a member leaves: " + OneLine(ownDatabase.ReplaceAllString(why, "db."))
	}
	return "a member leaves: " + leaves.FindString(log)
}

// ownDatabase is a database of ours.
var ownDatabase = regexp.MustCompile(`\btxnfuzz_\w+\.`)
