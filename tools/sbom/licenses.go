package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	classifier "github.com/google/licenseclassifier/v2"
	"github.com/google/licenseclassifier/v2/assets"
)

// licenseFiles are the names of files with a license, in any module.
var licenseFiles = []string{"LICENSE*", "LICENCE*", "License*", "COPYING*", "LICENSES/*"}

// titles are the first lines of licenses that the classifier does not know, with their names.
var titles = map[string]string{"MIT No Attribution": "MIT-0"}

// addLicenses adds the licenses of the program and of its parts. It returns an error if one
// of them has none that is known.
func addLicenses(bill *document) error {
	known, err := assets.DefaultClassifier()
	if err != nil {
		return err
	}
	folders, err := folders()
	if err != nil {
		return err
	}
	var faults []error
	add := func(part *component, folder string) {
		part.Licenses, err = licensesIn(known, folder)
		if err == nil && len(part.Licenses) == 0 {
			err = fmt.Errorf("%s: no known license in %q", part.Name, folder)
		}
		faults = append(faults, err)
	}
	add(&bill.Metadata.Component, ".")
	for i := range bill.Components {
		part := &bill.Components[i]
		add(part, folders[part.Name+"@"+part.Version])
	}
	return errors.Join(faults...)
}

// folders returns the folders of all modules by name and version, and of the standard
// library.
func folders() (map[string]string, error) {
	output, err := exec.Command("go", "list", "-m", "-json", "all").Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	root, err := exec.Command("go", "env", "GOROOT", "GOVERSION").Output()
	if err != nil {
		return nil, fmt.Errorf("go env: %w", err)
	}
	lines := bytes.Fields(root)
	found := map[string]string{"std@v" + string(bytes.TrimPrefix(lines[1], []byte("go"))): string(lines[0])}
	for decoder := json.NewDecoder(bytes.NewReader(output)); ; {
		var module struct{ Path, Version, Dir string }
		if err := decoder.Decode(&module); errors.Is(err, io.EOF) {
			return found, nil
		} else if err != nil {
			return nil, err
		}
		found[module.Path+"@"+module.Version] = module.Dir
	}
}

// licensesIn returns the licenses of the files in a folder, sorted.
func licensesIn(known *classifier.Classifier, folder string) ([]licenseChoice, error) {
	var names []string
	for _, pattern := range licenseFiles {
		files, err := filepath.Glob(filepath.Join(folder, pattern))
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			if info, err := os.Stat(file); err == nil && info.IsDir() {
				continue // LICENSES, whose files have a pattern of their own
			}
			text, err := os.ReadFile(file)
			if err != nil {
				return nil, err
			}
			title, _, _ := bytes.Cut(text, []byte("\n"))
			if name, ok := titles[string(title)]; ok {
				names = append(names, name)
			}
			for _, match := range known.Match(text).Matches {
				if match.MatchType == "License" {
					names = append(names, match.Name)
				}
			}
		}
	}
	slices.Sort(names)
	var licenses []licenseChoice
	for _, name := range slices.Compact(names) {
		var choice licenseChoice
		choice.License.ID = name
		licenses = append(licenses, choice)
	}
	return licenses, nil
}
