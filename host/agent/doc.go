// Package agent runs on a node that an engine has granted. It starts processes for its host, as the
// host would start them on its own machine, connects the host to them, and keeps the files of the
// trials that run there. It decides nothing.
//
// The program of an agent is the one of the host (`tunehost agent`); package link connects the two,
// and package message has their messages. The host's side is package host/exec/remote.
package agent
