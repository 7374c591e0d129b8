// Package serve is the HTTP API: every experiment of some folders, to read and to steer.
//
// It has no model of its own. What it shows is package view's JSON, as the command line prints it; what
// it changes goes through package steer. The types of requests and answers are the description of the
// API: [Server.OpenAPI] is made of them.
//
// Its folders: guard lets requests in, experiments keeps the open experiments, problem has the answers
// to what cannot be done, spawn starts hosts, workers hands out trials of ask and tell.
package serve
