// Package sim runs whole experiments through the real host in a world that can be
// lived again: the real core, loop, record and recovery, the real searchers and
// schedulers in process, on a virtual clock and simulated disks, among trainables,
// nodes, plugins and users that misbehave. Everything is drawn from one seed, and
// happens in one goroutine: the same seed is the same life, byte by byte.
//
// An auditor (books.go, hearsay.go, audit.go, halving.go) keeps books of what was seen from
// outside: what the record acknowledged and synced, what reporters were told, what
// ran where, what plugins heard. It shares no code with the core but the words of
// events and actions, and compares after every step.
//
// A failing seed names the command that repeats it:
//
//	go test ./host/hosttest/sim -run TestSeeds -seed 1234 -v
//
// [Live] lives one life. Tests of the host that need more than a rig gives
// (processes, files of the operating system, signals) are in package hosttest.
package sim
