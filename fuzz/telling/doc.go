// Package telling tells people. It takes replays, recorded runs, stored cases and the report
// of a campaign, and gives tables, matrices and pages. Shell is the one that listens,
// too: there a person runs a case statement by statement.
package telling
