package s3

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"time"

	"github.com/minio/minio-go/v7/pkg/credentials"
)

// credentialsTimeout bounds each request for the credentials of a role.
const credentialsTimeout = 2 * time.Second

// newCredentials returns the credentials of a bucket: those that are given, or those
// that all tools of Amazon find: of the environment, the shared files, a web identity,
// a container or the role of the machine. Those that expire are retrieved again before.
func newCredentials(bucket Bucket) *credentials.Credentials {
	if c := bucket.Credentials; c != (Credentials{}) {
		return credentials.New(&given{current: c, reread: bucket.Reread})
	}
	providers := []credentials.Provider{&credentials.EnvAWS{}, &credentials.FileAWSCredentials{}}
	if role := newRole(bucket.Region); role != nil {
		providers = append(providers, role)
	}
	return credentials.New(&chain{providers: providers})
}

// rereadInterval is how soon other keys are noticed.
const rereadInterval = 10 * time.Second

// given are credentials that are read again at an interval. While they cannot be read,
// they are those before. It implements credentials.Provider.
type given struct {
	credentials.Expiry
	current Credentials
	reread  func() (Credentials, error) // nil: they stay
}

// Retrieve implements credentials.Provider.
func (g *given) Retrieve() (credentials.Value, error) {
	if g.reread != nil {
		if now, err := g.reread(); err == nil && now != (Credentials{}) {
			g.current = now
		}
	}
	g.SetExpiration(time.Now().Add(rereadInterval), 0)
	return credentials.Value{
		AccessKeyID: g.current.AccessKeyID, SecretAccessKey: g.current.SecretAccessKey, SessionToken: g.current.SessionToken,
		SignerType: credentials.SignatureV4,
	}, nil
}

// RetrieveWithCredContext implements credentials.Provider.
func (g *given) RetrieveWithCredContext(*credentials.CredContext) (credentials.Value, error) {
	return g.Retrieve()
}

// newRole returns the credentials of a role; nil if there is none. The variables are
// those of Amazon's tools that the library does not know.
func newRole(region string) *credentials.IAM {
	role := &credentials.IAM{Client: &http.Client{Timeout: credentialsTimeout}, Region: region}
	switch {
	case os.Getenv("AWS_WEB_IDENTITY_TOKEN_FILE") != "":
		role.Endpoint = os.Getenv("AWS_ENDPOINT_URL_STS")
	case os.Getenv("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI")+os.Getenv("AWS_CONTAINER_CREDENTIALS_FULL_URI") != "":
	case os.Getenv("AWS_EC2_METADATA_DISABLED") == "true":
		return nil
	default:
		role.Endpoint = os.Getenv("AWS_EC2_METADATA_SERVICE_ENDPOINT")
	}
	return role
}

// chain asks providers in turn. If none has credentials it returns an error; the
// chain of the library would send anonymous requests.
type chain struct {
	providers []credentials.Provider
	current   credentials.Provider // the last one that had credentials
}

// RetrieveWithCredContext implements credentials.Provider.
func (c *chain) RetrieveWithCredContext(cc *credentials.CredContext) (credentials.Value, error) {
	missing := errors.New("the credentials are missing: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or use a shared file or a role")
	for _, provider := range c.providers {
		value, err := provider.RetrieveWithCredContext(cc)
		switch {
		case err == nil && value.AccessKeyID != "" && value.SecretAccessKey != "":
			c.current = provider
			return value, nil
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			missing = fmt.Errorf("%w; %w", missing, err)
		}
	}
	return credentials.Value{}, missing
}

// Retrieve implements credentials.Provider.
func (c *chain) Retrieve() (credentials.Value, error) {
	return c.RetrieveWithCredContext(&credentials.CredContext{})
}

// IsExpired implements credentials.Provider.
func (c *chain) IsExpired() bool { return c.current == nil || c.current.IsExpired() }
