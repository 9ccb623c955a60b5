package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
)

// release is the name of a release; scripts/release sets it with -ldflags -X.
var release string

// versionText says which commit of txnfuzz this is, and of TiDB if it is built in.
func versionText() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	set := map[string]string{}
	for _, s := range info.Settings {
		set[s.Key] = s.Value
	}
	name := release
	if name == "" {
		name = strings.Trim(info.Main.Version, "()")
	}
	if name == "" {
		name = "devel"
	}
	var parts []string
	if c := set["vcs.revision"]; c != "" {
		commit := "commit " + c
		if t := set["vcs.time"]; t != "" {
			commit += " of " + t
		}
		if set["vcs.modified"] == "true" {
			commit += ", changed"
		}
		parts = append(parts, commit)
	}
	tidb := "without TiDB"
	for _, m := range info.Deps {
		// The parser alone is another module, which is always there.
		if m.Path == "github.com/pingcap/tidb" {
			tidb = "with TiDB " + m.Version
		}
	}
	parts = append(parts, tidb, runtime.Version()+" "+runtime.GOOS+"/"+runtime.GOARCH)
	return fmt.Sprintf("%s (%s)", name, strings.Join(parts, "; "))
}
