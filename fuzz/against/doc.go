// Package against compares what two servers did with the same case. Each history is
// followed as long as the other takes the same course; each difference is attributed to
// what is known of the two servers, so that what is left is worth a look.
//
// It is pure: two histories and their verdicts go in, differences come out.
package against
