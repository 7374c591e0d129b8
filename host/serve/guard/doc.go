// Package guard decides which requests reach the HTTP API: those with a token, to a host name of the
// server, from its own pages or from programs, and not larger, slower or more than the server can take.
//
// A token comes in the header Authorization (Bearer). A browser opens the URL that the server prints, which
// has a token; its page gets a key, which takes the token's place until the server ends. Texts of a request
// are never part of an answer's headers.
package guard
