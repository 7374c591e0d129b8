package wire

import (
	"time"

	"github.com/tunehost/tunehost/plugins/sdk"
	pb "github.com/tunehost/tunehost/plugins/sdk/proto/tunehost/v1"
)

// ExecutionToProto encodes the experiment for which an executor is opened.
func ExecutionToProto(x sdk.Execution, options []byte) *pb.OpenExecutorRequest {
	m := &pb.OpenExecutorRequest{Options: options, Experiment: x.Experiment, Dir: x.Dir, Prefix: x.Prefix,
		HostGrace: x.HostGrace.Seconds(), Host: text(x.Host)}
	if x.Agent != nil {
		m.Agent = &pb.Agent{Path: x.Agent.Path, Sha256: x.Agent.SHA256}
	}
	return m
}

// ExecutionFromProto decodes the experiment for which an executor is opened.
func ExecutionFromProto(m *pb.OpenExecutorRequest) sdk.Execution {
	x := sdk.Execution{Experiment: m.GetExperiment(), Dir: m.GetDir(), Prefix: m.GetPrefix(),
		HostGrace: durationOf(m.GetHostGrace()), Host: m.GetHost()}
	if a := m.GetAgent(); a != nil {
		x.Agent = &sdk.Agent{Path: a.GetPath(), SHA256: a.GetSha256()}
	}
	return x
}

// durationOf converts seconds; it returns 0 for invalid numbers.
func durationOf(seconds float64) time.Duration {
	if !(seconds > 0 && seconds < 1e9) {
		return 0
	}
	return time.Duration(seconds * float64(time.Second))
}

// ExecutorTraitsToProto encodes the properties of an opened executor.
func ExecutorTraitsToProto(t sdk.ExecutorTraits) *pb.OpenExecutorResponse {
	return &pb.OpenExecutorResponse{Gangs: t.Gangs, Capacity: t.Capacity, Agents: t.Agents}
}

// ExecutorTraitsFromProto decodes the properties of an opened executor.
func ExecutorTraitsFromProto(m *pb.OpenExecutorResponse) sdk.ExecutorTraits {
	return sdk.ExecutorTraits{Gangs: m.GetGangs(), Capacity: m.GetCapacity(), Agents: m.GetAgents()}
}

// LeaseRequestsToProto encodes requests for leases.
func LeaseRequestsToProto(requests []sdk.LeaseRequest) []*pb.LeaseRequest {
	out := make([]*pb.LeaseRequest, len(requests))
	for i, r := range requests {
		out[i] = &pb.LeaseRequest{Lease: r.Lease, Strategy: r.Strategy, Agent: text(r.Agent)}
		for _, b := range r.Bundles {
			out[i].Bundles = append(out[i].Bundles, &pb.LeaseBundle{Amounts: amountsToProto(b)})
		}
	}
	return out
}

// LeaseRequestsFromProto decodes requests for leases.
func LeaseRequestsFromProto(ms []*pb.LeaseRequest) []sdk.LeaseRequest {
	out := make([]sdk.LeaseRequest, len(ms))
	for i, m := range ms {
		out[i] = sdk.LeaseRequest{Lease: m.GetLease(), Strategy: m.GetStrategy(), Agent: m.GetAgent()}
		for _, b := range m.GetBundles() {
			out[i].Bundles = append(out[i].Bundles, amountsFromProto(b.GetAmounts()))
		}
	}
	return out
}

func amountsToProto(amounts []sdk.Amount) []*pb.Amount {
	out := make([]*pb.Amount, len(amounts))
	for i, a := range amounts {
		out[i] = &pb.Amount{Name: text(a.Name), Value: a.Value}
	}
	return out
}

func amountsFromProto(ms []*pb.Amount) []sdk.Amount {
	var out []sdk.Amount
	for _, m := range ms {
		out = append(out, sdk.Amount{Name: m.GetName(), Value: m.GetValue()})
	}
	return out
}

// LeaseEventsToProto encodes events of leases.
func LeaseEventsToProto(events []sdk.LeaseEvent) *pb.WatchResponse {
	out := &pb.WatchResponse{Events: make([]*pb.LeaseEvent, len(events))}
	for i, e := range events {
		m := &pb.LeaseEvent{Lease: text(e.Lease), Kind: pb.LeaseEvent_Kind(e.Kind), Why: text(e.Why)}
		if !e.Until.IsZero() {
			m.UntilNs = e.Until.UnixNano()
		}
		for _, b := range e.Bundles {
			m.Bundles = append(m.Bundles, &pb.GrantedBundle{Node: text(b.Node), Devices: texts(b.Devices),
				Address: text(b.Address)})
		}
		out.Events[i] = m
	}
	return out
}

func texts(list []string) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = text(s)
	}
	return out
}

// LeaseEventsFromProto decodes events of leases. An unknown kind becomes 0: newer
// plugins may have more kinds.
func LeaseEventsFromProto(m *pb.WatchResponse) []sdk.LeaseEvent {
	out := make([]sdk.LeaseEvent, len(m.GetEvents()))
	for i, x := range m.GetEvents() {
		e := sdk.LeaseEvent{Lease: x.GetLease(), Why: x.GetWhy()}
		if k := x.GetKind(); k >= 0 && k <= pb.LeaseEvent_KIND_REFUSED {
			e.Kind = sdk.LeaseEventKind(k)
		}
		if ns := x.GetUntilNs(); ns != 0 {
			e.Until = time.Unix(0, ns)
		}
		for _, b := range x.GetBundles() {
			e.Bundles = append(e.Bundles, sdk.GrantedBundle{Node: b.GetNode(), Devices: b.GetDevices(),
				Address: b.GetAddress()})
		}
		out[i] = e
	}
	return out
}

// ClusterToProto encodes the nodes of a cluster.
func ClusterToProto(nodes []sdk.ClusterNode) *pb.CapacityResponse {
	out := &pb.CapacityResponse{}
	for _, n := range nodes {
		out.Nodes = append(out.Nodes, &pb.ClusterNode{Name: text(n.Name), Total: amountsToProto(n.Total),
			Free: amountsToProto(n.Free), Down: n.Down})
	}
	return out
}

// ClusterFromProto decodes the nodes of a cluster.
func ClusterFromProto(m *pb.CapacityResponse) (nodes []sdk.ClusterNode) {
	for _, n := range m.GetNodes() {
		nodes = append(nodes, sdk.ClusterNode{Name: n.GetName(), Total: amountsFromProto(n.GetTotal()),
			Free: amountsFromProto(n.GetFree()), Down: n.GetDown()})
	}
	return nodes
}
