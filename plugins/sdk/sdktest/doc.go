// Package sdktest helps the authors of trainables to test them without a host.
//
// [Run] is a fake of [sdk.Run]: it records what is reported, answers as a host
// would, and complains about a trainable that breaks its contract (a report
// after the last one, an iteration that goes back, a metric named twice, a save
// that is not possible where Saves was promised).
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
// To test stopping set StopAt or call [Run.Stop]; to test checkpoints set SaveEvery, and go on
// from one with [Run.Resume]:
//
//	first := sdktest.NewRun(t, traits, params)
//	first.SaveEvery, first.StopAt = 3, 3
//	_ = first.Train(t.Context(), trainable)
//	second := first.Resume(first.Checkpoints()[0])
//	_ = second.Train(t.Context(), trainable)
//
// A fake is no host: it has no processes, deadlines or credits. Whether a
// plugin keeps the protocol is checked by `tunehost conformance`, of which `tunehost plugins
// check` is the short form.
package sdktest
