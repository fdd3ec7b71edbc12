// Command sbom writes the software bill of materials of a Go program in the JSON
// form of CycloneDX 1.6: the modules that the Go tool recorded in the program, and
// the standard library, each with its licenses. The same program gives the same bytes, so
// it has neither a serial number nor the time of its creation.
//
// The licenses are those of the files in the module cache, so run it in the folder of the
// module after the program was built.
//
//	sbom VERSION PROGRAM
package main

import (
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strings"
)

type document struct {
	BOMFormat    string       `json:"bomFormat"`
	SpecVersion  string       `json:"specVersion"`
	Version      int          `json:"version"`
	Metadata     metadata     `json:"metadata"`
	Components   []component  `json:"components"`
	Dependencies []dependency `json:"dependencies"`
}

type metadata struct {
	Component component `json:"component"`
}

// component is a module, or the program.
type component struct {
	Ref     string `json:"bom-ref"`
	Type    string `json:"type"`
	Name    string `json:"name"`
	Version string `json:"version"`
	URL     string `json:"purl"` // package URL

	Licenses []licenseChoice `json:"licenses"`
}

// licenseChoice is a license by its identifier of SPDX.
type licenseChoice struct {
	License struct {
		ID string `json:"id"`
	} `json:"license"`
}

// dependency says what a component needs. The program has the modules without the
// requirements among them, so the program needs them all.
type dependency struct {
	Ref   string   `json:"ref"`
	Needs []string `json:"dependsOn,omitempty"`
}

func main() {
	if len(os.Args) != 3 {
		fail("usage: sbom VERSION PROGRAM")
	}
	info, err := buildinfo.ReadFile(os.Args[2])
	if err != nil {
		fail("read %s: %v", os.Args[2], err)
	}
	bill := describe(os.Args[1], info)
	if err := addLicenses(&bill); err != nil {
		fail("find the licenses: %v", err)
	}
	encoder := json.NewEncoder(os.Stdout)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(bill); err != nil {
		fail("write the bill of materials: %v", err)
	}
}

func fail(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "sbom: "+format+"\n", args...)
	os.Exit(1)
}

// describe returns the bill of materials of a program.
func describe(version string, info *debug.BuildInfo) document {
	program := newComponent("application", info.Main.Path, version)
	parts := []component{newComponent("library", "std", "v"+strings.TrimPrefix(info.GoVersion, "go"))}
	for _, module := range info.Deps {
		if module.Replace != nil {
			module = module.Replace
		}
		parts = append(parts, newComponent("library", module.Path, module.Version))
	}
	slices.SortFunc(parts, func(a, b component) int { return strings.Compare(a.Ref, b.Ref) })
	needs := dependency{Ref: program.Ref}
	dependencies := make([]dependency, 1, 1+len(parts))
	for _, part := range parts {
		needs.Needs = append(needs.Needs, part.Ref)
		dependencies = append(dependencies, dependency{Ref: part.Ref})
	}
	dependencies[0] = needs
	return document{"CycloneDX", "1.6", 1, metadata{program}, parts, dependencies}
}

func newComponent(kind, path, version string) component {
	// A version may have a +, which is a space in a query and is escaped in a
	// package URL.
	url := "pkg:golang/" + path + "@" + strings.ReplaceAll(version, "+", "%2B")
	return component{Ref: url, Type: kind, Name: path, Version: version, URL: url}
}
