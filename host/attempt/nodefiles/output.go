package nodefiles

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/tunehost/tunehost/host/agent/link"
	"github.com/tunehost/tunehost/host/agent/message"
	"github.com/tunehost/tunehost/host/exec/remote"
	"github.com/tunehost/tunehost/host/storage/nolink"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// outputTime is how long the host waits for the rest of a trial's output.
const outputTime = 5 * time.Second

// output is what a trial prints on a node, on its way into the trial's directory.
type output struct {
	conn net.Conn
	done chan struct{} // closed when no more output comes
}

// follow begins to copy the output of an attempt. x.Dir is the directory on the node.
func (f *Files) follow(s link.Session, host string, x *sdk.Trial) error {
	names := outputs(x)
	if len(names) == 0 {
		return nil
	}
	conn, err := remote.Ask(f.until, s, message.StreamLogs, message.Logs{Trial: trialOf(host), Names: names}, nil)
	if err != nil {
		return err
	}
	o := &output{conn: conn, done: make(chan struct{})}
	f.mu.Lock()
	earlier := f.output[x.Dir]
	f.output[x.Dir] = o
	f.mu.Unlock()
	if earlier != nil {
		earlier.end()
	}
	go func() {
		defer close(o.done)
		if err := o.copy(host, names); err != nil {
			text := fmt.Sprintf("%s: output of the trial on its node is missing: %v", host, err)
			f.Log.Once("output "+err.Error(), text)
		}
		_ = conn.Close()
	}()
	return nil
}

// outputs are the names of the files that a trial's programs print into.
func outputs(x *sdk.Trial) (names []string) {
	logs := sdk.Logs{Stdout: "stdout", Stderr: "stderr"}
	if x.Logs != nil {
		logs = *x.Logs
	}
	for _, name := range []string{logs.Stdout, logs.Stderr} {
		if name == "" || slices.Contains(names, name) {
			continue
		}
		names = append(names, name)
		for rank := 1; rank < len(x.Bundles); rank++ {
			names = append(names, fmt.Sprintf("%s.%d", name, rank))
		}
	}
	return names
}

// copy appends the output that arrives to the files of the trial.
func (o *output) copy(host string, names []string) error {
	var to *os.File
	defer func() { _ = to.Close() }() // does nothing if there is none
	var buffer []byte
	for {
		f, err := message.Read(o.conn, buffer)
		if err != nil {
			return nil // the node is gone
		}
		buffer = f.Content
		switch f.Kind {
		case message.End:
			return nil
		case message.Log:
			var l message.LogFile
			if err := message.Decode(f.Content, &l); err != nil {
				return err
			}
			if !slices.Contains(names, l.Name) {
				return fmt.Errorf("the agent sends %.100q, which the host did not request", l.Name)
			}
			_ = to.Close()
			to, err = nolink.OpenFile(filepath.Join(host, l.Name), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
		case message.Data:
			if to == nil {
				return errors.New("the agent sends output without the name of a file")
			}
			_, err = to.Write(f.Content)
		default:
			return fmt.Errorf("the agent sends a message of kind %q", f.Kind)
		}
		if err != nil {
			return err
		}
	}
}

// end asks the agent for the rest, and waits for it.
func (o *output) end() {
	if c, ok := o.conn.(link.HalfCloser); ok {
		_ = c.CloseWrite()
	}
	select {
	case <-o.done:
	case <-time.After(outputTime):
		_ = o.conn.Close()
	}
}
