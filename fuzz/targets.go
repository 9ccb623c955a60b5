package fuzz

import (
	"context"
	"strings"

	"github.com/txnfuzz/txnfuzz/harness"
)

// AllTargets is the name that stands for every target to be had here.
const AllTargets = "all"

// variants are the settings, beside the vendor's defaults, that change what a
// server promises, so that its cases must be judged under both.
var variants = []struct{ target, setting string }{
	{"mariadb:10.11", "snapshot=on"},
	{"mariadb:11.8", "snapshot=off"},
	{"mysql:9.7", "binlog=off"},
}

// Installed returns the targets that can be opened here, each release by its
// own name and followed by its variants, in a fixed order.
func Installed(ctx context.Context) []string {
	var out []string
	for _, t := range harness.Available(ctx) {
		// A family without a version is another name for its newest release.
		if !t.Available || t.Name != DefaultTarget && !strings.Contains(t.Name, ":") {
			continue
		}
		out = append(out, t.Name)
		for _, v := range variants {
			if v.target == t.Name {
				out = append(out, t.Name+","+v.setting)
			}
		}
	}
	return out
}
