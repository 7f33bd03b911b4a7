package main

import (
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

// bill returns the bill of materials of a program, as CycloneDX JSON: the modules that the linker put into it.
func (r *release) bill(binary, platform string) ([]byte, error) {
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return nil, err
	}
	data, err := os.ReadFile(binary)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(data)
	b := cdx.NewBOM()
	b.SerialNumber = serial(sum[:])
	b.Metadata = &cdx.Metadata{
		Timestamp: r.mtime.Format(time.RFC3339),
		Component: &cdx.Component{
			BOMRef: "collie", Type: cdx.ComponentTypeApplication, Name: "collie", Version: r.version,
			Hashes:     &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: hex.EncodeToString(sum[:])}},
			Properties: &[]cdx.Property{{Name: "platform", Value: platform}, {Name: "go", Value: info.GoVersion}},
		},
	}
	components := []cdx.Component{{BOMRef: "go", Type: cdx.ComponentTypeLibrary, Name: "std", Version: strings.TrimPrefix(info.GoVersion, "go"), PackageURL: "pkg:golang/std@" + strings.TrimPrefix(info.GoVersion, "go")}}
	var refs []string
	for _, m := range info.Deps {
		c := cdx.Component{Type: cdx.ComponentTypeLibrary, Name: m.Path, Version: m.Version, PackageURL: "pkg:golang/" + m.Path + "@" + m.Version}
		if m.Replace != nil { // a copy of ours, in third_party
			c.Properties = &[]cdx.Property{{Name: "replacedBy", Value: m.Replace.Path}}
		} else if m.Sum != "" {
			c.Properties = &[]cdx.Property{{Name: "goSum", Value: m.Sum}}
		}
		c.BOMRef = c.PackageURL
		components, refs = append(components, c), append(refs, c.BOMRef)
	}
	b.Components = &components
	b.Dependencies = &[]cdx.Dependency{{Ref: "collie", Dependencies: &refs}}
	var out bytes.Buffer
	enc := cdx.NewBOMEncoder(&out, cdx.BOMFileFormatJSON)
	enc.SetPretty(true)
	if err := enc.Encode(b); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// serial returns a UUID made of a checksum, so that the same program always gets the same UUID.
func serial(sum []byte) string {
	u := append([]byte{}, sum[:16]...)
	u[6], u[8] = u[6]&0x0f|0x40, u[8]&0x3f|0x80
	return fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", u[0:4], u[4:6], u[6:8], u[8:10], u[10:16])
}

var licenceFile = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|copyright|unlicense)([._-].*)?$`)

// licences returns the licences of all modules in any of the programs, of Go itself, and of what the pages are made of.
func (r *release) licences() ([]byte, error) {
	type module struct{ Path, Version, Dir string }
	found := map[string]module{}
	for _, goos := range []string{"linux", "darwin", "windows"} {
		list, err := r.command([]string{"GOOS=" + goos}, "go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{with .Replace}}{{$.Module.Path}}\t{{$.Module.Version}}\t{{.Dir}}{{else}}{{.Path}}\t{{.Version}}\t{{.Dir}}{{end}}{{end}}{{end}}", "./cmd/collie")
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(string(list)) {
			if f := strings.Split(strings.TrimSpace(line), "\t"); len(f) == 3 {
				found[f[0]] = module{f[0], f[1], f[2]}
			}
		}
	}
	root, err := r.command(nil, "go", "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	found["Go"] = module{"Go", "", strings.TrimSpace(string(root))}
	var out bytes.Buffer
	fmt.Fprintln(&out, "Collie is made of its own code and of the works below, each under its own licence. What the pages in the browser")
	fmt.Fprintln(&out, "are made of is listed in /pages/licenses.txt of each gateway.")
	for _, name := range sorted(found) {
		m := found[name]
		entries, err := os.ReadDir(m.Dir)
		if err != nil {
			return nil, err
		}
		some := false
		for _, e := range entries {
			if e.IsDir() || !licenceFile.MatchString(e.Name()) {
				continue
			}
			text, err := os.ReadFile(filepath.Join(m.Dir, e.Name()))
			if err != nil {
				return nil, err
			}
			some = true
			fmt.Fprintf(&out, "\n%s\n%s %s: %s\n%s\n\n%s\n", strings.Repeat("=", 80), m.Path, m.Version, e.Name(), strings.Repeat("=", 80), bytes.TrimSpace(text))
		}
		if !some && !strings.HasPrefix(m.Dir, r.root) { // a folder of this repository in the place of a module is under our licence
			return nil, fmt.Errorf("%s has no licence in %s", m.Path, m.Dir)
		}
	}
	return out.Bytes(), nil
}

// manifest returns the manifest for the package manager Scoop. It is empty if nothing was built for Windows.
func (r *release) manifest() (string, error) {
	type arch struct {
		URL  string `json:"url"`
		Hash string `json:"hash"`
	}
	archs := map[string]arch{}
	for scoop, goarch := range map[string]string{"64bit": "amd64", "arm64": "arm64"} {
		name := fmt.Sprintf("collie_%s_windows_%s.zip", r.number, goarch)
		if sum, ok := r.sums[name]; ok {
			archs[scoop] = arch{r.address(name), sum}
		}
	}
	if len(archs) == 0 {
		return "", nil
	}
	text, err := json.MarshalIndent(map[string]any{
		"version": r.number, "description": "All your MCP servers and your notes behind one endpoint", "homepage": r.address(""), "license": "Apache-2.0",
		"architecture": archs, "bin": "collie.exe",
	}, "", "    ")
	return string(text) + "\n", err
}

// address returns the URL of a file of the release, at a placeholder host if the URL is not known.
func (r *release) address(name string) string {
	if r.url == "" {
		return "https://example.org/collie/" + name
	}
	return strings.TrimRight(r.url, "/") + "/" + name
}
