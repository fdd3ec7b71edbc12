package commands

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"merchantorders/internal/api/operator"
	"merchantorders/internal/app"
	"merchantorders/internal/ingest"
	"merchantorders/internal/order"
)

type transitionCommand struct {
	alwaysValid
	File string `arg:"" name:"file" help:"File of changes, one JSON object a line. - is standard input."`
}

func (c *transitionCommand) run(ctx context.Context, p *process) error {
	input, size, err := p.input(c.File)
	if err != nil {
		return err
	}
	defer func() { _ = input.Close() }()
	return p.withDatabase(ctx, existing, func(b *app.Backend) error {
		bar, counts, failed := p.bar("changing", size, true), make(map[string]int), int64(0)
		err := ingest.Batches[order.BatchChange, order.BatchResult]{
			Parse: func(_ int, text []byte) (order.BatchChange, error) { return operator.ParseChange(text) },
			Do: func(ctx context.Context, batch []order.BatchChange) ([]order.BatchResult, error) {
				// Finish a batch after ctx ends, so that the counts are correct.
				return b.Orders.ChangeOrders(context.WithoutCancel(ctx), order.Command(), batch, nil)
			},
			Done: func(lines []operator.ChangeLine, read int64) error {
				for i := range lines {
					status, problem := operator.ChangeResult(&lines[i])
					counts[status]++
					if problem != "" {
						failed++
						_ = bar.Clear()
						_, _ = fmt.Fprintf(p.stderr, "line %d: %s\n", lines[i].Number, app.OneLine(problem))
					}
				}
				_ = bar.Set64(read)
				return nil
			},
		}.Run(ctx, input)
		_ = bar.Clear()
		printErr := p.print("%s", changeCounts(counts))
		switch {
		case ctx.Err() != nil:
			return errors.New("stopped before the end of the input; run the command again to make the rest of the changes")
		case err == nil && failed > 0:
			return errors.New(count(failed, "line", "lines") + " changed nothing")
		}
		return cmp.Or(err, printErr)
	})
}

// changeCounts returns the numbers of lines by status, as text.
func changeCounts(counts map[string]int) string {
	texts := make([]string, 0, len(operator.ChangeStatuses))
	for _, status := range operator.ChangeStatuses {
		texts = append(texts, fmt.Sprintf("%s %d", strings.ReplaceAll(status, "_", " "), counts[status]))
	}
	return strings.Join(texts, ", ")
}
