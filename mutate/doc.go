// Package mutate turns a stream of choices into test cases: fresh ones, and
// changed copies of stored ones. The stream is a fuzzer's input or comes from
// a seed; the same input gives the same case.
//
// It constructs conflicts between the transactions of a case by the strategies FSF, PSF and
// CTC of Fucci (PVLDB 18(6), 2025; https://github.com/Reverie4u/Fucci), weaves in the shortest
// patterns of anomalies (package pattern), and samples submitted orders in which the
// transactions overlap.
package mutate
