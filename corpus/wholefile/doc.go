// Package wholefile writes files that are there whole or as they were before: a disk
// that is full, or a process that dies, leaves neither half a file nor an empty one
// where there was something.
//
// It takes a path and the content, or what writes it. Where a file cannot be written the
// error is an *Error, which names the path that the caller gave.
package wholefile
