// Package hermitage reads the pages of Hermitage, a collection of tests of isolation levels, and makes a case of each
// test.
//
// https://github.com/ept/hermitage
package hermitage

// Ext is the ending of its pages.
const Ext = ".md"
