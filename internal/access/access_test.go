package access

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/knee-bench/knee/internal/record"
)

// folder writes the files of a Secret to a folder, as the kubelet mounts them.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o400); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestRead(t *testing.T) {
	good := folder(t, map[string]string{"username": "admin", "password": "pa ss:w\"ord\n"})
	a, err := Read(record.External{CredentialsDir: good})
	if err != nil || a.User != "admin" || a.Password != "pa ss:w\"ord" {
		t.Errorf("%+v, %v", a, err)
	}
	for _, spelling := range []string{`pa ss:w"ord`, `pa ss:w\"ord`, "pa+ss%3Aw%22ord", "cGEgc3M6dyJvcmQ=", "YWRtaW46cGEgc3M6dyJvcmQ="} {
		found := false
		for _, s := range a.Secret() {
			found = found || s == spelling
		}
		if !found {
			t.Errorf("%q is not among %q", spelling, a.Secret())
		}
	}
	if a, err := Read(record.External{}); err != nil || a.Secret() != nil {
		t.Errorf("nothing to read: %+v, %v", a, err)
	}
	const secret = "s3cr3t-of-the-test"
	for name, c := range map[string]struct {
		external record.External
		want     string
	}{
		"no password":          {record.External{CredentialsDir: folder(t, map[string]string{"username": "admin"})}, "password: no such file"},
		"an empty one":         {record.External{CredentialsDir: folder(t, map[string]string{"username": "admin", "password": "\n"})}, "password is empty"},
		"two lines":            {record.External{CredentialsDir: folder(t, map[string]string{"username": "admin", "password": secret + "\n" + secret})}, "printable ASCII"},
		"another script":       {record.External{CredentialsDir: folder(t, map[string]string{"username": "admin", "password": secret + "ü"})}, "printable ASCII"},
		"a colon":              {record.External{CredentialsDir: folder(t, map[string]string{"username": "a:b", "password": secret})}, "colon"},
		"no authority":         {record.External{CAFile: "/nowhere/ca.crt"}, "/nowhere/ca.crt"},
		"an invalid authority": {record.External{CAFile: filepath.Join(folder(t, map[string]string{"ca.crt": secret}), "ca.crt")}, "no PEM certificate"},
		"no certificate":       {record.External{ClientCertificateDir: "/nowhere"}, "/nowhere"},
		"one that is none":     {record.External{ClientCertificateDir: folder(t, map[string]string{"tls.crt": secret, "tls.key": secret})}, "client certificate"},
	} {
		if _, err := Read(c.external); err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), secret) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}
