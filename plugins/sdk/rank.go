package sdk

// A trainable starts a program for each bundle of a group. It starts the programs of other bundles through
// the agents of their nodes: it runs tunehost with the argument "agent" and [RankVariable], once for each
// program. This process represents the program on the other node: it passes on signals, the program's
// output and its end, and when the process is killed, the program is killed too.
const (
	// RanksVariable is in the environment of a trainable on a node that has an agent: the path of the
	// agent's socket.
	RanksVariable = "TUNEHOST_RANKS"
	// RankVariable has a [Rank] as JSON.
	RankVariable = "TUNEHOST_RANK"
)

// Rank is a program on the node of a bundle.
type Rank struct {
	// Socket is the value of [RanksVariable].
	Socket string
	// Bundle is the index of the bundle.
	Bundle int
	// Path is the program, Args its arguments without the program, and Dir its working directory.
	Path string
	Args []string
	Dir  string
	// Own are the names of the variables of the environment that the program gets beside those of its
	// node.
	Own []string
}
