package config

import (
	"cmp"
	"slices"

	"merchantorders/internal/strict"
)

// nearest returns the known name with the smallest distance to a name.
func nearest(name string, known []string) string {
	return slices.MinFunc(known, func(a, b string) int { return cmp.Compare(strict.Distance(a, name), strict.Distance(b, name)) })
}
