// Package gitbisect finds the commit of a server's repository with which a finding came, or with which it went.
//
// It takes a repository, a command that builds a server from a checkout of it, two commits, and a function that says
// what a program does with the finding; it gives a Result. Git itself chooses the commits (git bisect); they are checked
// out in a worktree of their own, so that the user's checkout, index and bisection stay as they are. What the command
// installs is kept in a folder by commit, for the next finding.
//
// It knows no case and no server.
package gitbisect
