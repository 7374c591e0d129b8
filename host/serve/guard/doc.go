// Package guard decides which requests reach the HTTP API: those with a token, to a host name of the
// server, from its own pages or from programs, and not larger, slower or more than the server can take.
//
// A token comes in the header Authorization (Bearer), or in a cookie. A browser gets the cookie with its
// first visit, to the URL that the server prints. Texts of a request are never part of an answer's headers.
package guard
