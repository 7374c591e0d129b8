// Package sim runs whole experiments through the real host in a reproducible world: the real core,
// loop, record and recovery, the real searchers and schedulers in process, on a virtual clock and
// simulated disks, among trainables, nodes, plugins and users that misbehave. Everything is drawn from
// one seed and happens in one goroutine: the same seed gives the same run (a "life"), byte by byte.
//
// An auditor keeps books of what was seen from outside, and compares after every step. It shares no
// code with the core except the types of events and actions:
//
//   - books_test.go: what the record acknowledged and synced, and what each host found of it;
//     what ran where;
//   - results_test.go: what was reported, and that the record has all of it unchanged;
//   - answers_test.go: what plugins were asked and answered, and that the record has it;
//   - hearsay_test.go: what plugins are told; reports_test.go: what reporters are told;
//   - audit_test.go: what holds after each step, and at the end;
//   - leases_test.go, leasebook_test.go: what trials run on, if an engine grants it;
//   - halving_test.go, rulebook_test.go: a second implementation of the rules of asha and of plateaus.
//
// In a third of the wide worlds trials run on leases of an engine (cluster_test.go), which queues,
// preempts, loses and partitions nodes, refuses, and survives hosts; wire_test.go is between it and the
// host. With -leases all worlds are like this.
//
// Users continue with other settings (settings_test.go); width_test.go has what the world adds to its beginning.
// Checkpoints are on a simulated disk, but not in host/storage, which has its own tests of power
// losses; processes are driven by trainable_test.go, not by host/attempt.
//
// A failing seed names the command that repeats it:
//
//	go test ./host/hosttest/sim -run TestSeeds -seed 1234 -v
//
// Live (world_test.go) runs one life. Tests of the host that need more than a harness (processes, files of the
// operating system, signals) are in package hosttest.
package sim
