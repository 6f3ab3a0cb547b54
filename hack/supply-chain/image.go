package main

import (
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

// describeImage writes two files: the licence texts of all modules that are linked into the binaries, and a CycloneDX
// bill of materials. The same binaries give the same bytes.
func describeImage(out string, binaries []string) error {
	if out == "" || len(binaries) == 0 {
		return errors.New("-out and at least one binary are needed")
	}
	var packages []string
	for _, binary := range binaries {
		packages = append(packages, "./cmd/"+filepath.Base(binary))
	}
	modules, err := modulesOf(packages)
	if err != nil {
		return err
	}
	licences := map[string]licence{}
	for _, m := range modules {
		if licences[m.path], err = licenceOf(m); err != nil {
			return err
		}
		if err := licences[m.path].problem; err != nil {
			return err
		}
	}
	bill, err := billOfMaterials(binaries, licences)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(out, "sbom.cdx.json"), bill, 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(out, "THIRD-PARTY-NOTICES"), notices(modules, licences), 0o644)
}

// notices returns the licence texts. Each text appears once, after the modules that it covers.
func notices(modules []module, licences map[string]licence) []byte {
	covered := map[string][]string{}
	var order []string
	for _, m := range modules {
		name := m.path + " " + m.version
		if m.path == standardLibrary {
			name = "the Go standard library " + m.version
		}
		for _, text := range licences[m.path].texts {
			if covered[text] == nil {
				order = append(order, text)
			}
			if !slices.Contains(covered[text], name) {
				covered[text] = append(covered[text], name)
			}
		}
	}
	var b bytes.Buffer
	fmt.Fprintln(&b, "Knee's programs contain the software below, under these licences.")
	for _, text := range order {
		fmt.Fprintf(&b, "\n%s\n%s\n\n%s\n", strings.Repeat("-", 78), strings.Join(covered[text], "\n"), text)
	}
	return b.Bytes()
}

// billOfMaterials lists the binaries with their digests, and the modules that the Go linker recorded in them.
func billOfMaterials(binaries []string, licences map[string]licence) ([]byte, error) {
	image := cdx.Component{BOMRef: "knee", Type: cdx.ComponentTypeContainer, Name: "knee"}
	libraries := map[string]cdx.Component{}
	var components []cdx.Component
	dependencies := []cdx.Dependency{}
	var programRefs []string
	for _, binary := range binaries {
		data, err := os.ReadFile(binary)
		if err != nil {
			return nil, err
		}
		info, err := buildinfo.Read(bytes.NewReader(data))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", binary, err)
		}
		program := cdx.Component{BOMRef: info.Path, Type: cdx.ComponentTypeApplication, Name: filepath.Base(binary),
			PackageURL: "pkg:golang/" + info.Main.Path + "#" + strings.TrimPrefix(info.Path, info.Main.Path+"/"),
			Licenses:   &cdx.Licenses{{License: &cdx.License{ID: "Apache-2.0"}}},
			Hashes:     &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: fmt.Sprintf("%x", sha256.Sum256(data))}}}
		components = append(components, program)
		programRefs = append(programRefs, program.BOMRef)
		var needs []string
		goModule := &debug.Module{Path: standardLibrary, Version: "v" + strings.TrimPrefix(info.GoVersion, "go")}
		for _, dep := range append(slices.Clone(info.Deps), goModule) {
			ref := "pkg:golang/" + dep.Path + "@" + dep.Version
			needs = append(needs, ref)
			l, read := licences[dep.Path]
			if !read {
				return nil, fmt.Errorf("%s contains %s, which the source does not import: build %[1]s again", binary, dep.Path)
			}
			libraries[ref] = library(ref, dep, l.ids)
		}
		slices.Sort(needs)
		dependencies = append(dependencies, cdx.Dependency{Ref: program.BOMRef, Dependencies: &needs})
	}
	refs := make([]string, 0, len(libraries))
	for ref := range libraries {
		refs = append(refs, ref)
	}
	slices.Sort(refs)
	for _, ref := range refs {
		components = append(components, libraries[ref])
	}
	bom := cdx.NewBOM()
	bom.Metadata = &cdx.Metadata{Component: &image}
	bom.Components = &components
	dependencies = append([]cdx.Dependency{{Ref: image.BOMRef, Dependencies: &programRefs}}, dependencies...)
	bom.Dependencies = &dependencies
	var b bytes.Buffer
	// Scanners cannot read versions after 1.6 yet.
	err := cdx.NewBOMEncoder(&b, cdx.BOMFileFormatJSON).SetPretty(true).EncodeVersion(bom, cdx.SpecVersion1_6)
	return b.Bytes(), err
}

func library(ref string, dep *debug.Module, ids []string) cdx.Component {
	c := cdx.Component{BOMRef: ref, Type: cdx.ComponentTypeLibrary, Name: dep.Path, Version: dep.Version, PackageURL: ref}
	var licences cdx.Licenses
	for _, id := range ids {
		licences = append(licences, cdx.LicenseChoice{License: &cdx.License{ID: id}})
	}
	c.Licenses = &licences
	if dep.Sum != "" { // the module's digest in go.sum
		c.Properties = &[]cdx.Property{{Name: "knee:go.sum", Value: dep.Sum}}
	}
	return c
}
