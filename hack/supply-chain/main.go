// Command supply-chain tells what Knee's programs are made of, and fails when that is not fit to be shipped: known
// vulnerabilities that are called, and licences that are not allowed.
package main

import (
	"flag"
	"fmt"
	"os"
)

const usage = `supply-chain looks at the modules that Knee's programs are made of; run it at the top of the checkout:

  supply-chain vulnerabilities -govulncheck PROGRAM -database VERSION -exceptions FILE
  supply-chain licences
  supply-chain image -out FOLDER BINARY...     write THIRD-PARTY-NOTICES and sbom.cdx.json of the binaries
`

func main() {
	if len(os.Args) < 2 {
		fmt.Fprint(os.Stderr, usage)
		os.Exit(2)
	}
	flags := flag.NewFlagSet(os.Args[1], flag.ExitOnError)
	var err error
	switch os.Args[1] {
	case "vulnerabilities":
		check := vulnerabilityCheck{}
		flags.StringVar(&check.govulncheck, "govulncheck", "govulncheck", "the program govulncheck")
		flags.StringVar(&check.database, "database", "", "version of the module golang.org/x/vulndb")
		flags.StringVar(&check.exceptions, "exceptions", "", "file of accepted findings")
		flags.StringVar(&check.cache, "cache", ".cache/supply-chain", "folder to keep govulncheck's output in")
		_ = flags.Parse(os.Args[2:])
		err = check.run()
	case "licences":
		_ = flags.Parse(os.Args[2:])
		err = checkLicences(programs)
	case "image":
		out := flags.String("out", "", "folder to write to")
		_ = flags.Parse(os.Args[2:])
		err = describeImage(*out, flags.Args())
	default:
		fmt.Fprint(os.Stderr, usage)
		os.Exit(2)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "supply-chain %s: %v\n", os.Args[1], err)
		os.Exit(1)
	}
}
