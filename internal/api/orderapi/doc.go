// Package orderapi is what both versions answer lists and single orders with
// beside their bodies: entity tags, and Links to further pages. It must not
// know the form of either version's bodies.
package orderapi
