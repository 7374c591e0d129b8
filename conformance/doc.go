// Package conformance has the rules for every plugin, in any language and on any transport, as
// checks. Authors of plugins and SDKs run it in their own tests or as `tunehost conformance PATH`.
//
//	func TestConformance(t *testing.T) {
//		conformance.RunSearcher(t, conformance.InProcess(mine.Plugin))
//	}
//
// Checks are data: suites/*.yaml has the name of each, the rule that it enforces, the source of the
// rule, and the parameters of a verb, which is the code of the check. A check passes, fails, is
// not applicable (for example, checks of snapshots do not apply to a plugin without snapshots), or is late, where the
// plugin was not ready in time.
//
// The suite simulates the host: it runs whole experiments, with trials that fail, vanish, diverge
// and are run again, and checks each answer. It is deterministic, so a failure is reproducible.
//
// Package reference has a small plugin of each kind that passes. Package broken has plugins that
// fail, each exactly as listed in its expect.yaml.
package conformance
