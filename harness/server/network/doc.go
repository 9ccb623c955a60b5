// Package network makes networks of our own, in which servers can be cut off from each other: a network namespace for
// each place, joined by a bridge, in a user namespace, so that no root is needed. Nothing of it has a name in the file
// system: the namespaces are gone when the processes in them are.
package network
