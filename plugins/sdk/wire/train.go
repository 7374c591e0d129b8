package wire

import (
	"fmt"

	"github.com/tunehost/tunehost/plugins/sdk"
	pb "github.com/tunehost/tunehost/plugins/sdk/proto/tunehost/v1"
	"github.com/tunehost/tunehost/plugins/sdk/train"
)

// TrialToProto encodes a trial for an attempt.
func TrialToProto(t *sdk.Trial) *pb.Trial {
	if t == nil {
		return nil
	}
	return &pb.Trial{
		Id: t.ID, Number: t.Number, Attempt: t.Attempt, Experiment: t.Experiment,
		Params: t.Params, Options: t.Options, Seed: t.Seed,
		Dir: t.Dir, Restore: t.Restore, Iteration: t.Iteration,
		Resources: t.Resources, Devices: t.Devices,
		CheckpointEvery: t.CheckpointEvery,
		RunAhead:        uint32(min(natural(t.RunAhead), maxRunAhead)),
		GraceSeconds:    t.GraceSeconds,
		CheckpointAtEnd: t.CheckpointAtEnd,
		Export:          t.Export, ExportDir: t.ExportDir,
		Bundles: bundlesToProto(t.Bundles),
		Logs:    logsToProto(t.Logs),
	}
}

func logsToProto(l *sdk.Logs) *pb.Logs {
	if l == nil {
		return nil
	}
	return &pb.Logs{Stdout: l.Stdout, Stderr: l.Stderr}
}

func logsFromProto(m *pb.Logs) *sdk.Logs {
	if m == nil {
		return nil
	}
	return &sdk.Logs{Stdout: m.GetStdout(), Stderr: m.GetStderr()}
}

func bundlesToProto(bundles []sdk.Bundle) (out []*pb.Bundle) {
	for _, b := range bundles {
		out = append(out, &pb.Bundle{Node: b.Node, Resources: b.Resources, Devices: b.Devices,
			Address: b.Address})
	}
	return out
}

// TrialFromProto decodes a trial; nil stays nil.
func TrialFromProto(m *pb.Trial) *sdk.Trial {
	if m == nil {
		return nil
	}
	return &sdk.Trial{
		ID: m.GetId(), Number: m.GetNumber(), Attempt: m.GetAttempt(), Experiment: m.GetExperiment(),
		Params: m.GetParams(), Options: m.GetOptions(), Seed: m.GetSeed(),
		Dir: m.GetDir(), Restore: m.GetRestore(), Iteration: m.GetIteration(),
		Resources: m.GetResources(), Devices: m.GetDevices(),
		CheckpointEvery: m.GetCheckpointEvery(),
		RunAhead:        int(min(uint64(m.GetRunAhead()), maxRunAhead)),
		GraceSeconds:    m.GetGraceSeconds(),
		CheckpointAtEnd: m.GetCheckpointAtEnd(),
		Export:          m.GetExport(), ExportDir: m.GetExportDir(),
		Bundles: bundlesFromProto(m.GetBundles()),
		Logs:    logsFromProto(m.GetLogs()),
	}
}

func bundlesFromProto(bundles []*pb.Bundle) (out []sdk.Bundle) {
	for _, b := range bundles {
		out = append(out, sdk.Bundle{Node: b.GetNode(), Resources: b.GetResources(), Devices: b.GetDevices(),
			Address: b.GetAddress()})
	}
	return out
}

// CommandsToProto encodes commands for a trainable.
func CommandsToProto(commands []train.Command) *pb.TrainRequest {
	slab := make([]pb.TrainCommand, len(commands))
	out := make([]*pb.TrainCommand, len(commands))
	for i := range commands {
		c, m := &commands[i], &slab[i]
		m.Kind, m.Run = pb.TrainCommand_Kind(c.Kind), c.Run
		m.Trial, m.Credits, m.Dir, m.Paused = TrialToProto(c.Trial), c.Credits, c.Dir, c.Paused
		if m.Trial != nil {
			m.Trial.Confirms = c.Confirms
		}
		out[i] = m
	}
	return &pb.TrainRequest{Commands: out}
}

// CommandsFromProto decodes commands for a trainable.
func CommandsFromProto(m *pb.TrainRequest) ([]train.Command, error) {
	out := make([]train.Command, len(m.GetCommands()))
	for i, c := range m.GetCommands() {
		k := c.GetKind()
		if k < pb.TrainCommand_KIND_START || k > pb.TrainCommand_KIND_KILL {
			return nil, fmt.Errorf("unknown command %d for run %d", k, c.GetRun())
		}
		out[i] = train.Command{
			Kind: train.CommandKind(k), Run: c.GetRun(),
			Trial: TrialFromProto(c.GetTrial()), Credits: c.GetCredits(), Dir: c.GetDir(), Paused: c.GetPaused(),
			Confirms: c.GetTrial().GetConfirms(),
		}
	}
	return out, nil
}

// TrainEventsToProto encodes events of a trainable.
func TrainEventsToProto(events []train.Event) *pb.TrainResponse {
	slab := make([]pb.TrainEvent, len(events))
	out := make([]*pb.TrainEvent, len(events))
	for i := range events {
		e, m := &events[i], &slab[i]
		m.Kind, m.Run, m.Pid = pb.TrainEvent_Kind(e.Kind), e.Run, e.PID
		m.Metrics, m.Iteration = metricsToProto(e.Metrics), e.Iteration
		m.Checkpoint, m.Done = text(e.Checkpoint), e.Done
		m.Error, m.Text = text(e.Error), text(e.Text)
		m.RestoreFailed, m.NeverStarted, m.Format = e.RestoreFailed, e.NeverStarted, text(e.Format)
		m.Values, m.Hint, m.Waiting = e.Values, e.Hint, e.Waiting
		out[i] = m
	}
	return &pb.TrainResponse{Events: out}
}

// TrainEventsFromProto decodes events of a trainable.
func TrainEventsFromProto(m *pb.TrainResponse) ([]train.Event, error) {
	out := make([]train.Event, len(m.GetEvents()))
	for i, e := range m.GetEvents() {
		k := e.GetKind()
		if k < pb.TrainEvent_KIND_STARTED || k > pb.TrainEvent_KIND_EXPORTED {
			return nil, fmt.Errorf("unknown event %d of run %d", k, e.GetRun())
		}
		out[i] = train.Event{
			Kind: train.EventKind(k), Run: e.GetRun(), PID: e.GetPid(),
			Metrics: metricsFromProto(e.GetMetrics()), Iteration: e.GetIteration(),
			Checkpoint: e.GetCheckpoint(), Done: e.GetDone(),
			Error: e.GetError(), Text: e.GetText(),
			RestoreFailed: e.GetRestoreFailed(), NeverStarted: e.GetNeverStarted(), Format: e.GetFormat(),
			Values: e.GetValues(), Hint: e.GetHint(), Waiting: e.GetWaiting(),
		}
	}
	return out, nil
}
