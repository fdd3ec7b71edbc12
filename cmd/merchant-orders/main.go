// Command merchant-orders is the order service for merchants and its command
// line. Everything it does is in internal/app/commands.
package main

import (
	"context"
	"io"
	"log"
	"os"
	"os/signal"
	"syscall"

	"merchantorders/internal/app/commands"
)

func main() {
	// What is stored is for the user alone whom the service runs as.
	syscall.Umask(0o077)
	// A client of net/http would quote there what a server sends unasked, which can be of a document.
	log.SetOutput(io.Discard)
	ignored, hangups := signal.Ignored(syscall.SIGHUP), make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	commands.SuspendBetweenTransactions()
	// The second signal ends the process at once.
	context.AfterFunc(ctx, stop)
	os.Exit(commands.Run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Environ(), commands.Hangups(hangups, ignored)))
}
