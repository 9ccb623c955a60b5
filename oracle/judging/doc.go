// Package judging is the way from a history to its verdict, and the only writer of one.
//
// A Judging is a value that is resumed: it is given a case and what was seen of it, tells by Next what it wants of
// the server (a Request), is given that, and ends with a verdict and the path that led to it. It runs nothing itself;
// who runs cases answers, and says of its own accord only that the server died, or that txnfuzz could not go on.
//
// These are the states, in their order. Each is entered only if the sentence beside it holds, and left when it has said
// what it can; each may change the verdict of those before it.
//
//	state       it is entered                                 and left, since
//	rules       always                                        the judges of package oracle need no server: promise,
//	                                                          deviations, and what excludes an anomaly
//	computed    if what they lack is the meaning of SQL       the server has answered what statements do on the rows
//	                                                          that they are to see, or cannot
//	solver      if the server has computed all of it          the oracle's own computing comes to the same, or one of
//	                                                          the two is wrong, and nobody knows which
//	promise     if there is no verdict yet                    whole statements and transactions, run alone, answer alike
//	                                                          on some state that they were promised, or on none
//	silent      if a violation was seen while a statement     it shows again in one of three more runs, or what came
//	            neither answered nor waited                   first in this one is not known
//	defaults    if a violation was found beside settings of   it shows with the vendor's values, too, or it may be the
//	            which no rule speaks                          setting's doing
//	alone       if the rules found a wrong answer             the statement answers otherwise with nothing else open, or
//	                                                          it is no matter of isolation
//	values      if the rules found wrong rows or counts       they are wrong, too, by what the server computes of every
//	                                                          statement, or the oracle computes SQL wrongly
//
// What was read on a replica while the case ran is judged before all of them: if that is wrong it is the verdict.
//
// The last four only take a violation back, and never make one; the first four are the only ones to make one. A
// history in which a statement was held inside of the server is left by the last two as it is: no rule had a say in
// it.
package judging
