// Package forks serves the trainable of a program that forks a process for each trial. Such a program must have one
// thread and be small, because each fork copies what it has in memory. So this package speaks the protocol of plugins
// for it, in a process that the program starts: [Command], by the path in [Variable].
//
// The program has a socket to this process, its control: calls and orders go to the program, answers and what
// becomes of trials come back. Each trial has a socket to this process too, which the program hands to its fork.
// Both carry frames: four bytes with the length, the lowest first, and JSON.
package forks
