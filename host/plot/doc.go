// Package plot draws experiments as files and on terminals, without a browser. Each kind of plot is a function from
// the data of package view to a figure, in a file of its own. Package figure has drawings as data, package paper draws
// them as SVG, PNG and PDF, package braille on a terminal.
package plot
