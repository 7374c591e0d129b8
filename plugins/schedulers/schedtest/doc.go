// Package schedtest tests schedulers: it is for the tests of the bundled ones,
// and of any scheduler written in Go.
//
// [Stories] runs text files that tell events and show the decisions, [Sim] plays the
// host with workers that run trials and [DrawSim] draws one, [Cuts] tells a history in
// other batches than it was told in, and [Checked] holds a second implementation against
// each answer.
// [Mixed] is a space with a parameter of each form.
package schedtest
