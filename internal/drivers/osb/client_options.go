package osb

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/knee-bench/knee/internal/drivers/osb/osbtool"
	"github.com/knee-bench/knee/internal/record"
)

// writeClientOptions writes the file with the options for a secured cluster. The file may contain a password, so
// deleteClientOptions must delete it when the program has ended.
func (d *Driver) writeClientOptions(run *osbtool.Run) error {
	e := d.session.Config.External
	if e == nil || *e == (record.External{AllowIndexDeletion: e.AllowIndexDeletion}) {
		return nil
	}
	options := osbtool.Access{User: d.session.Access.User, Password: d.session.Access.Password, CAFile: e.CAFile, Signed: e.SigV4 != nil}
	if options.Signed {
		run.Access = d.session.Access.SigV4.OSBEnv()
		if e.CAFile != "" { // the client that signs requests reads the certificate authorities only from this environment variable
			run.Access = append(run.Access, "SSL_CERT_FILE="+e.CAFile)
		}
	}
	if dir := e.ClientCertificateDir; dir != "" {
		options.CertFile, options.KeyFile = filepath.Join(dir, record.CertificateKey), filepath.Join(dir, record.PrivateKeyKey)
	}
	data, err := osbtool.ClientOptions(d.session.Config.Endpoint, options)
	if err != nil {
		return err
	}
	path := filepath.Join(d.session.Dirs.Work, "client-options.json")
	d.deleteClientOptions(path) // a new file is needed: an old file would keep its permissions
	if err := os.WriteFile(path, data, 0o600); err != nil {
		return fmt.Errorf("cannot write the client options file of opensearch-benchmark: %w", err)
	}
	run.ClientOptionsFile = path
	return nil
}

// deleteClientOptions deletes the file if it exists.
func (d *Driver) deleteClientOptions(path string) {
	if path == "" {
		return
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		d.session.Say("%v", err)
	}
}
