// Package sdktest helps authors to test trainables without a host.
//
// [Run] is a fake of [sdk.Run]. It records reports, answers like a host, and reports errors of a
// trainable that violates its contract: a report after the last one, a decreasing iteration, a
// duplicate metric, or a missing save function although Saves was declared.
//
//	func TestLearns(t *testing.T) {
//		trainable, traits := sdktest.Open(t, mine.Plugin, `{"epochs": 5}`)
//		run := sdktest.NewRun(t, traits, `{"lr": 0.1}`)
//		if err := run.Train(t.Context(), trainable); err != nil {
//			t.Fatal(err)
//		}
//		if got := run.Last("accuracy"); got < 0.9 {
//			t.Errorf("accuracy = %v", got)
//		}
//	}
//
// To test stopping, set StopAt or call [Run.Stop]. To test checkpoints, set SaveEvery, and continue
// from one with [Run.Resume]:
//
//	first := sdktest.NewRun(t, traits, params)
//	first.SaveEvery, first.StopAt = 3, 3
//	_ = first.Train(t.Context(), trainable)
//	second := first.Resume(first.Checkpoints()[0])
//	_ = second.Train(t.Context(), trainable)
//
// The fake has no processes, deadlines or credits. `tunehost conformance`, or its short form
// `tunehost plugins check`, checks that a plugin follows the protocol.
package sdktest
