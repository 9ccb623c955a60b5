// Package engines chooses who replays a history: the rules table tells in which way a
// server's current reads work (rules.CurrentRead), and for each way there is an engine.
package engines
