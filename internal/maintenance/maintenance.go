package maintenance

import (
	"context"

	"merchantorders/internal/order"
	"merchantorders/internal/store"
)

// Installation is a database and the storage of its invoice files.
type Installation struct {
	DB    *store.DB
	Files Files
}

// Files is a storage whose files can be listed.
type Files interface {
	order.Files
	// Each calls fn with the path of every stored file.
	Each(ctx context.Context, fn func(path string) error) error
}

// Options receive what a command reports. The zero value is valid.
type Options struct {
	// Found is called for each finding, one call at a time; nil: findings are
	// only counted.
	Found func(store.Fault)
	// Progress is called with the state of a stage, one call at a time; nil: no
	// progress is reported.
	Progress func(stage string, done, total int64)
}
