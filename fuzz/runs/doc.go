// Package runs writes what a series of runs came to as one HTML page.
//
// It takes the JSON files that `txnfuzz run --json` writes, and gives a page that needs no other file: how each target
// stands, what is new since its last run, its numbers from run to run, and its findings. It runs and judges nothing.
package runs
