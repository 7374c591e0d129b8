// Package recorded reads an experiment's record: its events, one after the other, up
// to what is whole, also while a host writes it. Whoever wants to know what is in a
// record goes this way; what to make of its events is the caller's to say.
//
//	err := recorded.Walk(dir.Journal(), func(x recorded.Entry) error {
//		machine.Apply(x.At, x.Event)
//		return nil
//	})
//
// A record may have right checksums and be of no experiment, because somebody has made
// it so. The core refuses such events with a panic, since no host records them. Here
// that becomes an error, as does all else that is wrong with a record; each says where.
package recorded
