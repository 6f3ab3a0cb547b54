package resources

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/knee-bench/knee/internal/plan"
	"github.com/knee-bench/knee/internal/record"
)

// AnnotationEndpoint is the endpoint that a trial's pod loads, in the form of plan.Pool. It shows other campaigns that the
// endpoint is in use.
const AnnotationEndpoint = "knee.dev/endpoint"

// secretMode lets the trial's user read the files through the pod's group.
const secretMode = 0o440

// secret is a Secret that a trial's pod mounts.
type secret struct {
	volume, name, path string
	keys               []string // empty: all keys of the Secret
}

// secrets returns the Secrets that an endpoint names.
func secrets(e plan.Endpoint) []secret {
	var out []secret
	signing := secret{volume: "credentials", path: record.CredentialsPath} // no list of keys, because the session token is optional; the agent checks the other keys
	if s := e.Access.SigV4; s != nil {
		signing.name = s.CredentialsSecret
	}
	for _, s := range []secret{
		signing,
		{"credentials", e.Access.CredentialsSecret, record.CredentialsPath, []string{record.UsernameKey, record.PasswordKey}},
		{"ca", e.Access.CASecret, record.CAPath, []string{record.CAKey}},
		{"client-certificate", e.Access.ClientCertificateSecret, record.ClientCertificatePath, []string{record.CertificateKey, record.PrivateKeyKey}},
	} {
		if s.name != "" {
			out = append(out, s)
		}
	}
	return out
}

// external configures the agent for a cluster without Knee's probes, or for a load without a cluster (e is nil).
func external(cfg *record.Config, e *plan.Endpoint) {
	if e == nil {
		cfg.Endpoint, cfg.Nodes = "", 0
		return
	}
	cfg.Endpoint = e.URL
	cfg.External = &record.External{AllowIndexDeletion: ptr.Deref(e.Access.AllowIndexDeletion, false)}
	if s := e.Access.SigV4; s != nil {
		cfg.External.SigV4 = &record.SigV4{Region: s.Region, Service: s.Service}
	}
	for _, s := range secrets(*e) {
		switch s.path {
		case record.CredentialsPath:
			cfg.External.CredentialsDir, cfg.External.CredentialsSecret = s.path, s.name
		case record.CAPath:
			cfg.External.CAFile, cfg.External.CASecret = s.path+"/"+record.CAKey, s.name
		case record.ClientCertificatePath:
			cfg.External.ClientCertificateDir = s.path
		}
	}
}

// addSecrets mounts an endpoint's Secrets only in the trial's container. The pod does not start if a Secret, or one of the
// listed keys, is missing.
func addSecrets(spec *corev1.PodSpec, e *plan.Endpoint) {
	if e == nil {
		return
	}
	for _, s := range secrets(*e) {
		var items []corev1.KeyToPath
		for _, key := range s.keys {
			items = append(items, corev1.KeyToPath{Key: key, Path: key})
		}
		addVolume(spec, s.volume, s.path, corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{
			SecretName: s.name, Items: items, DefaultMode: ptr.To[int32](secretMode), Optional: ptr.To(false),
		}})
	}
}

// annotateEndpoint writes the endpoint into the annotations of a trial's pod.
func annotateEndpoint(pod *metav1.ObjectMeta, pool plan.Pool) {
	if pool.Endpoint != "" {
		pod.Annotations[AnnotationEndpoint] = pool.Endpoint
	}
}
