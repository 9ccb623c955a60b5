// Package spelling takes what a person wrote and the words that would have been right, and
// gives the one that was meant, for a message of error; and it puts a number before a noun.
package spelling
