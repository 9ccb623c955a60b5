// Package target opens the servers that cases run on. It takes the name of a target, such
// as mariadb:11.8, and a case with levels for its sessions, and gives a Trial: what was
// seen, and the verdict on it.
//
// A verdict is the oracle's, after what only the server can tell has been asked of it: what
// SQL computes that the oracle does not know, whether an answer is wrong without company,
// too, and whether it is only a setting that makes it another one. A server that dies is
// replaced, and its death is a verdict. What may take down this process runs in a child.
package target
