package main

import (
	"errors"
	"fmt"
	"path"
	"strconv"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/moby/buildkit/frontend/dockerfile/instructions"
	"github.com/moby/buildkit/frontend/dockerfile/parser"
	"github.com/moby/buildkit/frontend/dockerfile/shell"
)

// image is the content of a Dockerfile.
type image struct {
	steps  []step // one layer each
	config v1.Config
}

// step is one ADD or COPY instruction.
type step struct {
	add      bool // true: ADD; sources[0] is a tar that becomes the layer unchanged
	sources  []string
	dest     string
	uid, gid int
	mode     int64 // of files and folders; 0: 0755 for folders and programs, 0644 for other files
}

// builder applies instructions to an image.
type builder struct {
	args map[string]string // build arguments
	vars []string          // NAME=VALUE of the ARG and ENV instructions so far
	img  image
}

// parse reads a Dockerfile with exactly one stage, FROM scratch. args are the build arguments.
func parse(text string, args map[string]string) (image, error) {
	file, err := parser.Parse(strings.NewReader(text))
	if err != nil {
		return image{}, err
	}
	stages, _, err := instructions.Parse(file.AST, nil)
	if err != nil {
		return image{}, err
	}
	if len(stages) != 1 || stages[0].BaseName != "scratch" {
		return image{}, errors.New("only one stage FROM scratch is supported: ADD a root file system instead")
	}
	b := builder{args: args}
	for _, c := range stages[0].Commands {
		if err := b.apply(c); err != nil {
			return image{}, fmt.Errorf("line %d: %s: %w", c.Location()[0].Start.Line, strings.ToUpper(c.Name()), err)
		}
	}
	if len(b.img.steps) == 0 {
		return image{}, errors.New("no ADD or COPY: the image would be empty")
	}
	return b.img, nil
}

// expand replaces $NAME and ${NAME}. An unknown name is an error, because an empty text would copy the wrong files.
func (b *builder) expand(word string) (string, error) {
	result, err := shell.NewLex('\\').ProcessWordWithMatches(word, shell.EnvsFromSlice(b.vars))
	for name := range result.Unmatched {
		return "", fmt.Errorf("$%s: no ARG or ENV of that name", name)
	}
	return result.Result, err
}

func (b *builder) apply(c instructions.Command) error {
	if words, ok := c.(instructions.SupportsSingleWordExpansion); ok {
		if err := words.Expand(b.expand); err != nil {
			return err
		}
	}
	config := &b.img.config
	switch c := c.(type) {
	case *instructions.ArgCommand:
		for _, arg := range c.Args {
			value, given := b.args[arg.Key]
			if !given {
				value = arg.ValueString()
			}
			b.vars = append(b.vars, arg.Key+"="+value)
		}
	case *instructions.EnvCommand:
		for _, pair := range c.Env {
			b.vars = append(b.vars, pair.Key+"="+pair.Value)
			config.Env = append(config.Env, pair.Key+"="+pair.Value)
		}
	case *instructions.LabelCommand:
		for _, pair := range c.Labels {
			put(&config.Labels, pair.Key, pair.Value)
		}
	case *instructions.ExposeCommand:
		for _, port := range c.Ports {
			put(&config.ExposedPorts, port+"/tcp", struct{}{})
		}
	case *instructions.VolumeCommand:
		for _, dir := range c.Volumes {
			put(&config.Volumes, dir, struct{}{})
		}
	case *instructions.UserCommand:
		config.User = c.User
	case *instructions.WorkdirCommand:
		config.WorkingDir = c.Path
	case *instructions.EntrypointCommand:
		config.Entrypoint = c.CmdLine
		return requireJSONForm(c.ShellDependantCmdLine)
	case *instructions.CmdCommand:
		config.Cmd = c.CmdLine
		return requireJSONForm(c.ShellDependantCmdLine)
	case *instructions.AddCommand:
		if len(c.SourcePaths) != 1 || c.DestPath != "/" || !strings.HasSuffix(c.SourcePaths[0], ".tar") || c.Chown+c.Chmod != "" {
			return errors.New("only one uncompressed .tar onto / is supported: use COPY")
		}
		b.img.steps = append(b.img.steps, step{add: true, sources: c.SourcePaths})
	case *instructions.CopyCommand:
		return b.copyFiles(c)
	default:
		return errors.New("not supported here")
	}
	return nil
}

func (b *builder) copyFiles(c *instructions.CopyCommand) error {
	s := step{sources: c.SourcePaths, dest: c.DestPath}
	switch {
	case c.From != "" || len(c.SourceContents)+len(c.ExcludePatterns) > 0 || c.Parents || c.Link:
		return errors.New("of the flags only --chown and --chmod are supported, and no here-document")
	case !path.IsAbs(c.DestPath):
		return fmt.Errorf("%s: write the destination as an absolute path", c.DestPath)
	}
	if c.Chown != "" {
		if _, err := fmt.Sscanf(c.Chown, "%d:%d", &s.uid, &s.gid); err != nil {
			return fmt.Errorf("--chown=%s: write it as UID:GID in numbers", c.Chown)
		}
	}
	if c.Chmod != "" {
		mode, err := strconv.ParseInt(c.Chmod, 8, 64)
		if err != nil {
			return fmt.Errorf("--chmod=%s: not an octal mode", c.Chmod)
		}
		s.mode = mode
	}
	b.img.steps = append(b.img.steps, s)
	return nil
}

func requireJSONForm(line instructions.ShellDependantCmdLine) error {
	if line.PrependShell {
		return fmt.Errorf("%s: write it in JSON form, [\"a\", \"b\"]", strings.Join(line.CmdLine, " "))
	}
	return nil
}

func put[V any](m *map[string]V, key string, value V) {
	if *m == nil {
		*m = map[string]V{}
	}
	(*m)[key] = value
}
