// Package property holds what is true of every input, whatever its bytes are:
// the bodies of the fuzz targets, which native fuzzing and libFuzzer share.
// Each returns what is not true as an error, is deterministic, and takes
// milliseconds for an input of 4 KiB.
package property
