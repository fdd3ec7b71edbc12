// Command pack writes the packages of the clients to a folder.
package main

import (
	"log"
	"os"
	"path/filepath"

	"merchantorders/clients"
)

func main() {
	for _, file := range clients.Made().All() {
		if err := os.WriteFile(filepath.Join(os.Args[1], file.Name), file.Content, 0o644); err != nil {
			log.Fatal(err)
		}
	}
}
