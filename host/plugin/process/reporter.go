package process

import (
	"context"

	"google.golang.org/protobuf/proto"

	"github.com/tunehost/tunehost/host/plugin"
	"github.com/tunehost/tunehost/plugins/sdk"
	pb "github.com/tunehost/tunehost/plugins/sdk/proto/tunehost/v1"
	"github.com/tunehost/tunehost/plugins/sdk/wire"
)

// maxReport is the size in bytes above which events go into another message.
const maxReport = 1 << 20

// OpenReporter implements plugin.ReporterOpener.
func (p *Process) OpenReporter(ctx context.Context, e sdk.Experiment, options []byte) (plugin.Reporter, error) {
	if err := p.openOnce(sdk.KindReporter); err != nil {
		return nil, err
	}
	client := pb.NewReporterServiceClient(p.conn)
	m, err := client.OpenReporter(ctx, &pb.OpenReporterRequest{
		Problem: wire.ProblemToProto(e.Problem), Options: options,
		Experiment: e.Name, Dir: e.Dir, Told: e.Told,
	})
	if err != nil {
		return nil, p.callFailure(ctx, "Open", err)
	}
	return &reporter{Process: p, client: client, after: m.GetAfter()}, nil
}

type reporter struct {
	*Process
	client pb.ReporterServiceClient
	after  uint64
}

// After implements plugin.Reporter.
func (r *reporter) After() uint64 { return r.after }

// Report implements sdk.Reporter.
func (r *reporter) Report(ctx context.Context, events []sdk.ReporterEvent) error {
	for list := wire.ReporterEventsToProto(events); len(list) > 0; {
		n := fit(list)
		if _, err := r.client.Report(ctx, &pb.ReportRequest{Events: list[:n]}); err != nil {
			return r.callFailure(ctx, "Report", err)
		}
		list = list[n:]
	}
	return nil
}

// fit returns how many events go into one message, at least one: a plugin accepts any single result.
func fit(list []*pb.ReporterEvent) int {
	size := 0
	for i, e := range list[:min(len(list), maxEvents)] {
		if size += proto.Size(e); size > maxReport && i > 0 {
			return i
		}
	}
	return min(len(list), maxEvents)
}
