package commands

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"merchantorders/internal/app"
	"merchantorders/internal/delivery"
	"merchantorders/internal/filestore"
	"merchantorders/internal/filestore/disk"
	"merchantorders/internal/maintenance/backup"
	"merchantorders/internal/order"
	"merchantorders/internal/store"
	"merchantorders/internal/store/migrations"
	"merchantorders/internal/store/sqldb"
	"merchantorders/internal/tracing"
)

// checkFolder examines the data folder and the settings file.
func (d *doctor) checkFolder() {
	info, err := os.Stat(d.Settings.Data)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		d.add(statusWarning, "data folder", d.Settings.Data+" does not exist", "serve and merchant add create it")
	case err != nil:
		d.problem("data folder", err)
	case info.Mode().Perm()&0o077 != 0:
		d.add(statusWarning, "data folder", fmt.Sprintf("%s is open to other users (%s)", d.Settings.Data, info.Mode().Perm()),
			"run chmod 700 "+d.Settings.Data)
	default:
		d.add(statusOK, "data folder", d.Settings.Data, "")
	}
	for _, file := range d.Sources.SecretFiles() {
		if info, err := os.Stat(file); err == nil && info.Mode().Perm()&0o007 != 0 {
			d.add(statusWarning, "secrets", fmt.Sprintf("%s has secrets and is open to all users (%s)", file, info.Mode().Perm()), "run chmod o= "+file)
		}
	}
}

// packageBackups is where the unit of the package stores backups.
const packageBackups = "/var/backups/merchant-orders"

// nightly is how old the last success of a nightly job may be, as in the alerts.
const nightly = 26 * time.Hour

// checkNightly says how the last one of a nightly job ended.
func (d *doctor) checkNightly(job store.NightlyJob, run store.NightlyRun) {
	name, detail := "nightly "+string(job), fmt.Sprintf("the last %s that succeeded ended at %s", job, timestamp(run.LastSuccess))
	switch {
	case run.Failed:
		d.add(statusWarning, name, fmt.Sprintf("the last %s failed, or found something; %s", job, detail), "run it by hand, and see what it says")
	case d.Now().Sub(run.LastSuccess) > nightly:
		d.add(statusWarning, name, detail, "run it every night")
	default:
		d.add(statusOK, name, detail, "")
	}
}

// checkBackups says how the nightly jobs ended, and looks for what killed backups have left: in
// the folder of the package, in the data folder and beside it, and where the database says that
// backups are made.
func (d *doctor) checkBackups(ctx context.Context) {
	dirs := []string{packageBackups}
	if data, err := filepath.Abs(d.Settings.Data); err == nil {
		dirs = append(dirs, data, filepath.Dir(data))
	}
	if !d.DatabaseMissing() {
		_ = d.withDatabase(ctx, existing, func(b *app.Backend) error { // other checks tell of its errors
			runs, err := b.DB.Runs(ctx)
			for _, job := range slices.Sorted(maps.Keys(runs)) {
				d.checkNightly(job, runs[job])
			}
			recorded, foldersErr := b.DB.BackupFolders(ctx)
			dirs = append(dirs, recorded...)
			return errors.Join(err, foldersErr)
		})
	}
	slices.Sort(dirs)
	for _, dir := range slices.Compact(dirs) {
		left, _ := backup.Left(dir) // it need not exist, nor be readable
		for _, folder := range left {
			d.add(statusWarning, "backups", folder+" is left from a backup that was killed", "remove it, or make another backup beside it, which does")
		}
	}
}

// checkDatabase examines the database: whether it can be opened, its version, the
// rights of the user, and its clock.
func (d *doctor) checkDatabase(ctx context.Context) {
	name := d.Settings.DatabaseName()
	served, wrong := d.DatabaseServed()
	if served && wrong != "" {
		d.add(statusProblem, "database", "the server that has it open: "+wrong, "")
		return
	}
	if d.DatabaseMissing() {
		if served {
			d.add(statusProblem, "database", name+" was deleted while a server has it open", "stop the server, put the database back, from a backup if need be, and start it")
			return
		}
		d.add(statusWarning, "database", name+" does not exist", "serve and merchant add make a new installation in an empty folder")
		return
	}
	engine, address := d.Engine()
	schema, err := engine.Schema(ctx, address)
	var found sqldb.Examination
	before := d.Now()
	if err == nil {
		found, err = engine.Examine(ctx, address)
	}
	if err != nil {
		d.problem("database", d.CannotOpen(ctx, "database", d.Settings.Database, err))
		return
	}
	if found.Product != "" {
		name += ", " + found.Product
	}
	if flaw := found.Unusable; flaw != nil {
		d.add(statusProblem, "database", strings.TrimSpace(name+" "+flaw.Problem), flaw.Advice)
	} else {
		d.add(statusOK, "database", name, "")
	}
	for _, flaw := range found.Advice {
		d.add(statusWarning, "database", flaw.Problem, flaw.Advice)
	}
	d.checkSchema(schema)
	if flaw := found.Lacking; flaw != nil {
		d.add(statusProblem, "rights", flaw.Problem, flaw.Advice)
	} else {
		d.add(statusOK, "rights", found.Rights, "")
	}
	if found.Now.IsZero() {
		d.add(statusOK, "clock", "the database has the clock of this machine", "")
		return
	}
	// The statement takes part of the time between the two readings.
	d.checkClock(max(before.Sub(found.Now), found.Now.Sub(d.Now())))
}

const (
	clockWarning = 2 * time.Second
	clockProblem = time.Minute
)

// checkClock compares the clocks of this machine and of the database.
func (d *doctor) checkClock(apart time.Duration) {
	detail := fmt.Sprintf("this machine and the database are %s apart", max(apart, 0).Round(time.Millisecond))
	d.graded("clock", detail, "synchronize both with NTP: serve uses the clock of the database meanwhile", apart >= clockProblem, apart >= clockWarning)
}

// checkSchema compares the schema of the database with this program.
func (d *doctor) checkSchema(schema migrations.Status) {
	version, newest := schema.Version, schema.Newest
	detail := fmt.Sprintf("version %d, this program knows %d", version, newest)
	switch {
	case schema.Foreign != nil:
		d.problem("schema", schema.Foreign)
	case version == 0:
		d.add(statusWarning, "schema", "the database is empty", "serve and merchant add make a new installation")
	case version < newest:
		d.add(statusWarning, "schema", detail, "make a backup, then run migrate or start serve")
	case version > newest && schema.OnlyAdds():
		d.add(statusOK, "schema", detail+", which works with it", "")
	case version > newest:
		d.add(statusProblem, "schema", detail, "serve of this program does not start on it: use the newer program")
	default:
		d.add(statusOK, "schema", detail, "")
	}
}

// checkRetention shows whether automatic changes wait for a doubtful clock, and what --retain
// deletes, and when.
func (d *doctor) checkRetention(ctx context.Context) {
	if d.DatabaseMissing() {
		return
	}
	age := d.flags.Retain.Value()
	var period order.RetentionPeriod
	var old int64
	err := d.withDatabase(ctx, existing, func(b *app.Backend) (err error) {
		if period, err = b.Retention.Period(ctx); err == nil && age > 0 {
			old, err = b.Retention.CountOldOrders(ctx, d.Now().Add(-age))
		}
		period = period.At(d.Now())
		return err
	})
	if !period.WaitUntil.IsZero() && (age > 0 || d.flags.CancelExpired || d.flags.PurgeDeletedAfter.Value() > 0) {
		d.add(statusWarning, "clock", fmt.Sprintf("it is more than 30 days ahead of the last automatic changes, at %s: serve cancels, deletes and purges nothing by itself before %s",
			timestamp(period.RanAt), timestamp(period.WaitUntil)), "correct the clock if it is wrong")
	}
	if age == 0 {
		return // other checks tell of errors
	}
	name, orders := "--retain "+string(d.flags.Retain), "deletes "+count(old, "order", "orders")
	switch {
	case err != nil:
		d.problem("retention", err)
	case d.flags.RetainAtOnce() || period.Begun != 0 && age >= period.Begun:
		d.add(statusOK, "retention", name+" "+orders+" at its next run", "")
	case period.Announced == age:
		d.add(statusWarning, "retention", fmt.Sprintf("%s is announced, and %s from %s on", name, orders, period.AnnouncedAt.Add(order.RetentionNotice).Format(time.RFC3339)),
			"change it if these are too many")
	default:
		d.add(statusWarning, "retention", name+" is new or shorter, and "+orders+" a day after serve has begun with it", "change it if these are too many")
	}
}

// checkStorage writes, reads and deletes an object of its own.
func (d *doctor) checkStorage(ctx context.Context) {
	name := d.Settings.StorageName()
	if _, bucket := d.Settings.Bucket(); bucket {
		bucket, err := d.OpenBucket(ctx)
		switch {
		case err != nil:
			d.problem("storage", err)
		case bucket.Overwrites():
			d.add(statusWarning, "storage", name+": "+app.BucketOverwrites, app.BucketAdvice)
		default:
			d.add(statusOK, "storage", name+": an object was written, read and deleted", "")
		}
		return
	}
	path := d.Settings.FilesPath()
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		d.add(statusWarning, "storage", name+" does not exist", "serve creates it")
		return
	}
	place := path
	if _, err := os.Lstat(filepath.Join(path, order.InvoiceFolder)); errors.Is(err, fs.ErrNotExist) {
		// A first serve takes an empty folder only.
		if own, err := os.MkdirTemp(path, "doctor-"); err == nil {
			defer func() { _ = os.RemoveAll(own) }()
			place = own
		}
	}
	files, err := disk.Open(place)
	if err == nil {
		err = errors.Join(filestore.Probe(ctx, files), files.Close())
	}
	if err != nil {
		d.problem("storage", d.CannotOpen(ctx, "storage", d.Settings.Storage, err))
		return
	}
	d.add(statusOK, "storage", name+": a file was written, read and deleted", "")
}

// checkReceivers counts the webhooks that do not take their events. It says nothing if there
// are none, or if the database, of which other checks tell, cannot be read.
func (d *doctor) checkReceivers(ctx context.Context) {
	if d.DatabaseMissing() {
		return
	}
	_ = d.withDatabase(ctx, current, func(b *app.Backend) error {
		for _, state := range []delivery.State{delivery.Failed, delivery.Failing} {
			found, err := b.Webhooks.Page(ctx, state, 0, webhooksPage)
			if err != nil {
				return err
			}
			if len(found) > 0 {
				d.add(statusWarning, "webhooks", count(int64(len(found)), "webhook", "webhooks")+" in the state "+state.String(),
					"run merchant-orders webhook list --state "+state.String())
			}
		}
		return nil
	})
}

// outsideTimeout bounds the check of a server of others. serve is more patient.
const outsideTimeout = 15 * time.Second

// checkMail opens a session with the mail server and names the sender.
func (d *doctor) checkMail(ctx context.Context) {
	baseURL, _ := d.Settings.Addresses("")
	client := app.MailClient(d.flags, baseURL)
	if client == nil {
		return
	}
	advice := "check --smtp, --smtp-user, --smtp-password and --smtp-from"
	d.reached(ctx, "mail", d.flags.SMTP+" takes e-mails from "+d.flags.SMTPFrom, advice, func(ctx context.Context) error {
		if err := client.Check(ctx); err != nil {
			return fmt.Errorf("%s takes no e-mail from %s: %w", d.flags.SMTP, d.flags.SMTPFrom, err)
		}
		return nil
	})
}

// checkIdentity reads what the identity provider says of itself.
func (d *doctor) checkIdentity(ctx context.Context) {
	provider := d.flags.Identity(d.Now)
	if provider == nil {
		return
	}
	d.reached(ctx, "identity provider", d.flags.OIDCIssuer, "check --oidc-issuer", provider.Check)
}

// checkTracing sends a span.
func (d *doctor) checkTracing(ctx context.Context) {
	endpoint, err := tracing.Endpoint(d.environ)
	if err == nil && endpoint == "" {
		return
	}
	d.reached(ctx, "tracing", "the collector has taken a span", "check the variables OTEL_EXPORTER_OTLP_...", func(ctx context.Context) error {
		if err != nil {
			return err
		}
		return tracing.Check(ctx, endpoint)
	})
}
