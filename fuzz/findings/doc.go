// Package findings keeps what is wrong. It takes trials from whoever runs cases and gives
// files: a Keeper saves each cause once, runs it again to see how surely it shows, and
// reduces it; a Store is the folder of such files, a Baseline what is not to be one.
//
// What was kept is run again here, too: a replay, the comparison with the verdicts that
// the header of a case records, and the reduction of one file.
package findings
