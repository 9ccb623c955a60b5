// Package signal turns what a run was seen to do into a few coarse classes:
// behaviour that coverage counters cannot see when the server is another
// process. The campaign keeps inputs that show a rare class; Hit makes classes
// visible to the engines of native fuzzing and libFuzzer.
//
// Classes are coarse on purpose: kinds, levels, error codes and buckets, never
// values. Hashes of whole results would call one input in ten new.
package signal
