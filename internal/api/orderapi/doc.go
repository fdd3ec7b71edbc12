// Package orderapi holds what the lists of both versions have in common beside
// their bodies: entity tags, links to further pages, and cursors. It must not know
// the representation of either version.
package orderapi
