// Command ablation measures what guidance is worth: the native engine,
// libFuzzer, the campaign with its signal and without, and random inputs, on the
// same targets for the same time, one after the other.
//
//	go run -tags notidb ./scripts/ablation run      builds, runs what is not in cells.jsonl
//	go run -tags notidb ./scripts/ablation table    writes README.md and behaviours.svg of it
//
// A run can be stopped and started again: a cell that is done is not run again.
package main
