// Package history holds what a run of a case was seen to do. It is plain data:
// the harness fills it in, the oracle judges it, and it round-trips through
// encoding/json so that a recorded run can be judged again without a server.
//
// Each statement is an interval from its submission to its answer, on a logical clock, with the
// waits within it. Answers are as MySQL's text protocol gives them.
package history
