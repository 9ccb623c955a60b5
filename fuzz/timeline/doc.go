// Package timeline tells a run as a sequence of moments: who sent what, who
// waited for whom, what came back and what was promised instead. Everything
// that shows a run to people, in whatever form, starts here.
//
// It takes a Run (a case, its history and the verdict) and gives a Timeline. What was promised
// is the account of package oracle; nothing is run or judged again.
package timeline
