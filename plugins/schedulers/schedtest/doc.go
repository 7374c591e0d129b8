// Package schedtest tests schedulers: the bundled ones, and any scheduler written in Go.
//
// [Stories] runs text files with events and expected decisions, [Sim] simulates the host with
// workers that run trials, [DrawSim] draws a simulation, [Cuts] repeats a history in other batches,
// and [Checked] compares each answer with a second implementation. [Mixed] is a space with a
// parameter of each form.
package schedtest
