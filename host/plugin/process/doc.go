// Package process runs plugins as programs of their own, over
// hashicorp/go-plugin and gRPC, and closes what go-plugin leaves open:
//
//   - the environment is a short allow-list, stdin is empty;
//   - the connection is mutual TLS by an authority made for one process and
//     thrown away, over a unix socket in a directory of ours alone; the dialer
//     checks where the socket lies and who listens on it;
//   - the process has a group of its own, which is killed with it, and dies
//     with the host (Linux);
//   - nothing that it prints can harm the host: lines are cut, escaped,
//     rate-limited, and read by our own code;
//   - starting, ending and each call have deadlines, and messages a limit.
//
// Loaders of plugins use it (package bundled, the plugin folders, the sandbox
// runner); the rest of the host uses package plugin.
package process
