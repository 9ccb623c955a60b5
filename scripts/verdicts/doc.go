// Command verdicts is the net under every change of the oracle: it records
// histories of live servers once, and judges the same recorded histories with two
// builds of the oracle. README.md beside it says how it is used.
package main
