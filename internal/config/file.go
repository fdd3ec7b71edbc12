package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

const (
	// maxSecret is the largest file of a secret, in bytes.
	maxSecret = 64 << 10
	// maxShownKey is how much of an unknown key an error shows, in bytes.
	maxShownKey = 60
	// maxFile is the largest settings file, in bytes.
	maxFile = 1 << 20
)

// readSecret returns the content of a file without one line end. The error names
// neither the path, in whose place somebody may have written the secret, nor the
// content.
func readSecret(path string) (string, error) {
	text, err := readFile(path, maxSecret)
	if err != nil {
		return "", err
	}
	content := strings.TrimSuffix(strings.TrimSuffix(string(text), "\n"), "\r")
	if content == "" {
		return "", errors.New("the file is empty")
	}
	return content, nil
}

// readFile reads a file of limited size. The error does not name the path.
func readFile(path string, limit int64) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, cannotRead(err)
	}
	defer func() { _ = file.Close() }()
	text, err := io.ReadAll(io.LimitReader(file, limit+1))
	if err != nil {
		return nil, cannotRead(err)
	}
	if int64(len(text)) > limit {
		return nil, fmt.Errorf("the file is larger than %d KiB", limit>>10)
	}
	return text, nil
}

func cannotRead(err error) error {
	if pathErr, ok := errors.AsType[*fs.PathError](err); ok {
		err = pathErr.Err
	}
	return fmt.Errorf("cannot read the file: %w", err)
}

// exists reports whether there is something at a path, also if it cannot be read.
func exists(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

// fileValue is a value in the settings file.
type fileValue struct {
	text string
	line int
	bool bool // it is true or false without quotes
}

// ReadFile reads the settings file, a YAML file with a value for each flag. It
// returns all faults of the file.
func (s *Sources) ReadFile(path string) error {
	text, err := readFile(path, maxFile)
	if err != nil {
		return Invalid("config", path+": "+err.Error())
	}
	s.fileName, s.file = path, make(map[string]fileValue)
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	var document, next yaml.Node
	switch err := decoder.Decode(&document); {
	case errors.Is(err, io.EOF):
		return nil // there are only comments
	case err != nil:
		return s.notYAML(err)
	}
	if err := decoder.Decode(&next); !errors.Is(err, io.EOF) {
		return fmt.Errorf("%s: must be one YAML document", path)
	}
	root := document.Content[0]
	switch {
	case root.Kind == yaml.ScalarNode && root.ShortTag() == "!!null":
		return nil
	case root.Kind != yaml.MappingNode:
		return fmt.Errorf("%s:%d: must have lines such as \"listen: 127.0.0.1:8080\"", path, root.Line)
	}
	var faults []error
	for i := 0; i < len(root.Content); i += 2 {
		faults = append(faults, s.addValue(root.Content[i], root.Content[i+1]))
	}
	return errors.Join(faults...)
}

// addValue stores one value of the settings file.
func (s *Sources) addValue(key, value *yaml.Node) error {
	at := func(format string, args ...any) error {
		return fmt.Errorf("%s:%d: %s", s.fileName, key.Line, fmt.Sprintf(format, args...))
	}
	name := key.Value
	if key.Kind != yaml.ScalarNode || key.ShortTag() != "!!str" {
		return at("a key must be the name of a setting")
	}
	known := s.fileKeys()
	if !slices.Contains(known, name) {
		name = name[:min(len(name), maxShownKey)]
		return at("%q is not a setting; did you mean %q?", name, nearest(name, known))
	}
	if first, twice := s.file[name]; twice {
		return at("%s is set twice, first in line %d", name, first.line)
	}
	kind := value.ShortTag()
	switch {
	case value.Kind == yaml.SequenceNode:
		return at("%s must be text, not a list", name)
	case value.Kind == yaml.MappingNode:
		return at("%s must be text, not a mapping", name)
	case value.Kind != yaml.ScalarNode:
		return at("%s must be text, not an alias", name)
	case kind == "!!null" || value.Value == "":
		return nil // like an empty variable
	case !slices.Contains([]string{"!!str", "!!int", "!!float", "!!bool", "!!timestamp"}, kind):
		return at("%s must be text, without a tag", name)
	}
	s.file[name] = fileValue{text: value.Value, line: key.Line, bool: kind == "!!bool"}
	return nil
}

// fileKeys returns the keys that a settings file may have: the names of all flags
// but --config itself, and those of the files of secrets.
func (s *Sources) fileKeys() []string {
	var keys []string
	for _, flag := range s.flags {
		if flag.Name != "config" {
			keys = append(keys, flag.Name)
		}
		if flag.Secret {
			keys = append(keys, flag.Name+fileSuffix)
		}
	}
	return keys
}

var yamlLine = regexp.MustCompile(`line (\d+)`)

// notYAML returns an error with the line of a syntax error. The message of the
// parser may repeat a part of the file.
func (s *Sources) notYAML(err error) error {
	at := s.fileName
	if found := yamlLine.FindStringSubmatch(err.Error()); found != nil {
		if line, err := strconv.Atoi(found[1]); err == nil {
			at += ":" + strconv.Itoa(line)
		}
	}
	return fmt.Errorf("%s: is not valid YAML: put values with special characters into quotes, and begin each line with a key", at)
}
