// Package frames panics below stack frames that an identity decides on.
//
// Fleets tell crashes apart by the functions on top of the stack: ClusterFuzz by
// the first three, with numbers taken out (src/clusterfuzz/stacktraces). All
// findings of one fuzz target would be one crash there. Here the first two
// frames spell eight bits of a hash, so that different findings differ but for
// one pair in 256.
package frames
