// Package process runs plugins as programs of their own, over hashicorp/go-plugin and gRPC, and
// secures what go-plugin leaves open:
//
//   - the environment is a short allow-list, stdin is empty;
//   - the connection is mutual TLS under an authority that is made for one
//     process, over a unix socket in a private directory; the dialer checks
//     where the socket lies and which process listens on it;
//   - the process has a group of its own, which is killed with it, and dies
//     with the host (Linux);
//   - its output cannot harm the host: lines are cut, escaped, rate-limited,
//     and read by our own code;
//   - start, end and each call have deadlines, and messages a size limit.
//
// Loaders of plugins use it (package bundled, the plugin folders, the sandbox runner); the rest of the
// host uses package plugin.
package process
