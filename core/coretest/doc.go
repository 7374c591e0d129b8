// Package coretest runs stories on the core: text commands become events, and the resulting actions
// are printed. See core/testdata for the stories.
//
// It also runs the core in worlds where everything goes wrong, from a seed: see [Live] and [World]. An
// auditor with accounts of its own follows each world, and each must come to its end once nothing goes
// wrong any more. It is for tests of the core.
//
// A cause is printed as text for people, followed by its kind in brackets if that differs: "exit
// status 1 [trainable]".
//
// Every event is encoded and decoded before it is applied, every step is followed by a check of the
// invariants, and every story is replayed from its record at the end; a difference is an error.
//
// Commands (a trial is its number; why=(some words) is a text):
//
//	start [rules=N] [trials=N] [cpu=N] [concurrency=N] [retries=N] [lost=N] [overcommit] [every=N] [keep=N]
//	      [score=NAME [mode=min]] [at_end] [memory] [saves] [quiet] [independent] [manual] [wait]
//	      [fail_fast] [fail_raise] [lenient] [require=NAME] [reach=NAME:X]
//	      [below=NAME:X] [iterations=N] [trial_time=D] [time=D] [trials_failed=N] [judged] [timed]
//	      [leases [idle=D] [own_requests] [most=N]] [unleased] [group]
//	settings KEY=VALUE…           like start, for an experiment that continues
//	host                          a (new) host takes over the experiment
//	lease ID granted on=n1 [gpu=0] | on=(n1,n2) [gpu=(0,1)]   the engine grants a lease (a GPU of each node)
//	lease ID pending why=(…) | refused why=(…) | ending in=D | lost why=(…)   other messages about a lease
//	node ID cpu=N [NAME=N…]       a node joins (more: others follow)          lost ID   it leaves
//	suggest N [wait|exhausted] [cpu=N] [late]           the searcher answers (late: the question before)
//	give [extra]                  a trial that no searcher suggested
//	run N…                        the trials' attempts have started
//	result N NAME=X… [iter=K] [done] [checkpoint=PATH] [rule=(…)] [all=(…)] [attempt=K]
//	decide N VERDICT [until=K] [N VERDICT …]            the scheduler answers; its commands may
//	                              follow, each in a line of its own
//	resume N | endtrial N | endall 0 | resize N cpu=K | exploit N donor=K [iter=K] [bare]   its commands
//	end N [why=(…) | instead=(…)] [never] [badrestore] [attempt=K]    the attempt is over
//	saved N [iter=K] | held N | unsaved N why=(…) [given-up]  the oldest save
//	exported N as=FORMAT [bytes=K] [why=(…)] [given-up] a model of the trial
//	stop N|all | pause N|all | unpause N|all            the user
//	reset N [scratch] [fresh] [unstarted] [steered]     the user runs a trial again
//	interrupt | giveup why=(…) | offer | withdraw | tick
//	judged [all=(…)]              the host has tested the budget's expression (all: it holds)
//	trials | usage | means | leases   print the state
//
// Any command may have at=DURATION, the running time of its event.
package coretest
