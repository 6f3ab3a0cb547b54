package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path"
	"strconv"
	"strings"
)

// image is what a Dockerfile says: the layers in order, and the configuration.
type image struct {
	steps  []step
	config config
}

// step is one ADD or COPY, which becomes one layer.
type step struct {
	add      bool // ADD: sources[0] is a tar that is the layer as it stands
	sources  []string
	dest     string
	uid, gid int
	mode     int64 // of files and folders alike; 0 means normalised
}

// config is the image configuration of the OCI image specification
// (opencontainers/image-spec, config.md).
type config struct {
	User         string              `json:"User,omitempty"`
	ExposedPorts map[string]struct{} `json:"ExposedPorts,omitempty"`
	Env          []string            `json:"Env,omitempty"`
	Entrypoint   []string            `json:"Entrypoint,omitempty"`
	Cmd          []string            `json:"Cmd,omitempty"`
	Volumes      map[string]struct{} `json:"Volumes,omitempty"`
	WorkingDir   string              `json:"WorkingDir,omitempty"`
	Labels       map[string]string   `json:"Labels,omitempty"`
}

type parser struct {
	args map[string]string // given from outside
	vars map[string]string // in scope: ARGs declared and ENVs set so far
	img  image
}

// parse reads a Dockerfile. Build arguments take effect where ARG names them.
func parse(text string, args map[string]string) (image, error) {
	p := &parser{args: args, vars: map[string]string{}}
	sawFrom := false
	for n, line := range logicalLines(text) {
		if line == "" {
			continue
		}
		word, rest, _ := strings.Cut(line, " ")
		word, rest = strings.ToUpper(word), strings.TrimSpace(rest)
		if !sawFrom && word != "FROM" && word != "ARG" {
			return image{}, fmt.Errorf("line %d: %s before FROM", n+1, word)
		}
		sawFrom = sawFrom || word == "FROM"
		if err := p.instruction(word, rest); err != nil {
			return image{}, fmt.Errorf("line %d: %s: %w", n+1, word, err)
		}
	}
	if len(p.img.steps) == 0 {
		return image{}, fmt.Errorf("no ADD or COPY: the image would be empty")
	}
	return p.img, nil
}

// logicalLines drops comments and joins continued lines; a joined line keeps
// the number of its first.
func logicalLines(text string) []string {
	raw := strings.Split(text, "\n")
	out := make([]string, len(raw))
	first := -1
	for i, l := range raw {
		l = strings.TrimSpace(l)
		if strings.HasPrefix(l, "#") || l == "" {
			continue
		}
		more := strings.HasSuffix(l, "\\")
		l = strings.TrimSpace(strings.TrimSuffix(l, "\\"))
		if first < 0 {
			first = i
		}
		out[first] = strings.TrimSpace(out[first] + " " + l)
		if !more {
			first = -1
		}
	}
	return out
}

func (p *parser) instruction(word, rest string) error {
	c := &p.img.config
	switch word {
	case "FROM":
		if rest != "scratch" {
			return fmt.Errorf("%q: only scratch is supported; ADD a root file system instead", rest)
		}
	case "ARG":
		name, value, _ := strings.Cut(rest, "=")
		if given, ok := p.args[name]; ok {
			value = given
		}
		p.vars[name] = value
	case "ENV":
		return p.pairs(rest, func(k, v string) {
			p.vars[k] = v
			c.Env = append(c.Env, k+"="+v)
		})
	case "LABEL":
		c.Labels = orEmpty(c.Labels)
		return p.pairs(rest, func(k, v string) { c.Labels[k] = v })
	case "ADD", "COPY":
		return p.files(word == "ADD", rest)
	case "USER":
		return p.text(rest, &c.User)
	case "WORKDIR":
		return p.text(rest, &c.WorkingDir)
	case "EXPOSE":
		c.ExposedPorts = orEmpty(c.ExposedPorts)
		for _, port := range strings.Fields(rest) {
			c.ExposedPorts[port+"/tcp"] = struct{}{}
		}
	case "VOLUME":
		var dirs []string
		if err := jsonForm(rest, &dirs); err != nil {
			return err
		}
		c.Volumes = orEmpty(c.Volumes)
		for _, d := range dirs {
			c.Volumes[d] = struct{}{}
		}
	case "ENTRYPOINT":
		return jsonForm(rest, &c.Entrypoint)
	case "CMD":
		return jsonForm(rest, &c.Cmd)
	default:
		return fmt.Errorf("not supported here")
	}
	return nil
}

func orEmpty[V any](m map[string]V) map[string]V {
	if m == nil {
		return map[string]V{}
	}
	return m
}

func jsonForm(s string, into *[]string) error {
	if err := json.Unmarshal([]byte(s), into); err != nil {
		return fmt.Errorf("%s: write it in JSON form, [\"a\", \"b\"]", s)
	}
	return nil
}

// expand replaces $NAME and ${NAME}; an unknown name is an error, since a
// silent empty string would copy the wrong files.
func (p *parser) expand(s string) (string, error) {
	var unknown error
	out := os.Expand(s, func(name string) string {
		v, ok := p.vars[name]
		if !ok && unknown == nil {
			unknown = fmt.Errorf("$%s: no ARG or ENV of that name", name)
		}
		return v
	})
	return out, unknown
}

func (p *parser) text(s string, into *string) (err error) {
	*into, err = p.expand(s)
	return err
}

func (p *parser) pairs(s string, each func(k, v string)) error {
	for _, f := range strings.Fields(s) {
		k, v, ok := strings.Cut(f, "=")
		if !ok {
			return fmt.Errorf("%q is not NAME=VALUE", f)
		}
		v, err := p.expand(strings.Trim(v, `"`))
		if err != nil {
			return err
		}
		each(k, v)
	}
	return nil
}

func (p *parser) files(add bool, rest string) error {
	s := step{add: add}
	for _, f := range strings.Fields(rest) {
		f, err := p.expand(f)
		if err != nil {
			return err
		}
		switch {
		case strings.HasPrefix(f, "--chown="):
			if _, err := fmt.Sscanf(f, "--chown=%d:%d", &s.uid, &s.gid); err != nil {
				return fmt.Errorf("%s: write it as --chown=UID:GID in numbers", f)
			}
		case strings.HasPrefix(f, "--chmod="):
			if s.mode, err = strconv.ParseInt(strings.TrimPrefix(f, "--chmod="), 8, 64); err != nil {
				return fmt.Errorf("%s: not an octal mode", f)
			}
		case strings.HasPrefix(f, "--"):
			return fmt.Errorf("%s: not supported here", f)
		default:
			s.sources = append(s.sources, f)
		}
	}
	last := len(s.sources) - 1
	if last < 1 {
		return fmt.Errorf("needs a source and a destination")
	}
	s.sources, s.dest = s.sources[:last], s.sources[last]
	if !path.IsAbs(s.dest) {
		return fmt.Errorf("%s: write the destination as an absolute path", s.dest)
	}
	if add && (len(s.sources) != 1 || s.dest != "/" || !strings.HasSuffix(s.sources[0], ".tar")) {
		return fmt.Errorf("only one uncompressed .tar onto / is supported; use COPY")
	}
	p.img.steps = append(p.img.steps, s)
	return nil
}
