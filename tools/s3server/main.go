// Command s3server is an S3 server for tests: versitygw over a folder, without what its own
// program has besides, which are tests and the clients of other clouds. They would take a
// third of the time of building. The account is in ROOT_ACCESS_KEY and ROOT_SECRET_KEY.
package main

import (
	"context"
	"flag"
	"io/fs"
	"log"
	"os"

	"github.com/versity/versitygw/backend/meta"
	"github.com/versity/versitygw/backend/posix"
	"github.com/versity/versitygw/embedgw"
)

// many is as good as no limit.
const many = 100_000

func main() {
	address := flag.String("address", "", "`host:port` to listen on")
	region := flag.String("region", "", "name of the region")
	readOnly := flag.Bool("readonly", false, "refuse writes")
	flag.Parse()
	if err := run(*address, *region, *readOnly, flag.Arg(0)); err != nil {
		log.Fatal(err)
	}
}

func run(address, region string, readOnly bool, folder string) error {
	metadata := meta.XattrMeta{}
	if err := metadata.Test(folder); err != nil {
		return err
	}
	options := posix.PosixOpts{Concurrency: 5000, IOBufferSize: 1 << 20, CopyObjectThreshold: 5 << 30}
	options.SetNewDirPerm(fs.FileMode(0o755))
	options.SetNewFilePerm(fs.FileMode(0o644))
	backend, err := posix.New(folder, metadata, options)
	if err != nil {
		return err
	}
	return embedgw.RunVersityGW(context.Background(), backend, &embedgw.Config{
		RootUserAccess: os.Getenv("ROOT_ACCESS_KEY"), RootUserSecret: os.Getenv("ROOT_SECRET_KEY"),
		Region: region, Ports: []string{address}, Readonly: readOnly, Quiet: true,
		MaxConnections: many, MaxRequests: many, MultipartMaxParts: 10_000, IAMCacheTTL: 120, IAMCachePrune: 3600,
	})
}
