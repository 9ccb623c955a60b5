// Package embedded runs a TiDB server inside the process, as the target
// "embedded". Import it for its registration; with the build tag notidb it is
// empty, and nothing of TiDB but its parser is compiled.
package embedded
