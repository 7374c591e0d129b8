// Package conformance is what every plugin must do, in any language and on any
// transport, as checks: for the authors of plugins and of SDKs, who run it in
// their own tests or as `tunehost conformance PATH`.
//
//	func TestConformance(t *testing.T) {
//		conformance.RunSearcher(t, conformance.InProcess(mine.Plugin))
//	}
//
// Checks are data: suites/*.yaml names each by a path, writes down the rule that
// it enforces and where that is from, and gives parameters to a verb, which is the
// code that looks. A check passes, fails, or is not applicable: to a plugin that
// makes no snapshots there is nothing to say about them.
//
// The suite is the host that a plugin meets: it plays whole experiments, with
// trials that fail, vanish, diverge and are run again, and looks at each answer.
// What it does is a function of the check alone, so that a failure comes again.
//
// Package reference has a small plugin of each kind that passes, and package
// broken has plugins that fail, each exactly as its expect.yaml says.
package conformance
