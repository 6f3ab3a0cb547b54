package resources

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/knee-bench/knee/api/v1alpha1"
	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
	"github.com/knee-bench/knee/internal/security"
)

const (
	securityVolume = "security"
	usersFile      = "internal_users.yml"
	certificates   = "certificates" // folder in OpenSearch's config folder
	pluginFolder   = openSearchHome + "/plugins/opensearch-security"
	// securityHealth needs no password. It answers 200 after the plugin has loaded its users, and 503 before that.
	securityHealth = "/_plugins/_security/health"
)

// SecuritySecretName returns the name of the Secret of a campaign's secured clusters. The name contains a digest of the
// campaign's UID, so it differs from the Secret of a later campaign with the same name.
func SecuritySecretName(c *v1alpha1.BenchmarkCampaign) string {
	name := c.Name
	if len(name) > 200 {
		name = strings.TrimRight(name[:200], ".-")
	}
	return name + "-security-" + plan.Digest(string(c.UID), 10)
}

// SecuritySecret returns the Secret with the certificates, the user and the password of all secured clusters of a campaign. All of them
// are in one Secret, because the manager cannot read Secrets. If there were two Secrets and the manager restarted between their
// creations, the manager could not make the second Secret match the first Secret.
func SecuritySecret(c *v1alpha1.BenchmarkCampaign, b security.Bundle) *corev1.Secret {
	return &corev1.Secret{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"},
		ObjectMeta: owned(c, SecuritySecretName(c), ComponentOpenSearch),
		Immutable:  ptr.To(true),
		Data: map[string][]byte{
			record.UsernameKey: []byte(b.Username), record.PasswordKey: []byte(b.Password), record.CAKey: b.CA,
			record.CertificateKey: b.Certificate, record.PrivateKeyKey: b.Key, usersFile: b.Users,
		},
	}
}

// SecurityDNSNames returns the DNS names of a campaign's secured clusters. The wildcard matches all Services in the namespace,
// because later changes of the campaign may add cells.
func SecurityDNSNames(c *v1alpha1.BenchmarkCampaign) []string {
	return []string{"*." + c.Namespace + ".svc"}
}

// securedEndpoint returns the endpoint with which trials reach a secured cluster that Knee runs itself.
func securedEndpoint(c *v1alpha1.BenchmarkCampaign, cell plan.Cell) *plan.Endpoint {
	name := SecuritySecretName(c)
	return &plan.Endpoint{
		URL:    fmt.Sprintf("https://%s.%s.svc:%d", cell.Name, c.Namespace, HTTPPort),
		Access: v1alpha1.Endpoint{CredentialsSecret: name, CASecret: name, AllowIndexDeletion: ptr.To(true)},
	}
}

// securitySettings returns the lines of opensearch.yml that switch security on. Paths are below the config folder.
func securitySettings() map[string]any {
	out := map[string]any{
		"plugins.security.ssl.http.enabled":                            true,
		"plugins.security.ssl.transport.enforce_hostname_verification": false, // nodes connect by pod address, so host names cannot match
		"plugins.security.nodes_dn":                                    []string{"CN=" + security.NodeName},
		"plugins.security.allow_default_init_securityindex":            true, // load users and roles from the files in config/opensearch-security
	}
	for _, layer := range []string{"http", "transport"} {
		at := "plugins.security.ssl." + layer + "."
		out[at+"pemcert_filepath"] = certificates + "/" + record.CertificateKey
		out[at+"pemkey_filepath"] = certificates + "/" + record.PrivateKeyKey
		out[at+"pemtrustedcas_filepath"] = certificates + "/" + record.CAKey
	}
	return out
}

// secure switches security on in the pod of an OpenSearch node.
func secure(spec *corev1.PodSpec, c *v1alpha1.BenchmarkCampaign) {
	os := &spec.Containers[0]
	os.Env = slices.DeleteFunc(os.Env, func(e corev1.EnvVar) bool { return e.Name == disableSecurity })
	var items []corev1.KeyToPath
	for _, key := range []string{record.CAKey, record.CertificateKey, record.PrivateKeyKey, usersFile} {
		items = append(items, corev1.KeyToPath{Key: key, Path: key})
	}
	spec.Volumes = append(spec.Volumes, corev1.Volume{Name: securityVolume, VolumeSource: corev1.VolumeSource{
		Secret: &corev1.SecretVolumeSource{SecretName: SecuritySecretName(c), Items: items, DefaultMode: ptr.To[int32](secretMode), Optional: ptr.To(false)},
	}})
	config := openSearchHome + "/config/"
	os.VolumeMounts = append(os.VolumeMounts,
		corev1.VolumeMount{Name: securityVolume, MountPath: config + certificates, ReadOnly: true},
		corev1.VolumeMount{Name: securityVolume, MountPath: config + "opensearch-security/" + usersFile, SubPath: usersFile, ReadOnly: true})
	// The path securityHealth needs no password, and the kubelet does not verify the certificate.
	get := corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Scheme: corev1.URISchemeHTTPS, Path: securityHealth, Port: intstr.FromInt32(HTTPPort)}}
	os.StartupProbe.ProbeHandler, os.ReadinessProbe.ProbeHandler = get, get
	spec.InitContainers = append([]corev1.Container{pluginCheck(os.Image)}, spec.InitContainers...)
}

// pluginCheck returns an init container that fails with a clear text if the image has no security plugin. Without this check,
// OpenSearch would only report a setting that it does not know.
func pluginCheck(image string) corev1.Container {
	return corev1.Container{
		Name: "security", Image: image,
		Command: []string{"sh", "-c", "[ -d " + pluginFolder + " ] || { echo 'opensearch.security is true, but the image has no security plugin in " +
			pluginFolder + ": set opensearch.image or opensearch.version to an image with the plugin, or remove opensearch.security' >&2; exit 1; }"},
		Resources:                initResources(),
		SecurityContext:          restrictedContainer(true),
		TerminationMessagePolicy: corev1.TerminationMessageFallbackToLogsOnError,
	}
}

// validateSecurity finds two errors: a variant that sets security with a provisioner that always has security on, and settings
// that contradict security. The schema cannot find them, because it does not combine a variant with the campaign's defaults.
func validateSecurity(c *v1alpha1.BenchmarkCampaign, spec *field.Path) field.ErrorList {
	var errs field.ErrorList
	reserved := securitySettings()
	reserved["plugins.security.disabled"] = true
	defaults := spec.Child("opensearch")
	for i, v := range c.Spec.Variants {
		variant := spec.Child("variants").Index(i).Child("opensearch")
		if cmp.Or(v.OpenSearch.Provisioner, c.Spec.OpenSearch.Provisioner) == v1alpha1.ProvisionOpenSearchCluster {
			if v.OpenSearch.Security != nil {
				errs = append(errs, field.Forbidden(variant.Child("security"), "security is always on with provisioner OpenSearchCluster: remove this field"))
			}
			continue
		}
		if !ptr.Deref(cmp.Or(v.OpenSearch.Security, c.Spec.OpenSearch.Security), false) {
			continue
		}
		for _, from := range []struct {
			settings map[string]v1alpha1.ParamValue
			at       *field.Path
		}{{c.Spec.OpenSearch.Settings, defaults}, {v.OpenSearch.Settings, variant}} {
			for _, name := range slices.Sorted(maps.Keys(from.settings)) {
				if _, set := reserved[name]; set {
					errs = append(errs, field.Forbidden(from.at.Child("settings").Key(name), "this setting must not be set if opensearch.security is true: remove the setting"))
				}
			}
		}
	}
	return errs
}
