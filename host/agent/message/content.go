package message

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"time"

	"github.com/tunehost/tunehost/host/plugin/process"
	"github.com/tunehost/tunehost/host/untrusted"
)

// The kinds of streams that a host opens.
const (
	StreamStart = "start" // a process; Ask with a Start, then Yes with a Started, output and Exit
	StreamDial  = "dial"  // to a process's socket; Ask with a Dial, then Yes, then bytes
	StreamProbe = "stat"  // Ask with a Probe, then Yes with a Probed
	StreamShip  = "ship"  // Ask with a Ship, then Yes with a Placed; see package upload for what follows if it is empty
	StreamFiles = "files" // Ask with a Files, then Yes with a Placed; a tree follows or is sent, see Files
	StreamStore = "store" // Ask with a Store, then Yes; see Store
	// StreamRank is opened by agents: Ask with a Rank, and then as StreamStart.
	StreamRank = "rank"
	// StreamNotice asks whether the engine takes the node away: Ask with a Notice, then Yes with a Noticed.
	StreamNotice = "notice"
	StreamLogs   = "logs" // Ask with a Logs, then Yes, then Log with a LogFile and Data until both sides have ended
)

// Start is a process to start.
type Start struct {
	// ID names the process for Dial. The host never uses it twice.
	ID        string
	Program   process.Program
	Handshake []string
}

// Rank is a process to start on the node of another bundle of the lease.
type Rank struct {
	Bundle int
	Start  Start
}

// Signalled is a signal to send to a process.
type Signalled struct{ Signal int }

// Started says that a process runs.
type Started struct{ PID int }

// Dial connects to the socket of a process.
type Dial struct{ ID, Socket string }

// Probe asks for the content of a small file.
type Probe struct{ Path string }

// Probed is the content, or "" if the file cannot be read, and the folder on the node that has the
// directories of trials. Folder says that a folder is at the path.
type Probed struct {
	Content, Trials string
	Folder          bool `json:",omitempty"`
}

// Notice asks whether the engine has said that it takes the node away. Within is how long an agent that knows nothing
// of it may still hear of it before it answers.
type Notice struct{ Within time.Duration }

// Noticed is the answer.
type Noticed struct{ Leaving bool }

// Ship requests that a tree of the host is on the node. The answer has its place, or "" if the agent needs the
// list of its files first. Then a second answer has the place.
type Ship struct {
	Root   string // on the host, absolute
	Digest string // of its content
}

// Files asks for something that concerns the files of a trial, on a node that does not have the files
// of its host. Paths are those on the node, in the trial's directory there.
type Files struct {
	Op     Op
	Trial  string // the name of the trial's directory
	Params []byte `json:",omitempty"` // OpMake
	// Folders are folders to make in the directory: OpMake.
	Folders []string `json:",omitempty"`
	ID      uint32   `json:",omitempty"` // of the checkpoint: OpStage, OpTake
	Path    string   `json:",omitempty"`
	// Have is how much of the files the host has: OpGet.
	Have map[string]int64 `json:",omitempty"`
	// Continue keeps what an earlier OpPut brought, and Have of the answer says what that is.
	Continue bool `json:",omitempty"`
}

// Store asks an agent to use the experiment's storage itself. It takes its credentials from its own environment; the
// host sends none.
type Store struct {
	Op  StoreOp
	URL string // of the experiment
	// Key is the object to read: OpMark. Folder is the one in the storage: OpSave, OpLoad.
	Key, Folder string `json:",omitempty"`
	// Trial is the name of the trial's directory, and Path a path in it on the node: OpSave, OpLoad.
	Trial, Path string `json:",omitempty"`
}

// StoreOp is what is to be done with the storage.
type StoreOp string

// The operations. The answer comes after a first Yes, which says that the agent has begun.
const (
	OpMark StoreOp = "mark" // read the object; Yes with a Mark
	// OpSave writes the files below Path: a Stored for each, then End, once all are in the storage.
	OpSave StoreOp = "save"
	// OpLoad reads files into Path, in the place of what is there: the host sends a Stored for each, then End;
	// Yes once all are there. A Refusal with Missing says that the storage does not have them.
	OpLoad StoreOp = "load"
)

// Mark is the text of an object.
type Mark struct{ Text string }

// Stored is a file in the storage.
type Stored struct {
	Path   string // with slashes
	Bytes  int64
	SHA256 string
}

// Op is an operation on files.
type Op string

// The operations.
const (
	OpMake   Op = "make"   // the directory of a trial; Placed is its path
	OpStage  Op = "stage"  // an empty folder for a checkpoint; Placed is its path
	OpTake   Op = "take"   // what a trainable made at Path, into that folder; Placed is that
	OpGet    Op = "get"    // the tree at Path, after Yes
	OpPut    Op = "put"    // the tree that the host sends after Yes replaces Path; another Yes ends it
	OpRemove Op = "remove" // Path and all that is below it
)

// Placed is a path on the node, and how much of the files below it is there already.
type Placed struct {
	Path string
	Have map[string]int64 `json:",omitempty"`
}

// Logs requests the output in files of trials' directories, as it comes. When the host ends its side
// of the stream, the agent sends the rest and ends, too.
type Logs struct {
	Trial string
	Names []string
}

// LogFile names the file of the following data.
type LogFile struct{ Name string }

// Ended is the end of a process.
type Ended struct{ Code, Signal int }

// Refusal says why something was not done.
type Refusal struct {
	Why string
	// Errno is the system's error, if it is one.
	Errno int `json:",omitempty"`
	// Final says that a repetition would fail, too.
	Final bool `json:",omitempty"`
	// Missing says that a file or folder does not exist.
	Missing bool `json:",omitempty"`
}

func (r *Refusal) Error() string { return r.Why }

// Unwrap returns the system's error, which tells callers about a lack of room or memory.
func (r *Refusal) Unwrap() error {
	switch {
	case r.Missing:
		return fs.ErrNotExist
	case r.Errno > 0:
		return syscall.Errno(r.Errno)
	}
	return nil
}

// RefusalOf describes an error for the other side.
func RefusalOf(err error) *Refusal {
	r := &Refusal{Why: err.Error(), Missing: errors.Is(err, fs.ErrNotExist)}
	if errno, ok := errors.AsType[syscall.Errno](err); ok {
		r.Errno = int(errno)
	}
	_, r.Final = errors.AsType[*process.RefusedError](err)
	return r
}

// maxWhy limits the other side's text in an error.
const maxWhy = 2000

// maxErrno is beyond every system's error numbers.
const maxErrno = 4096

// RefusalFrom returns a received Refusal, with its text made harmless.
func RefusalFrom(content []byte) error {
	r := &Refusal{}
	if err := Decode(content, r); err != nil {
		return err
	}
	r.Why = untrusted.Line(r.Why, maxWhy)
	if r.Errno < 0 || r.Errno > maxErrno {
		r.Errno = 0
	}
	if r.Why == "" {
		r.Why = "it was refused without a reason"
	}
	return r
}

// ExitOf reads how a process ended.
func ExitOf(content []byte) (process.Exit, error) {
	var e Ended
	if err := Decode(content, &e); err != nil {
		return process.Exit{}, err
	}
	if e.Code < 0 || e.Code > 255 || e.Signal < 0 || e.Signal > 255 {
		return process.Exit{}, fmt.Errorf("a process cannot end with status %d and signal %d", e.Code, e.Signal)
	}
	return process.Exit{Code: e.Code, Signal: syscall.Signal(e.Signal)}, nil
}

// Variable returns the name of a variable, as NAME=VALUE.
func Variable(text string) string {
	name, _, _ := strings.Cut(text, "=")
	return name
}
