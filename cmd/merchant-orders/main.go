// Command merchant-orders is the order service for merchants and its command
// line. Everything it does is in internal/app/commands.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"merchantorders/internal/app/commands"
)

func main() {
	// What is stored is for the user alone whom the service runs as.
	syscall.Umask(0o077)
	stops := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // unlike under nohup
		stops = append(stops, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(context.Background(), stops...)
	commands.SuspendBetweenTransactions()
	// The second signal ends the process at once.
	context.AfterFunc(ctx, stop)
	os.Exit(commands.Run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Environ()))
}
