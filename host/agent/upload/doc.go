// Package upload sends the files of an experiment to nodes that do not have them. The host lists the files with
// their checksums ([Collect]). An agent that does not see the same files under the same paths requests the
// missing ones, and builds the tree in a folder of its own ([Place]).
//
// Contents are kept in a folder of the user on the node, by their SHA-256, so that each content is sent to a node
// once. Each time a content is used, it is copied and compared with its checksum. If somebody has changed it, it is
// sent again.
package upload
