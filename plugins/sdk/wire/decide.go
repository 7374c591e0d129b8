package wire

import (
	"fmt"

	"github.com/tunehost/tunehost/plugins/sdk"
	pb "github.com/tunehost/tunehost/plugins/sdk/proto/tunehost/v1"
	"github.com/tunehost/tunehost/plugins/sdk/space"
)

// RequestsToProto encodes requests for suggestions.
func RequestsToProto(requests []sdk.Request) []*pb.SuggestRequest_Request {
	out := make([]*pb.SuggestRequest_Request, len(requests))
	for i, r := range requests {
		out[i] = &pb.SuggestRequest_Request{Trial: r.Trial, Seed: r.Seed, Given: pointToProto(r.Given)}
	}
	return out
}

// RequestsFromProto decodes requests for suggestions.
func RequestsFromProto(ms []*pb.SuggestRequest_Request) []sdk.Request {
	out := make([]sdk.Request, len(ms))
	for i, m := range ms {
		out[i] = sdk.Request{Trial: m.GetTrial(), Seed: m.GetSeed(), Given: pointFromProto(m.GetGiven())}
	}
	return out
}

// SuggestionsToProto encodes a searcher's answer.
func SuggestionsToProto(s sdk.Suggestions) *pb.SuggestResponse {
	m := &pb.SuggestResponse{Status: pb.SuggestResponse_Status(s.Status)}
	for _, p := range s.Points {
		m.Points = append(m.Points, &pb.Point{Values: p})
	}
	return m
}

// SuggestionsFromProto decodes a searcher's answer.
func SuggestionsFromProto(m *pb.SuggestResponse) (sdk.Suggestions, error) {
	status := m.GetStatus()
	if status < pb.SuggestResponse_STATUS_UNSPECIFIED || status > pb.SuggestResponse_STATUS_EXHAUSTED {
		return sdk.Suggestions{}, fmt.Errorf("unknown status %d", status)
	}
	s := sdk.Suggestions{Status: sdk.Status(status)}
	for _, p := range m.GetPoints() {
		s.Points = append(s.Points, space.Point(p.GetValues()))
	}
	return s, nil
}

// DecisionsToProto encodes a scheduler's answer.
func DecisionsToProto(d sdk.Decisions) *pb.DecideResponse {
	m := &pb.DecideResponse{}
	for _, x := range d.Decisions {
		m.Decisions = append(m.Decisions, &pb.Decision{
			Event: x.Event, Verdict: pb.Decision_Verdict(x.Verdict), Until: x.Until, Reason: text(x.Reason),
		})
	}
	for _, c := range d.Commands {
		m.Commands = append(m.Commands, &pb.Command{
			Kind: pb.Command_Kind(c.Kind), Trial: c.Trial, Donor: c.Donor, Iteration: c.Iteration,
			Point: pointToProto(c.Point), Resources: c.Resources, Reason: text(c.Reason),
		})
	}
	return m
}

// DecisionsFromProto decodes a scheduler's answer.
func DecisionsFromProto(m *pb.DecideResponse) (sdk.Decisions, error) {
	var d sdk.Decisions
	for _, x := range m.GetDecisions() {
		v := x.GetVerdict()
		if v < pb.Decision_VERDICT_UNSPECIFIED || v > pb.Decision_VERDICT_STOP {
			return sdk.Decisions{}, fmt.Errorf("unknown verdict %d on event %d", v, x.GetEvent())
		}
		d.Decisions = append(d.Decisions, sdk.Decision{
			Event: x.GetEvent(), Verdict: sdk.Verdict(v), Until: x.GetUntil(), Reason: x.GetReason(),
		})
	}
	for _, c := range m.GetCommands() {
		k := c.GetKind()
		if k < pb.Command_KIND_RESUME || k > pb.Command_KIND_STOP_ALL {
			return sdk.Decisions{}, fmt.Errorf("unknown command %d for trial %d", k, c.GetTrial())
		}
		d.Commands = append(d.Commands, sdk.Command{
			Kind: sdk.CommandKind(k), Trial: c.GetTrial(), Donor: c.GetDonor(), Iteration: c.GetIteration(),
			Point: pointFromProto(c.GetPoint()), Resources: c.GetResources(), Reason: c.GetReason(),
		})
	}
	return d, nil
}
