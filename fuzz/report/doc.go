// Package report writes the findings of a run as one HTML page, and one of them
// as a drawing.
//
// It takes recorded runs, each with its verdict, and gives a page that needs no other file,
// or an SVG of one interleaving. It runs and judges nothing.
package report
