// Package auto lets the other searchers suggest.
package auto
