// Package bridge is for authors of executors of engines whose nodes cannot connect to the host. Agents are
// started there as `PATH agent --socket SOCKET`, and the engine runs `PATH agent bridge SOCKET` on the same node,
// as the same user, whose standard input and output are a connection to the agent (`kubectl exec -i`, `srun
// --overlap`). [Run] copies the bytes between that program and the host at sdk.Execution.Host, for each bundle of
// each granted lease, adopted ones as well:
//
//	go bridge.Run(ctx, bridge.Config{
//		Host: execution.Host,
//		Open: func(ctx context.Context) (io.ReadWriteCloser, error) {
//			return bridge.Command(exec.Command("kubectl", "exec", "-i", pod, "--", path, "agent", "bridge", socket))
//		},
//	})
//
// What is copied is encrypted from the host to the agent.
package bridge
