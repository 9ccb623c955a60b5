// Package kv holds recorded histories of many clients on keys and values: the
// neutral form that every checker reads and every file format is turned into.
//
// A History is compact: 16 bytes an operation, 24 a transaction and 16 more for
// its times, and a list that was read costs nothing where it is a prefix of one
// read before, so five million operations take about 120 MB. A Record is the same transaction laid
// open, as readers, writers and clients use it.
package kv
