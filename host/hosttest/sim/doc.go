// Package sim runs whole experiments through the real host in a world that can be
// lived again: the real core, loop, record and recovery, the real searchers and
// schedulers in process, on a virtual clock and simulated disks, among trainables,
// nodes, plugins and users that misbehave. Everything is drawn from one seed, and
// happens in one goroutine: the same seed is the same life, byte by byte.
//
// An auditor keeps books of what was seen from outside, and compares after every
// step. It shares no code with the core but the words of events and actions:
//
//   - books.go: what the record acknowledged and synced, and what each host found of it;
//     what ran where;
//   - results.go: what was reported, and that all of it is in the record as it was;
//   - answers.go: what plugins were asked and said, and that it is what is recorded;
//   - hearsay.go: what plugins hear; reports.go: what reporters are told;
//   - audit.go: what holds after each step, and at the end;
//   - halving.go, rulebook.go: rules of asha and of plateaus, written once more.
//
// Users go on with other settings (settings.go); width.go is what the world has beside
// what it began with. Checkpoints are on a simulated disk, but not in host/storage,
// which has its own losses of power; processes are told by trainable.go, not by
// host/training.
//
// A failing seed names the command that repeats it:
//
//	go test ./host/hosttest/sim -run TestSeeds -seed 1234 -v
//
// [Live] lives one life. Tests of the host that need more than a rig gives
// (processes, files of the operating system, signals) are in package hosttest.
package sim
