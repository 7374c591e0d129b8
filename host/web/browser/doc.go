// Package browser tests the dashboard in a real browser: pages show what the command line prints, change experiments,
// and stay truthful when hosts die. The browser is Debian's Chromium; chromium.sh installs it.
package browser
