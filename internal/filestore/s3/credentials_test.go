package s3

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/minio/minio-go/v7/pkg/credentials"

	"merchantorders/internal/testenv"
)

// cloud is a fake of a bucket's server, and of the services that have the credentials
// of roles.
type cloud struct {
	*httptest.Server
	lifetime time.Duration // of the credentials of roles
	given    int           // how many credentials of roles were given
	keys     []string      // access keys of the requests to the bucket, with their session token
}

var accessKey = regexp.MustCompile(`Credential=([^/]*)/`)

func newCloud(t *testing.T) *cloud {
	t.Helper()
	c := &cloud{lifetime: time.Hour}
	c.Server = httptest.NewServer(c)
	t.Cleanup(c.Close)
	return c
}

// ServeHTTP implements http.Handler.
func (c *cloud) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	expires := time.Now().Add(c.lifetime).UTC().Format(time.RFC3339)
	switch path := r.URL.Path; {
	case path == "/latest/api/token":
		fmt.Fprint(w, "metadata-token")
	case strings.HasPrefix(path, "/latest/") && r.Header.Get("X-Aws-Ec2-Metadata-Token") != "metadata-token":
		w.WriteHeader(http.StatusUnauthorized)
	case path == "/latest/meta-data/iam/security-credentials/":
		fmt.Fprint(w, "orders")
	case path == "/latest/meta-data/iam/security-credentials/orders", path == "/container":
		c.given++
		_ = json.NewEncoder(w).Encode(map[string]string{
			"Code": "Success", "AccessKeyId": fmt.Sprint("role", c.given), "SecretAccessKey": "secret", "Token": "session", "Expiration": expires,
		})
	case r.FormValue("Action") == "AssumeRoleWithWebIdentity":
		if r.FormValue("WebIdentityToken") != "identity" || r.FormValue("RoleArn") != "arn:aws:iam::1:role/orders" {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		fmt.Fprintf(w, `<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleWithWebIdentityResult><Credentials>
			<AccessKeyId>web</AccessKeyId><SecretAccessKey>secret</SecretAccessKey><SessionToken>session</SessionToken><Expiration>%s</Expiration>
			</Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>`, expires)
	default:
		key := "anonymous"
		if found := accessKey.FindStringSubmatch(r.Header.Get("Authorization")); found != nil {
			key = found[1] + " " + r.Header.Get("X-Amz-Security-Token")
		}
		c.keys = append(c.keys, key)
		w.WriteHeader(http.StatusForbidden)
	}
}

// open opens the bucket, which refuses everything.
func (c *cloud) open(t *testing.T, given Credentials) string {
	t.Helper()
	_, err := Open(t.Context(), Bucket{Name: "files", Region: "eu-central-1", Endpoint: c.URL, Credentials: given})
	if err == nil {
		t.Fatal("the bucket was opened")
	}
	return err.Error()
}

// clearVariables removes all variables of Amazon's tools. HOME is an empty folder.
func clearVariables(t *testing.T) {
	t.Helper()
	for _, variable := range os.Environ() {
		if name, _, _ := strings.Cut(variable, "="); strings.HasPrefix(name, "AWS_") {
			t.Setenv(name, "")
		}
	}
	t.Setenv("HOME", t.TempDir())
	t.Setenv("NO_PROXY", "127.0.0.1")
}

// TestCredentials checks with which credentials a bucket is opened. It cannot run in
// parallel, because it sets variables.
func TestCredentials(t *testing.T) {
	dir := t.TempDir()
	write := func(name, content string) string {
		t.Helper()
		path := filepath.Join(dir, name)
		testenv.NoError(t, os.WriteFile(path, []byte(content), 0o600))
		return path
	}
	shared := write("credentials", "[default]\naws_access_key_id = shared\naws_secret_access_key = secret\n"+
		"[other]\naws_access_key_id = other\naws_secret_access_key = secret\naws_session_token = session\n")
	identity := write("token", "identity")
	fake := newCloud(t)
	for _, test := range []struct {
		name  string
		env   map[string]string
		given Credentials
		want  string
	}{
		{"environment", map[string]string{"AWS_ACCESS_KEY_ID": "env", "AWS_SECRET_ACCESS_KEY": "secret"}, Credentials{}, "env "},
		{"environment before a file", map[string]string{"AWS_ACCESS_KEY_ID": "env", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_SHARED_CREDENTIALS_FILE": shared}, Credentials{}, "env "},
		{"given", map[string]string{"AWS_ACCESS_KEY_ID": "env", "AWS_SECRET_ACCESS_KEY": "secret"}, Credentials{"given", "secret", "session"}, "given session"},
		{"shared file", map[string]string{"AWS_SHARED_CREDENTIALS_FILE": shared}, Credentials{}, "shared "},
		{"profile", map[string]string{"AWS_SHARED_CREDENTIALS_FILE": shared, "AWS_PROFILE": "other"}, Credentials{}, "other session"},
		{"half of the environment", map[string]string{"AWS_ACCESS_KEY_ID": "env", "AWS_SHARED_CREDENTIALS_FILE": shared}, Credentials{}, "shared "},
		{"web identity", map[string]string{"AWS_WEB_IDENTITY_TOKEN_FILE": identity, "AWS_ROLE_ARN": "arn:aws:iam::1:role/orders", "AWS_ENDPOINT_URL_STS": fake.URL}, Credentials{}, "web session"},
		{"container", map[string]string{"AWS_CONTAINER_CREDENTIALS_FULL_URI": fake.URL + "/container"}, Credentials{}, "role1 session"},
		{"instance", map[string]string{"AWS_EC2_METADATA_SERVICE_ENDPOINT": fake.URL}, Credentials{}, "role1 session"},
	} {
		t.Run(test.name, func(t *testing.T) {
			clearVariables(t)
			for name, value := range test.env {
				t.Setenv(name, value)
			}
			fake.keys, fake.given = nil, 0
			if text := fake.open(t, test.given); len(fake.keys) == 0 || fake.keys[0] != test.want || strings.Contains(text, "secret") {
				t.Errorf("the bucket got %q, want %q: %s", fake.keys, test.want, text)
			}
		})
	}
}

// TestNoCredentials checks that a bucket is never opened without credentials, and that
// the error says why there are none.
func TestNoCredentials(t *testing.T) {
	fake := newCloud(t)
	for name, test := range map[string]struct {
		env  map[string]string
		want string
	}{
		"none":           {map[string]string{"AWS_EC2_METADATA_DISABLED": "true"}, `^bucket files: the credentials are missing: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or use a shared file or a role$`},
		"no profile":     {map[string]string{"AWS_EC2_METADATA_DISABLED": "true", "AWS_SHARED_CREDENTIALS_FILE": "/dev/null"}, `role; .*default`},
		"no token":       {map[string]string{"AWS_WEB_IDENTITY_TOKEN_FILE": "/dev/null", "AWS_ROLE_ARN": "x", "AWS_ENDPOINT_URL_STS": fake.URL}, `role; .*`},
		"no role":        {map[string]string{"AWS_EC2_METADATA_SERVICE_ENDPOINT": fake.URL + "/nothing"}, `role; `},
		"no such server": {map[string]string{"AWS_EC2_METADATA_SERVICE_ENDPOINT": "http://127.0.0.1:1"}, `role; .*connection refused`},
	} {
		t.Run(name, func(t *testing.T) {
			clearVariables(t)
			for name, value := range test.env {
				t.Setenv(name, value)
			}
			fake.keys = nil
			if text := fake.open(t, Credentials{}); !regexp.MustCompile(test.want).MatchString(text) || strings.Contains(text, "\n") {
				t.Errorf("error %q, want %q", text, test.want)
			}
		})
	}
}

// TestCredentialsAreRenewed checks that credentials of a role are retrieved again
// before they expire.
func TestCredentialsAreRenewed(t *testing.T) {
	clearVariables(t)
	fake := newCloud(t)
	t.Setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", fake.URL)
	client := testenv.Of(newClient(Bucket{Name: "files", Region: "eu-central-1", Endpoint: fake.URL}, headerTimeout, maxAttempts)).Must(t)
	for _, step := range []struct {
		lifetime time.Duration
		want     string
	}{{time.Hour, "role1"}, {-time.Hour, "role1"}} {
		fake.lifetime = step.lifetime
		testenv.Equal(t, "key", step.want, testenv.Of(client.GetCreds()).Must(t).AccessKeyID)
	}
	expired := newCredentials(Bucket{Region: "eu-central-1"})
	for _, want := range []string{"role2", "role3"} {
		testenv.Equal(t, "expired", want, testenv.Of(expired.GetWithContext(&credentials.CredContext{})).Must(t).AccessKeyID)
	}
}
