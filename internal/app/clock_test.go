package app

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"merchantorders/internal/config"
	"merchantorders/internal/store"
	"merchantorders/internal/store/pgtest"
	"merchantorders/internal/testenv"
)

// TestClock opens databases on a machine whose clock is wrong: on PostgreSQL the times are
// those of the server, which all instances share.
func TestClock(t *testing.T) {
	t.Parallel()
	server := pgtest.StartServer(t)
	postgres := server.Database(t)
	for apart, corrected := range map[time.Duration]bool{5 * time.Minute: true, -5 * time.Minute: true, maxClockOffset / 2: false} {
		for database, want := range map[string]bool{postgres: corrected, "sqlite://" + filepath.Join(t.TempDir(), "orders.db"): false} {
			t.Run(fmt.Sprint(apart, want), func(t *testing.T) {
				o := Opener{
					Settings: config.Config{Data: t.TempDir(), Database: database},
					Now:      func() time.Time { return time.Now().Add(apart) },
				}
				db := testenv.Of(o.OpenDatabase(t.Context(), store.Options{})).Must(t)
				t.Cleanup(func() { _ = db.Close() })
				wrong := o.Now().Sub(time.Now())
				testenv.Equal(t, wrong.String()+" ahead", want, wrong.Abs() < (wrong-apart).Abs())
			})
		}
	}
}
