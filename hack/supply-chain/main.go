// Command supply-chain checks the modules in Knee's programs. It fails on a known vulnerability that is called, and on
// a licence that is not allowed. It also writes the licence texts and the bill of materials of the image.
package main

import (
	"flag"
	"fmt"
	"os"
)

const usage = `supply-chain checks the modules in Knee's programs. Run it in the top folder of the checkout:

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
		flags.StringVar(&check.cache, "cache", ".cache/supply-chain", "folder for the output of govulncheck")
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
