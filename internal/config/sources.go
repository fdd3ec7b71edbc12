package config

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"merchantorders/internal/strict"
)

// Flag describes a flag of any command to Sources.
type Flag struct {
	Name   string // without dashes
	Secret bool   // its value may also be in a file of its own, or a credential
	Bool   bool
}

// Sources finds the values of flags that are not on the command line: in
// environment variables, in the files that variables name, in the credentials
// of systemd, and in the settings file. Its errors never contain a value.
type Sources struct {
	variables   map[string]string // those that begin like settings, and of AWS; without empty ones
	credentials string            // folder; empty: none
	file        map[string]fileValue
	fileName    string
	flags       []Flag // all of the program

	// from has the place of each value that was found, by flag.
	from map[string]string
}

// fileSuffix ends the variables and the keys that name the file of a secret.
const fileSuffix = "-file"

// awsVariables are the secrets that have a name of their own, common to all tools
// for S3.
var awsVariables = []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"}

// otherVariables matches variables that begin like settings and are none: those of
// the project's tests, and those that Kubernetes sets in every pod for each of its
// services, which may be named after this program.
var otherVariables = regexp.MustCompile(`^` + Variable("test") + `(_|=)` +
	`|_SERVICE_(HOST|PORT(_\w+)?)=` +
	`|_PORT(_\d+_\w+)?=(tcp|udp|sctp)://` +
	`|_PORT_\d+_(TCP|UDP|SCTP)_(PROTO|PORT|ADDR)=`)

// NewSources returns the sources in environ, which is like os.Environ. flags are
// the flags of all commands.
func NewSources(environ []string, flags []Flag) *Sources {
	s := &Sources{variables: make(map[string]string), flags: flags, from: make(map[string]string)}
	for _, variable := range environ {
		name, value, _ := strings.Cut(variable, "=")
		switch {
		case value == "":
		case name == "CREDENTIALS_DIRECTORY":
			s.credentials = value
		case strings.HasPrefix(name, variablePrefix) && !otherVariables.MatchString(variable), slices.Contains(awsVariables, name):
			s.variables[name] = value
		}
	}
	return s
}

// Variable returns the value of a variable that begins like a setting; empty text
// if it is not set.
func (s *Sources) Variable(name string) string { return s.variables[name] }

// UnknownVariables returns an error for every variable that sets no flag. A mistyped
// name would otherwise leave its setting at the default in silence.
func (s *Sources) UnknownVariables() error {
	var known []string
	for _, flag := range s.flags {
		known = append(known, Variable(flag.Name))
		if flag.Secret {
			known = append(known, Variable(flag.Name+fileSuffix))
		}
	}
	for _, name := range awsVariables {
		known = append(known, awsFile(name))
	}
	var faults []error
	for _, name := range slices.Sorted(maps.Keys(s.variables)) {
		if !slices.Contains(known, name) && !slices.Contains(awsVariables, name) {
			faults = append(faults, fmt.Errorf("the environment variable %s is not a setting; did you mean %s?", name, nearest(name, known)))
		}
	}
	return errors.Join(faults...)
}

// nearest returns the known name with the smallest distance to a name.
func nearest(name string, known []string) string {
	return slices.MinFunc(known, func(a, b string) int { return cmp.Compare(strict.Distance(a, name), strict.Distance(b, name)) })
}

// Lookup returns the value of a flag, and whether there is one. An environment
// variable, a file that a variable names and a credential have the same
// precedence, and only one of them may be set. All take precedence over the
// settings file.
func (s *Sources) Lookup(flag Flag) (string, bool, error) {
	value, from, err := s.lookup(flag)
	if err != nil || from == "" {
		return "", false, err
	}
	s.from[flag.Name] = from
	if flag.Bool {
		value, err = parseBool(flag.Name, value)
		s.Annotate(err)
	}
	return value, err == nil, err
}

// Reread returns the value of a secret flag again, from the place where Lookup has found
// it: a file may have another content by now. It may be called at any time.
func (s *Sources) Reread(flag string) (string, error) {
	value, _, err := s.lookup(Flag{Name: flag, Secret: true})
	return value, err
}

func (s *Sources) lookup(flag Flag) (value, from string, err error) {
	variable := Variable(flag.Name)
	if !flag.Secret {
		if value = s.variables[variable]; value != "" {
			return value, variable, nil
		}
	} else if value, from, err = s.secret(variable, Variable(flag.Name+fileSuffix), flag.Name); from != "" || err != nil {
		return value, from, err
	}
	entry, direct := s.file[flag.Name]
	path, indirect := s.file[flag.Name+fileSuffix]
	indirect = indirect && flag.Secret
	switch {
	case direct && indirect:
		return "", "", fmt.Errorf("%s: set %s or %s, not both", s.at(path), flag.Name, flag.Name+fileSuffix)
	case direct && entry.bool && !flag.Bool:
		return "", "", fmt.Errorf("%s: %s must be text: put the value into quotes", s.at(entry), flag.Name)
	case direct:
		return entry.text, s.at(entry), nil
	case indirect:
		value, err = readSecret(path.text)
		if err != nil {
			return "", "", fmt.Errorf("%s: %s: %w", s.at(path), flag.Name+fileSuffix, err)
		}
		return value, s.at(path), nil
	}
	return "", "", nil
}

// at returns the place of a value in the settings file.
func (s *Sources) at(value fileValue) string { return fmt.Sprintf("%s:%d", s.fileName, value.line) }

// secret returns a secret from its variable, from the file that another variable
// names, or from a credential, and the name of its place; no place if there is none.
func (s *Sources) secret(variable, fileVariable, credential string) (value, from string, err error) {
	value, path := s.variables[variable], s.variables[fileVariable]
	place, read := fileVariable, path
	credentialPath := s.credentialPath(credential)
	switch {
	case value != "" && path != "":
		return "", "", fmt.Errorf("%s and %s are both set; set one of them", variable, fileVariable)
	case credentialPath != "" && value+path != "":
		set := variable
		if path != "" {
			set = fileVariable
		}
		return "", "", fmt.Errorf("%s and the credential %s are both set; set one of them", set, credential)
	case value != "":
		return value, variable, nil
	case credentialPath != "":
		place, read = "credential "+credential, credentialPath
	case path == "":
		return "", "", nil
	}
	if value, err = readSecret(read); err != nil {
		return "", "", fmt.Errorf("%s: %w", place, err)
	}
	return value, place, nil
}

// credentialPath returns the path of a credential; empty text if it is not set.
func (s *Sources) credentialPath(name string) string {
	if s.credentials == "" {
		return ""
	}
	path := filepath.Join(s.credentials, name)
	if !exists(path) {
		return ""
	}
	return path
}

// From returns the place of a flag's value that Lookup has found; empty text if it
// found none.
func (s *Sources) From(flag string) string { return s.from[flag] }

// SecretFiles returns the files with secrets whose access an operator should limit:
// those that variables and the settings file name, and the settings file itself if
// it has a secret.
func (s *Sources) SecretFiles() []string {
	var files []string
	own := false
	for _, flag := range s.flags {
		if !flag.Secret {
			continue
		}
		if path := s.variables[Variable(flag.Name+fileSuffix)]; path != "" {
			files = append(files, path)
		}
		if entry, ok := s.file[flag.Name+fileSuffix]; ok {
			files = append(files, entry.text)
		}
		if _, ok := s.file[flag.Name]; ok {
			own = true
		}
	}
	for _, name := range awsVariables {
		if path := s.variables[awsFile(name)]; path != "" {
			files = append(files, path)
		}
	}
	if own {
		files = append(files, s.fileName)
	}
	return files
}

// Annotate sets From of each *Error in err whose value does not come from the flag
// or its variable.
func (s *Sources) Annotate(err error) {
	switch e := any(err).(type) { // the whole tree is walked
	case *Error:
		if from := s.from[e.Flag]; from != Variable(e.Flag) {
			e.From = from
		}
	case interface{ Unwrap() []error }:
		for _, inner := range e.Unwrap() {
			s.Annotate(inner)
		}
	case interface{ Unwrap() error }:
		s.Annotate(e.Unwrap())
	}
}

// S3Credentials are credentials for the storage.
type S3Credentials struct {
	AccessKeyID, SecretAccessKey, SessionToken string
}

// S3Credentials returns the credentials as they are now, if one of them is in a file or a
// credential of systemd, and otherwise none: then they come from where all tools
// for S3 look for them.
func (s *Sources) S3Credentials() (S3Credentials, error) {
	var values [3]string
	files := false
	for i, name := range awsVariables {
		value, from, err := s.secret(name, awsFile(name), awsCredential(name))
		if err != nil {
			return S3Credentials{}, err
		}
		values[i] = value
		files = files || from != "" && from != name
	}
	if !files {
		return S3Credentials{}, nil
	}
	for i, name := range awsVariables[:2] {
		if values[i] == "" {
			return S3Credentials{}, fmt.Errorf("%s is required: set it or %s", name, awsFile(name))
		}
	}
	return S3Credentials{AccessKeyID: values[0], SecretAccessKey: values[1], SessionToken: values[2]}, nil
}

// S3Places returns the secrets of the storage that are set, by their name, with their
// places. One that cannot be read has none.
func (s *Sources) S3Places() map[string]string {
	places := make(map[string]string)
	for _, name := range awsVariables {
		if _, from, err := s.secret(name, awsFile(name), awsCredential(name)); err == nil && from != "" {
			places[name] = from
		}
	}
	return places
}

// awsCredential returns the name of the credential of systemd for a secret.
func awsCredential(name string) string { return strings.ToLower(strings.ReplaceAll(name, "_", "-")) }

// awsFile returns the variable that names the file of a secret.
func awsFile(name string) string { return variablePrefix + name + "_FILE" }

func parseBool(flag, text string) (string, error) {
	switch strings.ToLower(text) {
	case "true", "1":
		return "true", nil
	case "false", "0":
		return "false", nil
	}
	return "", Invalid(flag, "must be true or false")
}
