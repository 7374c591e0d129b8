// Package resource counts what trials ask for and what nodes have: exact
// amounts, requests made of bundles, nodes with devices, and the ledger that
// places requests on nodes and takes them back.
//
// It is a leaf of the core and a function of its calls: the same calls in the
// same order give the same placements on every machine. It reads no clock and
// no machine; what a node has comes in with AddNode. Executors that place by
// themselves (Slurm, Ray, Kubernetes) need only amounts, bundles and requests
// of this package; the ledger is for the machine that tunehost places on.
//
// # Amounts
//
// An [Amount] is a count of millionths in 128 bits. 64 bits would hold either
// millionths or the bytes of a large cluster, not both, and a unit that
// depends on the resource's name would be a trap for every sum. So 0.33 of a
// GPU and 2^50 bytes of memory are the same type, added and compared exactly.
//
// # Requests
//
// A [Bundle] is a sorted list of names and amounts that stands on one node. A
// [Request] is a list of bundles and a [Strategy]; the plain request is one
// bundle. All bundles are granted together or none is. The resource "gpu" is
// special: it is counted in devices with identifiers. A whole number of GPUs
// is granted as that many devices for this bundle alone; a fraction below one
// is a share of one device.
//
// # Placement
//
// [Ledger.Place] prefers, for pack, the nodes that the group already has, then
// the node that takes most of what is left, then the fullest; for spread, the
// nodes with the fewest bundles of the group, then the emptiest; then the
// lower node id. When the preferred choices lead nowhere, it searches all
// others. The answer is exact for groups of equal bundles of any size, for a
// head with equal workers on clusters of some hundred nodes, and for small
// groups of any kind. A large group of many different bundles gets "not now"
// after a fixed number of steps, and [Shortfall] says that the search ended.
package resource
