// Package web shows in a browser what a long command is doing, and serves the same numbers to Prometheus.
//
// A command gives it Boards, each of one moment; it knows nothing of campaigns. What it serves is made from the newest
// Board and from the history of its numbers, so that no request costs the campaign anything.
//
// Every address needs the token that is in the one that was printed: the first visit turns it into a cookie, which no
// other site is sent. What changes something (to stop, to confirm again) is a POST that must come from a page of this
// server.
package web
