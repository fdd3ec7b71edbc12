package commands

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"syscall"
	"time"

	"merchantorders/internal/app"
	"merchantorders/internal/config"
)

const (
	diskWarning  = 10 // percent that is free
	diskProblem  = 2
	filesWarning = 4096 // open files
)

// checkDisks examines the file systems of the data folder, the database and the
// invoice files.
func (d *doctor) checkDisks() {
	folders := append([]string{d.Settings.Data}, slices.Sorted(maps.Values(d.Settings.Folders()))...)
	seen := make(map[uint64]bool)
	for _, folder := range folders {
		folder, err := config.Existing(folder)
		var info syscall.Stat_t
		var system syscall.Statfs_t
		if err := errors.Join(err, syscall.Stat(folder, &info), syscall.Statfs(folder, &system)); err != nil {
			d.problem("disk", fmt.Errorf("%s: %w", folder, err))
			continue
		}
		if device := uint64(info.Dev); !seen[device] {
			seen[device] = true
			size := uint64(system.Bsize)
			d.checkFree("disk", folder, system.Bavail, system.Blocks, fmt.Sprintf("%.1f GB", float64(system.Bavail*size)/1e9))
			d.checkFree("inodes", folder, system.Ffree, system.Files, fmt.Sprintf("%d inodes", system.Ffree))
		}
	}
}

// checkFree examines how much of a file system is free. text is the same for people.
// A file system without a number of inodes has total 0.
func (d *doctor) checkFree(check, folder string, free, total uint64, text string) {
	if total == 0 {
		return
	}
	percent := free * 100 / total
	detail := fmt.Sprintf("%s has %s free, %d %%", folder, text, percent)
	d.graded(check, detail, "make room: without it nothing can be stored", percent < diskProblem, percent < diskWarning)
}

// checkLimits examines the limit on open files of this process, which should be
// started as the service is.
func (d *doctor) checkLimits() {
	files := app.MaxOpenFiles()
	connections := d.flags.Connections(files)
	detail := fmt.Sprintf("%d open files, %d connections", files, connections)
	switch {
	case uint64(connections) > files/2:
		d.add(statusProblem, "limits", detail, "set --max-connections to less than half of the open files, or raise the limit (ulimit -n, LimitNOFILE)")
	case files < filesWarning:
		d.add(statusWarning, "limits", detail, "raise the limit (ulimit -n, LimitNOFILE) for more connections")
	default:
		d.add(statusOK, "limits", detail, "")
	}
}

// checkListen examines how clients reach the service.
func (d *doctor) checkListen() {
	if !config.IsLoopback(d.flags.Listen) && d.Settings.BaseURL == "" {
		d.add(statusWarning, "base-url", "is not set: links begin with the listening address", "set --base-url to the URL that clients use")
	}
	if d.flags.TLS() {
		d.checkCertificate()
	} else if !config.IsLoopback(d.flags.Listen) && d.flags.TrustedProxies == "" {
		d.add(statusWarning, "encryption", "other machines can reach "+d.flags.Listen+", and its connections are not encrypted",
			app.EncryptAdvice)
	}
}

// expiryWarning is how long before its end a certificate should be replaced.
const expiryWarning = 14 * 24 * time.Hour

// checkCertificate examines the end of the certificate. The settings are checked, so
// the pair is valid otherwise.
func (d *doctor) checkCertificate() {
	pair, err := d.flags.Certificate()
	if err != nil {
		d.problem("certificate", err)
		return
	}
	left := pair.Leaf.NotAfter.Sub(d.Now())
	detail := d.flags.TLSCert + " expires at " + timestamp(pair.Leaf.NotAfter)
	switch {
	case left <= 0:
		d.add(statusProblem, "certificate", detail, "replace it: clients refuse it")
	case left < expiryWarning:
		d.add(statusWarning, "certificate", detail, "replace it")
	default:
		d.add(statusOK, "certificate", detail, "")
	}
}
