package app

import (
	"context"
	"time"

	"merchantorders/internal/config"
)

type purgeCommand struct {
	DeletedBefore string `name:"deleted-before" default:"720h" placeholder:"TIME" help:"Minimum age of a deletion. 720h is 30 days; 0s removes all deleted files."`

	age time.Duration
}

func (c *purgeCommand) check() error {
	var problem string
	c.age, problem = duration(c.DeletedBefore, 0)
	return config.Invalid("deleted-before", problem)
}

func (c *purgeCommand) run(ctx context.Context, p *process) error {
	return p.withBackend(ctx, func(b *backend) error {
		// Deletions are stored in whole seconds. With the age 0s, one of the current
		// second must count too.
		before := p.now().Add(-c.age)
		if c.age == 0 {
			before = before.Add(time.Second)
		}
		count, err := b.orders.PurgeDeletedFiles(ctx, before)
		if printErr := p.print("files purged: %d", count); err == nil {
			err = printErr
		}
		return err
	})
}
