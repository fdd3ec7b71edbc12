package app

import (
	"errors"
	"log/slog"
	"net"
	"slices"
	"testing"
	"time"

	"merchantorders/internal/config"
	"merchantorders/internal/delivery/digest"
	"merchantorders/internal/store"
	"merchantorders/internal/testenv"
)

// TestUseSettings changes the settings of what other services know of a server.
func TestUseSettings(t *testing.T) {
	t.Parallel()
	servers := map[string]net.Listener{}
	for _, name := range []string{"first", "second"} {
		listener := testenv.Of(net.Listen("tcp", "127.0.0.1:0")).Must(t)
		defer func() { _ = listener.Close() }()
		servers[name] = listener
	}
	settings := config.Config{Data: t.TempDir(), BaseURL: "https://orders.example.com", LogLevel: "info"}
	flags := config.Serve{
		SMTP: "smtp://" + servers["first"].Addr().String(), SMTPFrom: "a@example.com",
		OIDCIssuer: "https://sso.example.com", OIDCClientID: "orders", OIDCClientSecret: "one",
	}
	log := slog.New(slog.DiscardHandler)
	o := Opener{Settings: settings, Sources: config.NewSources(nil, nil), Now: time.Now}
	db := testenv.Of(o.OpenDatabase(t.Context(), store.Options{})).Must(t)
	s := &server{Backend: o.NewBackend(db, nil, Deps{Log: log, Flags: flags}), log: log, level: new(slog.LevelVar)}
	defer func() { testenv.NoError(t, s.Close()) }()
	s.ServeOptions = ServeOptions{Opener: o, Flags: flags}
	sends := func(to string) {
		t.Helper()
		connected := make(chan struct{})
		go func() {
			connection := testenv.Of(servers[to].Accept()).Must(t)
			_ = connection.Close()
			close(connected)
		}()
		if result := s.Mailer.Send(t.Context(), digest.Mail{To: "b@example.com"}); result.Error == "" {
			t.Error("the e-mail was taken")
		}
		<-connected
	}
	provider := s.identity()
	sends("first")
	for _, test := range []struct {
		change  func(*config.Serve)
		restart []string
		secret  string
	}{
		{func(f *config.Serve) { f.OIDCClientSecret = "two" }, nil, "two"},
		{func(f *config.Serve) { f.OIDCClientSecret, f.OIDCClientID = "three", "others" }, []string{"oidc-client-id", "oidc-client-secret"}, "two"},
		{func(f *config.Serve) { f.SMTP = "" }, []string{"smtp"}, "one"},
		{func(f *config.Serve) { f.SMTP = "smtp://" + servers["second"].Addr().String() }, nil, "one"},
	} {
		next := flags
		test.change(&next)
		s.Reread = func() (Reread, error) { return Reread{settings, next, s.Sources}, nil }
		restart := testenv.Of(s.useSettings()).Must(t)
		if got := provider.Secret(); got != test.secret || !slices.Equal(restart, test.restart) {
			t.Errorf("the secret is %q, want %q; %q need a restart, want %q", got, test.secret, restart, test.restart)
		}
	}
	sends("second")
	s.Reread = func() (Reread, error) {
		return Reread{config.Config{LogLevel: "debug"}, flags, s.Sources}, errors.New("wrong")
	}
	if _, err := s.useSettings(); err == nil || s.level.Level() != slog.LevelInfo {
		t.Errorf("a wrong setting: %v, level %s", err, s.level.Level())
	}
	sends("second")
}
