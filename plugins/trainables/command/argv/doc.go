// Package argv parses the user's command: the placeholders in braces, and the file of the program.
// The host checks commands with it before an experiment begins, and the trainable command starts
// them with it, so both agree.
//
// In an argument, {NAME} is a parameter's value, {params} the path of params.json and {flags} all
// parameters as --NAME=VALUE. Braces around anything that is not a name are literal: {"y": 1},
// {print $1}, {}, and ${NAME} of a shell for any NAME. {{ and }} are literal braces anywhere,
// except that a } that closes a brace written as a single { is one brace by itself. A name that is
// not a parameter is an error ([UnknownName]).
package argv
