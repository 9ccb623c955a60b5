// Package infer turns a recorded history into a dependency graph and judges it:
// which anomalies it shows, which consistency models hold and which fail.
//
// It takes a kv.History and gives a Result; the models and anomalies are those of package
// model. What a list shows of its order, or a register that is read before it is
// written, is known; the order of blind writes is searched for (solve.go).
package infer
