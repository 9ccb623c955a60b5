// Package load runs many clients at full speed on a live DBMS, records what
// each of them saw as one history, and checks it in epochs while it runs.
//
// Submission one statement at a time, as the rest of the harness does it, shows
// exactly what a schedule does and no races. Here nothing is submitted in turn:
// what is known is what the clients recorded, so a workload is chosen in which
// the values themselves tell the order of the versions.
package load
