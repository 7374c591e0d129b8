package attempt

import (
	"context"

	"github.com/tunehost/tunehost/host/exec"
	"github.com/tunehost/tunehost/host/storage"
	"github.com/tunehost/tunehost/host/storage/nolink"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// Checkpoints moves checkpoints and models between the place where a trial runs and the
// experiment's directory. Paths that the trainable gets or reports are paths at the trial's
// place. All other paths are the host's.
//
// [SharedFiles] is the implementation for places that share the host's file system: both paths
// are the same, and only the checkpoint that a trial continues from is copied. Other
// implementations must keep the contract of each method in these ways:
//
//   - If the experiment's storage is a URL that the place reaches with credentials of its own, it
//     reads and writes the storage directly. Commit has the place write the files, looks whether
//     they are there, and then commits the manifest on the host, so that no reader sees half a
//     checkpoint. Fetch has the place compare each file with the manifest.
//   - Otherwise files go over the connection to the place. Commit and Fetch continue an
//     interrupted transfer, and the receiver compares checksums. Partial files stay in a staging
//     folder, which the next host removes.
//
// In both cases a call fails at once when the place is lost: the trial then continues from its
// previous checkpoint. After a restart, the host looks for unfinished checkpoints in the
// experiment's directory only (storage.Dir.Retake).
type Checkpoints interface {
	Placer
	Saver
	Fetcher
}

// Placer prepares what an attempt needs at its place, where places are machines of their own
// (Options.Apart).
type Placer interface {
	// Prepare makes the trial's directory at the place, and changes the trial's paths to those there.
	Prepare(at exec.Place, x *sdk.Trial) error
	// Leave is called when the attempt has ended, with the trial as Prepare left it.
	Leave(at exec.Place, x *sdk.Trial)
	// Close is called when the host ends: nothing waits for a place any longer.
	Close()
}

// Saver keeps what trainables save. If diskspace.IsFull holds for an error, the driver calls the
// same method again when there is room.
type Saver interface {
	// Stage makes an empty folder at the trial's place and returns its path there. The
	// trainable saves into it. If quick is set, Stage must not wait for the place, since other
	// trials of the driver would wait too: it does nothing and returns false, and the driver calls
	// it again without quick.
	Stage(x Item, quick bool) (dir string, done bool, err error)
	// Take moves or copies a checkpoint that the trainable made at a path of its own into that
	// folder. Afterwards the trainable may reuse the path. If quick is set and a rename is not
	// enough, Take does nothing and returns false; the driver calls it again without quick.
	Take(x Item, path string, quick bool) (done bool, err error)
	// Commit completes the staged checkpoint, or a model that the trainable left. When it
	// returns, the files survive a loss of power at the host and at the place (B-051). No
	// reader sees an incomplete one.
	Commit(x Item, m storage.Manifest) (bytes int64, err error)
}

// Fetcher copies checkpoints to the trials that continue from them.
type Fetcher interface {
	// Fetch copies a complete checkpoint to a path at the trial's place. The trial may change
	// the copy. A *storage.DamagedError says that the checkpoint's files have changed. The copy is given up when s
	// is; nil: it is not.
	Fetch(at exec.Place, checkpoint, path string, s *storage.Saving) error
	// Discard removes the copy.
	Discard(at exec.Place, path string) error
}

// Item is a checkpoint or a model of a trial.
type Item struct {
	Place  exec.Place
	Dir    string // of the trial
	ID     uint32
	Format string // of a model; "" for a checkpoint
	// Saving ends once the save is given up; nil: it is not.
	Saving *storage.Saving
}

// SharedFiles implements Checkpoints for trials that see the host's file system under the same
// paths.
type SharedFiles struct {
	Storage storage.Dir
	// Bring fetches those files of a checkpoint that are only in the experiment's storage; nil: there is no storage.
	Bring func(ctx context.Context, checkpoint string) error
}

// Prepare implements Placer: the trial's directory is the host's, which is there.
func (SharedFiles) Prepare(exec.Place, *sdk.Trial) error { return nil }

// Leave implements Placer.
func (SharedFiles) Leave(exec.Place, *sdk.Trial) {}

// Close implements Placer.
func (SharedFiles) Close() {}

// Stage implements Saver.
func (SharedFiles) Stage(x Item, _ bool) (dir string, done bool, err error) {
	dir, err = storage.Stage(x.Dir, x.ID)
	return dir, true, err
}

// Take implements Saver. It moves what is in the trial's directory, and copies the rest.
func (SharedFiles) Take(x Item, path string, quick bool) (done bool, err error) {
	if quick && !storage.Moves(x.Dir, path) {
		return false, nil
	}
	return true, x.Saving.Take(x.Dir, x.ID, path)
}

// Commit implements Saver.
func (f SharedFiles) Commit(x Item, m storage.Manifest) (bytes int64, err error) {
	d := f.Storage.During(x.Saving)
	if x.Format != "" {
		return d.CommitExport(x.Dir, x.Format, m)
	}
	return d.Commit(x.Dir, x.ID, m)
}

// Fetch implements Fetcher.
func (f SharedFiles) Fetch(_ exec.Place, checkpoint, path string, s *storage.Saving) error {
	if f.Bring != nil {
		if err := f.Bring(s.Context(), checkpoint); err != nil {
			return err
		}
	}
	return s.Restore(checkpoint, path)
}

// Discard implements Fetcher.
func (SharedFiles) Discard(_ exec.Place, path string) error { return nolink.RemoveAll(path) }
