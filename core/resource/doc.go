// Package resource counts the resources that trials request and nodes have: exact amounts, requests
// made of bundles, nodes with devices, and the ledger that places requests on nodes and releases
// them.
//
// It is a leaf of the core and deterministic: the same calls in the same order give the same
// placements on every machine. It reads no clock and inspects no machine; AddNode declares what a
// node has. Executors that place by themselves (Slurm, Ray, Kubernetes) use only amounts, bundles
// and requests; the ledger is for machines that tunehost places trials on.
//
// # Amounts
//
// An [Amount] is a count of millionths in 128 bits. 64 bits would hold either millionths or the
// bytes of a large cluster, but not both, and a unit that depends on the name of the resource would
// be error-prone. So 0.33 of a GPU and 2^50 bytes of memory have the same type and are added and
// compared exactly.
//
// # Requests
//
// A [Bundle] is a sorted list of names and amounts on one node. A [Request] is a list of bundles
// and a [Strategy]; the plain request is one bundle. Either all bundles are granted or none. The
// resource "gpu" is special: it is counted in devices with identifiers. A whole number of GPUs is
// granted as that many exclusive devices; a fraction below one is a share of one device.
//
// # Placement
//
// For pack, [Ledger.Place] prefers nodes that the group already uses, then the node that takes most
// of the remaining bundles, then the fullest. For spread, it prefers the nodes with the fewest
// bundles of the group, then the emptiest. Ties go to the lower node id. If the preferred choices
// fail, it searches all others. The answer is exact for groups of equal bundles of any size, for a
// head with equal workers on clusters of some hundred nodes, and for small groups of any kind. A
// large group of many different bundles gets "not now" after a fixed number of steps, and
// [Shortfall] says that the search ended.
package resource
