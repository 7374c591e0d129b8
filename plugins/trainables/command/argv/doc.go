// Package argv is the user's command: what the braces in it stand for, and which file
// its program is. The host checks commands with it before an experiment begins, and the
// trainable command starts them with it, so that both find the same.
//
// In an argument, {NAME} is a parameter's value, {params} the path of params.json and
// {flags} all parameters as --NAME=VALUE. Braces around anything that is no name are
// literal: {"y": 1}, {print $1}, {}, and ${NAME} of a shell, whatever NAME is;
// {{ and }} are braces anywhere, but that a } that closes a literal { is one brace. A
// name that is none of a parameter is a mistake ([UnknownName]).
package argv
