// Package coretest tells stories to the core: text commands become events, and
// the actions that they cause are printed. See core/testdata for the stories.
//
// It also lets the core live in worlds where everything goes wrong, from a seed:
// see [Live] and [World]. An auditor with books of its own follows each, and each
// must come to its end once things go right again. It is for tests of the core.
//
// A cause is printed as people read it, with its kind behind it in brackets where that is
// not the same: "exit status 1 [trainable]".
//
// Every event goes through its record and back before it is applied, every step
// is followed by a check of the invariants, and every story is replayed from its
// record at the end; a difference is an error.
//
// Commands (a trial is its number; why=(some words) is a text):
//
//	start [rules=N] [trials=N] [cpu=N] [concurrency=N] [retries=N] [lost=N] [overcommit] [every=N] [keep=N]
//	      [score=NAME [mode=min]] [at_end] [memory] [saves] [quiet] [independent] [manual] [wait]
//	      [fail_fast] [fail_raise] [lenient] [require=NAME] [reach=NAME:X]
//	      [below=NAME:X] [iterations=N] [trial_time=D] [time=D] [trials_failed=N]
//	settings KEY=VALUE…           as start, for an experiment that goes on
//	host                          a (new) host takes the experiment up
//	node ID cpu=N [NAME=N…]       a node joins (more: others follow)          lost ID   it leaves
//	suggest N [wait|exhausted] [cpu=N] [late]           the searcher answers (late: the question before)
//	give [extra]                  a trial that nobody suggested
//	run N…                        the trials' attempts have started
//	result N NAME=X… [iter=K] [done] [checkpoint=PATH] [rule=(…)] [all=(…)] [attempt=K]
//	decide N VERDICT [until=K] [N VERDICT …]            the scheduler answers; its commands may
//	                              come with it, each in a line below
//	resume N | endtrial N | endall 0 | resize N cpu=K | exploit N donor=K [iter=K] [bare]   its commands
//	end N [why=(…)] [never] [badrestore] [attempt=K]    the attempt is over
//	saved N [iter=K] | held N | unsaved N why=(…)       the oldest save
//	exported N as=FORMAT [bytes=K] [why=(…)]            a model of the trial
//	stop N|all | pause N|all | unpause N|all | the user
//	reset N [scratch] [fresh] [unstarted] [steered]     it runs a trial again
//	interrupt | giveup why=(…) | offer | withdraw | tick
//	trials | usage | means        print what there is
//
// Any command may carry at=DURATION, the running time of its event.
package coretest
