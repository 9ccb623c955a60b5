// Command judge judges recorded histories with the oracle that it was built
// with and prints a line of JSON for each: what scripts/verdicts compares between
// two builds. It uses nothing but the oracle's recorded form, so that it also
// builds inside an older revision.
package main
