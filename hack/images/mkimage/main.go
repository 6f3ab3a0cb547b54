// Command mkimage builds a container image from a Dockerfile without a container engine and without a registry. It
// writes a docker-archive, which "ctr images import" and "docker load" read.
//
// It supports the part of the Dockerfile language that places files and sets the configuration of the image: FROM
// scratch, ARG, ENV, LABEL, ADD of an uncompressed tar onto /, COPY, USER, WORKDIR, VOLUME, EXPOSE, and ENTRYPOINT and
// CMD in JSON form. It does not support RUN, because it executes no commands. Any other builder makes an equivalent
// image from the same file.
//
// The same inputs give the same bytes: entries are sorted, modes are 0755 or 0644 unless --chmod sets one, and every
// time is SOURCE_DATE_EPOCH.
package main

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"
)

type buildArgs map[string]string

func (b buildArgs) String() string { return "" }

func (b buildArgs) Set(s string) error {
	name, value, ok := strings.Cut(s, "=")
	if !ok {
		return fmt.Errorf("%q is not NAME=VALUE", s)
	}
	b[name] = value
	return nil
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "mkimage:", err)
		os.Exit(1)
	}
}

func run() error {
	args := buildArgs{}
	file := flag.String("f", "Dockerfile", "the Dockerfile")
	tag := flag.String("t", "", "the image's name and tag")
	out := flag.String("o", "", "the archive to write")
	arch := flag.String("arch", runtime.GOARCH, "the image's architecture (TARGETARCH)")
	flag.Var(args, "build-arg", "NAME=VALUE for an ARG; may be repeated")
	flag.Parse()
	if *tag == "" || *out == "" || flag.NArg() != 1 {
		return fmt.Errorf("usage: mkimage -t NAME:TAG -o OUT.tar [-f Dockerfile] [-arch ARCH] [-build-arg N=V]... CONTEXT")
	}
	if !strings.Contains(*tag, ":") || strings.HasSuffix(*tag, ":latest") {
		return fmt.Errorf("-t %s: give a tag other than latest, or a cluster will try to pull the image", *tag)
	}
	mtime, err := sourceDate()
	if err != nil {
		return err
	}
	text, err := os.ReadFile(*file)
	if err != nil {
		return err
	}
	args["TARGETOS"], args["TARGETARCH"] = "linux", *arch
	img, err := parse(string(text), args)
	if err != nil {
		return fmt.Errorf("%s: %w", *file, err)
	}
	return writeArchive(*out, *tag, *arch, flag.Arg(0), img, mtime)
}

// sourceDate returns the time in SOURCE_DATE_EPOCH, in seconds since 1970. If the variable is not set, it returns 1970.
// See reproducible-builds.org/specs/source-date-epoch.
func sourceDate() (time.Time, error) {
	s := os.Getenv("SOURCE_DATE_EPOCH")
	if s == "" {
		return time.Unix(0, 0).UTC(), nil
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("SOURCE_DATE_EPOCH=%q is not a number of seconds", s)
	}
	return time.Unix(n, 0).UTC(), nil
}
