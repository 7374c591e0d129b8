package nodefiles

import (
	"github.com/tunehost/tunehost/host/agent/link"
	"github.com/tunehost/tunehost/host/agent/message"
	"github.com/tunehost/tunehost/host/exec"
	"github.com/tunehost/tunehost/host/plugin"
	"github.com/tunehost/tunehost/plugins/sdk"
)

// Prepare implements attempt.Placer.
func (f *Files) Prepare(at exec.Place, x *sdk.Trial) error {
	s, n, err := f.at(at)
	host := x.Dir
	if err == nil && !n.shared {
		err = f.prepare(s, n, x)
	}
	if err == nil && len(x.Bundles) > 1 && at.Lease != 0 {
		f.assemble(at.Lease, host, x)
	}
	return unreachable(s, err)
}

// unreachable converts an error into the failure of a plugin that cannot be reached, if the connection has ended.
func unreachable(s link.Session, err error) error {
	if err == nil || s != nil && !lost(s) {
		return err
	}
	return &plugin.Error{Plugin: "the trial's node", Failure: plugin.Unreachable,
		What: "cannot be reached: " + err.Error(),
		Err:  err}
}

// prepare has the node make the directory of a trial, and follows its output. The node is asked for both at the same
// time, because an answer may have a long way, such as through the API server of Kubernetes.
func (f *Files) prepare(s link.Session, n node, x *sdk.Trial) (err error) {
	host, there := x.Dir, *x
	there.Dir = n.dir(host)
	if there.Restore, err = n.moved(x.Restore, host); err != nil {
		return err
	}
	if there.ExportDir, err = n.moved(x.ExportDir, host); err != nil {
		return err
	}
	made := make(chan error, 1)
	go func() {
		_, err := f.ask(s, message.Files{Op: message.OpMake, Trial: trialOf(host), Params: x.Params})
		made <- err
	}()
	err = f.follow(s, host, &there)
	if failed := <-made; failed != nil {
		f.Leave(exec.Place{}, &there)
		return failed
	}
	if err == nil {
		*x = there
	}
	return err
}

// Leave implements attempt.Placer. It waits for the rest of the output.
func (f *Files) Leave(_ exec.Place, x *sdk.Trial) {
	f.mu.Lock()
	o := f.output[x.Dir]
	delete(f.output, x.Dir)
	f.mu.Unlock()
	if o != nil {
		o.end()
	}
}
