package infer

import (
	"github.com/txnfuzz/txnfuzz/oracle/kv"
	"github.com/txnfuzz/txnfuzz/oracle/model"
)

// SearchOnly decides every order of blind writes by search.
var SearchOnly = Options{searchOnly: true}

// ClockFirst asks the clock for every order of blind writes before anything else.
var ClockFirst = Options{clockFirst: true}

// Holes counts the places of reads by conditions that nothing but the rest of a history
// tells.
func Holes(h *kv.History) int {
	return len(inferPredicates(h, &anomalies{keep: 1, groups: map[model.Kind]*Group{}}).holes)
}
