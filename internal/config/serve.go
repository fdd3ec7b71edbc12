package config

import (
	"cmp"
	"errors"
	"net"
	"net/mail"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"

	"merchantorders/internal/identity"
	"merchantorders/internal/order"
)

// The region and the bucket of the data folder, in the URLs of invoice files.
const (
	LocalRegion = "local"
	LocalBucket = "merchant-orders"
)

// The values of LogFormat.
const (
	LogJSON = "json"
	LogText = "text"
)

// Serve has the settings of the command serve, with tags as in Config.
type Serve struct {
	Listen               string   `default:"127.0.0.1:8080" placeholder:"HOST:PORT" help:"Address for clients; 0.0.0.0 and [::] are all addresses of the machine, of IPv4 and IPv6. Port 0: a free port, which is printed."`
	AdminListen          string   `name:"admin-listen" placeholder:"HOST:PORT" help:"Address for the pages and the interface of operators, /metrics, the details of /readyz and /debug/pprof, which --listen never serves. Empty: 127.0.0.1:8081, or a free port if that is taken; it is printed. none: no such listener."`
	MetricsListen        string   `name:"metrics-listen" placeholder:"HOST:PORT" help:"Another address, for /metrics, /healthz and /readyz only; with --admin-base-url also for /debug/pprof. Empty: none."`
	TLSCert              string   `name:"tls-cert" placeholder:"FILE" help:"Certificate in PEM form, followed by those of its issuers, for HTTPS, also on the other ports unless their address is loopback. It is read again when it changes."`
	TLSKey               string   `name:"tls-key" placeholder:"FILE" help:"Private key of --tls-cert in PEM form."`
	TrustedProxies       string   `name:"trusted-proxies" placeholder:"CIDR,..." help:"Networks of proxies whose headers X-Forwarded-For, X-Forwarded-Proto and Forwarded say which address the client has and whether it uses https."`
	RateLimit            string   `name:"rate-limit" default:"100" placeholder:"N" help:"Requests a second for each token, with bursts of twice as many; at most 10000. 0: no limit, also for requests in flight and failed sign-ins."`
	MaxConnections       string   `name:"max-connections" placeholder:"N" help:"Connections at a time, and requests in progress. Empty: half of the limit on open files, 10000 at most."`
	IdleTimeout          Duration `name:"idle-timeout" default:"30s" placeholder:"DURATION" help:"Time after which a connection without a request is closed; longer than that of a proxy."`
	Wait                 Duration `default:"0s" placeholder:"DURATION" help:"Time, up to 1h, that a starting server waits for a database that cannot be reached or takes no changes yet, or a bucket; then it exits with code 6."`
	Drain                Duration `default:"0s" placeholder:"DURATION" help:"Time, up to 1h, that a stopping server still serves requests while /readyz is 503."`
	PurgeDeletedAfter    Duration `name:"purge-deleted-after" default:"720h" placeholder:"DURATION" help:"Time after which the bytes of a deleted invoice file are removed. 0: never."`
	Retain               Duration `default:"0" placeholder:"DURATION" help:"Age after which orders in a final state are deleted with their files, such as 3650d; from 1d. Events, references and the audit log stay. 0: never."`
	RetainConfirmed      Duration `name:"retain-confirmed" default:"0" placeholder:"DURATION" help:"The same as --retain, to let a shorter age delete at once instead of after a day."`
	CancelExpired        bool     `name:"cancel-expired" help:"Cancel orders that their merchant has neither accepted nor rejected before their deadline (expiresAt)."`
	DeadlineWarning      Duration `name:"deadline-warning" default:"0" placeholder:"DURATION" help:"Time before the deadline (expiresAt) of such an order at which the event order.deadline_near is written, such as 6h. 0: none."`
	HideAddresses        bool     `name:"hide-addresses" help:"Do not log the addresses of clients whose request gets a 401 or 403."`
	TimeZone             string   `name:"time-zone" placeholder:"NAME" help:"Time zone of the merchants' console, such as Europe/Athens, unless the merchant has its own. Empty: UTC."`
	LogFormat            string   `name:"log-format" default:"json" placeholder:"WORD" help:"Format of the log: json or text."`
	ReadyRequiresStorage bool     `name:"ready-requires-storage" help:"/readyz is 503 while the bucket of the invoice files is out of reach, instead of only reporting it."`
	OIDCIssuer           string   `name:"oidc-issuer" placeholder:"URL" help:"Identity provider by which people sign in at the console, by OpenID Connect. Empty: none."`
	OIDCClientID         string   `name:"oidc-client-id" placeholder:"TEXT" help:"The service's id at --oidc-issuer."`
	OIDCClientSecret     string   `name:"oidc-client-secret" secret:"" placeholder:"TEXT" help:"The service's secret at --oidc-issuer. Empty: it is a public client."`
	OIDCTrustUnverified  bool     `name:"oidc-trust-unverified-email" help:"Apply rules about email also to addresses that the provider has not verified. Only where nobody can enter the address of somebody else."`
	OIDCRules            string   `name:"oidc-rules" placeholder:"LINES" help:"What people may do by their claims, the first line that applies: CLAIM=VALUE, then operator, merchant=N, or merchant=* if VALUE is * and the claim is the id, then scopes."`
	SecurityContact      string   `name:"security-contact" placeholder:"URI" help:"Where to report vulnerabilities, for /.well-known/security.txt: mailto:ADDRESS, https://... or tel:NUMBER. Empty: that page is a 404."`
	SMTP                 string   `placeholder:"URL" help:"Mail server for e-mails to merchants: smtps://HOST:PORT with TLS, or smtp://HOST:PORT with STARTTLS, which only localhost may lack. Needs --base-url. Empty: no e-mails."`
	SMTPFrom             string   `name:"smtp-from" placeholder:"ADDRESS" help:"Sender of the e-mails, such as orders@example.com."`
	SMTPHello            string   `name:"smtp-hello" placeholder:"NAME" help:"Name of this server in EHLO. Empty: the host of --base-url."`
	SMTPUser             string   `name:"smtp-user" placeholder:"TEXT" help:"User name at --smtp. Empty: none is needed."`
	SMTPPassword         string   `name:"smtp-password" secret:"" placeholder:"TEXT" help:"Password of --smtp-user."`
	EnvironmentFile      string   `name:"environment-file" placeholder:"FILE" help:"File with the variables of the service, in the form of systemd's EnvironmentFile, to be read again at SIGHUP. Empty: the variables are those of the start."`
	NoWebhooks           bool     `name:"no-webhooks" help:"Deliver no webhooks and e-mails from this server, such as one on a copy of an installation."`
	WebhookAllowPrivate  bool     `name:"webhook-allow-private" help:"Allow webhooks with http, any port, and addresses that are not public. Only for tests and sandboxes: merchants can then reach the network of the server."`
	Demo                 bool     `help:"In an empty data folder, create merchant 355 with about 60 orders, and print a token for 24 hours and three commands to try. Then act as the marketplace of this merchant, as simulate does, and as a sandbox (--sandbox)."`
	Sandbox              bool     `help:"Simulate faults, for rehearsals only: a request gets the fault that its header X-Sandbox-Fault names (slow, 429, 503, reset or lost), webhooks whose URL has sandbox-fault=twice are sent twice, and POST /v2/sandbox/orders/REFERENCE/state brings an order into a state."`
}

// Check returns the *Error of every invalid setting, joined, or nil.
func (s Serve) Check() error {
	_, rate := parseNumber(s.RateLimit, 0, MaxRateLimit)
	var connections string
	if s.MaxConnections != "" {
		_, connections = parseNumber(s.MaxConnections, MinConnections, maxConnections)
	}
	idle := s.IdleTimeout.check("must be a duration from 1s to 1h, such as 30s", func(d time.Duration) bool { return d >= time.Second && d <= time.Hour })
	purge := s.PurgeDeletedAfter.check("must be a duration such as 30d or 720h, or 0 for never", nil)
	retain := s.Retain.check("must be a duration from 1d, such as 3650d or 87600h, or 0 for never", func(d time.Duration) bool { return d == 0 || d >= 24*time.Hour })
	confirmed := s.RetainConfirmed.check("must be the duration of --retain, which it confirms, or 0", func(d time.Duration) bool { return d == 0 || d == s.Retain.Value() })
	warning := s.DeadlineWarning.check("must be a duration such as 6h, or 0 for none", nil)
	zone := ""
	if s.TimeZone != "" {
		zone = order.TimeZoneProblem(s.TimeZone)
	}
	_, proxies := parseNetworks(s.TrustedProxies)
	var issuer, clientID, rules string
	if s.OIDCIssuer != "" {
		issuer = checkIssuer(s.OIDCIssuer)
		if s.OIDCClientID == "" {
			clientID = "is required with --oidc-issuer"
		}
		if _, err := identity.ParseRules(s.OIDCRules); err != nil {
			rules = err.Error()
		}
	}
	return errors.Join(Invalid("listen", CheckListen(s.Listen)), s.checkTLS(),
		Invalid("admin-listen", checkFurtherListen(s.AdminListen, listenFlag{"listen", s.Listen})),
		Invalid("metrics-listen", checkFurtherListen(s.MetricsListen, listenFlag{"listen", s.Listen}, listenFlag{"admin-listen", s.AdminListen})),
		Invalid("trusted-proxies", proxies), Invalid("rate-limit", rate), Invalid("purge-deleted-after", purge), Invalid("retain", retain), Invalid("retain-confirmed", confirmed), Invalid("deadline-warning", warning),
		Invalid("max-connections", connections), Invalid("idle-timeout", idle), Invalid("drain", checkPause(s.Drain)), Invalid("wait", checkPause(s.Wait)),
		Invalid("time-zone", zone), Invalid("security-contact", checkContact(s.SecurityContact)), Invalid("oidc-issuer", issuer), Invalid("oidc-client-id", clientID), Invalid("oidc-rules", rules),
		s.checkMail(),
		Invalid("log-format", oneOf(s.LogFormat, LogJSON, LogText)))
}

// checkContact checks where to report vulnerabilities.
func checkContact(text string) string {
	contact, err := url.Parse(text)
	if text == "" || err == nil && text == contact.String() && (contact.Scheme == "https" && contact.Host != "" || contact.Scheme == "mailto" && strings.Contains(contact.Opaque, "@") || contact.Scheme == "tel" && contact.Opaque != "") {
		return ""
	}
	return "must be a URI such as mailto:security@example.com or https://example.com/security"
}

// checkMail checks the settings of e-mails.
func (s Serve) checkMail() error {
	if s.SMTP == "" {
		return nil
	}
	var server, from, hello, user string
	if strings.ContainsFunc(s.SMTPHello, func(r rune) bool { return r <= ' ' || r > '~' }) {
		hello = "must be a host name, or an IP address in brackets"
	}
	if _, ok := s.MailServer(); !ok {
		server = "must be smtps://HOST:PORT or smtp://HOST:PORT"
	}
	if sender, err := mail.ParseAddress(s.SMTPFrom); err != nil || sender.Address != s.SMTPFrom {
		from = "must be an e-mail address, which --smtp needs"
	}
	if (s.SMTPUser == "") != (s.SMTPPassword == "") {
		user = "needs --smtp-password, and that needs --smtp-user"
	}
	return errors.Join(Invalid("smtp", server), Invalid("smtp-from", from), Invalid("smtp-hello", hello), Invalid("smtp-user", user))
}

// CheckLinks returns an *Error if e-mails are to be sent, but the base URL, with which
// their links begin, is not set.
func (s Serve) CheckLinks(baseURL string) error {
	if s.SMTP == "" || baseURL != "" {
		return nil
	}
	return Invalid("smtp", "needs --base-url, with which the links in the e-mails begin")
}

// MailServer is a mail server.
type MailServer struct {
	Host  string
	Port  int
	TLS   bool // from the beginning; false: by STARTTLS
	Local bool // on this machine, where TLS is not needed
}

// The ports of mail servers (RFC 8314, 7.3).
const (
	submissionPort  = 587
	submissionsPort = 465
)

// MailServer returns the mail server of SMTP; ok is false if it is not valid.
func (s Serve) MailServer() (server MailServer, ok bool) {
	u, err := url.Parse(s.SMTP)
	if err != nil || u.Scheme != "smtp" && u.Scheme != "smtps" || u.Hostname() == "" || u.User != nil || strings.Trim(u.Path, "/")+u.RawQuery+u.Fragment != "" {
		return MailServer{}, false
	}
	server = MailServer{Host: u.Hostname(), Port: submissionPort, TLS: u.Scheme == "smtps", Local: IsLoopback(net.JoinHostPort(u.Hostname(), ""))}
	if server.TLS {
		server.Port = submissionsPort
	}
	if text := u.Port(); text != "" {
		var problem string
		if server.Port, problem = parseNumber(text, 1, 65535); problem != "" {
			return MailServer{}, false
		}
	}
	return server, true
}

// MailHello returns the name of the service in EHLO, which many mail servers refuse if it is
// not one that others can know (RFC 5321, 4.1.1.1).
func (s Serve) MailHello(baseURL string) string {
	if s.SMTPHello != "" {
		return s.SMTPHello
	}
	u, err := url.Parse(baseURL)
	if err != nil {
		return ""
	}
	address, err := netip.ParseAddr(u.Hostname())
	switch {
	case err != nil:
		return u.Hostname()
	case address.Is6():
		return "[IPv6:" + address.String() + "]"
	}
	return "[" + address.String() + "]"
}

// checkIssuer checks the URL of an identity provider.
func checkIssuer(text string) string {
	issuer, err := url.Parse(text)
	if err != nil || issuer.Host == "" || issuer.Scheme != "https" && (issuer.Scheme != "http" || !IsLoopback(net.JoinHostPort(issuer.Hostname(), "0"))) {
		return "must be a URL that begins with https://, or with http:// on this machine"
	}
	return ""
}

// Identity returns the identity provider by which people sign in; nil: none.
func (s Serve) Identity(now func() time.Time) *identity.Provider {
	if s.OIDCIssuer == "" {
		return nil
	}
	rules, _ := identity.ParseRules(s.OIDCRules) // Check has found them valid
	return &identity.Provider{Issuer: s.OIDCIssuer, ClientID: s.OIDCClientID, Secret: func() string { return s.OIDCClientSecret }, Rules: rules, TrustUnverifiedEmail: s.OIDCTrustUnverified, Now: now}
}

// Zone returns the time zone of merchants that have none.
func (s Serve) Zone() *time.Location {
	zone, err := order.LoadTimeZone(s.TimeZone)
	if err != nil { // it is empty: Check has found others valid
		return time.UTC
	}
	return zone
}

// maxPause is the maximum of Drain and Wait.
const maxPause = time.Hour

// checkPause checks a duration of Drain or Wait.
func checkPause(text Duration) string {
	return text.check("must be a duration from 0s to 1h, such as 5s", func(d time.Duration) bool { return d <= maxPause })
}

// localhost is the name of the loopback addresses.
const localhost = "localhost"

// IsLoopback reports whether only this machine can reach a listening address.
func IsLoopback(address string) bool {
	host, _, _ := net.SplitHostPort(address)
	return host == localhost || net.ParseIP(host).IsLoopback()
}

// Requests returns RateLimit as a number; 0 means no limit.
func (s Serve) Requests() int {
	n, _ := parseNumber(s.RateLimit, 0, MaxRateLimit)
	return n
}

const (
	// MinConnections is the minimum of MaxConnections.
	MinConnections = 16
	maxConnections = 1_000_000
	// defaultConnections is the largest default of MaxConnections.
	defaultConnections = 10_000
	// spareDescriptors is how many open files are left to the database, the log and
	// connections to the storage.
	spareDescriptors = 64
)

// Connections returns MaxConnections as a number. By default it is half of the open
// files that the process may have, after a few for other purposes: a request can have
// an open file beside its connection.
func (s Serve) Connections(openFiles uint64) int {
	if s.MaxConnections != "" {
		n, _ := parseNumber(s.MaxConnections, MinConnections, maxConnections)
		return n
	}
	if openFiles < spareDescriptors {
		return MinConnections
	}
	return int(min(max((openFiles-spareDescriptors)/2, MinConnections), defaultConnections))
}

// RetainAtOnce reports whether Retain is confirmed.
func (s Serve) RetainAtOnce() bool { return s.RetainConfirmed.Value() == s.Retain.Value() }

// Addresses returns the base URLs of the service and of its invoice files, without
// a slash at the end. local is the LocalURL of the listener.
func (c Config) Addresses(local string) (baseURL, storageURL string) {
	baseURL, storageURL = cmp.Or(trimURL(c.BaseURL), local), trimURL(c.StorageURL)
	if storageURL == "" {
		region, bucket := c.StorageNames()
		storageURL = baseURL + "/storage/" + region + "/" + bucket
	}
	return baseURL, storageURL
}

// AdminURL returns the base URL of operators, without a slash at the end; empty: it is not
// known.
func (c Config) AdminURL() string { return trimURL(c.AdminBaseURL) }

// LocalURL returns the URL at which a client on this machine reaches a listener,
// which uses TLS if secure is set.
func LocalURL(bound net.Addr, secure bool) string {
	scheme := "http://"
	if secure {
		scheme = "https://"
	}
	tcp, ok := bound.(*net.TCPAddr)
	if !ok {
		return scheme + bound.String()
	}
	host := tcp.IP.String()
	if tcp.IP == nil || tcp.IP.IsUnspecified() {
		host = localhost
	}
	return scheme + net.JoinHostPort(host, strconv.Itoa(tcp.Port))
}
