package app

import (
	"context"
	"strings"
	"sync/atomic"

	"merchantorders/internal/config"
	"merchantorders/internal/delivery"
	"merchantorders/internal/delivery/digest"
	"merchantorders/internal/mail"
)

// Reread has the settings of a running server as they are now. They are valid.
type Reread struct {
	Settings config.Config
	Flags    config.Serve
	Sources  *config.Sources
}

// reload brings the settings into effect that need no restart. If anything is wrong with any
// setting, nothing changes. Either is one line of the log.
func (s *server) reload() {
	restart, err := s.useSettings()
	if err != nil {
		reasons := strings.Split(strings.TrimSpace(err.Error()), "\n")
		s.log.Error("the settings are not reloaded: something is wrong, and nothing has changed", "error", OneLine(strings.Join(reasons, "; ")))
		return
	}
	s.log.Info("settings reloaded", "need_restart", strings.Join(restart, ","))
}

// useSettings returns the changed settings that need a restart.
func (s *server) useSettings() (restart []string, err error) {
	next, err := s.Reread()
	if err != nil {
		return nil, err
	}
	tls := s.certificate != nil && next.Flags.TLS()
	if tls {
		certificate, err := next.Flags.Certificate()
		if err == nil {
			err = s.certificate.Check(certificate)
		}
		if err != nil {
			return nil, err
		}
	}
	// Nothing can fail from here on.
	s.level.Set(next.Settings.Level())
	if tls {
		s.certificate.Reload(next.Flags.Certificate)
	}
	baseURL, _ := s.Settings.Addresses("")
	mails := MailClient(next.Flags, baseURL)
	if s.mails != nil && mails != nil {
		s.mails.client.Store(mails)
	}
	// Another provider, or another client of it, has another secret.
	client := next.Flags.OIDCIssuer == s.Flags.OIDCIssuer && next.Flags.OIDCClientID == s.Flags.OIDCClientID
	if client {
		s.oidcSecret.Store(&next.Flags.OIDCClientSecret)
	}
	inEffect := func(name string) bool {
		switch name {
		case "log-level":
			return true
		case "tls-cert", "tls-key":
			return tls
		case "smtp", "smtp-from", "smtp-hello", "smtp-user", "smtp-password":
			return s.mails != nil && mails != nil
		case "oidc-client-secret":
			return client
		case "database":
			// One in a file is read again for each connection.
			database, err := s.Sources.Reread(name)
			return err == nil && database == next.Settings.Database
		}
		return false
	}
	for _, name := range append(config.Changed(s.Settings, next.Settings), config.Changed(s.Flags, next.Flags)...) {
		if !inEffect(name) {
			restart = append(restart, name)
		}
	}
	return append(restart, s.Sources.ChangedKeys(next.Sources)...), nil
}

// currentMailer sends through the mail server of the newest settings.
type currentMailer struct{ client atomic.Pointer[mail.Client] }

func newCurrentMailer(client *mail.Client) *currentMailer {
	m := new(currentMailer)
	m.client.Store(client)
	return m
}

// Send implements digest.Mailer.
func (m *currentMailer) Send(ctx context.Context, e digest.Mail) delivery.Result {
	return m.client.Load().Send(ctx, e)
}
